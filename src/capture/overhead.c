/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's own cost, kept below the job's limit by a lower rate. */
#include "capture/session.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/os.h"

enum { RATE_LEAST_HZ = 10 };

/* Events that were opened by us take a new rate; what children inherited of them does not. */
static void set_rate(const struct capture *c, uint64_t rate)
{
	/* The kernel turns a timer's frequency into a period in ns when it opens the event. */
	uint64_t value = c->plan.is_timer ? 1000000000u / rate : rate;

	for (size_t i = 0; i < c->rings.fds.len; i++)
		(void)ioctl(c->rings.fds.at[i], PERF_EVENT_IOC_PERIOD, &value);
}

/* The processes that are recorded: the workload's, or the one we are attached to and its children. */
static void recorded_pids(const struct capture *c, struct cpu_list *pids)
{
	enum { TICK_NS = 10000000 };
	struct cpu_list all = { 0 };
	struct process_stat st;

	if (c->job->scope == JOB_LAUNCH) {
		tree_pids(getpid(), pids);
		return;
	}
	vec_add(&pids->ids, (int)c->job->pid);
	tree_pids((int)c->job->pid, &all);
	for (size_t i = 0; i < all.ids.len; i++)
		if (process_read((uint64_t)all.ids.at[i], &st) &&
		    st.start_ns + TICK_NS >= c->attached_boot_ns)
			vec_add(&pids->ids, all.ids.at[i]);
	vec_done(&all.ids);
}

static uint64_t largest_id(const struct rings *r)
{
	uint64_t most = 0;

	for (size_t i = 0; i < r->ids.len; i++)
		if (r->ids.at[i] > most)
			most = r->ids.at[i];
	return most;
}

/* Events with the plan's new rate for all that is recorded, counting at once. */
static bool open_anew(struct capture *c, uint64_t id_above, struct err *err)
{
	struct cpu_list pids = { 0 };
	size_t first = c->rings.fds.len;
	bool ok;

	if (c->job->scope == JOB_SYSTEM) {
		if (rings_open_task(&c->rings, &c->plan, RINGS_EVERYONE, &c->opener, &c->notes,
				    err) != RINGS_OPENED)
			return false;
		rings_enable_from(&c->rings, first);
		return true;
	}
	recorded_pids(c, &pids);
	ok = follow_open(c, &pids, id_above, err);
	vec_done(&pids.ids);
	return ok;
}

/*
 * Opens new events with the new rate beside the old ones, then stops the old ones with all that was
 * inherited from them. No mapping, name or birth is missed that way, but for some milliseconds both
 * sample: what the new ones did until the last of the old was stopped is taken out of the rings.
 */
static bool replace_events(struct capture *c)
{
	size_t old = c->rings.fds.len;
	uint64_t id_above = largest_id(&c->rings);
	struct err err;
	bool ok;

	c->plan.attr.enable_on_exec = 0;
	ok = open_anew(c, id_above, &err);
	if (ok)
		rings_disable_to(&c->rings, old);
	else
		rings_close_from(&c->rings, old);
	/* Nothing was drained since follow_open began. */
	c->muted = (struct muted){ .id_above = id_above, .before_ns = os_now_ns() };
	return ok;
}

static void halve_rate(struct capture *c, double permille)
{
	uint64_t before = c->plan.frequency_hz, rate = before / 2;
	bool all;

	c->plan.frequency_hz = rate;
	c->plan.attr.sample_freq = rate;
	all = replace_events(c);
	if (!all)
		set_rate(c, rate);
	notes_add(
		&c->notes, "RATE_LOWERED",
		"sampling%s at %llu Hz instead of %llu Hz from now on: the agent took %.1f %% of the machine, the limit is %.1f %%",
		all ? "" : " the first threads", (unsigned long long)rate,
		(unsigned long long)before, permille / 10, c->job->max_overhead_permille / 10.0);
	capture_send_notes(c);
}

void overhead_check(struct capture *c, uint64_t now_ns)
{
	uint64_t cpu = os_self_cpu_ns();
	uint64_t wall = now_ns - c->second_start_ns;
	double cpus = c->rings.cpus.ids.len ? (double)c->rings.cpus.ids.len : 1;
	double permille = wall ? (double)(cpu - c->second_cpu_ns) * 1000 / ((double)wall * cpus) :
				 0;

	if (c->job->max_overhead_permille && permille > c->job->max_overhead_permille &&
	    c->plan.frequency_hz >= 2 * RATE_LEAST_HZ)
		halve_rate(c, permille);
	/* What the change itself took is no reason for the next one. */
	c->second_start_ns = os_now_ns();
	c->second_cpu_ns = os_self_cpu_ns();
}
