/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash index over rows that lie elsewhere: it holds row ids, the caller compares rows. No removal.
 * Zero-initialised is valid and empty.
 *
 *	struct index_probe p = index_start(x, hash);
 *	while ((id = index_next(x, &p)) != MODEL_NONE)
 *		if (row id is the wanted one)
 *			return id;
 *	index_put(x, hash, new id);
 */
#ifndef CULPRIT_MODEL_INDEX_H
#define CULPRIT_MODEL_INDEX_H

#include "model/model.h"

struct index_slot {
	uint32_t tag; /* upper half of the hash */
	uint32_t id;  /* plus one; 0 is an empty slot */
};

struct index {
	struct index_slot *slots;
	size_t len, cap;
};

struct index_probe {
	size_t at;
	uint32_t tag;
};

static inline struct index_probe index_start(const struct index *x, uint64_t hash)
{
	uint32_t tag = (uint32_t)(hash >> 32);

	return (struct index_probe){ .at = x->cap ? tag & (x->cap - 1) : 0, .tag = tag };
}

/* The next row whose hash may be equal, or MODEL_NONE when there are no more. */
static inline uint32_t index_next(const struct index *x, struct index_probe *p)
{
	if (!x->cap)
		return MODEL_NONE;
	for (;;) {
		struct index_slot s = x->slots[p->at];

		if (!s.id)
			return MODEL_NONE;
		p->at = (p->at + 1) & (x->cap - 1);
		if (s.tag == p->tag)
			return s.id - 1;
	}
}

void index_put(struct index *x, uint64_t hash, uint32_t id);
/* Forgets all rows, keeps the memory. */
void index_clear(struct index *x);
void index_done(struct index *x);

#endif
