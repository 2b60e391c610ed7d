/* SPDX-License-Identifier: Apache-2.0 */
/* Starts the agent of this machine as a child on two pipes. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "remote/parts.h"

/* Beside the program when built, in lib/culprit when installed, or where the user says. */
static bool find_agent(char **path, struct err *err)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	const char *own = getenv("CULPRIT_AGENT_DIR");
	struct utsname u;
	const char *dirs[3];
	char_auto installed = NULL;

	if (n < 0 || uname(&u))
		return err_sys(err, errno, "cannot tell where this program lies");
	self[n] = 0;
	*strrchr(self, '/') = 0;
	installed = mem_printf("%s/../lib/culprit", self);
	dirs[0] = own && *own ? own : self;
	dirs[1] = self;
	dirs[2] = installed;
	for (size_t i = 0; i < 3; i++) {
		*path = mem_printf("%s/culprit-agent-%s", dirs[i], u.machine);
		if (!access(*path, X_OK))
			return true;
		free(*path);
	}
	err_set(err, ERR_NOT_FOUND, "no agent for %s found beside %s", u.machine, self);
	return err_hint(err, "build it with make, or set CULPRIT_AGENT_DIR to its folder");
}

/* A duplicate at a free number where nobody expects one: 3 and up may be the user's own. */
static int out_of_the_way(int fd, int command)
{
	enum { HIGH = 100, LOW = 10 };
	int high = fcntl(fd, command, HIGH);

	return high < 0 ? fcntl(fd, command, LOW) : high;
}

/*
 * In the child: descriptors 0 and 1 speak the protocol, and those of the workload are named in
 * --stdio. What else the user has given culprit goes through the agent as it is.
 */
static _Noreturn void become_agent(const char *path, const int protocol[2], const int stdio[3],
				   const sigset_t *mask)
{
	int moved[2], given[3];
	char *argv[5] = { mem_strdup(path), mem_strdup("serve"), mem_strdup("--stdio") };

	for (int i = 0; i < 3; i++) {
		given[i] = stdio[i] < 0 ? -1 : out_of_the_way(stdio[i], F_DUPFD);
		/* Nothing was asked for, or what the user closed. */
		if (given[i] < 0)
			given[i] = out_of_the_way(open("/dev/null", O_RDWR | O_CLOEXEC), F_DUPFD);
	}
	for (int i = 0; i < 2; i++)
		moved[i] = out_of_the_way(protocol[i], F_DUPFD_CLOEXEC);
	for (int i = 0; i < 2; i++)
		if (moved[i] < 0 || dup2(moved[i], i) < 0)
			_exit(126);
	argv[3] = mem_printf("%d,%d,%d", given[0], given[1], given[2]);
	/* Ignored by culprit for itself; what the user has ignored stays so. */
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	signal(SIGTTOU, SIG_DFL);
	if (mask)
		sigprocmask(SIG_SETMASK, mask, NULL);
	execv(path, argv);
	_exit(127);
}

static bool make_pipes(int down[2], int up[2], struct err *err)
{
	if (pipe2(down, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(up, O_CLOEXEC)) {
		err_sys(err, errno, "cannot make a pipe");
		close(down[0]);
		close(down[1]);
		return false;
	}
	/* Room for bursts; the default does when it is refused. */
	(void)fcntl(up[1], F_SETPIPE_SZ, 1 << 20);
	return true;
}

bool remote_start_local(struct remote **out, const struct remote_options *options, struct err *err)
{
	char_auto path = NULL;
	int down[2], up[2];
	struct remote *r;
	pid_t pid;

	if (!find_agent(&path, err) || !make_pipes(down, up, err))
		return false;
	pid = fork();
	if (pid == 0) {
		const int protocol[2] = { down[0], up[1] };

		become_agent(path, protocol, options->stdio,
			     options->keep_signals ? options->mask : NULL);
	}
	close(down[0]);
	close(up[1]);
	if (pid < 0) {
		err_sys(err, errno, "cannot start %s", path);
		close(down[1]);
		close(up[0]);
		return false;
	}
	r = mem_alloc(sizeof(*r));
	r->pid = pid;
	r->down = down[1];
	r->up = up[0];
	r->wire = (struct wire){ .in = up[0], .out = down[1] };
	if (!remote_hello(r, err)) {
		remote_close(r);
		return err_wrap(err, "starting %s", path);
	}
	*out = r;
	return true;
}

/* Waits for the child up to ms milliseconds. */
static bool reap(pid_t pid, int *status, int ms)
{
	for (int waited = 0;; waited++) {
		pid_t got = waitpid(pid, status, WNOHANG);

		if (got == pid || (got < 0 && errno == ECHILD))
			return true;
		if (waited >= ms)
			return false;
		poll(NULL, 0, 1);
	}
}

void remote_explain_death(struct remote *r, struct err *err)
{
	int status = 0;

	if (!reap(r->pid, &status, 1000)) {
		err_set(err, ERR_SYSTEM, "the agent closed its side");
		return;
	}
	r->pid = 0;
	if (WIFSIGNALED(status))
		err_set(err, ERR_SYSTEM, "the agent was killed by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status) == 126)
		err_refuse(err, "TOO_MANY_FILES", "no descriptors are left for the agent"),
			err_hint(err, "ulimit -n 1024");
	else if (WEXITSTATUS(status) == 127)
		err_set(err, ERR_SYSTEM, "the agent could not be executed");
	else
		err_set(err, ERR_SYSTEM, "the agent ended early with status %d",
			WEXITSTATUS(status));
}

void remote_close(struct remote *r)
{
	struct err err;
	int status;

	if (!r)
		return;
	if (!wire_send(&r->wire, WIRE_BYE, str_of(""), &err))
		err.kind = ERR_NONE; /* it is gone already */
	os_close_fd(&r->down);
	/* An agent that sits in a write to us hears nothing before that fails. */
	os_close_fd(&r->up);
	/* It ends a workload that it started first: TERM, two seconds, KILL. */
	if (r->pid > 0 && !reap(r->pid, &status, 6000)) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, &status, 0);
	}
	wire_done(&r->wire);
	free(r);
}
