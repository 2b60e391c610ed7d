/* SPDX-License-Identifier: Apache-2.0 */
/* How far a result may be trusted: the table of rules and the line of text that goes with it. */
#include "analyse/evidence.h"

#include <inttypes.h>

enum level { LEVEL_FUNCTION, LEVEL_LINE, LEVEL_INSTRUCTION, LEVELS };
enum {
	AT_FUNCTION = 1 << LEVEL_FUNCTION,
	AT_LINE = 1 << LEVEL_LINE,
	AT_INSTRUCTION = 1 << LEVEL_INSTRUCTION,
	AT_ALL = AT_FUNCTION | AT_LINE | AT_INSTRUCTION
};

/* What the rules look at. A share without a denominator is not a number, which breaks no rule. */
enum metric { SAMPLES, LOST_PCT, UNNAMED_PCT, LINELESS_PCT, PARTIAL, UNCORRECTED, METRICS };

/*
 * The rules of DESIGN.md, section 5. A level is as good as the worst rule that it breaks. The reason
 * reads: before, measured value, between, limit, after.
 */
static const struct rule {
	unsigned int levels;
	enum metric metric;
	enum { BELOW, AT_LEAST } when;
	double limit;
	enum verdict verdict;
	const char *before, *between, *after;
} rules[] = {
	{ AT_ALL, SAMPLES, BELOW, 100, VERDICT_UNUSABLE, "", " samples, a usable result needs ",
	  "" },
	{ AT_ALL, SAMPLES, BELOW, 1000, VERDICT_WEAK, "", " samples, a solid result needs ", "" },
	{ AT_ALL, LOST_PCT, AT_LEAST, 1, VERDICT_WEAK, "",
	  " % of samples lost, a solid result allows less than ", " %" },
	{ AT_FUNCTION, UNNAMED_PCT, AT_LEAST, 5, VERDICT_WEAK, "",
	  " % of samples in no named function, a solid result allows less than ", " %" },
	{ AT_LINE, LINELESS_PCT, AT_LEAST, 100, VERDICT_UNUSABLE, "",
	  " % of samples without a line", NULL },
	{ AT_LINE, LINELESS_PCT, AT_LEAST, 5, VERDICT_WEAK, "",
	  " % of samples without a line, a solid result allows less than ", " %" },
	{ AT_ALL, PARTIAL, AT_LEAST, 1, VERDICT_WEAK, "the recording is partial", NULL, NULL },
	{ AT_INSTRUCTION, UNCORRECTED, AT_LEAST, 1, VERDICT_WEAK,
	  "samples are late by an unknown distance: skid is not calibrated", NULL, NULL },
};

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_SOLID] = "solid",
		[VERDICT_WEAK] = "weak",
		[VERDICT_UNUSABLE] = "unusable",
	};

	return names[v];
}

static double percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : __builtin_nan("");
}

/* With a comma between groups of three digits. */
static void add_count(struct buf *b, uint64_t v)
{
	if (v >= 1000) {
		add_count(b, v / 1000);
		buf_printf(b, ",%03" PRIu64, v % 1000);
	} else {
		buf_printf(b, "%" PRIu64, v);
	}
}

/* A share keeps so many digits that it never reads like the limit that it missed. */
static void add_value(struct buf *b, enum metric metric, double v)
{
	if (metric == SAMPLES)
		add_count(b, (uint64_t)v);
	else
		buf_printf(b, "%.*f", v == (double)(uint64_t)v ? 0 : v < 10 ? 2 : 1, v);
}

static bool is_broken(const struct rule *r, double v)
{
	return r->when == BELOW ? v < r->limit : v >= r->limit;
}

static void add_reason(struct buf *b, const struct rule *r, double v, const struct model *m)
{
	if (b->len)
		buf_puts(b, "; ");
	buf_puts(b, r->before);
	if (r->between) {
		add_value(b, r->metric, v);
		buf_puts(b, r->between);
	}
	if (r->after) {
		add_value(b, r->metric, r->limit);
		buf_puts(b, r->after);
	}
	if (r->metric == PARTIAL && m->notes.len)
		buf_printf(b, ": %s", m->notes.at[0]);
}

/* The verdict of one level, and every rule that speaks against a better one. */
static void judge(struct evidence *e, enum level level, const double values[METRICS],
		  const struct model *m)
{
	static const char *const names[LEVELS] = { "function", "line", "instruction" };
	struct evidence_level *l = &e->levels[level];
	unsigned int told = 0;
	struct buf why = { 0 };

	*l = (struct evidence_level){ .level = names[level], .verdict = VERDICT_SOLID };
	for (const struct rule *r = rules; r < rules + sizeof(rules) / sizeof(rules[0]); r++) {
		if (!(r->levels & 1u << level) || !is_broken(r, values[r->metric]))
			continue;
		if (r->verdict > l->verdict)
			l->verdict = r->verdict;
		/* Of two rules on one thing the stricter stands first. */
		if (!(told & 1u << r->metric))
			add_reason(&why, r, values[r->metric], m);
		told |= 1u << r->metric;
	}
	l->why = arena_strdup(&e->arena, buf_str(&why));
	buf_done(&why);
}

/* The event that the samples are of; the first one when there are no samples. */
static void name_source(struct evidence *e, const struct model *m)
{
	const struct model_event *source = m->events.len ? m->events.at : NULL;

	for (size_t i = 0; i < m->events.len; i++)
		if (m->events.at[i].samples > source->samples)
			source = &m->events.at[i];
	e->source = arena_strdup(&e->arena, source ? source->name : "");
	e->is_frequency = source && source->is_frequency;
	e->rate = source ? source->rate : 0;
}

static const char *make_line(struct evidence *e)
{
	struct buf b = { 0 };
	const char *line;

	buf_puts(&b, *e->source ? e->source : "unknown event");
	if (e->rate && e->is_frequency)
		buf_printf(&b, " %" PRIu64 " Hz", e->rate);
	else if (e->rate) {
		buf_puts(&b, " every ");
		add_count(&b, e->rate);
	}
	buf_puts(&b, ", ");
	add_count(&b, e->samples);
	buf_puts(&b, e->samples == 1 ? " sample, " : " samples, ");
	if (e->idle) {
		add_count(&b, e->idle);
		buf_puts(&b, " idle left out, ");
	}
	add_count(&b, e->lost);
	buf_puts(&b, " lost");
	if (e->lost)
		buf_printf(&b, " (%.*f %%)", e->lost_pct < 10 ? 2 : 1, e->lost_pct);
	if (e->throttled) {
		buf_puts(&b, ", throttled ");
		add_count(&b, e->throttled);
		buf_puts(&b, e->throttled == 1 ? " time" : " times");
	}
	buf_puts(&b, ", as observed (skid not corrected)");
	line = arena_strdup(&e->arena, buf_str(&b));
	buf_done(&b);
	return line;
}

void evidence_compute(struct evidence *e, const struct model *m, const struct hotspots *h)
{
	double values[METRICS];
	uint64_t with_line = 0, seen;

	*e = (struct evidence){
		.samples = h->samples,
		.idle = m->idle_samples,
		.lost = m->lost,
		.throttled = m->throttled,
		.unnamed = h->unnamed,
		.kernel = m->kernel_samples,
		.duration_ns = m->last_ns - m->first_ns,
		.partial = m->partial,
	};
	if (__builtin_add_overflow(e->samples, e->lost, &seen))
		seen = UINT64_MAX;
	e->lost_pct = percent(e->lost, seen);
	e->unnamed_pct = percent(e->unnamed, e->samples);
	for (size_t i = 0; i < h->lines.len; i++)
		with_line += h->lines.at[i].self;
	values[SAMPLES] = (double)e->samples;
	values[LOST_PCT] = e->lost_pct;
	values[UNNAMED_PCT] = e->unnamed_pct;
	values[LINELESS_PCT] = percent(e->samples - with_line, e->samples);
	values[PARTIAL] = e->partial;
	values[UNCORRECTED] = 1;
	for (enum level level = LEVEL_FUNCTION; level < LEVELS; level++)
		judge(e, level, values, m);
	e->verdict = e->levels[LEVEL_FUNCTION].verdict;
	name_source(e, m);
	e->line = make_line(e);
}

void evidence_done(struct evidence *e)
{
	arena_done(&e->arena);
	*e = (struct evidence){ 0 };
}
