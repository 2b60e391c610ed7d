/* SPDX-License-Identifier: Apache-2.0 */
/* Options to a capture job. */
#include "front/cli/job-args.h"

enum { DEFAULT_HZ = 3997, DEFAULT_STACK = 8192, RING_TOTAL_MB = 64 };

static bool number(const struct args *args, enum cli_option o, uint64_t least, uint64_t most,
		   uint64_t *out, struct err *err)
{
	uint64_t v;

	if (!args->value[o])
		return true;
	if (!str_u64(str_of(args->value[o]), &v) || v < least || v > most)
		return err_set(err, ERR_USAGE,
			       "--%s wants a whole number from %llu to %llu, not %s",
			       cli_options[o].name, (unsigned long long)least,
			       (unsigned long long)most, args->value[o]);
	*out = v;
	return true;
}

static bool scope(struct job *job, const struct args *args, struct err *err)
{
	int scopes = (args->value[OPT_PID] != NULL) + (args->value[OPT_SYSTEM] != NULL);

	if (args->rest && args->rest[0]) {
		if (scopes) {
			err_set(err, ERR_USAGE, "a command and --%s cannot go together",
				args->value[OPT_PID] ? "pid" : "system");
			return err_hint(err, "leave one of them out");
		}
		if (!args->rest[0][0])
			return err_set(err, ERR_USAGE, "the command is an empty word");
		job->scope = JOB_LAUNCH;
		job->argv = args->rest;
		return true;
	}
	if (scopes != 1) {
		err_set(err, ERR_USAGE,
			scopes ? "--pid and --system cannot go together" :
				 "nothing to record: a command, --pid or --system is missing");
		return err_hint(err, "culprit run RECIPE -- COMMAND");
	}
	job->scope = args->value[OPT_PID] ? JOB_PID : JOB_SYSTEM;
	return number(args, OPT_PID, 1, 1u << 22, &job->pid, err);
}

/* "cycles:u" and the like: the part behind the colon says which privilege levels. */
static bool event(struct job *job, const struct args *args, struct arena *a, struct err *err)
{
	static const char *const names[] = { "auto", "cycles", "cpu-clock", "task-clock", NULL };
	const char *text = args->value[OPT_EVENT] ? args->value[OPT_EVENT] : "auto";
	const char *colon = strchr(text, ':');
	size_t len = colon ? (size_t)(colon - text) : strlen(text);
	const char *near;
	uint64_t raw;

	job->event = arena_strndup(a, text, len);
	if (colon && !strcmp(colon, ":u"))
		job->rings = JOB_RINGS_USER;
	else if (colon && !strcmp(colon, ":k"))
		job->rings = JOB_RINGS_KERNEL;
	else if (colon)
		return err_set(err, ERR_USAGE, "%s: only :u and :k are known behind an event",
			       text);
	for (const char *const *n = names; *n; n++)
		if (!strcmp(job->event, *n))
			return true;
	if (job->event[0] == 'r' && str_hex(str_of(job->event + 1), &raw))
		return true;
	near = cli_nearest(job->event, names);
	err_set(err, ERR_USAGE, "there is no event %s", job->event);
	if (near)
		return err_hint(err, "did you mean %s? Raw events are written r1A (hexadecimal)",
				near);
	return err_hint(err, "cycles, cpu-clock, task-clock, or a raw event such as r1A");
}

static bool chain(struct job *job, const struct args *args, struct err *err)
{
	const char *how = args->value[OPT_CALL_GRAPH];
	uint64_t bytes = DEFAULT_STACK;

	job->chain = JOB_CHAIN_FP;
	if (!how || !strcmp(how, "fp"))
		return true;
	if (!strcmp(how, "none")) {
		job->chain = JOB_CHAIN_NONE;
		return true;
	}
	if (!str_starts(how, "dwarf") || (how[5] && how[5] != ',') ||
	    (how[5] && !str_u64(str_of(how + 6), &bytes)))
		return err_set(err, ERR_USAGE,
			       "--call-graph wants fp, dwarf[,BYTES] or none, not %s", how);
	/* The size field of a record has 16 bits; the kernel wants a multiple of 8. */
	if (bytes < 256 || bytes > 65528 - 1024 || bytes % 8)
		return err_set(
			err, ERR_USAGE,
			"--call-graph dwarf,%llu: a multiple of 8 from 256 to 64504 is needed",
			(unsigned long long)bytes);
	job->chain = JOB_CHAIN_DWARF;
	job->stack_bytes = (uint32_t)bytes;
	return true;
}

static bool rates(struct job *job, const struct args *args, struct err *err)
{
	const char *overhead = args->value[OPT_MAX_OVERHEAD];
	double pct = 1;

	if (args->value[OPT_FREQUENCY] && args->value[OPT_PERIOD])
		return err_set(err, ERR_USAGE, "-F and -c cannot go together");
	if (!args->value[OPT_PERIOD])
		job->frequency_hz = DEFAULT_HZ;
	if (!number(args, OPT_FREQUENCY, 1, 1000000, &job->frequency_hz, err) ||
	    !number(args, OPT_PERIOD, 1, 1ull << 62, &job->period, err))
		return false;
	if (overhead && (!str_double(str_of(overhead), &pct) || !(pct >= 0.1 && pct <= 100)))
		return err_set(err, ERR_USAGE,
			       "--max-overhead wants percent from 0.1 to 100, not %s", overhead);
	job->max_overhead_permille = (uint32_t)(pct * 10 + 0.5);
	if (args->value[OPT_FOR] &&
	    (!str_duration_ns(str_of(args->value[OPT_FOR]), &job->for_ns) || !job->for_ns))
		return err_set(err, ERR_USAGE,
			       "--for wants a time such as 10s, 500ms or 2m, not %s",
			       args->value[OPT_FOR]);
	return true;
}

bool job_from_args(struct job *job, const struct args *args, struct arena *a, struct err *err)
{
	*job = (struct job){ .ring_total_bytes = (uint64_t)RING_TOTAL_MB << 20, .stdio = true };
	return scope(job, args, err) && event(job, args, a, err) && chain(job, args, err) &&
	       rates(job, args, err);
}

void job_put_options(const struct job *job, const struct args *args, struct buf *out)
{
	static const char *const scopes[] = { "launch", "pid", "system" };
	static const char *const chains[] = { "none", "fp", "dwarf" };

	kv_put(out, "scope", scopes[job->scope]);
	kv_put(out, "event", args->value[OPT_EVENT] ? args->value[OPT_EVENT] : "auto");
	if (job->frequency_hz)
		kv_put_u64(out, "frequency_hz", job->frequency_hz);
	if (job->period)
		kv_put_u64(out, "period", job->period);
	kv_put(out, "call_graph", chains[job->chain]);
	if (job->stack_bytes)
		kv_put_u64(out, "stack_bytes", job->stack_bytes);
	if (job->for_ns)
		kv_put_u64(out, "for_ns", job->for_ns);
	kv_put_u64(out, "max_overhead_permille", job->max_overhead_permille);
	for (size_t i = 0; i < args->settings.len; i++)
		kv_put(out, "o", args->settings.at[i]);
}
