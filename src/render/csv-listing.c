/* SPDX-License-Identifier: Apache-2.0 */
/* A listing as tables, which the CSV renderer writes as it writes all others. */
#include "base/os.h"
#include "render/listing.h"

static const struct column instruction_columns[] = {
	{ "address", "Address", COLUMN_ADDRESS }, { "offset", "Offset", COLUMN_NUMBER },
	{ "text", "Instruction", COLUMN_TEXT },	  { "file", "File", COLUMN_TEXT },
	{ "line", "Line", COLUMN_NUMBER },	  { "inlined", "Inlined", COLUMN_TEXT },
	{ "target", "Target", COLUMN_TEXT },	  { "samples", "Samples", COLUMN_COUNT },
	{ "pct", "Share", COLUMN_PCT },		  { "function_pct", "Of function", COLUMN_PCT },
};
static const struct column line_columns[] = {
	{ "file", "File", COLUMN_TEXT },   { "line", "Line", COLUMN_NUMBER },
	{ "text", "Source", COLUMN_TEXT }, { "samples", "Samples", COLUMN_COUNT },
	{ "pct", "Share", COLUMN_PCT },	   { "function_pct", "Of function", COLUMN_PCT },
};

static struct cell text(const char *s)
{
	if (!s)
		return (struct cell){ .kind = CELL_NULL };
	return (struct cell){ .kind = CELL_TEXT, .text = s, .text_len = strlen(s) };
}

static struct cell integer(uint64_t v)
{
	return (struct cell){ .kind = CELL_INTEGER, .integer = (int64_t)v };
}

static struct cell real(double v)
{
	return (struct cell){ .kind = CELL_REAL, .real = v };
}

static struct cell line_cell(uint32_t line)
{
	return line ? integer(line) : text(NULL);
}

/* The mnemonic and its operands with a blank for the tab. */
static struct cell code_cell(struct arena *a, const char *code)
{
	char *copy = code ? arena_strdup(a, code) : NULL;

	for (char *at = copy; at && (at = strchr(at, '\t'));)
		*at = ' ';
	return text(copy);
}

static void add_row(struct table *t, const struct cell *cells)
{
	for (size_t i = 0; i < t->column_count; i++)
		vec_add(&t->cells, cells[i]);
}

static void add_columns(struct listing_tables *t, struct table *to, const struct column *columns,
			size_t count)
{
	to->columns = arena_alloc(&t->arena, sizeof(*columns) * count);
	memcpy(to->columns, columns, sizeof(*columns) * count);
	to->column_count = count;
}

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

void listing_tables_init(struct listing_tables *t, const struct listing *l)
{
	*t = (struct listing_tables){ .instructions = { .id = "instructions" },
				      .lines = { .id = "source" } };
	add_columns(t, &t->instructions, instruction_columns, COUNT(instruction_columns));
	add_columns(t, &t->lines, line_columns, COUNT(line_columns));
	vec_each(row, &l->rows) {
		if (row->kind != LISTING_INSTRUCTION)
			continue;
		add_row(&t->instructions,
			(const struct cell[]){
				integer(row->address),
				l->size ? integer((uint64_t)row->offset) : text(NULL),
				code_cell(&t->arena, row->text), text(row->file),
				line_cell(row->line), text(row->inlined), text(row->target),
				integer(row->samples), real(row->pct), real(row->function_pct) });
	}
	vec_each(line, &l->lines)
		add_row(&t->lines,
			(const struct cell[]){ text(line->file), line_cell(line->line),
					       text(line->text), integer(line->samples),
					       real(line->pct), real(line->function_pct) });
}

void listing_tables_done(struct listing_tables *t)
{
	vec_done(&t->instructions.cells);
	vec_done(&t->lines.cells);
	arena_done(&t->arena);
}
