/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine by trying: what opens, counts and samples for us. */
#include "base/os.h"
#include "target/parts.h"

#include <errno.h>

enum { READ_BOTH_TIMES = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING };

struct perf_event_attr target_plain_attr(uint32_t type, uint64_t config)
{
	return (struct perf_event_attr){ .type = type,
					 .size = sizeof(struct perf_event_attr),
					 .config = config,
					 .read_format = READ_BOTH_TIMES,
					 .exclude_kernel = 1,
					 .exclude_hv = 1,
					 .exclude_guest = 1 };
}

/* 0, or why it does not open. */
static int try_open(const struct target_perf *perf, const struct perf_event_attr *attr, int pid,
		    int cpu)
{
	int fd = perf->open(perf->ctx, attr, pid, cpu, -1, 0);

	if (fd < 0)
		return -fd;
	perf->close(perf->ctx, fd);
	return 0;
}

/* A guest may offer a counter that opens and then stands still: it must be seen to move. */
static int try_cycles(const struct target_perf *perf, const struct perf_event_attr *attr, int cpu)
{
	struct target_reading r = { 0 };
	int fd = perf->open(perf->ctx, attr, 0, cpu, -1, 0);
	int errnum;

	if (fd < 0)
		return -fd;
	errnum = perf->count(perf->ctx, fd, cpu, &r);
	perf->close(perf->ctx, fd);
	if (errnum || r.value)
		return errnum;
	return r.running_ns ? ENODATA : EBUSY;
}

/* sched:sched_switch, or a call's entry: what tracing recipes would open. 0, or why there is none. */
static int tracepoint_id(const struct rootfs *root, uint64_t *id)
{
	static const char *const files[] = { "sched/sched_switch/id", "raw_syscalls/sys_enter/id" };
	static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
	int why = ENOENT;

	for (size_t i = 0; i < 4; i++) {
		char_auto path = mem_printf("%s/events/%s", mounts[i % 2], files[i / 2]);
		buf_auto text = { 0 };

		if (!rootfs_read(root, path, &text)) {
			int fd = rootfs_open(root, path);

			/* EPERM: kernel lockdown keeps tracefs shut. */
			if (fd < 0 && (errno == EACCES || errno == EPERM))
				why = errno;
			os_close_fd(&fd);
		} else if (str_u64(str_of(buf_str(&text)), id)) {
			return 0;
		}
	}
	return why;
}

/* With the fields of the event, as without them it only counts, which needs fewer rights. */
static int try_tracepoint(const struct rootfs *root, const struct target_perf *perf)
{
	uint64_t id = 0;
	int errnum = tracepoint_id(root, &id);
	struct perf_event_attr attr = target_plain_attr(PERF_TYPE_TRACEPOINT, id);

	attr.exclude_kernel = 0;
	attr.sample_period = 1;
	attr.sample_type = PERF_SAMPLE_RAW;
	return errnum ? errnum : try_open(perf, &attr, 0, -1);
}

static int try_branch_stack(struct perf_event_attr attr, const struct target_perf *perf, int cpu)
{
	attr.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY;
	return try_open(perf, &attr, 0, cpu);
}

static int try_spe(const struct target *t, const struct rootfs *root,
		   const struct target_perf *perf)
{
	vec_each(p, &t->pmus) {
		struct perf_event_attr attr = target_plain_attr(p->type, 0);

		if (!str_starts(p->name, "arm_spe_"))
			continue;
		/* Driver and hardware take no frequency and no exclusion of idle time. */
		attr.sample_period = 100000;
		attr.exclude_guest = 0;
		return try_open(perf, &attr, 0, target_first_cpu(root, p->cpus));
	}
	return ENOENT;
}

/*
 * On a mixed machine "cycles" means the PMU of the CPU that it is opened for, and the task must be
 * there for it to move. x86 gives the plain event to the PMU of the raw type, and to another one
 * that is named in it: the first choice is the PMU of the plain event, if we may run there.
 */
static int cycles_cpu(const struct target *t, const struct rootfs *root,
		      struct perf_event_attr *cycles)
{
	const struct target_pmu *first = NULL;
	int cpu = TARGET_CPU_ANY;

	vec_each(p, &t->pmus) {
		int there = p->is_core ? target_pmu_cpu(t, root, p) : TARGET_CPU_NONE;

		if (there == TARGET_CPU_NONE || (first && p->type != PERF_TYPE_RAW))
			continue;
		first = p;
		cpu = there;
	}
	if (first && cpu >= 0 && target_pmu_is_x86(first) && first->type != PERF_TYPE_RAW)
		cycles->config |= (uint64_t)first->type << 32;
	return cpu;
}

void target_probe_trials(struct target *t, const struct rootfs *root,
			 const struct target_perf *perf)
{
	struct perf_event_attr timer =
		target_plain_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK);
	struct perf_event_attr cycles =
		target_plain_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	struct target_trials *r = &t->trials;
	int cpu = cycles_cpu(t, root, &cycles);
	int anywhere = target_first_cpu(root, "");

	r->cpu_clock = try_open(perf, &timer, 0, -1);
	r->system_wide = try_open(perf, &timer, -1, anywhere < 0 ? 0 : anywhere);
	timer.exclude_kernel = 0;
	r->kernel = try_open(perf, &timer, 0, -1);
	r->cycles = try_cycles(perf, &cycles, cpu);
	cycles.sample_period = 1000000;
	r->sampling = try_open(perf, &cycles, 0, cpu);
	r->branch_stack = try_branch_stack(cycles, perf, cpu);
	r->tracepoint = try_tracepoint(root, perf);
	r->spe = try_spe(t, root, perf);
	r->bpf = perf->bpf(perf->ctx);
}
