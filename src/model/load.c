/* SPDX-License-Identifier: Apache-2.0 */
/* A whole recording as a model: the pass, what the header says, totals and notes. */
#include <inttypes.h>
#include <stdlib.h>

#include "model/pass.h"

static const char *text_of(struct model *m, struct perfdata *pd, enum perfdata_feature f)
{
	return arena_strdup(&m->arena, perfdata_feature_text(pd, f));
}

static void read_header(struct model *m, struct perfdata *pd)
{
	m->hostname = text_of(m, pd, PERFDATA_F_HOSTNAME);
	m->kernel = text_of(m, pd, PERFDATA_F_OSRELEASE);
	m->arch = text_of(m, pd, PERFDATA_F_ARCH);
	m->cpuid = text_of(m, pd, PERFDATA_F_CPUID);
	m->cmdline = arena_strdup(&m->arena, perfdata_cmdline(pd));
	for (size_t i = 0; i < pd->attr_count; i++) {
		const struct perfdata_attr *a = &pd->attrs[i];

		vec_add(&m->events, ((struct model_event){
					    .name = arena_strdup(&m->arena, a->name),
					    .is_frequency = a->freq,
					    .rate = a->sample_period,
					    .exclude_user = a->exclude_user,
					    .exclude_kernel = a->exclude_kernel,
					    .has_chains = a->layout.has_chain,
					    .has_stack_copies = a->sample_stack_user > 0,
				    }));
	}
}

/* Samples by image: by the innermost frame, and by any frame. */
static void count_images(struct model *m)
{
	uint64_t *by_node = mem_alloc(m->nodes.len * sizeof(*by_node));
	uint32_t *seen = mem_alloc(m->images.len * sizeof(*seen));

	for (size_t i = 0; i < m->weights.len; i++) {
		const struct model_weight *w = &m->weights.at[i];

		if (w->node.i != MODEL_NONE && !m->threads.at[w->thread.i].idle)
			by_node[w->node.i] += w->samples;
	}
	for (uint32_t i = 0; i < m->nodes.len; i++) {
		if (!by_node[i])
			continue;
		m->images.at[m->addrs.at[m->nodes.at[i].addr.i].image.i].samples += by_node[i];
		for (uint32_t n = i; n != MODEL_NONE; n = m->nodes.at[n].parent.i) {
			uint32_t image = m->addrs.at[m->nodes.at[n].addr.i].image.i;

			if (seen[image] != i + 1) {
				seen[image] = i + 1;
				m->images.at[image].touched += by_node[i];
			}
		}
	}
	free(by_node);
	free(seen);
}

static void note(struct model *m, const char *text)
{
	vec_add(&m->notes, text);
}

static void note_count(const struct pass *p, const char *what, uint64_t count)
{
	if (count)
		note(p->m,
		     arena_printf(&p->m->arena, "%s in %s: %" PRIu64, what, p->pd->name, count));
}

/* Why it is partial comes first. */
static void add_notes(const struct pass *p)
{
	struct model *m = p->m;
	const struct perfdata *pd = p->pd;
	struct arena *a = &m->arena;

	m->partial = p->damaged || pd->cut || p->compressed;
	if (p->damaged)
		note(m, arena_printf(a,
				     "%s is damaged at offset %" PRIu64
				     ": what came before it was read",
				     pd->name, p->lead));
	else if (pd->cut)
		note(m, arena_printf(a,
				     "%s was not closed or is cut: it was read up to offset "
				     "%" PRIu64,
				     pd->name, p->lead));
	note_count(p, "compressed records that were not read", p->compressed);
	vec_each(n, &pd->notes)
		note(m, arena_strdup(a, *n));
	note_count(p, "records that do not hold what they promise", m->bad_records);
	note_count(p, "records of unknown types", m->unknown_records);
}

static bool is_readable(const struct pass *p, struct err *err)
{
	const struct model *m = p->m;

	if (!m->records && p->damaged)
		return err_set(err, ERR_FORMAT, "%s: no record can be read at offset %" PRIu64,
			       p->pd->name, p->lead);
	return true;
}

bool model_load(struct model **out, struct perfdata *pd, const struct model_options *options,
		struct err *err)
{
	static const struct model_options all = { .event = -1 };
	struct model *m = mem_alloc(sizeof(*m));
	struct pass p;
	bool ok;

	read_header(m, pd);
	pass_init(&p, m, pd, options ? options : &all);
	pass_run(&p);
	ok = is_readable(&p, err);
	if (ok) {
		images_finish(&p.images);
		count_images(m);
		add_notes(&p);
		*out = m;
	} else {
		model_free(m);
	}
	pass_done(&p);
	return ok;
}

void model_free(struct model *m)
{
	if (!m)
		return;
	vec_done(&m->images);
	vec_done(&m->threads);
	vec_done(&m->addrs);
	vec_done(&m->nodes);
	vec_done(&m->weights);
	vec_done(&m->events);
	vec_done(&m->notes);
	arena_done(&m->arena);
	free(m);
}
