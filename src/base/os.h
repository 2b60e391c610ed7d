/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the system gives: descriptors that close themselves, whole files, folders, clocks. Every
 * open is close-on-exec. Paths under /proc and /sys go through rootfs.h instead.
 */
#ifndef CULPRIT_BASE_OS_H
#define CULPRIT_BASE_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/err.h"
#include "base/mem.h"

void os_close_fd(int *fd);
void os_close_file(FILE **f);
void os_free_ptr(void *p);
/* Cleanup by scope. fd_auto holds -1 when there is nothing to close. */
#define fd_auto __attribute__((cleanup(os_close_fd))) int
#define file_auto __attribute__((cleanup(os_close_file))) FILE *
#define char_auto __attribute__((cleanup(os_free_ptr))) char *
#define buf_auto __attribute__((cleanup(buf_done))) struct buf
#define arena_auto __attribute__((cleanup(arena_done))) struct arena

/* Reads from fd until its end or max bytes (ERR_LIMIT beyond). */
ERR_CHECKED bool os_read_fd(int fd, const char *name, size_t max, struct buf *out, struct err *err);
/* Never blocks: what stands under a path that came from elsewhere may be a FIFO. */
ERR_CHECKED bool os_load_file(const char *path, size_t max, struct buf *out, struct err *err);
/*
 * The same two for what the user has named: they wait for a pipe or FIFO, as cat does, and for
 * more on a descriptor that does not block.
 */
ERR_CHECKED bool os_read_input(int fd, const char *name, size_t max, struct buf *out,
			       struct err *err);
ERR_CHECKED bool os_load_input(const char *path, size_t max, struct buf *out, struct err *err);
/* All of it, whatever write() does; name is for the message. ENOSPC gets a hint. */
ERR_CHECKED bool os_write_all(int fd, const char *name, const void *bytes, size_t len,
			      struct err *err);
ERR_CHECKED bool os_pwrite_all(int fd, const char *name, const void *bytes, size_t len,
			       uint64_t offset, struct err *err);
/* Written beside and renamed over, so that a reader sees all or nothing. */
ERR_CHECKED bool os_save_file(const char *path, const void *bytes, size_t len, struct err *err);
/* The folder and its parents, mode 0700 for those made. */
ERR_CHECKED bool os_make_dirs(const char *path, struct err *err);
/* The folder and all in it; symlinks are removed, not followed. A missing one is no error. */
ERR_CHECKED bool os_remove_tree(const char *path, struct err *err);
/* Reflink, else a copy; target must not exist. */
ERR_CHECKED bool os_copy_file(int from, const char *to, struct err *err);

/* When a file was last written, nanoseconds since 1970. */
static inline uint64_t os_mtime_ns(const struct stat *st)
{
	return (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* A read-only private mapping of a whole regular file; bytes is NULL for an empty one. */
struct os_map {
	const uint8_t *bytes;
	size_t len;
};
ERR_CHECKED bool os_map_file(const char *path, struct os_map *map, struct err *err);
/* The same for what the user has named: a pipe is waited for and read, up to max bytes. */
ERR_CHECKED bool os_map_input(const char *path, size_t max, struct os_map *map, struct err *err);
void os_unmap(struct os_map *map);

uint64_t os_clock_ns(clockid_t clock);
static inline uint64_t os_now_ns(void) /* CLOCK_MONOTONIC */
{
	return os_clock_ns(CLOCK_MONOTONIC);
}
/* CPU time of this process so far, user + system. */
uint64_t os_self_cpu_ns(void);

#endif
