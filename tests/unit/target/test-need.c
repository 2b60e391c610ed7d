/* SPDX-License-Identifier: Apache-2.0 */
/* Needs that are a matter of rights and kernels, on machines that nobody here owns. */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "test.h"

TEST(needs_are_known)
{
	static const char *const good[] = { "timer",	   "cycles", "counters:1", "counters:64",
					    "system-wide", "kernel", "spe",	   "branch-records",
					    "tracepoints", "bpf",    "ptrace",	   "cmn",
					    "proc" };
	static const char *const bad[] = {
		"",	      "counters", "counters:", "counters:0", "counters:65",
		"counters:x", "spe:1",	  "Spe",       "timers",     ":"
	};
	struct target t = { 0 };
	struct err err;
	size_t words = 0;

	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		CHECK_MSG(target_need_known(good[i]), "%s", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_MSG(!target_need_known(bad[i]), "%s", bad[i]);
	CHECK(!target_need(&t, "nix", &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.text, "\"nix\"");
	while (target_need_word(words))
		words++;
	CHECK_EQ_U64(words, 12);
}

TEST(metal_has_all)
{
	struct machine m;
	const char *word;

	machine_metal(&m, V2);
	for (size_t i = 0; (word = target_need_word(i)); i++)
		if (strcmp(word, "counters") != 0)
			machine_has(&m, word);
	machine_has(&m, "counters:6");
	CHECK_HAS(machine_lacks(&m, "counters:7", "INSUFFICIENT_PMU_COUNTERS").text,
		  "7 programmable counters are needed at once; this machine has 6");
}

TEST(timer_and_rights)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.can_perfmon = false;
	m.t.euid = 1000;
	m.t.paranoid = 4;
	m.t.trials = (struct target_trials){ .cpu_clock = EACCES,
					     .cycles = EACCES,
					     .sampling = EACCES,
					     .system_wide = EACCES,
					     .kernel = EACCES,
					     .spe = EACCES,
					     .branch_stack = EACCES };
	CHECK_HAS(machine_lacks(&m, "timer", "PERF_EVENT_PARANOID").hint,
		  "sysctl kernel.perf_event_paranoid=2");
	machine_lacks(&m, "cycles", "PERF_EVENT_PARANOID");
	/* Nobody could count them. */
	m.pmus[0].counters = m.pmus[0].free = -1;
	m.pmus[0].open_errno = EACCES;
	machine_lacks(&m, "counters:1", "PERF_EVENT_PARANOID");
	CHECK_HAS(machine_lacks(&m, "spe", "PERF_EVENT_PARANOID").hint, "paranoid=2");
	m.core.midr = STRANGE;
	machine_lacks(&m, "branch-records", "PERF_EVENT_PARANOID");
	/* Without a PMU no right would help. */
	m.pmus[0].is_core = false;
	machine_lacks(&m, "cycles", "NO_PMU");
	machine_lacks(&m, "counters:1", "NO_PMU");
	machine_lacks(&m, "branch-records", "NO_PMU");
}

TEST(rights_by_scope)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.can_perfmon = false;
	m.t.euid = 1000;
	m.t.trials.system_wide = m.t.trials.kernel = EACCES;
	CHECK_HAS(machine_lacks(&m, "system-wide", "PERF_EVENT_PARANOID").hint, "paranoid=0");
	CHECK_HAS(machine_lacks(&m, "kernel", "PERF_EVENT_PARANOID").hint, "paranoid=1");
	machine_has(&m, "timer");
	m.t.trials.cpu_clock = ENOSYS;
	CHECK_EQ_INT(machine_lacks(&m, "timer", "NO_PERF_EVENTS").sys_errno, ENOSYS);
}

TEST(tracepoints)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.can_perfmon = false;
	m.t.euid = 1000;
	m.t.trials.tracepoint = EACCES;
	CHECK_EQ_STR(machine_lacks(&m, "tracepoints", "PERF_EVENT_PARANOID").text,
		     "tracepoints are not allowed for this user: kernel.perf_event_paranoid is 2, "
		     "they need -1");
	m.t.has_tracefs = false;
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		  "sudo mount -t tracefs");
	m.t.euid = 0;
	CHECK_EQ_STR(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		     "mount -t tracefs tracefs /sys/kernel/tracing");
	SET(m.t.container, "docker");
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		  "-v /sys/kernel/tracing");
	m.t.has_tracefs = true;
	CHECK_HAS(machine_lacks(&m, "tracepoints", "PERF_EVENT_PARANOID").hint,
		  "--cap-add PERFMON");
	/* A level that is not in the way, or not told, is not blamed. */
	m.t.paranoid = -1;
	CHECK_MSG(!strstr(machine_lacks(&m, "tracepoints", "PERF_EVENTS_BLOCKED").text, "-1"),
		  "blamed");
	m.t.paranoid = INT64_MIN;
	CHECK_HAS(machine_lacks(&m, "tracepoints", "PERF_EVENTS_BLOCKED").text,
		  "kernel.perf_event_paranoid cannot be read");
	m.t.can_perfmon = true;
	machine_lacks(&m, "tracepoints", "PERF_EVENTS_BLOCKED");
	m.t.trials.tracepoint = ENOENT;
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		  "CONFIG_TRACEPOINTS");
	m.t.trials.tracepoint = ENOSYS;
	machine_lacks(&m, "tracepoints", "NO_PERF_EVENTS");
	/* Nothing else helps while the kernel is locked down. */
	m.t.trials.tracepoint = EPERM;
	m.t.has_tracefs = false;
	SET(m.t.lockdown, "confidentiality");
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").text, "lockdown");
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		  "lockdown=integrity");
}

TEST(bpf)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.has_btf = false;
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint, "CONFIG_DEBUG_INFO_BTF");
	m.t.has_btf = true;
	m.t.trials.bpf = EPERM;
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint, "seccomp");
	SET(m.t.lockdown, "confidentiality");
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint, "lockdown");
	/* A program of the smallest kind may load for all; one that traces needs rights. */
	m.t.trials.bpf = 0;
	m.t.can_bpf = false;
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint, "CAP_BPF and CAP_PERFMON");
	SET(m.t.container, "docker");
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint,
		  "--cap-add BPF --cap-add PERFMON");
	m.t.trials.bpf = ENOSYS;
	CHECK_HAS(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint, "CONFIG_BPF_SYSCALL");
}

/* A setting before a reboot before another machine. */
TEST(remedy_efforts)
{
	struct machine m;
	struct err err;

	machine_metal(&m, N1);
	m.t.pmus.len = 1;
	m.t.trials.spe = ENOENT;
	SET(m.t.spe_module, "available");
	err = machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED");
	CHECK_EQ_INT(target_remedy_effort(&err), REMEDY_SETTING);
	m.t.has_kpti = true;
	err = machine_lacks(&m, "spe", "SPE_BLOCKED_BY_KPTI");
	CHECK_EQ_INT(target_remedy_effort(&err), REMEDY_REBOOT);
	m.t.virt = TARGET_VIRT_GUEST;
	err = machine_lacks(&m, "spe", "SPE_NOT_PRESENT");
	CHECK_EQ_INT(target_remedy_effort(&err), REMEDY_MACHINE);
	m.t.can_bpf = false;
	err = machine_lacks(&m, "bpf", "BPF_UNAVAILABLE");
	CHECK_EQ_INT(target_remedy_effort(&err), REMEDY_SETTING);
	m.t.has_btf = false;
	err = machine_lacks(&m, "bpf", "BPF_UNAVAILABLE");
	CHECK_EQ_INT(target_remedy_effort(&err), REMEDY_REBOOT);
}

/* CAP_SYS_ADMIN was what there was before. */
TEST(rights_of_old_kernels)
{
	struct machine m;

	machine_metal(&m, V2);
	SET(m.t.kernel, "5.4.0-1103-aws");
	m.t.can_bpf = m.t.can_perfmon = false;
	m.t.euid = 1000;
	m.t.trials.tracepoint = EACCES;
	CHECK_EQ_STR(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint,
		     "run as root, or give the agent CAP_SYS_ADMIN");
	CHECK_HAS(machine_lacks(&m, "tracepoints", "PERF_EVENT_PARANOID").hint, "CAP_SYS_ADMIN");
	SET(m.t.container, "docker");
	CHECK_EQ_STR(machine_lacks(&m, "bpf", "BPF_UNAVAILABLE").hint,
		     "start the container with --cap-add SYS_ADMIN");
	CHECK_HAS(machine_lacks(&m, "tracepoints", "PERF_EVENT_PARANOID").hint,
		  "--cap-add SYS_ADMIN");
}

/* No capability that is given inside a user namespace counts. */
TEST(rights_in_a_user_namespace)
{
	struct machine m;
	struct err err;

	machine_metal(&m, V2);
	m.t.can_bpf = m.t.can_perfmon = false;
	m.t.in_user_namespace = true;
	SET(m.t.container, "podman");
	SET(m.t.seccomp, "0");
	m.t.trials.tracepoint = EACCES;
	err = machine_lacks(&m, "bpf", "BPF_UNAVAILABLE");
	CHECK_HAS(err.hint, "outside of this user namespace");
	err = machine_lacks(&m, "tracepoints", "PERF_EVENT_PARANOID");
	CHECK_HAS(err.hint, "on the host: sysctl kernel.perf_event_paranoid=-1");
	CHECK_MSG(!strstr(err.hint, "cap-add"), "%s", err.hint);
	m.t.has_tracefs = false;
	CHECK_HAS(machine_lacks(&m, "tracepoints", "TRACEPOINTS_UNAVAILABLE").hint,
		  "outside of this");
	/* Without a filter, a filter is not what blocks. */
	m.t.can_bpf = m.t.can_perfmon = true;
	m.t.trials.bpf = EPERM;
	err = machine_lacks(&m, "bpf", "BPF_UNAVAILABLE");
	CHECK_MSG(!strstr(err.hint, "seccomp"), "%s", err.hint);
	CHECK_HAS(err.hint, "security module");
}

TEST(ptrace_scope)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.ptrace_scope = INT64_MIN; /* no Yama */
	machine_has(&m, "ptrace");
	m.t.ptrace_scope = 1;
	machine_has(&m, "ptrace");
	m.t.ptrace_scope = 2;
	CHECK_HAS(machine_lacks(&m, "ptrace", "PTRACE_DENIED").hint, "ptrace_scope=1");
	m.t.can_ptrace = true;
	machine_has(&m, "ptrace");
	m.t.ptrace_scope = 3;
	CHECK_HAS(machine_lacks(&m, "ptrace", "PTRACE_DENIED").hint, "reboot");
}
