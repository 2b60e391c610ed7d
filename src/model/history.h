/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What something was, by time: steps with rising start times, each holding until the next one. What
 * came before the first step is taken to be as the first step says: a recorder tells of things that
 * were there already when it began.
 */
#ifndef CULPRIT_MODEL_HISTORY_H
#define CULPRIT_MODEL_HISTORY_H

#include "model/model.h"

struct history_step {
	uint64_t from;
	uint32_t value;
};

struct history {
	VEC(struct history_step) steps;
};

/* A step that is older than the last one takes effect with the last one. */
static inline void history_add(struct history *h, uint64_t from, uint32_t value)
{
	if (h->steps.len && from < h->steps.at[h->steps.len - 1].from)
		from = h->steps.at[h->steps.len - 1].from;
	vec_add(&h->steps, ((struct history_step){ from, value }));
}

/* Index of the step that holds at t, or SIZE_MAX when there are none. */
static inline size_t history_find(const struct history *h, uint64_t t)
{
	size_t low = 0, high = h->steps.len;

	if (!high)
		return SIZE_MAX;
	/* Nearly all questions are about the present. */
	if (h->steps.at[high - 1].from <= t)
		return high - 1;
	while (high - low > 1) {
		size_t mid = low + (high - low) / 2;

		if (h->steps.at[mid].from <= t)
			low = mid;
		else
			high = mid;
	}
	return low;
}

static inline uint32_t history_at(const struct history *h, uint64_t t)
{
	size_t i = history_find(h, t);

	return i == SIZE_MAX ? MODEL_NONE : h->steps.at[i].value;
}

static inline void history_done(struct history *h)
{
	vec_done(&h->steps);
}

#endif
