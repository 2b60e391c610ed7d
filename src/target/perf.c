/* SPDX-License-Identifier: Apache-2.0 */
/* The system calls behind the trials: perf_event_open, reading a counter, loading a program. */
#include "base/os.h"
#include "target/parts.h"

#include <errno.h>
#include <linux/bpf.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* A group that takes turns with others is let in within a few ms (the PMU's mux interval is 4). */
enum { TURN_MOST_NS = 12000000, ROUNDS_LEAST = 100 };

int target_open_real(void *ctx, const void *attr, int pid, int cpu, int group, unsigned long flags)
{
	long fd = syscall(SYS_perf_event_open, attr, pid, cpu, group, flags | PERF_FLAG_FD_CLOEXEC);

	(void)ctx;
	return fd < 0 ? -errno : (int)fd;
}

static void close_real(void *ctx, int fd)
{
	(void)ctx;
	os_close_fd(&fd);
}

/* Reads until the counter has moved, or has had its turn and stood still. */
static int read_moving(int fd, struct target_reading *out)
{
	uint64_t start = os_now_ns(), now = start;
	volatile uint32_t work = 0;

	for (int round = 0; now - start < TURN_MOST_NS; round++) {
		ssize_t n;

		for (int i = 0; i < 1000; i++)
			work = work + 1;
		n = read(fd, out, sizeof(*out));
		if (n != (ssize_t)sizeof(*out))
			return n ? EIO : ENODATA;
		if (out->value || (out->running_ns && round >= ROUNDS_LEAST))
			break;
		now = os_now_ns();
	}
	return 0;
}

static int count_real(void *ctx, int fd, int cpu, struct target_reading *out)
{
	cpu_set_t before, there;
	int errnum;

	(void)ctx;
	CPU_ZERO(&there);
	if (cpu >= CPU_SETSIZE)
		return EINVAL;
	if (cpu >= 0) {
		CPU_SET((size_t)cpu, &there);
		if (sched_getaffinity(0, sizeof(before), &before) ||
		    sched_setaffinity(0, sizeof(there), &there))
			return errno;
	}
	errnum = ioctl(fd, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) ? errno : 0;
	if (!errnum)
		errnum = read_moving(fd, out);
	if (cpu >= 0 && sched_setaffinity(0, sizeof(before), &before) && !errnum)
		errnum = errno;
	return errnum;
}

/* return 0, as a program of the type that profiling uses: sockets' filters are often let pass. */
static int bpf_real(void *ctx)
{
	static const struct bpf_insn program[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	union bpf_attr attr = { .prog_type = BPF_PROG_TYPE_TRACEPOINT,
				.insn_cnt = sizeof(program) / sizeof(*program),
				.insns = (uint64_t)(uintptr_t)program,
				.license = (uint64_t)(uintptr_t) "GPL" };
	fd_auto fd = (int)syscall(SYS_bpf, BPF_PROG_LOAD, &attr, sizeof(attr));

	(void)ctx;
	return fd < 0 ? errno : 0;
}

const struct target_perf target_perf_real = {
	.open = target_open_real, .count = count_real, .close = close_real, .bpf = bpf_real
};
