/* SPDX-License-Identifier: Apache-2.0 */
/* Code by any name of the symbol table. */
#include "build.h"

TEST(names_by_the_symbol_table)
{
	const char *path;
	uint64_t at = 1;

	build_needs("gcc");
	build_file("al.c", "int one(int n) { return n * 3; }\n"
			   "int two(int n) __attribute__((alias(\"one\")));\n"
			   "int main(void) { return one(2); }\n");
	build_run("gcc -O1 al.c -o al");
	path = build_path("al");
	CHECK(symbol_find_name(path, "/none", "two", &at));
	CHECK_EQ_U64(at, build_symbol(path, "one"));
	at = 1;
	CHECK(!symbol_find_name(path, "/none", "tw", &at));
	CHECK(!symbol_find_name(build_path("al.c"), "/none", "two", &at));
	CHECK(!symbol_find_name(build_path("nothing"), "/none", "two", &at));
	CHECK_EQ_U64(at, 1);
}
