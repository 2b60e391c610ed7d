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

/* In the child: descriptors 0 and 1 speak the protocol, 3 to 5 are for the workload. */
static _Noreturn void become_agent(const char *path, const int fds[6], const sigset_t *mask)
{
	char *argv[] = { mem_strdup(path), mem_strdup("serve"), NULL };
	int high[6];

	/* First out of the way of the numbers that are wanted, then into place. */
	for (int i = 0; i < 6; i++) {
		int fd = fds[i] >= 0 ? fds[i] : open("/dev/null", O_RDWR | O_CLOEXEC);

		high[i] = fcntl(fd, F_DUPFD_CLOEXEC, 16);
	}
	for (int i = 0; i < 6; i++)
		if (high[i] < 0 || dup2(high[i], i) < 0)
			_exit(126);
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
		const int fds[6] = {
			down[0], up[1], 2, options->stdio[0], options->stdio[1], options->stdio[2]
		};

		become_agent(path, fds, options->keep_signals ? options->mask : NULL);
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
	/* It ends a workload that it started first: TERM, two seconds, KILL. */
	if (r->pid > 0 && !reap(r->pid, &status, 6000)) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, &status, 0);
	}
	os_close_fd(&r->up);
	wire_done(&r->wire);
	free(r);
}
