/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped address ranges in a weight-balanced tree with shared old versions. */
#include "model/pieces.h"

/*
 * Adams' trees with the parameters (3, 2) on weights of size + 1, for which Hirai and Yamamoto
 * proved that one single or double rotation restores balance after joins too.
 */
enum { BALANCE_OUTER = 3, BALANCE_INNER = 2 };

struct writer {
	struct pieces *t;
	uint32_t epoch;
};

uint32_t pieces_epoch(struct pieces *t)
{
	return ++t->epoch;
}

static struct piece_node *node_of(const struct writer *w, uint32_t n)
{
	return &w->t->nodes.at[n];
}

static uint64_t weight(const struct writer *w, uint32_t n)
{
	return (uint64_t)node_of(w, n)->size + 1;
}

static uint32_t node_new(struct writer *w, const struct piece *p)
{
	uint32_t n = w->t->unused;
	struct piece_node fresh = { .piece = *p, .size = 1, .epoch = w->epoch };

	if (n) {
		w->t->unused = node_of(w, n)->left;
		*node_of(w, n) = fresh;
	} else {
		n = (uint32_t)w->t->nodes.len;
		vec_add(&w->t->nodes, fresh);
	}
	return n;
}

static void node_drop(struct writer *w, uint32_t n)
{
	node_of(w, n)->left = w->t->unused;
	w->t->unused = n;
}

/* n itself when it may be changed, else a copy. */
static uint32_t node_own(struct writer *w, uint32_t n)
{
	struct piece p = node_of(w, n)->piece;
	uint32_t copy;

	if (node_of(w, n)->epoch == w->epoch)
		return n;
	copy = node_new(w, &p);
	node_of(w, copy)->left = node_of(w, n)->left;
	node_of(w, copy)->right = node_of(w, n)->right;
	node_of(w, copy)->size = node_of(w, n)->size;
	return copy;
}

/* n must be owned already. */
static uint32_t node_set(struct writer *w, uint32_t n, uint32_t left, uint32_t right)
{
	node_of(w, n)->left = left;
	node_of(w, n)->right = right;
	node_of(w, n)->size = node_of(w, left)->size + node_of(w, right)->size + 1;
	return n;
}

static uint32_t rotate_left(struct writer *w, uint32_t n)
{
	uint32_t r = node_own(w, node_of(w, n)->right);

	node_set(w, n, node_of(w, n)->left, node_of(w, r)->left);
	return node_set(w, r, n, node_of(w, r)->right);
}

static uint32_t rotate_right(struct writer *w, uint32_t n)
{
	uint32_t l = node_own(w, node_of(w, n)->left);

	node_set(w, n, node_of(w, l)->right, node_of(w, n)->right);
	return node_set(w, l, node_of(w, l)->left, n);
}

/* n is owned, its children are balanced. */
static uint32_t balance(struct writer *w, uint32_t n)
{
	uint32_t l = node_of(w, n)->left, r = node_of(w, n)->right;

	if (weight(w, r) > BALANCE_OUTER * weight(w, l)) {
		if (weight(w, node_of(w, r)->left) >=
		    BALANCE_INNER * weight(w, node_of(w, r)->right)) {
			r = rotate_right(w, node_own(w, r));
			node_set(w, n, l, r);
		}
		return rotate_left(w, n);
	}
	if (weight(w, l) > BALANCE_OUTER * weight(w, r)) {
		if (weight(w, node_of(w, l)->right) >=
		    BALANCE_INNER * weight(w, node_of(w, l)->left)) {
			l = rotate_left(w, node_own(w, l));
			node_set(w, n, l, r);
		}
		return rotate_right(w, n);
	}
	return n;
}

/* One tree of all of left, m alone, all of right, in this order. m is owned. */
static uint32_t join(struct writer *w, uint32_t left, uint32_t m, uint32_t right)
{
	uint32_t n, child;

	if (weight(w, right) > BALANCE_OUTER * weight(w, left)) {
		n = node_own(w, right);
		child = join(w, left, m, node_of(w, n)->left);
		return balance(w, node_set(w, n, child, node_of(w, n)->right));
	}
	if (weight(w, left) > BALANCE_OUTER * weight(w, right)) {
		n = node_own(w, left);
		child = join(w, node_of(w, n)->right, m, right);
		return balance(w, node_set(w, n, node_of(w, n)->left, child));
	}
	return node_set(w, m, left, right);
}

/* Cuts tree n at an address; a piece across it becomes two. */
static void split(struct writer *w, uint32_t n, uint64_t at, uint32_t *below, uint32_t *above)
{
	uint32_t left, right, part, rest;
	struct piece p;

	if (!n) {
		*below = *above = 0;
		return;
	}
	n = node_own(w, n);
	p = node_of(w, n)->piece;
	left = node_of(w, n)->left;
	right = node_of(w, n)->right;
	if (at <= p.start) {
		split(w, left, at, below, &part);
		*above = join(w, part, n, right);
	} else if (at >= p.end) {
		split(w, right, at, &part, above);
		*below = join(w, left, n, part);
	} else {
		node_of(w, n)->piece.end = at;
		p.start = at;
		rest = node_new(w, &p);
		*below = join(w, left, n, 0);
		*above = join(w, 0, rest, right);
	}
}

/* Nodes of an older epoch have no younger ones below them. */
static void drop_tree(struct writer *w, uint32_t n)
{
	if (!n || node_of(w, n)->epoch != w->epoch)
		return;
	drop_tree(w, node_of(w, n)->left);
	drop_tree(w, node_of(w, n)->right);
	node_drop(w, n);
}

uint32_t pieces_put(struct pieces *t, uint32_t root, uint32_t epoch, const struct piece *p)
{
	struct writer w = { t, epoch };
	uint32_t below, covered, above, rest;

	if (!t->nodes.len)
		(void)vec_push(&t->nodes);
	split(&w, root, p->start, &below, &rest);
	split(&w, rest, p->end, &covered, &above);
	drop_tree(&w, covered);
	return join(&w, below, node_new(&w, p), above);
}

/* The first piece, by address, that ends above the address; 0 when there is none. */
static uint32_t first_above(const struct pieces *t, uint32_t n, uint64_t address)
{
	uint32_t best = 0;

	while (n) {
		const struct piece_node *at = &t->nodes.at[n];

		if (at->piece.end > address) {
			best = n;
			n = at->left;
		} else {
			n = at->right;
		}
	}
	return best;
}

bool pieces_conflict(const struct pieces *t, uint32_t root, const struct piece *p)
{
	uint64_t at = p->start;

	while (at < p->end) {
		uint32_t n = first_above(t, root, at);
		const struct piece *old;

		if (!n)
			return false;
		old = &t->nodes.at[n].piece;
		if (old->start >= p->end)
			return false;
		if (old->image != p->image || old->shift != p->shift)
			return true;
		at = old->end;
	}
	return false;
}

const struct piece *pieces_find(const struct pieces *t, uint32_t root, uint64_t address)
{
	uint32_t n = first_above(t, root, address);

	return n && t->nodes.at[n].piece.start <= address ? &t->nodes.at[n].piece : NULL;
}

void pieces_done(struct pieces *t)
{
	vec_done(&t->nodes);
	*t = (struct pieces){ 0 };
}
