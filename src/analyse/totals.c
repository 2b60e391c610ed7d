/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Totals, each sample counted once however often a function, line or edge recurs in its stack: one
 * walk down the tree of stacks that keeps count of what lies on the path. Whatever comes onto the
 * path for the first time gets all samples from there down.
 */
#include <stdlib.h>

#include "analyse/work.h"

struct walk {
	struct work *w;
	uint32_t *first_child, *next_sibling; /* by node; nodes without samples are left out */
	uint32_t *functions, *lines, *images; /* times on the path */
	VEC(uint32_t) edges;		      /* times on the path, by row of h->edges */
	struct map edge_rows;		      /* caller, callee -> row */
	VEC(uint32_t) taken;		      /* edges of the path, outermost first */
};

static void link_children(struct walk *k)
{
	const struct model *m = k->w->m;

	for (size_t i = m->nodes.len; i > 0; i--) {
		uint32_t n = (uint32_t)(i - 1), parent = m->nodes.at[n].parent.i;

		if (!k->w->total[n].samples || parent == MODEL_NONE)
			continue;
		k->next_sibling[n] = k->first_child[parent];
		k->first_child[parent] = n;
	}
}

static void enter_edge(struct walk *k, struct function_id caller, struct function_id callee,
		       struct hot_count count)
{
	struct hotspots *h = k->w->h;
	bool is_new;
	uint64_t *row = map_put(&k->edge_rows, (uint64_t)caller.i << 32 | callee.i, &is_new);

	if (is_new) {
		*row = h->edges.len;
		vec_add(&h->edges, ((struct hot_edge){ caller, callee, { 0, 0 } }));
		vec_add(&k->edges, 0);
	}
	if (!k->edges.at[*row]++)
		work_add(&h->edges.at[*row].total, count);
	vec_add(&k->taken, (uint32_t)*row);
}

static uint32_t image_of(const struct work *w, uint32_t node)
{
	return w->m->addrs.at[w->m->nodes.at[node].addr.i].image.i;
}

static void enter(struct walk *k, uint32_t node)
{
	struct work *w = k->w;
	struct symbol_span span = work_node_span(w, node);
	uint32_t parent = w->m->nodes.at[node].parent.i;
	struct hot_count count = w->total[node];
	const struct symbol_frame *caller = NULL;

	if (!k->images[image_of(w, node)]++)
		w->h->touched.at[image_of(w, node)] += count.samples;
	if (parent != MODEL_NONE)
		caller = &w->s->frames.at[work_node_span(w, parent).first];
	for (uint32_t i = span.count; i > 0; i--) {
		uint32_t frame = span.first + i - 1, row = w->line_row[frame];
		const struct symbol_frame *f = &w->s->frames.at[frame];

		if (!k->functions[f->function.i]++)
			work_add(&w->function_total[f->function.i], count);
		if (row != MODEL_NONE && !k->lines[row]++)
			work_add(&w->h->lines.at[row].total, count);
		if (caller)
			enter_edge(k, caller->function, f->function, count);
		caller = f;
	}
}

static void leave(struct walk *k, uint32_t node)
{
	struct work *w = k->w;
	struct symbol_span span = work_node_span(w, node);
	bool is_root = w->m->nodes.at[node].parent.i == MODEL_NONE;

	k->images[image_of(w, node)]--;
	for (uint32_t i = 0; i < span.count; i++) {
		uint32_t row = w->line_row[span.first + i];

		k->functions[w->s->frames.at[span.first + i].function.i]--;
		if (row != MODEL_NONE)
			k->lines[row]--;
		if (is_root && i + 1 == span.count)
			break;
		k->edges.at[k->taken.at[--k->taken.len]]--;
	}
}

/* Down and up again along the links; stacks may be deep, so nothing recurses. */
static void walk_from(struct walk *k, uint32_t root)
{
	uint32_t node = root;

	enter(k, node);
	for (;;) {
		if (k->first_child[node]) {
			node = k->first_child[node];
			enter(k, node);
			continue;
		}
		for (;;) {
			uint32_t next = node == root ? 0 : k->next_sibling[node];

			leave(k, node);
			if (next) {
				node = next;
				enter(k, node);
				break;
			}
			if (node == root)
				return;
			node = k->w->m->nodes.at[node].parent.i;
		}
	}
}

void work_totals(struct work *w)
{
	const struct model *m = w->m;
	struct walk k = { .w = w };

	/* 0 ends a list of nodes: the first node is always a root, and no child of any. */
	k.first_child = mem_alloc(m->nodes.len * sizeof(*k.first_child));
	k.next_sibling = mem_alloc(m->nodes.len * sizeof(*k.next_sibling));
	k.functions = mem_alloc(w->s->functions.len * sizeof(*k.functions));
	k.lines = mem_alloc(w->h->lines.len * sizeof(*k.lines));
	k.images = mem_alloc(m->images.len * sizeof(*k.images));
	for (size_t i = 0; i < m->images.len; i++)
		vec_add(&w->h->touched, 0);
	link_children(&k);
	for (uint32_t i = 0; i < m->nodes.len; i++)
		if (m->nodes.at[i].parent.i == MODEL_NONE && w->total[i].samples)
			walk_from(&k, i);
	free(k.first_child);
	free(k.next_sibling);
	free(k.functions);
	free(k.lines);
	free(k.images);
	vec_done(&k.edges);
	vec_done(&k.taken);
	map_done(&k.edge_rows);
}
