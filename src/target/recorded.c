/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel that answers as a recorded machine did: which events open, and which groups of them the
 * PMUs of the machine take. The real probing runs against it.
 */
#include "base/os.h"
#include "target/parts.h"

#include <errno.h>
#include <stdlib.h>

enum { FD_FIRST = 1 << 20, FILE_MOST_BYTES = 64 * 1024, MOVED = 1000000 };

/* The counters of the PMU at the same place in the machine's list. */
struct recorded_pmu {
	int32_t counters, free;
	bool cycle_counter, cycle_counter_held, has_free, has_counters;
	int32_t errnum; /* of all its events */
	uint64_t cycles_config;
};

/* An open descriptor: FD_FIRST and its place in the list. */
struct recorded_event {
	bool open, pinned, on, is_cycles;
	size_t pmu;    /* NO_PMU: no core's, so that it needs no counter */
	size_t leader; /* its own place for a leader */
};
#define NO_PMU SIZE_MAX

struct target_recorded {
	struct target machine; /* its PMUs */
	VEC(struct recorded_pmu) pmus;
	VEC(struct recorded_event) events;
	struct target_trials answers;
	bool stands_still;     /* cycles open and do not count */
	bool leader_unchecked; /* an event that leads itself opens whether or not it fits */
	uint64_t page_bytes;
};

static bool runs_on(const struct target_pmu *p, int cpu)
{
	struct cpu_list list = { 0 };
	bool here = cpu < 0 || !p->cpus[0];

	if (!here && cpu_list_parse(&list, p->cpus))
		vec_each(id, &list.ids)
			here |= *id == cpu;
	vec_done(&list.ids);
	return here;
}

static size_t core_pmu_at(const struct target_recorded *r, int cpu)
{
	for (size_t i = 0; i < r->pmus.len; i++)
		if (r->machine.pmus.at[i].is_core && runs_on(&r->machine.pmus.at[i], cpu))
			return i;
	return NO_PMU;
}

static size_t pmu_of_type(const struct target_recorded *r, uint64_t type)
{
	for (size_t i = 0; i < r->pmus.len; i++)
		if (r->machine.pmus.at[i].type == type)
			return i;
	return NO_PMU;
}

/* The PMU of an event, or NO_PMU where it needs none or there is none. */
static size_t pmu_of(const struct target_recorded *r, const struct perf_event_attr *a, int cpu)
{
	if (a->type == PERF_TYPE_SOFTWARE || a->type == PERF_TYPE_TRACEPOINT)
		return NO_PMU;
	if (a->type != PERF_TYPE_HARDWARE)
		return pmu_of_type(r, a->type);
	if (a->config >> 32)
		return pmu_of_type(r, a->config >> 32);
	/* Arm asks its PMUs in turn who knows the CPU; x86 takes the one of the raw type. */
	return pmu_of_type(r, PERF_TYPE_RAW) != NO_PMU ? pmu_of_type(r, PERF_TYPE_RAW) :
							 core_pmu_at(r, cpu);
}

static bool is_cycles(const struct target_recorded *r, const struct perf_event_attr *a, size_t pmu)
{
	if (a->type == PERF_TYPE_HARDWARE)
		return (uint32_t)a->config == PERF_COUNT_HW_CPU_CYCLES;
	return pmu != NO_PMU && a->config == r->pmus.at[pmu].cycles_config;
}

static int answer_hardware(const struct target_recorded *r, const struct perf_event_attr *a,
			   size_t pmu)
{
	const struct target_trials *t = &r->answers;

	if (pmu != NO_PMU && str_starts(r->machine.pmus.at[pmu].name, "arm_spe_"))
		return t->spe;
	if (pmu != NO_PMU && r->pmus.at[pmu].errnum)
		return r->pmus.at[pmu].errnum;
	/* Who may not count cycles may not count anything. */
	if (t->cycles == EACCES || t->cycles == EPERM)
		return t->cycles;
	/* The plain event, of whichever PMU, is what "cycles" in the file is about. */
	if (a->type == PERF_TYPE_HARDWARE && a->config == PERF_COUNT_HW_CPU_CYCLES) {
		if (t->cycles)
			return t->cycles;
	} else if (pmu == NO_PMU || !r->machine.pmus.at[pmu].is_core) {
		return ENOENT;
	}
	if (a->sample_period && t->sampling)
		return t->sampling;
	return a->sample_type & PERF_SAMPLE_BRANCH_STACK ? t->branch_stack : 0;
}

/* Does the event open by itself: 0 or an errno. */
static int answer(const struct target_recorded *r, const struct perf_event_attr *a, int pid,
		  int cpu, size_t pmu)
{
	const struct target_trials *t = &r->answers;

	if (t->cpu_clock == ENOSYS)
		return ENOSYS;
	if (pid == -1 && t->system_wide)
		return t->system_wide;
	if (a->type == PERF_TYPE_TRACEPOINT)
		return t->tracepoint;
	if (!a->exclude_kernel && t->kernel)
		return t->kernel;
	if (a->type == PERF_TYPE_SOFTWARE)
		return t->cpu_clock;
	if (pmu != NO_PMU && !runs_on(&r->machine.pmus.at[pmu], cpu))
		return ENOENT;
	return answer_hardware(r, a, pmu);
}

/* Who looks at a group: its rehearsal when a member comes, or the PMU that is to take it. */
enum look { LOOK_REHEARSAL, LOOK_PLACING };

/* Counters that members of a group need beside the one for cycles. */
static int32_t group_needs(const struct target_recorded *r, size_t leader, size_t pmu,
			   enum look look)
{
	bool all = look == LOOK_PLACING;
	bool cycle_counter = r->pmus.at[pmu].cycle_counter &&
			     !(all && r->pmus.at[pmu].cycle_counter_held);
	/* x86 rehearses the leader in any case. */
	bool leader_too = all || target_pmu_is_x86(&r->machine.pmus.at[pmu]);
	int32_t needs = 0, cycles = 0;

	vec_each(e, &r->events) {
		bool is_leader = e == &r->events.at[leader];

		if (!e->open || e->leader != leader || e->pmu != pmu ||
		    (!all && !e->on && !(is_leader && leader_too)))
			continue;
		if (e->is_cycles)
			cycles++;
		else
			needs++;
	}
	return needs + cycles - (cycle_counter && cycles);
}

/* The PMU that the group needs, of its leader or of the first member that has one. */
static size_t group_pmu(const struct target_recorded *r, size_t leader)
{
	size_t pmu = NO_PMU;

	vec_each(e, &r->events) {
		if (e->open && e->leader == leader && pmu == NO_PMU)
			pmu = e->pmu;
	}
	return pmu;
}

/* The descriptor's place; false when it is not open. */
static bool find_fd(const struct target_recorded *r, int fd, size_t *at)
{
	*at = (size_t)fd - FD_FIRST;
	return fd >= FD_FIRST && *at < r->events.len && r->events.at[*at].open;
}

static int open_recorded(void *ctx, const void *bytes, int pid, int cpu, int group,
			 unsigned long flags)
{
	struct target_recorded *r = ctx;
	struct recorded_event e = { .open = true };
	struct perf_event_attr a;
	size_t leader;
	int errnum;

	(void)flags;
	memcpy(&a, bytes, sizeof(a));
	e.pmu = pmu_of(r, &a, cpu);
	e.is_cycles = is_cycles(r, &a, e.pmu);
	e.pinned = a.pinned;
	e.on = !a.disabled || a.enable_on_exec;
	e.leader = r->events.len;
	errnum = answer(r, &a, pid, cpu, e.pmu);
	if (errnum)
		return -errnum;
	/* SPE has a sampling unit of its own: counters are what the PMUs of cores have. */
	if (e.pmu != NO_PMU && !r->machine.pmus.at[e.pmu].is_core)
		e.pmu = NO_PMU;
	if (group >= 0 && !find_fd(r, group, &leader))
		return -EBADF;
	if (group >= 0) {
		size_t theirs = group_pmu(r, leader);

		/* Hardware of two kinds cannot be one group. */
		if (e.pmu != NO_PMU && theirs != NO_PMU && e.pmu != theirs)
			return -EINVAL;
		e.leader = leader;
	}
	vec_add(&r->events, e);
	if (e.pmu == NO_PMU || (r->leader_unchecked && group < 0) ||
	    group_needs(r, e.leader, e.pmu, LOOK_REHEARSAL) <= r->pmus.at[e.pmu].counters)
		return (int)(FD_FIRST + r->events.len - 1);
	r->events.len--;
	return -EINVAL;
}

static void close_recorded(void *ctx, int fd)
{
	struct target_recorded *r = ctx;
	size_t at;

	if (!find_fd(r, fd, &at))
		return;
	r->events.at[at].open = false;
	while (r->events.len && !r->events.at[r->events.len - 1].open)
		r->events.len--;
}

/* Does a task on this CPU count there? Where all cores are alike it does so anywhere. */
static bool is_there(const struct target_recorded *r, size_t pmu, int cpu)
{
	return !target_is_mixed(&r->machine) || runs_on(&r->machine.pmus.at[pmu], cpu);
}

static int count_recorded(void *ctx, int fd, int cpu, struct target_reading *out)
{
	struct target_recorded *r = ctx;
	const struct recorded_event *e;
	struct target_reading reading = { MOVED, MOVED, MOVED };
	int32_t needs;
	size_t at, pmu;

	if (!find_fd(r, fd, &at))
		return EBADF;
	e = &r->events.at[at];
	pmu = group_pmu(r, at);
	if (pmu != NO_PMU) {
		const struct recorded_pmu *p = &r->pmus.at[pmu];

		needs = group_needs(r, at, pmu, LOOK_PLACING);
		/* A task that may be anywhere is on the first CPU. */
		if (!is_there(r, pmu, cpu < 0 ? 0 : cpu) ||
		    needs > p->counters + (p->cycle_counter && p->cycle_counter_held))
			reading.value = reading.running_ns = 0;
		else if (needs > p->free && e->pinned)
			return ENODATA;
		else if (needs > p->free)
			reading.running_ns /= 2;
	}
	if (e->is_cycles && r->stands_still)
		reading.value = 0;
	*out = reading;
	return 0;
}

static int bpf_recorded(void *ctx)
{
	const struct target_recorded *r = ctx;

	return r->answers.bpf;
}

struct target_recorded *target_recorded_new(const struct rootfs *root, struct target_perf *perf)
{
	struct target_recorded *r = mem_alloc(sizeof(*r));

	r->answers = (struct target_trials){ .cycles = ENOENT,
					     .branch_stack = EOPNOTSUPP,
					     .spe = ENOENT };
	target_probe_pmus(&r->machine, root);
	vec_each(p, &r->machine.pmus) {
		struct recorded_pmu *pmu = vec_push(&r->pmus);

		pmu->cycles_config = target_cycles_config(root, p->name);
	}
	*perf = (struct target_perf){ .open = open_recorded,
				      .count = count_recorded,
				      .close = close_recorded,
				      .bpf = bpf_recorded,
				      .ctx = r };
	return r;
}

void target_recorded_free(struct target_recorded *r)
{
	if (!r)
		return;
	target_done(&r->machine);
	vec_done(&r->pmus);
	vec_done(&r->events);
	free(r);
}

/* A line of the file on its way: what it is about, and where it stands. */
struct line {
	struct target_recorded *r;
	const char *name;
	unsigned number;
	struct str key, pmu_name, value;
	struct err *err;
};

static bool wrong(const struct line *l, const char *want)
{
	return err_set(l->err, ERR_FORMAT, "%s:%u: '%.*s %.*s': %s", l->name, l->number,
		       (int)(l->key.len < 40 ? l->key.len : 40), l->key.at,
		       (int)(l->value.len < 40 ? l->value.len : 40), l->value.at, want);
}

static bool take_errno(const struct line *l, int32_t *out)
{
	static const struct {
		const char *name;
		int errnum;
	} names[] = { { "ok", 0 },
		      { "E2BIG", E2BIG },
		      { "EACCES", EACCES },
		      { "EAGAIN", EAGAIN },
		      { "EBUSY", EBUSY },
		      { "EINTR", EINTR },
		      { "EINVAL", EINVAL },
		      { "EIO", EIO },
		      { "EMFILE", EMFILE },
		      { "ENFILE", ENFILE },
		      { "ENODATA", ENODATA },
		      { "ENODEV", ENODEV },
		      { "ENOENT", ENOENT },
		      { "ENOMEM", ENOMEM },
		      { "ENOSPC", ENOSPC },
		      { "ENOSYS", ENOSYS },
		      { "EOPNOTSUPP", EOPNOTSUPP },
		      { "EPERM", EPERM },
		      { "ESRCH", ESRCH } };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (str_eq(l->value, names[i].name)) {
			*out = names[i].errnum;
			return true;
		}
	return wrong(l, "not 'ok' and no name of an errno that the kernel gives here");
}

static bool take_count(const struct line *l, int32_t *out)
{
	uint64_t v;

	if (!str_u64(l->value, &v) || v >= TARGET_COUNTERS_MOST)
		return wrong(l, "not a number of counters");
	*out = (int32_t)v;
	return true;
}

static bool take_yes(const struct line *l, bool *out)
{
	if (!str_eq(l->value, "yes") && !str_eq(l->value, "no"))
		return wrong(l, "not yes or no");
	*out = str_eq(l->value, "yes");
	return true;
}

/* "KEY PMU VALUE" */
static bool take_pmu_line(const struct line *l)
{
	struct recorded_pmu *p = NULL;
	bool is_core = false, yes;

	for (size_t i = 0; i < l->r->pmus.len && !p; i++)
		if (str_eq(l->pmu_name, l->r->machine.pmus.at[i].name)) {
			p = &l->r->pmus.at[i];
			is_core = l->r->machine.pmus.at[i].is_core;
		}
	if (!p)
		return wrong(l, "no such PMU in sys/bus/event_source/devices of the tree");
	if (str_eq(l->key, "pmu"))
		return take_errno(l, &p->errnum);
	if (!is_core)
		return wrong(l, "only core PMUs have counters to tell");
	if (str_eq(l->key, "counters")) {
		p->has_counters = true;
		return take_count(l, &p->counters);
	}
	if (str_eq(l->key, "free")) {
		p->has_free = true;
		return take_count(l, &p->free);
	}
	if (!take_yes(l, &yes))
		return false;
	if (str_eq(l->key, "cycle_counter"))
		p->cycle_counter = yes;
	else
		p->cycle_counter_held = !yes;
	return true;
}

static bool take_page_bytes(const struct line *l)
{
	enum { LEAST = 4096, MOST = 1 << 20 };
	uint64_t v;

	if (!str_u64(l->value, &v) || v < LEAST || v > MOST || v & (v - 1))
		return wrong(l, "not the size of a page");
	l->r->page_bytes = v;
	return true;
}

static bool take_cycles_counts(const struct line *l)
{
	int32_t errnum = 0;

	if (!take_errno(l, &errnum))
		return false;
	if (errnum && errnum != ENODATA)
		return wrong(l, "not ok or ENODATA");
	l->r->stands_still = errnum == ENODATA;
	return true;
}

static bool take_line(struct line *l, struct str rest)
{
	struct target_trials *t = &l->r->answers;
	struct {
		const char *key;
		int32_t *to;
	} const trials[] = {
		{ "software", &t->cpu_clock },
		{ "cycles", &t->cycles },
		{ "sampling", &t->sampling },
		{ "system_wide", &t->system_wide },
		{ "kernel", &t->kernel },
		{ "tracepoint", &t->tracepoint },
		{ "branch_stack", &t->branch_stack },
		{ "spe", &t->spe },
		{ "bpf", &t->bpf },
	};
	static const char *const of_pmus[] = { "counters", "cycle_counter", "cycle_counter_free",
					       "free", "pmu" };
	struct str more;
	bool of_pmu = false;

	for (size_t i = 0; i < sizeof(of_pmus) / sizeof(*of_pmus); i++)
		of_pmu |= str_eq(l->key, of_pmus[i]);
	l->value = str_trim(rest);
	if (of_pmu && !str_word(&rest, &l->pmu_name))
		return wrong(l, "a PMU and a value are missing");
	if (!str_word(&rest, &l->value) || str_word(&rest, &more))
		return wrong(l, of_pmu ? "not one PMU and one value" : "not one value");
	if (of_pmu)
		return take_pmu_line(l);
	for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++)
		if (str_eq(l->key, trials[i].key))
			return take_errno(l, trials[i].to);
	if (str_eq(l->key, "page_bytes"))
		return take_page_bytes(l);
	if (str_eq(l->key, "cycles_counts"))
		return take_cycles_counts(l);
	if (str_eq(l->key, "leader_unchecked"))
		return take_yes(l, &l->r->leader_unchecked);
	return wrong(l, "unknown key");
}

bool target_recorded_parse(struct target_recorded *r, const char *name, struct str text,
			   struct err *err)
{
	struct line l = { .r = r, .name = name, .err = err };
	struct str line;

	while (str_line(&text, &line)) {
		l.number++;
		if (!str_word(&line, &l.key) || l.key.at[0] == '#')
			continue;
		if (!take_line(&l, line))
			return false;
	}
	for (size_t i = 0; i < r->pmus.len; i++) {
		struct recorded_pmu *p = &r->pmus.at[i];

		if (r->machine.pmus.at[i].is_core && !p->has_counters && !p->errnum)
			return err_set(err, ERR_FORMAT, "%s: no line 'counters %.60s N'", name,
				       r->machine.pmus.at[i].name);
		if (!p->has_free || p->free > p->counters)
			p->free = p->counters;
	}
	return true;
}

bool target_recorded_load(struct target_recorded **out, const struct rootfs *root,
			  struct target_perf *perf, struct err *err)
{
	static const char path[] = "/perf_event_open";
	char_auto name = mem_printf("%s%s", root->root, path);
	struct target_recorded *r;
	struct target_perf made;
	buf_auto text = { 0 };

	if (!rootfs_read(root, path, &text)) {
		err_set(err, ERR_NOT_FOUND,
			"%s cannot be read: what the machine's kernel answered is not known", name);
		return err_hint(
			err,
			"write it: lines such as 'cycles ok', 'counters armv8_pmuv3_0 6', "
			"'cycle_counter armv8_pmuv3_0 yes', 'spe ENOENT'; 'cycles ENOENT' alone is a "
			"machine without a PMU");
	}
	if (text.len > FILE_MOST_BYTES)
		return err_set(err, ERR_LIMIT, "%s is larger than %d bytes", name, FILE_MOST_BYTES);
	r = target_recorded_new(root, &made);
	if (!target_recorded_parse(r, name, (struct str){ buf_str(&text), text.len }, err)) {
		target_recorded_free(r);
		return false;
	}
	made.page_bytes = r->page_bytes;
	*perf = made;
	*out = r;
	return true;
}
