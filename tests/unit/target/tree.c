/* SPDX-License-Identifier: Apache-2.0 */
/* Machines out of thin air: a root tree with a few files, and a kernel's answers. */
#include "tree.h"

#include <fcntl.h>
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

void tree_answers(const char *lines)
{
	tree_put("/perf_event_open", lines);
}

void tree_probe(struct target *t)
{
	const struct rootfs root = tree_root();
	struct target_recorded *r;
	struct target_perf perf;
	struct err err;

	CHECK_MSG(target_recorded_load(&r, &root, &perf, &err), "%s", err.text);
	target_probe(t, &root, &perf);
	target_recorded_free(r);
}

void tree_pmu(const char *name, const char *type, const char *cpus)
{
	char_auto dir = mem_printf("/sys/bus/event_source/devices/%s", name);
	char_auto type_path = mem_printf("%s/type", dir);
	char_auto cpus_path = mem_printf("%s/cpus", dir);

	tree_put(type_path, type);
	if (cpus[0])
		tree_put(cpus_path, cpus);
}
