/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of an annotated function in text, JSON and CSV, and what must hold at every width. */
#include <jansson.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "render/listing.h"
#include "render/text.h"
#include "sample.h"
#include "test.h"

static struct findings *empty(void)
{
	struct findings *f = sample_names();

	vec_done(&f->tables.at[0].cells);
	vec_clear(&f->tables);
	f->recipe = NULL;
	f->question = "Which instructions of chase cost the time?";
	f->listing = arena_alloc(&f->arena, sizeof(*f->listing));
	*f->listing = (struct listing){
		.function = "chase(node*)",
		.raw_name = "_Z5chaseP4node",
		.image = "memlat",
		.image_path = "/opt/memlat",
		.address = 0x1240,
		.size = 28,
		.samples = 18869,
		.pct = 93.81,
		.self_samples = 18869,
		.self_pct = 93.81,
		.source = "cpu-clock",
		.syntax = "x86-64 AT&T",
		.caution = "as observed: a sample names the instruction at which the interrupt was "
			   "taken, which is often one or more behind the one that cost the time",
	};
	return f;
}

#define ROW(l, ...) vec_add(&(l)->rows, ((struct listing_row){ __VA_ARGS__ }))

/* Every kind of row: known and unknown source, tabs and evil bytes, inlined code, a cold piece. */
static struct findings *sample_listing(void)
{
	static const char file[] = "/home/someone/project/workloads/memlat.cc";
	static const char header[] = "/usr/include/c++/12/bits/next.h";
	struct findings *f = empty();
	struct listing *l = f->listing;

	l->self_samples = 7548;
	l->self_pct = 37.53;
	ROW(l, LISTING_SOURCE, file, 71, "\tfor (int i = 0; i < \"\\n\"[0]; i++)\t// \x1b[31mloop");
	ROW(l, LISTING_INSTRUCTION, file, 71, "pushq\t%rbp", 0x1240);
	ROW(l, LISTING_SOURCE, header, 7, NULL, 0, 0, NULL, NULL, 11321, 56.29, 60, true);
	ROW(l, LISTING_INSTRUCTION, header, 7, "movq\t(%rax), %rax", 0x1244, 4, "next<int>(node*)",
	    NULL, 11321, 56.29, 60, true);
	ROW(l, LISTING_SOURCE, file, 72, "\t\tat = at->next; /* \xe2\x80\xae\xff \xe6\x97\xa5 */",
	    0, 0, NULL, NULL, 7548, 37.53, 40.0015, true);
	ROW(l, LISTING_INSTRUCTION, file, 72, "subl\t$0x1, %edx", 0x1248, 8, NULL, NULL, 7359,
	    36.59, 39, true);
	ROW(l, LISTING_INSTRUCTION, file, 72, "jne\t0x1244", 0x124b, 11, NULL, "chase(node*)+0x4",
	    188, 0.93, 0.9963);
	ROW(l, LISTING_INSTRUCTION, file, 72, "callq\t0x1030", 0x124d, 13, NULL, "abort@plt", 1,
	    0.005, 0.0053);
	ROW(l, LISTING_SOURCE, NULL, 0, NULL);
	ROW(l, LISTING_INSTRUCTION, NULL, 0, "retq", 0x1252, 18);
	ROW(l, LISTING_PIECE, NULL, 0, "chase(node*) [clone .cold]", 0x1100, -0x140);
	ROW(l, LISTING_SOURCE, file, 80, "}");
	ROW(l, LISTING_INSTRUCTION, file, 80, "hlt", 0x1100, -0x140);
	vec_add(&l->lines, ((struct listing_line){ file, 71, "\tfor (...)", 0, 0, 0 }));
	vec_add(&l->lines,
		((struct listing_line){ file, 72, "at = at->next;", 7548, 37.53, 40.0015 }));
	vec_add(&l->lines, ((struct listing_line){ header, 7, NULL, 11321, 56.29, 60 }));
	return f;
}

/* No code: addresses of the kernel, all that is known of them. */
static struct findings *sample_bare(void)
{
	struct findings *f = empty();
	struct listing *l = f->listing;

	l->function = "do_syscall_64";
	l->image = "[kernel]";
	l->address = UINT64_C(0xffffffff821ed4a0);
	l->size = 640;
	l->syntax = "";
	l->code_why = "the code of the kernel is not kept";
	l->lines_why = "the code could not be read";
	ROW(l, LISTING_INSTRUCTION, NULL, 0, NULL, UINT64_C(0xffffffff821ed4e6), 0x46, NULL, NULL,
	    18869, 93.81, 100, true);
	return f;
}

/* Assembler code whose source is not here: each instruction is a line of one file. */
static struct findings *sample_assembler(void)
{
	static const char file[] = "/build/glibc/sysdeps/memmove.S";
	struct findings *f = empty();
	struct listing *l = f->listing;

	for (uint32_t i = 0; i < 4; i++) {
		ROW(l, LISTING_SOURCE, file, 264 + i, NULL, 0, 0, NULL, NULL, i, i, i);
		ROW(l, LISTING_INSTRUCTION, file, 264 + i,
		    i % 2 ? "nop" : "leaq\t0x2c9a1(%rip), %rdi  # 0x4010", 0x1240 + i * 7,
		    (int64_t)i * 7, NULL, NULL, i, i, i);
	}
	return f;
}

/* COUNT instructions of one line, with samples at two of them. */
static struct findings *sample_long(size_t count, size_t first, size_t second)
{
	struct findings *f = empty();
	struct listing *l = f->listing;

	ROW(l, LISTING_SOURCE, "/a.c", 1, "line 1", 0, 0, NULL, NULL, 2);
	for (size_t i = 0; i < count; i++) {
		uint64_t samples = i == first || i == second;

		if (i == 30)
			ROW(l, LISTING_SOURCE, "/a.c", 2, "line 2");
		ROW(l, LISTING_INSTRUCTION, "/a.c", i < 30 ? 1 : 2, "nop", 0x1000 + i, (int64_t)i,
		    NULL, NULL, samples, (double)samples, (double)samples * 50, samples != 0);
	}
	return f;
}

static void use_utf8(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no locale C.UTF-8");
}

static void golden(struct findings *f, struct render_options o, const char *name)
{
	buf_auto out = { 0 };

	use_utf8();
	render_text(&out, f, &o);
	check_golden(&out, name);
	findings_free(f);
}

TEST(golden_listing_100)
{
	golden(sample_listing(), (struct render_options){ .columns = 100, .unicode = true },
	       "listing-100.txt");
}

TEST(golden_listing_80_color)
{
	golden(sample_listing(),
	       (struct render_options){ .columns = 80, .unicode = true, .color = true },
	       "listing-80-color.txt");
}

TEST(golden_listing_44_ascii)
{
	golden(sample_listing(), (struct render_options){ .columns = 44 }, "listing-44-ascii.txt");
}

TEST(golden_listing_bare)
{
	golden(sample_bare(), (struct render_options){ .columns = 80 }, "listing-bare.txt");
}

TEST(golden_listing_assembler)
{
	golden(sample_assembler(), (struct render_options){ .columns = 80 },
	       "listing-assembler.txt");
}

TEST(golden_listing_json)
{
	struct findings *f = sample_listing();
	buf_auto out = { 0 };

	render_json(&out, f, NULL);
	check_golden(&out, "listing.json");
	findings_free(f);
}

TEST(golden_listing_csv)
{
	struct findings *f = sample_listing();
	buf_auto out = { 0 };

	render_csv(&out, f, NULL);
	check_golden(&out, "listing.csv");
	findings_free(f);
}

static json_t *rendered(struct findings *f)
{
	buf_auto out = { 0 };
	json_error_t error;
	json_t *j;

	render_json(&out, f, NULL);
	findings_free(f);
	j = json_loadb(buf_str(&out), out.len, JSON_REJECT_DUPLICATES, &error);
	if (!j)
		FAIL("line %d: %s", error.line, error.text);
	return j;
}

static json_int_t integer(json_t *j, const char *key)
{
	CHECK_MSG(json_is_integer(json_object_get(j, key)), "%s is no integer", key);
	return json_integer_value(json_object_get(j, key));
}

static const char *string(json_t *j, const char *key)
{
	CHECK_MSG(json_is_string(json_object_get(j, key)), "%s is no string", key);
	return json_string_value(json_object_get(j, key));
}

TEST(listing_json_contract)
{
	json_t *j = rendered(sample_listing());
	json_t *insns = json_object_get(j, "instructions"), *n;
	json_int_t sum = 0;

	CHECK(json_is_null(json_object_get(j, "recipe")));
	CHECK_EQ_STR(string(j, "function"), "chase(node*)");
	CHECK_EQ_STR(string(j, "address"), "0x1240");
	CHECK_EQ_STR(string(j, "source_event"), "cpu-clock");
	CHECK(json_is_true(json_object_get(j, "observed")));
	CHECK_EQ_INT(json_array_size(insns), 7);
	for (size_t i = 0; i < json_array_size(insns); i++)
		sum += integer(json_array_get(insns, i), "samples");
	CHECK_EQ_INT(sum, integer(j, "samples"));
	n = json_array_get(insns, 1);
	CHECK_EQ_STR(string(n, "text"), "movq (%rax), %rax");
	CHECK_EQ_STR(string(n, "source"), "/usr/include/c++/12/bits/next.h:7");
	CHECK_EQ_STR(string(n, "inlined"), "next<int>(node*)");
	CHECK_EQ_STR(string(json_array_get(insns, 3), "target"), "chase(node*)+0x4");
	n = json_array_get(insns, 5);
	CHECK(json_is_null(json_object_get(n, "source")));
	CHECK_EQ_STR(string(n, "source_why"), "the line table has no line for it");
	CHECK_EQ_INT(integer(json_array_get(insns, 6), "offset"), -0x140);
	CHECK_EQ_INT(json_array_size(json_object_get(j, "source")), 3);
	json_decref(j);
}

TEST(listing_json_without_code)
{
	json_t *j = rendered(sample_bare());
	json_t *n = json_array_get(json_object_get(j, "instructions"), 0);

	CHECK(json_is_null(json_object_get(j, "syntax")));
	CHECK_EQ_STR(string(n, "address"), "0xffffffff821ed4e6");
	CHECK(json_is_null(json_object_get(n, "text")));
	CHECK_EQ_STR(string(n, "text_why"), "the code of the kernel is not kept");
	CHECK_EQ_STR(string(n, "source_why"), "the code could not be read");
	json_decref(j);
}

/* An address that no symbol covers has no distance from one. */
TEST(listing_json_without_symbol)
{
	struct findings *f = sample_bare();
	json_t *j, *n;

	f->listing->size = 0;
	j = rendered(f);
	n = json_array_get(json_object_get(j, "instructions"), 0);
	CHECK(json_is_null(json_object_get(j, "address")));
	CHECK(json_is_null(json_object_get(n, "offset")));
	CHECK_EQ_STR(string(n, "offset_why"), "no symbol says where the function begins");
	json_decref(j);
}

static char *text_of(struct findings *f, struct render_options o)
{
	buf_auto out = { 0 };

	render_text(&out, f, &o);
	findings_free(f);
	return mem_strdup(buf_str(&out));
}

static size_t count_of(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)); text++)
		n++;
	return n;
}

TEST(listing_folds_what_has_no_samples)
{
	struct render_options o = { .columns = 80 };
	char_auto folded = text_of(sample_long(300, 20, 100), o);

	/* 12..28 and 92..108 stay; the line of what was folded comes with what is shown of it. */
	CHECK_EQ_U64(count_of(folded, "     nop\n"), 34);
	CHECK_HAS(folded, "line 1\n");
	CHECK_HAS(folded, "... 12 instructions without samples\n");
	CHECK_HAS(folded, "... 63 instructions without samples\n");
	CHECK_HAS(folded, "... 191 instructions without samples\n");
	CHECK_EQ_U64(count_of(folded, "line 2\n"), 1);
	CHECK(strstr(folded, "... 63 ") < strstr(folded, "line 2"));
}

TEST(listing_folds_nothing_when_told)
{
	struct render_options o = { .columns = 80, .whole = true };
	char_auto whole = text_of(sample_long(300, 20, 100), o);

	CHECK_EQ_U64(count_of(whole, "     nop\n"), 300);
	CHECK_EQ_U64(count_of(whole, "without samples"), 0);
}

TEST(listing_folds_only_long_functions)
{
	struct render_options o = { .columns = 80 };
	char_auto whole = text_of(sample_long(200, 20, 100), o);
	char_auto longer = text_of(sample_long(201, 20, 100), o);
	/* Gaps of less than four instructions are not worth it. */
	char_auto near = text_of(sample_long(201, 8 + 3, 200 - 8), o);

	CHECK_EQ_U64(count_of(whole, "     nop\n"), 200);
	CHECK_EQ_U64(count_of(longer, "     nop\n"), 34);
	CHECK_EQ_U64(count_of(near, "without samples"), 1);
}

/* Source that is not here is a number beside its first instruction; its file is told once. */
TEST(listing_of_code_without_a_name)
{
	struct render_options o = { .unicode = false };
	struct findings *f = empty();
	char *text;

	ROW(f->listing, LISTING_INSTRUCTION, NULL, 0, "nop", 0x1240);
	ROW(f->listing, LISTING_PIECE, NULL, 0, "", 0x1300);
	ROW(f->listing, LISTING_INSTRUCTION, NULL, 0, "hlt", 0x1300);
	text = text_of(f, o);
	CHECK_HAS(text, " no symbol, around 0x1300:\n");
	free(text);
}

TEST(listing_without_source_text)
{
	struct render_options o = { .columns = 80 };
	char_auto text = text_of(sample_assembler(), o);

	CHECK_EQ_U64(count_of(text, "memmove.S"), 1);
	CHECK_HAS(text, "  264     1240      leaq    0x2c9a1(%rip), %rdi  # 0x4010\n");
	CHECK_HAS(text, "  267     1255      nop\n");
	CHECK(!strstr(text, "sum of the instructions"));
}

/* What an operand stands for outlives the operand, as far as both have room. */
TEST(listing_keeps_the_address_of_an_operand)
{
	struct render_options o = { .columns = 52 };
	char_auto text = text_of(sample_assembler(), o);

	CHECK_HAS(text, "leaq    0x2c9a..  # 0x4010\n");
	o.columns = 40;
	{
		char_auto narrow = text_of(sample_assembler(), o);

		CHECK(!strstr(narrow, "# 0x4010"));
	}
}

TEST(listing_targets_without_parameters)
{
	struct findings *f = empty();
	struct listing *l = f->listing;
	struct render_options o = { .columns = 100 };

	ROW(l, LISTING_INSTRUCTION, NULL, 0, "callq\t0x1030", 0x1240, 0, NULL,
	    "operator new(unsigned long)@plt");
	ROW(l, LISTING_INSTRUCTION, NULL, 0, "callq\t0x1400", 0x1245, 5, NULL,
	    "shop::mix<int>(int, char) const+0x1c");
	ROW(l, LISTING_INSTRUCTION, NULL, 0, "callq\t0x1500", 0x1245, 5, NULL,
	    "void std::sort<__gnu_cxx::iterator<int*>, main()::<lambda()> >(int)");
	ROW(l, LISTING_INSTRUCTION, NULL, 0, "jmp\t0x1244", 0x124a, 10, NULL, "chase(node*)+0x4");
	ROW(l, LISTING_INSTRUCTION, NULL, 0, "callq\t0x1240", 0x124f, 15, NULL, "chase(node*)");
	{
		char_auto text = text_of(f, o);

		CHECK_HAS(text, "callq   0x1030 <operator new@plt>\n");
		CHECK_HAS(text, "callq   0x1400 <shop::mix<int>+0x1c>\n");
		CHECK_HAS(text, "callq   0x1500 <void std::sort<..>>\n");
		CHECK_HAS(text, "jmp     0x1244 <+0x4>\n");
		CHECK_HAS(text, "callq   0x1240 <chase>\n");
	}
}

TEST(listing_says_what_the_samples_are)
{
	static const struct {
		uint64_t self;
		double pct;
		const char *want;
	} cases[] = {
		{ 18869, 93.81, "samples   18,869, 93.81 % of all time\n" },
		{ 1000, 5,
		  "samples   18,869, 93.81 % of all time: 5.00 % its own, 88.81 % code inlined into "
		  "it\n" },
		{ 0, 0, "samples   18,869, 93.81 % of all time: all of it code inlined into it\n" },
	};
	struct render_options o = { .columns = 100 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct findings *f = sample_bare();
		char *text;

		f->listing->self_samples = cases[i].self;
		f->listing->self_pct = cases[i].pct;
		text = text_of(f, o);
		CHECK_HAS(text, cases[i].want);
		free(text);
	}
}

/* Of long functions the five hottest instructions stand at the head. */
TEST(listing_tells_the_hottest_first)
{
	struct findings *f = empty();
	struct render_options o = { .columns = 80 };

	for (uint32_t i = 0; i < 61; i++)
		ROW(f->listing, LISTING_INSTRUCTION, "/src/a.c", i, "nop", 0x1000 + i, i, NULL,
		    NULL, i % 10 == 3 ? i : 0, i % 10 == 3 ? i : 0, i % 10 == 3 ? i : 0);
	{
		char_auto text = text_of(f, o);

		CHECK_HAS(text, "hottest   1035   53.00 %  53  a.c:53  nop\n"
				"          102b   43.00 %  43  a.c:43  nop\n"
				"          1021   33.00 %  33  a.c:33  nop\n"
				"          1017   23.00 %  23  a.c:23  nop\n"
				"          100d   13.00 %  13  a.c:13  nop\n\n");
	}
	f = sample_long(60, 20, 30);
	{
		char_auto text = text_of(f, o);

		CHECK(!strstr(text, "hottest  "));
	}
}

/* Colour and stars need samples to stand on. */
TEST(listing_colours_nothing_by_chance)
{
	struct render_options o = { .columns = 80, .color = true };
	struct findings *f = empty();

	ROW(f->listing, LISTING_INSTRUCTION, NULL, 0, "nop", 0x1000, 0, NULL, NULL, 9, 50, 50);
	ROW(f->listing, LISTING_INSTRUCTION, NULL, 0, "hlt", 0x1001, 1, NULL, NULL, 10, 50, 50);
	{
		char_auto text = text_of(f, o);

		CHECK_HAS(text, "\n   50.00 %        9     1000      nop\n");
		CHECK_HAS(text, "\n\033[33m   50.00 %       10\033[0m     1001      hlt\n");
	}
}

TEST(listing_leaves_call_paths_out)
{
	struct findings *f = empty();
	struct render_options o = { .columns = 100 };
	buf_auto csv = { 0 };

	vec_add(&f->levels, ((struct level){ "call path", "weak", "chains are broken" }));
	vec_add(&f->levels, ((struct level){ "line", "solid", "" }));
	render_csv(&csv, f, NULL);
	CHECK_HAS(buf_str(&csv), "# instruction level: weak: skid is not corrected\r\n");
	CHECK_HAS(buf_str(&csv), "# line level: solid\r\n");
	CHECK(!strstr(buf_str(&csv), "call path"));
	{
		char_auto text = text_of(f, o);

		CHECK(!strstr(text, "call path"));
		CHECK_HAS(text, "instruction level weak");
	}
}

/* Nothing is wider than the terminal, no control byte gets through, no line ends in blanks. */
static void check_width(struct findings *f, uint32_t columns, bool unicode)
{
	struct render_options o = { .columns = columns, .unicode = unicode };
	buf_auto out = { 0 };
	struct str rest, line;

	text_listing(&out, f->listing, &o);
	rest = (struct str){ buf_str(&out), out.len };
	while (str_line(&rest, &line)) {
		CHECK_MSG(str_columns(line) <= columns, "%zu columns at width %u: %.*s",
			  str_columns(line), columns, (int)line.len, line.at);
		CHECK(!line.len || line.at[line.len - 1] != ' ');
		for (size_t i = 0; i < line.len; i++)
			CHECK((unsigned char)line.at[i] >= 0x20);
	}
}

TEST(listing_fits_every_width)
{
	struct findings *f = sample_listing(), *bare = sample_bare(),
			*asm_code = sample_assembler();
	struct findings *folded = sample_long(300, 20, 100);

	use_utf8();
	for (uint32_t columns = 40; columns < 200; columns++) {
		check_width(f, columns, true);
		check_width(f, columns, false);
		check_width(bare, columns, false);
		check_width(asm_code, columns, true);
		check_width(folded, columns, true);
	}
	for (uint32_t columns = 1; columns < 40; columns++) {
		struct render_options o = { .columns = columns };
		buf_auto out = { 0 };

		text_listing(&out, f->listing, &o);
		CHECK(out.len);
	}
	findings_free(f);
	findings_free(bare);
	findings_free(asm_code);
	findings_free(folded);
}

static void check_source(const char *s, const char *want)
{
	buf_auto out = { 0 };

	text_source(&out, str_of(s));
	CHECK_EQ_STR(buf_str(&out), want);
}

TEST(source_lines_are_made_safe)
{
	use_utf8();
	check_source("\tx\ty", "        x       y");
	check_source("ab\tc", "ab      c");
	check_source("\"\\n\"", "\"\\n\"");
	check_source("\xe6\x97\xa5\tx", "\xe6\x97\xa5      x");
	check_source("a\x1b[2Jb\x7f", "a\\x1b[2Jb\\x7f");
	check_source("\xff\xc2\x9b", "\\xff\\xc2\\x9b");
	check_source("\xe2\x80\xae\xe2\x81\xa6\xd8\x9c",
		     "\\xe2\\x80\\xae\\xe2\\x81\\xa6\\xd8\\x9c");
	check_source("\xe2\x80\xa6", "\xe2\x80\xa6");
}

TEST(text_fit_cuts_at_the_right)
{
	buf_auto out = { 0 };

	use_utf8();
	text_fit(&out, str_of("abcdefgh"), 5, CUT_RIGHT, true);
	CHECK_EQ_STR(buf_str(&out), "abcd\xe2\x80\xa6");
	buf_clear(&out);
	text_fit(&out, str_of("abcdefgh"), 5, CUT_RIGHT, false);
	CHECK_EQ_STR(buf_str(&out), "abc..");
}
