/* SPDX-License-Identifier: Apache-2.0 */
/* Live: every way a capture can be ended, and that none leaves a process behind. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "test.h"

/* A shell that burns time in a child of its own. */
static const char busy[] = "sh -c 'while :; do :; done'; exit 4";
/* Ignores what asks it to end. */
static const char stubborn[] = "trap '' TERM INT; while :; do :; done";

static void start(struct host *h, const char *script, uint64_t for_ms)
{
	struct job job = host_job(host_argv("sh", "-c", script, NULL));

	job.for_ns = for_ms * 1000000;
	host_needs_perf();
	host_start(h, &job, NULL);
	host_until_started(h);
}

/* Nothing of this process's family but the agent is left. */
static void no_child_left(const struct host *h)
{
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_comm comm;
	struct host copy = *h;
	struct err err;
	uint64_t at;

	host_file(&copy, &file);
	CHECK(perfdata_open(&pd, "capture", file.at, file.len, &err));
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD)
		if (r.type == PERFDATA_COMM && perfdata_comm(&pd, &r, &comm))
			CHECK_MSG(host_is_gone((pid_t)comm.pid), "%u still runs", comm.pid);
	perfdata_close(&pd);
}

TEST(end_by_stop_with_a_signal)
{
	struct host h;
	uint64_t before;

	start(&h, "while :; do :; done", 0);
	host_for(&h, 200);
	before = os_now_ns();
	host_stop(&h, SIGINT, 5000);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK(h.finished_ns - before < 500000000);
	CHECK_EQ_INT(h.finished.end, JOB_END_STOP);
	CHECK_EQ_INT(WTERMSIG(h.finished.wait_status), SIGINT);
	CHECK(host_count(&h).samples > 50);
	no_child_left(&h);
	host_end(&h);
}

/* Signal 0: the terminal has sent one already; grace runs, then the whole tree gets SIGTERM. */
TEST(end_by_stop_without_a_signal)
{
	struct host h;
	uint64_t before;

	start(&h, busy, 0);
	host_for(&h, 200);
	before = os_now_ns();
	host_stop(&h, 0, 300);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK(h.finished_ns - before >= 290000000);
	CHECK(h.finished_ns - before < 1500000000);
	CHECK_EQ_INT(h.finished.end, JOB_END_STOP);
	no_child_left(&h);
	host_end(&h);
}

TEST(end_by_stop_three_times)
{
	struct host h;
	uint64_t before;

	start(&h, stubborn, 0);
	host_for(&h, 200);
	before = os_now_ns();
	host_stop(&h, SIGINT, 60000);
	host_for(&h, 100);
	CHECK(!h.has_finished);
	host_stop(&h, SIGINT, 60000);
	host_for(&h, 100);
	CHECK(!h.has_finished);
	host_stop(&h, SIGINT, 60000);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK(h.finished_ns - before < 1500000000);
	CHECK_EQ_INT(WTERMSIG(h.finished.wait_status), SIGKILL);
	no_child_left(&h);
	host_end(&h);
}

/* A signal that is blocked comes through a descriptor even when it is ignored. */
TEST(end_not_by_signals_that_were_ignored)
{
	struct host h;
	struct host_setup setup = { .stdio = { -1, -1, -1 } };
	struct job job = host_job(host_argv("sh", "-c", "sleep 0.6", NULL));

	host_needs_perf();
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	sigaddset(&setup.ignored, SIGHUP);
	sigaddset(&setup.ignored, SIGTERM);
	host_start(&h, &job, &setup);
	host_until_started(&h);
	CHECK(!kill(h.agent, SIGHUP));
	CHECK(!kill(h.agent, SIGTERM));
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK_EQ_INT(h.finished.wait_status, 0);
	host_end(&h);
}

TEST(end_by_time)
{
	struct host h;

	start(&h, busy, 300);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_TIME);
	CHECK_NEAR((double)h.finished.wall_ns / 1e6, 310, 250);
	/* What was recorded ends with the time. */
	CHECK(host_count(&h).last_ns - h.started.monotonic_ns < 350000000);
	no_child_left(&h);
	host_end(&h);
}

TEST(end_by_time_of_a_stubborn_one)
{
	struct host h;

	start(&h, stubborn, 200);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_TIME);
	CHECK_EQ_INT(WTERMSIG(h.finished.wait_status), SIGKILL);
	/* SIGTERM at 0.2 s, SIGKILL two seconds later. */
	CHECK_NEAR((double)h.finished.wall_ns / 1e6, 2250, 400);
	no_child_left(&h);
	host_end(&h);
}

static pid_t first_child(struct host *h)
{
	return (pid_t)h->started.pid;
}

static void wait_gone(pid_t pid, unsigned most_ms)
{
	for (unsigned i = 0; i < most_ms && !host_is_gone(pid); i += 5)
		usleep(5000);
	CHECK_MSG(host_is_gone(pid), "process %d is still there", pid);
}

TEST(end_when_the_agent_is_told_to)
{
	struct host h;

	start(&h, busy, 0);
	host_for(&h, 150);
	kill(h.agent, SIGTERM);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_SIGNAL);
	CHECK_EQ_INT(WTERMSIG(h.finished.wait_status), SIGTERM);
	no_child_left(&h);
	host_end(&h);
}

TEST(end_when_the_host_is_gone)
{
	struct host h;
	pid_t child;
	int status;

	start(&h, busy, 0);
	host_for(&h, 150);
	child = first_child(&h);
	CHECK(!host_is_gone(child));
	os_close_fd(&h.wire.out);
	os_close_fd(&h.wire.in);
	CHECK_EQ_INT(waitpid(h.agent, &status, 0), h.agent);
	CHECK_EQ_INT(WEXITSTATUS(status), 7);
	CHECK(host_is_gone(child));
	no_child_left(&h);
	host_drop(&h);
}

TEST(end_when_only_reading_has_ended)
{
	struct host h;
	pid_t child;
	int status;

	start(&h, busy, 0);
	host_for(&h, 100);
	child = first_child(&h);
	/* The next frame finds a broken pipe; the other direction stays open. */
	os_close_fd(&h.wire.in);
	CHECK_EQ_INT(waitpid(h.agent, &status, 0), h.agent);
	CHECK_EQ_INT(WEXITSTATUS(status), 7);
	CHECK(host_is_gone(child));
	host_drop(&h);
}

TEST(end_when_the_agent_is_killed)
{
	struct host h;
	pid_t child;
	int status;

	start(&h, "while :; do :; done", 0);
	host_for(&h, 100);
	child = first_child(&h);
	kill(h.agent, SIGKILL);
	CHECK_EQ_INT(waitpid(h.agent, &status, 0), h.agent);
	wait_gone(child, 2000);
	host_drop(&h);
}

/* Ctrl-C on a terminal reaches the agent too: it must not care. */
TEST(end_not_by_the_terminal)
{
	struct host h;

	start(&h, "trap '' INT QUIT; sleep 0.4; exit 6", 0);
	host_for(&h, 100);
	kill(h.agent, SIGINT);
	kill(h.agent, SIGQUIT);
	kill(h.agent, SIGTTOU);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK_EQ_INT(WEXITSTATUS(h.finished.wait_status), 6);
	host_end(&h);
}
