/* SPDX-License-Identifier: Apache-2.0 */
/* Machines out of thin air: a root tree with a few files, and a kernel's answers. */
#include "tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"

struct rootfs tree_root(void)
{
	return (struct rootfs){ test_tmpdir() };
}

void tree_put_bytes(const char *path, const void *bytes, size_t len)
{
	char_auto full = mem_printf("%s%s", test_tmpdir(), path);
	struct err err;
	char *slash = strrchr(full, '/');
	int fd;

	*slash = 0;
	CHECK_MSG(os_make_dirs(full, &err), "%s", err.text);
	*slash = '/';
	fd = open(full, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	CHECK(os_write_all(fd, full, bytes, len, &err));
	close(fd);
}

void tree_put(const char *path, const char *text)
{
	tree_put_bytes(path, text, strlen(text));
}

int tree_open(void *ctx, const void *at, int pid, int cpu, int group, unsigned long flags)
{
	const struct tree_kernel *k = ctx;
	struct perf_event_attr a;
	int fds[2];

	(void)cpu, (void)group, (void)flags;
	memcpy(&a, at, sizeof(a));
	if (a.type == PERF_TYPE_HARDWARE && k->cycles)
		return -k->cycles;
	if (a.type == PERF_TYPE_SOFTWARE && k->timer)
		return -k->timer;
	if (pid == -1 && k->system)
		return -k->system;
	if (!a.exclude_kernel && k->kernel)
		return -k->kernel;
	CHECK(!pipe2(fds, O_CLOEXEC));
	for (int i = 0; i < 100; i++)
		CHECK_EQ_INT(write(fds[1], &k->count, sizeof(k->count)), sizeof(k->count));
	close(fds[1]);
	return fds[0];
}
