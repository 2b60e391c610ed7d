/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The call tree in depth-first order, heavy children first, and how often each stack was seen by
 * which thread in which time bucket. A stack's id in run.db is its place in that order, so that a
 * subtree is the range from id to last and ORDER BY id is the order to print.
 */
#include <stdlib.h>

#include "store/store-db.h"

/* By node of hotspots.tree. */
struct order {
	uint32_t *id;	/* place in depth-first order, from 1 */
	uint32_t *last; /* highest id below */
	uint32_t *node; /* by id - 1: back to the node */
	uint32_t *first_child, *next;
	uint32_t count; /* nodes that a root leads to: all of a sound tree */
};

static void order_done(struct order *o)
{
	free(o->id);
	free(o->last);
	free(o->node);
	free(o->first_child);
	free(o->next);
}

/* Links children in their order in the vector, which is by weight. Returns the first root. */
static uint32_t link_children(struct order *o, const struct hotspots *h)
{
	uint32_t root = MODEL_NONE;

	for (size_t i = 0; i < h->tree.len; i++)
		o->first_child[i] = MODEL_NONE;
	for (size_t i = h->tree.len; i-- > 0;) {
		uint32_t parent = h->tree.at[i].parent;
		uint32_t *head = parent < h->tree.len ? &o->first_child[parent] : &root;

		o->next[i] = *head;
		*head = (uint32_t)i;
	}
	return root;
}

static void order_init(struct order *o, const struct hotspots *h)
{
	size_t n = h->tree.len;
	uint32_t at, id = 0;

	o->id = mem_alloc(n * sizeof(*o->id));
	o->last = mem_alloc(n * sizeof(*o->last));
	o->node = mem_alloc(n * sizeof(*o->node));
	o->first_child = mem_alloc(n * sizeof(*o->first_child));
	o->next = mem_alloc(n * sizeof(*o->next));
	at = link_children(o, h);
	while (at != MODEL_NONE) {
		o->node[id] = at;
		o->id[at] = ++id;
		if (o->first_child[at] != MODEL_NONE) {
			at = o->first_child[at];
			continue;
		}
		/* Up until there is a sibling; a node that is left is complete. */
		for (;;) {
			uint32_t parent = h->tree.at[at].parent;

			o->last[at] = id;
			if (o->next[at] != MODEL_NONE) {
				at = o->next[at];
				break;
			}
			at = parent < n ? parent : MODEL_NONE;
			if (at == MODEL_NONE)
				break;
		}
	}
	o->count = id;
}

static bool put_tree(struct store *s, const struct order *o, const struct hotspots *h,
		     struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_stacks", 10, err))
		return false;
	for (uint32_t i = 0; i < o->count; i++) {
		const struct hot_node *n = &h->tree.at[o->node[i]];

		fill_u64(&f, i + 1);
		fill_id(&f, n->parent < h->tree.len ? o->id[n->parent] : MODEL_NONE);
		fill_u64(&f, o->last[o->node[i]]);
		fill_u64(&f, n->depth);
		fill_id(&f, n->function.i);
		fill_u64(&f, n->inlined);
		fill_u64(&f, n->self.samples);
		fill_u64(&f, n->total.samples);
		fill_u64(&f, n->self.weight);
		fill_u64(&f, n->total.weight);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

/* From the model's address stacks to the nodes of the function tree. */
struct fold {
	const struct store_input *in;
	struct map children; /* parent, function, inlined -> tree node */
	uint32_t *tree_of;   /* by model node; FOLD_UNSEEN before */
	VEC(uint32_t) path;
};
enum { FOLD_UNSEEN = UINT32_MAX - 1 };

static uint64_t child_key(uint32_t parent, uint32_t function, bool inlined)
{
	return (uint64_t)(parent + 1) << 32 | (uint64_t)function << 1 | inlined;
}

static void fold_init(struct fold *fold, const struct store_input *in)
{
	const struct hotspots *h = in->hotspots;

	*fold = (struct fold){ .in = in };
	fold->tree_of = mem_alloc(in->model->nodes.len * sizeof(*fold->tree_of));
	for (size_t i = 0; i < in->model->nodes.len; i++)
		fold->tree_of[i] = FOLD_UNSEEN;
	for (size_t i = 0; i < h->tree.len; i++) {
		const struct hot_node *n = &h->tree.at[i];

		*map_put(&fold->children, child_key(n->parent, n->function.i, n->inlined), NULL) =
			i;
	}
}

static void fold_done(struct fold *fold)
{
	map_done(&fold->children);
	free(fold->tree_of);
	vec_done(&fold->path);
}

/* The child of a tree node; where the tree does not tell inlined copies apart, either will do. */
static uint32_t child_of(const struct fold *fold, uint32_t parent, const struct symbol_frame *frame)
{
	const uint64_t *child;

	child = map_find(&fold->children, child_key(parent, frame->function.i, frame->inlined));
	if (!child)
		child = map_find(&fold->children,
				 child_key(parent, frame->function.i, !frame->inlined));
	return child ? (uint32_t)*child : MODEL_NONE;
}

/* One address below a tree node: its frames, outermost first. */
static uint32_t descend(const struct fold *fold, uint32_t at, struct addr_id addr)
{
	const struct symbols *symbols = fold->in->symbols;
	struct symbol_span span = symbols->addrs[addr.i];

	for (uint32_t k = span.count; k-- > 0;) {
		at = child_of(fold, at, &symbols->frames.at[span.first + k]);
		if (at == MODEL_NONE)
			break;
	}
	return at;
}

static uint32_t fold_node(struct fold *fold, uint32_t node)
{
	const struct model *m = fold->in->model;
	uint32_t at;

	vec_clear(&fold->path);
	while (node < m->nodes.len && fold->tree_of[node] == FOLD_UNSEEN) {
		vec_add(&fold->path, node);
		node = m->nodes.at[node].parent.i;
	}
	at = node < m->nodes.len ? fold->tree_of[node] : MODEL_NONE;
	while (fold->path.len) {
		bool is_root = node >= m->nodes.len;

		node = fold->path.at[--fold->path.len];
		/* A stack that is not in the tree stays without one; it must not become a root. */
		if (is_root || at != MODEL_NONE)
			at = descend(fold, at, m->nodes.at[node].addr);
		fold->tree_of[node] = at;
	}
	return at;
}

struct count {
	uint32_t stack, thread, event, bucket;
	uint64_t samples, period, weight;
};

static int compare_counts(const void *a, const void *b)
{
	const struct count *x = a, *y = b;

	if (x->stack != y->stack)
		return x->stack < y->stack ? -1 : 1;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->event != y->event)
		return x->event < y->event ? -1 : 1;
	return x->bucket < y->bucket ? -1 : x->bucket > y->bucket;
}

static void fill_counts(struct filler *f, const struct count *counts, size_t len)
{
	struct count sum;

	for (size_t i = 0; i < len;) {
		sum = counts[i++];
		for (; i < len && !compare_counts(&sum, &counts[i]); i++) {
			sum.samples += counts[i].samples;
			sum.period += counts[i].period;
			sum.weight += counts[i].weight;
		}
		fill_id(f, sum.stack ? sum.stack : MODEL_NONE);
		fill_u64(f, sum.thread);
		fill_u64(f, sum.event);
		fill_u64(f, sum.bucket);
		fill_u64(f, sum.samples);
		fill_u64(f, sum.period);
		fill_u64(f, sum.weight);
		fill_row(f);
	}
}

static bool put_counts(struct store *s, const struct order *o, const struct store_input *in,
		       struct err *err)
{
	const struct model *m = in->model;
	VEC(struct count) counts = { 0 };
	struct fold fold;
	struct filler f;

	if (!filler_init(&f, s, "t_stack_counts", 7, err))
		return false;
	fold_init(&fold, in);
	for (size_t i = 0; i < m->weights.len; i++) {
		const struct model_weight *w = &m->weights.at[i];
		uint32_t at;

		/* Idle samples are in no tree; v1_threads has their number. */
		if (w->event != in->hotspots->event || m->threads.at[w->thread.i].idle)
			continue;
		at = w->node.i < m->nodes.len ? fold_node(&fold, w->node.i) : MODEL_NONE;
		vec_add(&counts, ((struct count){ at < in->hotspots->tree.len ? o->id[at] : 0,
						  w->thread.i, w->event, w->bucket, w->samples,
						  w->period, hotspots_weight(in->hotspots, w) }));
	}
	fold_done(&fold);
	if (counts.len)
		qsort(counts.at, counts.len, sizeof(*counts.at), compare_counts);
	fill_counts(&f, counts.at, counts.len);
	vec_done(&counts);
	return filler_done(&f, err);
}

bool store_put_stacks(struct store *s, const struct store_input *in, struct err *err)
{
	struct order o = { 0 };
	bool ok;

	order_init(&o, in->hotspots);
	ok = put_tree(s, &o, in->hotspots, err) && put_counts(s, &o, in, err);
	order_done(&o);
	return ok;
}
