/* SPDX-License-Identifier: Apache-2.0 */
/* Reads of /proc and /sys through a root path. */
#include "base/rootfs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/str.h"

int rootfs_open(const struct rootfs *r, const char *path)
{
	char_auto full = mem_printf("%s%s", r->root, path);

	return open(full, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

/* Not zero bytes: command lines and notes end in them. */
static bool is_white(uint8_t c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

bool rootfs_read(const struct rootfs *r, const char *path, struct buf *out)
{
	fd_auto fd = rootfs_open(r, path);
	struct err err;
	size_t start = out->len;

	if (fd < 0 || !os_read_fd(fd, path, 64u << 20, out, &err))
		return false;
	while (out->len > start && is_white(out->at[out->len - 1]))
		out->at[--out->len] = 0;
	return true;
}

long long rootfs_number(const struct rootfs *r, const char *path, long long otherwise)
{
	buf_auto text = { 0 };
	int64_t v;

	if (!rootfs_read(r, path, &text) || !str_i64(str_of(buf_str(&text)), &v))
		return otherwise;
	return v;
}

bool rootfs_exists(const struct rootfs *r, const char *path)
{
	char_auto full = mem_printf("%s%s", r->root, path);

	return !access(full, F_OK);
}

static int by_name(const void *a, const void *b)
{
	return strverscmp(*(const char *const *)a, *(const char *const *)b);
}

const char **rootfs_list(const struct rootfs *r, const char *path, struct arena *a)
{
	char_auto full = mem_printf("%s%s", r->root, path);
	DIR *dir = opendir(full);
	VEC(const char *) names = { 0 };
	const char **out;

	for (struct dirent *d; dir && (d = readdir(dir));)
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			vec_add(&names, arena_strdup(a, d->d_name));
	if (dir)
		closedir(dir);
	if (names.len)
		qsort(names.at, names.len, sizeof(*names.at), by_name);
	out = arena_alloc(a, (names.len + 1) * sizeof(*out));
	if (names.len)
		memcpy(out, names.at, names.len * sizeof(*out));
	vec_done(&names);
	return out;
}

bool cpu_list_parse(struct cpu_list *list, const char *text)
{
	enum { ID_MAX = 65535 };
	struct str rest = str_trim(str_of(text)), part, low;

	vec_clear(&list->ids);
	if (rest.len && rest.at[rest.len - 1] == ',')
		return false;
	while (str_cut(&rest, ',', &part)) {
		uint64_t first, last;
		bool range = part.len && memchr(part.at, '-', part.len);

		if (!str_cut(&part, '-', &low) || !str_u64(low, &first))
			return false;
		last = first;
		if (range && !str_u64(part, &last))
			return false;
		/* A text of many ranges must not cost more memory than there can be CPUs. */
		if (last < first || last > ID_MAX || last - first >= ID_MAX + 1 - list->ids.len)
			return false;
		for (uint64_t i = first; i <= last; i++)
			vec_add(&list->ids, (int)i);
	}
	return true;
}
