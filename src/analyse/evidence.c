/* SPDX-License-Identifier: Apache-2.0 */
/* How far a result may be trusted: the table of rules and the line of text that goes with it. */
#include "analyse/evidence.h"

#include <inttypes.h>
#include <string.h>

#include "analyse/work.h"

enum level { LEVEL_FUNCTION, LEVEL_LINE, LEVEL_INSTRUCTION, LEVEL_CALL_PATH, LEVELS };
enum {
	AT_FUNCTION = 1 << LEVEL_FUNCTION,
	AT_LINE = 1 << LEVEL_LINE,
	AT_INSTRUCTION = 1 << LEVEL_INSTRUCTION,
	AT_CALL_PATH = 1 << LEVEL_CALL_PATH,
	AT_ALL = AT_FUNCTION | AT_LINE | AT_INSTRUCTION | AT_CALL_PATH
};

/* What the rules look at. A share without a denominator is not a number, which breaks no rule. */
enum metric {
	SAMPLES,
	LOST_PCT,
	UNNAMED_PCT,
	LINELESS_PCT,
	PARTIAL,
	UNCORRECTED,
	TIMER_HZ,
	COVERED_PCT,
	BROKEN_PCT,
	METRICS
};

/* Below this much CPU time a difference proves nothing. */
enum { COVERED_LEAST_NS = 100000000 };

/*
 * The rules of DESIGN.md, section 5. A level is as good as the worst rule that it breaks. The reason
 * reads: before, measured value, between, limit, after.
 */
static const struct rule {
	unsigned int levels;
	enum metric metric;
	enum { BELOW, AT_LEAST, ABOVE } when;
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
	  " % in no named function, a solid result allows less than ", " %" },
	{ AT_LINE, LINELESS_PCT, AT_LEAST, 100, VERDICT_UNUSABLE, "", " % without a line", NULL },
	{ AT_LINE, LINELESS_PCT, AT_LEAST, 5, VERDICT_WEAK, "",
	  " % without a line, a solid result allows less than ", " %" },
	{ AT_ALL, PARTIAL, AT_LEAST, 1, VERDICT_WEAK, "the recording is partial", NULL, NULL },
	{ AT_ALL, TIMER_HZ, ABOVE, 10000, VERDICT_WEAK,
	  "sampling above 10,000 Hz slows the program itself", NULL, NULL },
	{ AT_ALL, COVERED_PCT, BELOW, 75, VERDICT_WEAK, "samples account for ",
	  " % of the workload's CPU time: processes that live shorter than a sampling period "
	  "escape the timer, and a machine that cannot keep up loses its ticks",
	  NULL },
	{ AT_CALL_PATH, BROKEN_PCT, ABOVE, 20, VERDICT_WEAK, "",
	  " % of the call chains do not reach the start of a thread: code without frame pointers "
	  "(-fno-omit-frame-pointer) breaks them; Total, call tree and callers are too low there",
	  NULL },
	{ AT_INSTRUCTION, UNCORRECTED, AT_LEAST, 1, VERDICT_WEAK,
	  "samples are late by an unknown distance: skid is not calibrated", NULL, NULL },
};

const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[VERDICT_SOLID] = "solid",
		[VERDICT_WEAK] = "weak",
		[VERDICT_UNUSABLE] = "unusable",
		[VERDICT_NOT_APPLICABLE] = "not applicable",
	};

	return names[v];
}

enum verdict evidence_of_samples(uint64_t samples, uint64_t *needed)
{
	/* Of two rules on one thing the stricter stands first. */
	for (const struct rule *r = rules; r < rules + sizeof(rules) / sizeof(rules[0]); r++)
		if (r->metric == SAMPLES && r->when == BELOW && (double)samples < r->limit) {
			*needed = (uint64_t)r->limit;
			return r->verdict;
		}
	*needed = 0;
	return VERDICT_SOLID;
}

static double percent(uint64_t part, uint64_t whole)
{
	/* All of a large number is not one rounding away from a limit. */
	if (whole && part == whole)
		return 100;
	return whole ? 100.0 * (double)part / (double)whole : __builtin_nan("");
}

/* A share keeps so many digits that it never reads like the limit that it missed. */
static void add_value(struct buf *b, enum metric metric, double v)
{
	if (metric == SAMPLES)
		str_count(b, (uint64_t)v);
	else
		buf_printf(b, "%.*f", v == (double)(uint64_t)v ? 0 : v < 10 ? 2 : 1, v);
}

static bool is_broken(const struct rule *r, double v)
{
	return r->when == BELOW ? v < r->limit : r->when == ABOVE ? v > r->limit : v >= r->limit;
}

static void add_reason(struct buf *b, const struct rule *r, double v, const struct evidence *e)
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
	if (r->metric == PARTIAL && *e->partial_why)
		buf_printf(b, ": %s", e->partial_why);
}

/* The verdict of one level, and every rule that speaks against a better one. */
static void judge(struct evidence *e, enum level level, const double values[METRICS])
{
	struct evidence_level *l = &e->levels[level];
	unsigned int told = 0;
	struct buf why = { 0 };

	l->verdict = VERDICT_SOLID;
	for (const struct rule *r = rules; r < rules + sizeof(rules) / sizeof(rules[0]); r++) {
		if (!(r->levels & 1u << level) || !is_broken(r, values[r->metric]))
			continue;
		if (r->verdict > l->verdict)
			l->verdict = r->verdict;
		/* Of two rules on one thing the stricter stands first. */
		if (!(told & 1u << r->metric))
			add_reason(&why, r, values[r->metric], e);
		told |= 1u << r->metric;
	}
	l->why = arena_strdup(&e->arena, buf_str(&why));
	buf_done(&why);
}

/* Why the recording is not complete: what its makers said, else what the file itself shows. */
static void judge_recording(struct evidence *e, const struct model *m,
			    const struct evidence_recording *recording)
{
	const char *why = recording ? recording->partial_why : NULL;

	e->partial = why || m->partial;
	if (m->partial && !(why && *why))
		why = m->notes.len ? m->notes.at[0] : "";
	e->partial_why = arena_strdup(&e->arena, why ? why : "");
}

/* "u" or "k" behind the name of an event that was sampled at one privilege level only. */
static const char *source_name(struct evidence *e, const struct model_event *source)
{
	const char *ring = source->exclude_kernel ? "u" : "k", *words = "";
	size_t len = strlen(source->name);
	bool open = len && source->name[len - 1] == '/';

	for (const char *at = source->name; (at = strpbrk(at, ":/")); at++)
		words = at + 1;
	if (source->exclude_user == source->exclude_kernel)
		return arena_strdup(&e->arena, source->name);
	/* perf puts it there itself: cycles:u, cpu_core/cycles/u, cycles:ukhppp. */
	if (words[strspn(words, "ukhpPGHSDWeI")] == 0 && strchr(words, *ring))
		return arena_strdup(&e->arena, source->name);
	return arena_printf(&e->arena, "%s%s%s", source->name, open ? "" : ":", ring);
}

static void name_source(struct evidence *e, const struct model *m, uint32_t event,
			const struct evidence_recording *recording)
{
	static const struct model_event none = { .name = "" };
	const struct model_event *source = event < m->events.len ? &m->events.at[event] : &none;

	e->source = source_name(e, source);
	e->rings = source->exclude_user == source->exclude_kernel ? "all" :
		   source->exclude_kernel			  ? "user" :
								    "kernel";
	e->is_timer = hotspots_is_timer(source->name);
	e->is_frequency = source->is_frequency;
	e->rate = source->rate;
	e->final_hz = recording && e->is_frequency ? recording->final_hz : 0;
}

static void name_others(struct evidence *e, const struct model *m, uint32_t event)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < m->events.len; i++) {
		const struct model_event *other = &m->events.at[i];

		if (i == event || !other->samples)
			continue;
		if (b.len)
			buf_puts(&b, ", ");
		str_count(&b, other->samples);
		buf_printf(&b, " of %s", other->name);
	}
	if (b.len)
		e->other_events = arena_printf(
			&e->arena, "only samples of %s are analysed; the recording also has %s",
			e->source, buf_str(&b));
	buf_done(&b);
}

static void add_rate(struct buf *b, const struct evidence *e)
{
	if (!e->rate)
		return;
	if (!e->is_frequency) {
		buf_puts(b, " every ");
		str_count(b, e->rate);
		buf_puts(b, e->is_timer ? " ns" : " events");
		return;
	}
	buf_printf(b, " %" PRIu64, e->rate);
	if (e->final_hz && e->final_hz < e->rate)
		buf_printf(b, " -> %" PRIu64, e->final_hz);
	buf_puts(b, " Hz");
}

static const char *make_line(struct evidence *e)
{
	struct buf b = { 0 };
	const char *line;

	buf_puts(&b, *e->source ? e->source : "unknown event");
	add_rate(&b, e);
	buf_puts(&b, ", ");
	str_count(&b, e->samples);
	buf_puts(&b, e->samples == 1 ? " sample, " : " samples, ");
	if (e->idle) {
		str_count(&b, e->idle);
		buf_puts(&b, " idle left out, ");
	}
	str_count(&b, e->lost);
	buf_puts(&b, " lost");
	if (e->lost)
		buf_printf(&b, " (%.*f %%)", e->lost_pct < 10 ? 2 : 1, e->lost_pct);
	if (e->throttled) {
		buf_puts(&b, ", throttled ");
		str_count(&b, e->throttled);
		buf_puts(&b, e->throttled == 1 ? " time" : " times");
	}
	buf_puts(&b, ", as observed (skid not corrected)");
	line = arena_strdup(&e->arena, buf_str(&b));
	buf_done(&b);
	return line;
}

static double timer_hz(const struct evidence *e)
{
	if (!e->is_timer || !e->rate)
		return __builtin_nan("");
	return e->is_frequency ? (double)e->rate : 1e9 / (double)e->rate;
}

/*
 * How much of the workload's CPU time the samples stand for. Only where the two must agree: all of
 * it was sampled, in nanoseconds, and what was lost or cut off does not explain a difference.
 */
static double covered_pct(const struct evidence *e, const struct hotspots *h,
			  const struct evidence_recording *recording)
{
	uint64_t cpu_ns = recording ? recording->workload_cpu_ns : 0;

	if (cpu_ns <= COVERED_LEAST_NS || !e->is_timer || !h->by_period || e->partial ||
	    e->lost_pct >= 1 || strcmp(e->rings, "all") != 0)
		return __builtin_nan("");
	return percent(e->weight, cpu_ns);
}

static void measure(const struct evidence *e, const struct hotspots *h,
		    const struct evidence_recording *recording, double values[METRICS])
{
	uint64_t with_line = 0;

	for (size_t i = 0; i < h->lines.len; i++)
		with_line += h->lines.at[i].self.weight;
	values[SAMPLES] = (double)e->samples;
	values[LOST_PCT] = e->lost_pct;
	values[UNNAMED_PCT] = e->unnamed_pct;
	values[LINELESS_PCT] = percent(e->weight - with_line, e->weight);
	values[PARTIAL] = e->partial;
	values[UNCORRECTED] = 1;
	values[TIMER_HZ] = timer_hz(e);
	values[COVERED_PCT] = covered_pct(e, h, recording);
	values[BROKEN_PCT] = percent(e->weight - e->started_weight, e->weight);
}

static void judge_all(struct evidence *e, const struct model_event *source,
		      const double values[METRICS])
{
	static const char *const names[LEVELS] = { "function", "line", "instruction", "call path" };
	struct evidence_level *path = &e->levels[LEVEL_CALL_PATH];

	for (enum level level = LEVEL_FUNCTION; level < LEVELS; level++) {
		e->levels[level] = (struct evidence_level){ .level = names[level], .why = "" };
		if (level != LEVEL_CALL_PATH || e->has_chains)
			judge(e, level, values);
	}
	e->verdict = e->levels[LEVEL_FUNCTION].verdict;
	if (e->has_chains)
		return;
	path->verdict = VERDICT_NOT_APPLICABLE;
	path->why = source && source->has_stack_copies ?
			    "copies of the stack were recorded, which are not unwound" :
			    "no call chains were recorded: they were not asked for";
}

void evidence_compute(struct evidence *e, const struct model *m, const struct hotspots *h,
		      const struct evidence_recording *recording)
{
	const struct model_event *source = h->event < m->events.len ? &m->events.at[h->event] :
								      NULL;
	double values[METRICS];
	uint64_t seen;

	*e = (struct evidence){
		.samples = h->all.samples,
		.idle = h->idle.samples,
		.lost = m->lost,
		.throttled = m->throttled,
		.unnamed = h->unnamed.samples,
		.kernel = h->kernel.samples,
		.weight = h->all.weight,
		.idle_weight = h->idle.weight,
		.unnamed_weight = h->unnamed.weight,
		.kernel_weight = h->kernel.weight,
		.started = h->started.samples,
		.started_weight = h->started.weight,
		.has_chains = source && source->has_chains && !source->has_stack_copies,
		.duration_ns = m->last_ns - m->first_ns,
	};
	if (__builtin_add_overflow(e->samples, e->lost, &seen))
		seen = UINT64_MAX;
	judge_recording(e, m, recording);
	e->lost_pct = percent(e->lost, seen);
	e->unnamed_pct = percent(e->unnamed_weight, e->weight);
	name_source(e, m, h->event, recording);
	measure(e, h, recording, values);
	judge_all(e, source, values);
	name_others(e, m, h->event);
	e->line = make_line(e);
}

void evidence_done(struct evidence *e)
{
	arena_done(&e->arena);
	*e = (struct evidence){ 0 };
}
