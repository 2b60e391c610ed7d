/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the tests of the "tests" section, one process each, and reports them as TAP. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { STATUS_FAILED = 1, STATUS_SKIPPED = 77 };

/* What a test's process tells the runner, in memory that both see. */
struct shared {
	bool done; /* the test function came back, failed a check or skipped */
	char skip_reason[512];
	char tmpdir[256];
};

static struct shared *shared;

extern const struct test *const __start_tests[];
extern const struct test *const __stop_tests[];

void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	printf("%s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
	shared->done = true;
	_exit(STATUS_FAILED);
}

void test_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(shared->skip_reason, sizeof(shared->skip_reason), format, args);
	va_end(args);
	shared->done = true;
	fflush(stdout);
	_exit(STATUS_SKIPPED);
}

void test_eq_int(const char *file, int line, const char *what_a, const char *what_b, intmax_t a,
		 intmax_t b)
{
	if (a != b)
		test_fail(file, line, "%s is %jd, %s is %jd", what_a, a, what_b, b);
}

void test_eq_u64(const char *file, int line, const char *what_a, const char *what_b, uint64_t a,
		 uint64_t b)
{
	if (a != b)
		test_fail(file, line,
			  "%s is %" PRIu64 " (0x%" PRIx64 "), %s is %" PRIu64 " (0x%" PRIx64 ")",
			  what_a, a, a, what_b, b, b);
}

void test_eq_str(const char *file, int line, const char *what_a, const char *what_b, const char *a,
		 const char *b)
{
	if (a == b || (a && b && strcmp(a, b) == 0))
		return;
	test_fail(file, line, "%s is\n  \"%s\"\n%s is\n  \"%s\"", what_a, a ? a : "(null)", what_b,
		  b ? b : "(null)");
}

void test_eq_mem(const char *file, int line, const char *what_a, const char *what_b, const void *a,
		 const void *b, size_t size)
{
	const uint8_t *left = a;
	const uint8_t *right = b;

	for (size_t i = 0; i < size; i++)
		if (left[i] != right[i])
			test_fail(file, line, "byte %zu of %zu: %s has 0x%02x, %s has 0x%02x", i,
				  size, what_a, left[i], what_b, right[i]);
}

void test_near(const char *file, int line, const char *what_a, const char *what_b, double a,
	       double b, double most)
{
	/* Written so that a NaN fails. */
	if (!(fabs(a - b) <= most))
		test_fail(file, line, "%s is %.17g, %s is %.17g, apart by more than %g", what_a, a,
			  what_b, b, most);
}

void test_has(const char *file, int line, const char *what, const char *text, const char *needle)
{
	if (!text || !strstr(text, needle))
		test_fail(file, line, "\"%s\" is not in %s, which is\n  \"%s\"", needle, what,
			  text ? text : "(null)");
}

static void *map(size_t size, int flags)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, flags | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("mmap");
		_exit(STATUS_FAILED);
	}
	return at;
}

uint8_t *test_guard(const void *bytes, size_t size)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	size_t room = (size + page - 1) / page * page;
	uint8_t *at = map(room + page, MAP_PRIVATE);

	if (mprotect(at + room, page, PROT_NONE) != 0)
		FAIL("mprotect: %s", strerror(errno));
	if (size > 0)
		memcpy(at + room - size, bytes, size);
	return at + room - size;
}

const char *test_tmpdir(void)
{
	const char *top = getenv("TMPDIR");

	if (shared->tmpdir[0] == '\0') {
		char path[sizeof(shared->tmpdir)];

		snprintf(path, sizeof(path), "%s/test-XXXXXX", top && *top ? top : "/tmp");
		if (!mkdtemp(path))
			FAIL("mkdtemp %s: %s", path, strerror(errno));
		memcpy(shared->tmpdir, path, sizeof(path));
	}
	return shared->tmpdir;
}

const char *test_source(const char *path)
{
	const char *root = getenv("CULPRIT_SOURCE_ROOT");
	char *full = map(4096, MAP_PRIVATE);

	snprintf(full, 4096, "%s/%s", root && *root ? root : TEST_SOURCE_ROOT, path);
	return full;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

static _Noreturn void run_test(const struct test *test, int output)
{
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(output, STDOUT_FILENO);
	dup2(output, STDERR_FILENO);
	setvbuf(stdout, NULL, _IOLBF, 0);
	test->run();
	shared->done = true;
	/* Not _exit: a leak checker looks now. */
	exit(0);
}

/* Wait for the child until the deadline, then kill it. False: it was killed. */
static bool await(pid_t pid, unsigned int timeout_s, int *status)
{
	struct timespec now;
	struct timespec end;
	sigset_t child;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += timeout_s;
	while (waitpid(pid, status, WNOHANG) == 0) {
		struct timespec step = { .tv_nsec = 100000000 };

		clock_gettime(CLOCK_MONOTONIC, &now);
		if (now.tv_sec > end.tv_sec ||
		    (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec)) {
			kill(-pid, SIGKILL);
			kill(pid, SIGKILL);
			waitpid(pid, status, 0);
			return false;
		}
		sigtimedwait(&child, NULL, &step);
	}
	/* Whatever the test left behind goes with it. */
	kill(-pid, SIGKILL);
	return true;
}

static void print_output(FILE *output)
{
	char line[4096];

	rewind(output);
	while (fgets(line, sizeof(line), output)) {
		line[strcspn(line, "\n")] = '\0';
		printf("# %s\n", line);
	}
}

/* Say on one line how the test ended. True: it passed or was skipped. */
static bool report(const struct test *test, size_t number, bool in_time, unsigned int timeout_s,
		   int status)
{
	bool exited = in_time && WIFEXITED(status);

	if (exited && WEXITSTATUS(status) == STATUS_SKIPPED && shared->done) {
		printf("ok %zu - %s # SKIP %s\n", number, test->name, shared->skip_reason);
		return true;
	}
	if (exited && WEXITSTATUS(status) == 0 && shared->done) {
		printf("ok %zu - %s\n", number, test->name);
		return true;
	}
	printf("not ok %zu - %s\n", number, test->name);
	if (!in_time)
		printf("# %s: no end after %u s\n", test->file, timeout_s);
	else if (WIFSIGNALED(status))
		printf("# %s: killed by signal %d (%s)\n", test->file, WTERMSIG(status),
		       strsignal(WTERMSIG(status)));
	else if (!shared->done)
		printf("# %s: exited by itself with status %d\n", test->file, WEXITSTATUS(status));
	else if (WEXITSTATUS(status) != STATUS_FAILED)
		printf("# %s: status %d after its end\n", test->file, WEXITSTATUS(status));
	return false;
}

static bool run(const struct test *test, size_t number, unsigned int timeout_s, bool verbose)
{
	FILE *output = tmpfile();
	bool in_time;
	bool good;
	int status = 0;
	pid_t pid;

	if (test->timeout_s)
		timeout_s = test->timeout_s;
	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid = output ? fork() : -1;
	if (pid < 0) {
		printf("not ok %zu - %s\n# cannot start: %s\n", number, test->name,
		       strerror(errno));
		return false;
	}
	if (pid == 0)
		run_test(test, fileno(output));
	in_time = await(pid, timeout_s, &status);
	good = report(test, number, in_time, timeout_s, status);
	if (!good || verbose)
		print_output(output);
	fclose(output);
	if (shared->tmpdir[0])
		nftw(shared->tmpdir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
	return good;
}

static bool is_wanted(const struct test *test, char *const *parts)
{
	if (!*parts)
		return true;
	for (; *parts; parts++)
		if (strstr(test->name, *parts))
			return true;
	return false;
}

/* By file, then line: the linker's order is nobody's. */
static int compare(const void *left, const void *right)
{
	const struct test *const *a = left;
	const struct test *const *b = right;
	int file = strcmp((*a)->file, (*b)->file);

	return file != 0 ? file : (*a)->line - (*b)->line;
}

int main(int argc, char **argv)
{
	size_t count = (size_t)(__stop_tests - __start_tests);
	const struct test **tests = calloc(count + 1, sizeof(tests[0]));
	unsigned int timeout_s = 60;
	bool verbose = false;
	bool list = false;
	size_t wanted = 0;
	size_t number = 0;
	size_t failed = 0;
	sigset_t child;
	int option;

	while ((option = getopt(argc, argv, "lvt:")) != -1) {
		if (option == 'l')
			list = true;
		else if (option == 'v')
			verbose = true;
		else if (option == 't')
			timeout_s = (unsigned int)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (!tests)
		return 2;
	shared = map(sizeof(*shared), MAP_SHARED);
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);

	for (size_t i = 0; i < count; i++) {
		tests[i] = __start_tests[i];
		wanted += is_wanted(tests[i], argv + optind);
	}
	qsort(tests, count, sizeof(tests[0]), compare);
	if (!list)
		printf("1..%zu\n", wanted);
	for (size_t i = 0; i < count; i++) {
		if (!is_wanted(tests[i], argv + optind))
			continue;
		if (list)
			printf("%s\n", tests[i]->name);
		else
			failed += !run(tests[i], ++number, timeout_s, verbose);
	}
	free(tests);
	return failed > 0;
}
