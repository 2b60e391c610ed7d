/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by stack, thread, event and time bucket. */
#include "model/weights.h"

#include "base/map.h"

enum { BUCKETS = 1000, FIRST_WIDTH_NS = 1000000, RECENT_ROWS = 1 << 13 };

void weights_init(struct weights *ws, struct model *m)
{
	*ws = (struct weights){ .m = m, .most = RECENT_ROWS };
	m->bucket_ns = FIRST_WIDTH_NS;
}

static uint64_t weight_hash(const struct model_weight *w)
{
	return hash_u64(((uint64_t)w->node.i << 32 | w->thread.i) ^
			hash_u64((uint64_t)w->event << 32 | w->bucket));
}

static bool add_to(struct model *m, const struct index *rows, uint64_t hash,
		   const struct model_weight *w)
{
	struct index_probe p = index_start(rows, hash);
	uint32_t i;

	while ((i = index_next(rows, &p)) != MODEL_NONE) {
		struct model_weight *old = &m->weights.at[i];

		if (old->node.i == w->node.i && old->thread.i == w->thread.i &&
		    old->bucket == w->bucket && old->event == w->event) {
			old->samples += w->samples;
			old->period += w->period;
			return true;
		}
	}
	return false;
}

/* The young rows become the old ones; those are looked for no more. */
static void age(struct weights *ws)
{
	struct index young = ws->old;

	if (ws->old.len && ws->old_last + 1 > ws->forgotten)
		ws->forgotten = ws->old_last + 1;
	ws->old = ws->young;
	ws->old_last = ws->young_last;
	index_clear(&young);
	ws->young = young;
	ws->young_last = 0;
}

static void put(struct weights *ws, const struct model_weight *w)
{
	struct model *m = ws->m;
	uint64_t hash = weight_hash(w);

	if (add_to(m, &ws->young, hash, w) || add_to(m, &ws->old, hash, w))
		return;
	ws->doubled |= w->bucket < ws->forgotten;
	index_put(&ws->young, hash, (uint32_t)m->weights.len);
	vec_add(&m->weights, *w);
	if (w->bucket > ws->young_last)
		ws->young_last = w->bucket;
	if (ws->young.len >= ws->most)
		age(ws);
}

/* Puts all rows in again, with buckets that are 2^doublings as wide. */
static void put_again(struct weights *ws, uint32_t doublings)
{
	struct model *m = ws->m;
	size_t count = m->weights.len;

	index_clear(&ws->young);
	index_clear(&ws->old);
	ws->young_last = ws->old_last = ws->forgotten = 0;
	m->weights.len = 0;
	/* What is put never gets ahead of what is taken. */
	for (size_t i = 0; i < count; i++) {
		struct model_weight w = m->weights.at[i];

		w.bucket = doublings < 32 ? w.bucket >> doublings : 0;
		put(ws, &w);
	}
}

/* Widens the buckets until the distance from the first sample fits. */
static void widen(struct weights *ws, uint64_t distance)
{
	uint32_t doublings = 0;

	for (; distance / ws->m->bucket_ns >= BUCKETS; ws->m->bucket_ns *= 2)
		doublings++;
	put_again(ws, doublings);
}

void weights_finish(struct weights *ws)
{
	if (!ws->doubled)
		return;
	ws->most = UINT32_MAX;
	put_again(ws, 0);
}

static uint32_t bucket_of(struct weights *ws, uint64_t time_ns)
{
	struct model *m = ws->m;
	uint64_t distance;

	if (!ws->started) {
		ws->started = true;
		m->first_ns = m->last_ns = time_ns;
	}
	if (time_ns > m->last_ns)
		m->last_ns = time_ns;
	if (time_ns <= m->first_ns)
		return 0;
	distance = time_ns - m->first_ns;
	if (distance / m->bucket_ns >= BUCKETS)
		widen(ws, distance);
	return (uint32_t)(distance / m->bucket_ns);
}

void weights_add(struct weights *ws, struct model_weight w, bool has_time, uint64_t time_ns)
{
	w.bucket = has_time ? bucket_of(ws, time_ns) : 0;
	w.samples = 1;
	put(ws, &w);
}

void weights_done(struct weights *ws)
{
	index_done(&ws->young);
	index_done(&ws->old);
	*ws = (struct weights){ 0 };
}
