/* SPDX-License-Identifier: Apache-2.0 */
/* Settles by trial which event is sampled and with which attribute. */
#include "capture/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"

enum {
	LOST_COUNT = 1 << 4,	       /* PERF_FORMAT_LOST, which kernels know since 6.0 */
	RING_LEAST_BYTES = 256 * 1024, /* bursts of mappings come at any rate */
};

/* x86: all but the segment registers that the kernel does not give; arm64: x0-x30, sp, pc. */
#if defined(__aarch64__)
static const uint64_t user_regs = (1ull << 33) - 1;
#else
static const uint64_t user_regs = 0xff0fff;
#endif

void notes_add(struct notes *n, const char *id, const char *fmt, ...)
{
	struct note *note = vec_push(&n->list);
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	note->id = arena_strdup(&n->arena, id);
	note->text = arena_strdup(&n->arena, buf_str(&text));
	buf_done(&text);
}

void notes_done(struct notes *n)
{
	vec_done(&n->list);
	arena_done(&n->arena);
}

/* One try: the event, where it is to be tried, and what the answer was. */
struct trial {
	const struct opener *opener;
	int pid, cpu;
	int errnum;
};

static bool opens(struct trial *t, const struct perf_event_attr *attr)
{
	int fd = t->opener->open(t->opener->ctx, attr, t->pid, t->cpu, -1, 0);

	t->errnum = fd < 0 ? -fd : 0;
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool is_denied(int errnum)
{
	return errnum == EPERM || errnum == EACCES;
}

/* What older kernels do not know is given up in this order. */
static void relax(struct perf_event_attr *attr, int step)
{
	if (step >= 1)
		attr->exclude_guest = 0;
	if (step >= 2)
		attr->read_format = 0;
	if (step >= 3)
		attr->build_id = 0;
	if (step >= 4)
		attr->comm_exec = 0;
}

/* The first form that opens; the error of the plainest one otherwise. */
static bool settle(struct trial *t, struct perf_event_attr *attr, unsigned precise_most)
{
	enum { STEPS = 5 };

	for (unsigned precise = precise_most + 1; precise-- > 0;) {
		for (int step = 0; step < STEPS; step++) {
			struct perf_event_attr form = *attr;

			form.precise_ip = precise & 3;
			relax(&form, step);
			if (opens(t, &form)) {
				*attr = form;
				return true;
			}
			if (is_denied(t->errnum) || t->errnum == ENOSYS || t->errnum == EMFILE)
				return false;
			/* No other form of an event that does not exist. */
			if (t->errnum == ENOENT)
				break;
		}
	}
	return false;
}

static struct perf_event_attr base_attr(const struct job *job)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_PERIOD,
		.read_format = LOST_COUNT,
		.disabled = 1,
		.inherit = job->scope != JOB_SYSTEM,
		.enable_on_exec = job->scope == JOB_LAUNCH,
		.exclude_user = job->rings == JOB_RINGS_KERNEL,
		.exclude_kernel = job->rings == JOB_RINGS_USER,
		.exclude_hv = job->rings != JOB_RINGS_ALL,
		.exclude_guest = 1,
		/* Newer kernels do not let a user who may not sample them into the chains. */
		.exclude_callchain_kernel = job->rings == JOB_RINGS_USER,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.build_id = 1,
		.sample_id_all = 1,
		/* With watermark set and zero bytes the kernel wakes us at half a ring. */
		.watermark = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	if (job->chain != JOB_CHAIN_NONE)
		a.sample_type |= PERF_SAMPLE_CALLCHAIN;
	if (job->chain == JOB_CHAIN_DWARF) {
		a.sample_type |= PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER;
		a.sample_regs_user = user_regs;
		a.sample_stack_user = job->stack_bytes;
		a.exclude_callchain_user = 1;
	}
	return a;
}

/* Type and config of an event's name; false when there is no such event. */
static bool named_event(const char *name, struct perf_event_attr *attr, bool *is_timer)
{
	uint64_t raw;

	*is_timer = false;
	attr->type = PERF_TYPE_SOFTWARE;
	if (!strcmp(name, "cpu-clock")) {
		attr->config = PERF_COUNT_SW_CPU_CLOCK;
		*is_timer = true;
	} else if (!strcmp(name, "task-clock")) {
		attr->config = PERF_COUNT_SW_TASK_CLOCK;
		*is_timer = true;
	} else if (!strcmp(name, "cycles")) {
		attr->type = PERF_TYPE_HARDWARE;
		attr->config = PERF_COUNT_HW_CPU_CYCLES;
	} else if (name[0] == 'r' && str_hex(str_of(name + 1), &raw)) {
		attr->type = PERF_TYPE_RAW;
		attr->config = raw;
	} else {
		return false;
	}
	return true;
}

static void set_rate(struct plan *p, const struct job *job, struct notes *notes)
{
	const struct rootfs here = { "" };
	long long most =
		rootfs_number(&here, "/proc/sys/kernel/perf_event_max_sample_rate", INT64_MAX);

	if (job->period) {
		p->attr.sample_period = job->period;
		return;
	}
	p->frequency_hz = job->frequency_hz;
	if (most > 0 && p->frequency_hz > (uint64_t)most) {
		p->frequency_hz = (uint64_t)most;
		notes_add(
			notes, "RATE_LIMITED",
			"sampling at %lld Hz instead of %llu Hz: kernel.perf_event_max_sample_rate allows no more",
			most, (unsigned long long)job->frequency_hz);
	}
	p->attr.freq = 1;
	p->attr.sample_freq = p->frequency_hz;
}

/* The kernel holds frequencies to its limit, but not the periods of its timers. */
static void limit_timer(struct plan *p, const struct job *job, struct notes *notes)
{
	const struct rootfs here = { "" };
	long long most = rootfs_number(&here, "/proc/sys/kernel/perf_event_max_sample_rate", 0);
	uint64_t least_ns = most > 0 ? 1000000000u / (uint64_t)most : 0;

	if (!p->is_timer || !job->period || job->period >= least_ns)
		return;
	p->attr.sample_period = least_ns;
	notes_add(
		notes, "RATE_LIMITED",
		"one sample every %llu ns instead of %llu ns: kernel.perf_event_max_sample_rate allows no more than %lld a second",
		(unsigned long long)least_ns, (unsigned long long)job->period, most);
}

static void set_sizes(struct plan *p, const struct job *job)
{
	/* Header and the fixed fields, then a chain: 127 frames and marks at most, far fewer mostly. */
	p->record_bytes = 64;
	p->record_bytes_most = 4096 + 256; /* an MMAP2 with the longest path */
	if (job->chain != JOB_CHAIN_NONE)
		p->record_bytes += 512;
	if (job->chain == JOB_CHAIN_DWARF) {
		p->record_bytes += job->stack_bytes + 40 * 8;
		p->record_bytes_most = 65536;
	}
}

/* Tries the event as asked, then without the kernel's code where that is what is not allowed. */
static bool try_event(struct plan *p, const char *name, const struct job *job, struct trial *trial)
{
	bool all = job->rings == JOB_RINGS_ALL;
	unsigned precise = 0;

	if (!named_event(name, &p->attr, &p->is_timer)) {
		trial->errnum = ENOENT;
		return false;
	}
#if defined(__x86_64__)
	/* The hardware notes the address itself where it can: less skid. */
	if (p->attr.type != PERF_TYPE_SOFTWARE)
		precise = 3;
#endif
	snprintf(p->name, sizeof(p->name), "%s%s", name,
		 job->rings == JOB_RINGS_USER	? ":u" :
		 job->rings == JOB_RINGS_KERNEL ? ":k" :
						  "");
	if (settle(trial, &p->attr, precise))
		return true;
	if (!all || !is_denied(trial->errnum))
		return false;
	p->attr.exclude_kernel = 1;
	p->attr.exclude_callchain_kernel = 1;
	p->attr.exclude_hv = 1;
	snprintf(p->name, sizeof(p->name), "%s:u", name);
	return settle(trial, &p->attr, precise);
}

static void note_kernel_left_out(const struct plan *p, const struct job *job,
				 const struct target *t, struct notes *notes)
{
	if (job->rings == JOB_RINGS_ALL && p->attr.exclude_kernel)
		notes_add(
			notes, "KERNEL_EXCLUDED",
			"kernel code is left out: kernel.perf_event_paranoid is %lld; to include it: sudo sysctl kernel.perf_event_paranoid=1, or run as root",
			(long long)t->paranoid);
}

static bool plan_auto(struct plan *p, const struct job *job, const struct target *t,
		      struct trial *trial, struct notes *notes)
{
	struct perf_event_attr fresh = p->attr;
	int why = t->trials.cycles ? t->trials.cycles : t->trials.sampling;

	if (target_has_cycles(t) && try_event(p, "cycles", job, trial)) {
		notes_add(notes, "EVENT_SOURCE", "sampling hardware cycles");
		return true;
	}
	if (target_has_cycles(t))
		why = trial->errnum;
	p->attr = fresh;
	if (!try_event(p, "cpu-clock", job, trial))
		return false;
	notes_add(notes, "EVENT_SOURCE",
		  "sampled by the timer (cpu-clock), since hardware cycles cannot be had here: %s",
		  why == ENODATA ? "the counter stands still" :
		  why == ENOENT	 ? "the machine shows no PMU" :
				   strerror(why));
	return true;
}

bool plan_make(struct plan *p, const struct job *job, const struct target *t,
	       const struct opener *o, struct notes *notes, struct err *err)
{
	bool system = job->scope == JOB_SYSTEM, timer;
	struct perf_event_attr probe;
	struct cpu_list online = { 0 };
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct trial trial = { .opener = o, .pid = system ? -1 : 0, .cpu = -1 };
	bool is_auto = !strcmp(job->event, "auto"), ok;

	if (!is_auto && !named_event(job->event, &probe, &timer)) {
		err_set(err, ERR_USAGE, "unknown event '%.40s'", job->event);
		return err_hint(err,
				"known: auto, cycles, cpu-clock, task-clock, rNNNN (hexadecimal)");
	}
	if (system && rootfs_read(&here, "/sys/devices/system/cpu/online", &text) &&
	    cpu_list_parse(&online, buf_str(&text)) && online.ids.len)
		trial.cpu = online.ids.at[0];
	else if (system)
		trial.cpu = 0;
	vec_done(&online.ids);
	*p = (struct plan){ .attr = base_attr(job) };
	set_rate(p, job, notes);
	set_sizes(p, job);
	ok = is_auto ? plan_auto(p, job, t, &trial, notes) : try_event(p, job->event, job, &trial);
	if (!ok)
		return target_explain_open(t, is_auto ? "cpu-clock" : job->event, system,
					   !p->attr.exclude_kernel, trial.errnum, err);
	limit_timer(p, job, notes);
	note_kernel_left_out(p, job, t, notes);
	return true;
}

static uint64_t power_of_two_from(uint64_t least)
{
	uint64_t n = 1;

	while (n < least && n < 1ull << 62)
		n <<= 1;
	return n;
}

/* What one ring may take when all rings together stay below most. */
static uint64_t largest_under(uint64_t most, uint64_t page_bytes, uint64_t count)
{
	uint64_t pages = most / count / page_bytes, n = 1;

	while (2 * n < pages) /* each ring has a page of its own in front */
		n <<= 1;
	return n * page_bytes;
}

struct ring_size plan_ring_size(const struct plan *p, const struct job *job, const struct target *t,
				uint64_t page_bytes, uint64_t count)
{
	/*
	 * Drains are 0.1 s apart; room for four of them, as a busy machine lets us wait. For two
	 * when stacks are dumped: to map that much memory takes time itself.
	 */
	uint64_t rate = p->frequency_hz ? p->frequency_hz : 10000;
	uint64_t drains = p->record_bytes > 4096 ? 2 : 4;
	uint64_t want = power_of_two_from(rate * p->record_bytes * drains / 10 / page_bytes + 1) *
			page_bytes;
	uint64_t least = power_of_two_from(p->record_bytes_most * 2 / page_bytes) * page_bytes;
	uint64_t lockable = UINT64_MAX;
	struct ring_size size;

	if (want < RING_LEAST_BYTES)
		want = power_of_two_from(RING_LEAST_BYTES / page_bytes) * page_bytes;
	if (!t->can_ipc_lock && t->paranoid > -1 && t->mlock_kb >= 0) {
		lockable = (uint64_t)t->mlock_kb * 1024 * (t->cpus_online ? t->cpus_online : 1);
		if (__builtin_add_overflow(lockable, t->memlock_bytes, &lockable))
			lockable = UINT64_MAX;
	}
	if (lockable > job->ring_total_bytes)
		lockable = job->ring_total_bytes;
	size.bytes = largest_under(lockable, page_bytes, count ? count : 1);
	if (size.bytes > want)
		size.bytes = want;
	size.bytes_least = least < size.bytes ? least : size.bytes;
	return size;
}
