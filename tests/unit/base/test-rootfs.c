/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of /proc and /sys from a tree of our own. */
#include "base/rootfs.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"

static void put(const char *path, const char *bytes, size_t len)
{
	char_auto full = mem_printf("%s%s", test_tmpdir(), path);
	char_auto folder = mem_strdup(full);
	struct err err;

	*strrchr(folder, '/') = 0;
	CHECK_MSG(os_make_dirs(folder, &err), "%s", err.text);
	CHECK_MSG(os_save_file(full, bytes, len, &err), "%s", err.text);
}

TEST(rootfs_reads_of_a_tree)
{
	struct rootfs r = { test_tmpdir() };
	buf_auto b = { 0 };

	put("/sys/a/text", "some words \n\t\n", 14);
	put("/sys/a/number", "-42\n", 4);
	put("/sys/a/hex", "0x1b\n", 5);
	put("/sys/a/zeros", "a\0b\0", 4);
	put("/sys/a/blank", " \n", 2);
	CHECK(rootfs_read(&r, "/sys/a/text", &b));
	CHECK_EQ_STR(buf_str(&b), "some words");
	CHECK(rootfs_read(&r, "/sys/a/blank", &b));
	CHECK_EQ_STR(buf_str(&b), "some words");
	buf_clear(&b);
	/* Zero bytes are no white space: command lines and notes end in them. */
	CHECK(rootfs_read(&r, "/sys/a/zeros", &b));
	CHECK_EQ_U64(b.len, 4);
	CHECK(!rootfs_read(&r, "/sys/a/none", &b));
	CHECK(!rootfs_read(&r, "/sys/a", &b));
	CHECK_EQ_INT(rootfs_number(&r, "/sys/a/number", 7), -42);
	CHECK_EQ_INT(rootfs_number(&r, "/sys/a/hex", 7), 27);
	CHECK_EQ_INT(rootfs_number(&r, "/sys/a/text", 7), 7);
	CHECK_EQ_INT(rootfs_number(&r, "/sys/a/none", 7), 7);
	CHECK(rootfs_exists(&r, "/sys/a/text") && rootfs_exists(&r, "/sys/a"));
	CHECK(!rootfs_exists(&r, "/sys/b"));
	errno = 0;
	CHECK_EQ_INT(rootfs_open(&r, "/sys/a/none"), -1);
	CHECK_EQ_INT(errno, ENOENT);
}

TEST(rootfs_list_is_sorted)
{
	static const char *const expect[] = { "cpu1", "cpu2", "cpu10", "possible" };
	struct rootfs r = { test_tmpdir() };
	arena_auto a = { 0 };
	const char **names;

	put("/sys/cpu/cpu10/online", "1", 1);
	put("/sys/cpu/cpu2/online", "1", 1);
	put("/sys/cpu/cpu1/online", "1", 1);
	put("/sys/cpu/possible", "0-10", 4);
	names = rootfs_list(&r, "/sys/cpu", &a);
	for (size_t i = 0; i < 4; i++)
		CHECK_EQ_STR(names[i], expect[i]);
	CHECK(!names[4]);
	CHECK(!rootfs_list(&r, "/sys/none", &a)[0]);
}

TEST(rootfs_of_this_machine)
{
	static const struct rootfs here = { "" };
	buf_auto b = { 0 };

	CHECK(rootfs_read(&here, "/proc/self/stat", &b));
	CHECK_EQ_INT(rootfs_number(&here, "/proc/self/nothing", -1), -1);
	CHECK(b.len > 10);
}

TEST(cpu_list_good)
{
	static const int expect[] = { 0, 1, 2, 3, 8, 10, 11 };
	struct cpu_list l = { 0 };

	CHECK(cpu_list_parse(&l, "0-3,8,10-11\n"));
	CHECK_EQ_U64(l.ids.len, 7);
	for (size_t i = 0; i < 7; i++)
		CHECK_EQ_INT(l.ids.at[i], expect[i]);
	CHECK(cpu_list_parse(&l, ""));
	CHECK_EQ_U64(l.ids.len, 0);
	CHECK(cpu_list_parse(&l, "7"));
	CHECK_EQ_U64(l.ids.len, 1);
	CHECK(cpu_list_parse(&l, "0-65535"));
	CHECK_EQ_U64(l.ids.len, 65536);
	CHECK(cpu_list_parse(&l, "65535,3-3"));
	CHECK_EQ_U64(l.ids.len, 2);
	vec_done(&l.ids);
}

TEST(cpu_list_bad)
{
	static const char *const bad[] = {
		",",
		"0,",
		",0",
		"0,,1",
		"-",
		"1-",
		"-1",
		"3-1",
		"0-3-5",
		"a",
		"0-b",
		"0 1",
		"0-65536",
		"65536",
		"99999999999999999999",
		"0..3",
		"0-65535,0-65535",
	};
	struct cpu_list l = { 0 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_MSG(!cpu_list_parse(&l, bad[i]), "%s", bad[i]);
	vec_done(&l.ids);
}
