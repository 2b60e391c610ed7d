/* SPDX-License-Identifier: Apache-2.0 */
/* What the steps of hotspots_compute share. Private to analyse. */
#ifndef CULPRIT_ANALYSE_WORK_H
#define CULPRIT_ANALYSE_WORK_H

#include "analyse/hotspots.h"

struct work {
	struct hotspots *h;
	const struct model *m;
	const struct symbols *s;
	/* By model node, idle samples left out. */
	struct hot_count *self, *total; /* total: of the node and all nodes under it */
	/* By function, and its place in the order of names. */
	struct hot_count *function_self, *function_total;
	uint32_t *rank;
	/* By symbol frame: its row in h->lines, MODEL_NONE without a known line. */
	uint32_t *line_row;
};

/* Frames of an address, innermost first. */
static inline struct symbol_span work_span(const struct work *w, struct addr_id addr)
{
	return w->s->addrs[addr.i];
}
static inline struct symbol_span work_node_span(const struct work *w, uint32_t node)
{
	return work_span(w, w->m->nodes.at[node].addr);
}

static inline void work_add(struct hot_count *to, struct hot_count c)
{
	to->samples += c.samples;
	to->weight += c.weight;
}

/* Falling; 0 for equal ones. */
static inline int work_order(uint64_t a, uint64_t b)
{
	return (a < b) - (a > b);
}

/* Chooses the event and fills self, total and all sums of h. */
void work_tally(struct work *w);
/* Fills h->started from total. */
void work_starts(struct work *w);
/* Fills function_total, the totals of h->lines, h->touched and h->edges. */
void work_totals(struct work *w);
/* Fills h->tree. */
void work_call_tree(struct work *w);

#endif
