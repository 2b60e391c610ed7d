/* SPDX-License-Identifier: Apache-2.0 */
/* Dry runs: which attributes would be opened for each kind of job, on kernels of several minds. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os.h"
#include "capture/plan.h"
#include "host.h"
#include "test.h"

/* A kernel that takes some things and not others. */
struct kernel {
	bool has_cycles, no_lost, no_build_id, no_guest, kernel_denied, all_denied;
	unsigned precise; /* the highest it takes */
	unsigned opened;
};

/* The kernel's part of the chains is as secret as its samples. */
static bool is_denied(const struct kernel *k, const struct perf_event_attr *a)
{
	if (k->all_denied)
		return true;
	return k->kernel_denied &&
	       (!a->exclude_kernel ||
		((a->sample_type & PERF_SAMPLE_CALLCHAIN) && !a->exclude_callchain_kernel));
}

static int fake_open(void *ctx, const void *at, int pid, int cpu, int group, unsigned long flags)
{
	struct kernel *k = ctx;
	struct perf_event_attr a;
	int fds[2];

	(void)pid, (void)cpu, (void)group, (void)flags;
	memcpy(&a, at, sizeof(a));
	if (is_denied(k, &a))
		return -EACCES;
	if (a.type == PERF_TYPE_HARDWARE && !k->has_cycles)
		return -ENOENT;
	if (a.precise_ip > k->precise)
		return -EOPNOTSUPP;
	if ((k->no_lost && a.read_format) || (k->no_build_id && a.build_id) ||
	    (k->no_guest && a.exclude_guest))
		return -EINVAL;
	k->opened++;
	/* A counter that has moved, for whoever reads it. */
	CHECK(!pipe2(fds, O_CLOEXEC));
	CHECK_EQ_INT(write(fds[1], "\1\0\0\0\0\0\0\0", 8), 8);
	close(fds[1]);
	return fds[0];
}

static struct job launch_job(void)
{
	static char word[] = "true", *argv[] = { word, NULL };

	return (struct job){ .scope = JOB_LAUNCH,
			     .argv = argv,
			     .event = "auto",
			     .frequency_hz = 997,
			     .ring_total_bytes = 64u << 20 };
}

static void put_flag(struct buf *b, const char *name, uint64_t on)
{
	if (on)
		buf_printf(b, " %s", name);
}

/* The attribute as a line of text, what is zero left out. */
static const char *attr_text(const struct plan *p)
{
	const struct perf_event_attr *a = &p->attr;
	buf_auto b = { 0 };

	buf_printf(&b, "%s type %u config %llx %s %llu sample %llx read %llx", p->name, a->type,
		   (unsigned long long)a->config, a->freq ? "hz" : "period",
		   (unsigned long long)a->sample_period, (unsigned long long)a->sample_type,
		   (unsigned long long)a->read_format);
	if (a->precise_ip)
		buf_printf(&b, " precise %u", a->precise_ip);
	if (a->sample_stack_user)
		buf_printf(&b, " stack %u regs %llx", a->sample_stack_user,
			   (unsigned long long)a->sample_regs_user);
	put_flag(&b, "disabled", a->disabled);
	put_flag(&b, "inherit", a->inherit);
	put_flag(&b, "on_exec", a->enable_on_exec);
	put_flag(&b, "no_user", a->exclude_user);
	put_flag(&b, "no_kernel", a->exclude_kernel);
	put_flag(&b, "no_hv", a->exclude_hv);
	put_flag(&b, "no_guest", a->exclude_guest);
	put_flag(&b, "no_user_chain", a->exclude_callchain_user);
	put_flag(&b, "no_kernel_chain", a->exclude_callchain_kernel);
	put_flag(&b, "build_id", a->build_id);
	CHECK(a->mmap && a->mmap2 && a->comm && a->task && a->sample_id_all && a->watermark);
	CHECK(a->use_clockid && a->clockid == CLOCK_MONOTONIC);
	return arena_strdup(host_arena(), buf_str(&b));
}

struct planned {
	struct plan plan;
	const char *notes; /* "id text" lines */
	struct err err;
	bool ok;
};

static struct planned plan(const struct job *job, struct kernel *k)
{
	struct target t = { .paranoid = 2,
			    .euid = 1000,
			    .trials.cycles = k->has_cycles ? 0 : ENOENT };
	struct opener o = { fake_open, k };
	struct planned p = { 0 };
	struct notes notes = { 0 };
	buf_auto text = { 0 };

	p.ok = plan_make(&p.plan, job, &t, &o, &notes, &p.err);
	for (size_t i = 0; i < notes.list.len; i++)
		kv_put(&text, notes.list.at[i].id, notes.list.at[i].text);
	p.notes = arena_strdup(host_arena(), buf_str(&text));
	notes_done(&notes);
	return p;
}

/* IDENTIFIER | CPU | PERIOD | TIME | TID | IP = 0x10187; CALLCHAIN 0x20; REGS and STACK 0x3000. */
#define TAIL " disabled inherit on_exec no_guest build_id"

TEST(plan_timer_where_there_is_no_pmu)
{
	struct job job = launch_job();
	struct kernel k = { 0 };
	struct planned p = plan(&job, &k);

	CHECK_MSG(p.ok, "%s", p.err.text);
	CHECK_EQ_STR(attr_text(&p.plan),
		     "cpu-clock type 1 config 0 hz 997 sample 10187 read 10" TAIL);
	CHECK_HAS(p.notes, "EVENT_SOURCE sampled by the timer (cpu-clock)");
	CHECK_HAS(p.notes, "the machine shows no PMU");
}

TEST(plan_cycles_where_there_is_a_pmu)
{
	struct job job = launch_job();
	struct kernel k = { .has_cycles = true };
	struct planned p = plan(&job, &k);

	CHECK(p.ok);
	CHECK_EQ_STR(attr_text(&p.plan), "cycles type 0 config 0 hz 997 sample 10187 read 10" TAIL);
	CHECK_HAS(p.notes, "hardware cycles");
}

#if defined(__x86_64__)
TEST(plan_takes_the_best_precision)
{
	struct job job = launch_job();
	struct kernel k = { .has_cycles = true, .precise = 2, .no_guest = true };
	struct planned p = plan(&job, &k);

	CHECK(p.ok);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cycles type 0 config 0 hz 997 sample 10187 read 10 precise 2 disabled inherit on_exec build_id");
}

TEST(plan_dwarf)
{
	struct job job = launch_job();
	struct kernel k = { 0 };
	struct planned p;

	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 8192;
	job.event = "cpu-clock";
	p = plan(&job, &k);
	CHECK(p.ok);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cpu-clock type 1 config 0 hz 997 sample 131a7 read 10 stack 8192 regs ff0fff disabled inherit on_exec no_guest no_user_chain build_id");
	CHECK_EQ_STR(p.notes, "");
}
#endif

TEST(plan_attach_and_system)
{
	struct job job = launch_job();
	struct kernel k = { 0 };
	struct planned p;

	job.scope = JOB_PID;
	job.event = "task-clock";
	job.period = 1000000;
	job.frequency_hz = 0;
	job.chain = JOB_CHAIN_FP;
	p = plan(&job, &k);
	CHECK(p.ok);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"task-clock type 1 config 1 period 1000000 sample 101a7 read 10 disabled inherit no_guest build_id");
	job.scope = JOB_SYSTEM;
	job.event = "r1b";
	p = plan(&job, &k);
	CHECK(p.ok);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"r1b type 4 config 1b period 1000000 sample 101a7 read 10 disabled no_guest build_id");
}

TEST(plan_privilege_levels)
{
	struct job job = launch_job();
	struct kernel k = { 0 };
	struct planned p;

	job.event = "cpu-clock";
	job.rings = JOB_RINGS_USER;
	p = plan(&job, &k);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cpu-clock:u type 1 config 0 hz 997 sample 10187 read 10 disabled inherit on_exec no_kernel no_hv no_guest no_kernel_chain build_id");
	job.rings = JOB_RINGS_KERNEL;
	p = plan(&job, &k);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cpu-clock:k type 1 config 0 hz 997 sample 10187 read 10 disabled inherit on_exec no_user no_hv no_guest build_id");
}

TEST(plan_older_kernels)
{
	struct job job = launch_job();
	struct kernel k = { .no_lost = true }, older = { .no_lost = true, .no_build_id = true };
	struct planned p;

	job.event = "cpu-clock";
	p = plan(&job, &k);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cpu-clock type 1 config 0 hz 997 sample 10187 read 0 disabled inherit on_exec build_id");
	p = plan(&job, &older);
	CHECK_EQ_STR(
		attr_text(&p.plan),
		"cpu-clock type 1 config 0 hz 997 sample 10187 read 0 disabled inherit on_exec");
}

TEST(plan_kernel_left_out_with_a_note)
{
	struct job job = launch_job();
	struct kernel k = { .kernel_denied = true };
	struct planned p;

	job.chain = JOB_CHAIN_FP;
	p = plan(&job, &k);
	CHECK_MSG(p.ok, "%s", p.err.text);
	CHECK_EQ_STR(p.plan.name, "cpu-clock:u");
	CHECK(p.plan.attr.exclude_kernel && p.plan.attr.exclude_hv);
	CHECK_HAS(p.notes,
		  "KERNEL_EXCLUDED kernel code is left out: kernel.perf_event_paranoid is 2");
	CHECK_HAS(p.notes, "sudo sysctl kernel.perf_event_paranoid=1");
	/* Who asks for the kernel alone gets no silent half. */
	job.rings = JOB_RINGS_KERNEL;
	p = plan(&job, &k);
	CHECK(!p.ok);
	CHECK_EQ_STR(p.err.id, "PERF_EVENT_PARANOID");
	CHECK_HAS(p.err.hint, "kernel.perf_event_paranoid=1");
}

TEST(plan_rate_above_the_limit)
{
	struct job job = launch_job();
	struct kernel k = { 0 };
	struct planned p;

	job.frequency_hz = 100000000;
	p = plan(&job, &k);
	CHECK(p.ok);
	CHECK(p.plan.frequency_hz < 100000000);
	CHECK_EQ_U64(p.plan.attr.sample_freq, p.plan.frequency_hz);
	CHECK_HAS(p.notes, "RATE_LIMITED");
	CHECK_HAS(p.notes, "instead of 100000000 Hz");
}

TEST(plan_refusals)
{
	struct job job = launch_job();
	struct kernel k = { 0 }, closed = { .all_denied = true };
	struct planned p;

	job.event = "cycles";
	p = plan(&job, &k);
	CHECK(!p.ok);
	CHECK_EQ_STR(p.err.id, "NO_PMU");
	job.event = "branches";
	p = plan(&job, &k);
	CHECK(!p.ok);
	CHECK_EQ_INT(p.err.kind, ERR_USAGE);
	CHECK_HAS(p.err.text, "'branches'");
	job.event = "cpu-clock";
	p = plan(&job, &closed);
	CHECK(!p.ok);
	CHECK_EQ_STR(p.err.id, "PERF_EVENTS_BLOCKED");
	CHECK_EQ_INT(k.opened, 0);
}

static struct ring_size size_of(const struct job *job, const struct target *t, uint64_t page,
				uint64_t count)
{
	struct plan p = { .frequency_hz = job->frequency_hz,
			  .record_bytes = 64,
			  .record_bytes_most = 4352 };

	if (job->chain != JOB_CHAIN_NONE)
		p.record_bytes += 512;
	if (job->chain == JOB_CHAIN_DWARF) {
		p.record_bytes += job->stack_bytes + 320;
		p.record_bytes_most = 65536;
	}
	return plan_ring_size(&p, job, t, page, count);
}

TEST(plan_ring_sizes)
{
	struct target root = { .can_ipc_lock = true, .paranoid = 2, .cpus_online = 2 };
	struct target user = {
		.paranoid = 2, .cpus_online = 2, .mlock_kb = 516, .memlock_bytes = 0
	};
	struct job job = launch_job();

	job.frequency_hz = 4000;
	CHECK_EQ_U64(size_of(&job, &root, 4096, 2).bytes, 256 << 10);
	job.chain = JOB_CHAIN_FP;
	CHECK_EQ_U64(size_of(&job, &root, 4096, 2).bytes, 1 << 20);
	/* 64 MB over 192 CPUs, a page in front of each ring. */
	CHECK_EQ_U64(size_of(&job, &root, 4096, 192).bytes, 256 << 10);
	/* 516 KiB a CPU hold 128 pages and the one in front. */
	CHECK_EQ_U64(size_of(&job, &user, 4096, 2).bytes, 512 << 10);
	user.mlock_kb = 0;
	user.memlock_bytes = 64 << 10;
	CHECK_EQ_U64(size_of(&job, &user, 4096, 2).bytes, 16 << 10);
	/* What one CPU may lock is no limit for the privileged. */
	user.can_ipc_lock = true;
	CHECK_EQ_U64(size_of(&job, &user, 4096, 2).bytes, 1 << 20);
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 8192;
	CHECK_EQ_U64(size_of(&job, &root, 4096, 2).bytes, 8 << 20);
	CHECK_EQ_U64(size_of(&job, &root, 4096, 2).bytes_least, 128 << 10);
}

TEST(plan_ring_sizes_of_large_pages)
{
	static const uint64_t pages[] = { 16384, 65536 };
	struct target root = { .can_ipc_lock = true, .paranoid = 2, .cpus_online = 2 };
	struct job job = launch_job();

	for (size_t i = 0; i < 2; i++) {
		for (uint64_t hz = 1; hz < 200000; hz *= 7) {
			uint64_t bytes, n;

			job.frequency_hz = hz;
			bytes = size_of(&job, &root, pages[i], 64).bytes;
			n = bytes / pages[i];
			CHECK_EQ_U64(bytes % pages[i], 0);
			CHECK(n && !(n & (n - 1)));
			CHECK((n + 1) * pages[i] * 64 <= job.ring_total_bytes);
		}
	}
}
