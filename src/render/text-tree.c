/* SPDX-License-Identifier: Apache-2.0 */
/* The light lines of a tree whose rows come depth first. */
#include "base/os.h"
#include "render/text.h"

/* With lines deeper than this the indentation says nothing any more. */
enum { DEPTH_MOST = 200 };

static size_t depth_of(const struct table *t, size_t row, size_t column)
{
	const struct cell *c = table_cell(t, row, column);

	if (c->kind != CELL_INTEGER || c->integer < 0)
		return 0;
	return c->integer < DEPTH_MOST ? (size_t)c->integer : DEPTH_MOST;
}

/* open[d]: further down there is a sibling of the ancestor (or self) at depth d. */
static char *lines_of(struct arena *a, const bool *open, size_t depth, bool unicode)
{
	buf_auto b = { 0 };

	for (size_t d = 1; d < depth; d++)
		buf_puts(&b, !open[d] ? "  " : unicode ? "\xe2\x94\x82 " : "| ");
	if (depth && unicode)
		buf_puts(&b, open[depth] ? "\xe2\x94\x9c " : "\xe2\x94\x94 ");
	else if (depth)
		buf_puts(&b, open[depth] ? "|-" : "`-");
	return arena_strndup(a, buf_str(&b), b.len);
}

const char **text_tree_lines(struct arena *a, const struct table *t, size_t depth_column,
			     bool unicode)
{
	size_t rows = table_rows(t);
	const char **lines = arena_alloc(a, sizeof(*lines) * rows);
	bool open[DEPTH_MOST + 1] = { false };
	size_t deepest = 0;

	for (size_t row = rows; row-- > 0;) {
		size_t depth = depth_of(t, row, depth_column);

		lines[row] = lines_of(a, open, depth, unicode);
		for (size_t d = depth + 1; d <= deepest; d++)
			open[d] = false;
		open[depth] = true;
		deepest = depth;
	}
	return lines;
}
