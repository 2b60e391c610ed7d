/* SPDX-License-Identifier: Apache-2.0 */
/* From an annotated function to findings: rows, shares, notes, and words of caution. */
#include <string.h>

#include "base/os.h"
#include "fixture.h"
#include "test.h"

struct sheet {
	struct fixture f;
	struct store *s;
	struct store_functions all;
	struct store_samples samples;
	struct code code;
	struct annotation annotation;
	struct sources sources;
	struct listing_input in;
};

static void make_code(struct code *c)
{
	static const struct code_insn insns[] = {
		{ .address = 0x1000, .size = 4, .file = 0, .line = 9, .text = "push\t%rbp" },
		{ .address = 0x1004,
		  .size = 4,
		  .file = 0,
		  .line = 10,
		  .text = "jne\t0x1000",
		  .target_text = "chase",
		  .inlined = "next" },
		{ .address = 0x1008, .size = 4, .file = MODEL_NONE, .text = ".byte\t0x6" },
		{ .address = 0x40, .size = 1, .piece = 1, .file = MODEL_NONE, .text = "retq" },
	};

	vec_add(&c->pieces, ((struct code_piece){ 0x1000, 0xc, "chase" }));
	vec_add(&c->pieces, ((struct code_piece){ 0x40, 1, "chase.cold" }));
	for (size_t i = 0; i < sizeof(insns) / sizeof(insns[0]); i++)
		vec_add(&c->insns, insns[i]);
	c->unknown = 1;
}

static void sheet_open(struct sheet *x, const char *source)
{
	struct store_found found;
	struct err err;

	*x = (struct sheet){ 0 };
	fixture_init(&x->f);
	if (source)
		x->f.e.source = source;
	vec_add(&x->f.h.instructions,
		((struct hot_instruction){ { 0 }, { 0 }, 0x1006, 0, 10, { 100, 1000 } }));
	x->s = fixture_store(&x->f);
	CHECK(store_functions_load(&x->all, x->s, &err));
	CHECK(store_function_find(&x->all, "chase", &found, &err));
	CHECK(store_function_samples(&x->samples, x->s, found.function->id, &err));
	make_code(&x->code);
	x->in = (struct listing_input){ .all = &x->all,
					.function = found.function,
					.annotation = &x->annotation,
					.code = &x->code,
					.syntax = "x86-64 AT&T",
					.sources = &x->sources };
}

static struct findings *sheet_listing(struct sheet *x)
{
	struct findings *f;
	struct err err;

	annotate(&x->annotation, x->in.code, x->samples.list.at, x->samples.list.len);
	CHECK(store_listing(&f, x->s, &x->in, &err));
	return f;
}

/* The findings must not point into what is gone. */
static void sheet_close(struct sheet *x)
{
	sources_done(&x->sources);
	annotation_done(&x->annotation);
	vec_done(&x->code.pieces);
	vec_done(&x->code.insns);
	intern_done(&x->code.files);
	store_samples_done(&x->samples);
	store_functions_done(&x->all);
	store_close(x->s);
	fixture_done(&x->f);
}

static const char *note(const struct findings *f, const char *id)
{
	vec_each(n, &f->notes)
		if (!strcmp(n->id, id))
			return n->text;
	return "";
}

TEST(listing_rows_and_shares)
{
	char_auto path = mem_printf("%s/app.c", test_tmpdir());
	const struct listing *l;
	struct findings *f;
	struct sheet x;
	struct err err;

	CHECK(os_save_file(path, "1\n2\n3\n4\n5\n6\n7\n8\nnine\nten\n", 26, &err));
	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of(path));
	f = sheet_listing(&x);
	sheet_close(&x);
	l = f->listing;
	CHECK(!f->recipe);
	CHECK_EQ_STR(f->question, "Which instructions of chase cost the time?");
	/* 900 of the run's 1,000. */
	CHECK_EQ_STR(f->verdict, "weak");
	CHECK_EQ_STR(f->verdict_why, "900 samples in this code, a solid result needs 1,000");
	CHECK_HAS(f->evidence_line, "; 900 samples in this code: weak");
	CHECK_EQ_STR(l->function, "chase");
	CHECK_EQ_STR(l->image, "app");
	CHECK_EQ_STR(l->image_path, "/opt/app/bin/app");
	CHECK_EQ_U64(l->address, 0x1000);
	CHECK_EQ_U64(l->samples, 900);
	CHECK_NEAR(l->pct, 90, 1e-9);
	CHECK_EQ_U64(l->self_samples, 900);
	CHECK_NEAR(l->self_pct, 90, 1e-9);
	CHECK_EQ_STR(l->source, "cpu-clock");
	CHECK_HAS(l->caution, "is not corrected yet");
	CHECK_EQ_U64(l->rows.len, 9);
	CHECK_EQ_INT(l->rows.at[0].kind, LISTING_SOURCE);
	CHECK_EQ_STR(l->rows.at[0].text, "nine");
	CHECK_EQ_STR(l->rows.at[0].file, path);
	CHECK_EQ_STR(l->rows.at[1].text, "push\t%rbp");
	CHECK_EQ_STR(l->rows.at[2].text, "ten");
	CHECK_EQ_U64(l->rows.at[2].samples, 900);
	CHECK_EQ_U64(l->rows.at[3].samples, 900);
	CHECK_EQ_INT(l->rows.at[3].offset, 4);
	CHECK_NEAR(l->rows.at[3].pct, 90, 1e-9);
	CHECK_NEAR(l->rows.at[3].function_pct, 100, 1e-9);
	CHECK(l->rows.at[3].hot);
	CHECK_EQ_STR(l->rows.at[3].inlined, "next");
	CHECK_EQ_STR(l->rows.at[3].target, "chase");
	CHECK(!l->rows.at[4].file);
	CHECK_EQ_INT(l->rows.at[6].kind, LISTING_PIECE);
	CHECK_EQ_STR(l->rows.at[6].text, "chase.cold");
	CHECK_EQ_INT(l->rows.at[8].offset, 0x40 - 0x1000);
	CHECK_EQ_U64(l->lines.len, 2);
	CHECK_EQ_STR(l->lines.at[1].text, "ten");
	CHECK_EQ_U64(l->lines.at[1].samples, 900);
	CHECK_HAS(note(f, "SAMPLES_BETWEEN_INSTRUCTIONS"), "100 samples are inside an instruction");
	CHECK_HAS(note(f, "UNKNOWN_INSTRUCTIONS"), "1 instructions");
	CHECK_EQ_STR(note(f, "SOURCE_MISSING"), "");
	CHECK_EQ_STR(note(f, "SOURCE_NEWER"), "");
	findings_free(f);
}

/* Generated code has lines of megabytes, of which each may belong to thousands of instructions. */
TEST(listing_with_long_lines_and_nul)
{
	char_auto path = mem_printf("%s/app.c", test_tmpdir());
	const struct listing *l;
	buf_auto text = { 0 };
	struct findings *f;
	struct sheet x;
	struct err err;

	buf_puts(&text, "1\n2\n3\n4\n5\n6\n7\n8\na");
	buf_u8(&text, 0);
	buf_puts(&text, "b\n");
	for (unsigned int i = 0; i < 4095; i++)
		buf_u8(&text, 'x');
	/* The cut would be in the middle of it. */
	buf_puts(&text, "\xe6\x97\xa5"
			"1234567\n");
	CHECK(os_save_file(path, text.at, text.len, &err));
	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of(path));
	x.code.insns.at[2].file = 0;
	x.code.insns.at[2].line = 9;
	f = sheet_listing(&x);
	sheet_close(&x);
	l = f->listing;
	CHECK_EQ_STR(l->rows.at[0].text, "a\\x00b");
	CHECK_EQ_STR(l->rows.at[4].text, "a\\x00b");
	CHECK(l->rows.at[0].text == l->rows.at[4].text);
	CHECK(l->rows.at[0].text == l->lines.at[0].text);
	CHECK_EQ_U64(strspn(l->rows.at[2].text, "x"), 4095);
	CHECK_EQ_STR(l->rows.at[2].text + 4095, " ... (10 more bytes)");
	findings_free(f);
}

TEST(listing_of_code_that_is_cut)
{
	struct findings *f;
	struct sheet x;

	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of("/gone/app.c"));
	x.code.size_cut = 0x10;
	f = sheet_listing(&x);
	CHECK_HAS(note(f, "SIZE_CUT"), "the image ends 0x10 bytes before that");
	findings_free(f);
	annotation_done(&x.annotation);
	/* What has no symbol has no size. */
	{
		struct store_function bare = *x.in.function;

		bare.size = 0;
		x.in.function = &bare;
		f = sheet_listing(&x);
	}
	sheet_close(&x);
	CHECK_EQ_STR(note(f, "SIZE_CUT"), "");
	findings_free(f);
}

TEST(listing_without_source)
{
	struct findings *f;
	struct sheet x;

	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of("/gone/app.c"));
	f = sheet_listing(&x);
	sheet_close(&x);
	CHECK(!f->listing->rows.at[0].text);
	CHECK_EQ_U64(f->listing->rows.at[0].line, 9);
	CHECK(!f->listing->lines.at[0].text);
	CHECK_EQ_STR(note(f, "SOURCE_MISSING"),
		     "source that is not here: /gone/app.c; --source-dir DIR looks under DIR, with "
		     "leading parts of the path left off");
	findings_free(f);
}

TEST(listing_with_newer_source)
{
	char_auto path = mem_printf("%s/app.c", test_tmpdir());
	struct findings *f;
	struct sheet x;
	struct err err;

	CHECK(os_save_file(path, "1\n", 2, &err));
	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of(path));
	x.sources.built_ns = 1;
	f = sheet_listing(&x);
	sheet_close(&x);
	CHECK_HAS(note(f, "SOURCE_NEWER"), path);
	CHECK_EQ_STR(note(f, "SOURCE_MISSING"), "");
	findings_free(f);
}

TEST(listing_without_code)
{
	const struct listing *l;
	struct findings *f;
	struct sheet x;

	sheet_open(&x, NULL);
	x.in.code = NULL;
	x.in.code_why = "it is gone";
	x.in.syntax = "";
	f = sheet_listing(&x);
	sheet_close(&x);
	l = f->listing;
	CHECK_EQ_STR(l->code_why, "it is gone");
	CHECK_EQ_U64(l->samples, 900);
	/* The line of the fixture, and the two addresses. */
	CHECK_EQ_U64(l->rows.len, 3);
	CHECK(!l->rows.at[1].text);
	CHECK_EQ_U64(l->rows.at[1].samples + l->rows.at[2].samples, 900);
	CHECK_EQ_STR(note(f, "NO_CODE"), "no instructions are shown: it is gone");
	findings_free(f);
}

static void check_caution(const char *source, const char *want)
{
	struct findings *f;
	struct sheet x;

	sheet_open(&x, source);
	intern_put(&x.code.files, str_of("/gone/app.c"));
	f = sheet_listing(&x);
	sheet_close(&x);
	CHECK_EQ_STR(f->listing->source, source);
	CHECK_HAS(f->listing->caution, want);
	findings_free(f);
}

TEST(listing_caution_by_event)
{
	static const char precise[] = "asked to be precise",
			  late[] = "at which the interrupt was taken";

	check_caution("cycles", late);
	check_caution("cpu-clock:u", late);
	check_caution("sched:sched_process_fork", late);
	check_caution("cycles:ppp", precise);
	check_caution("cpu-clock:ppp", late);
	check_caution("task-clock:P:u", late);
	check_caution("cycles:P:u", precise);
	check_caution("cpu/event=0x3c/pp", precise);
	check_caution("cpu/pipe=1/", late);
}

static const struct level *level_named(const struct findings *f, const char *name)
{
	vec_each(l, &f->levels)
		if (!strcmp(l->level, name))
			return l;
	FAIL("no level %s", name);
}

/* Chase has this many samples in a run that has those. */
static struct findings *judged(uint64_t samples, uint64_t of, enum verdict run)
{
	struct findings *f;
	struct sheet x;

	sheet_open(&x, NULL);
	store_close(x.s);
	store_samples_done(&x.samples);
	store_functions_done(&x.all);
	x.f.e.samples = of;
	x.f.e.verdict = run;
	vec_clear(&x.f.h.instructions);
	vec_add(&x.f.h.instructions,
		((struct hot_instruction){ { 0 }, { 0 }, 0x1004, 0, 10, { samples, samples } }));
	{
		struct store_found found;
		struct err err;

		x.s = fixture_store(&x.f);
		CHECK(store_functions_load(&x.all, x.s, &err));
		CHECK(store_function_find(&x.all, "chase", &found, &err));
		CHECK(store_function_samples(&x.samples, x.s, found.function->id, &err));
		x.in.function = found.function;
	}
	intern_put(&x.code.files, str_of("/gone/app.c"));
	f = sheet_listing(&x);
	sheet_close(&x);
	return f;
}

TEST(listing_verdict_is_of_what_is_shown)
{
	struct findings *f = judged(1, 5000, VERDICT_SOLID);

	CHECK_EQ_STR(f->verdict, "unusable");
	CHECK_EQ_STR(f->verdict_why, "1 sample in this code, a usable result needs 100");
	CHECK_HAS(f->evidence_line, "; 1 sample in this code: unusable");
	CHECK_EQ_STR(level_named(f, "function")->verdict, "unusable");
	CHECK_EQ_STR(level_named(f, "instruction")->verdict, "unusable");
	CHECK_EQ_STR(level_named(f, "instruction")->why,
		     "skid is not corrected; 1 sample in this code, a usable result needs 100");
	CHECK_EQ_STR(level_named(f, "call path")->verdict, "solid");
	findings_free(f);
	f = judged(99, 5000, VERDICT_SOLID);
	CHECK_EQ_STR(f->verdict, "unusable");
	findings_free(f);
	f = judged(100, 5000, VERDICT_SOLID);
	CHECK_EQ_STR(f->verdict, "weak");
	CHECK_EQ_STR(f->verdict_why, "100 samples in this code, a solid result needs 1,000");
	findings_free(f);
	f = judged(1000, 5000, VERDICT_SOLID);
	CHECK_EQ_STR(f->verdict, "solid");
	CHECK_EQ_STR(f->verdict_why, "");
	CHECK_HAS(f->evidence_line, "; 1,000 samples in this code");
	CHECK(!strstr(f->evidence_line, "code:"));
	findings_free(f);
	/* Never better than the run, whose own lack of samples is told once. */
	f = judged(1000, 5000, VERDICT_WEAK);
	CHECK_EQ_STR(f->verdict, "weak");
	findings_free(f);
	f = judged(400, 500, VERDICT_WEAK);
	CHECK_EQ_STR(f->verdict, "weak");
	CHECK(!strstr(f->verdict_why, "this code"));
	findings_free(f);
}

/* A third is its own, the rest is of what is inlined there. */
TEST(listing_tells_inlined_code)
{
	struct findings *f;
	struct sheet x;

	sheet_open(&x, NULL);
	intern_put(&x.code.files, str_of("/gone/app.c"));
	vec_each(fn, &x.all.list)
		if (fn->id == x.in.function->id)
			fn->self = (struct hot_count){ 300, 3000 };
	f = sheet_listing(&x);
	sheet_close(&x);
	CHECK_EQ_U64(f->listing->samples, 900);
	CHECK_EQ_U64(f->listing->self_samples, 300);
	CHECK_NEAR(f->listing->self_pct, 30, 1e-9);
	findings_free(f);
}
