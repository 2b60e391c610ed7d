/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An annotated function for the terminal: source lines with the instructions that were made of them
 * below, each with its share. What has no samples is folded in long functions.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "render/listing.h"
#include "render/text.h"

enum {
	MARK = 2,    /* "* " in front */
	SHARE = 8,   /* "100.00 %" */
	SAMPLES = 7, /* at least, for its title */
	GAP = 2,
	LINE = 4,    /* at least, for its title */
	ADDRESS = 7, /* at least, for its title, unless it is narrow */
	INDENT = 4,  /* of instructions under their line; half of it where it is narrow */
	LONG = 200,  /* functions of more instructions are folded */
	CONTEXT = 8, /* instructions that stay around those with samples */
	FOLD_LEAST = 4,
	NARROW = 56, /* below, the number of samples goes */
	TEXT_LEAST = 8,
	CODE_LEAST = 12, /* beside a comment */
	WARM_PCT = 1,
	WARM_SAMPLES = 10,
};

struct listing_text {
	struct buf *out;
	const struct listing *l;
	const struct render_options *o;
	size_t samples_width, line_width, address_width; /* 0: not shown */
	size_t dedent; /* blanks that all source lines begin with */
	bool *keep;    /* by row: instructions that are not folded */
	/* What was said last, so that only changes are. */
	const char *file, *inlined;
	uint64_t folded;
	const struct listing_row *source, *piece; /* to be said before the next instruction */
	uint32_t line; /* whose text is not here: to be said beside the next instruction */
};

static size_t left_width(const struct listing_text *t)
{
	return MARK + SHARE + GAP + (t->samples_width ? t->samples_width + GAP : 0) +
	       (t->line_width ? t->line_width + GAP : 0) + t->address_width + GAP;
}

/* Adds s behind what stands in the line already, cut at the terminal's edge. */
static void put_rest(struct listing_text *t, size_t used, struct str s, enum text_cut cut)
{
	size_t room = t->o->columns > used ? t->o->columns - used : 0;

	if (t->o->columns)
		text_fit(t->out, s, room > TEXT_LEAST ? room : TEXT_LEAST, cut, t->o->unicode);
	else
		buf_add(t->out, s.at, s.len);
}

/* A remark in the column of the text, with nothing in front. */
static void put_remark(struct listing_text *t, struct str s, enum text_cut cut)
{
	text_spaces(t->out, left_width(t));
	text_style(t->out, t->o, STYLE_DIM);
	put_rest(t, left_width(t), s, cut);
	text_plain(t->out, t->o);
	buf_u8(t->out, '\n');
}

static void put_padded(struct listing_text *t, const char *text, size_t width)
{
	size_t len = strlen(text);

	text_spaces(t->out, width > len ? width - len : 0);
	buf_puts(t->out, text);
}

/* Mark, share, samples and the line, "" for none. */
static void put_left(struct listing_text *t, const struct listing_row *row, const char *line)
{
	char share[32];
	buf_auto samples = { 0 };
	bool styled = row->hot || (row->function_pct >= WARM_PCT && row->samples >= WARM_SAMPLES);

	if (styled)
		text_style(t->out, t->o, row->hot ? STYLE_RED : STYLE_YELLOW);
	buf_puts(t->out, row->hot ? "* " : "  ");
	if (row->samples) {
		snprintf(share, sizeof(share), "%.2f %%", row->function_pct);
		put_padded(t, share, SHARE);
		str_count(&samples, row->samples);
	} else {
		text_spaces(t->out, SHARE);
	}
	if (t->samples_width) {
		text_spaces(t->out, GAP);
		put_padded(t, buf_str(&samples), t->samples_width);
	}
	if (styled)
		text_plain(t->out, t->o);
	if (!t->line_width)
		return;
	text_spaces(t->out, GAP);
	put_padded(t, line, t->line_width);
}

/* From behind the line's number to the column of the text. */
static void skip_address(struct listing_text *t)
{
	text_spaces(t->out, GAP + t->address_width + GAP);
}

/* Columns of the blanks that a source line begins with; SIZE_MAX when it has nothing else. */
static size_t indent_of(struct str s)
{
	buf_auto blanks = { 0 };
	size_t n = 0;

	while (n < s.len && (s.at[n] == ' ' || s.at[n] == '\t'))
		n++;
	text_source(&blanks, (struct str){ s.at, n });
	return n < s.len ? blanks.len : SIZE_MAX;
}

static size_t blanks_of(struct str s)
{
	size_t n = 0;

	while (n < s.len && s.at[n] == ' ')
		n++;
	return n;
}

static void put_source_text(struct listing_text *t, const struct listing_row *row)
{
	buf_auto text = { 0 };
	struct str s;

	if (row->text)
		text_source(&text, str_of(row->text));
	s = (struct str){ buf_str(&text), text.len };
	if (blanks_of(s) == s.len)
		return;
	s = (struct str){ s.at + t->dedent, s.len - t->dedent };
	while (s.at[s.len - 1] == ' ')
		s.len--;
	skip_address(t);
	text_style(t->out, t->o, STYLE_BOLD);
	put_rest(t, left_width(t), s, CUT_RIGHT);
	text_plain(t->out, t->o);
}

static void put_file(struct listing_text *t, const char *file)
{
	buf_auto safe = { 0 };

	if (t->file && !strcmp(t->file, file))
		return;
	t->file = file;
	str_escape(&safe, str_of(file));
	put_remark(t, (struct str){ buf_str(&safe), safe.len }, CUT_LEFT);
}

static void put_source(struct listing_text *t, const struct listing_row *row)
{
	char number[16] = "-";

	if (row->file)
		put_file(t, row->file);
	/* A line whose text is not here is a number beside its first instruction. */
	t->line = row->file && !row->text ? row->line : 0;
	if (t->line)
		return;
	if (row->file)
		snprintf(number, sizeof(number), "%u", row->line);
	put_left(t, row, number);
	if (row->file) {
		put_source_text(t, row);
	} else {
		skip_address(t);
		put_rest(t, left_width(t), str_of("no source line"), CUT_RIGHT);
	}
	buf_u8(t->out, '\n');
}

/*
 * Code in what room is left. Where that is too little, the address that an operand stands for, in a
 * comment at the end, says more than the end of the operands.
 */
static void put_code(struct listing_text *t, size_t used, struct str s)
{
	static const char mark[] = "  # 0x";
	size_t room = t->o->columns > used ? t->o->columns - used : 0;
	const char *at = memmem(s.at, s.len, mark, sizeof(mark) - 1);
	size_t behind = at ? (size_t)(s.at + s.len - at) : 0;

	if (!t->o->columns || !at || str_columns(s) <= room || room < behind + CODE_LEAST) {
		put_rest(t, used, s, CUT_RIGHT);
		return;
	}
	text_fit(t->out, (struct str){ s.at, s.len - behind }, room - behind, CUT_RIGHT,
		 t->o->unicode);
	buf_add(t->out, at, behind);
}

static void put_instruction(struct listing_text *t, const struct listing_row *row)
{
	char number[32];
	buf_auto text = { 0 };

	snprintf(number, sizeof(number), "%u", t->line);
	put_left(t, row, t->line ? number : "");
	t->line = 0;
	snprintf(number, sizeof(number), "%llx", (unsigned long long)row->address);
	text_spaces(t->out, GAP);
	put_padded(t, number, t->address_width);
	if (row->text)
		text_instruction(&text, t->l, row, t->o);
	else if (t->l->size)
		buf_printf(&text, "+0x%llx", (unsigned long long)row->offset);
	if (text.len) {
		size_t indent = t->samples_width ? INDENT : INDENT / 2;

		text_spaces(t->out, GAP + indent);
		put_code(t, left_width(t) + indent, (struct str){ buf_str(&text), text.len });
	}
	buf_u8(t->out, '\n');
}

static void put_folded(struct listing_text *t)
{
	char_auto text =
		mem_printf("... %llu instructions without samples", (unsigned long long)t->folded);

	if (t->folded)
		put_remark(t, str_of(text), CUT_RIGHT);
	t->folded = 0;
}

static void put_piece(struct listing_text *t)
{
	buf_auto text = { 0 };

	if (!t->piece)
		return;
	if (t->piece->text && t->piece->text[0])
		str_escape(&text, str_of(t->piece->text));
	else
		buf_printf(&text, "no symbol, around 0x%llx",
			   (unsigned long long)t->piece->address);
	buf_u8(&text, ':');
	put_remark(t, (struct str){ buf_str(&text), text.len }, CUT_NAME);
	t->piece = NULL;
	t->inlined = NULL;
}

static bool is_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Where code of an inlined function begins, and where the function's own goes on. */
static void put_inlined(struct listing_text *t, const struct listing_row *row)
{
	buf_auto text = { 0 };

	if (is_same_text(t->inlined, row->inlined))
		return;
	t->inlined = row->inlined;
	str_escape(&text, str_of(row->inlined ? row->inlined : t->l->function));
	buf_puts(&text, row->inlined ? " (inlined):" : ":");
	put_remark(t, (struct str){ buf_str(&text), text.len }, CUT_NAME);
}

static void put_rows(struct listing_text *t)
{
	for (size_t i = 0; i < t->l->rows.len; i++) {
		const struct listing_row *row = &t->l->rows.at[i];

		if (row->kind == LISTING_PIECE) {
			t->piece = row;
			t->source = NULL;
		} else if (row->kind == LISTING_SOURCE) {
			t->source = row;
		} else if (!t->keep[i]) {
			t->folded++;
		} else {
			put_folded(t);
			put_piece(t);
			put_inlined(t, row);
			if (t->source)
				put_source(t, t->source);
			t->source = NULL;
			put_instruction(t, row);
		}
	}
	put_folded(t);
}

/* Rows of instructions, in order, by index. */
struct instructions {
	VEC(size_t) at;
};

static void fold_between(struct listing_text *t, const struct instructions *n, size_t from,
			 size_t to)
{
	if (to - from < FOLD_LEAST)
		return;
	for (size_t i = from; i < to; i++)
		t->keep[n->at.at[i]] = false;
}

/* Folds what is further than the context from each instruction that has samples. */
static void fold(struct listing_text *t, const struct instructions *n)
{
	size_t behind = 0; /* the first one that no context has reached yet */

	for (size_t i = 0; i < n->at.len; i++) {
		if (!t->l->rows.at[n->at.at[i]].samples)
			continue;
		if (i > behind + CONTEXT)
			fold_between(t, n, behind, i - CONTEXT);
		behind = i + CONTEXT + 1;
	}
	if (behind < n->at.len)
		fold_between(t, n, behind, n->at.len);
}

static void choose_rows(struct listing_text *t)
{
	struct instructions n = { 0 };

	t->keep = mem_alloc(sizeof(*t->keep) * t->l->rows.len);
	for (size_t i = 0; i < t->l->rows.len; i++) {
		t->keep[i] = true;
		if (t->l->rows.at[i].kind == LISTING_INSTRUCTION)
			vec_add(&n.at, i);
	}
	if (n.at.len > LONG && !t->o->whole)
		fold(t, &n);
	vec_done(&n.at);
}

static void measure_source(struct listing_text *t, const struct listing_row *row)
{
	size_t indent;

	if (row->kind != LISTING_SOURCE || !row->text)
		return;
	indent = indent_of(str_of(row->text));
	if (indent < t->dedent)
		t->dedent = indent;
}

static void widen(size_t *width, uint64_t value, unsigned int base)
{
	size_t digits = 1;

	while (value /= base)
		digits++;
	if (digits > *width)
		*width = digits;
}

static void measure(struct listing_text *t)
{
	buf_auto samples = { 0 };

	t->dedent = SIZE_MAX;
	vec_each(row, &t->l->rows) {
		if (row->kind == LISTING_SOURCE)
			widen(&t->line_width, row->line, 10);
		else
			widen(&t->address_width, row->address, 16);
		measure_source(t, row);
	}
	if (t->line_width && t->line_width < LINE)
		t->line_width = LINE;
	str_count(&samples, t->l->samples);
	t->samples_width = samples.len > SAMPLES ? samples.len : SAMPLES;
	if (t->o->columns && t->o->columns < NARROW)
		t->samples_width = 0;
	else if (t->address_width < ADDRESS)
		t->address_width = ADDRESS;
}

static void put_titles(struct listing_text *t)
{
	text_style(t->out, t->o, STYLE_DIM);
	text_spaces(t->out, MARK);
	put_padded(t, "Share", SHARE);
	if (t->samples_width) {
		text_spaces(t->out, GAP);
		put_padded(t, "Samples", t->samples_width);
	}
	if (t->line_width) {
		text_spaces(t->out, GAP);
		put_padded(t, "Line", t->line_width);
	}
	text_spaces(t->out, GAP);
	put_padded(t, t->address_width >= ADDRESS ? "Address" : "At", t->address_width);
	text_plain(t->out, t->o);
	buf_u8(t->out, '\n');
}

void text_listing(struct buf *out, const struct listing *l, const struct render_options *o)
{
	struct listing_text t = { .out = out, .l = l, .o = o };

	measure(&t);
	choose_rows(&t);
	text_listing_head(out, l, o);
	buf_u8(out, '\n');
	put_titles(&t);
	put_rows(&t);
	text_listing_legend(out, l, o);
	free(t.keep);
}
