/* SPDX-License-Identifier: Apache-2.0 */
/* What an agent says of a capture, STARTED and FINISHED, as key-value text, and back. */
#include <limits.h>
#include <stdio.h>

#include "wire/job-text.h"
#include "wire/job.h"

enum { ATTR_MIN = 64, ATTR_MAX = 4096, EVENTS_MAX = 64, IDS_MAX = 1 << 20 };

static const char *const ends[] = { "exit", "time", "stop", "signal", "failure" };

/* CPUs times threads may be more than a frame takes. */
static size_t ids_sent(const struct job_started *s, const struct job_event *e)
{
	return s->events.len == 1 && e->ids.len > JOB_IDS_SENT ? JOB_IDS_SENT : e->ids.len;
}

void job_started_encode(const struct job_started *s, struct buf *out)
{
	kv_put_u64(out, "pid", s->pid);
	kv_put_u64(out, "perf_ns", s->perf_ns);
	kv_put_u64(out, "monotonic_ns", s->monotonic_ns);
	kv_put_u64(out, "realtime_ns", s->realtime_ns);
	kv_put(out, "clockid", s->clockid);
	kv_put_u64(out, "ring_bytes", s->ring_bytes);
	kv_put_u64(out, "ring_count", s->rings);
	for (const struct job_event *e = s->events.at; e < s->events.at + s->events.len; e++) {
		kv_put(out, "event", e->name);
		job_text_put_hex(out, "attr", e->attr.at, e->attr.len);
		for (size_t i = 0; i < ids_sent(s, e); i++)
			kv_put_u64(out, "id", e->ids.at[i]);
	}
}

/* An event's own lines stand behind its name. */
static bool take_event_line(struct job_started *s, const struct kv_item *item, struct err *err)
{
	struct job_event *e = s->events.len ? &s->events.at[s->events.len - 1] : NULL;
	uint64_t id;

	if (!strcmp(item->key, "event")) {
		if (s->events.len >= EVENTS_MAX)
			return err_set(err, ERR_FORMAT, "started: more than %d events", EVENTS_MAX);
		e = vec_push(&s->events);
		snprintf(e->name, sizeof(e->name), "%s", item->value);
		return true;
	}
	if (strcmp(item->key, "attr") && strcmp(item->key, "id"))
		return true;
	if (!e)
		return err_set(err, ERR_FORMAT, "started: %s before any event", item->key);
	if (!strcmp(item->key, "attr")) {
		if (e->attr.len || item->value_len > 2 * ATTR_MAX ||
		    !job_text_hex(&e->attr, str_of(item->value)) || e->attr.len < ATTR_MIN)
			return err_set(err, ERR_FORMAT, "started: bad attribute of event %s",
				       e->name);
		return true;
	}
	if (e->ids.len >= IDS_MAX || !str_u64(str_of(item->value), &id))
		return err_set(err, ERR_FORMAT, "started: bad id of event %s", e->name);
	vec_add(&e->ids, id);
	return true;
}

static bool take_started(struct job_started *s, const struct kv *kv, struct err *err)
{
	uint64_t rings;

	if (!job_text_u64(&s->pid, kv, "started", "pid", INT_MAX, err) ||
	    !job_text_u64(&s->perf_ns, kv, "started", "perf_ns", UINT64_MAX, err) ||
	    !job_text_u64(&s->monotonic_ns, kv, "started", "monotonic_ns", UINT64_MAX, err) ||
	    !job_text_u64(&s->realtime_ns, kv, "started", "realtime_ns", UINT64_MAX, err) ||
	    !job_text_u64(&s->ring_bytes, kv, "started", "ring_bytes", UINT64_MAX, err) ||
	    !job_text_u64(&rings, kv, "started", "ring_count", UINT32_MAX, err))
		return false;
	s->rings = (uint32_t)rings;
	snprintf(s->clockid, sizeof(s->clockid), "%s", kv_get(kv, "clockid"));
	for (size_t i = 0; i < kv->items.len; i++)
		if (!take_event_line(s, &kv->items.at[i], err))
			return false;
	for (size_t i = 0; i < s->events.len; i++)
		if (!s->events.at[i].attr.len)
			return err_set(err, ERR_FORMAT, "started: event %s has no attribute",
				       s->events.at[i].name);
	if (!s->events.len)
		return err_set(err, ERR_FORMAT, "started: no event");
	return true;
}

bool job_started_decode(struct job_started *s, struct str body, struct err *err)
{
	struct job_started got = { 0 };
	struct kv kv;
	bool ok;

	kv_parse(&kv, body);
	ok = take_started(&got, &kv, err);
	kv_done(&kv);
	if (ok)
		*s = got;
	else
		job_started_done(&got);
	return ok;
}

void job_started_done(struct job_started *s)
{
	for (size_t i = 0; i < s->events.len; i++) {
		buf_done(&s->events.at[i].attr);
		vec_done(&s->events.at[i].ids);
	}
	vec_done(&s->events);
}

void job_finished_encode(const struct job_finished *f, struct buf *out)
{
	kv_put(out, "end", ends[f->end]);
	kv_put_u64(out, "has_status", f->has_status);
	kv_put_u64(out, "wait_status", (uint64_t)(uint32_t)f->wait_status);
	kv_put_u64(out, "wall_ns", f->wall_ns);
	kv_put_u64(out, "agent_cpu_ns", f->agent_cpu_ns);
	kv_put_u64(out, "workload_cpu_ns", f->workload_cpu_ns);
	kv_put_u64(out, "lost", f->lost);
	kv_put_u64(out, "throttled", f->throttled);
	kv_put_u64(out, "data_bytes", f->data_bytes);
	kv_put_u64(out, "wakeups", f->wakeups);
	kv_put_u64(out, "final_frequency_hz", f->final_frequency_hz);
}

static bool take_finished(struct job_finished *f, const struct kv *kv, struct err *err)
{
	uint64_t end, has_status, status;

	if (!job_text_word(&end, kv, "finished", "end", ends, 5, err) ||
	    !job_text_u64(&has_status, kv, "finished", "has_status", 1, err) ||
	    !job_text_u64(&status, kv, "finished", "wait_status", INT_MAX, err) ||
	    !job_text_u64(&f->wall_ns, kv, "finished", "wall_ns", UINT64_MAX, err) ||
	    !job_text_u64(&f->agent_cpu_ns, kv, "finished", "agent_cpu_ns", UINT64_MAX, err) ||
	    !job_text_u64(&f->workload_cpu_ns, kv, "finished", "workload_cpu_ns", UINT64_MAX,
			  err) ||
	    !job_text_u64(&f->lost, kv, "finished", "lost", UINT64_MAX, err) ||
	    !job_text_u64(&f->throttled, kv, "finished", "throttled", UINT64_MAX, err) ||
	    !job_text_u64(&f->data_bytes, kv, "finished", "data_bytes", UINT64_MAX, err) ||
	    !job_text_u64(&f->wakeups, kv, "finished", "wakeups", UINT64_MAX, err) ||
	    !job_text_u64(&f->final_frequency_hz, kv, "finished", "final_frequency_hz", UINT64_MAX,
			  err))
		return false;
	f->end = (enum job_end)end;
	f->has_status = has_status;
	f->wait_status = (int)status;
	return true;
}

bool job_finished_decode(struct job_finished *f, struct str body, struct err *err)
{
	struct job_finished got = { 0 };
	struct kv kv;
	bool ok;

	kv_parse(&kv, body);
	ok = take_finished(&got, &kv, err);
	kv_done(&kv);
	if (ok)
		*f = got;
	return ok;
}
