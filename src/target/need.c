/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of needs, and those of them that ask for little more than rights. */
#include "target/need.h"
#include "target/parts.h"

#include <errno.h>
#include <string.h>

void need_place(struct need_place *out, const struct target *t)
{
	struct need_place p = { .virt = t->virt };
	uint64_t midr = t->cores.len ? t->cores.at[0].midr : 0;

	vec_each(c, &t->cores) {
		if (!p.core)
			p.core = core_find(c->midr);
	}
	p.cloud = cloud_find(t->dmi_vendor, t->dmi_product, t->dmi_asset_tag);
	if (p.cloud)
		p.instance = instance_find(p.cloud->key, t->dmi_product, midr);
	if (p.virt == TARGET_VIRT_UNKNOWN && p.instance)
		p.virt = instance_is_metal(p.instance, t->dmi_product) ? TARGET_VIRT_NONE :
									 TARGET_VIRT_GUEST;
	*out = p;
}

const char *need_where(const struct target *t)
{
	return t->container[0] || t->in_user_namespace ? "on the host: " : "";
}

bool need_is_about_rights(int errnum)
{
	return errnum == EACCES || errnum == EPERM || errnum == ENOSYS || errnum == EMFILE ||
	       errnum == ENFILE;
}

static bool need_timer(const struct target *t, uint32_t n, struct err *err)
{
	(void)n;
	return !t->trials.cpu_clock ||
	       target_explain_open(t, "cpu-clock", false, false, t->trials.cpu_clock, err);
}

static bool need_system_wide(const struct target *t, uint32_t n, struct err *err)
{
	(void)n;
	return !t->trials.system_wide ||
	       target_explain_open(t, "cpu-clock", true, false, t->trials.system_wide, err);
}

static bool need_kernel(const struct target *t, uint32_t n, struct err *err)
{
	(void)n;
	return !t->trials.kernel ||
	       target_explain_open(t, "cpu-clock", false, true, t->trials.kernel, err);
}

static void hint_tracefs(const struct target *t, struct err *err)
{
	if (t->in_user_namespace)
		err_hint(err, "run as root outside of this user namespace (a rootless container): "
			      "root inside may not read tracefs");
	else if (t->container[0])
		err_hint(err, "run as root with the host's /sys/kernel/tracing in the container "
			      "(-v /sys/kernel/tracing:/sys/kernel/tracing:ro)");
	else if (t->euid)
		err_hint(err, "run as root, or: sudo mount -t tracefs -o mode=755 tracefs "
			      "/sys/kernel/tracing (remount where it is mounted)");
	else
		err_hint(err, "mount -t tracefs tracefs /sys/kernel/tracing");
}

/* Samples of tracepoints carry raw data, for which the kernel wants more than for counters. */
static bool need_tracepoints(const struct target *t, uint32_t n, struct err *err)
{
	int errnum = t->trials.tracepoint;

	(void)n;
	if (!errnum)
		return true;
	if (errnum == ENOSYS || errnum == EMFILE || errnum == ENFILE)
		return target_explain_open(t, "sched:sched_switch", false, false, errnum, err);
	if (!strcmp(t->lockdown, "confidentiality")) {
		err_refuse(err, "TRACEPOINTS_UNAVAILABLE",
			   "tracepoints are shut by kernel lockdown, which is at confidentiality "
			   "(%s)",
			   strerror(errnum));
		err_hint(err, "boot with lockdown=integrity or without lockdown");
	} else if (!t->has_tracefs) {
		err_refuse(err, "TRACEPOINTS_UNAVAILABLE",
			   "tracepoints cannot be read: tracefs is not mounted, or not readable "
			   "for this user");
		hint_tracefs(t, err);
	} else if (!need_is_about_rights(errnum)) {
		err_refuse(err, "TRACEPOINTS_UNAVAILABLE",
			   "the kernel has no tracepoint sched:sched_switch (%s)",
			   strerror(errnum));
		err_hint(err, "a kernel with CONFIG_TRACEPOINTS, CONFIG_PERF_EVENTS and "
			      "CONFIG_FTRACE_SYSCALLS");
	} else if (t->can_perfmon || t->paranoid < 0) {
		/* The level, as far as it can be read, is not in the way. */
		return target_explain_open(t, "sched:sched_switch", false, false, errnum, err);
	} else {
		err_refuse(err, "PERF_EVENT_PARANOID",
			   "tracepoints are not allowed for this user: "
			   "kernel.perf_event_paranoid is %lld, they need -1",
			   (long long)t->paranoid);
		target_hint_level(t, -1, err);
	}
	err->sys_errno = errnum;
	return false;
}

static bool refuse_bpf_rights(const struct target *t, struct err *err)
{
	bool split = target_has_perfmon(t);
	const char *rights = split ? "CAP_BPF and CAP_PERFMON" : "CAP_SYS_ADMIN";

	if (t->can_bpf && t->can_perfmon) {
		err_refuse(err, "BPF_UNAVAILABLE",
			   "loading BPF programs is blocked although the user's rights allow it");
		return target_hint_blocked(t, "bpf", err);
	}
	err_refuse(err, "BPF_UNAVAILABLE",
		   "this user may not load BPF programs that trace: it takes %s", rights);
	if (t->in_user_namespace)
		return err_hint(err, "run as root outside of this user namespace (a rootless "
				     "container): capabilities inside do not count for BPF");
	if (t->container[0])
		return err_hint(err, "start the container with %s",
				split ? "--cap-add BPF --cap-add PERFMON" : "--cap-add SYS_ADMIN");
	return err_hint(err, "run as root, or give the agent %s", rights);
}

/* A program that loads may still not be one that traces: that takes capabilities and BTF. */
static bool need_bpf(const struct target *t, uint32_t n, struct err *err)
{
	int errnum = t->trials.bpf;
	bool may = t->can_bpf && t->can_perfmon;

	(void)n;
	if (!errnum && may && t->has_btf)
		return true;
	if (errnum == ENOSYS) {
		err_refuse(err, "BPF_UNAVAILABLE", "the kernel of this machine has no bpf(2)");
		err_hint(err, "a kernel with CONFIG_BPF_SYSCALL; emulators and sandboxes lack it");
	} else if (!t->has_btf) {
		err_refuse(err, "BPF_UNAVAILABLE",
			   "the kernel does not describe its types (no /sys/kernel/btf/vmlinux)");
		err_hint(err, "a kernel with CONFIG_DEBUG_INFO_BTF");
	} else if (!may || errnum == EPERM || errnum == EACCES) {
		refuse_bpf_rights(t, err);
	} else {
		err_refuse(err, "BPF_UNAVAILABLE", "the kernel refuses a BPF program: %s",
			   strerror(errnum));
		err_hint(err, "a kernel with CONFIG_BPF_SYSCALL and CONFIG_BPF_EVENTS");
	}
	err->sys_errno = errnum;
	return false;
}

/* Yama alone can forbid the tracing of one's own children: 2 to users, 3 to all. */
static bool need_ptrace(const struct target *t, uint32_t n, struct err *err)
{
	(void)n;
	if (t->ptrace_scope < 2 || (t->ptrace_scope == 2 && t->can_ptrace))
		return true;
	err_refuse(err, "PTRACE_DENIED", "kernel.yama.ptrace_scope is %lld: %s may trace processes",
		   (long long)t->ptrace_scope,
		   t->ptrace_scope == 2 ? "only those with CAP_SYS_PTRACE" : "nobody");
	return err_hint(err,
			t->ptrace_scope == 2 ?
				"%ssudo sysctl kernel.yama.ptrace_scope=1, or run as root" :
				"%sit can only be lowered by a reboot: set "
				"kernel.yama.ptrace_scope to 1 in /etc/sysctl.d first",
			need_where(t));
}

static bool need_proc(const struct target *t, uint32_t n, struct err *err)
{
	(void)t, (void)n, (void)err;
	return true;
}

static const struct need {
	const char *word;
	bool is_counted; /* ":N" stands behind it */
	need_fn *has;
	need_pmu_fn *pmu; /* NULL: none of its own */
} needs[] = {
	{ "timer", false, need_timer, NULL },
	{ "cycles", false, need_cycles, NULL },
	{ "counters", true, need_counters, NULL },
	{ "system-wide", false, need_system_wide, NULL },
	{ "kernel", false, need_kernel, NULL },
	{ "spe", false, need_spe, need_spe_pmu },
	{ "branch-records", false, need_branch_records, NULL },
	{ "tracepoints", false, need_tracepoints, NULL },
	{ "bpf", false, need_bpf, NULL },
	{ "ptrace", false, need_ptrace, NULL },
	{ "cmn", false, need_cmn, need_cmn_pmu },
	{ "proc", false, need_proc, NULL },
};

enum { NEED_COUNT = sizeof(needs) / sizeof(*needs) };

const char *target_need_word(size_t i)
{
	return i < NEED_COUNT ? needs[i].word : NULL;
}

static const struct need *need_find(const char *text, uint32_t *n)
{
	const char *colon = strchr(text, ':');
	struct str word = { text, colon ? (size_t)(colon - text) : strlen(text) };
	uint64_t count = 0;

	for (const struct need *d = needs; d < needs + NEED_COUNT; d++) {
		if (!str_eq(word, d->word) || d->is_counted != (colon != NULL))
			continue;
		if (colon &&
		    (!str_u64(str_of(colon + 1), &count) || !count || count > TARGET_COUNTERS_MOST))
			return NULL;
		*n = (uint32_t)count;
		return d;
	}
	return NULL;
}

bool target_need_known(const char *need)
{
	uint32_t n;

	return need_find(need, &n) != NULL;
}

bool target_need(const struct target *t, const char *need, struct err *err)
{
	uint32_t n;
	const struct need *d = need_find(need, &n);

	if (!d)
		return err_set(err, ERR_FORMAT, "\"%s\" is nothing that a recipe can need", need);
	if (d->has(t, n, err))
		return true;
	/* Not a word about the machine, of which this is not known. */
	if (err->sys_errno == TARGET_UNTRIED) {
		err_refuse(err, "NOT_TRIED", "it is not known whether %s works: nobody tried",
			   need);
		err_hint(err, "run the agent of this version there: culprit-agent probe > FILE");
	}
	return false;
}

const char *target_need_pmu(const struct target *t, const char *need)
{
	uint32_t n;
	const struct need *d = need_find(need, &n);
	struct err err;

	return d && d->pmu && d->has(t, n, &err) ? d->pmu(t) : NULL;
}

enum remedy_effort target_remedy_effort(const struct err *refusal)
{
	static const char *const reboot[] = { "KERNEL_TOO_OLD", "SPE_BLOCKED_BY_KPTI",
					      "SPE_NOT_IN_FIRMWARE" };
	static const char *const machine[] = { "NO_PMU",
					       "NO_PERF_EVENTS",
					       "PMU_CANNOT_SAMPLE",
					       "INSUFFICIENT_PMU_COUNTERS",
					       "SPE_NOT_PRESENT",
					       "CMN_NOT_PRESENT",
					       "BRANCH_RECORDS_NOT_PRESENT" };

	for (size_t i = 0; i < sizeof(reboot) / sizeof(*reboot); i++)
		if (!strcmp(refusal->id, reboot[i]))
			return REMEDY_REBOOT;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); i++)
		if (!strcmp(refusal->id, machine[i]))
			return REMEDY_MACHINE;
	/* BPF, tracepoints and lockdown are settings for most, and a matter of the kernel for some. */
	return str_starts(refusal->hint, "boot ") || str_starts(refusal->hint, "a kernel ") ?
		       REMEDY_REBOOT :
		       REMEDY_SETTING;
}
