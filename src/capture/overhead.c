/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own cost, kept below the job's limit by a lower rate. */
#include "capture/session.h"

#include <sys/ioctl.h>

#include "base/os.h"

enum { RATE_LEAST_HZ = 10 };

static void halve_rate(struct capture *c, double permille)
{
	uint64_t before = c->plan.frequency_hz, rate = before / 2;
	/* The kernel turns a timer's frequency into a period in ns when it opens the event. */
	uint64_t value = c->plan.is_timer ? 1000000000u / rate : rate;

	for (size_t i = 0; i < c->rings.fds.len; i++)
		(void)ioctl(c->rings.fds.at[i], PERF_EVENT_IOC_PERIOD, &value);
	c->plan.frequency_hz = rate;
	notes_add(&c->notes, "RATE_LOWERED",
		  "sampling at %llu Hz instead of %llu Hz from now on: the agent took %.1f %% of the machine, the limit is %.1f %%",
		  (unsigned long long)rate, (unsigned long long)before, permille / 10,
		  c->job->max_overhead_permille / 10.0);
	capture_send_notes(c);
}

void overhead_check(struct capture *c, uint64_t now_ns)
{
	uint64_t cpu = os_self_cpu_ns();
	uint64_t wall = now_ns - c->second_start_ns;
	double cpus = c->rings.cpus.ids.len ? (double)c->rings.cpus.ids.len : 1;
	double permille = wall ? (double)(cpu - c->second_cpu_ns) * 1000 / ((double)wall * cpus) :
				 0;

	c->second_start_ns = now_ns;
	c->second_cpu_ns = cpu;
	if (c->job->max_overhead_permille && permille > c->job->max_overhead_permille &&
	    c->plan.frequency_hz >= 2 * RATE_LEAST_HZ)
		halve_rate(c, permille);
}
