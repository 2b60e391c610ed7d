/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the counters of the core PMUs: a group of one and the same event grows until the kernel,
 * which rehearses the placement of a group on an empty PMU, refuses the next one. So others' use of
 * the PMU does not bear on the number; how many could be had just now is asked with a pinned group.
 */
#include "target/parts.h"

#include <errno.h>

/*
 * The leader is a clock, which needs no counter: Arm's driver rehearses no leader that is off, and
 * before Linux 5.19 none at all, so that one event too many would get in. It is off, so nothing is
 * placed on the real PMU until the group is asked to count.
 */
struct group {
	const struct target_perf *perf;
	int leader; /* -1: not open */
	int fds[TARGET_COUNTERS_MOST + 1];
	int32_t len; /* of members */
	int errnum;  /* of the last that did not open */
};

static bool group_open(struct group *g, const struct target_perf *perf, bool pinned)
{
	struct perf_event_attr clock =
		target_plain_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	clock.disabled = 1;
	clock.pinned = pinned;
	*g = (struct group){ .perf = perf };
	g->leader = perf->open(perf->ctx, &clock, 0, -1, -1, 0);
	if (g->leader >= 0)
		return true;
	g->errnum = -g->leader;
	return false;
}

static bool group_add(struct group *g, const struct perf_event_attr *attr)
{
	int fd = g->perf->open(g->perf->ctx, attr, 0, -1, g->leader, 0);

	if (fd < 0) {
		g->errnum = -fd;
		return false;
	}
	g->fds[g->len++] = fd;
	return true;
}

static void group_shrink(struct group *g, int32_t len)
{
	while (g->len > len)
		g->perf->close(g->perf->ctx, g->fds[--g->len]);
}

/* Members before their leader: without it they would count by themselves. */
static void group_close(struct group *g)
{
	group_shrink(g, 0);
	if (g->leader >= 0)
		g->perf->close(g->perf->ctx, g->leader);
}

static bool group_grow(struct group *g, const struct perf_event_attr *attr, int32_t len)
{
	while (g->len < len)
		if (!group_add(g, attr))
			return false;
	return true;
}

/*
 * The event must never find a place on the cycle or the instruction counter. Arm: BR_MIS_PRED by
 * its code, which the kernel takes whether or not the core implements it. x86: a generic event that
 * no fixed counter knows, as machines that show few events still translate those; on a mixed
 * machine the kernel reads the type of the core's PMU from the upper half of config.
 */
static struct perf_event_attr arm_event(const struct target_pmu *pmu)
{
	enum { BR_MIS_PRED = 0x10 }; /* Arm ARM D13.12, common events */

	return target_plain_attr(pmu->type, BR_MIS_PRED);
}

static struct perf_event_attr x86_event(const struct target_pmu *pmu, uint64_t generic)
{
	uint64_t type = pmu->type == PERF_TYPE_RAW ? 0 : pmu->type;

	return target_plain_attr(PERF_TYPE_HARDWARE, type << 32 | generic);
}

static struct perf_event_attr cycles_event(const struct target_pmu *pmu, const struct rootfs *root)
{
	if (target_pmu_is_x86(pmu))
		return x86_event(pmu, PERF_COUNT_HW_CPU_CYCLES);
	return target_plain_attr(pmu->type, target_cycles_config(root, pmu->name));
}

/* Fills the group; the event that did it goes out. */
static void fill(struct group *g, const struct target_pmu *pmu, struct perf_event_attr *event)
{
	static const uint64_t generic[] = { PERF_COUNT_HW_BRANCH_MISSES, PERF_COUNT_HW_CACHE_MISSES,
					    PERF_COUNT_HW_BRANCH_INSTRUCTIONS };

	*event = arm_event(pmu);
	if (!target_pmu_is_x86(pmu)) {
		group_grow(g, event, TARGET_COUNTERS_MOST);
		return;
	}
	/* A guest may be shown an architecture without one of them. */
	for (size_t i = 0; i < sizeof(generic) / sizeof(*generic); i++) {
		*event = x86_event(pmu, generic[i]);
		if (group_grow(g, event, TARGET_COUNTERS_MOST) || g->len || g->errnum != ENOENT)
			return;
	}
}

/* Does a pinned group of so many, and cycles where they are given, get its counters now? */
static int try_pinned(const struct target_perf *perf, const struct perf_event_attr *event,
		      int32_t len, const struct perf_event_attr *cycles, int cpu)
{
	struct target_reading r = { 0 };
	struct group g;
	int errnum = 0;

	if (group_open(&g, perf, true) && group_grow(&g, event, len) && cycles)
		group_add(&g, cycles);
	errnum = g.errnum ? g.errnum : perf->count(perf->ctx, g.leader, cpu, &r);
	group_close(&g);
	return !errnum && !r.running_ns ? EBUSY : errnum;
}

/* How many could be had now, and whether cycles beside them have a counter of their own. */
static void count_free(struct target_pmu *pmu, const struct target_perf *perf,
		       const struct perf_event_attr *event, const struct perf_event_attr *cycles,
		       int cpu)
{
	int32_t n = pmu->counters;
	int errnum = 0;

	while (n > 0 && (errnum = try_pinned(perf, event, n, NULL, cpu)) == ENODATA)
		n--;
	if (n > 0 && errnum)
		return;
	pmu->free = n;
	pmu->cycle_counter_free = pmu->cycle_counter &&
				  try_pinned(perf, event, n, cycles, cpu) != ENODATA;
}

static void probe_counters(struct target_pmu *pmu, const struct rootfs *root,
			   const struct target_perf *perf, int cpu)
{
	const struct perf_event_attr cycles = cycles_event(pmu, root);
	struct perf_event_attr event;
	struct group g;

	if (group_open(&g, perf, false))
		fill(&g, pmu, &event);
	if (g.len == TARGET_COUNTERS_MOST || g.errnum != EINVAL) {
		pmu->open_errno = g.len ? 0 : g.errnum;
		group_close(&g);
		return;
	}
	pmu->counters = g.len;
	pmu->cycle_counter = pmu->cycle_counter_free = group_add(&g, &cycles);
	if (!g.len)
		pmu->open_errno = g.errnum;
	group_close(&g);
	/* Where we may not run, what is free cannot be seen. */
	if (cpu != TARGET_CPU_NONE)
		count_free(pmu, perf, &event, &cycles, cpu);
}

void target_probe_counters(struct target *t, const struct rootfs *root,
			   const struct target_perf *perf)
{
	vec_each(p, &t->pmus) {
		if (p->is_core)
			probe_counters(p, root, perf, target_pmu_cpu(t, root, p));
	}
}
