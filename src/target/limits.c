/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: the settings and rights that bear on recording. */
#include "base/os.h"
#include "target/parts.h"

enum {
	CAP_BIT_IPC_LOCK = 14,
	CAP_BIT_SYS_PTRACE = 19,
	CAP_BIT_SYS_ADMIN = 21,
	CAP_BIT_PERFMON = 38,
	CAP_BIT_BPF = 39
};

/* Some rights came out of CAP_SYS_ADMIN, which still gives them. */
static bool has_cap(const struct target *t, int bit)
{
	return t->capabilities >> bit & 1 || t->capabilities >> CAP_BIT_SYS_ADMIN & 1;
}

/* The first user namespace has all ids as they are; any other one maps some of them. */
static bool in_user_namespace(const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str rest, word;

	if (!rootfs_read(root, "/proc/self/uid_map", &text))
		return false; /* a kernel without them */
	rest = (struct str){ buf_str(&text), text.len };
	for (size_t i = 0; i < 3; i++) {
		static const char *const all[] = { "0", "0", "4294967295" };

		if (!str_word(&rest, &word) || !str_eq(word, all[i]))
			return true;
	}
	return false;
}

static void probe_rights(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str status, value, word;
	uint64_t uid;

	if (!rootfs_read(root, "/proc/self/status", &text))
		return;
	status = (struct str){ buf_str(&text), text.len };
	/* Uid: real, effective, saved, file system. */
	if (target_field(status, "Uid", &value) && str_word(&value, &word) &&
	    str_word(&value, &word) && str_u64(word, &uid))
		t->euid = (uint32_t)uid;
	if (target_field(status, "CapEff", &value) && !str_hex(value, &t->capabilities))
		t->capabilities = 0;
	if (target_field(status, "Seccomp", &value))
		target_copy(t->seccomp, sizeof(t->seccomp), value);
	t->in_user_namespace = in_user_namespace(root);
	/* What the kernel asks of the first namespace, a capability in another one does not give. */
	t->can_perfmon = !t->in_user_namespace && has_cap(t, CAP_BIT_PERFMON);
	t->can_ipc_lock = !t->in_user_namespace && t->capabilities >> CAP_BIT_IPC_LOCK & 1;
	t->can_bpf = !t->in_user_namespace && has_cap(t, CAP_BIT_BPF);
	t->can_ptrace = has_cap(t, CAP_BIT_SYS_PTRACE);
}

/* "Max locked memory  8388608  8388608  bytes": the first number is the one in force. */
static uint64_t read_memlock(const struct rootfs *root)
{
	static const char name[] = "Max locked memory";
	buf_auto text = { 0 };
	struct str rest, line, word;
	uint64_t bytes;

	if (!rootfs_read(root, "/proc/self/limits", &text))
		return UINT64_MAX;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		if (line.len < sizeof(name) || memcmp(line.at, name, sizeof(name) - 1) != 0)
			continue;
		line.at += sizeof(name) - 1;
		line.len -= sizeof(name) - 1;
		if (str_word(&line, &word) && str_u64(word, &bytes))
			return bytes;
	}
	return UINT64_MAX;
}

/* "none [integrity] confidentiality" */
static void probe_lockdown(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str rest, word;

	if (!rootfs_read(root, "/sys/kernel/security/lockdown", &text))
		return;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_word(&rest, &word))
		if (word.len > 2 && word.at[0] == '[' && word.at[word.len - 1] == ']')
			target_copy(t->lockdown, sizeof(t->lockdown),
				    (struct str){ word.at + 1, word.len - 2 });
}

/* Mounted and open to us: an ordinary user often may not look in. */
static bool has_tracefs(const struct rootfs *root)
{
	static const char *const places[] = { "/sys/kernel/tracing/events",
					      "/sys/kernel/debug/tracing/events" };
	bool has = false;

	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !has; i++) {
		fd_auto fd = rootfs_open(root, places[i]);

		has = fd >= 0;
	}
	return has;
}

void target_probe_limits(struct target *t, const struct rootfs *root)
{
	struct {
		const char *name;
		int64_t *to;
	} const settings[] = {
		{ "perf_event_paranoid", &t->paranoid },
		{ "kptr_restrict", &t->kptr_restrict },
		{ "perf_event_max_sample_rate", &t->max_sample_rate },
		{ "perf_event_mlock_kb", &t->mlock_kb },
		{ "nmi_watchdog", &t->nmi_watchdog },
		{ "perf_user_access", &t->perf_user_access },
		{ "unprivileged_bpf_disabled", &t->unprivileged_bpf_disabled },
		{ "yama/ptrace_scope", &t->ptrace_scope },
	};

	for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++) {
		char_auto path = mem_printf("/proc/sys/kernel/%s", settings[i].name);

		*settings[i].to = rootfs_number(root, path, INT64_MIN);
	}
	t->memlock_bytes = read_memlock(root);
	probe_rights(t, root);
	probe_lockdown(t, root);
	t->has_btf = rootfs_exists(root, "/sys/kernel/btf/vmlinux");
	t->has_tracefs = has_tracefs(root);
}
