/* SPDX-License-Identifier: Apache-2.0 */
/* Live: the rate falls when the agent costs too much, for threads that were there before too. */
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
