/* SPDX-License-Identifier: Apache-2.0 */
/* Processes as /proc/PID/stat shows them. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "capture/session.h"
#include "test.h"

TEST(process_of_ours)
{
	struct process_stat st = { 0 };
	uint64_t now = os_clock_ns(CLOCK_BOOTTIME);

	CHECK(process_read((uint64_t)getpid(), &st));
	CHECK(!st.ended);
	CHECK_EQ_INT(st.parent, getppid());
	CHECK(st.start_ns > 0 && st.start_ns <= now && now - st.start_ns < 60000000000);
	CHECK(st.cpu_ns < 60000000000);
	CHECK(!process_read(0x7ffffff0, &st));
}

static _Noreturn void *wait_for_end(void *unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* A child that waits, or whose first thread has ended before its second. */
static pid_t child(bool two_threads)
{
	pid_t pid = fork();
	pthread_t thread;

	CHECK(pid >= 0);
	if (pid)
		return pid;
	if (!two_threads)
		_exit(0);
	if (pthread_create(&thread, NULL, wait_for_end, NULL))
		_exit(1);
	pthread_exit(NULL);
}

static bool shows_zombie(pid_t pid)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%d/stat", (int)pid);
	struct str comm, rest;
	buf_auto text = { 0 };

	CHECK(rootfs_read(&here, path, &text));
	CHECK(maps_stat_comm(str_of(buf_str(&text)), &comm, &rest));
	return str_trim(rest).at[0] == 'Z';
}

TEST(process_that_is_a_zombie)
{
	struct process_stat st;

	for (int two = 0; two < 2; two++) {
		pid_t pid = child(two);

		for (int i = 0; i < 2000 && !shows_zombie(pid); i++)
			usleep(1000);
		CHECK(shows_zombie(pid));
		CHECK(process_read((uint64_t)pid, &st));
		CHECK_EQ_INT(st.ended, !two);
		CHECK_EQ_INT(attach_alive((uint64_t)pid), two);
		CHECK_EQ_INT(st.parent, getpid());
		kill(pid, SIGKILL);
		CHECK_EQ_INT(waitpid(pid, NULL, 0), pid);
		CHECK(!process_read((uint64_t)pid, &st));
	}
}
