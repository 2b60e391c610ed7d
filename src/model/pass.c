/* SPDX-License-Identifier: Apache-2.0 */
/* The pass over the records: a lead for what happened, a trail for the samples. */
#include "model/pass.h"

#include <stdlib.h>

enum { PROGRESS_STEP = 4 << 20 };

void pass_init(struct pass *p, struct model *m, struct perfdata *pd,
	       const struct model_options *options)
{
	*p = (struct pass){
		.m = m,
		.pd = pd,
		.options = options,
		.lead = pd->data_start,
		.trail = pd->data_start,
		.shown = pd->data_start,
	};
	images_init(&p->images, m, pd);
	p->threads.m = m;
	p->threads.ps = &p->processes;
	p->stacks.m = m;
	p->stacks.pd = pd;
	p->stacks.ps = &p->processes;
	p->stacks.images = &p->images;
	p->stacks.signed_pointers = str_starts(m->arch, "aarch64") || str_starts(m->arch, "arm64");
	weights_init(&p->weights, m);
	p->batch = mem_alloc(PASS_BATCH * sizeof(*p->batch));
	for (size_t i = 0; i < pd->attr_count; i++)
		if (pd->attrs[i].sample_id_all && pd->attrs[i].sample_type & PERFDATA_S_TIME)
			p->timed = true;
}

void pass_done(struct pass *p)
{
	images_done(&p->images);
	threads_done(&p->threads);
	stacks_done(&p->stacks);
	weights_done(&p->weights);
	sideband_done(&p->sideband);
	processes_done(&p->processes);
	free(p->batch);
}

static void count_lost(struct pass *p, const struct perfdata_record *rec)
{
	struct perfdata_lost lost;

	if (perfdata_lost(p->pd, rec, &lost))
		p->m->lost += lost.lost;
	else
		p->m->bad_records++;
}

/* Types that are known to say nothing about where time went. */
static bool is_known(uint32_t type)
{
	return (type >= PERFDATA_MMAP && type <= PERFDATA_AUX_OUTPUT_HW_ID) ||
	       (type >= PERFDATA_USER_FIRST && type <= PERFDATA_COMPRESSED2 + 1);
}

static void lead_take(struct pass *p, const struct perfdata_record *rec)
{
	p->m->records++;
	switch (rec->type) {
	case PERFDATA_MMAP:
	case PERFDATA_MMAP2:
	case PERFDATA_COMM:
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		sideband_push(&p->sideband, p->timed ? perfdata_time(p->pd, rec) : rec->offset,
			      rec);
		break;
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		count_lost(p, rec);
		break;
	case PERFDATA_THROTTLE:
		p->m->throttled++;
		break;
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		p->compressed++;
		break;
	default:
		p->m->unknown_records += !is_known(rec->type);
		break;
	}
}

/* Moves the lead over one round, or to the end. */
static void lead_round(struct pass *p)
{
	struct perfdata_record rec;

	while (!p->done) {
		switch (perfdata_next(p->pd, &p->lead, &rec)) {
		case PERFDATA_RECORD:
			lead_take(p, &rec);
			if (rec.type == PERFDATA_FINISHED_ROUND)
				return;
			break;
		case PERFDATA_DAMAGED:
			p->damaged = p->done = true;
			break;
		case PERFDATA_END:
			p->done = true;
			break;
		}
	}
}

static void apply_until(struct pass *p, uint64_t t)
{
	struct sideband_item item;

	while (sideband_pop(&p->sideband, t, &item))
		pass_apply(p, &item);
}

static void count_sample(struct pass *p, const struct chain *c, const struct pass_sample *b)
{
	struct model *m = p->m;
	struct model_thread *row = &m->threads.at[b->thread];

	m->samples++;
	row->samples++;
	row->period += b->period;
	m->events.at[b->event].samples++;
	m->events.at[b->event].period += b->period;
	m->chain_samples += c->depth > 1;
	m->chain_frames += c->depth;
	if (row->idle) {
		m->idle_samples++;
	} else {
		m->kernel_samples += c->in_kernel;
		m->unmapped += c->unmapped;
	}
}

/* A sample without a period stands for the one that was asked for. */
static uint64_t period_of(const struct perfdata_sample *s)
{
	if (s->attr->sample_type & PERFDATA_S_PERIOD)
		return s->period;
	return s->attr->freq ? 1 : s->attr->sample_period;
}

/* What is in the batch gets its stack. Its state by time was settled when it was put there. */
static void flush(struct pass *p)
{
	for (size_t i = 0; i < p->batched; i++)
		stacks_call(&p->stacks, &p->batch[i].query);
	for (size_t i = 0; i < p->batched; i++) {
		const struct pass_sample *b = &p->batch[i];
		const struct perfdata_sample *s = &b->query.sample;
		const struct chain *c = stacks_get(&p->stacks, &b->query);
		struct model_weight w = {
			.node = { c->node },
			.thread = { b->thread },
			.event = b->event,
			.period = b->period,
		};

		count_sample(p, c, b);
		weights_add(&p->weights, w, s->has_time, s->time_ns);
	}
	p->batched = 0;
}

static void trail_sample(struct pass *p, const struct perfdata_record *rec)
{
	struct pass_sample *b = &p->batch[p->batched];
	struct perfdata_sample *s = &b->query.sample;
	uint32_t process;
	uint64_t t;

	if (!perfdata_sample(p->pd, rec, s)) {
		p->m->bad_records++;
		return;
	}
	b->event = (uint32_t)(s->attr - p->pd->attrs);
	if (p->options->event >= 0 && (uint32_t)p->options->event != b->event)
		return;
	if (!(s->attr->sample_type & PERFDATA_S_TID))
		s->pid = s->tid = UINT32_MAX;
	if (s->has_time)
		p->now = s->time_ns;
	t = p->timed ? p->now : rec->offset;
	apply_until(p, t);
	process = processes_at(&p->processes, s->pid, t);
	b->thread = threads_row(&p->threads, process, s->tid, t);
	b->period = period_of(s);
	b->query.misc = rec->misc;
	b->query.version = processes_version(&p->processes, process, t);
	stacks_hash(&p->stacks, &b->query);
	if (++p->batched == PASS_BATCH)
		flush(p);
}

static void show_progress(struct pass *p)
{
	const struct perfdata *pd = p->pd;

	if (!p->options->progress || p->trail - p->shown < PROGRESS_STEP)
		return;
	p->shown = p->trail;
	p->options->progress(p->options->progress_ctx, p->trail - pd->data_start,
			     pd->data_end - pd->data_start);
}

/* Moves the trail over one round; never past the lead. */
static void trail_round(struct pass *p)
{
	struct perfdata_record rec;

	while (p->trail < p->lead && perfdata_next(p->pd, &p->trail, &rec) == PERFDATA_RECORD) {
		if (rec.type == PERFDATA_SAMPLE)
			trail_sample(p, &rec);
		show_progress(p);
		if (rec.type == PERFDATA_FINISHED_ROUND)
			return;
	}
}

void pass_run(struct pass *p)
{
	lead_round(p);
	while (p->trail < p->lead) {
		lead_round(p);
		trail_round(p);
	}
	flush(p);
	/* What came after the last sample may still be unreadable, and is counted then. */
	apply_until(p, UINT64_MAX);
	weights_finish(&p->weights);
}
