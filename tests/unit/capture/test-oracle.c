/* SPDX-License-Identifier: Apache-2.0 */
/* What perf itself makes of a capture: it must open it without a word of complaint. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host.h"
#include "test.h"

static void run_perf(const char *const words[], const char *out, const char *complaints)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		char **argv = host_argv(words[0], words[1], words[2], words[3], words[4], words[5],
					words[6], words[7], words[8], NULL);

		dup2(open(out, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600), 1);
		dup2(open(complaints, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600), 2);
		execvp("perf", argv);
		_exit(127);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	if (WEXITSTATUS(status) == 127)
		SKIP("perf is not installed");
	CHECK_EQ_INT(status, 0);
}

static void check_with_perf(struct host *h, const char *expected)
{
	char_auto file = mem_printf("%s/perf.data", test_tmpdir());
	char_auto out = mem_printf("%s/out", test_tmpdir());
	char_auto complaints = mem_printf("%s/err", test_tmpdir());
	const char *report[10] = { "perf",	    "report", "-i",   file,	    "--stdio",
				   "--no-children", "-g",     "none", "--no-inline" };
	const char *script[10] = {
		"perf", "script", "-i", file, "--no-inline", "--show-mmap-events"
	};
	const char *const *const runs[] = { report, script };
	buf_auto bytes = { 0 };
	struct err err;

	host_file(h, &bytes);
	CHECK(os_save_file(file, bytes.at, bytes.len, &err));
	for (int i = 0; i < 2; i++) {
		buf_auto text = { 0 }, said = { 0 };

		run_perf(runs[i], out, complaints);
		CHECK(os_load_file(out, 64u << 20, &text, &err));
		CHECK(os_load_file(complaints, 1u << 20, &said, &err));
		CHECK_EQ_STR(buf_str(&said), "");
		CHECK_HAS(buf_str(&text), expected);
		if (i == 1 && !geteuid())
			CHECK_HAS(buf_str(&text), "[kernel.kallsyms]_");
	}
}

TEST(oracle_launch)
{
	struct host h;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "300", NULL));
	host_run(&h, &job, NULL);
	check_with_perf(&h, "hot_a");
	host_end(&h);
}

TEST(oracle_dwarf)
{
	struct host h;
	struct job job;

	host_needs_perf();
	job = host_job(host_argv(host_program("spin"), "200", NULL));
	job.chain = JOB_CHAIN_DWARF;
	job.stack_bytes = 1024;
	host_run(&h, &job, NULL);
	check_with_perf(&h, "hot_a");
	host_end(&h);
}

TEST(oracle_attach)
{
	struct host h;
	pid_t pid;
	struct job job = host_job(NULL);

	host_needs_perf();
	pid = fork();
	if (!pid) {
		const char *path = host_program("threads");

		execl(path, path, "2", "300", NULL);
		_exit(127);
	}
	usleep(100000);
	job.scope = JOB_PID;
	job.pid = (uint64_t)pid;
	/* It stands still until its events are open, however long the machine takes for that. */
	CHECK(!kill(pid, SIGSTOP));
	host_start(&h, &job, NULL);
	host_until_started(&h);
	CHECK(!kill(pid, SIGCONT));
	host_until_end(&h);
	check_with_perf(&h, "burn");
	waitpid(pid, NULL, 0);
	host_end(&h);
}

TEST(oracle_system)
{
	struct host h;
	struct job job = host_job(NULL);

	host_needs_perf();
	if (geteuid())
		SKIP("needs root");
	job.scope = JOB_SYSTEM;
	job.for_ns = 300000000;
	host_run(&h, &job, NULL);
	check_with_perf(&h, "cpu-clock");
	host_end(&h);
}
