/* SPDX-License-Identifier: Apache-2.0 */
/* Why the kernel refused to open an event or map a ring, and what would help on this machine. */
#include "target/cores.h"
#include "target/parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static bool is_timer(const char *event)
{
	return str_starts(event, "cpu-clock") || str_starts(event, "task-clock");
}

/* The level of kernel.perf_event_paranoid at which this needs no privilege. */
static int needed_level(bool system_wide, bool kernel)
{
	if (system_wide)
		return 0;
	return kernel ? 1 : 2;
}

static const char *what_is_asked(bool system_wide, bool kernel)
{
	if (system_wide)
		return "recording the whole system";
	return kernel ? "recording kernel code" : "recording";
}

bool target_has_perfmon(const struct target *t)
{
	return !t->kernel[0] || kernel_compare(t->kernel, "5.8") >= 0;
}

static const char *right(const struct target *t)
{
	return target_has_perfmon(t) ? "PERFMON" : "SYS_ADMIN";
}

bool target_hint_level(const struct target *t, int level, struct err *err)
{
	if (t->in_user_namespace)
		return err_hint(
			err,
			"on the host: sysctl kernel.perf_event_paranoid=%d; capabilities inside a user namespace (a rootless container) do not count for perf",
			level);
	if (!t->euid || t->container[0])
		return err_hint(
			err,
			"on the host: sysctl kernel.perf_event_paranoid=%d; or start the container with --cap-add %s",
			level, right(t));
	return err_hint(
		err,
		"sudo sysctl kernel.perf_event_paranoid=%d, or run as root, or give the agent CAP_%s",
		level, right(t));
}

bool target_hint_blocked(const struct target *t, const char *call, struct err *err)
{
	bool locked = !strcmp(t->lockdown, "confidentiality");
	bool filtered = !strcmp(t->seccomp, "2");

	if (filtered && !locked)
		return err_hint(
			err,
			"a seccomp filter is on this process: start the container with --cap-add %s, on which Docker's own filter allows it, or allow the %s system call in the filter (--security-opt seccomp=...)",
			right(t), call);
	if (locked && !filtered)
		return err_hint(
			err,
			"kernel lockdown is at 'confidentiality' (/sys/kernel/security/lockdown): boot with lockdown=integrity or without it");
	if (!strcmp(t->seccomp, "0"))
		return err_hint(
			err,
			"a security module (SELinux, AppArmor) does this: its log names the rule (sudo dmesg | grep -i denied)");
	return err_hint(
		err,
		"a seccomp filter or kernel lockdown does this; in a container allow the %s system call (--security-opt seccomp=...), on a host see /sys/kernel/security/lockdown",
		call);
}

static bool explain_denied(const struct target *t, const char *event, bool system_wide, bool kernel,
			   int errnum, struct err *err)
{
	int need = needed_level(system_wide, kernel);
	const char *what = what_is_asked(system_wide, kernel);

	if (!t->can_perfmon && t->paranoid > need) {
		err_refuse(
			err, "PERF_EVENT_PARANOID",
			"%s is not allowed for this user: kernel.perf_event_paranoid is %lld, this needs %d or less",
			what, (long long)t->paranoid, need);
		target_hint_level(t, need, err);
	} else {
		err_refuse(
			err, "PERF_EVENTS_BLOCKED",
			!t->can_perfmon && t->paranoid == INT64_MIN ?
				"%s with %s is denied (%s); kernel.perf_event_paranoid cannot be read" :
				"%s with %s is blocked although the user's rights allow it (%s)",
			what, event, strerror(errnum));
		target_hint_blocked(t, "perf_event_open", err);
	}
	err->sys_errno = errnum;
	return false;
}

/* Why a hardware event is not to be had, as far as the trials have told. */
static void refuse_hardware(const struct target *t, const char *event, int errnum, struct err *err)
{
	if (errnum == EOPNOTSUPP && !t->trials.cycles && t->trials.sampling == EOPNOTSUPP)
		err_refuse(
			err, "PMU_CANNOT_SAMPLE",
			"%s cannot be sampled here: the PMU counts, but has no interrupt to sample by (%s)",
			event, strerror(errnum));
	else if (errnum == ENODATA)
		err_refuse(
			err, "NO_PMU",
			"%s cannot be counted here: the counter opens and then stands still (%s)",
			event, strerror(errnum));
	else
		err_refuse(
			err, "NO_PMU",
			"%s cannot be counted here: this machine shows no hardware counters for it (%s)",
			event, strerror(errnum));
}

static bool explain_absent(const struct target *t, const char *event, int errnum, struct err *err)
{
	if (is_timer(event))
		err_refuse(err, "EVENT_REFUSED", "the kernel refuses the event %s: %s", event,
			   strerror(errnum));
	else
		refuse_hardware(t, event, errnum, err);
	if (!is_timer(event) && !t->trials.cpu_clock)
		err_hint(
			err,
			"sample with the timer instead (-e cpu-clock), or use bare metal or a VM type that passes the PMU through");
	else if (!is_timer(event))
		err_hint(err, "use bare metal or a VM type that passes the PMU through");
	err->sys_errno = errnum;
	return false;
}

bool target_explain_open(const struct target *t, const char *event, bool system_wide, bool kernel,
			 int errnum, struct err *err)
{
	switch (errnum) {
	case EPERM:
	case EACCES:
		return explain_denied(t, event, system_wide, kernel, errnum, err);
	case ENOENT:
	case ENODEV:
	case EOPNOTSUPP:
	case EINVAL:
	case ENODATA:
		return explain_absent(t, event, errnum, err);
	case ENOSYS:
		err_refuse(err, "NO_PERF_EVENTS",
			   "the kernel of this machine has no perf_event_open");
		err_hint(
			err,
			"it needs CONFIG_PERF_EVENTS; emulators and sandboxes such as qemu-user and gVisor lack it");
		break;
	case EMFILE:
	case ENFILE:
		err_refuse(err, "TOO_MANY_FILES",
			   "more event descriptors are needed than this user may open (%s)",
			   strerror(errnum));
		err_hint(err, "raise the limit (ulimit -n), or record fewer threads");
		break;
	case EBUSY:
		err_refuse(err, "PMU_BUSY",
			   "the counters for %s are in somebody else's exclusive use", event);
		err_hint(err, "end the other profiler, or sample with the timer (-e cpu-clock)");
		break;
	default:
		err_refuse(err, "EVENT_REFUSED", "the kernel refuses the event %s: %s", event,
			   strerror(errnum));
		break;
	}
	err->sys_errno = errnum;
	return false;
}

bool target_explain_ring(const struct target *t, uint64_t bytes, int errnum, struct err *err)
{
	char level[32];

	if (errnum != EPERM) {
		err_sys(err, errnum, "cannot map a ring of %llu bytes", (unsigned long long)bytes);
		if (errnum == ENOMEM)
			err_hint(err, "the machine is short of memory: ask for less ring memory");
		return false;
	}
	if (t->mlock_kb == INT64_MIN)
		snprintf(level, sizeof(level), "cannot be read");
	else
		snprintf(level, sizeof(level), "is %lld", (long long)t->mlock_kb);
	err_refuse(
		err, "MLOCK_LIMIT",
		"a ring of %llu bytes per CPU is more than this user may lock: kernel.perf_event_mlock_kb %s, RLIMIT_MEMLOCK %llu KiB (%s)",
		(unsigned long long)bytes, level, (unsigned long long)(t->memlock_bytes / 1024),
		strerror(errnum));
	err_hint(
		err,
		"sudo sysctl kernel.perf_event_mlock_kb=%lld, or raise ulimit -l, or end other recordings of this user",
		(long long)(t->mlock_kb > 0 ? t->mlock_kb * 4 : 2064));
	err->sys_errno = errnum;
	return false;
}
