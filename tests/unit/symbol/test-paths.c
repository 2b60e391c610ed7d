/* SPDX-License-Identifier: Apache-2.0 */
/* Source paths as people read them. */
#include "symbol/parts.h"
#include "symbol/dwarf-parts.h"

#include "test.h"

static void check_clean(const char *path, const char *want)
{
	struct intern files = { 0 };

	uint32_t id = line_put_path(&files, path);

	CHECK_EQ_STR(files.names.at[id], want);
	intern_done(&files);
}

TEST(paths_without_detours)
{
	check_clean("/b/../../home/x.c", "/home/x.c");
	check_clean("/a/b/../c/./d.c", "/a/c/d.c");
	check_clean("../../x/y.c", "../../x/y.c");
	check_clean("../a/../b.c", "../b.c");
	check_clean("a/..", "");
	check_clean("./malloc/./malloc.c", "malloc/malloc.c");
	check_clean("//double//slash.c", "/double/slash.c");
	check_clean("/..", "/");
	check_clean("plain.c", "plain.c");
	check_clean("a/.../b..c", "a/.../b..c");
}
