/* SPDX-License-Identifier: Apache-2.0 */
/* Settings, rights and limits, each from the file that has it. */
#include "test.h"
#include "tree.h"

static void probe_with(struct target *t, const char *status)
{
	tree_put("/proc/self/status", status);
	tree_answers("");
	tree_probe(t);
}

TEST(limits_rights)
{
	struct target t;

	probe_with(&t, "Name:\tagent\nUid:\t0\t1000\t0\t0\nCapEff:\t0000004000080000\nSeccomp:\t2\n"
		       "Seccomp_filters:\t1\n");
	CHECK_EQ_INT(t.euid, 1000);
	CHECK_EQ_U64(t.capabilities, 0x4000080000);
	CHECK(t.can_perfmon && t.can_ptrace && !t.can_ipc_lock && !t.can_bpf);
	CHECK_EQ_STR(t.seccomp, "2");
	target_done(&t);
	probe_with(&t, "CapEff:\t0000008000004000\n");
	CHECK(!t.can_perfmon && !t.can_ptrace && t.can_ipc_lock && t.can_bpf);
	CHECK_EQ_STR(t.seccomp, "");
	target_done(&t);
	/* CAP_SYS_ADMIN holds what was once part of it. */
	probe_with(&t, "CapEff:\t0000000000200000\n");
	CHECK(t.can_perfmon && t.can_ptrace && !t.can_ipc_lock && t.can_bpf);
	target_done(&t);
}

static void namespaced(const char *map, bool want)
{
	struct target t;

	tree_put("/proc/self/uid_map", map);
	probe_with(&t, "CapEff:\t000001ffffffffff\n");
	CHECK_EQ_INT(t.in_user_namespace, want);
	CHECK_EQ_U64(t.capabilities, 0x1ffffffffff);
	CHECK_EQ_INT(t.can_perfmon, !want);
	CHECK_EQ_INT(t.can_bpf, !want);
	CHECK_EQ_INT(t.can_ipc_lock, !want);
	/* Which asks of the namespace of whom one traces. */
	CHECK(t.can_ptrace);
	target_done(&t);
}

TEST(limits_user_namespaces)
{
	namespaced("         0          0 4294967295\n", false);
	namespaced("         0       1000          1\n", true);
	namespaced("         0     100000      65536\n", true);
	namespaced("", true);
}

TEST(limits_settings)
{
	struct target t;

	tree_put("/proc/sys/kernel/nmi_watchdog", "1\n");
	tree_put("/proc/sys/kernel/perf_user_access", "0\n");
	tree_put("/proc/sys/kernel/unprivileged_bpf_disabled", "2\n");
	tree_put("/proc/sys/kernel/perf_event_mlock_kb", "516\n");
	tree_put("/proc/sys/kernel/yama/ptrace_scope", "3\n");
	tree_put("/sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
	tree_put("/sys/kernel/btf/vmlinux", "");
	probe_with(&t, "");
	CHECK_EQ_INT(t.nmi_watchdog, 1);
	CHECK_EQ_INT(t.perf_user_access, 0);
	CHECK_EQ_INT(t.unprivileged_bpf_disabled, 2);
	CHECK_EQ_INT(t.mlock_kb, 516);
	CHECK_EQ_INT(t.ptrace_scope, 3);
	CHECK(t.kptr_restrict == INT64_MIN);
	CHECK_EQ_STR(t.lockdown, "integrity");
	CHECK(t.has_btf && !t.has_tracefs);
	target_done(&t);
}

static void memlock(const char *limits, uint64_t want)
{
	struct target t;

	tree_put("/proc/self/limits", limits);
	probe_with(&t, "");
	CHECK_EQ_U64(t.memlock_bytes, want);
	target_done(&t);
}

TEST(limits_locked_memory)
{
	memlock("Max locked memory         65536                8388608              bytes\n",
		65536);
	memlock("Limit   Soft Limit  Hard Limit  Units\nMax processes 5 5 processes\n"
		"Max locked memory         unlimited            unlimited            bytes\n",
		UINT64_MAX);
	memlock("Max processes 5 5 processes\n", UINT64_MAX);
}
