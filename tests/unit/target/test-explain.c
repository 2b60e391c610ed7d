/* SPDX-License-Identifier: Apache-2.0 */
/* Refusals carry the true reason and a remedy that works on that machine. */
#include <errno.h>
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

TEST(explain_no_pmu)
{
	static const int all[] = { ENOENT, ENODEV, EOPNOTSUPP, EINVAL, ENODATA };
	struct target t = { .has_cpu_clock = true }, bare = { 0 };

	for (unsigned i = 0; i < sizeof(all) / sizeof(*all); i++) {
		struct err err = explain(&t, "cycles", OWN, all[i]);

		CHECK_EQ_STR(err.id, "NO_PMU");
		CHECK_HAS(err.text, "cycles");
		CHECK_HAS(err.hint, "-e cpu-clock");
		CHECK_EQ_INT(err.sys_errno, all[i]);
	}
	/* No advice that would not work. */
	CHECK_MSG(!strstr(explain(&bare, "cycles", OWN, ENOENT).hint, "cpu-clock"), "bad advice");
	CHECK_EQ_STR(explain(&t, "cpu-clock:u", OWN, EINVAL).id, "EVENT_REFUSED");
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
