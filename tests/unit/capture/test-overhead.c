/* SPDX-License-Identifier: Apache-2.0 */
/* Live: the rate falls when the agent costs too much, for threads that were there before too. */
#include <linux/perf_event.h>
#include <unistd.h>

#include "host.h"
#include "test.h"

/* Samples of the workload in [from, to) ms after the start. */
static unsigned samples_between(struct host *h, unsigned from, unsigned to)
{
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_sample s;
	struct err err;
	unsigned n = 0;
	uint64_t at;

	host_file(h, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD) {
		uint64_t ms;

		if (r.type != PERFDATA_SAMPLE || !perfdata_sample(&pd, &r, &s))
			continue;
		ms = (s.time_ns - h->started.monotonic_ns) / 1000000;
		n += ms >= from && ms < to;
	}
	perfdata_close(&pd);
	return n;
}

TEST(overhead_lowers_the_rate)
{
	struct host h;
	struct job job;
	unsigned first, last;

	host_needs_perf();
	/* Threads that burn, stacks that are large, and a limit of a thousandth. */
	job = host_job(host_argv(host_program("threads"), "2", "20000", NULL));
	job.frequency_hz = 4000;
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 16384;
	job.max_overhead_permille = 1;
	job.for_ns = 3500000000;
	host_run(&h, &job, NULL);
	if (!host_note(&h, "RATE_LOWERED"))
		SKIP("the agent took less than a thousandth of the machine");
	CHECK_HAS(host_note(&h, "RATE_LOWERED"), "Hz from now on: the agent took");
	CHECK_HAS(host_note(&h, "RATE_LOWERED"), "the limit is 0.1 %");
	CHECK(h.finished.final_frequency_hz <= 2000);
	first = samples_between(&h, 0, 900);
	last = samples_between(&h, 2600, 3500);
	CHECK_MSG(last < first * 3 / 4, "%u samples, then %u", first, last);
	CHECK(last > 0);
	host_end(&h);
}

/*
 * Ids rise, so those above what STARTED named belong to events that were opened for a lower rate.
 * None of them may have sampled while the first ones still did, or time would be counted twice.
 */
static void check_switch(struct host *h)
{
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_sample s;
	struct err err;
	uint64_t at, id, id_above = 0, first_until = 0, then_from = UINT64_MAX, sampled_ns = 0;
	unsigned first = 0, then = 0;

	host_file(h, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	for (size_t i = 0; i < pd.attrs[0].id_count; i++)
		if (pd.attrs[0].ids[i] > id_above)
			id_above = pd.attrs[0].ids[i];
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD) {
		if (r.type != PERFDATA_SAMPLE || !perfdata_sample(&pd, &r, &s))
			continue;
		sampled_ns += s.period;
		/* IDENTIFIER comes first. */
		memcpy(&id, r.body, sizeof(id));
		if (id <= id_above) {
			first++;
			first_until = s.time_ns > first_until ? s.time_ns : first_until;
		} else {
			then++;
			then_from = s.time_ns < then_from ? s.time_ns : then_from;
		}
	}
	CHECK_MSG(first > 1000 && then > 100, "%u samples, then %u", first, then);
	CHECK_MSG(then_from > first_until, "both sampled for %.2f ms",
		  (double)(first_until - then_from) / 1e6);
	CHECK_MSG(then_from - first_until < 50000000, "none sampled for %.2f ms",
		  (double)(then_from - first_until) / 1e6);
	CHECK_MSG((double)sampled_ns < (double)h->finished.workload_cpu_ns * 1.01,
		  "%.1f ms sampled of %.1f ms", (double)sampled_ns / 1e6,
		  (double)h->finished.workload_cpu_ns / 1e6);
	perfdata_close(&pd);
}

/* As on a machine with many CPUs and threads: to open the events of the lower rate takes a while. */
static int open_slowly(void *ctx, const void *bytes, int pid, int cpu, int group,
		       unsigned long flags)
{
	const struct perf_event_attr *attr = bytes;

	if (attr->freq && attr->sample_freq < 4000)
		usleep(10000);
	return target_open_real(ctx, attr, pid, cpu, group, flags);
}

TEST(overhead_counts_no_time_twice)
{
	struct host_setup setup = { .stdio = { -1, -1, -1 }, .open = open_slowly };
	struct host h;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("threads"), "2", "20000", NULL));
	job.frequency_hz = 4000;
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 4096;
	job.max_overhead_permille = 1;
	job.for_ns = 2500000000;
	host_run(&h, &job, &setup);
	if (!host_note(&h, "RATE_LOWERED"))
		SKIP("the agent took less than a thousandth of the machine");
	check_switch(&h);
	host_end(&h);
}

/* A lower rate shows in the samples themselves, or shares by period would not be true. */
TEST(overhead_of_a_whole_machine_changes_the_period)
{
	struct host h;
	struct job job = host_job(NULL);
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_sample s;
	struct err err;
	uint64_t at, least = UINT64_MAX, most = 0;

	host_needs_perf();
	if (geteuid())
		SKIP("needs root");
	job.scope = JOB_SYSTEM;
	job.frequency_hz = 4000;
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 16384;
	job.max_overhead_permille = 1;
	job.for_ns = 2500000000;
	host_run(&h, &job, NULL);
	if (!host_note(&h, "RATE_LOWERED"))
		SKIP("the agent took less than a thousandth of the machine");
	host_file(&h, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD) {
		if (r.type != PERFDATA_SAMPLE || !perfdata_sample(&pd, &r, &s))
			continue;
		least = s.period < least ? s.period : least;
		most = s.period > most ? s.period : most;
	}
	CHECK_EQ_U64(least, 250000);
	CHECK(most >= 500000);
	perfdata_close(&pd);
	host_end(&h);
}

TEST(overhead_of_a_tiny_timer_period_is_bounded)
{
	struct job job = host_job(host_argv("true", NULL));
	struct rootfs here = { "" };
	long long most = rootfs_number(&here, "/proc/sys/kernel/perf_event_max_sample_rate", 0);
	struct perf_event_attr attr;
	struct host h;

	host_needs_perf();
	if (most <= 0)
		SKIP("the kernel states no limit");
	job.frequency_hz = 0;
	job.period = 1;
	host_run(&h, &job, NULL);
	CHECK(host_note(&h, "RATE_LIMITED"));
	CHECK(h.started.events.at[0].attr.len >= sizeof(attr) - 32);
	memset(&attr, 0, sizeof(attr));
	memcpy(&attr, h.started.events.at[0].attr.at,
	       h.started.events.at[0].attr.len < sizeof(attr) ? h.started.events.at[0].attr.len :
								sizeof(attr));
	CHECK_EQ_U64(attr.sample_period, 1000000000u / (uint64_t)most);
	host_end(&h);
}
