/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the text renderer share. Private to render/ and its tests. */
#ifndef CULPRIT_RENDER_TEXT_H
#define CULPRIT_RENDER_TEXT_H

#include "render/render.h"

/* text-cell.c: a value as people read it, control bytes made visible. */
void text_cell(struct buf *out, enum column_kind kind, const struct cell *c);
void text_duration(struct buf *out, double ns);
/*
 * Text of at most width columns: the middle, or an end, gives way to an ellipsis; of a name first
 * what a function's name can do without.
 */
enum text_cut { CUT_MIDDLE, CUT_LEFT, CUT_RIGHT, CUT_NAME };
void text_fit(struct buf *out, struct str s, size_t width, enum text_cut cut, bool unicode);
/* A bar of width columns for a share of 100. */
void text_bar(struct buf *out, double pct, size_t width);

/* text-tree.c: the lines in front of the names of a tree, by row; strings in the arena. */
const char **text_tree_lines(struct arena *a, const struct table *t, size_t depth_column,
			     bool unicode);

/* text-table.c */
void text_table(struct buf *out, const struct table *t, const struct render_options *o);

#endif
