/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps and /proc/PID/stat, as kernels print them and as they may be damaged. */
#include "decode/maps.h"

#include "base/os.h"
#include "base/rootfs.h"
#include "test.h"

static bool path_is(const struct maps_line *m, const char *path)
{
	return str_eq(m->path, path);
}

TEST(maps_usual_line)
{
	struct maps_line m;

	CHECK(maps_parse(str_of("7f0c5a1d6000-7f0c5a1fc000 r-xp 00001000 fe:01 131184"
				"                     /usr/lib/x86_64-linux-gnu/ld.so"),
			 &m));
	CHECK_EQ_U64(m.start, 0x7f0c5a1d6000);
	CHECK_EQ_U64(m.end, 0x7f0c5a1fc000);
	CHECK(m.read && !m.write && m.exec && !m.shared);
	CHECK_EQ_U64(m.offset, 0x1000);
	CHECK_EQ_U64(m.device_major, 0xfe);
	CHECK_EQ_U64(m.device_minor, 1);
	CHECK_EQ_U64(m.inode, 131184);
	CHECK(path_is(&m, "/usr/lib/x86_64-linux-gnu/ld.so"));
}

TEST(maps_paths)
{
	static const struct {
		const char *line, *path;
	} all[] = {
		{ "1000-2000 rw-s 00000000 00:00 0 ", "" },
		{ "1000-2000 rw-s 00000000 00:00 0", "" },
		{ "1000-2000 rw-s 00000000 00:00 0       [stack]", "[stack]" },
		{ "1000-2000 rw-s 00000000 00:01 9      /a b (deleted)", "/a b (deleted)" },
		{ "1000-2000 rw-s 00000000 00:01 9      /ends in a blank ", "/ends in a blank " },
		{ "1000-2000 rw-s 00000000 00:01 9      /new\\012line\n", "/new\\012line" },
		{ "1000-2000 rw-s 00000000 00:01 9      /\xff\xfe", "/\xff\xfe" },
		{ "1000-2000 rw-s 00000000 00:01 9      //anon", "//anon" },
		{ "1000-2000 rw-s 00000000 00:10 18446744073709551615 /memfd:jit (deleted)",
		  "/memfd:jit (deleted)" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct maps_line m;

		CHECK_MSG(maps_parse(str_of(all[i].line), &m), "%s", all[i].line);
		CHECK_MSG(path_is(&m, all[i].path), "%s", all[i].line);
		CHECK(m.read && m.write && !m.exec && m.shared);
	}
}

TEST(maps_limits)
{
	struct maps_line m;

	CHECK(maps_parse(str_of("ffffffffff600000-ffffffffffffffff --xp ffffffffffffffff "
				"ffffffff:ffffffff 18446744073709551615 [vsyscall]"),
			 &m));
	CHECK_EQ_U64(m.end, UINT64_MAX);
	CHECK_EQ_U64(m.offset, UINT64_MAX);
	CHECK_EQ_U64(m.inode, UINT64_MAX);
	CHECK_EQ_U64(m.device_minor, UINT32_MAX);
}

TEST(maps_no_line)
{
	static const char *const bad[] = {
		"",
		" ",
		"1000-2000",
		"1000-2000 r-xp 0 00:00",
		"2000-1000 r-xp 0 00:00 0",
		"1000 r-xp 0 00:00 0",
		"1000-2000 r-x 0 00:00 0",
		"1000-2000 R-xp 0 00:00 0",
		"1000-2000 r-xq 0 00:00 0",
		"1000-2000 r-xp 0x0 00:00 0",
		"1000-2000 r-xp 0 0000 0",
		"1000-2000 r-xp 0 100000000:0 0",
		"1000-2000 r-xp 0 00:00 -1",
		"1000-10000000000000000 r-xp 0 00:00 0",
		"g000-h000 r-xp 0 00:00 0",
		"Size:                  4 kB",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct maps_line m = { .inode = 42 };

		CHECK_MSG(!maps_parse(str_of(bad[i]), &m), "%s", bad[i]);
		CHECK_EQ_U64(m.inode, 42);
	}
}

TEST(maps_cut_at_every_length)
{
	static const char line[] = "7f0c5a1d6000-7f0c5a1fc000 r-xp 00001000 fe:01 131184   /x";

	for (size_t len = 0; len <= strlen(line); len++) {
		struct str s = { (const char *)test_guard(line, len), len };
		struct maps_line m;

		CHECK_EQ_INT(maps_parse(s, &m), len > strlen("7f0c5a1d6000-7f0c5a1fc000 r-xp "
							     "00001000 fe:01 "));
	}
}

/* Every line of this process, whose code and stack must be among them. */
TEST(maps_of_this_process)
{
	static const struct rootfs here = { "" };
	uint64_t code = (uint64_t)(uintptr_t)&maps_parse, on_stack = (uint64_t)(uintptr_t)&code;
	bool code_seen = false, stack_seen = false;
	buf_auto text = { 0 };
	struct str rest, line;

	CHECK(rootfs_read(&here, "/proc/self/maps", &text));
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		struct maps_line m;

		CHECK_MSG(maps_parse(line, &m), "%.*s", (int)line.len, line.at);
		if (m.start <= code && code < m.end)
			code_seen = m.exec && m.read && !m.write && m.inode && m.path.at[0] == '/';
		if (m.start <= on_stack && on_stack < m.end)
			stack_seen = m.read && m.write && !m.exec;
	}
	CHECK(code_seen);
	CHECK(stack_seen);
}

TEST(maps_stat_comm_of_any_name)
{
	static const struct {
		const char *stat, *comm, *rest;
	} all[] = {
		{ "42 (sh) S 1 42", "sh", " S 1 42" },
		{ "42 (a) b (c)) R 1", "a) b (c)", " R 1" },
		{ "42 () S 1", "", " S 1" },
		{ "42 (x)", "x", "" },
		{ "42 (new\nline) S", "new\nline", " S" },
	};
	struct str comm, rest;

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		CHECK(maps_stat_comm(str_of(all[i].stat), &comm, &rest));
		CHECK_MSG(str_eq(comm, all[i].comm), "%s", all[i].stat);
		CHECK_MSG(str_eq(rest, all[i].rest), "%s", all[i].stat);
	}
	CHECK(!maps_stat_comm(str_of(""), &comm, &rest));
	CHECK(!maps_stat_comm(str_of("42 sh S"), &comm, &rest));
	CHECK(!maps_stat_comm(str_of("42 )sh( S"), &comm, &rest));
	CHECK(!maps_stat_comm(str_of("42 (sh S"), &comm, &rest));
}
