/* SPDX-License-Identifier: Apache-2.0 */
/* Live: commands that are started, how many samples they get and how they end. */
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "test.h"

TEST(launch_counts_cpu_time)
{
	struct host h;
	struct job job;
	struct host_tally t;
	double cpu_ms;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "500", NULL));
	host_run(&h, &job, NULL);
	t = host_count(&h);
	cpu_ms = (double)h.finished.workload_cpu_ns / 1e6;
	CHECK_EQ_STR(h.started.events.at[0].name, geteuid() ? "cpu-clock:u" : "cpu-clock");
	CHECK_EQ_STR(h.started.clockid, "monotonic");
	CHECK_NEAR(cpu_ms, 500, 100);
	/* One sample a millisecond. */
	CHECK_NEAR(t.samples, cpu_ms, 40);
	CHECK_EQ_U64(t.lost, 0);
	CHECK_EQ_U64(h.finished.lost, 0);
	CHECK_EQ_U64(t.exits, 1);
	CHECK(t.mmaps >= 3 && t.comms == 1 && t.rounds >= 3);
	CHECK(t.chains > t.samples);
	/* Samples are in the time of CLOCK_MONOTONIC and within the capture. */
	CHECK(t.first_ns >= h.started.monotonic_ns && t.last_ns <= h.finished_ns);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK(h.finished.has_status);
	CHECK_EQ_INT(h.finished.wait_status, 0);
	CHECK_EQ_U64(h.finished.data_bytes, h.data.len);
	CHECK_EQ_U64(h.finished.final_frequency_hz, 1000);
	CHECK(h.finished.agent_cpu_ns < 50000000);
	CHECK(h.clocks >= 1);
	host_end(&h);
}

TEST(launch_follows_children_and_threads)
{
	struct host h;
	struct job job;
	struct host_tally t;

	host_needs_perf();
	job = host_job(host_argv(host_program("forker"), "3", "150", NULL));
	host_run(&h, &job, NULL);
	t = host_count(&h);
	CHECK_EQ_U64(t.forks, 3);
	CHECK_EQ_U64(t.exits, 4);
	CHECK_NEAR(t.samples, 450, 60);
	host_end(&h);
	job = host_job(host_argv(host_program("threads"), "4", "100", NULL));
	host_run(&h, &job, NULL);
	t = host_count(&h);
	CHECK_EQ_U64(t.forks, 4);
	CHECK_NEAR(t.samples, 400, 60);
	host_end(&h);
}

static int status_of(const char *script)
{
	struct host h;
	struct job job = host_job(host_argv("sh", "-c", script, NULL));
	int status;

	host_run(&h, &job, NULL);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK(h.finished.has_status);
	status = h.finished.wait_status;
	host_end(&h);
	return status;
}

TEST(launch_passes_the_status)
{
	host_needs_perf();
	CHECK_EQ_INT(WEXITSTATUS(status_of("exit 0")), 0);
	CHECK_EQ_INT(WEXITSTATUS(status_of("exit 3")), 3);
	CHECK_EQ_INT(WTERMSIG(status_of("kill -SEGV $$")), SIGSEGV);
	CHECK_EQ_INT(WTERMSIG(status_of("kill -KILL $$")), SIGKILL);
}

/*
 * A mask of /proc/PID/status without signals 32 and 33: they are the C library's own, which no
 * program may set; whoever started this test may have had them ignored.
 */
static uint64_t signal_mask(const char *status, const char *field)
{
	const char *at = strstr(status, field);
	uint64_t mask;

	CHECK_MSG(at != NULL, "no %s", field);
	CHECK(str_hex((struct str){ at + strlen(field) + 2, 16 }, &mask));
	return mask & ~(3ull << 31);
}

/* The workload must see signals as a shell would start it: nothing ignored, nothing blocked. */
TEST(launch_gives_clean_signals)
{
	struct host h;
	char out[4096] = "";
	int fds[2];
	sigset_t none;
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job = host_job(host_argv("cat", "/proc/self/status", NULL));

	host_needs_perf();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	CHECK(!pipe2(fds, O_CLOEXEC));
	setup.stdio[1] = fds[1];
	host_run(&h, &job, &setup);
	CHECK(read(fds[0], out, sizeof(out) - 1) > 0);
	CHECK_EQ_U64(signal_mask(out, "SigBlk"), 0);
	CHECK_EQ_U64(signal_mask(out, "SigIgn"), 0);
	CHECK_EQ_U64(signal_mask(out, "SigCgt"), 0);
	host_end(&h);
}

/*
 * What nohup, or a shell for what it starts in the background, sets up stays, whatever the agent
 * does with these signals itself.
 */
TEST(launch_keeps_ignored_signals)
{
	struct host h;
	char out[4096] = "";
	int fds[2];
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job = host_job(host_argv("cat", "/proc/self/status", NULL));

	host_needs_perf();
	sigaddset(&setup.ignored, SIGHUP);
	sigaddset(&setup.ignored, SIGINT);
	sigaddset(&setup.ignored, SIGQUIT);
	sigaddset(&setup.ignored, SIGUSR1);
	signal(SIGUSR1, SIG_DFL);
	signal(SIGUSR2, SIG_IGN);
	CHECK(!pipe2(fds, O_CLOEXEC));
	setup.stdio[1] = fds[1];
	host_run(&h, &job, &setup);
	CHECK(read(fds[0], out, sizeof(out) - 1) > 0);
	CHECK_EQ_U64(signal_mask(out, "SigIgn"), 1u << (SIGHUP - 1) | 1u << (SIGINT - 1) |
							 1u << (SIGQUIT - 1) | 1u << (SIGUSR1 - 1));
	host_end(&h);
}

TEST(launch_hands_on_descriptors_and_no_others)
{
	struct host h;
	char out[512] = "", in[] = "hello\n";
	int to[2], from[2];
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job = host_job(
		host_argv("sh", "-c", "read x; echo got $x; echo bad >&2; ls /proc/self/fd", NULL));

	host_needs_perf();
	/* What else this test was started with would be handed on, as any shell does. */
	CHECK(!close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
	CHECK(!pipe2(to, O_CLOEXEC) && !pipe2(from, O_CLOEXEC));
	setup.stdio[0] = to[0];
	setup.stdio[1] = setup.stdio[2] = from[1];
	CHECK_EQ_INT(write(to[1], in, strlen(in)), strlen(in));
	host_run(&h, &job, &setup);
	CHECK(read(from[0], out, sizeof(out) - 1) > 0);
	/* 3 is the folder that ls reads. */
	CHECK_EQ_STR(out, "got hello\nbad\n0\n1\n2\n3\n");
	host_end(&h);
}

/* The agent opens many files; the workload's limit is not touched. */
TEST(launch_keeps_the_limits)
{
	struct host h;
	char out[64] = "";
	int fds[2];
	struct rlimit files;
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job = host_job(host_argv("sh", "-c", "ulimit -n", NULL));

	host_needs_perf();
	CHECK(!getrlimit(RLIMIT_NOFILE, &files));
	files.rlim_cur = 123;
	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	CHECK(!pipe2(fds, O_CLOEXEC));
	setup.stdio[1] = fds[1];
	host_run(&h, &job, &setup);
	CHECK(read(fds[0], out, sizeof(out) - 1) > 0);
	CHECK_EQ_STR(out, "123\n");
	host_end(&h);
}

TEST(launch_stays_in_the_group)
{
	struct host h;
	char out[64] = "", want[64];
	int fds[2];
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	/* Fields 5 and 6 of stat: process group and session. */
	struct job job = host_job(host_argv("sh", "-c", "cut -d' ' -f5,6 /proc/$$/stat", NULL));

	host_needs_perf();
	CHECK(!pipe2(fds, O_CLOEXEC));
	setup.stdio[1] = fds[1];
	host_run(&h, &job, &setup);
	CHECK(read(fds[0], out, sizeof(out) - 1) > 0);
	snprintf(want, sizeof(want), "%d %d\n", getpgrp(), getsid(0));
	CHECK_EQ_STR(out, want);
	host_end(&h);
}

static struct err refused(const char *word)
{
	struct host h;
	struct job job = host_job(host_argv(word, NULL));
	struct err err;

	host_start(&h, &job, NULL);
	host_until_end(&h);
	CHECK(h.has_error && !h.has_finished && !h.has_started);
	err = h.error;
	host_end(&h);
	return err;
}

static const char *make_file(const char *name, const char *text, mode_t mode)
{
	char *path = arena_printf(host_arena(), "%s/%s", test_tmpdir(), name);
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC | O_TRUNC, mode);

	CHECK(fd >= 0);
	CHECK_EQ_INT(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	CHECK(!chmod(path, mode));
	return path;
}

TEST(launch_refuses_what_is_no_program)
{
	struct err err;

	host_needs_perf();
	err = refused("no-such-command-here");
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_EQ_STR(err.text, "command not found: no-such-command-here");
	CHECK_HAS(err.hint, "spelling");
	err = refused("/no/such/path");
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	err = refused("/tmp");
	CHECK_HAS(err.text, "cannot run /tmp: Is a directory");
	err = refused(make_file("plain", "#!/bin/sh\n", 0644));
	CHECK_HAS(err.text, "Permission denied");
	CHECK_HAS(err.hint, "chmod +x");
	CHECK(!chdir(test_tmpdir()));
	make_file("here", "#!/bin/sh\n", 0755);
	err = refused("here");
	CHECK_HAS(err.hint, "try ./here");
}

/* These are only known by exec itself. */
TEST(launch_exec_failures)
{
	struct host h;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(make_file("script", "#!/no/such/shell -x\n", 0755), NULL));
	host_start(&h, &job, NULL);
	host_until_end(&h);
	CHECK(h.has_error && h.has_finished);
	CHECK_HAS(h.error.text, "bad interpreter: /no/such/shell");
	CHECK_EQ_INT(h.finished.end, JOB_END_FAILURE);
	host_end(&h);
	job = host_job(host_argv(make_file("foreign", "\177ELF\2\1\1\0aaaaaaaa", 0755), NULL));
	host_start(&h, &job, NULL);
	host_until_end(&h);
	CHECK(h.has_error && h.has_finished);
	CHECK_HAS(h.error.text, "Exec format error");
	CHECK_HAS(h.error.hint, "another kind of machine");
	host_end(&h);
	/* A script without #! runs in the shell, as everywhere. */
	job = host_job(host_argv(make_file("bare", "exit 5\n", 0755), NULL));
	host_run(&h, &job, NULL);
	CHECK_EQ_INT(WEXITSTATUS(h.finished.wait_status), 5);
	host_end(&h);
}

TEST(launch_leaves_a_daemon_alone)
{
	struct host h;
	char out[32] = "";
	int fds[2];
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job =
		host_job(host_argv("sh", "-c", "sleep 30 >/dev/null 2>&1 & echo $!", NULL));
	pid_t pid;

	host_needs_perf();
	CHECK(!pipe2(fds, O_CLOEXEC));
	setup.stdio[1] = fds[1];
	host_run(&h, &job, &setup);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK(read(fds[0], out, sizeof(out) - 1) > 0);
	pid = (pid_t)strtol(out, NULL, 10);
	CHECK(pid > 0 && !host_is_gone(pid));
	host_end(&h);
	CHECK(!host_is_gone(pid));
	kill(pid, SIGKILL);
}

TEST(launch_dwarf_dumps_stacks)
{
	struct host h;
	struct job job;
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_sample s;
	struct err err;
	uint64_t at, dumped = 0, n = 0;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "300", NULL));
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 4096;
	host_run(&h, &job, NULL);
	host_file(&h, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD) {
		if (r.type != PERFDATA_SAMPLE)
			continue;
		CHECK(perfdata_sample(&pd, &r, &s));
		n++;
		dumped += s.regs_user && s.stack_bytes > 1000;
	}
	CHECK(n > 250);
	CHECK(dumped > n * 9 / 10);
	perfdata_close(&pd);
	host_end(&h);
}

/* A host that does not read and rings that are small: what is missing is counted. */
TEST(launch_counts_what_is_lost)
{
	struct host h;
	struct host_tally t;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "2000", NULL));
	job.ring_total_bytes = 32 << 10;
	host_start(&h, &job, NULL);
	host_until_started(&h);
	CHECK(h.started.ring_bytes * h.started.rings <= 32 << 10);
	sleep(3);
	host_until_end(&h);
	CHECK(h.has_finished);
	t = host_count(&h);
	CHECK_MSG(t.lost > 300, "only %lu lost of %lu", (unsigned long)t.lost,
		  (unsigned long)t.samples);
	CHECK_EQ_U64(h.finished.lost, t.lost);
	CHECK_NEAR(t.samples + t.lost, h.finished.workload_cpu_ns / 1000000, 200);
	host_end(&h);
}

/* Hundreds of rounds through small rings: every record wraps in every way, none is damaged. */
TEST(launch_wraps_rings)
{
	struct host h;
	struct host_tally t;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "1000", NULL));
	job.frequency_hz = 8000;
	job.ring_total_bytes = 64 << 10;
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 1000;
	host_run(&h, &job, NULL);
	t = host_count(&h);
	CHECK(h.data.len > 50 * h.started.ring_bytes);
	CHECK_EQ_U64(t.lost, h.finished.lost);
	/* A busy machine takes timer ticks away; none may appear from nowhere. */
	CHECK(t.samples + t.lost < h.finished.workload_cpu_ns / 125000 + 400);
	CHECK(t.samples > 3000);
	host_end(&h);
}

TEST(launch_compressed)
{
	struct host h;
	struct host_tally t;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "500", NULL));
	job.compress = true;
	host_run(&h, &job, NULL);
	t = host_count(&h);
	CHECK(t.samples > 400);
	CHECK(h.wire.received_bytes < h.data.len);
	host_end(&h);
}

TEST(launch_by_period)
{
	struct host h;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "500", NULL));
	job.frequency_hz = 0;
	job.period = 2000000;
	host_run(&h, &job, NULL);
	CHECK_NEAR(host_count(&h).samples, 250, 25);
	CHECK_EQ_U64(h.finished.final_frequency_hz, 0);
	host_end(&h);
}

TEST(launch_is_quick)
{
	struct host h;
	struct job job = host_job(host_argv("true", NULL));
	uint64_t best_ns = UINT64_MAX;

	host_needs_perf();
	for (int i = 0; i < 5; i++) {
		host_run(&h, &job, NULL);
		if (h.finished_ns - h.started_ns < best_ns)
			best_ns = h.finished_ns - h.started_ns;
		host_end(&h);
	}
	/* From STARTED over exec and exit of true to FINISHED. */
	CHECK_MSG(best_ns < 50000000, "took %.1f ms", (double)best_ns / 1e6);
}
