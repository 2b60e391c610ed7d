/* SPDX-License-Identifier: Apache-2.0 */
/* Which event of a recording is analysed, and what its samples come to by stack and thread. */
#include <string.h>

#include "analyse/work.h"

/* "cycles" of cycles:u, cpu_core/cycles/ and armv8_pmuv3_0/cycles,period=1/. */
static struct str bare_name(const char *name)
{
	struct str rest = str_of(name);
	const char *slash = strchr(name, '/');
	size_t len;

	if (slash && slash != name)
		rest = str_of(slash + 1);
	for (len = 0; len < rest.len && !strchr(":/,", rest.at[len]); len++)
		;
	return (struct str){ rest.at, len };
}

bool hotspots_is_timer(const char *name)
{
	return str_eq(bare_name(name), "cpu-clock") || str_eq(bare_name(name), "task-clock");
}

static bool is_time_like(const char *name)
{
	static const char *const names[] = { "cpu-clock",  "task-clock", "cycles",
					     "cpu-cycles", "cpu_cycles", "ref-cycles" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_eq(bare_name(name), names[i]))
			return true;
	return false;
}

/* Without any samples it is the event that was meant to have them. */
static uint32_t choose_event(const struct model *m)
{
	uint32_t best = 0;
	int best_rank = -1;

	for (uint32_t i = 0; i < m->events.len; i++) {
		const struct model_event *e = &m->events.at[i];
		int rank = (e->samples ? 2 : 0) + is_time_like(e->name);

		if (rank > best_rank) {
			best = i;
			best_rank = rank;
		}
	}
	return best;
}

static bool has_periods(const struct hotspots *h, const struct model *m)
{
	uint64_t sum = 0, busy = 0;

	for (size_t i = 0; i < m->weights.len; i++) {
		const struct model_weight *v = &m->weights.at[i];

		if (v->event != h->event)
			continue;
		if (__builtin_add_overflow(sum, v->period, &sum) || sum > INT64_MAX)
			return false;
		if (!m->threads.at[v->thread.i].idle)
			busy += v->period;
	}
	return busy;
}

static bool is_unnamed(const struct work *w, uint32_t node)
{
	struct symbol_span span = work_node_span(w, node);
	uint32_t f = w->s->frames.at[span.first].function.i;
	enum symbol_function_kind kind = w->s->functions.at[f].kind;

	return kind == SYMBOL_UNKNOWN || kind == SYMBOL_KERNEL_HIDDEN;
}

static bool is_kernel(const struct work *w, uint32_t node)
{
	struct model_addr addr = w->m->addrs.at[w->m->nodes.at[node].addr.i];

	return w->m->images.at[addr.image.i].kind == MODEL_IMAGE_KERNEL;
}

static void count_row(struct work *w, const struct model_weight *v)
{
	const struct model *m = w->m;
	struct hotspots *h = w->h;
	struct hot_count c = { v->samples, hotspots_weight(h, v) };
	uint32_t node = v->node.i;

	work_add(&h->threads.at[v->thread.i], c);
	if (node != MODEL_NONE && m->nodes.at[node].parent.i != MODEL_NONE)
		h->chain_samples += v->samples;
	if (m->threads.at[v->thread.i].idle) {
		work_add(&h->idle, c);
		return;
	}
	work_add(&h->all, c);
	if (node == MODEL_NONE)
		work_add(&h->unnamed, c);
	else
		work_add(&w->self[node], c);
}

void work_tally(struct work *w)
{
	const struct model *m = w->m;
	struct hotspots *h = w->h;

	h->event = choose_event(m);
	h->by_period = has_periods(h, m);
	for (size_t i = 0; i < m->threads.len; i++)
		vec_add(&h->threads, ((struct hot_count){ 0, 0 }));
	for (size_t i = 0; i < m->weights.len; i++)
		if (m->weights.at[i].event == h->event)
			count_row(w, &m->weights.at[i]);
	/* A node comes behind its parent, so one walk backwards adds up all subtrees. */
	for (size_t i = m->nodes.len; i > 0; i--) {
		uint32_t node = (uint32_t)(i - 1), parent = m->nodes.at[node].parent.i;

		work_add(&w->total[node], w->self[node]);
		if (parent != MODEL_NONE)
			work_add(&w->total[parent], w->total[node]);
		if (!w->self[node].samples)
			continue;
		if (is_unnamed(w, node))
			work_add(&h->unnamed, w->self[node]);
		if (is_kernel(w, node))
			work_add(&h->kernel, w->self[node]);
	}
}
