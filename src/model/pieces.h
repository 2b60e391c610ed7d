/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Mapped address ranges as a balanced tree whose old versions stay readable: a fork or a moment in
 * the past is just a root that somebody kept. Pieces of one root never overlap; a new piece cuts
 * away what it covers.
 *
 * A node is changed in place when it belongs to the writer's epoch and copied otherwise. Whoever
 * keeps a root must therefore go on with a new epoch (pieces_epoch). Root 0 is the empty tree.
 * Balance by weight keeps paths below 2.5 log2(n), also for hostile input.
 */
#ifndef CULPRIT_MODEL_PIECES_H
#define CULPRIT_MODEL_PIECES_H

#include "model/model.h"

struct piece {
	uint64_t start, end; /* end is not part of it; start < end */
	uint64_t shift;	     /* address in the image = ip + shift, modulo 2^64 */
	uint32_t image;
};

struct piece_node {
	struct piece piece;
	uint32_t left, right;
	uint32_t size; /* nodes of this subtree */
	uint32_t epoch;
};

struct pieces {
	VEC(struct piece_node) nodes; /* node 0 is the empty tree */
	uint32_t unused;	      /* list of dropped nodes, linked by left */
	uint32_t epoch;
};

uint32_t pieces_epoch(struct pieces *t);
/* The root with p put in. epoch is the writer's. */
uint32_t pieces_put(struct pieces *t, uint32_t root, uint32_t epoch, const struct piece *p);
/* True when an address of p means something else under root than it would with p put in. */
bool pieces_conflict(const struct pieces *t, uint32_t root, const struct piece *p);
/* The piece that covers address, or NULL. Valid until the next put. */
const struct piece *pieces_find(const struct pieces *t, uint32_t root, uint64_t address);
void pieces_done(struct pieces *t);

#endif
