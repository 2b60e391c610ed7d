/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree: stacks of addresses become stacks of functions, and equal ones fall together.
 * First in the order in which nodes are met, then laid out anew so that children stand together.
 */
#include <stdlib.h>

#include "analyse/work.h"

struct build {
	struct work *w;
	VEC(struct hot_node) nodes; /* a parent comes before its children */
	struct map children;	    /* parent plus one, function and inlined -> node */
	uint32_t *of_node;	    /* by model node: the innermost function's node */
	/* By node of nodes, then the layout. */
	uint32_t *first_child, *next_sibling;
	VEC(uint32_t) order; /* nodes in their final order */
	uint32_t *place;     /* by node: where it is in order */
};

static uint32_t child_get(struct build *b, uint32_t parent, const struct symbol_frame *f)
{
	bool is_new;
	uint32_t what = f->function.i << 1 | f->inlined;
	/* MODEL_NONE plus one is 0, which no real parent has. */
	uint64_t *at = map_put(&b->children, (uint64_t)(parent + 1) << 32 | what, &is_new);

	if (is_new) {
		*at = b->nodes.len;
		vec_add(&b->nodes, ((struct hot_node){ .parent = parent,
						       .function = f->function,
						       .inlined = f->inlined }));
	}
	return (uint32_t)*at;
}

static void merge_stacks(struct build *b)
{
	const struct work *w = b->w;
	const struct model *m = w->m;

	for (uint32_t i = 0; i < m->nodes.len; i++) {
		struct symbol_span span = work_node_span(w, i);
		uint32_t parent = m->nodes.at[i].parent.i;
		uint32_t at = parent == MODEL_NONE ? MODEL_NONE : b->of_node[parent];

		if (!w->total[i].samples)
			continue;
		for (uint32_t k = span.count; k > 0; k--)
			at = child_get(b, at, &w->s->frames.at[span.first + k - 1]);
		b->of_node[i] = at;
		work_add(&b->nodes.at[at].self, w->self[i]);
	}
	for (size_t i = b->nodes.len; i > 0; i--) {
		struct hot_node *n = &b->nodes.at[i - 1];

		work_add(&n->total, n->self);
		if (n->parent != MODEL_NONE)
			work_add(&b->nodes.at[n->parent].total, n->total);
	}
}

static int by_total(const void *a, const void *b, void *ctx)
{
	const struct build *build = ctx;
	const struct hot_node *x = &build->nodes.at[*(const uint32_t *)a];
	const struct hot_node *y = &build->nodes.at[*(const uint32_t *)b];
	uint32_t i = build->w->rank[x->function.i], k = build->w->rank[y->function.i];

	if (x->total.weight != y->total.weight)
		return work_order(x->total.weight, y->total.weight);
	if (i != k)
		return i < k ? -1 : 1;
	return x->inlined - y->inlined;
}

/* The nodes added to the order since from are all children of one parent. */
static void sort_siblings(struct build *b, size_t from)
{
	if (b->order.len - from > 1)
		qsort_r(b->order.at + from, b->order.len - from, sizeof(*b->order.at), by_total, b);
}

static void lay_out(struct build *b)
{
	for (size_t i = b->nodes.len; i > 0; i--) {
		uint32_t n = (uint32_t)(i - 1), parent = b->nodes.at[n].parent;

		if (parent == MODEL_NONE)
			continue;
		b->next_sibling[n] = b->first_child[parent];
		b->first_child[parent] = n;
	}
	for (uint32_t n = 0; n < b->nodes.len; n++)
		if (b->nodes.at[n].parent == MODEL_NONE)
			vec_add(&b->order, n);
	sort_siblings(b, 0);
	for (size_t i = 0; i < b->order.len; i++) {
		size_t from = b->order.len;

		b->place[b->order.at[i]] = (uint32_t)i;
		/* Node 0 is the first one met, so a root and nobody's child: it ends lists. */
		for (uint32_t n = b->first_child[b->order.at[i]]; n; n = b->next_sibling[n])
			vec_add(&b->order, n);
		sort_siblings(b, from);
	}
}

static void hand_over(struct build *b)
{
	struct hotspots *h = b->w->h;

	for (size_t i = 0; i < b->order.len; i++) {
		struct hot_node n = b->nodes.at[b->order.at[i]];

		if (n.parent != MODEL_NONE) {
			n.parent = b->place[n.parent];
			n.depth = h->tree.at[n.parent].depth + 1;
		}
		vec_add(&h->tree, n);
	}
}

void work_call_tree(struct work *w)
{
	struct build b = { .w = w };

	b.of_node = mem_alloc(w->m->nodes.len * sizeof(*b.of_node));
	merge_stacks(&b);
	b.first_child = mem_alloc(b.nodes.len * sizeof(*b.first_child));
	b.next_sibling = mem_alloc(b.nodes.len * sizeof(*b.next_sibling));
	b.place = mem_alloc(b.nodes.len * sizeof(*b.place));
	lay_out(&b);
	hand_over(&b);
	free(b.of_node);
	free(b.first_child);
	free(b.next_sibling);
	free(b.place);
	vec_done(&b.nodes);
	vec_done(&b.order);
	map_done(&b.children);
}
