/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the command. The child stops before exec until the events are open, gives its own troubles
 * back through a pipe that exec closes, and stays in the agent's process group, so that it keeps
 * the user's terminal.
 */
#include "capture/session.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"

static bool is_regular(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISREG(st.st_mode);
}

static bool refuse_path(const char *path, int errnum, struct err *err)
{
	struct stat st;

	if (errnum == ENOENT || errnum == ENOTDIR) {
		err_set(err, ERR_NOT_FOUND, "command not found: %s", path);
		return err_hint(err, "check the spelling and the working directory");
	}
	if (!stat(path, &st) && S_ISDIR(st.st_mode)) {
		err_sys(err, EISDIR, "cannot run %s", path);
		return err_hint(err, "name a program in it");
	}
	err_sys(err, errnum, "cannot run %s", path);
	if (errnum == EACCES)
		return err_hint(err, "is it executable? chmod +x %s", path);
	return false;
}

/* Looks through PATH as execvp does. The result is on the heap. */
static bool find_in_path(char **path, const char *name, struct err *err)
{
	const char *list = getenv("PATH");
	struct str rest = str_of(list ? list : "/usr/local/bin:/usr/bin:/bin"), dir;
	bool more = true, forbidden = false;

	while (more) {
		char *full;

		/* An empty part is the working directory, also at the end. */
		more = memchr(rest.at, ':', rest.len) != NULL;
		if (!str_cut(&rest, ':', &dir))
			dir = str_of("");
		full = mem_printf("%.*s%s%s", (int)dir.len, dir.at, dir.len ? "/" : "./", name);
		if (is_regular(full) && !access(full, X_OK)) {
			*path = full;
			return true;
		}
		forbidden |= is_regular(full);
		free(full);
	}
	if (forbidden) {
		err_sys(err, EACCES, "cannot run %s", name);
		return err_hint(err, "a file of that name in PATH is not executable: chmod +x it");
	}
	err_set(err, ERR_NOT_FOUND, "command not found: %s", name);
	if (!access(name, X_OK))
		return err_hint(err, "the working directory is not in PATH: try ./%s", name);
	return err_hint(err, "check the spelling, or give the path of the program");
}

static bool find_command(char **path, const char *name, struct err *err)
{
	if (!strchr(name, '/'))
		return find_in_path(path, name, err);
	if (access(name, X_OK))
		return refuse_path(name, errno, err);
	if (!is_regular(name))
		return refuse_path(name, EACCES, err);
	*path = mem_strdup(name);
	return true;
}

/* Opened before exec, so that it is ours whatever becomes of the file. */
static void take_image(struct capture *c, const char *path, pid_t pid)
{
	char magic[SELFMAG];
	char *real = realpath(path, NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd >= 0) {
		c->launched.is_elf = pread(fd, magic, SELFMAG, 0) == SELFMAG &&
				     !memcmp(magic, ELFMAG, SELFMAG);
		images_take(&c->images, fd, (uint32_t)pid, real ? real : path);
	}
	free(real);
}

/*
 * Signals as the program would find them without us: those that nohup, or a shell for what it
 * starts in the background, had ignored stay so.
 */
static void child_signals(const sigset_t *ignored, const sigset_t *mask)
{
	for (int s = 1; s < NSIG; s++) {
		struct sigaction old;

		if (s == SIGKILL || s == SIGSTOP || sigaction(s, NULL, &old))
			continue;
		if (sigismember(ignored, s) == 1)
			signal(s, SIG_IGN);
		else if (old.sa_handler != SIG_DFL)
			signal(s, SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static void child_stdio(const int stdio[3])
{
	int null = -1, fds[3];

	for (int i = 0; i < 3; i++) {
		fds[i] = stdio[i];
		if (fds[i] < 0 && i)
			fds[i] = 2;
		if (fds[i] < 0) {
			null = open("/dev/null", O_RDWR | O_CLOEXEC);
			fds[i] = null;
		}
		/* Out of the way of 0 to 2, which are filled next. */
		fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, 10);
	}
	/* Rather none than the agent's own, which speak with the host. */
	for (int i = 0; i < 3; i++)
		if (dup2(fds[i], i) < 0)
			close(i);
}

/* As execvp: a file without a known format is a shell script, if it is not a foreign program. */
static int child_exec(struct launched *l, char **argv)
{
	char shell[] = "/bin/sh", *dash_argv[4096];
	size_t n = 0;

	execv(l->path, argv);
	if (errno != ENOEXEC || l->is_elf)
		return errno;
	dash_argv[n++] = shell;
	dash_argv[n++] = l->path;
	for (size_t i = 1; argv[i]; i++) {
		if (n + 1 >= sizeof(dash_argv) / sizeof(*dash_argv))
			return E2BIG;
		dash_argv[n++] = argv[i];
	}
	dash_argv[n] = NULL;
	execv(shell, dash_argv);
	return errno;
}

static _Noreturn void child_main(struct capture *c, int go, int result, pid_t agent)
{
	char byte;
	int errnum;

	/* Without the agent nobody ends what it started. */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != agent)
		_exit(127);
	child_stdio(c->stdio);
	child_signals(&c->ignored, &c->old_mask);
	if (c->files_before.rlim_cur != RLIM_INFINITY)
		(void)setrlimit(RLIMIT_NOFILE, &c->files_before);
	if (read(go, &byte, 1) != 1)
		_exit(127);
	errnum = child_exec(&c->launched, c->job->argv);
	(void)!write(result, &errnum, sizeof(errnum));
	_exit(127);
}

bool launch_start(struct capture *c, struct err *err)
{
	int go[2], result[2];
	pid_t agent = getpid(), pid;

	if (!find_command(&c->launched.path, c->job->argv[0], err))
		return false;
	if (pipe2(go, O_CLOEXEC))
		return err_sys(err, errno, "cannot make a pipe");
	if (pipe2(result, O_CLOEXEC)) {
		err_sys(err, errno, "cannot make a pipe");
		close(go[0]);
		close(go[1]);
		return false;
	}
	/* Orphans of the workload come to us, so that a forced end finds them. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	take_image(c, c->launched.path, 0);
	pid = fork();
	if (!pid) {
		close(go[1]);
		child_main(c, go[0], result[1], agent);
	}
	close(go[0]);
	close(result[1]);
	if (pid < 0) {
		err_sys(err, errno, "cannot start a process for %s", c->job->argv[0]);
		close(go[1]);
		close(result[0]);
		return false;
	}
	c->launched.pid = pid;
	c->launched.go = go[1];
	c->launched.exec_result = result[0];
	return true;
}

void launch_release(struct capture *c)
{
	(void)!write(c->launched.go, "g", 1);
	os_close_fd(&c->launched.go);
}

/* The interpreter that a script's first line names, or "". */
static void read_interpreter(const char *path, char *name, size_t room)
{
	char line[256];
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line) - 1);
	struct str rest, word;

	name[0] = 0;
	if (n < 2 || memcmp(line, "#!", 2))
		return;
	rest = (struct str){ line + 2, (size_t)n - 2 };
	if (str_line(&rest, &word)) {
		rest = word;
		if (str_word(&rest, &word))
			snprintf(name, room, "%.*s", (int)word.len, word.at);
	}
}

bool launch_result(struct capture *c, struct err *err)
{
	const char *path = c->launched.path;
	char interpreter[128];
	int errnum = 0;
	ssize_t n = read(c->launched.exec_result, &errnum, sizeof(errnum));

	os_close_fd(&c->launched.exec_result);
	if (n != (ssize_t)sizeof(errnum))
		return true;
	err_sys(err, errnum, "cannot run %s", path);
	read_interpreter(path, interpreter, sizeof(interpreter));
	if (errnum == ENOENT && interpreter[0]) {
		err_set(err, ERR_NOT_FOUND, "cannot run %s: bad interpreter: %s", path,
			interpreter);
		return err_hint(err, "install %s, or correct the first line of the script",
				interpreter);
	}
	if (errnum == ENOENT)
		return err_hint(err,
				"the loader that the program names is missing (file %s shows it)",
				path);
	if (errnum == ENOEXEC)
		return err_hint(err, "is it a program for another kind of machine? (file %s)",
				path);
	return false;
}

static uint64_t usage_ns(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) * 1000000000u +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000u;
}

void launch_reap(struct capture *c)
{
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, WNOHANG, &usage)) > 0) {
		if (pid != c->launched.pid)
			continue; /* an orphan of the workload's */
		c->launched.reaped = true;
		c->launched.status = status;
		c->launched.cpu_ns = usage_ns(&usage);
		c->launched.pid = 0;
	}
}

void launch_abandon(struct capture *c)
{
	os_close_fd(&c->launched.go);
	os_close_fd(&c->launched.exec_result);
	if (c->launched.pid > 0 && !c->launched.reaped) {
		kill(c->launched.pid, SIGKILL);
		while (waitpid(c->launched.pid, &c->launched.status, 0) < 0 && errno == EINTR)
			;
	}
	c->launched.pid = 0;
}
