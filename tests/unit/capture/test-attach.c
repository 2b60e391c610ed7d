/* SPDX-License-Identifier: Apache-2.0 */
/* Live: following processes that run already, and the whole system. */
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "test.h"

static pid_t spawn(char **argv)
{
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		_exit(127);
	}
	CHECK(pid > 0);
	return pid;
}

static struct job pid_job(pid_t pid)
{
	struct job job = host_job(NULL);

	job.scope = JOB_PID;
	job.pid = (uint64_t)pid;
	return job;
}

/* The process stands still until its events are open, however long the machine takes for that. */
static void start_stopped(struct host *h, pid_t pid, const struct job *job)
{
	CHECK(!kill(pid, SIGSTOP));
	host_start(h, job, NULL);
	host_until_started(h);
	CHECK(!kill(pid, SIGCONT));
}

TEST(attach_until_it_ends)
{
	struct host h;
	pid_t pid;
	struct job job;
	struct host_tally t;
	int status;

	host_needs_perf();
	pid = spawn(host_argv(host_program("threads"), "3", "400", NULL));
	usleep(100000);
	job = pid_job(pid);
	start_stopped(&h, pid, &job);
	host_until_end(&h);
	CHECK_MSG(h.has_finished, "%s", h.error.text);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK(!h.finished.has_status);
	CHECK_EQ_U64(h.started.pid, (uint64_t)pid);
	/* It was our child: not reaped by the agent, and it ended by itself. */
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	CHECK_EQ_INT(status, 0);
	t = host_count(&h);
	/* The past was told: the main thread and three more; the maps of the program. */
	CHECK_EQ_U64(t.comms, 4);
	CHECK(t.mmaps >= 4);
	/* Each thread has about 1.2 s - 0.1 s on two CPUs, less what the machine had to do else. */
	CHECK_MSG(t.samples > 500 && t.samples < 1250, "%lu samples", (unsigned long)t.samples);
	CHECK_EQ_U64(host_samples_of(&h, (uint32_t)pid, 0), t.samples);
	CHECK_NEAR((double)h.finished.workload_cpu_ns / 1e6, t.samples, 250);
	host_end(&h);
}

/* Threads that are born while we look and after, each counted once. */
TEST(attach_threads_born_later)
{
	struct host h;
	pid_t pid;
	struct job job;
	struct host_tally t;

	host_needs_perf();
	/* 24 threads of six processes, all from the shell that is attached to. */
	pid = spawn(host_argv("sh", "-c", "for i in 1 2 3 4 5 6; do \"$0\" 4 20; done",
			      host_program("threads"), NULL));
	job = pid_job(pid);
	start_stopped(&h, pid, &job);
	host_until_end(&h);
	CHECK_MSG(h.has_finished, "%s", h.error.text);
	t = host_count(&h);
	/* 6 x 4 x 20 ms. Twice that would be threads counted twice. */
	CHECK_MSG(t.samples < 580, "%lu samples", (unsigned long)t.samples);
	CHECK_MSG(t.samples > 240, "%lu samples", (unsigned long)t.samples);
	waitpid(pid, NULL, 0);
	host_end(&h);
}

/* The first thread ends before we attach, or while we watch: neither spin nor go deaf. */
static void main_thread_ends(const char *when)
{
	struct host h;
	pid_t pid;
	struct job job;

	pid = spawn(host_argv("python3", "-c",
			      "import threading, time, ctypes, sys\n"
			      "def burn():\n"
			      "    end = time.time() + 1.5\n"
			      "    while time.time() < end: pass\n"
			      "threading.Thread(target=burn).start()\n"
			      "time.sleep(0.2 if '-z' in sys.argv else 0.7)\n"
			      "ctypes.CDLL(None).pthread_exit(None)\n",
			      when, NULL));
	usleep(400000);
	job = pid_job(pid);
	host_start(&h, &job, NULL);
	host_until_end(&h);
	CHECK_MSG(h.has_finished, "%s", h.error.text);
	CHECK_EQ_INT(h.finished.end, JOB_END_EXIT);
	CHECK_MSG(h.finished.wakeups < 200, "%lu wake-ups", (unsigned long)h.finished.wakeups);
	CHECK(host_count(&h).samples > 200);
	waitpid(pid, NULL, 0);
	host_end(&h);
}

TEST(attach_main_thread_ends_first)
{
	host_needs_perf();
	if (system("python3 -c 0"))
		SKIP("python3 is not installed");
	main_thread_ends("");
	main_thread_ends("-z");
}

TEST(attach_stop_leaves_it_running)
{
	struct host h;
	pid_t pid;
	struct job job;

	host_needs_perf();
	pid = spawn(host_argv("sh", "-c", "while :; do :; done", NULL));
	job = pid_job(pid);
	host_start(&h, &job, NULL);
	host_until_started(&h);
	host_for(&h, 200);
	host_stop(&h, SIGINT, 1000);
	host_until_end(&h);
	CHECK(h.has_finished);
	CHECK_EQ_INT(h.finished.end, JOB_END_STOP);
	CHECK(host_count(&h).samples > 50);
	CHECK(!host_is_gone(pid));
	host_end(&h);
	job.for_ns = 200000000;
	host_run(&h, &job, NULL);
	CHECK_EQ_INT(h.finished.end, JOB_END_TIME);
	CHECK_NEAR((double)h.finished.wall_ns / 1e6, 210, 100);
	CHECK(!host_is_gone(pid));
	host_end(&h);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static struct err refused(pid_t pid, uid_t uid)
{
	struct host h;
	struct host_setup setup = { .stdio = { -1, -1, -1 }, .uid = uid };
	struct job job = pid_job(pid);
	struct err err;

	host_start(&h, &job, &setup);
	host_until_end(&h);
	CHECK(h.has_error && !h.has_started);
	err = h.error;
	host_end(&h);
	return err;
}

TEST(attach_refusals)
{
	const struct rootfs here = { "" };
	struct err err;
	pid_t pid;

	host_needs_perf();
	pid = spawn(host_argv("true", NULL));
	usleep(50000);
	err = refused(pid, 0);
	CHECK_EQ_STR(err.id, "PID_NOT_FOUND");
	CHECK_HAS(err.text, "zombie");
	waitpid(pid, NULL, 0);
	err = refused(pid, 0);
	CHECK_EQ_STR(err.id, "PID_NOT_FOUND");
	if (geteuid())
		return;
	err = refused(getpid(), 65534);
	/* Above 2, which Debian adds, a user may look at nothing whose ever it is. */
	if (rootfs_number(&here, "/proc/sys/kernel/perf_event_paranoid", 2) > 2) {
		CHECK_EQ_STR(err.id, "PERF_EVENT_PARANOID");
		return;
	}
	CHECK_EQ_STR(err.id, "PID_NOT_OURS");
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_HAS(err.text, "uid 0");
}

TEST(attach_with_too_few_descriptors)
{
	struct rlimit files = { 40, 40 };
	struct err err;
	pid_t pid;

	host_needs_perf();
	pid = spawn(host_argv(host_program("threads"), "40", "2000", NULL));
	usleep(100000);
	CHECK(!setrlimit(RLIMIT_NOFILE, &files));
	err = refused(pid, 0);
	CHECK_EQ_STR(err.id, "TOO_MANY_FILES");
	CHECK_HAS(err.hint, "ulimit -n");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(attach_to_a_thread_names_its_process)
{
	pid_t pid;
	struct err err;
	arena_auto a = { 0 };
	const struct rootfs here = { "" };
	char_auto dir = NULL;
	const char **tids;

	host_needs_perf();
	pid = spawn(host_argv(host_program("threads"), "2", "2000", NULL));
	usleep(100000);
	dir = mem_printf("/proc/%d/task", pid);
	tids = rootfs_list(&here, dir, &a);
	CHECK(tids[0] && tids[1]);
	err = refused((pid_t)strtol(tids[1], NULL, 10), 0);
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_HAS(err.text, "is a thread of process");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

TEST(system_wide)
{
	struct host h;
	struct host_tally t;
	struct job job = host_job(NULL);
	pid_t pid;

	host_needs_perf();
	if (geteuid())
		SKIP("needs root");
	pid = spawn(host_argv("sh", "-c", "while :; do :; done", NULL));
	usleep(20000);
	job.scope = JOB_SYSTEM;
	job.for_ns = 500000000;
	host_run(&h, &job, NULL);
	t = host_count(&h);
	CHECK_EQ_INT(h.finished.end, JOB_END_TIME);
	CHECK_EQ_U64(h.started.pid, 0);
	/* The busy CPU has all its ticks; an idle one may sleep through its own (perf's too). */
	CHECK(t.samples > 250 && t.samples < 600 * h.started.rings);
	CHECK(host_samples_of(&h, (uint32_t)pid, 0) > 20);
	/* At least this test, its runner, the shell and init were told. */
	CHECK(t.comms >= 4 && t.mmaps > 20);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	host_end(&h);
}
