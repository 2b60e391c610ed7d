/* SPDX-License-Identifier: Apache-2.0 */
/* Which instruction gets which sample, and how instructions are grouped by source line. */
#include "analyse/annotate.h"

#include "base/os.h"
#include "test.h"

enum { A_C, B_H };

/* Six instructions of "f" in two lines and an inlined part, and its cold piece at a lower address. */
static void make_code(struct code *c)
{
	static const struct code_insn insns[] = {
		{ .address = 0x100, .size = 4, .file = A_C, .line = 10, .text = "a\tx" },
		{ .address = 0x104, .size = 2, .file = A_C, .line = 10, .text = "b" },
		{ .address = 0x106, .size = 6, .file = B_H, .line = 7, .text = "c", .inlined = "in" },
		{ .address = 0x10c, .size = 4, .file = A_C, .line = 10, .text = "d" },
		{ .address = 0x110, .size = 4, .file = MODEL_NONE, .text = "e" },
		{ .address = 0x114, .size = 4, .file = A_C, .line = 9, .text = "g" },
		{ .address = 0x40, .size = 4, .piece = 1, .file = A_C, .line = 9, .text = "h" },
	};

	*c = (struct code){ 0 };
	vec_add(&c->pieces, ((struct code_piece){ 0x100, 0x18, "f" }));
	vec_add(&c->pieces, ((struct code_piece){ 0x40, 4, "f.cold" }));
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		vec_add(&c->insns, insns[i]);
	intern_put(&c->files, str_of("/src/a.c"));
	intern_put(&c->files, str_of("/src/b.h"));
}

static void drop_code(struct code *c)
{
	vec_done(&c->pieces);
	vec_done(&c->insns);
	intern_done(&c->files);
}

/* "S a.c:10 samples weight*" a line. */
static char *told(const struct annotation *a)
{
	static const char kinds[] = { 'S', 'i', 'P' };
	buf_auto b = { 0 };

	vec_each(row, &a->rows) {
		buf_printf(&b, "%c", kinds[row->kind]);
		if (row->kind == ANNOTATE_PIECE)
			buf_printf(&b, " %s", row->piece->name);
		else if (row->kind == ANNOTATE_INSTRUCTION)
			buf_printf(&b, " %llx", (unsigned long long)row->address);
		else if (row->file == MODEL_NONE)
			buf_puts(&b, " ?");
		else
			buf_printf(&b, " %s:%u", a->files.names.at[row->file], row->line);
		if (row->count.samples)
			buf_printf(&b, " %llu/%llu", (unsigned long long)row->count.samples,
				   (unsigned long long)row->count.weight);
		buf_puts(&b, row->hot ? "*\n" : "\n");
	}
	return mem_strdup(buf_str(&b));
}

TEST(annotate_gives_each_sample_to_one_instruction)
{
	static const struct annotate_sample samples[] = {
		{ 0x40, NULL, 0, { 1, 10 } },	    /* of the cold piece */
		{ 0x80, "/src/z.c", 3, { 2, 20 } }, /* where no code is */
		{ 0x104, NULL, 0, { 80, 800 } },
		{ 0x108, NULL, 0, { 5, 50 } }, /* inside the instruction at 0x106 */
		{ 0x10c, NULL, 0, { 12, 120 } },
	};
	struct annotation a;
	struct code c;

	make_code(&c);
	annotate(&a, &c, samples, 5);
	{
		char_auto got = told(&a);

		CHECK_EQ_STR(got, "S /src/a.c:10 80/800*\n"
				  "i 100\n"
				  "i 104 80/800*\n"
				  "S /src/b.h:7 5/50\n"
				  "i 106 5/50\n"
				  "S /src/a.c:10 12/120*\n"
				  "i 10c 12/120*\n"
				  "S ?\n"
				  "i 110\n"
				  "S /src/a.c:9\n"
				  "i 114\n"
				  "P f.cold\n"
				  "S /src/a.c:9 1/10\n"
				  "i 40 1/10\n"
				  "S /src/z.c:3 2/20\n"
				  "i 80 2/20\n");
	}
	CHECK_EQ_U64(a.all.samples, 100);
	CHECK_EQ_U64(a.all.weight, 1000);
	CHECK_EQ_U64(a.between, 5);
	CHECK_EQ_U64(a.outside, 2);
	annotation_done(&a);
	drop_code(&c);
}

TEST(annotate_sums_the_runs_of_a_line)
{
	static const struct annotate_sample samples[] = {
		{ 0x100, NULL, 0, { 3, 30 } },
		{ 0x10c, NULL, 0, { 4, 40 } },
		{ 0x110, NULL, 0, { 1, 10 } },
	};
	struct annotation a;
	struct code c;

	make_code(&c);
	annotate(&a, &c, samples, 3);
	/* By file in the order in which they come, then by line; no row for what has no line. */
	CHECK_EQ_U64(a.lines.len, 3);
	CHECK_EQ_U64(a.lines.at[0].line, 9);
	CHECK_EQ_U64(a.lines.at[0].count.samples, 0);
	CHECK_EQ_U64(a.lines.at[1].line, 10);
	CHECK_EQ_U64(a.lines.at[1].count.samples, 7);
	CHECK_EQ_U64(a.lines.at[1].count.weight, 70);
	CHECK_EQ_STR(a.files.names.at[a.lines.at[2].file], "/src/b.h");
	annotation_done(&a);
	drop_code(&c);
}

/* The hottest is marked even when nothing holds a tenth. */
TEST(annotate_marks_the_hottest)
{
	struct annotate_sample samples[40];
	struct code c = { 0 };
	struct annotation a;
	size_t hot = 0;

	vec_add(&c.pieces, ((struct code_piece){ 0, 160, "f" }));
	for (uint32_t i = 0; i < 40; i++) {
		vec_add(&c.insns,
			((struct code_insn){
				.address = i * 4, .size = 4, .file = MODEL_NONE, .text = "nop" }));
		samples[i] = (struct annotate_sample){ i * 4, NULL, 0, { 10, i == 7 ? 3 : 2 } };
	}
	annotate(&a, &c, samples, 40);
	/* Without any line there are no rows for lines. */
	CHECK_EQ_U64(a.rows.len, 40);
	for (size_t i = 0; i < 40; i++)
		hot += a.rows.at[i].hot;
	CHECK_EQ_U64(hot, 1);
	CHECK(a.rows.at[7].hot);
	annotation_done(&a);
	vec_done(&c.pieces);
	vec_done(&c.insns);
}

/* Less than ten samples in one place say nothing, be they all that there are. */
TEST(annotate_marks_nothing_by_chance)
{
	static const struct annotate_sample samples[] = {
		{ 0x100, NULL, 0, { 9, 900 } },
		{ 0x10c, NULL, 0, { 1, 100 } },
	};
	struct annotation a;
	struct code c;
	size_t hot = 0;

	make_code(&c);
	annotate(&a, &c, samples, 2);
	for (size_t i = 0; i < a.rows.len; i++)
		hot += a.rows.at[i].hot;
	CHECK_EQ_U64(hot, 0);
	annotation_done(&a);
	drop_code(&c);
}

TEST(annotate_without_code)
{
	static const struct annotate_sample samples[] = {
		{ 0x100, "/src/a.c", 10, { 30, 30 } },
		{ 0x104, "/src/a.c", 10, { 10, 10 } },
		{ UINT64_C(0xffffffff81000000), NULL, 0, { 40, 40 } },
	};
	struct annotation a;

	annotate(&a, NULL, samples, 3);
	{
		char_auto got = told(&a);

		CHECK_EQ_STR(got, "S /src/a.c:10 40/40*\ni 100 30/30*\ni 104 10/10*\n"
				  "S ? 40/40*\ni ffffffff81000000 40/40*\n");
	}
	CHECK_EQ_U64(a.outside, 0);
	annotation_done(&a);
	annotate(&a, NULL, NULL, 0);
	CHECK_EQ_U64(a.rows.len, 0);
	annotation_done(&a);
}
