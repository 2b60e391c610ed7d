/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Findings as CSV (RFC 4180): each table is a block of "# " lines, a header and rows, with a blank
 * line between blocks. Head lines begin with "# ", so that readers can skip comments.
 */
#include <stdio.h>

#include "base/os.h"
#include "base/json-writer.h"
#include "render/listing.h"

/* Text for a field: valid UTF-8; what a terminal or a spreadsheet would obey is replaced. */
static void clean(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		unsigned char c = (unsigned char)s.at[i];
		bool kept = c == '\t' || c == '\n' || c == '\r';

		if (!n || (!kept && str_is_unsafe(s.at + i, n)))
			buf_puts(b, "\xef\xbf\xbd");
		else if (c == '"')
			buf_puts(b, "\"\"");
		else
			buf_add(b, s.at + i, n);
		i += n ? n : 1;
	}
}

/*
 * A spreadsheet takes text that begins with one of these as a formula, and names come from the
 * target; an apostrophe in front makes it text. Numbers are never touched.
 */
static bool is_formula(struct str s)
{
	return s.len && memchr("=+-@\t\r", s.at[0], 6);
}

static void put_text(struct buf *b, struct str s)
{
	bool quoted = is_formula(s);

	for (size_t i = 0; i < s.len && !quoted; i++)
		quoted = s.at[i] == ',' || s.at[i] == '"' || s.at[i] == '\n' || s.at[i] == '\r' ||
			 (i == 0 && (s.at[0] == '#' || s.at[0] == ' ')) ||
			 (i + 1 == s.len && s.at[i] == ' ');
	if (quoted)
		buf_u8(b, '"');
	if (is_formula(s))
		buf_u8(b, '\'');
	clean(b, s);
	if (quoted)
		buf_u8(b, '"');
}

static void put_cell(struct buf *b, const struct column *column, const struct cell *c)
{
	char number[400];

	switch (c->kind) {
	case CELL_NULL:
		break;
	case CELL_TEXT:
		put_text(b, (struct str){ c->text, c->text_len });
		break;
	case CELL_INTEGER:
		buf_printf(b, column->kind == COLUMN_ADDRESS ? "0x%llx" : "%lld",
			   (long long)c->integer);
		break;
	case CELL_REAL:
		jw_format_real(number, sizeof(number), c->real,
			       column->kind == COLUMN_PCT ? 4 : -1);
		buf_puts(b, number);
		break;
	case CELL_BOOLEAN:
		buf_puts(b, c->integer ? "true" : "false");
		break;
	}
}

/* One line of the head; what comes from the target cannot end it. */
static void head_line(struct buf *out, const char *key, const char *value)
{
	if (!value || !value[0])
		return;
	buf_printf(out, "# %s: ", key);
	str_escape(out, str_of(value));
	buf_puts(out, "\r\n");
}

static void put_table(struct buf *out, const struct table *t)
{
	buf_printf(out, "\r\n# table %s\r\n", t->id);
	if (t->more)
		buf_printf(out, "# more: %llu rows%s%s\r\n", (unsigned long long)t->more,
			   t->more_text ? ", " : "", t->more_text ? t->more_text : "");
	for (size_t c = 0; c < t->column_count; c++) {
		if (c)
			buf_u8(out, ',');
		put_text(out, str_of(t->columns[c].name));
	}
	buf_puts(out, "\r\n");
	for (size_t r = 0; r < table_rows(t); r++) {
		for (size_t c = 0; c < t->column_count; c++) {
			if (c)
				buf_u8(out, ',');
			put_cell(out, &t->columns[c], table_cell(t, r, c));
		}
		buf_puts(out, "\r\n");
	}
}

static void put_listing_head(struct buf *out, const struct listing *l)
{
	buf_auto samples = { 0 };

	text_listing_samples(&samples, l);
	head_line(out, "function", l->function);
	head_line(out, "image", l->image_path);
	head_line(out, "samples", buf_str(&samples));
	head_line(out, "syntax", l->syntax);
	head_line(out, "counts", l->caution);
}

/* Instructions may be worth less than the functions that they are of. */
static void put_levels(struct buf *out, const struct findings *f)
{
	vec_each(l, &f->levels) {
		char_auto key = mem_printf("%s level", l->level);
		char_auto text = mem_printf("%s%s%s", l->verdict, l->why && l->why[0] ? ": " : "",
					    l->why ? l->why : "");

		if (strcmp(l->level, "call path") != 0)
			head_line(out, key, text);
	}
}

static void put_listing(struct buf *out, const struct listing *l)
{
	struct listing_tables t;

	listing_tables_init(&t, l);
	put_table(out, &t.instructions);
	put_table(out, &t.lines);
	listing_tables_done(&t);
}

void render_csv(struct buf *out, const struct findings *f, const struct render_options *o)
{
	(void)o;
	head_line(out, "recipe", f->recipe);
	head_line(out, "question", f->question);
	head_line(out, "run", f->run);
	head_line(out, "command", f->command);
	if (f->listing)
		put_listing_head(out, f->listing);
	head_line(out, "evidence", f->evidence_line);
	head_line(out, "verdict", f->verdict);
	head_line(out, "verdict_why", f->verdict_why);
	if (f->listing)
		put_levels(out, f);
	vec_each(found, &f->findings) {
		char_auto key = mem_printf("finding %s (%s)", found->id, found->severity);

		head_line(out, key, found->text);
	}
	vec_each(n, &f->notes) {
		buf_auto key = { 0 };

		buf_puts(&key, "note ");
		str_escape(&key, str_of(n->id));
		head_line(out, buf_str(&key), n->text);
	}
	vec_each(t, &f->tables)
		put_table(out, t);
	if (f->listing)
		put_listing(out, f->listing);
}
