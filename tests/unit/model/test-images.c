/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of what is mapped. */
#include "recording.h"
#include "test.h"

#define ID_77 "7777777777777777777777777777777777777777"

/* One file in two processes, at two places: one image. */
TEST(same_inode_is_one_image)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 0);
	rec_mmap(&r, 200, 0x700000, 0x1000, 0, 7, "/lib/a.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 1001, 0x700010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 1);
	CHECK_EQ_U64(m->addrs.len, 1);
	CHECK_EQ_U64(m->images.at[0].samples, 2);
	CHECK_EQ_INT(m->images.at[0].kind, MODEL_IMAGE_FILE);
	CHECK_EQ_U64(m->images.at[0].inode, 7);
	CHECK_EQ_U64(m->images.at[0].device_major, 8);
	CHECK_EQ_STR(m->images.at[0].build_id, "");
	CHECK_EQ_INT(strlen(m->images.at[0].key), 18);
	CHECK(str_starts(m->images.at[0].key, "f-"));
	model_free(m);
}

/* Two containers with their own file under one path. */
TEST(same_path_other_inode_is_another_image)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/opt/libx.so", 0);
	rec_mmap(&r, 200, 0x400000, 0x1000, 0, 8, "/opt/libx.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 1001, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 2);
	CHECK_EQ_U64(m->images.at[0].samples, 1);
	CHECK_EQ_U64(m->images.at[1].samples, 1);
	CHECK(strcmp(m->images.at[0].key, m->images.at[1].key) != 0);
	model_free(m);
}

TEST(build_id_decides)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap_id(&r, 100, 0x400000, 0x1000, 0, 0x77, "/lib/a.so", 0);
	rec_mmap_id(&r, 200, 0x400000, 0x1000, 0, 0x77, "/copy/of/a.so", 0);
	rec_mmap_id(&r, 300, 0x400000, 0x1000, 0, 0x78, "/lib/a.so", 0);
	for (uint32_t pid = 100; pid <= 300; pid += 100)
		rec_sample(&r, REC_USER, pid, pid, 1000 + pid, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 2);
	CHECK_EQ_STR(m->images.at[0].build_id, ID_77);
	CHECK_EQ_STR(m->images.at[0].key, ID_77);
	CHECK_EQ_U64(m->images.at[0].samples, 2);
	CHECK_EQ_STR(m->images.at[1].key, "7878787878787878787878787878787878787878");
	model_free(m);
}

/* A nil build id identifies nothing. */
TEST(zero_build_id_is_none)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap_id(&r, 100, 0x400000, 0x1000, 0, 0, "/lib/a.so", 0);
	rec_mmap_id(&r, 100, 0x500000, 0x1000, 0, 0, "/lib/b.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1001, 0x500010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 2);
	CHECK_EQ_STR(m->images.at[0].build_id, "");
	CHECK(str_starts(m->images.at[0].key, "f-"));
	model_free(m);
}

TEST(deleted_files)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/bin/app (deleted)", 0);
	rec_mmap(&r, 100, 0x500000, 0x1000, 0, 9, "/memfd:jit (deleted)", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1001, 0x500010, NULL);
	m = rec_load(&r, NULL);
	CHECK(rec_image(m, "/bin/app")->deleted);
	CHECK_EQ_INT(rec_image(m, "/memfd:jit")->kind, MODEL_IMAGE_FILE);
	CHECK(str_starts(rec_image(m, "/memfd:jit")->key, "f-"));
	model_free(m);
}

/* Memory without a file belongs to one process and has absolute addresses. */
TEST(anonymous_memory)
{
	static const char *const names[] = {
		"//anon",
		"[heap]",
		"[stack]",
		"anon_inode:[perf]",
		"/dev/zero (deleted)",
		"/SYSV00000000 (deleted)",
		"/anon_hugepage (deleted)",
		"[anon:v8]",
	};
	enum { NAMES = sizeof(names) / sizeof(names[0]) };
	struct recording r = { 0 };
	struct model *m;

	for (uint32_t pid = 100; pid <= 200; pid += 100) {
		for (uint64_t i = 0; i < NAMES; i++) {
			uint64_t at = 0x400000 + i * 0x10000;

			rec_mmap(&r, pid, at, 0x1000, at, 0, names[i], 0);
			rec_sample(&r, REC_USER, pid, pid, 1000, at + 0x10, NULL);
		}
	}
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 2 * NAMES);
	for (size_t i = 0; i < m->images.len; i++) {
		CHECK_EQ_INT(m->images.at[i].kind, MODEL_IMAGE_ANON);
		CHECK_EQ_STR(m->images.at[i].key, "");
		CHECK_EQ_INT(m->images.at[i].pid, i < NAMES ? 100 : 200);
	}
	CHECK_EQ_U64(m->addrs.at[1].address, 0x410010);
	CHECK_EQ_U64(m->unmapped, 0);
	model_free(m);
}

TEST(vdso_is_one_image)
{
	struct recording r = { .arch = "aarch64" };
	struct model *m;

	rec_mmap(&r, 100, 0x7fff00001000, 0x1000, 0x7fff00001000, 0, "[vdso]", 0);
	rec_mmap(&r, 200, 0x7fff00005000, 0x1000, 0, 0, "[vdso]", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x7fff00001a10, NULL);
	rec_sample(&r, REC_USER, 200, 200, 1001, 0x7fff00005a10, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->images.len, 1);
	CHECK_EQ_INT(m->images.at[0].kind, MODEL_IMAGE_VDSO);
	CHECK_EQ_STR(m->images.at[0].path, "[vdso]");
	CHECK_EQ_STR(m->images.at[0].key, "vdso");
	CHECK_EQ_U64(m->addrs.len, 1);
	CHECK_EQ_U64(m->addrs.at[0].address, 0xa10);
	model_free(m);
}

/* On a 64-bit machine a 32-bit process has another vdso, which nobody keeps. */
TEST(vdso_of_a_32_bit_process)
{
	static const char *const arches[] = { "x86_64", "aarch64", "" };

	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		struct recording r = { .arch = arches[i] };
		const struct model_image *image;
		struct model *m;

		rec_mmap(&r, 100, 0x7fff00001000, 0x1000, 0, 0, "[vdso]", 0);
		rec_mmap(&r, 200, 0xf7f00000, 0x2000, 0, 0, "[vdso]", 0);
		rec_mmap(&r, 300, 0xffffe000, 0x2000, 0, 0, "[vdso]", 0);
		rec_mmap(&r, 400, 0xfffff000, 0x2000, 0, 0, "[vdso]", 0);
		for (uint32_t pid = 200; pid <= 300; pid += 100)
			rec_sample(&r, REC_USER, pid, pid, 1000 + pid,
				   pid == 200 ? 0xf7f00a10 : 0xffffea10, NULL);
		rec_sample(&r, REC_USER, 100, 100, 2000, 0x7fff00001a10, NULL);
		rec_sample(&r, REC_USER, 400, 400, 2001, 0xfffffa10, NULL);
		m = rec_load(&r, NULL);
		CHECK_EQ_STR(rec_dump(m), ":200(:200) 200/200 1: [vdso32]+f7f00a10\n"
					  ":300(:300) 300/300 1: [vdso32]+ffffea10\n"
					  ":100(:100) 100/100 1: [vdso]+a10\n"
					  ":400(:400) 400/400 1: [vdso]+a10\n");
		CHECK_EQ_STR(rec_image(m, "[vdso]")->key, "vdso");
		CHECK_EQ_U64(rec_image(m, "[vdso]")->samples, 2);
		image = &m->images.at[m->addrs.at[0].image.i];
		CHECK_EQ_INT(image->kind, MODEL_IMAGE_UNKNOWN);
		CHECK_EQ_STR(image->key, "");
		CHECK_EQ_INT(image->pid, 200);
		model_free(m);
	}
}

TEST(vdso_of_a_32_bit_machine)
{
	static const char *const arches[] = { "armv7l", "armv8l", "arm", "i686" };

	for (size_t i = 0; i < sizeof(arches) / sizeof(arches[0]); i++) {
		struct recording r = { .arch = arches[i] };
		struct model *m;

		rec_mmap(&r, 200, 0xf7f00000, 0x1000, 0, 0, "[vdso]", 0);
		rec_sample(&r, REC_USER, 200, 200, 1000, 0xf7f00a10, NULL);
		m = rec_load(&r, NULL);
		CHECK_EQ_STR(rec_dump(m), ":200(:200) 200/200 1: [vdso]+a10\n");
		CHECK_EQ_STR(m->images.at[0].key, "vdso");
		model_free(m);
	}
}

static void add_id(struct recording *r, uint16_t misc, uint8_t byte, const char *path)
{
	struct perfdata_build_id *b = &r->build_ids[r->build_id_count++];

	*b = (struct perfdata_build_id){ .id_len = 20, .misc = misc, .pid = -1, .path = path };
	memset(b->id, byte, 20);
}

/* perf writes build ids at the end, by path: good for files whose path stands for one file. */
TEST(build_ids_of_the_feature)
{
	struct recording r = { 0 };
	struct model *m;

	add_id(&r, REC_KERNEL, 0x11, "[kernel.kallsyms]");
	add_id(&r, REC_USER, 0x77, "/lib/a.so");
	add_id(&r, REC_USER, 0x78, "/lib/replaced.so");
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 0);
	rec_mmap_id(&r, 200, 0x400000, 0x1000, 0, 0x77, "/lib/a.so", 0);
	rec_mmap(&r, 100, 0x500000, 0x1000, 0, 8, "/lib/replaced.so", 0);
	rec_mmap(&r, 200, 0x500000, 0x1000, 0, 9, "/lib/replaced.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 1001, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1002, 0x500010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 1003, 0x500010, NULL);
	rec_sample(&r, REC_KERNEL, 100, 100, 1004, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_image(m, "a.so")->key, ID_77);
	CHECK_EQ_U64(rec_image(m, "a.so")->samples, 2);
	CHECK_EQ_STR(rec_image(m, "[kernel]")->build_id,
		     "1111111111111111111111111111111111111111");
	CHECK_EQ_U64(m->images.len, 4);
	for (size_t i = 0; i < m->images.len; i++) {
		if (!str_ends(m->images.at[i].path, "replaced.so"))
			continue;
		CHECK_EQ_STR(m->images.at[i].build_id, "");
		CHECK(str_starts(m->images.at[i].key, "f-"));
		CHECK_EQ_U64(m->images.at[i].samples, 1);
	}
	model_free(m);
}

static struct model *kernel_model(struct recording *r)
{
	rec_sample(r, REC_KERNEL, 100, 100, 1000, 0xffffffff9d200010, NULL);
	return rec_load(r, NULL);
}

/* Where the kernel lay and which one it was decide whether another one's symbols are good. */
TEST(kernel_of_the_recording)
{
	struct recording r = { 0 };
	struct model *m;

	add_id(&r, REC_KERNEL, 0x11, "[kernel.kallsyms]");
	rec_mmap(&r, UINT32_MAX, 0xffffffffc0000000, 0x1000, 0, 0, "[a_module]", 0);
	rec_mmap_id(&r, UINT32_MAX, 0xffffffff9d000000, 0x1000000, 0xffffffff9d200000, 0x22,
		    "[kernel.kallsyms]_text", 0);
	rec_mmap(&r, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0xffffffff81000000, 0,
		 "[kernel.kallsyms]_stext", 1);
	m = kernel_model(&r);
	CHECK_EQ_U64(m->kernel_text, 0xffffffff9d200000);
	CHECK_EQ_STR(m->kernel_build_id, "1111111111111111111111111111111111111111");
	CHECK_EQ_STR(rec_image(m, "[kernel]")->build_id, m->kernel_build_id);
	model_free(m);

	/* Newer recorders write build ids with the mappings and leave the feature out. */
	r = (struct recording){ 0 };
	rec_mmap_id(&r, UINT32_MAX, 0xffffffff9d000000, 0x1000000, 0, 0x22,
		    "[kernel.kallsyms]_stext", 0);
	m = kernel_model(&r);
	CHECK_EQ_U64(m->kernel_text, 0xffffffff9d000000);
	CHECK_EQ_STR(m->kernel_build_id, "2222222222222222222222222222222222222222");
	CHECK_EQ_STR(rec_image(m, "[kernel]")->build_id, m->kernel_build_id);
	model_free(m);

	/* A process cannot pass for the kernel. */
	r = (struct recording){ 0 };
	rec_mmap(&r, 100, 0x400000, 0x1000, 0x400000, 7, "[kernel.kallsyms]_text", 0);
	m = kernel_model(&r);
	CHECK_EQ_U64(m->kernel_text, 0);
	CHECK_EQ_STR(m->kernel_build_id, "");
	model_free(m);
}
