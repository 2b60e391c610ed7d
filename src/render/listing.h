/* SPDX-License-Identifier: Apache-2.0 */
/* The listing of an annotated function, in each form. Private to render/ and its tests. */
#ifndef CULPRIT_RENDER_LISTING_H
#define CULPRIT_RENDER_LISTING_H

#include "base/json-writer.h"
#include "render/render.h"

/* text-listing.c: head, rows and legend, ready to stand behind the head of a report. */
void text_listing(struct buf *out, const struct listing *l, const struct render_options *o);
/* text-listing-head.c: what stands above and below the rows. */
void text_listing_head(struct buf *out, const struct listing *l, const struct render_options *o);
void text_listing_legend(struct buf *out, const struct listing *l, const struct render_options *o);
/* "18,869, 93.81 % of all time: 10.00 % its own, 83.81 % code inlined into it" */
void text_listing_samples(struct buf *out, const struct listing *l);
/* The instruction with its operands in a column of their own, and what a branch goes to. */
void text_instruction(struct buf *out, const struct listing *l, const struct listing_row *row,
		      const struct render_options *o);
/*
 * A source line as a terminal may have it: tabs expanded, control bytes, characters that turn the
 * direction of text, and invalid UTF-8 made visible. Backslashes stay.
 */
void text_source(struct buf *out, struct str s);

/* json-listing.c: the keys that a listing adds to the object that is open. */
void json_listing(struct jw *j, const struct listing *l);

/* csv-listing.c: the instructions and the source lines as tables; their cells are the caller's. */
struct listing_tables {
	struct table instructions, lines;
	struct arena arena;
};
void listing_tables_init(struct listing_tables *t, const struct listing *l);
void listing_tables_done(struct listing_tables *t);

#endif
