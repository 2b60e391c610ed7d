/* SPDX-License-Identifier: Apache-2.0 */
/* Live: images are those that were mapped, also when the file is deleted or replaced since. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "capture/images.h"
#include "host.h"
#include "test.h"

static void load(const char *path, struct buf *out)
{
	struct err err;

	CHECK_MSG(os_load_file(path, 64u << 20, out, &err), "%s", err.text);
}

static void copy(const char *from, const char *to)
{
	buf_auto bytes = { 0 };
	struct err err;
	int fd;

	load(from, &bytes);
	fd = open(to, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0755);
	CHECK(fd >= 0);
	CHECK(os_write_all(fd, to, bytes.at, bytes.len, &err));
	close(fd);
}

/* What the mapping of a path said, as a request. */
static bool mapped(struct host *h, const char *path, struct job_image *want)
{
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_mmap m;
	buf_auto file = { 0 };
	struct err err;
	uint64_t at;
	bool found = false;

	host_file(h, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD) {
		if (r.type != PERFDATA_MMAP2 || !perfdata_mmap(&pd, &r, &m) || strcmp(m.path, path))
			continue;
		*want = (struct job_image){ .kind = JOB_IMAGE_FILE,
					    .device_major = m.device_major,
					    .device_minor = m.device_minor,
					    .inode = m.inode,
					    .inode_generation = m.inode_generation,
					    .pid = m.pid,
					    .path = path };
		if (m.has_build_id)
			elf_id_hex(m.build_id, m.build_id_len, want->build_id);
		found = true;
	}
	perfdata_close(&pd);
	return found;
}

TEST(image_of_a_deleted_program)
{
	struct host h;
	struct job job;
	struct job_image want;
	buf_auto got = { 0 }, original = { 0 };
	char build_id[41] = "";
	struct err err;
	char *path = arena_printf(host_arena(), "%s/victim", test_tmpdir());
	const struct timespec times[2] = { { 1700000001, 5 }, { 1700000000, 123456789 } };

	host_needs_perf();
	copy(host_program("spin"), path);
	CHECK(!utimensat(AT_FDCWD, path, times, 0));
	load(path, &original);
	job = host_job(host_argv(path, "200", NULL));
	host_run(&h, &job, NULL);
	CHECK(mapped(&h, path, &want));
	CHECK(want.build_id[0]);
	CHECK(!unlink(path));
	CHECK_MSG(host_image(&h, &want, &got, build_id, &err), "%s", err.text);
	CHECK_EQ_STR(build_id, want.build_id);
	CHECK_EQ_U64(h.image_mtime_ns, UINT64_C(1700000000123456789));
	CHECK_EQ_INT(got.len, original.len);
	CHECK_EQ_MEM(got.at, original.at, got.len);
	host_end(&h);
}

/* The program replaces itself on the disk by something else before it is asked for. */
TEST(image_of_a_replaced_library)
{
	struct host h;
	struct job job;
	struct job_image want;
	buf_auto got = { 0 }, original = { 0 };
	char build_id[41] = "";
	struct err err;
	char *path = arena_printf(host_arena(), "%s/victim", test_tmpdir());

	host_needs_perf();
	copy(host_program("spin"), path);
	load(path, &original);
	/* The shell is the command; the victim is a child that lives for a while. */
	job = host_job(host_argv("sh", "-c",
				 "\"$0\" 300; cp \"$1\" \"$0.new\"; mv \"$0.new\" \"$0\"", path,
				 host_program("threads"), NULL));
	host_run(&h, &job, NULL);
	CHECK(mapped(&h, path, &want));
	CHECK_MSG(host_image(&h, &want, &got, build_id, &err), "%s", err.text);
	CHECK_EQ_INT(got.len, original.len);
	CHECK_EQ_MEM(got.at, original.at, got.len);
	host_end(&h);
}

TEST(image_that_is_another_file_now)
{
	struct host h;
	struct job job = host_job(host_argv("true", NULL));
	struct job_image want = { .kind = JOB_IMAGE_FILE,
				  .build_id = "00112233445566778899aabbccddeeff00112233",
				  .path = "/bin/sh" };
	buf_auto got = { 0 };
	char build_id[41];
	struct err err;

	host_needs_perf();
	host_run(&h, &job, NULL);
	CHECK(!host_image(&h, &want, &got, build_id, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, "/bin/sh");
	CHECK_EQ_INT(got.len, 0);
	want.build_id[0] = 0;
	want.inode = 1;
	CHECK(!host_image(&h, &want, &got, build_id, &err));
	want.path = "/dev/zero";
	want.inode = 0;
	CHECK(!host_image(&h, &want, &got, build_id, &err));
	host_end(&h);
}

TEST(image_of_vdso_and_kernel)
{
	struct host h;
	struct job job = host_job(host_argv("true", NULL));
	struct job_image want = { .kind = JOB_IMAGE_VDSO, .path = "[vdso]" };
	buf_auto vdso = { 0 }, symbols = { 0 };
	char build_id[41];
	struct err err;
	struct str rest, line;
	struct kallsyms_line l;
	size_t n = 0;

	host_needs_perf();
	host_run(&h, &job, NULL);
	CHECK_MSG(host_image(&h, &want, &vdso, build_id, &err), "%s", err.text);
	CHECK_EQ_U64(h.image_mtime_ns, 0);
	CHECK(vdso.len > 1000 && vdso.len < 65536);
	CHECK_EQ_MEM(vdso.at, "\177ELF", 4);
	CHECK_EQ_INT(strlen(build_id), 40);
	want = (struct job_image){ .kind = JOB_IMAGE_KALLSYMS, .path = "[kernel.kallsyms]" };
	if (!host_image(&h, &want, &symbols, build_id, &err)) {
		CHECK_EQ_STR(err.id, "KPTR_RESTRICT");
		CHECK(err.hint[0]);
	} else {
		rest = (struct str){ buf_str(&symbols), symbols.len };
		while (str_line(&rest, &line)) {
			CHECK(kallsyms_parse(line, &l) && kallsyms_is_code(&l));
			n++;
		}
		CHECK(n > 1000);
	}
	host_end(&h);
}

/* Rules of identity, without a capture. */
TEST(images_by_identity)
{
	struct images im;
	struct rlimit before;
	struct stat st;
	struct image_name name = { .pid = (uint32_t)getpid() };
	const struct image *got;
	char *path = arena_printf(host_arena(), "%s/file", test_tmpdir());
	char *fifo = arena_printf(host_arena(), "%s/fifo", test_tmpdir());

	images_init(&im, &before);
	copy("/proc/self/exe", path);
	CHECK(!stat(path, &st));
	name.path = path;
	name.device_major = major(st.st_dev);
	name.device_minor = minor(st.st_dev);
	name.inode = st.st_ino + 1000000;
	CHECK(!images_see(&im, &name));
	name.inode = st.st_ino;
	got = images_see(&im, &name);
	CHECK(got && got->fd >= 0);
	CHECK_EQ_INT(im.open, 1);
	/* Again costs nothing; by build id it is the same file. */
	CHECK(images_see(&im, &name) == got);
	if (got->build_id_len) {
		struct image_name by_id = { .path = "/no/such/path" };

		memcpy(by_id.build_id, got->build_id, sizeof(by_id.build_id));
		by_id.build_id_len = got->build_id_len;
		CHECK(images_see(&im, &by_id) == got);
	}
	CHECK_EQ_INT(im.open, 1);
	/* A FIFO of that name must not be opened, let alone waited for. */
	CHECK(!mkfifo(fifo, 0600));
	CHECK(!stat(fifo, &st));
	name = (struct image_name){ .inode = st.st_ino,
				    .device_major = major(st.st_dev),
				    .device_minor = minor(st.st_dev),
				    .path = fifo };
	CHECK(!images_see(&im, &name));
	images_done(&im);
}

/* At the ceiling a look that fails must not cost an image that is there. */
TEST(images_keep_what_a_failed_look_would_cost)
{
	struct images im;
	struct rlimit before;
	struct image_name first = { 0 }, missing = { .inode = 1, .path = "/no/such/file" };
	const struct image *got;
	struct stat st;
	char *path = arena_printf(host_arena(), "%s/kept", test_tmpdir());

	images_init(&im, &before);
	im.most = 1;
	copy("/proc/self/cmdline", path);
	CHECK(!stat(path, &st));
	first.device_major = major(st.st_dev);
	first.device_minor = minor(st.st_dev);
	first.inode = st.st_ino;
	first.path = path;
	CHECK(images_see(&im, &first));
	CHECK(!unlink(path));
	for (uint64_t i = 1; i < 5; i++) {
		missing.inode = i;
		CHECK(!images_see(&im, &missing));
	}
	CHECK_EQ_INT(im.open, 1);
	got = images_find(&im, &first);
	CHECK(got && got->fd >= 0);
	images_done(&im);
}

TEST(images_give_up_the_oldest)
{
	struct images im;
	struct rlimit before;
	char *paths[6];

	images_init(&im, &before);
	im.most = 3;
	for (int i = 0; i < 6; i++) {
		struct stat st;
		struct image_name name = { 0 };

		paths[i] = arena_printf(host_arena(), "%s/f%d", test_tmpdir(), i);
		copy("/proc/self/cmdline", paths[i]);
		CHECK(!stat(paths[i], &st));
		name.device_major = major(st.st_dev);
		name.device_minor = minor(st.st_dev);
		name.inode = st.st_ino;
		name.path = paths[i];
		CHECK(images_see(&im, &name));
		CHECK(im.open <= 3);
	}
	CHECK_EQ_INT(im.open, 3);
	images_done(&im);
}
