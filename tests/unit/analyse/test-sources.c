/* SPDX-License-Identifier: Apache-2.0 */
/* Where source lines are looked for, and what is not read. */
#include "analyse/sources.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"

static const char *path_of(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", test_tmpdir(), name);
	return path;
}

static void save(const char *name, const char *text)
{
	char_auto path = mem_printf("%s/%s", test_tmpdir(), name);
	struct err err;

	*strrchr(path, '/') = 0;
	CHECK(os_make_dirs(path, &err));
	path[strlen(path)] = '/';
	CHECK(os_save_file(path, text, strlen(text), &err));
}

static void check_line(struct sources *s, const char *file, uint32_t line, const char *want)
{
	struct str text;

	CHECK_MSG(sources_line(s, file, line, &text), "no %s:%u", file, line);
	CHECK_MSG(str_eq(text, want), "%s:%u is %.*s", file, line, (int)text.len, text.at);
}

TEST(sources_lines)
{
	struct sources s = { 0 };
	struct str text;

	save("a.c", "one\n\n\tthree\r\nlast");
	check_line(&s, path_of("a.c"), 1, "one");
	check_line(&s, path_of("a.c"), 2, "");
	check_line(&s, path_of("a.c"), 3, "\tthree");
	check_line(&s, path_of("a.c"), 4, "last");
	CHECK(!s.files.at[0].newer);
	CHECK(!sources_line(&s, path_of("a.c"), 0, &text));
	CHECK(!sources_line(&s, path_of("a.c"), 5, &text));
	/* A file that is too short is not the one that was compiled. */
	CHECK(s.files.at[0].newer);
	CHECK_EQ_U64(s.files.len, 1);
	sources_done(&s);
}

TEST(sources_under_a_folder)
{
	char_auto dir = mem_printf("%s/tree", test_tmpdir());
	struct sources s = { .dir = dir };
	struct str text;

	save("tree/src/a.c", "deep\n");
	save("tree/a.c", "flat\n");
	save("tree/b.c", "b\n");
	save("c.c", "absolute\n");
	check_line(&s, "/build/project/src/a.c", 1, "deep");
	check_line(&s, "project/lib/a.c", 1, "flat");
	check_line(&s, "/gone//b.c", 1, "b");
	check_line(&s, path_of("c.c"), 1, "absolute");
	CHECK(!sources_line(&s, "/gone/d.c", 1, &text));
	CHECK_EQ_INT(s.files.at[4].state, SOURCE_MISSING);
	CHECK(!sources_line(&s, "/gone/", 1, &text));
	sources_done(&s);
	/* Without a folder, a relative path is not taken as one of ours. */
	s = (struct sources){ 0 };
	CHECK(!chdir(test_tmpdir()));
	CHECK(!sources_line(&s, "c.c", 1, &text));
	sources_done(&s);
}

TEST(sources_newer_than_the_program)
{
	struct sources s = { .built_ns = UINT64_C(2000000000) * 1000000000 };
	struct timespec times[2] = { { 1999999999, 0 }, { 1999999999, 0 } };

	save("old.c", "x\n");
	save("new.c", "x\n");
	CHECK(!utimensat(AT_FDCWD, path_of("old.c"), times, 0));
	times[1].tv_sec = 2000000001;
	CHECK(!utimensat(AT_FDCWD, path_of("new.c"), times, 0));
	check_line(&s, path_of("old.c"), 1, "x");
	check_line(&s, path_of("new.c"), 1, "x");
	CHECK(!s.files.at[0].newer);
	CHECK(s.files.at[1].newer);
	sources_done(&s);
}

/* To open a pipe wakes who waits at its other end; to open a device may do anything. */
TEST(sources_do_not_open_what_is_no_file)
{
	fd_auto watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct inotify_event event;
	struct sources s = { 0 };
	struct str text;

	CHECK(!mkfifo(path_of("pipe.c"), 0600));
	CHECK(watch >= 0 && inotify_add_watch(watch, path_of("pipe.c"), IN_OPEN) >= 0);
	CHECK(!sources_line(&s, path_of("pipe.c"), 1, &text));
	CHECK_EQ_INT(s.files.at[0].state, SOURCE_UNREADABLE);
	CHECK(read(watch, &event, sizeof(event)) < 0);
	sources_done(&s);
}

/* The paths come from a recording: what is no whole regular file is not read, and nothing hangs. */
TEST(sources_that_are_no_files)
{
	struct sources s = { 0 };
	struct str text;

	CHECK(!mkfifo(path_of("pipe.c"), 0600));
	save("big.c", "x\n");
	CHECK(!truncate(path_of("big.c"), SOURCES_MAX_BYTES + 1));
	CHECK(!sources_line(&s, path_of("pipe.c"), 1, &text));
	CHECK(!sources_line(&s, test_tmpdir(), 1, &text));
	CHECK(!sources_line(&s, "/dev/zero", 1, &text));
	CHECK(!sources_line(&s, path_of("big.c"), 1, &text));
	vec_each(f, &s.files)
		CHECK_EQ_INT(f->state, SOURCE_UNREADABLE);
	sources_done(&s);
}
