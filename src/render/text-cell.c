/* SPDX-License-Identifier: Apache-2.0 */
/* Single values for the terminal: numbers with separators and units, names cut and made safe. */
#include <stdio.h>

#include "base/name.h"
#include "base/os.h"
#include "render/text.h"

/* Three digits and the unit that suits. */
static void with_unit(struct buf *out, double v, const char *unit)
{
	buf_printf(out, "%.*f %s", v < 10 ? 2 : v < 100 ? 1 : 0, v, unit);
}

void text_duration(struct buf *out, double ns)
{
	if (ns < 999.5)
		buf_printf(out, "%.0f ns", ns);
	else if (ns < 999.5e3)
		with_unit(out, ns / 1e3, "us");
	else if (ns < 999.5e6)
		with_unit(out, ns / 1e6, "ms");
	else
		with_unit(out, ns / 1e9, "s");
}

static void put_bytes(struct buf *out, double bytes)
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	size_t unit = 0;

	if (bytes < 1024) {
		buf_printf(out, "%.0f B", bytes);
		return;
	}
	for (bytes /= 1024; bytes >= 999.5 && unit < 3; unit++)
		bytes /= 1024;
	with_unit(out, bytes, units[unit]);
}

/* Blanks at an end, and names without any character, would not be seen. */
static void put_name(struct buf *out, struct str s)
{
	bool quoted = !s.len || s.at[0] == ' ' || s.at[s.len - 1] == ' ';

	if (quoted)
		buf_u8(out, '"');
	str_escape(out, s);
	if (quoted)
		buf_u8(out, '"');
}

static void put_number(struct buf *out, enum column_kind kind, const struct cell *c)
{
	double v = c->kind == CELL_REAL ? c->real : (double)c->integer;

	if (kind == COLUMN_PCT)
		buf_printf(out, "%.2f %%", v);
	else if (kind == COLUMN_DURATION)
		text_duration(out, v);
	else if (kind == COLUMN_BYTES)
		put_bytes(out, v);
	else if (c->kind == CELL_REAL)
		buf_printf(out, "%.6g", v);
	else if (kind == COLUMN_COUNT)
		str_signed_count(out, c->integer);
	else if (kind == COLUMN_ADDRESS)
		buf_printf(out, "0x%llx", (unsigned long long)c->integer);
	else
		buf_printf(out, "%lld", (long long)c->integer);
}

void text_cell(struct buf *out, enum column_kind kind, const struct cell *c)
{
	switch (c->kind) {
	case CELL_NULL:
		buf_puts(out, "-");
		break;
	case CELL_TEXT:
		put_name(out, (struct str){ c->text, c->text_len });
		break;
	case CELL_INTEGER:
	case CELL_REAL:
		put_number(out, kind, c);
		break;
	case CELL_BOOLEAN:
		buf_puts(out, c->integer ? "yes" : "no");
		break;
	}
}

/* The longest start of s with at most width columns. */
static size_t head_bytes(struct str s, size_t width)
{
	size_t bytes = 0, used = 0;

	while (bytes < s.len) {
		size_t n = str_utf8_len((struct str){ s.at + bytes, s.len - bytes });
		size_t w;

		n = n ? n : 1;
		w = str_columns((struct str){ s.at + bytes, n });
		if (used + w > width)
			break;
		used += w;
		bytes += n;
	}
	return bytes;
}

/* The longest end of s with at most width columns. */
static size_t tail_bytes(struct str s, size_t width)
{
	size_t total = str_columns(s), from = 0;

	while (from < s.len && total > width) {
		size_t n = str_utf8_len((struct str){ s.at + from, s.len - from });

		n = n ? n : 1;
		total -= str_columns((struct str){ s.at + from, n });
		from += n;
	}
	/* A mark that combines with the character that went must go with it. */
	while (from < s.len) {
		size_t n = str_utf8_len((struct str){ s.at + from, s.len - from });

		if (n < 2 || str_columns((struct str){ s.at + from, n }))
			break;
		from += n;
	}
	return s.len - from;
}

void text_fit(struct buf *out, struct str s, size_t width, enum text_cut cut, bool unicode)
{
	const char *gap = unicode ? "\xe2\x80\xa6" : "..";
	size_t gap_width = unicode ? 1 : 2;
	size_t head, tail;
	buf_auto name = { 0 };

	if (cut == CUT_NAME && str_columns(s) > width) {
		name_shorten(&name, s, width, gap);
		s = (struct str){ buf_str(&name), name.len };
	}
	if (str_columns(s) <= width) {
		buf_add(out, s.at, s.len);
		return;
	}
	if (width <= gap_width) {
		buf_add(out, s.at, head_bytes(s, width));
		return;
	}
	width -= gap_width;
	head = head_bytes(s, cut == CUT_LEFT ? 0 : cut == CUT_RIGHT ? width : width - width / 2);
	tail = tail_bytes(s, cut == CUT_LEFT ? width : cut == CUT_RIGHT ? 0 : width / 2);
	buf_add(out, s.at, head);
	buf_puts(out, gap);
	buf_add(out, s.at + s.len - tail, tail);
}

void text_bar(struct buf *out, double pct, size_t width)
{
	static const char *const parts[] = { "",
					     "\xe2\x96\x8f",
					     "\xe2\x96\x8e",
					     "\xe2\x96\x8d",
					     "\xe2\x96\x8c",
					     "\xe2\x96\x8b",
					     "\xe2\x96\x8a",
					     "\xe2\x96\x89" };
	double most = (double)width * 8;
	double share = pct > 0 ? pct < 100 ? pct : 100 : 0;
	size_t eighths = (size_t)(share / 100 * most + 0.5);
	size_t used = eighths / 8;

	for (size_t i = 0; i < used; i++)
		buf_puts(out, "\xe2\x96\x88");
	buf_puts(out, parts[eighths % 8]);
	used += eighths % 8 ? 1 : 0;
	text_spaces(out, width - used);
}
