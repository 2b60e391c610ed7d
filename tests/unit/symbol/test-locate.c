/* SPDX-License-Identifier: Apache-2.0 */
/* A file of this machine is used only when it is the one that was mapped. */
#include "build.h"

#include <stdlib.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static void make(void)
{
	build_needs("gcc");
	build_file("l.c", "int one(int n) { return n + 1; }\n"
			  "int main(int argc, char **argv) { return one(argc) + !argv; }\n");
	build_run(
		"gcc -O0 -g -Wl,--build-id=0xaabbccdd00112233445566778899aabbccddeeff l.c -o l && "
		"gcc -O0 -g -Wl,--build-id=none l.c -o none");
}

static void resolve_here(struct ask *a)
{
	struct err err;

	CHECK(symbols_resolve_from(&a->symbols, &a->model, symbol_locate_here, NULL, &a->options,
				   &err));
}

static void set_id(struct ask *a, const char *id)
{
	snprintf(a->model.images.at[0].build_id, sizeof(a->model.images.at[0].build_id), "%s", id);
}

TEST(build_id_decides)
{
	struct ask a;

	make();
	ask_init(&a, build_path("l"));
	ask_address(&a, build_symbol(build_path("l"), "one"));
	set_id(&a, "aabbccdd00112233445566778899aabbccddeeff");
	resolve_here(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "one");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_FULL);
	symbols_free(a.symbols);
	/* One that was cut short when it was recorded is no match. */
	set_id(&a, "aabbccdd0011223344556677889900000000");
	resolve_here(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "[unknown]");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_MISSING);
	CHECK_HAS(a.symbols->images[0].why, "another build");
	CHECK_HAS(a.symbols->images[0].why, "aabbccdd00112233445566778899aabbccddeeff");
	ask_done(&a);
}

TEST(short_build_id_padded_by_the_recorder)
{
	struct ask a;

	make();
	build_run("gcc -O0 -g -Wl,--build-id=0x1122334455667788 l.c -o short");
	ask_init(&a, build_path("short"));
	ask_address(&a, build_symbol(build_path("short"), "one"));
	set_id(&a, "1122334455667788000000000000000000000000");
	resolve_here(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "one");
	ask_done(&a);
}

TEST(inode_decides_without_build_id)
{
	struct stat st;
	struct ask a;

	make();
	ask_init(&a, build_path("none"));
	ask_address(&a, build_symbol(build_path("none"), "one"));
	CHECK(!stat(build_path("none"), &st));
	a.model.images.at[0].inode = st.st_ino;
	a.model.images.at[0].device_major = major(st.st_dev);
	a.model.images.at[0].device_minor = minor(st.st_dev);
	resolve_here(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "one");
	symbols_free(a.symbols);
	a.model.images.at[0].inode++;
	resolve_here(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "[unknown]");
	CHECK_HAS(a.symbols->images[0].why, "another file now");
	symbols_free(a.symbols);
	a.model.images.at[0].inode = 0;
	resolve_here(&a);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_MISSING);
	ask_done(&a);
}

TEST(missing_file_says_why)
{
	struct ask a;

	ask_init(&a, "/nonexistent/program");
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x1000 }));
	set_id(&a, "aabb");
	resolve_here(&a);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_MISSING);
	CHECK_EQ_STR(a.symbols->images[0].why, "/nonexistent/program: No such file or directory");
	ask_done(&a);
}

/* The kernel's own image of this process. */
static const char *save_vdso(void)
{
	const uint8_t *start = (const uint8_t *)getauxval(AT_SYSINFO_EHDR);
	const char *path = build_path("images/vdso-x");
	struct err err;

	if (!start)
		SKIP("no vdso here");
	build_run("mkdir -p images");
	/* Section headers come last in it, within two pages. */
	CHECK_MSG(os_save_file(path, start, 2 * (size_t)sysconf(_SC_PAGESIZE), &err), "%s",
		  err.text);
	return path;
}

TEST(images_of_a_run)
{
	char_auto dir = mem_strdup(test_tmpdir());
	struct session s = { .dir = dir };
	struct symbol_options options = { .debug_dir = "/nonexistent" };
	struct symbols *symbols;
	struct model m = { 0 };
	uint64_t gettime;
	struct err err;

	make();
	gettime = build_symbol(save_vdso(), "__(vdso|kernel)_clock_gettime(@@.*)?");
	build_run("cp l images/aabbccdd00112233445566778899aabbccddeeff");
	kv_put(&s.missing_images, "f-0011223344556677", "the agent could not open it");
	vec_add(&m.images, ((struct model_image){
				   .kind = MODEL_IMAGE_VDSO, .path = "[vdso]", .key = "vdso-x" }));
	vec_add(&m.images,
		((struct model_image){ .kind = MODEL_IMAGE_FILE,
				       .path = "/gone/l",
				       .key = "aabbccdd00112233445566778899aabbccddeeff" }));
	vec_add(&m.images, ((struct model_image){ .kind = MODEL_IMAGE_FILE,
						  .path = "/gone/x",
						  .key = "f-0011223344556677" }));
	vec_add(&m.images,
		((struct model_image){
			.kind = MODEL_IMAGE_FILE, .path = "/gone/y", .key = "../../etc/passwd" }));
	vec_add(&m.addrs, ((struct model_addr){ .image = { 0 }, .address = gettime + 2 }));
	vec_add(&m.addrs, ((struct model_addr){
				  .image = { 1 },
				  .address = build_offset(build_path("l"),
							  build_symbol(build_path("l"), "one")),
			  }));
	vec_add(&m.addrs, ((struct model_addr){ .image = { 2 }, .address = 0x1000 }));
	vec_add(&m.addrs, ((struct model_addr){ .image = { 3 }, .address = 0x1000 }));
	CHECK(symbols_resolve(&symbols, &m, &s, &options, &err));
	CHECK_HAS(
		symbols->functions.at[symbols->frames.at[symbols->addrs[0].first].function.i].name,
		"clock_gettime");
	CHECK(symbols->functions.at[symbols->frames.at[symbols->addrs[0].first].function.i]
		      .name[0] == '_');
	CHECK_EQ_STR(
		symbols->functions.at[symbols->frames.at[symbols->addrs[1].first].function.i].name,
		"one");
	CHECK_EQ_STR(symbols->images[2].why, "the agent could not open it");
	CHECK_EQ_STR(symbols->images[3].why, "the run does not hold it");
	CHECK_EQ_INT(symbols->images[3].state, SYMBOL_IMAGE_MISSING);
	CHECK_EQ_U64(symbols->unknown_addrs, 2);
	symbols_free(symbols);
	vec_done(&m.images);
	vec_done(&m.addrs);
	buf_done(&s.missing_images);
}

/* What a run says of missing images is read once, not once for each. */
TEST_TIMEOUT(many_missing_images, 20)
{
	enum { IMAGES = 20000 };
	char_auto dir = mem_strdup(test_tmpdir());
	struct session s = { .dir = dir };
	struct symbol_options options = { .debug_dir = "/nonexistent" };
	struct symbols *symbols;
	struct model m = { 0 };
	struct err err;

	for (uint32_t i = 0; i < IMAGES; i++) {
		const char *key = build_keep("f-%016x", i);

		kv_put(&s.missing_images, key, "first");
		vec_add(&m.images, ((struct model_image){
					   .kind = MODEL_IMAGE_FILE, .path = key, .key = key }));
		vec_add(&m.addrs, ((struct model_addr){ .image = { i }, .address = 0x1000 }));
	}
	for (uint32_t i = 0; i < IMAGES; i++)
		kv_put(&s.missing_images, m.images.at[i].key, build_keep("reason %u", i));
	CHECK(symbols_resolve(&symbols, &m, &s, &options, &err));
	for (uint32_t i = 0; i < IMAGES; i++) {
		CHECK_EQ_INT(symbols->images[i].state, SYMBOL_IMAGE_MISSING);
		CHECK_EQ_STR(symbols->images[i].why, build_keep("reason %u", i));
	}
	symbols_free(symbols);
	vec_done(&m.images);
	vec_done(&m.addrs);
	buf_done(&s.missing_images);
}

/* The path alone, for those who want the bytes: same rules. */
TEST(file_here_is_the_very_file)
{
	struct arena a = { 0 };
	const char *why = NULL;
	struct ask ask;
	char *path;

	make();
	ask_init(&ask, build_path("l"));
	set_id(&ask, "aabbccdd00112233445566778899aabbccddeeff");
	path = symbol_file_here(&ask.model.images.at[0], &a, &why);
	CHECK(path);
	CHECK_EQ_STR(path, build_path("l"));
	free(path);
	set_id(&ask, "1122334455667788");
	CHECK(!symbol_file_here(&ask.model.images.at[0], &a, &why));
	CHECK_HAS(why, "another build: id aabbccdd00112233445566778899aabbccddeeff");
	ask.model.images.at[0].path = "/nonexistent/l";
	CHECK(!symbol_file_here(&ask.model.images.at[0], &a, &why));
	CHECK_HAS(why, "No such file");
	ask.model.images.at[0].kind = MODEL_IMAGE_ANON;
	CHECK(!symbol_file_here(&ask.model.images.at[0], &a, &why));
	CHECK_EQ_STR(why, "only a run holds it");
	ask_done(&ask);
	arena_done(&a);
}
