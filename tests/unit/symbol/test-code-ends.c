/* SPDX-License-Identifier: Apache-2.0 */
/* Where code ends that no symbol ends, and code that is too much. */
#include "build.h"

#include "symbol/code.h"

TEST(too_much_code)
{
	struct code_request r = { .debug_dir = "/none", .size = 5 << 20 };
	struct code *c;
	struct err err;

	build_needs("gcc");
	build_file("big.s", "	.text\n	.type f, @function\nf:	.skip 5 << 20\n"
			    "	.size f, . - f\n");
	build_run("gcc -nostdlib -shared -o big big.s");
	r.path = build_path("big");
	r.address = build_symbol(r.path, "f");
	CHECK(!code_read(&c, &r, &err));
	CHECK_EQ_INT(err.kind, ERR_LIMIT);
	CHECK_HAS(err.text, "0x500000 bytes");
}

/* 64 bytes behind the sample are in the middle of an instruction of seven. */
TEST(nameless_code_ends_with_a_whole_instruction)
{
	struct code_request r = { .debug_dir = "/none", .size = 1, .sampled_count = 1 };
	uint64_t sampled;
	struct code *c;
	struct err err;

	if (build_ask("uname -m")[0] != 'x')
		SKIP("no x86 compiler here");
	build_file(
		"n.s",
		"	.text\n	.local f\nf:	ret\n	.skip 63, 0x90\n"
		"	.local g\ng:	.rept 20\n	leaq 0x12345678(%rip), %rax\n	.endr\n	ret\n");
	build_run("gcc -nostdlib -shared -o n n.s");
	r.address = build_symbol(build_path("n"), "f");
	sampled = build_symbol(build_path("n"), "g");
	build_run("strip n -o bare");
	r.path = build_path("bare");
	r.sampled = &sampled;
	CHECK_MSG(code_read(&c, &r, &err), "%s", err.text);
	CHECK_EQ_INT(c->pieces.len, 2);
	CHECK_EQ_STR(c->pieces.at[1].name, "");
	CHECK_EQ_U64(c->pieces.at[1].address, sampled);
	CHECK_EQ_U64(c->pieces.at[1].size, 9 * 7);
	CHECK_EQ_INT(c->insns.len, 1 + 9);
	CHECK_EQ_U64(c->unknown, 0);
	code_free(c);
}
