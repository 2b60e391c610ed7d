/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only door to /proc and /sys. With a root other than "" the same reads go to a recorded
 * machine tree, so that machines nobody here owns can be tested.
 */
#ifndef CULPRIT_BASE_ROOTFS_H
#define CULPRIT_BASE_ROOTFS_H

#include "base/err.h"
#include "base/mem.h"

struct rootfs {
	const char *root; /* "" for this machine; not owned */
};

/* Opens root + path for reading, close-on-exec; -1 with errno set. */
int rootfs_open(const struct rootfs *r, const char *path);
/* The whole file (up to 64 MiB) without trailing white space, terminated; false when unreadable. */
bool rootfs_read(const struct rootfs *r, const char *path, struct buf *out);
/* A number in a file; otherwise when missing or not a number. */
long long rootfs_number(const struct rootfs *r, const char *path, long long otherwise);
bool rootfs_exists(const struct rootfs *r, const char *path);
/* Names in a folder, sorted, without . and ..; strings lie in the arena. NULL-terminated list. */
const char **rootfs_list(const struct rootfs *r, const char *path, struct arena *a);

/* A CPU list such as "0-3,8,10-11" to ids; false when malformed or above 65,535. */
struct cpu_list {
	VEC(int) ids;
};
bool cpu_list_parse(struct cpu_list *list, const char *text);

#endif
