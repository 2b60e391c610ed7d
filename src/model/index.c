/* SPDX-License-Identifier: Apache-2.0 */
/* A hash index over rows that lie elsewhere. */
#include "model/index.h"

#include <stdlib.h>

static void place(struct index_slot *slots, size_t cap, struct index_slot s)
{
	size_t i = s.tag & (cap - 1);

	while (slots[i].id)
		i = (i + 1) & (cap - 1);
	slots[i] = s;
}

void index_put(struct index *x, uint64_t hash, uint32_t id)
{
	if (x->len * 4 >= x->cap * 3) {
		size_t cap = x->cap ? x->cap * 2 : 64;
		struct index_slot *slots = mem_alloc(cap * sizeof(*slots));

		for (size_t i = 0; i < x->cap; i++)
			if (x->slots[i].id)
				place(slots, cap, x->slots[i]);
		free(x->slots);
		x->slots = slots;
		x->cap = cap;
	}
	place(x->slots, x->cap, (struct index_slot){ (uint32_t)(hash >> 32), id + 1 });
	x->len++;
}

void index_clear(struct index *x)
{
	if (x->cap)
		memset(x->slots, 0, x->cap * sizeof(*x->slots));
	x->len = 0;
}

void index_done(struct index *x)
{
	free(x->slots);
	*x = (struct index){ 0 };
}
