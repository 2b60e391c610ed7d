/* SPDX-License-Identifier: Apache-2.0 */
/* One table for the terminal: which columns fit, how wide each is, then the rows. */
#include "base/os.h"
#include "render/text.h"

enum {
	INDENT = 2,
	GAP = 2,
	BAR = 10,
	FIRST_NAME_LEAST = 12, /* columns of the leading name, then of others, at the least */
	NAME_LEAST = 8,
	NUMBERED_LEAST = 4,
};

struct shown {
	size_t column; /* of the table */
	enum column_kind kind;
	bool is_name; /* left, and may be cut */
	bool dropped, bar;
	size_t natural, width, least;
	const char *label;
	const char **cells; /* by row */
};

struct layout {
	const struct table *t;
	const struct render_options *o;
	struct arena arena;
	VEC(struct shown) columns;
	const char **tree; /* lines by row, NULL without a tree */
};

static bool is_name_kind(enum column_kind kind)
{
	return kind == COLUMN_TEXT || kind == COLUMN_TREE || kind == COLUMN_PLACE;
}

static int column_named(const struct table *t, const char *name)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (!strcmp(t->columns[i].name, name))
			return (int)i;
	return -1;
}

/* The column that says whether what this one names was inlined; -1 without. */
static int inlined_column(const struct table *t, const struct shown *s)
{
	if (s->kind == COLUMN_TREE || !strcmp(t->columns[s->column].name, "function"))
		return column_named(t, "inlined");
	return -1;
}

static void fill_cells(struct layout *l, struct shown *s)
{
	int inlined = inlined_column(l->t, s);
	size_t rows = table_rows(l->t);
	buf_auto b = { 0 };

	str_escape(&b, str_of(l->t->columns[s->column].label));
	s->label = arena_strndup(&l->arena, buf_str(&b), b.len);
	s->natural = str_columns(str_of(s->label));
	s->cells = arena_alloc(&l->arena, sizeof(*s->cells) * rows);
	for (size_t r = 0; r < rows; r++) {
		size_t width;

		buf_clear(&b);
		text_cell(&b, s->kind, table_cell(l->t, r, s->column));
		if (inlined >= 0 && table_cell(l->t, r, (size_t)inlined)->integer)
			buf_puts(&b, " (inlined)");
		s->cells[r] = arena_strndup(&l->arena, buf_str(&b), b.len);
		width = str_columns((struct str){ buf_str(&b), b.len });
		if (l->tree && s->kind == COLUMN_TREE)
			width += str_columns(str_of(l->tree[r]));
		if (width > s->natural)
			s->natural = width;
	}
	s->width = s->natural;
}

static void choose_columns(struct layout *l)
{
	bool named = false;

	for (size_t i = 0; i < l->t->column_count; i++) {
		const struct column *c = &l->t->columns[i];
		int depth = column_named(l->t, "depth");
		struct shown *s;

		if (c->kind == COLUMN_HIDDEN || c->kind == COLUMN_ID)
			continue;
		if (c->kind == COLUMN_TREE && depth >= 0)
			l->tree = text_tree_lines(&l->arena, l->t, (size_t)depth, l->o->unicode);
		s = vec_push(&l->columns);
		s->column = i;
		s->kind = c->kind;
		s->is_name = is_name_kind(c->kind);
		fill_cells(l, s);
		s->least = s->natural;
		if (s->is_name) {
			size_t least = named ? NAME_LEAST : FIRST_NAME_LEAST;

			s->least = s->natural < least ? s->natural : least;
			named = true;
		}
	}
}

static size_t total_width(const struct layout *l, bool at_least)
{
	size_t total = INDENT;
	bool first = true;

	vec_each(s, &l->columns) {
		if (s->dropped)
			continue;
		total += (first ? 0 : GAP) + (at_least ? s->least : s->width);
		first = false;
	}
	return total;
}

/* The rightmost column of that sort that is not the first of it. */
static struct shown *droppable(struct layout *l, bool is_name)
{
	struct shown *last = NULL;
	bool first = true;

	vec_each(s, &l->columns) {
		if (s->dropped || s->is_name != is_name)
			continue;
		if (!first)
			last = s;
		first = false;
	}
	return last;
}

/* Names give way first, the widest most; then numbers go, then names; JSON has them all. */
static void fit_columns(struct layout *l)
{
	size_t room = l->o->columns;

	while (total_width(l, true) > room) {
		struct shown *s = droppable(l, false);

		s = s ? s : droppable(l, true);
		if (!s)
			break;
		s->dropped = true;
	}
	vec_each(s, &l->columns)
		if (s->is_name && s->width > room)
			s->width = room;
	while (total_width(l, false) > room) {
		struct shown *widest = NULL;

		vec_each(s, &l->columns)
			if (s->is_name && !s->dropped && (!widest || s->width > widest->width))
				widest = s;
		if (!widest || widest->width <= NUMBERED_LEAST)
			break;
		widest->width--;
	}
}

static void choose_bar(struct layout *l)
{
	if (!l->o->unicode || total_width(l, false) + BAR + 1 > l->o->columns)
		return;
	vec_each(s, &l->columns)
		if (s->kind == COLUMN_PCT) {
			s->bar = true;
			return;
		}
}

/* Too many lines for the column: the outer ones give way to a dot. */
static void put_tree_lines(struct buf *b, const struct layout *l, size_t row, size_t width)
{
	struct str lines = str_of(l->tree[row]);
	size_t most = width / 2;

	if (l->o->columns && str_columns(lines) > most)
		text_fit(b, lines, most > 2 ? most : 2, CUT_LEFT, l->o->unicode);
	else
		buf_add(b, lines.at, lines.len);
}

static void put_name(struct buf *b, const struct layout *l, const struct shown *s, size_t row)
{
	size_t used;

	if (s->kind == COLUMN_TREE && l->tree)
		put_tree_lines(b, l, row, s->width);
	used = str_columns((struct str){ buf_str(b), b->len });
	if (l->o->columns)
		text_fit(b, str_of(s->cells[row]), s->width > used ? s->width - used : 0,
			 s->kind == COLUMN_PLACE ? CUT_LEFT : CUT_NAME, l->o->unicode);
	else
		buf_puts(b, s->cells[row]);
}

static void put_bar(struct buf *out, const struct layout *l, const struct shown *s, size_t row)
{
	const struct cell *c = table_cell(l->t, row, s->column);

	buf_u8(out, ' ');
	text_bar(out, c->kind == CELL_REAL ? c->real : (double)c->integer, BAR);
}

/* Adds a cell of a line; blanks that would end the line are left to the next cell. */
static void put_cell(struct buf *out, size_t *blanks, const struct shown *s, struct str text)
{
	size_t width = str_columns(text);
	size_t pad = s->width > width ? s->width - width : 0;

	if (!s->is_name)
		*blanks += pad;
	text_spaces(out, *blanks);
	buf_add(out, text.at, text.len);
	*blanks = (s->is_name ? pad : 0) + GAP;
}

static void put_row(struct buf *out, const struct layout *l, size_t row)
{
	size_t blanks = INDENT;
	buf_auto b = { 0 };

	vec_each(s, &l->columns) {
		if (s->dropped)
			continue;
		buf_clear(&b);
		if (s->is_name)
			put_name(&b, l, s, row);
		else
			buf_puts(&b, s->cells[row]);
		put_cell(out, &blanks, s, (struct str){ buf_str(&b), b.len });
		if (s->bar)
			put_bar(out, l, s, row);
	}
	buf_u8(out, '\n');
}

static void put_header(struct buf *out, const struct layout *l)
{
	size_t blanks = INDENT;
	buf_auto b = { 0 };

	text_style(out, l->o, STYLE_DIM);
	vec_each(s, &l->columns) {
		if (s->dropped)
			continue;
		buf_clear(&b);
		text_fit(&b, str_of(s->label), s->width, CUT_MIDDLE, l->o->unicode);
		put_cell(out, &blanks, s, (struct str){ buf_str(&b), b.len });
		if (s->bar)
			blanks += BAR + 1;
	}
	text_plain(out, l->o);
	buf_u8(out, '\n');
}

static void put_more(struct buf *out, const struct layout *l)
{
	const struct table *t = l->t;

	if (!t->more)
		return;
	text_style(out, l->o, STYLE_DIM);
	text_spaces(out, INDENT);
	str_count(out, t->more);
	buf_puts(out, " more");
	if (t->more_text)
		buf_printf(out, " (%s)", t->more_text);
	text_plain(out, l->o);
	buf_u8(out, '\n');
}

void text_table(struct buf *out, const struct table *t, const struct render_options *o)
{
	struct layout l = { .t = t, .o = o };

	if (!table_rows(t)) {
		buf_auto safe = { 0 };

		str_escape(&safe, str_of(t->empty && t->empty[0] ? t->empty : "no rows"));
		text_spaces(out, INDENT);
		text_wrap(out, o, INDENT, (struct str){ buf_str(&safe), safe.len });
		buf_u8(out, '\n');
		put_more(out, &l);
		return;
	}
	choose_columns(&l);
	if (o->columns) {
		fit_columns(&l);
		choose_bar(&l);
	}
	put_header(out, &l);
	for (size_t row = 0; row < table_rows(t); row++)
		put_row(out, &l, row);
	put_more(out, &l);
	vec_done(&l.columns);
	arena_done(&l.arena);
}
