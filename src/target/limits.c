/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: the settings and rights that bear on recording, and what trials say. */
#include "base/os.h"
#include "target/parts.h"

#include <errno.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	CAP_BIT_IPC_LOCK = 14,
	CAP_BIT_SYS_PTRACE = 19,
	CAP_BIT_SYS_ADMIN = 21,
	CAP_BIT_PERFMON = 38
};

static void probe_rights(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str status, value, word;
	uint64_t caps = 0, uid;

	if (!rootfs_read(root, "/proc/self/status", &text))
		return;
	status = (struct str){ buf_str(&text), text.len };
	/* Uid: real, effective, saved, file system. */
	if (target_field(status, "Uid", &value) && str_word(&value, &word) &&
	    str_word(&value, &word) && str_u64(word, &uid))
		t->euid = (uint32_t)uid;
	if (target_field(status, "CapEff", &value) && !str_hex(value, &caps))
		caps = 0;
	t->can_perfmon = caps >> CAP_BIT_PERFMON & 1 || caps >> CAP_BIT_SYS_ADMIN & 1;
	t->can_ipc_lock = caps >> CAP_BIT_IPC_LOCK & 1;
	t->can_ptrace = caps >> CAP_BIT_SYS_PTRACE & 1 || caps >> CAP_BIT_SYS_ADMIN & 1;
}

void target_probe_limits(struct target *t, const struct rootfs *root)
{
	struct rlimit lock;

	t->paranoid = rootfs_number(root, "/proc/sys/kernel/perf_event_paranoid", INT64_MIN);
	t->kptr_restrict = rootfs_number(root, "/proc/sys/kernel/kptr_restrict", INT64_MIN);
	t->max_sample_rate =
		rootfs_number(root, "/proc/sys/kernel/perf_event_max_sample_rate", INT64_MIN);
	t->mlock_kb = rootfs_number(root, "/proc/sys/kernel/perf_event_mlock_kb", INT64_MIN);
	t->memlock_bytes = UINT64_MAX;
	if (!getrlimit(RLIMIT_MEMLOCK, &lock) && lock.rlim_cur != RLIM_INFINITY)
		t->memlock_bytes = lock.rlim_cur;
	probe_rights(t, root);
}

int target_open_real(void *ctx, const void *attr, int pid, int cpu, int group, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);

	(void)ctx;
	return fd < 0 ? -errno : (int)fd;
}

struct perf_event_attr target_plain_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .exclude_kernel = 1,
					 .exclude_hv = 1 };
}

/* 0, or why it does not open. */
static int try_open(target_open_fn *open, void *ctx, const struct perf_event_attr *attr, int pid,
		    int cpu)
{
	fd_auto fd = open(ctx, attr, pid, cpu, -1, 0);
	int errnum = fd < 0 ? -fd : 0;

	if (fd < 0)
		fd = -1;
	return errnum;
}

/* A guest may offer a counter that opens and then stands still: it must be seen to move. */
static int try_cycles(target_open_fn *open, void *ctx)
{
	struct perf_event_attr attr =
		target_plain_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	fd_auto fd = open(ctx, &attr, 0, -1, -1, 0);
	volatile uint32_t work = 0;
	uint64_t count = 0;
	int errnum = fd < 0 ? -fd : 0;

	if (fd < 0) {
		fd = -1;
		return errnum;
	}
	for (int round = 0; round < 100 && !count; round++) {
		for (int i = 0; i < 1000; i++)
			work = work + 1;
		if (read(fd, &count, sizeof(count)) != (ssize_t)sizeof(count))
			return EIO;
	}
	return count ? 0 : ENODATA;
}

static int first_cpu(const struct rootfs *root)
{
	struct cpu_list online = { 0 };
	buf_auto text = { 0 };
	int cpu = 0;

	if (rootfs_read(root, "/sys/devices/system/cpu/online", &text) &&
	    cpu_list_parse(&online, buf_str(&text)) && online.ids.len)
		cpu = online.ids.at[0];
	vec_done(&online.ids);
	return cpu;
}

void target_probe_events(struct target *t, const struct rootfs *root, target_open_fn *open,
			 void *ctx)
{
	struct perf_event_attr timer =
		target_plain_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);

	t->cycles_errno = try_cycles(open, ctx);
	t->has_cycles = !t->cycles_errno;
	t->cpu_clock_errno = try_open(open, ctx, &timer, 0, -1);
	t->has_cpu_clock = !t->cpu_clock_errno;
	t->system_wide = !try_open(open, ctx, &timer, -1, first_cpu(root));
	timer.exclude_kernel = 0;
	t->kernel_samples = !try_open(open, ctx, &timer, 0, -1);
}
