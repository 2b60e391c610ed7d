/* SPDX-License-Identifier: Apache-2.0 */
/* The terminal renderer: golden texts by width, and what must hold at every width. */
#include <locale.h>
#include <math.h>
#include <stdlib.h>

#include "base/os.h"
#include "render/text.h"
#include "sample.h"
#include "test.h"

static void use_utf8(void)
{
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no locale C.UTF-8");
}

static void golden(struct findings *f, uint32_t columns, bool color, bool unicode, const char *name)
{
	struct render_options o = { .columns = columns, .color = color, .unicode = unicode };
	buf_auto out = { 0 };

	use_utf8();
	render_text(&out, f, &o);
	check_golden(&out, name);
	findings_free(f);
}

TEST(golden_text_80)
{
	golden(sample_full(), 80, false, true, "full-80.txt");
}

TEST(golden_text_40)
{
	golden(sample_full(), 40, false, true, "full-40.txt");
}

TEST(golden_text_200_color)
{
	golden(sample_full(), 200, true, true, "full-200-color.txt");
}

TEST(golden_text_80_ascii)
{
	golden(sample_full(), 80, false, false, "full-80-ascii.txt");
}

TEST(golden_text_piped)
{
	golden(sample_full(), 0, false, true, "full-0.txt");
}

TEST(golden_text_names_80)
{
	golden(sample_names(), 80, false, true, "names-80.txt");
}

/* No line is wider than the terminal, whatever its width; no control byte gets through. */
static void check_width(struct findings *f, uint32_t columns, bool unicode)
{
	struct render_options o = { .columns = columns, .unicode = unicode };
	buf_auto out = { 0 };
	struct str rest, line;

	render_text(&out, f, &o);
	rest = (struct str){ buf_str(&out), out.len };
	while (str_line(&rest, &line)) {
		CHECK_MSG(str_columns(line) <= columns, "%zu columns at width %u: %.*s",
			  str_columns(line), columns, (int)line.len, line.at);
		for (size_t i = 0; i < line.len; i++)
			CHECK((unsigned char)line.at[i] >= 0x20);
		for (size_t i = 0; i < line.len;) {
			size_t n = str_utf8_len((struct str){ line.at + i, line.len - i });

			CHECK(n);
			i += n;
		}
		CHECK(!line.len || line.at[line.len - 1] != ' ');
	}
}

TEST(text_fits_every_width)
{
	struct findings *full = sample_full(), *names = sample_names();

	use_utf8();
	for (uint32_t columns = 40; columns < 260; columns++) {
		check_width(full, columns, true);
		check_width(full, columns, false);
		check_width(names, columns, true);
	}
	findings_free(full);
	findings_free(names);
}

/* Absurd widths must not crash. */
TEST(text_tiny_widths)
{
	struct findings *full = sample_full();

	for (uint32_t columns = 1; columns < 40; columns++) {
		struct render_options o = { .columns = columns, .unicode = columns % 2 == 0 };
		buf_auto out = { 0 };

		render_text(&out, full, &o);
		CHECK(out.len > 0);
	}
	findings_free(full);
}

TEST(text_names_recognisable)
{
	static const char *const want[] = {
		" java main ",	      "[ET_NET 0]",
		"a) R 1 2 (b",	      "x:y 12/13",
		"tab\\there",	      "nl\\nhere",
		"\\xff\\xfe\\x80zz",  "<b>hi</b>&'\"",
		"=cmd|' /C calc'!A0", " \"\" ",
		"\"  lead\"",	      "\"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xa0 trail \"",
		"z\\xe2\\x80\\xaey",
	};
	struct render_options o = { .columns = 0 };
	struct findings *f = sample_names();
	buf_auto out = { 0 };

	use_utf8();
	render_text(&out, f, &o);
	for (size_t i = 0; i < HOSTILE_NAMES; i++)
		CHECK_HAS(buf_str(&out), want[i]);
	findings_free(f);
}

static void check_fit(const char *s, size_t width, enum text_cut cut, bool unicode,
		      const char *want)
{
	buf_auto out = { 0 };

	text_fit(&out, str_of(s), width, cut, unicode);
	CHECK_EQ_STR(buf_str(&out), want);
}

TEST(text_fit_cuts)
{
	use_utf8();
	check_fit("abcdefgh", 8, CUT_MIDDLE, true, "abcdefgh");
	check_fit("abcdefgh", 7, CUT_MIDDLE, true,
		  "abc\xe2\x80\xa6"
		  "fgh");
	check_fit("abcdefgh", 6, CUT_MIDDLE, true, "abc\xe2\x80\xa6gh");
	check_fit("abcdefgh", 6, CUT_MIDDLE, false, "ab..gh");
	check_fit("/a/b/c.c:12", 8, CUT_LEFT, true,
		  "\xe2\x80\xa6"
		  "/c.c:12");
	check_fit("abcdefgh", 1, CUT_MIDDLE, true, "a");
	check_fit("abcdefgh", 0, CUT_MIDDLE, true, "");
	/* Wide characters are never halved. */
	check_fit("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 5, CUT_MIDDLE, true,
		  "\xe6\x97\xa5\xe2\x80\xa6\xe8\xaa\x9e");
	check_fit("\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e", 4, CUT_MIDDLE, true,
		  "\xe6\x97\xa5\xe2\x80\xa6");
}

static void check_name(const char *s, size_t width, const char *want)
{
	check_fit(s, width, CUT_NAME, false, want);
}

/* What a name can do without goes first: its own name stays. */
TEST(text_fit_shortens_names)
{
	static const char name[] = "std::map<int, std::vector<int> >::at(int const&) const";

	use_utf8();
	check_name(name, 54, name);
	check_name(name, 53, "std::map<int, std::vector<int> >::at(..) const");
	check_name(name, 45, "std::map<..>::at(..) const");
	check_name(name, 25, "std::map<..>..t(..) const");
	check_fit(name, 24, CUT_NAME, true, "std::map<\xe2\x80\xa6>::at(\xe2\x80\xa6) const");
	check_name("a::f<int, long>(int) (inlined)", 29, "a::f<int, long>(..) (inlined)");
	check_name("a::f<int, long>(int) (inlined)", 28, "a::f<..>(..) (inlined)");
	check_name("(anonymous namespace)::run(long, long)", 35, "(anonymous namespace)::run(..)");
	check_name("a::operator()(int, int) const", 28, "a::operator()(..) const");
	check_name("a::operator<<(b<int>&, c)", 24, "a::operator<<(..)");
	check_name("x<int, int>::operator->() const", 30, "x<..>::operator->() const");
	check_name("f(int, int)::{lambda(long, long)#1}::operator()(int) const", 57,
		   "f(int, int)::{lambda(long, long)#1}::operator()(..) const");
	/* One list after the other, from the left, as far as needed. */
	check_name("a<int, int>::b<long, long>::f", 28, "a<..>::b<long, long>::f");
	check_name("a<int, int>::b<long, long>::f", 22, "a<..>::b<..>::f");
	check_name("<alloc::Vec<T> as core::Iter>::next", 34, "<..>::next");
}

TEST(text_escapes_what_a_recipe_says)
{
	struct render_options o = { .columns = 80, .unicode = true };
	struct findings *f = sample_full();
	struct table *t = &f->tables.at[0];
	buf_auto out = { 0 };

	use_utf8();
	t->title = "evil\x1b[2J title";
	t->columns[3].label = "evil\x1b[3J label";
	f->tables.at[4].empty = "evil\x1b[4J emptiness";
	f->findings.at[0].basis = "evil\x1b[5J basis";
	f->notes.at[0].text = "evil\x1b[6J note";
	render_text(&out, f, &o);
	CHECK(!memchr(out.at, 0x1b, out.len));
	CHECK_HAS(buf_str(&out), "\nevil\\x1b[2J title\n");
	CHECK_HAS(buf_str(&out), "  evil\\x1b[3J label  ");
	CHECK_HAS(buf_str(&out), "  evil\\x1b[4J emptiness\n");
	CHECK_HAS(buf_str(&out), "(evil\\x1b[5J basis)");
	CHECK_HAS(buf_str(&out), "evil\\x1b[6J note");
	findings_free(f);
}

static void check_cost(double wall_ms, const char *want)
{
	struct render_options o = { .columns = 0 };
	struct findings *f = sample_full();
	buf_auto out = { 0 };

	f->cost.at[1].value.real = wall_ms;
	f->cost.at[2].value.real = 12.5;
	render_text(&out, f, &o);
	CHECK_HAS(buf_str(&out), want);
	findings_free(f);
}

/* Of a run this short most is the agent's set-up: no share of the machine. */
TEST(text_cost_of_short_runs)
{
	check_cost(99.4, "\nagent used 12.3 ms CPU in 99.4 ms\n");
	check_cost(100, "\nagent used 12.3 ms CPU, 12.50 % of the machine in 100 ms\n");
}

TEST(text_marks_inlined_functions)
{
	struct render_options o = { .columns = 90, .unicode = true };
	struct findings *f = sample_full();
	struct table *t = &f->tables.at[0];
	buf_auto out = { 0 };

	use_utf8();
	t->columns[6].name = "inlined";
	t->cells.at[6] = (struct cell){ .kind = CELL_INTEGER, .integer = 0 };
	t->cells.at[13] = (struct cell){ .kind = CELL_INTEGER, .integer = 1 };
	t->cells.at[20] = (struct cell){ .kind = CELL_INTEGER, .integer = 0 };
	render_text(&out, f, &o);
	CHECK_HAS(buf_str(&out), "::operator[](\xe2\x80\xa6) (inlined)");
	CHECK_HAS(buf_str(&out), "  chase  ");
	out.len = 0;
	render_json(&out, f, &o);
	CHECK_HAS(buf_str(&out), "operator[](std::string const&)\",");
	CHECK_HAS(buf_str(&out), "\"inlined\": 1");
	findings_free(f);
}

static void check_bar(double pct, const char *want)
{
	buf_auto out = { 0 };

	text_bar(&out, pct, 2);
	CHECK_EQ_STR(buf_str(&out), want);
}

TEST(text_bars)
{
	check_bar(0, "  ");
	check_bar(50, "\xe2\x96\x88 ");
	check_bar(100, "\xe2\x96\x88\xe2\x96\x88");
	check_bar(75, "\xe2\x96\x88\xe2\x96\x8c");
	check_bar(1e9, "\xe2\x96\x88\xe2\x96\x88");
	check_bar(-5, "  ");
	check_bar((double)NAN, "  ");
}

TEST(text_deep_tree)
{
	struct findings *f = sample_full();
	struct render_options o = { .columns = 60, .unicode = true };
	struct table *t = &f->tables.at[1];
	buf_auto out = { 0 };

	use_utf8();
	for (int i = 0; i < 1000; i++) {
		size_t first = t->cells.len - t->column_count;

		for (size_t c = 0; c < t->column_count; c++) {
			struct cell cell = t->cells.at[first + c];

			if (c == 5)
				cell.integer++;
			vec_add(&t->cells, cell);
		}
	}
	render_text(&out, f, &o);
	CHECK_HAS(buf_str(&out), "thread_main");
	check_width(f, 60, true);
	findings_free(f);
}

TEST(text_plain_has_no_escapes)
{
	struct render_options o = { .columns = 100, .unicode = true };
	struct findings *f = sample_full();
	buf_auto out = { 0 };

	render_text(&out, f, &o);
	CHECK(!memchr(out.at, 0x1b, out.len));
	findings_free(f);
}

/* A reason that holds for several levels is told once. */
TEST(text_levels_with_one_reason)
{
	struct render_options o = { .columns = 0 };
	struct findings *f = sample_full();
	buf_auto out = { 0 };

	vec_clear(&f->levels);
	vec_add(&f->levels, ((struct level){ "function", "weak", "500 samples" }));
	vec_add(&f->levels, ((struct level){ "line", "unusable", "no lines" }));
	vec_add(&f->levels, ((struct level){ "instruction", "weak", "late" }));
	vec_add(&f->levels, ((struct level){ "call path", "weak", "500 samples" }));
	render_text(&out, f, &o);
	CHECK_HAS(buf_str(&out), "          function, call path level weak: 500 samples\n"
				 "          line level unusable: no lines\n"
				 "          instruction level weak: late\n\n");
	buf_clear(&out);
	f->levels.at[3] = (struct level){ "call path", "not applicable", "no call chains" };
	render_text(&out, f, &o);
	CHECK_HAS(buf_str(&out), "          call path level not applicable: no call chains\n");
	findings_free(f);
}
