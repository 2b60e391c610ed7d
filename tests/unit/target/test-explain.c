/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals carry the true reason and a remedy that works on that machine. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "target/target.h"
#include "test.h"

enum { OWN = 0, SYSTEM = 1, KERNEL = 2 };

static struct err explain(const struct target *t, const char *event, int what, int errnum)
{
	struct err err = { 0 };

	CHECK(!target_explain_open(t, event, what & SYSTEM, what & KERNEL, errnum, &err));
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK(err.text[0]);
	return err;
}

static void paranoid(int64_t level, int what, const char *need, const char *remedy)
{
	struct target t = { .paranoid = level, .euid = 1000 };
	struct err err = explain(&t, "cpu-clock", what, EACCES);

	CHECK_EQ_STR(err.id, "PERF_EVENT_PARANOID");
	CHECK_HAS(err.text, need);
	CHECK_HAS(err.hint, remedy);
	CHECK_HAS(err.hint, "sudo sysctl");
}

TEST(explain_paranoid_levels)
{
	paranoid(3, OWN, "kernel.perf_event_paranoid is 3, this needs 2 or less",
		 "kernel.perf_event_paranoid=2");
	paranoid(4, OWN, "is 4, this needs 2", "kernel.perf_event_paranoid=2");
	paranoid(2, KERNEL, "is 2, this needs 1", "kernel.perf_event_paranoid=1");
	paranoid(2, SYSTEM, "is 2, this needs 0", "kernel.perf_event_paranoid=0");
	paranoid(1, SYSTEM | KERNEL, "is 1, this needs 0", "kernel.perf_event_paranoid=0");
}

TEST(explain_root_without_rights)
{
	struct target t = { .paranoid = 2, .euid = 0 };
	struct err err = explain(&t, "cpu-clock", SYSTEM, EACCES);

	/* Root of a container: no sudo there. */
	CHECK_EQ_STR(err.id, "PERF_EVENT_PARANOID");
	CHECK_HAS(err.hint, "--cap-add PERFMON");
}

TEST(explain_blocked)
{
	struct target root = { .paranoid = 4, .euid = 0, .can_perfmon = true };
	struct target user = { .paranoid = 1, .euid = 1000 };
	struct err err = explain(&root, "cpu-clock", SYSTEM | KERNEL, EPERM);

	CHECK_EQ_STR(err.id, "PERF_EVENTS_BLOCKED");
	CHECK_HAS(err.hint, "seccomp");
	CHECK_EQ_INT(err.sys_errno, EPERM);
	/* The level would allow it, yet it is denied: not the level's fault. */
	CHECK_EQ_STR(explain(&user, "cpu-clock", OWN, EPERM).id, "PERF_EVENTS_BLOCKED");
}

/* What is there to forbid it is what is named. */
TEST(explain_blocked_by_whom)
{
	struct target filter = { .paranoid = 1, .seccomp = "2", .lockdown = "none" };
	struct target locked = { .paranoid = 1, .seccomp = "0", .lockdown = "confidentiality" };
	struct err err = explain(&filter, "cpu-clock", OWN, EPERM);

	CHECK_HAS(err.hint, "--security-opt seccomp");
	CHECK_MSG(!strstr(err.hint, "lockdown"), "%s", err.hint);
	err = explain(&locked, "cpu-clock", OWN, EPERM);
	CHECK_HAS(err.hint, "lockdown=integrity");
	CHECK_MSG(!strstr(err.hint, "seccomp"), "%s", err.hint);
}

/* No filter, no lockdown: something else. */
TEST(explain_blocked_without_a_filter)
{
	struct target t = { .paranoid = 1, .seccomp = "0", .lockdown = "none" };
	struct err err = explain(&t, "cpu-clock", OWN, EPERM);

	CHECK_EQ_STR(err.id, "PERF_EVENTS_BLOCKED");
	CHECK_MSG(!strstr(err.hint, "seccomp") && !strstr(err.hint, "lockdown"), "%s", err.hint);
	CHECK_HAS(err.hint, "SELinux");
}

TEST(explain_level_that_cannot_be_read)
{
	struct target t = { .paranoid = INT64_MIN, .mlock_kb = INT64_MIN };
	struct err err = explain(&t, "cpu-clock", OWN, EACCES);

	CHECK_EQ_STR(err.id, "PERF_EVENTS_BLOCKED");
	CHECK_HAS(err.text, "kernel.perf_event_paranoid cannot be read");
	CHECK(!target_explain_ring(&t, 1 << 20, EPERM, &err));
	CHECK_HAS(err.text, "kernel.perf_event_mlock_kb cannot be read, RLIMIT");
}

/* CAP_PERFMON came with 5.8; what is given in a user namespace does not count. */
TEST(explain_which_right)
{
	struct target t = { .paranoid = 3, .euid = 1000, .kernel = "5.4.0-1103-aws" };

	CHECK_HAS(explain(&t, "cpu-clock", OWN, EACCES).hint, "give the agent CAP_SYS_ADMIN");
	snprintf(t.kernel, sizeof(t.kernel), "5.8.0");
	CHECK_HAS(explain(&t, "cpu-clock", OWN, EACCES).hint, "give the agent CAP_PERFMON");
	t.in_user_namespace = true;
	CHECK_EQ_STR(explain(&t, "cpu-clock", OWN, EACCES).hint,
		     "on the host: sysctl kernel.perf_event_paranoid=2; capabilities inside a user "
		     "namespace (a rootless container) do not count for perf");
}

/* No sudo and no sysctl from within. */
TEST(explain_user_of_a_container)
{
	struct target t = { .paranoid = 3, .euid = 1000, .container = "docker" };
	struct err err = explain(&t, "cpu-clock", OWN, EACCES);

	CHECK_HAS(err.hint, "on the host: sysctl kernel.perf_event_paranoid=2");
	CHECK_MSG(!strstr(err.hint, "sudo"), "%s", err.hint);
}

TEST(explain_no_pmu)
{
	static const int all[] = { ENOENT, ENODEV, EOPNOTSUPP, EINVAL, ENODATA };
	struct target t = { 0 }, bare = { .trials.cpu_clock = ENOSYS };

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct err err = explain(&t, "cycles", OWN, all[i]);

		CHECK_EQ_STR(err.id, "NO_PMU");
		CHECK_HAS(err.text, "cycles");
		CHECK_HAS(err.hint, "-e cpu-clock");
		CHECK_EQ_INT(err.sys_errno, all[i]);
	}
	CHECK_HAS(explain(&t, "cycles", OWN, ENODATA).text, "stands still");
	/* No advice that would not work. */
	CHECK_MSG(!strstr(explain(&bare, "cycles", OWN, ENOENT).hint, "cpu-clock"), "bad advice");
	CHECK_EQ_STR(explain(&t, "cpu-clock:u", OWN, EINVAL).id, "EVENT_REFUSED");
}

TEST(explain_pmu_without_interrupt)
{
	struct target t = { .trials = { .sampling = EOPNOTSUPP } };

	CHECK_EQ_STR(explain(&t, "cycles", OWN, EOPNOTSUPP).id, "PMU_CANNOT_SAMPLE");
}

TEST(explain_others)
{
	struct target t = { 0 };

	CHECK_EQ_STR(explain(&t, "cpu-clock", OWN, ENOSYS).id, "NO_PERF_EVENTS");
	CHECK_EQ_STR(explain(&t, "cpu-clock", OWN, EMFILE).id, "TOO_MANY_FILES");
	CHECK_HAS(explain(&t, "cpu-clock", OWN, EMFILE).hint, "ulimit -n");
	CHECK_EQ_STR(explain(&t, "cycles", OWN, EBUSY).id, "PMU_BUSY");
	CHECK_HAS(explain(&t, "cpu-clock", OWN, EIO).text, "Input/output error");
}

TEST(explain_ring)
{
	struct target t = { .mlock_kb = 516, .memlock_bytes = 64 << 10 };
	struct err err = { 0 };

	CHECK(!target_explain_ring(&t, 1 << 20, EPERM, &err));
	CHECK_EQ_STR(err.id, "MLOCK_LIMIT");
	CHECK_HAS(err.text, "perf_event_mlock_kb is 516, RLIMIT_MEMLOCK 64 KiB");
	CHECK_HAS(err.hint, "kernel.perf_event_mlock_kb=2064");
	/* Another cause is not blamed on the limit. */
	CHECK(!target_explain_ring(&t, 1 << 20, EINVAL, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_HAS(err.text, "Invalid argument");
}
