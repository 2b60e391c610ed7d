/* SPDX-License-Identifier: Apache-2.0 */
/* What run.db says of the run itself: command, target, cost, evidence, notes, stages. */
#include "base/os.h"
#include "store/store-db.h"

static struct str view(const struct buf *b)
{
	return (struct str){ b->at ? (const char *)b->at : "", b->len };
}

/* A number as a number, so that queries can calculate with it. */
static void fill_pair(struct filler *f, const char *key, const char *value)
{
	uint64_t number;

	fill_text(f, key);
	if (value[0] >= '0' && value[0] <= '9' && (value[0] != '0' || !value[1]) &&
	    str_u64(str_of(value), &number) && number <= INT64_MAX)
		fill_u64(f, number);
	else
		fill_text(f, value);
	fill_row(f);
}

/* Text that stays text even when it looks like a number. */
static void fill_words(struct filler *f, const char *key, const char *value)
{
	fill_text(f, key);
	fill_text(f, value ? value : "");
	fill_row(f);
}

static void fill_number(struct filler *f, const char *key, uint64_t value)
{
	fill_text(f, key);
	fill_u64(f, value);
	fill_row(f);
}

/* All of a key-value text, with a prefix in front of the keys. */
static void fill_kv(struct filler *f, const char *prefix, struct str text)
{
	struct kv kv;

	kv_parse(&kv, text);
	for (size_t i = 0; i < kv.items.len; i++) {
		char_auto key = NULL;

		/* One triple per second: of use for conversion of times, which is done by now. */
		if (!strcmp(kv.items.at[i].key, "clock"))
			continue;
		key = mem_printf("%s%s", prefix, kv.items.at[i].key);
		fill_pair(f, key, kv.items.at[i].value);
	}
	kv_done(&kv);
}

/* One argument as a shell would need it. */
static void quote(struct buf *b, const char *arg)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789_@%+=:,./-";

	if (arg[0] && !arg[strspn(arg, plain)]) {
		buf_puts(b, arg);
		return;
	}
	buf_u8(b, '\'');
	for (; *arg; arg++) {
		if (*arg == '\'')
			buf_puts(b, "'\\''");
		else
			buf_u8(b, (uint8_t)*arg);
	}
	buf_u8(b, '\'');
}

/* What was measured, in words: the command, a process, the machine, or the file. */
static void put_command(struct buf *b, const struct store_input *in)
{
	const struct session *s = in->session;
	const char *scope;
	struct kv kv;

	for (char **arg = s ? s->argv : NULL; arg && *arg; arg++) {
		if (b->len)
			buf_u8(b, ' ');
		quote(b, *arg);
	}
	if (b->len || !s) {
		if (!b->len)
			buf_puts(b, in->model->cmdline ? in->model->cmdline : "");
		return;
	}
	kv_parse(&kv, view(&s->options));
	scope = kv_get(&kv, "scope");
	if (!strcmp(scope, "system"))
		buf_puts(b, "the whole machine");
	else if (s->pid)
		buf_printf(b, "process %llu", (unsigned long long)s->pid);
	else
		buf_puts(b, in->model->cmdline ? in->model->cmdline : "");
	kv_done(&kv);
}

static const char *state_name(enum session_state state)
{
	switch (state) {
	case SESSION_RECORDING:
		return "recording";
	case SESSION_COMPLETE:
		return "complete";
	case SESSION_PARTIAL:
		return "partial";
	case SESSION_FAILED:
		break;
	}
	return "failed";
}

static void fill_session(struct filler *f, const struct session *s)
{
	fill_words(f, "run", s->id);
	fill_words(f, "recipe", s->recipe);
	fill_words(f, "state", state_name(s->state));
	fill_words(f, "state_why", s->state_why);
	fill_number(f, "created_realtime_ns", s->created_realtime_ns);
	if (s->pid)
		fill_number(f, "pid", s->pid);
	fill_kv(f, "option.", view(&s->options));
	fill_kv(f, "capture.", view(&s->finished));
}

static bool put_meta(struct store *s, const struct store_input *in, struct err *err)
{
	const struct model *m = in->model;
	buf_auto command = { 0 };
	struct filler f;

	if (!filler_init(&f, s, "t_meta", 2, err))
		return false;
	put_command(&command, in);
	fill_number(&f, "schema", STORE_SCHEMA);
	fill_words(&f, "command", buf_str(&command));
	if (in->session)
		fill_session(&f, in->session);
	if (in->source_name)
		fill_words(&f, "source_name", in->source_name);
	fill_number(&f, "first_ns", m->first_ns);
	fill_number(&f, "last_ns", m->last_ns);
	fill_number(&f, "bucket_ns", m->bucket_ns);
	fill_number(&f, "chain_samples", m->chain_samples);
	fill_number(&f, "chain_frames", m->chain_frames);
	fill_number(&f, "unmapped_samples", m->unmapped);
	fill_number(&f, "records", m->records);
	fill_number(&f, "unknown_records", m->unknown_records);
	fill_number(&f, "bad_records", m->bad_records);
	return filler_done(&f, err);
}

static void fill_known(struct filler *f, const char *key, const char *value)
{
	if (value && value[0])
		fill_words(f, key, value);
}

static bool put_target(struct store *s, const struct store_input *in, struct err *err)
{
	const struct model *m = in->model;
	struct filler f;

	if (!filler_init(&f, s, "t_target", 2, err))
		return false;
	/* The recording's own words first; the agent's look at the machine is richer and newer. */
	fill_known(&f, "hostname", m->hostname);
	fill_known(&f, "kernel", m->kernel);
	fill_known(&f, "arch", m->arch);
	fill_known(&f, "cpuid", m->cpuid);
	if (in->session)
		fill_kv(&f, "", view(&in->session->target));
	return filler_done(&f, err);
}

static void fill_rate(struct filler *f, const struct evidence *e)
{
	if (e->is_frequency) {
		fill_u64(f, e->rate);
		fill_text(f, NULL);
	} else {
		fill_text(f, NULL);
		fill_u64(f, e->rate);
	}
}

static void fill_started(struct filler *f, const struct evidence *e, uint64_t count)
{
	if (e->has_chains)
		fill_u64(f, count);
	else
		fill_text(f, NULL);
}

static bool put_evidence(struct store *s, const struct store_input *in, struct err *err)
{
	const struct evidence *e = in->evidence;
	struct filler f;

	if (!filler_init(&f, s, "t_evidence", 26, err))
		return false;
	fill_text(&f, verdict_name(e->verdict));
	fill_text(&f, e->levels[0].why ? e->levels[0].why : "");
	fill_text(&f, e->line ? e->line : "");
	fill_u64(&f, e->samples);
	fill_u64(&f, e->idle);
	fill_u64(&f, e->lost);
	fill_real(&f, e->lost_pct);
	fill_u64(&f, e->throttled);
	fill_u64(&f, e->unnamed);
	fill_real(&f, e->unnamed_pct);
	fill_u64(&f, e->kernel);
	fill_text(&f, e->source);
	fill_rate(&f, e);
	fill_u64(&f, e->duration_ns);
	fill_u64(&f, e->partial);
	fill_u64(&f, in->hotspots->chain_samples);
	fill_u64(&f, e->weight);
	fill_u64(&f, e->idle_weight);
	fill_u64(&f, e->unnamed_weight);
	fill_u64(&f, e->kernel_weight);
	if (e->final_hz)
		fill_u64(&f, e->final_hz);
	else
		fill_text(&f, NULL);
	fill_text(&f, e->partial_why ? e->partial_why : "");
	fill_text(&f, e->rings);
	fill_started(&f, e, e->started);
	fill_started(&f, e, e->started_weight);
	fill_row(&f);
	return filler_done(&f, err);
}

static bool put_levels(struct store *s, const struct evidence *e, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_levels", 3, err))
		return false;
	for (size_t i = 0; i < sizeof(e->levels) / sizeof(e->levels[0]); i++) {
		fill_text(&f, e->levels[i].level);
		fill_text(&f, verdict_name(e->levels[i].verdict));
		fill_text(&f, e->levels[i].why ? e->levels[i].why : "");
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static bool put_notes(struct store *s, const struct store_input *in, struct err *err)
{
	struct filler f;
	struct kv kv;

	if (!filler_init(&f, s, "t_notes", 2, err))
		return false;
	kv_parse(&kv, in->session ? view(&in->session->notes) : str_of(""));
	for (size_t i = 0; i < kv.items.len; i++)
		fill_words(&f, kv.items.at[i].key, kv.items.at[i].value);
	kv_done(&kv);
	if (in->evidence->other_events)
		fill_words(&f, "OTHER_EVENTS", in->evidence->other_events);
	for (size_t i = 0; i < in->model->notes.len; i++)
		fill_words(&f, "RECORDING", in->model->notes.at[i]);
	return filler_done(&f, err);
}

static bool put_stages(struct store *s, const struct session *session, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_stages", 2, err))
		return false;
	if (session)
		fill_kv(&f, "", view(&session->stages));
	return filler_done(&f, err);
}

bool store_put_meta(struct store *s, const struct store_input *in, struct err *err)
{
	return put_meta(s, in, err) && put_target(s, in, err) && put_evidence(s, in, err) &&
	       put_levels(s, in->evidence, err) && put_notes(s, in, err) &&
	       put_stages(s, in->session, err);
}
