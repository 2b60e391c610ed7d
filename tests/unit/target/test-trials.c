/* SPDX-License-Identifier: Apache-2.0 */
/* What works is found by trying, and the reason why not is kept. */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "target/parts.h"
#include "test.h"
#include "tree.h"

#define PMU "counters armv8_pmuv3 6\ncycle_counter armv8_pmuv3 yes\n"

static struct target_trials try_all(const char *answers)
{
	struct target_trials r;
	struct target t;

	tree_pmu("armv8_pmuv3", "8\n", "0-1\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/cpumask", "1\n");
	tree_put("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	tree_answers(answers);
	tree_probe(&t);
	r = t.trials;
	target_done(&t);
	return r;
}

TEST(trials_all_work)
{
	static const struct target_trials all_work = { 0 };
	struct target_trials r = try_all("cycles ok\nbranch_stack ok\nspe ok\n" PMU);

	CHECK_EQ_MEM(&r, &all_work, sizeof(r));
}

TEST(trials_keep_each_reason)
{
	struct target_trials r = try_all(
		"software EMFILE\ncycles ok\nsampling EOPNOTSUPP\nsystem_wide EACCES\n"
		"kernel EPERM\ntracepoint EINVAL\nbranch_stack ENODEV\nspe EBUSY\nbpf ENOSYS\n" PMU);

	CHECK_EQ_INT(r.cpu_clock, EMFILE);
	CHECK_EQ_INT(r.cycles, 0);
	CHECK_EQ_INT(r.sampling, EOPNOTSUPP);
	CHECK_EQ_INT(r.system_wide, EACCES);
	CHECK_EQ_INT(r.kernel, EPERM);
	CHECK_EQ_INT(r.tracepoint, EINVAL);
	/* What cannot be sampled has no branches either. */
	CHECK_EQ_INT(r.branch_stack, EOPNOTSUPP);
	CHECK_EQ_INT(r.spe, EBUSY);
	CHECK_EQ_INT(r.bpf, ENOSYS);
	r = try_all("cycles ok\nbranch_stack ENODEV\n" PMU);
	CHECK_EQ_INT(r.branch_stack, ENODEV);
}

/* Opening is not counting: some guests offer a counter that stands still. */
TEST(trials_counter_that_stands_still)
{
	CHECK_EQ_INT(try_all("cycles ok\ncycles_counts ENODATA\n" PMU).cycles, ENODATA);
	CHECK_EQ_INT(try_all("cycles ok\ncycles_counts ok\n" PMU).cycles, 0);
}

TEST(trials_without_what_they_need)
{
	struct target t;

	/* The answers would be yes, but there is nothing to ask for. */
	tree_answers("tracepoint ok\nspe ok\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.trials.tracepoint, ENOENT);
	CHECK_EQ_INT(t.trials.spe, ENOENT);
	CHECK_EQ_INT(t.trials.cycles, ENOENT);
	CHECK_EQ_INT(t.trials.sampling, ENOENT);
	CHECK(!t.has_tracefs);
	target_done(&t);
	tree_put("/sys/kernel/debug/tracing/events/raw_syscalls/sys_enter/id", "17\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.trials.tracepoint, 0);
	CHECK(t.has_tracefs);
	target_done(&t);
}

/* Which attributes are tried, as one line each. */
struct seen {
	struct buf text;
	int fds;
	int running; /* of a counter that reads zero */
};

static int seen_open(void *ctx, const void *at, int pid, int cpu, int group, unsigned long flags)
{
	struct seen *s = ctx;
	struct perf_event_attr a;

	(void)flags, (void)group;
	memcpy(&a, at, sizeof(a));
	buf_printf(&s->text, "%u:%llx pid %d cpu %d%s%s%s\n", a.type, (unsigned long long)a.config,
		   pid, cpu, a.exclude_kernel ? "" : " kernel",
		   a.sample_type & PERF_SAMPLE_RAW ? " raw" : "",
		   a.sample_type & PERF_SAMPLE_BRANCH_STACK ? " branches" : "");
	return s->fds++;
}

static void seen_close(void *ctx, int fd)
{
	(void)ctx, (void)fd;
}

static int seen_count(void *ctx, int fd, int cpu, struct target_reading *out)
{
	struct seen *s = ctx;

	(void)fd;
	buf_printf(&s->text, "count on %d\n", cpu);
	*out = (struct target_reading){ 0, 1000, (uint64_t)s->running };
	return 0;
}

static int seen_bpf(void *ctx)
{
	(void)ctx;
	return EPERM;
}

static struct target_trials see(struct seen *s)
{
	const struct rootfs root = tree_root();
	struct target_perf perf = { .open = seen_open,
				    .count = seen_count,
				    .close = seen_close,
				    .bpf = seen_bpf,
				    .ctx = s };
	struct target t = { 0 };
	struct target_trials r;

	target_probe_pmus(&t, &root);
	target_probe_trials(&t, &root, &perf);
	r = t.trials;
	target_done(&t);
	return r;
}

TEST(trials_ask_for_what_profiling_needs)
{
	struct seen s = { .running = 1000 };
	struct target_trials r;

	tree_put("/sys/devices/system/cpu/online", "3-7\n");
	tree_pmu("armv8_cortex_a55", "10\n", "4-5\n");
	tree_pmu("armv8_cortex_a76", "11\n", "3,6-7\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/cpumask", "6-7\n");
	tree_put("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	r = see(&s);
	/* Cycles of a mixed machine are counted where their PMU is. */
	CHECK_EQ_STR(buf_str(&s.text), "1:0 pid 0 cpu -1\n"
				       "1:0 pid -1 cpu 3\n"
				       "1:0 pid 0 cpu -1 kernel\n"
				       "0:0 pid 0 cpu 4\n"
				       "count on 4\n"
				       "0:0 pid 0 cpu 4\n"
				       "0:0 pid 0 cpu 4 branches\n"
				       "2:138 pid 0 cpu -1 kernel raw\n"
				       "9:0 pid 0 cpu 6\n");
	CHECK_EQ_INT(r.cycles, ENODATA);
	CHECK_EQ_INT(r.bpf, EPERM);
	buf_done(&s.text);
}

/* In a process of its own, in which nothing opens any more. */
static int tracepoint_when_denied(int errnum)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)errnum),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };
	struct seen s = { .running = 1000 };
	int status;
	pid_t pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
			_exit(255);
		_exit(see(&s).tracepoint);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Kernel lockdown shuts tracefs with EPERM, and rights with EACCES: the reason is kept. */
TEST(trials_tracefs_that_is_shut)
{
	int answer;

	tree_put("/sys/kernel/tracing/events/sched/sched_switch/id", "312\n");
	answer = tracepoint_when_denied(EPERM);
	if (answer == 255)
		SKIP("no seccomp filters here");
	CHECK_EQ_INT(answer, EPERM);
	CHECK_EQ_INT(tracepoint_when_denied(EACCES), EACCES);
	CHECK_EQ_INT(tracepoint_when_denied(EIO), ENOENT);
}

/* A counter that never got its turn does not stand still: it is taken. */
TEST(trials_taken_is_not_standing_still)
{
	struct seen s = { .running = 0 };

	CHECK_EQ_INT(see(&s).cycles, EBUSY);
	CHECK_HAS(buf_str(&s.text), "count on -1");
	buf_done(&s.text);
}

/* We may run on the second kind of cores alone: cycles are tried there. */
TEST(trials_cycles_where_we_may_run)
{
	struct seen s = { .running = 1000 };

	tree_put("/sys/devices/system/cpu/online", "0-7\n");
	tree_pmu("armv8_cortex_a55", "10\n", "0-3\n");
	tree_pmu("armv8_cortex_a76", "11\n", "4-7\n");
	tree_put("/proc/self/status", "Cpus_allowed_list:\t6\n");
	see(&s);
	CHECK_HAS(buf_str(&s.text), "0:0 pid 0 cpu 6\ncount on 6\n");
	buf_done(&s.text);
}

/* The PMU of the raw type is that of the plain event; another one is named in it. */
TEST(trials_cycles_of_mixed_x86)
{
	struct seen s = { .running = 1000 };

	tree_put("/sys/devices/system/cpu/online", "0-19\n");
	tree_pmu("cpu_atom", "10\n", "0-7\n");
	tree_pmu("cpu_core", "4\n", "8-19\n");
	see(&s);
	CHECK_HAS(buf_str(&s.text), "0:0 pid 0 cpu 8\ncount on 8\n");
	buf_clear(&s.text);
	tree_put("/proc/self/status", "Cpus_allowed_list:\t2-3\n");
	see(&s);
	CHECK_HAS(buf_str(&s.text), "0:a00000000 pid 0 cpu 2\ncount on 2\n");
	buf_done(&s.text);
}

/* The real calls, as far as this machine has what they need. */
TEST(trials_real_calls)
{
	const struct target_perf *perf = &target_perf_real;
	struct perf_event_attr clock =
		target_plain_attr(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
	struct target_reading r = { 0 };
	int fd;

	clock.disabled = 1;
	fd = perf->open(perf->ctx, &clock, 0, -1, -1, 0);
	if (fd < 0)
		SKIP("perf_event_open: %s", strerror(-fd));
	CHECK_EQ_INT(perf->count(perf->ctx, fd, -1, &r), 0);
	CHECK(r.value > 0 && r.running_ns > 0 && r.enabled_ns >= r.running_ns);
	CHECK_EQ_INT(perf->count(perf->ctx, fd, 1 << 20, &r), EINVAL);
	perf->close(perf->ctx, fd);
	CHECK(perf->count(perf->ctx, fd, -1, &r) != 0);
}
