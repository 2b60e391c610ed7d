/* SPDX-License-Identifier: Apache-2.0 */
/* Live: a user without rights gets what the kernel allows, and is told the rest by name. */
#include <unistd.h>

#include "host.h"
#include "test.h"

static const struct host_setup nobody = { .stdio = { -1, -1, -1 }, .uid = 65534 };

static long paranoid(void)
{
	const struct rootfs here = { "" };

	return (long)rootfs_number(&here, "/proc/sys/kernel/perf_event_paranoid", 99);
}

TEST(unprivileged_launch)
{
	struct host h;
	struct job job;
	struct host_tally t;

	host_needs_perf();
	if (geteuid() || paranoid() > 2)
		SKIP("needs root and kernel.perf_event_paranoid <= 2");
	job = host_job(host_argv(host_program("spin"), "300", NULL));
	host_start(&h, &job, &nobody);
	host_until_end(&h);
	CHECK_MSG(!h.has_error, "%s", h.error.text);
	t = host_count(&h);
	CHECK(t.samples > 200);
	CHECK(h.started.ring_bytes >= 8192);
	if (paranoid() == 2) {
		CHECK_EQ_STR(h.started.events.at[0].name, "cpu-clock:u");
		CHECK_HAS(host_note(&h, "KERNEL_EXCLUDED"), "perf_event_paranoid=1");
	}
	host_end(&h);
}

/* More than the locked memory of an unprivileged user allows is asked for: smaller rings do. */
TEST(unprivileged_stack_dumps)
{
	struct host h;
	struct job job;

	host_needs_perf();
	if (geteuid() || paranoid() > 2)
		SKIP("needs root and kernel.perf_event_paranoid <= 2");
	job = host_job(host_argv(host_program("spin"), "200", NULL));
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 16384;
	job.frequency_hz = 4000;
	host_start(&h, &job, &nobody);
	host_until_end(&h);
	CHECK_MSG(!h.has_error, "%s", h.error.text);
	CHECK(host_count(&h).samples > 100);
	host_end(&h);
}

TEST(unprivileged_system_wide_is_refused)
{
	struct host h;
	struct job job = host_job(NULL);

	host_needs_perf();
	if (geteuid() || paranoid() < 1)
		SKIP("needs root and kernel.perf_event_paranoid >= 1");
	job.scope = JOB_SYSTEM;
	host_start(&h, &job, &nobody);
	host_until_end(&h);
	CHECK(h.has_error && !h.has_started);
	CHECK_EQ_STR(h.error.id, "PERF_EVENT_PARANOID");
	CHECK_EQ_INT(h.error.kind, ERR_REFUSED);
	CHECK_HAS(h.error.text, "recording the whole system");
	CHECK_HAS(h.error.hint, "kernel.perf_event_paranoid=0");
	host_end(&h);
}
