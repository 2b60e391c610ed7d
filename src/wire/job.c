/* SPDX-License-Identifier: Apache-2.0 */
/* A capture job as key-value text, and back. */
#include <limits.h>

#include "wire/job-text.h"
#include "wire/job.h"

static const char *const scopes[] = { "launch", "pid", "system" };
static const char *const rings[] = { "all", "user", "kernel" };
static const char *const chains[] = { "none", "fp", "dwarf" };

enum { ARGS_MAX = 1 << 20 };

void job_encode(const struct job *job, struct buf *out)
{
	kv_put(out, "scope", scopes[job->scope]);
	for (char **arg = job->argv; arg && *arg; arg++)
		kv_put(out, "arg", *arg);
	kv_put_u64(out, "pid", job->pid);
	kv_put(out, "event", job->event);
	kv_put_u64(out, "frequency_hz", job->frequency_hz);
	kv_put_u64(out, "period", job->period);
	kv_put(out, "rings", rings[job->rings]);
	kv_put(out, "chain", chains[job->chain]);
	kv_put_u64(out, "stack_bytes", job->stack_bytes);
	kv_put_u64(out, "for_ns", job->for_ns);
	kv_put_u64(out, "ring_total_bytes", job->ring_total_bytes);
	kv_put_u64(out, "max_overhead_permille", job->max_overhead_permille);
	kv_put_u64(out, "compress", job->compress);
	kv_put_u64(out, "stdio", job->stdio);
}

static bool take_argv(char ***argv, const struct kv *kv, struct arena *a, struct err *err)
{
	size_t n = 0;

	for (size_t i = 0; i < kv->items.len; i++)
		n += !strcmp(kv->items.at[i].key, "arg");
	if (n > ARGS_MAX)
		return err_set(err, ERR_FORMAT, "job: %zu arguments", n);
	*argv = arena_alloc(a, (n + 1) * sizeof(**argv));
	n = 0;
	for (size_t i = 0; i < kv->items.len; i++)
		if (!strcmp(kv->items.at[i].key, "arg"))
			(*argv)[n++] = arena_strdup(a, kv->items.at[i].value);
	return true;
}

/* What must hold between the fields. */
static bool check(const struct job *job, struct err *err)
{
	if (job->scope == JOB_LAUNCH && (!job->argv[0] || !job->argv[0][0]))
		return err_set(err, ERR_FORMAT, "job: launch without a command");
	if (job->scope == JOB_PID && !job->pid)
		return err_set(err, ERR_FORMAT, "job: attach without a pid");
	if (!job->event[0])
		return err_set(err, ERR_FORMAT, "job: no event");
	if (!job->frequency_hz == !job->period)
		return err_set(err, ERR_FORMAT, "job: needs a frequency or a period, not both");
	if (job->stack_bytes % 8 || (job->chain == JOB_CHAIN_DWARF && !job->stack_bytes))
		return err_set(err, ERR_FORMAT, "job: a stack dump of %u bytes", job->stack_bytes);
	if (!job->ring_total_bytes)
		return err_set(err, ERR_FORMAT, "job: no memory for rings");
	return true;
}

static bool take(struct job *job, const struct kv *kv, struct arena *a, struct err *err)
{
	uint64_t scope, ring, chain, stack, overhead, compress, stdio;

	if (!job_text_word(&scope, kv, "job", "scope", scopes, 3, err) ||
	    !job_text_word(&ring, kv, "job", "rings", rings, 3, err) ||
	    !job_text_word(&chain, kv, "job", "chain", chains, 3, err) ||
	    !job_text_u64(&job->pid, kv, "job", "pid", INT_MAX, err) ||
	    !job_text_u64(&job->frequency_hz, kv, "job", "frequency_hz", INT_MAX, err) ||
	    !job_text_u64(&job->period, kv, "job", "period", INT64_MAX, err) ||
	    /* The kernel takes the size as 16 bits. */
	    !job_text_u64(&stack, kv, "job", "stack_bytes", 65528, err) ||
	    !job_text_u64(&job->for_ns, kv, "job", "for_ns", INT64_MAX, err) ||
	    !job_text_u64(&job->ring_total_bytes, kv, "job", "ring_total_bytes", INT64_MAX, err) ||
	    !job_text_u64(&overhead, kv, "job", "max_overhead_permille", 1000, err) ||
	    !job_text_u64(&compress, kv, "job", "compress", 1, err) ||
	    !job_text_u64(&stdio, kv, "job", "stdio", 1, err) || !take_argv(&job->argv, kv, a, err))
		return false;
	job->scope = (enum job_scope)scope;
	job->rings = (enum job_rings)ring;
	job->chain = (enum job_chain)chain;
	job->stack_bytes = (uint32_t)stack;
	job->max_overhead_permille = (uint32_t)overhead;
	job->compress = compress;
	job->stdio = stdio;
	job->event = arena_strdup(a, kv_get(kv, "event"));
	return check(job, err);
}

bool job_decode(struct job *job, struct str body, struct arena *a, struct err *err)
{
	struct job got = { 0 };
	struct kv kv;
	bool ok;

	kv_parse(&kv, body);
	ok = take(&got, &kv, a, err);
	kv_done(&kv);
	if (ok)
		*job = got;
	return ok;
}
