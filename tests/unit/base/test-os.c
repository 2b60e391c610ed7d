/* SPDX-License-Identifier: Apache-2.0 */
/* Files and folders: all or nothing, right modes, errors that name what they are about. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/str.h"
#include "test.h"

static char *in_dir(const char *name)
{
	return mem_printf("%s/%s", test_tmpdir(), name);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	CHECK_MSG(!lstat(path, &st), "%s", path);
	return st.st_mode & 07777;
}

TEST(os_save_and_load)
{
	char_auto path = in_dir("file");
	buf_auto b = { 0 };
	struct err err;

	CHECK_MSG(os_save_file(path, "one", 3, &err), "%s", err.text);
	CHECK_EQ_INT(mode_of(path), 0600);
	CHECK(os_save_file(path, "two\0x", 5, &err));
	CHECK(os_load_file(path, 100, &b, &err));
	CHECK_EQ_U64(b.len, 5);
	CHECK_EQ_MEM(b.at, "two\0x", 6);
	CHECK(os_save_file(path, NULL, 0, &err));
	buf_clear(&b);
	CHECK(os_load_file(path, 100, &b, &err));
	CHECK_EQ_U64(b.len, 0);
}

/* A reader that looks all the time sees the old or the new bytes, never a part. */
TEST(os_save_is_atomic)
{
	enum { SIZE = 200000, ROUNDS = 60 };
	char_auto path = in_dir("file");
	buf_auto bytes = { 0 };
	struct err err;
	pid_t writer;
	int status;

	memset(buf_room(&bytes, SIZE), 'a', SIZE);
	CHECK(os_save_file(path, bytes.at, SIZE, &err));
	writer = fork();
	CHECK(writer >= 0);
	if (!writer) {
		for (int i = 0; i < ROUNDS; i++) {
			memset(bytes.at, 'a' + i % 26, SIZE);
			if (!os_save_file(path, bytes.at, SIZE, &err))
				_exit(1);
		}
		_exit(0);
	}
	do {
		buf_auto seen = { 0 };

		CHECK_MSG(os_load_file(path, SIZE, &seen, &err), "%s", err.text);
		CHECK_EQ_U64(seen.len, SIZE);
		CHECK(!memcmp(seen.at, seen.at + 1, SIZE - 1));
	} while (!waitpid(writer, &status, WNOHANG));
	CHECK_EQ_INT(status, 0);
}

TEST(os_save_leaves_nothing_behind)
{
	char_auto folder = in_dir("folder");
	char_auto path = in_dir("folder/sub");
	struct err err;

	CHECK(os_make_dirs(folder, &err));
	CHECK(os_make_dirs(path, &err));
	CHECK(!os_save_file(path, "x", 1, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_HAS(err.text, path);
	CHECK(!rmdir(path));
	CHECK(!rmdir(folder));
	CHECK(!os_save_file(path, "x", 1, &err));
	CHECK_EQ_INT(err.sys_errno, ENOENT);
}

TEST(os_load_limits)
{
	char_auto path = in_dir("file");
	buf_auto b = { 0 };
	struct err err;

	CHECK(!os_load_file(path, 10, &b, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, path);
	CHECK(os_save_file(path, "0123456789", 10, &err));
	buf_puts(&b, "before ");
	CHECK(os_load_file(path, 10, &b, &err));
	CHECK_EQ_STR(buf_str(&b), "before 0123456789");
	CHECK(!os_load_file(path, 9, &b, &err));
	CHECK_EQ_INT(err.kind, ERR_LIMIT);
	CHECK(!os_load_file(test_tmpdir(), 10, &b, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, EISDIR);
}

TEST(os_write_to_a_full_disk)
{
	fd_auto fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	struct err err;

	if (fd < 0)
		SKIP("no /dev/full");
	CHECK(!os_write_all(fd, "the file", "x", 1, &err));
	CHECK_EQ_INT(err.sys_errno, ENOSPC);
	CHECK_HAS(err.text, "cannot write the file");
	CHECK_HAS(err.hint, "free some space");
	CHECK(os_write_all(fd, "the file", NULL, 0, &err));
}

TEST(os_pwrite_at_its_place)
{
	char_auto path = in_dir("file");
	buf_auto b = { 0 };
	struct err err;
	fd_auto fd = -1;

	CHECK(os_save_file(path, "..........", 10, &err));
	fd = open(path, O_WRONLY | O_CLOEXEC);
	CHECK(os_pwrite_all(fd, path, "xy", 2, 4, &err));
	CHECK(os_load_file(path, 100, &b, &err));
	CHECK_EQ_STR(buf_str(&b), "....xy....");
}

TEST(os_make_dirs_and_modes)
{
	char_auto deep = in_dir("a//b/c/");
	char_auto a = in_dir("a");
	char_auto file = in_dir("file");
	char_auto below = mem_printf("%s/x/y", file);
	struct err err;

	umask(0);
	CHECK_MSG(os_make_dirs(deep, &err), "%s", err.text);
	CHECK_EQ_INT(mode_of(deep), 0700);
	CHECK_EQ_INT(mode_of(a), 0700);
	/* What is there keeps its mode. */
	CHECK(!chmod(a, 0755));
	CHECK(os_make_dirs(deep, &err));
	CHECK_EQ_INT(mode_of(a), 0755);
	CHECK(os_make_dirs("/", &err));
	CHECK(!os_make_dirs("", &err));
	CHECK(os_save_file(file, "x", 1, &err));
	CHECK(!os_make_dirs(file, &err));
	CHECK_EQ_INT(err.sys_errno, ENOTDIR);
	CHECK_HAS(err.text, file);
	CHECK(!os_make_dirs(below, &err));
	CHECK_EQ_INT(err.sys_errno, ENOTDIR);
}

TEST(os_make_dirs_relative)
{
	struct err err;

	CHECK(!chdir(test_tmpdir()));
	CHECK(os_make_dirs("x/y", &err));
	CHECK(os_make_dirs("x/y", &err));
	CHECK_EQ_INT(mode_of("x/y"), 0700);
}

/* A symlink in the tree is removed, what it points to is not. */
TEST(os_remove_tree_follows_nothing)
{
	char_auto tree = in_dir("tree");
	char_auto deep = in_dir("tree/a/b");
	char_auto kept = in_dir("kept");
	char_auto inside = in_dir("kept/file");
	char_auto link = in_dir("tree/a/link");
	char_auto file = in_dir("tree/a/b/file");
	struct err err;

	CHECK(os_make_dirs(deep, &err));
	CHECK(os_make_dirs(kept, &err));
	CHECK(os_save_file(inside, "x", 1, &err));
	CHECK(os_save_file(file, "x", 1, &err));
	CHECK(!symlink(kept, link));
	CHECK_MSG(os_remove_tree(tree, &err), "%s", err.text);
	CHECK(access(tree, F_OK) && errno == ENOENT);
	CHECK(!access(inside, F_OK));
	CHECK(os_remove_tree(tree, &err));
}

TEST(os_copy_and_map)
{
	enum { SIZE = 700001 };
	char_auto from = in_dir("from");
	char_auto to = in_dir("to");
	char_auto empty = in_dir("empty");
	buf_auto bytes = { 0 };
	struct os_map map;
	struct err err;
	fd_auto fd = -1;

	for (int i = 0; i < SIZE; i++)
		buf_u8(&bytes, (uint8_t)(i * 7 + i / 256));
	CHECK(os_save_file(from, bytes.at, bytes.len, &err));
	fd = open(from, O_RDONLY | O_CLOEXEC);
	CHECK(lseek(fd, 5, SEEK_SET) == 5);
	CHECK_MSG(os_copy_file(fd, to, &err), "%s", err.text);
	CHECK_EQ_INT(mode_of(to), 0600);
	CHECK(os_map_file(to, &map, &err));
	CHECK_EQ_U64(map.len, SIZE);
	CHECK(!memcmp(map.bytes, bytes.at, SIZE));
	os_unmap(&map);
	CHECK(!os_copy_file(fd, to, &err));
	CHECK_EQ_INT(err.sys_errno, EEXIST);
	CHECK(os_save_file(empty, NULL, 0, &err));
	CHECK(os_map_file(empty, &map, &err));
	CHECK(!map.bytes && !map.len);
	os_unmap(&map);
	CHECK(!os_map_file(test_tmpdir(), &map, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK(!os_map_file("/no/such/file", &map, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
}

/* A FIFO under the name of a file must not block. */
TEST_TIMEOUT(os_fifo_does_not_block, 10)
{
	char_auto path = in_dir("fifo");
	buf_auto b = { 0 };
	struct os_map map;
	struct err err;

	CHECK(!mkfifo(path, 0600));
	CHECK(!os_map_file(path, &map, &err));
	CHECK(os_load_file(path, 10, &b, &err));
	CHECK_EQ_U64(b.len, 0);
}

/* Writes three parts with pauses, first after somebody reads. Never returns. */
static void write_slowly(const char *path)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	for (int i = 0; i < 3; i++) {
		usleep(50000);
		if (write(fd, "0123456789", 10) != 10)
			_exit(1);
	}
	_exit(0);
}

static void start_slow_writer(const char *path)
{
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid)
		write_slowly(path);
}

/* What the user has named is waited for, also before there is a writer. */
TEST_TIMEOUT(os_input_waits_for_a_fifo, 20)
{
	char_auto path = in_dir("fifo");
	buf_auto b = { 0 };
	struct os_map map = { 0 };
	struct err err;
	int status;

	CHECK(!mkfifo(path, 0600));
	start_slow_writer(path);
	CHECK_MSG(os_load_input(path, 100, &b, &err), "%s", err.text);
	CHECK_EQ_STR(buf_str(&b), "012345678901234567890123456789");
	CHECK(wait(&status) > 0 && !status);
	start_slow_writer(path);
	CHECK_MSG(os_map_input(path, 30, &map, &err), "%s", err.text);
	CHECK_EQ_U64(map.len, 30);
	CHECK_EQ_MEM(map.bytes + 20, "0123456789", 10);
	os_unmap(&map);
	start_slow_writer(path);
	CHECK(!os_map_input(path, 29, &map, &err));
	CHECK_EQ_INT(err.kind, ERR_LIMIT);
	CHECK_HAS(err.text, path);
	CHECK(!map.bytes);
	CHECK(!os_load_input("/no/such/file", 10, &b, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK(!os_map_input("/no/such/file", 10, &map, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK(!os_map_input(test_tmpdir(), 10, &map, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
}

/* Standard input may be set not to block by whoever had it before. */
TEST_TIMEOUT(os_input_waits_where_reads_do_not_block, 20)
{
	char_auto path = in_dir("fifo");
	buf_auto b = { 0 };
	struct err err;
	fd_auto fd = -1;

	CHECK(!mkfifo(path, 0600));
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	CHECK(!os_read_fd(fd, "input", 100, &b, &err));
	CHECK_EQ_INT(err.sys_errno, EAGAIN);
	os_close_fd(&fd);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	start_slow_writer(path);
	/* Before the writer is there, the end is. */
	do
		CHECK_MSG(os_read_input(fd, "input", 100, &b, &err), "%s", err.text);
	while (!b.len);
	CHECK_EQ_STR(buf_str(&b), "012345678901234567890123456789");
}

/* A file is mapped as it is, whatever its size. */
TEST(os_input_of_a_file)
{
	char_auto path = in_dir("file");
	struct os_map map;
	struct err err;

	CHECK(os_save_file(path, "0123456789", 10, &err));
	CHECK_MSG(os_map_input(path, 5, &map, &err), "%s", err.text);
	CHECK_EQ_U64(map.len, 10);
	CHECK_EQ_MEM(map.bytes, "0123456789", 10);
	os_unmap(&map);
}

TEST(os_descriptors_close_themselves)
{
	int seen;

	{
		fd_auto fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

		seen = fd;
		CHECK(seen >= 0 && fcntl(seen, F_GETFD) == FD_CLOEXEC);
	}
	CHECK(fcntl(seen, F_GETFD) == -1 && errno == EBADF);
}

TEST(os_clocks)
{
	uint64_t before = os_now_ns(), cpu = os_self_cpu_ns();
	volatile uint64_t n = 0;

	while (os_self_cpu_ns() < cpu + 20000000)
		n++;
	CHECK(os_now_ns() >= before + 10000000);
	CHECK(os_clock_ns(CLOCK_REALTIME) > 1500000000ull * 1000000000);
}
