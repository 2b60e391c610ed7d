/* SPDX-License-Identifier: Apache-2.0 */
/* The number of counters is measured, on machines with many, few, busy and no counters. */
#include <errno.h>
#include <string.h>

#include "target/parts.h"
#include "test.h"
#include "tree.h"

static struct target_pmu probe_one(struct target *t, const char *answers)
{
	tree_pmu("armv8_pmuv3_0", "8\n", "0-3\n");
	tree_answers(answers);
	tree_probe(t);
	CHECK_EQ_INT(t->pmus.len, 1);
	return t->pmus.at[0];
}

static void counters(const char *answers, int32_t want, int32_t free, bool cycle_counter)
{
	struct target t;
	struct target_pmu p = probe_one(&t, answers);

	CHECK_EQ_INT(p.counters, want);
	CHECK_EQ_INT(p.free, free);
	CHECK_EQ_INT(p.cycle_counter, cycle_counter);
	CHECK_EQ_INT(p.cycle_counter_free, cycle_counter);
	CHECK_EQ_INT(p.open_errno, 0);
	target_done(&t);
}

TEST(counters_many_and_few)
{
	counters("cycles ok\ncounters armv8_pmuv3_0 6\ncycle_counter armv8_pmuv3_0 yes\n", 6, 6,
		 true);
	counters("cycles ok\ncounters armv8_pmuv3_0 2\ncycle_counter armv8_pmuv3_0 yes\n", 2, 2,
		 true);
	counters("cycles ok\ncounters armv8_pmuv3_0 1\ncycle_counter armv8_pmuv3_0 yes\n", 1, 1,
		 true);
	counters("cycles ok\ncounters armv8_pmuv3_0 0\ncycle_counter armv8_pmuv3_0 yes\n", 0, 0,
		 true);
	counters("cycles ok\ncounters armv8_pmuv3_0 20\ncycle_counter armv8_pmuv3_0 no\n", 20, 20,
		 false);
}

/* Somebody's counters are missing from what can be had, not from what there is. */
TEST(counters_busy)
{
	counters("cycles ok\ncounters armv8_pmuv3_0 6\ncycle_counter armv8_pmuv3_0 yes\n"
		 "free armv8_pmuv3_0 2\n",
		 6, 2, true);
	counters("cycles ok\ncounters armv8_pmuv3_0 6\ncycle_counter armv8_pmuv3_0 yes\n"
		 "free armv8_pmuv3_0 0\n",
		 6, 0, true);
}

/* Somebody may hold the counter for cycles alone, as the NMI watchdog of x86 does. */
TEST(counters_busy_cycles)
{
	struct target t;
	struct target_pmu p = probe_one(&t, "cycles ok\ncounters armv8_pmuv3_0 6\n"
					    "cycle_counter armv8_pmuv3_0 yes\n"
					    "cycle_counter_free armv8_pmuv3_0 no\n");

	CHECK_EQ_INT(p.counters, 6);
	CHECK_EQ_INT(p.free, 6);
	CHECK(p.cycle_counter && !p.cycle_counter_free);
	target_done(&t);
	p = probe_one(&t, "cycles ok\ncounters armv8_pmuv3_0 0\n"
			  "cycle_counter armv8_pmuv3_0 yes\n"
			  "cycle_counter_free armv8_pmuv3_0 no\n");
	CHECK_EQ_INT(p.free, 0);
	CHECK(p.cycle_counter && !p.cycle_counter_free);
	target_done(&t);
	p = probe_one(&t, "cycles ok\ncounters armv8_pmuv3_0 6\n"
			  "cycle_counter armv8_pmuv3_0 yes\nfree armv8_pmuv3_0 4\n");
	CHECK_EQ_INT(p.free, 4);
	CHECK(p.cycle_counter_free);
	target_done(&t);
}

/* Kernels before 5.19 open a lone event whether or not it has a place. */
TEST(counters_of_a_kernel_that_checks_no_leader)
{
	counters("leader_unchecked yes\ncycles ok\ncounters armv8_pmuv3_0 0\n"
		 "cycle_counter armv8_pmuv3_0 yes\n",
		 0, 0, true);
	counters("leader_unchecked yes\ncycles ok\ncounters armv8_pmuv3_0 2\n"
		 "cycle_counter armv8_pmuv3_0 yes\n",
		 2, 2, true);
}

TEST(counters_that_do_not_open)
{
	struct target t;
	struct target_pmu p = probe_one(&t, "pmu armv8_pmuv3_0 EACCES\n");

	CHECK_EQ_INT(p.open_errno, EACCES);
	CHECK_EQ_INT(p.counters, -1);
	CHECK_EQ_INT(p.free, -1);
	target_done(&t);
	/* Not even cycles. */
	p = probe_one(&t, "counters armv8_pmuv3_0 0\n");
	CHECK_EQ_INT(p.counters, 0);
	CHECK_EQ_INT(p.open_errno, EINVAL);
	CHECK(!p.cycle_counter);
	target_done(&t);
	/* Who may not count cycles may not count the rest. */
	p = probe_one(&t, "cycles EPERM\ncounters armv8_pmuv3_0 6\n");
	CHECK_EQ_INT(p.open_errno, EPERM);
	target_done(&t);
}

/* Each kind of core has its PMU, counted on its own CPUs: the task that asks is on CPU 0. */
TEST(counters_of_two_kinds_of_cores)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-7\n");
	tree_pmu("armv8_cortex_a55", "10\n", "0-3\n");
	tree_pmu("armv8_cortex_a76", "11\n", "4-7\n");
	tree_answers("cycles ok\ncounters armv8_cortex_a55 4\ncycle_counter armv8_cortex_a55 no\n"
		     "counters armv8_cortex_a76 6\ncycle_counter armv8_cortex_a76 yes\n"
		     "free armv8_cortex_a76 5\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.pmus.at[0].counters, 4);
	CHECK_EQ_INT(t.pmus.at[0].free, 4);
	CHECK(!t.pmus.at[0].cycle_counter);
	CHECK_EQ_INT(t.pmus.at[1].counters, 6);
	CHECK_EQ_INT(t.pmus.at[1].free, 5);
	CHECK(t.pmus.at[1].cycle_counter);
	CHECK(target_has_cycles(&t));
	target_done(&t);
}

/* What is free where we may not run cannot be seen; what there is can. */
TEST(counters_where_we_may_not_run)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-7\n");
	tree_pmu("armv8_cortex_a55", "10\n", "0-3\n");
	tree_pmu("armv8_cortex_a76", "11\n", "4-7\n");
	tree_answers("cycles ok\ncounters armv8_cortex_a55 4\ncounters armv8_cortex_a76 6\n"
		     "cycle_counter armv8_cortex_a76 yes\n");
	tree_put("/proc/self/status", "Cpus_allowed:\tf0\nCpus_allowed_list:\t5-7\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.pmus.at[0].counters, 4);
	CHECK_EQ_INT(t.pmus.at[0].free, -1);
	CHECK_EQ_INT(t.pmus.at[0].open_errno, 0);
	CHECK_EQ_INT(t.pmus.at[1].free, 6);
	CHECK(target_has_cycles(&t));
	target_done(&t);
	/* Nor where all of its CPUs are off. */
	tree_put("/sys/devices/system/cpu/online", "0-3\n");
	tree_put("/proc/self/status", "Cpus_allowed_list:\t0-7\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.pmus.at[0].free, 4);
	CHECK_EQ_INT(t.pmus.at[1].free, -1);
	CHECK(target_has_cycles(&t));
	target_done(&t);
}

TEST(counters_first_cpu)
{
	const struct rootfs root = tree_root();

	CHECK_EQ_INT(target_first_cpu(&root, "2-3"), 2);
	CHECK_EQ_INT(target_first_cpu(&root, ""), -1);
	CHECK_EQ_INT(target_first_cpu(&root, "x"), -1);
	tree_put("/sys/devices/system/cpu/online", "1,3-9\n");
	CHECK_EQ_INT(target_first_cpu(&root, ""), 1);
	CHECK_EQ_INT(target_first_cpu(&root, "2-3"), 3);
	tree_put("/proc/self/status", "Cpus_allowed_list:\t5,8\n");
	CHECK_EQ_INT(target_first_cpu(&root, ""), 5);
	CHECK_EQ_INT(target_first_cpu(&root, "6-9"), 8);
	CHECK_EQ_INT(target_first_cpu(&root, "2-3"), -1);
}

/* The PMU of the raw type takes plain events; the other one is named in them. */
TEST(counters_of_mixed_x86)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-19\n");
	tree_pmu("cpu_atom", "10\n", "0-7\n");
	tree_pmu("cpu_core", "4\n", "8-19\n");
	tree_answers("cycles ok\ncounters cpu_core 8\ncycle_counter cpu_core yes\n"
		     "counters cpu_atom 6\ncycle_counter cpu_atom yes\nfree cpu_atom 5\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.pmus.at[0].counters, 6);
	CHECK_EQ_INT(t.pmus.at[0].free, 5);
	CHECK(t.pmus.at[0].cycle_counter);
	CHECK_EQ_INT(t.pmus.at[1].counters, 8);
	CHECK_EQ_INT(t.pmus.at[1].free, 8);
	CHECK(target_has_cycles(&t));
	target_done(&t);
}

/* AMD has no counter for cycles alone; its PMU has no list of CPUs. */
TEST(counters_of_x86)
{
	struct target t;

	tree_pmu("cpu", "4\n", "");
	tree_answers("cycles ok\ncounters cpu 6\ncycle_counter cpu no\nfree cpu 5\n");
	tree_probe(&t);
	CHECK(t.pmus.at[0].is_core && !t.pmus.at[0].cycle_counter);
	CHECK_EQ_INT(t.pmus.at[0].counters, 6);
	CHECK_EQ_INT(t.pmus.at[0].free, 5);
	target_done(&t);
}

/* A kernel that takes whatever it is given tells nothing, and one that runs out of files neither. */
struct fake {
	int most, errnum, opened, live;
	bool missing[10]; /* generic events that the machine does not have */
};

static int fake_open(void *ctx, const void *at, int pid, int cpu, int group, unsigned long flags)
{
	struct fake *f = ctx;
	struct perf_event_attr a;

	(void)pid, (void)cpu, (void)group, (void)flags;
	memcpy(&a, at, sizeof(a));
	if (a.type == PERF_TYPE_HARDWARE && a.config < 10 && f->missing[a.config])
		return -ENOENT;
	/* The leader needs no counter. */
	if (f->live > f->most)
		return -f->errnum;
	f->opened++;
	return f->live++;
}

static void fake_close(void *ctx, int fd)
{
	struct fake *f = ctx;

	f->live--;
	CHECK_EQ_INT(fd, f->live); /* members go before their leader */
}

static int fake_count(void *ctx, int fd, int cpu, struct target_reading *out)
{
	(void)ctx, (void)fd, (void)cpu;
	*out = (struct target_reading){ 0, 100, 100 };
	return 0;
}

static struct target_pmu with_fake(const char *name, struct fake *f)
{
	const struct rootfs root = tree_root();
	struct target_perf perf = {
		.open = fake_open, .count = fake_count, .close = fake_close, .ctx = f
	};
	struct target t = { 0 };
	struct target_pmu p;

	vec_add(&t.pmus, ((struct target_pmu){ .name = name,
					       .cpus = "",
					       .type = 4,
					       .is_core = true,
					       .counters = -1,
					       .free = -1 }));
	target_probe_counters(&t, &root, &perf);
	CHECK_EQ_INT(f->live, 0);
	p = t.pmus.at[0];
	target_done(&t);
	return p;
}

TEST(counters_without_a_rehearsal)
{
	struct fake all = { .most = 1000 }, files = { .most = 3, .errnum = EMFILE };

	CHECK_EQ_INT(with_fake("armv8_pmuv3", &all).counters, -1);
	CHECK_MSG(all.opened <= 65, "%d opened", all.opened);
	CHECK_EQ_INT(with_fake("armv8_pmuv3", &files).counters, -1);
}

/* A counter that reads zero is one all the same; a machine may lack the first generic event. */
TEST(counters_with_few_generic_events)
{
	struct fake f = { .most = 4, .errnum = EINVAL };

	f.missing[PERF_COUNT_HW_BRANCH_MISSES] = true;
	f.missing[PERF_COUNT_HW_CACHE_MISSES] = true;
	CHECK_EQ_INT(with_fake("cpu", &f).counters, 4);
	CHECK_EQ_INT(with_fake("cpu", &f).free, 4);
	f.missing[PERF_COUNT_HW_BRANCH_INSTRUCTIONS] = true;
	CHECK_EQ_INT(with_fake("cpu", &f).counters, -1);
	CHECK_EQ_INT(with_fake("cpu", &f).open_errno, ENOENT);
}
