/* SPDX-License-Identifier: Apache-2.0 */
/* Address spaces by time: exec, fork, mappings over mappings, pids that are used again. */
#include "recording.h"
#include "test.h"

TEST(file_address_is_offset_in_file)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "app", 1000);
	rec_mmap(&r, 100, 0x555500001000, 0x3000, 0x1000, 7, "/bin/app", 1001);
	rec_sample(&r, REC_USER, 100, 100, 2000, 0x555500001234, NULL);
	rec_sample(&r, REC_USER, 100, 100, 2001, 0x555500003fff, NULL);
	rec_sample(&r, REC_USER, 100, 100, 2002, 0x555500004000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 1: app+1234\n"
				  "app(app) 100/100 1: app+3fff\n"
				  "app(app) 100/100 1: [unknown]+555500004000\n");
	CHECK_EQ_U64(m->unmapped, 1);
	CHECK_EQ_U64(m->samples, 3);
	CHECK_EQ_U64(rec_image(m, "app")->samples, 2);
	CHECK_EQ_INT(rec_image(m, "[unknown]")->kind, MODEL_IMAGE_UNKNOWN);
	CHECK_EQ_INT(rec_image(m, "[unknown]")->pid, 100);
	model_free(m);
}

/* What the old program had mapped is gone, and both programs' samples stay apart. */
TEST(exec_clears_the_space)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "sh", 1000);
	rec_mmap(&r, 100, 0x400000, 0x2000, 0, 7, "/bin/sh", 1001);
	rec_mmap(&r, 100, 0x700000, 0x1000, 0, 8, "/lib/libold.so", 1002);
	rec_sample(&r, REC_USER, 100, 100, 2000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 2001, 0x700010, NULL);
	rec_comm(&r, MISC_EXEC, 100, 100, "ls", 3000);
	rec_mmap(&r, 100, 0x400000, 0x2000, 0x1000, 9, "/bin/ls", 3001);
	rec_sample(&r, REC_USER, 100, 100, 4000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 4001, 0x700010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "sh(sh) 100/100 1: sh+10\n"
				  "sh(sh) 100/100 1: libold.so+10\n"
				  "ls(ls) 100/100 1: ls+1010\n"
				  "ls(ls) 100/100 1: [unknown]+700010\n");
	model_free(m);
}

/*
 * While the kernel is still at work on an exec, the name is the new one, but the place that called it
 * is in the old program. Nothing else of the old program is.
 */
TEST(exec_was_called_by_the_old_program)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = {
		MARK_KERNEL, 0xffffffff81000010, MARK_USER, 0x700010, 0x700020, 0
	};

	rec_comm(&r, MISC_EXEC, 100, 100, "sh", 1000);
	rec_mmap(&r, 100, 0x700000, 0x1000, 0, 8, "/lib/libc.so", 1002);
	rec_comm(&r, MISC_EXEC, 100, 100, "ls", 3000);
	rec_sample(&r, REC_KERNEL, 100, 100, 3001, 0xffffffff81000010, chain);
	rec_sample(&r, REC_USER, 100, 100, 3002, 0x700010, chain + 2);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m),
		     "ls(ls) 100/100 1: [kernel]+ffffffff81000010<libc.so+10<[unknown]+700020-\n"
		     "ls(ls) 100/100 1: [unknown]+700010<[unknown]+700020-\n");
	model_free(m);
}

TEST(fork_inherits_what_was_mapped_then)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "server", 1000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/bin/server", 1001);
	rec_fork(&r, 0, 200, 100, 200, 100, 2000);
	rec_mmap(&r, 100, 0x500000, 0x1000, 0, 8, "/lib/late.so", 2500);
	rec_mmap(&r, 200, 0x400000, 0x1000, 0, 9, "/lib/over.so", 3000);
	rec_sample(&r, REC_USER, 200, 200, 2600, 0x400010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 2700, 0x500010, NULL);
	rec_sample(&r, REC_USER, 200, 200, 3100, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 3200, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 3201, 0x500010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "server(server) 200/200 1: server+10\n"
				  "server(server) 200/200 1: [unknown]+500010\n"
				  "server(server) 200/200 1: over.so+10\n"
				  "server(server) 100/100 1: server+10\n"
				  "server(server) 100/100 1: late.so+10\n");
	model_free(m);
}

/* A fork that a recorder makes up for a process that exec'ed long ago brings no mappings. */
TEST(made_up_fork_inherits_nothing)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/bin/parent", 0);
	rec_fork(&r, MISC_EXEC, 200, 100, 200, 100, 0);
	rec_comm(&r, 0, 200, 200, "child", 0);
	rec_sample(&r, REC_USER, 200, 200, 100, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "child(child) 200/200 1: [unknown]+400010\n");
	model_free(m);
}

/* dlclose, then dlopen of another library at the same place. */
TEST(mapping_over_mapping)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "app", 1000);
	rec_mmap(&r, 100, 0x700000, 0x4000, 0, 7, "/lib/a.so", 1001);
	rec_sample(&r, REC_USER, 100, 100, 2000, 0x701000, NULL);
	rec_mmap(&r, 100, 0x701000, 0x1000, 0, 8, "/lib/b.so", 3000);
	rec_sample(&r, REC_USER, 100, 100, 4000, 0x701000, NULL);
	rec_sample(&r, REC_USER, 100, 100, 4001, 0x700fff, NULL);
	rec_sample(&r, REC_USER, 100, 100, 4002, 0x702000, NULL);
	/* Late, but of the time before. */
	rec_sample(&r, REC_USER, 100, 100, 2999, 0x701000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 2: a.so+1000\n"
				  "app(app) 100/100 1: b.so+0\n"
				  "app(app) 100/100 1: a.so+fff\n"
				  "app(app) 100/100 1: a.so+2000\n");
	model_free(m);
}

TEST(pid_used_again)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, 0, 1, 1, "init", 0);
	rec_fork(&r, 0, 100, 1, 100, 1, 1000);
	rec_comm(&r, MISC_EXEC, 100, 100, "first", 1001);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/bin/first", 1002);
	rec_sample(&r, REC_USER, 100, 100, 1500, 0x400010, NULL);
	rec_exit(&r, 100, 100, 2000);
	rec_fork(&r, 0, 100, 1, 100, 1, 3000);
	rec_sample(&r, REC_USER, 100, 100, 3500, 0x400010, NULL);
	rec_comm(&r, MISC_EXEC, 100, 100, "second", 4000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 8, "/bin/second", 4001);
	rec_sample(&r, REC_USER, 100, 100, 4500, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1600, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "first(first) 100/100 2: first+10\n"
				  "init(init) 100/100 1: [unknown]+400010\n"
				  "second(second) 100/100 1: second+10\n");
	model_free(m);
}

/* The fork record of the successor was lost; its exec is proof enough. */
TEST(exec_after_exit_is_a_new_process)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "first", 1000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 0, "//anon", 1001);
	rec_sample(&r, REC_USER, 100, 100, 1500, 0x400010, NULL);
	rec_exit(&r, 100, 100, 2000);
	rec_comm(&r, MISC_EXEC, 100, 100, "second", 3000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 0, "//anon", 3001);
	rec_sample(&r, REC_USER, 100, 100, 3500, 0x400010, NULL);
	m = rec_load(&r, NULL);
	/* Two processes, so two images of their own memory. */
	CHECK_EQ_U64(m->images.len, 2);
	CHECK_EQ_U64(m->images.at[0].samples, 1);
	CHECK_EQ_U64(m->images.at[1].samples, 1);
	model_free(m);
}

/* Each event of a recorder may tell of the same fork. */
TEST(fork_told_twice)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "app", 1000);
	rec_fork(&r, 0, 200, 100, 200, 100, 2000);
	rec_fork(&r, 0, 200, 100, 200, 100, 2001);
	rec_fork(&r, 0, 100, 100, 101, 100, 2002);
	rec_fork(&r, 0, 100, 100, 101, 100, 2003);
	rec_sample(&r, REC_USER, 200, 200, 2000, 0x1000, NULL);
	rec_sample(&r, REC_USER, 200, 200, 2500, 0x1000, NULL);
	rec_sample(&r, REC_USER, 100, 101, 2002, 0x1000, NULL);
	rec_sample(&r, REC_USER, 100, 101, 2500, 0x1000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 200/200 2: [unknown]+1000\n"
				  "app(app) 100/101 2: [unknown]+1000\n");
	model_free(m);
}

/* A mapping that only adds holds for all of its version: a recorder may tell late of old ones. */
TEST(missed_address_is_looked_up_again)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 0x400010, 0x500020, 0 };

	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/bin/app", 100);
	for (uint64_t i = 0; i < 64; i++)
		rec_sample(&r, REC_USER, 100, 100, 1000 + i, 0x400010, chain);
	rec_mmap(&r, 100, 0x500000, 0x1000, 0, 8, "/lib/a.so", 2000);
	rec_sample(&r, REC_USER, 100, 100, 3000, 0x400010, chain);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), ":100(:100) 100/100 64: app+10<[unknown]+500020-\n"
				  ":100(:100) 100/100 1: app+10<a.so+20-\n");
	model_free(m);
}

TEST(kernel_and_odd_mappings)
{
	struct recording r = { 0 };
	struct model *m;

	rec_mmap(&r, UINT32_MAX, 0xffffffff81000000, 0x1000000, 0, 0, "[kernel.kallsyms]_text", 0);
	rec_mmap(&r, 100, 0x1000, 0, 0, 7, "/bin/nothing", 0);
	rec_mmap(&r, 100, 0xfffffffffffff000, 0x2000, 0, 0, "[vsyscall]", 0);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1001, 0xfffffffffffff010, NULL);
	rec_sample(&r, REC_KERNEL, 100, 100, 1002, 0xffffffff81000010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), ":100(:100) 100/100 1: [unknown]+1000\n"
				  ":100(:100) 100/100 1: [vsyscall]+fffffffffffff010\n"
				  ":100(:100) 100/100 1: [kernel]+ffffffff81000010\n");
	CHECK_EQ_INT(rec_image(m, "[kernel]")->kind, MODEL_IMAGE_KERNEL);
	CHECK_EQ_STR(rec_image(m, "[kernel]")->key, "kernel");
	CHECK_EQ_U64(m->kernel_samples, 1);
	model_free(m);
}
