/* SPDX-License-Identifier: Apache-2.0 */
/* Files, folders and clocks. */
#include "base/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/fs.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

void os_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void os_close_file(FILE **f)
{
	if (*f)
		fclose(*f);
	*f = NULL;
}

void os_free_ptr(void *p)
{
	void **at = p;

	free(*at);
	*at = NULL;
}

enum patience { READ_AT_ONCE, READ_WAIT };

/* When there is nothing yet on a descriptor that does not block. */
static bool wait_for_bytes(int fd, enum patience patience)
{
	struct pollfd ready = { .fd = fd, .events = POLLIN };

	return patience == READ_WAIT && (poll(&ready, 1, -1) > 0 || errno == EINTR);
}

static bool read_to_end(int fd, const char *name, size_t max, enum patience patience,
			struct buf *out, struct err *err)
{
	enum { STEP = 64 * 1024 };
	size_t start = out->len;

	for (;;) {
		size_t before = out->len;
		uint8_t *to = buf_room(out, STEP);
		ssize_t n = read(fd, to, STEP);

		out->len = before + (n > 0 ? (size_t)n : 0);
		out->at[out->len] = 0;
		if (n == 0)
			return true;
		if (n < 0 && (errno == EINTR || (errno == EAGAIN && wait_for_bytes(fd, patience))))
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read %s", name);
		if (out->len - start > max)
			return err_set(err, ERR_LIMIT, "%s is larger than %zu bytes", name, max);
	}
}

bool os_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *err)
{
	return read_to_end(fd, name, max, READ_AT_ONCE, out, err);
}

bool os_read_input(int fd, const char *name, size_t max, struct buf *out, struct err *err)
{
	return read_to_end(fd, name, max, READ_WAIT, out, err);
}

static bool open_to_read(const char *path, enum patience patience, int *fd, struct err *err)
{
	int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | (patience == READ_WAIT ? 0 : O_NONBLOCK);
	int got;

	do
		got = open(path, flags);
	while (got < 0 && errno == EINTR);
	if (got < 0) {
		err_sys(err, errno, "cannot open %s", path);
		if (err->sys_errno == ENOENT)
			err->kind = ERR_NOT_FOUND;
		return false;
	}
	*fd = got;
	return true;
}

bool os_load_file(const char *path, size_t max, struct buf *out, struct err *err)
{
	fd_auto fd = -1;

	return open_to_read(path, READ_AT_ONCE, &fd, err) && os_read_fd(fd, path, max, out, err);
}

bool os_load_input(const char *path, size_t max, struct buf *out, struct err *err)
{
	fd_auto fd = -1;

	return open_to_read(path, READ_WAIT, &fd, err) && os_read_input(fd, path, max, out, err);
}

static bool write_failed(int errnum, const char *name, struct err *err)
{
	err_sys(err, errnum, "cannot write %s", name);
	if (errnum == ENOSPC || errnum == EDQUOT || errnum == EFBIG)
		err_hint(err, "free some space, or set CULPRIT_HOME to a folder on another disk");
	return false;
}

bool os_write_all(int fd, const char *name, const void *bytes, size_t len, struct err *err)
{
	const uint8_t *p = bytes;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return write_failed(errno, name, err);
		p += n;
		len -= (size_t)n;
	}
	return true;
}

bool os_pwrite_all(int fd, const char *name, const void *bytes, size_t len, uint64_t offset,
		   struct err *err)
{
	const uint8_t *p = bytes;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return write_failed(errno, name, err);
		p += n;
		offset += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

bool os_save_file(const char *path, const void *bytes, size_t len, struct err *err)
{
	char_auto beside = mem_printf("%s.%d.tmp", path, (int)getpid());
	fd_auto fd = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_sys(err, errno, "cannot create %s", beside);
	if (!os_write_all(fd, path, bytes, len, err)) {
		unlink(beside);
		return false;
	}
	if (rename(beside, path)) {
		int errnum = errno;

		unlink(beside);
		return err_sys(err, errnum, "cannot replace %s", path);
	}
	return true;
}

bool os_make_dirs(const char *path, struct err *err)
{
	char_auto part = mem_strdup(path);
	struct stat st;

	if (!*path)
		return err_set(err, ERR_INTERNAL, "cannot make a folder without a name");
	for (char *p = part + 1;; p++) {
		char c = *p;

		if (c != '/' && c)
			continue;
		*p = 0;
		if (mkdir(part, 0700) && errno != EEXIST)
			return err_sys(err, errno, "cannot make the folder %s", part);
		*p = c;
		if (!c)
			break;
	}
	if (stat(path, &st))
		return err_sys(err, errno, "cannot make the folder %s", path);
	if (!S_ISDIR(st.st_mode))
		return err_sys(err, ENOTDIR, "cannot make the folder %s", path);
	return true;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

bool os_remove_tree(const char *path, struct err *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) && errno != ENOENT)
		return err_sys(err, errno, "cannot remove %s", path);
	return true;
}

bool os_copy_file(int from, const char *to, struct err *err)
{
	fd_auto fd = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	static const size_t step = 256 * 1024;
	buf_auto room = { 0 };
	off_t at = 0;

	if (fd < 0)
		return err_sys(err, errno, "cannot create %s", to);
	if (!ioctl(fd, FICLONE, from))
		return true;
	buf_room(&room, step);
	for (;;) {
		ssize_t n = pread(from, room.at, step, at);

		if (n == 0)
			return true;
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_sys(err, errno, "cannot read the source of %s", to);
			break;
		}
		if (!os_write_all(fd, to, room.at, (size_t)n, err))
			break;
		at += n;
	}
	unlink(to);
	return false;
}

static bool map_fd(int fd, const char *path, struct os_map *map, struct err *err)
{
	struct stat st;
	void *p = NULL;

	if (fstat(fd, &st))
		return err_sys(err, errno, "cannot stat %s", path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "%s is not a regular file", path);
	if (st.st_size > 0) {
		p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (p == MAP_FAILED)
			return err_sys(err, errno, "cannot map %s", path);
	}
	map->bytes = p;
	map->len = (size_t)st.st_size;
	return true;
}

bool os_map_file(const char *path, struct os_map *map, struct err *err)
{
	fd_auto fd = -1;

	return open_to_read(path, READ_AT_ONCE, &fd, err) && map_fd(fd, path, map, err);
}

/* All that comes out of a pipe, in a file of our own that has no name. */
static bool spool(int from, int to, const char *path, size_t max, struct err *err)
{
	enum { STEP = 1 << 20 };
	buf_auto room = { 0 };
	uint8_t *bytes = buf_room(&room, STEP);
	size_t total = 0;

	for (;;) {
		ssize_t n = read(from, bytes, STEP);

		if (n == 0)
			return true;
		if (n < 0 &&
		    (errno == EINTR || (errno == EAGAIN && wait_for_bytes(from, READ_WAIT))))
			continue;
		if (n < 0)
			return err_sys(err, errno, "cannot read %s", path);
		total += (size_t)n;
		if (total > max) {
			err_set(err, ERR_LIMIT, "%s gives more than %zu bytes", path, max);
			return err_hint(err, "save them in a file, and name that file");
		}
		if (!os_write_all(to, "a copy in memory", bytes, (size_t)n, err))
			return false;
	}
}

bool os_map_input(const char *path, size_t max, struct os_map *map, struct err *err)
{
	fd_auto fd = -1;
	fd_auto copy = -1;
	struct stat st;

	if (!open_to_read(path, READ_WAIT, &fd, err))
		return false;
	if (fstat(fd, &st))
		return err_sys(err, errno, "cannot stat %s", path);
	if (!S_ISFIFO(st.st_mode) && !S_ISCHR(st.st_mode))
		return map_fd(fd, path, map, err);
	copy = memfd_create("culprit-input", MFD_CLOEXEC);
	if (copy < 0)
		return err_sys(err, errno, "cannot keep what %s gives", path);
	return spool(fd, copy, path, max, err) && map_fd(copy, path, map, err);
}

void os_unmap(struct os_map *map)
{
	if (map->bytes)
		munmap((void *)(uintptr_t)map->bytes, map->len);
	*map = (struct os_map){ 0 };
}

uint64_t os_clock_ns(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t os_self_cpu_ns(void)
{
	return os_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}
