/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files behind executable mappings, opened while the process lives and kept open, so that they
 * can be had even when they are deleted or replaced later. Known by build id, else by device and
 * inode, never by path. Private to capture/.
 */
#ifndef CULPRIT_CAPTURE_IMAGES_H
#define CULPRIT_CAPTURE_IMAGES_H

#include <sys/resource.h>
#include <sys/stat.h>

#include "base/map.h"
#include "base/mem.h"

/* What a mapping says about its file. */
struct image_name {
	uint32_t pid;
	uint64_t start, len; /* 0 when not known */
	uint8_t build_id[20];
	uint8_t build_id_len; /* 0: the fields below count */
	uint64_t device_major, device_minor, inode, inode_generation;
	const char *path;
};

struct image {
	int fd; /* -1: not open (any more) */
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint64_t device_major, device_minor, inode;
	char *path; /* as the mapping showed it */
	uint32_t pid;
	uint8_t misses; /* how often it could not be opened */
};

struct images {
	VEC(struct image) list;
	struct map by_key; /* build id or device and inode, hashed: index + 1 */
	size_t open, most; /* descriptors in use and allowed */
	size_t oldest;	   /* next to be given up */
	bool no_map_files; /* the kernel refused /proc/PID/map_files once */
};

/* Raises RLIMIT_NOFILE to its ceiling and takes most of it. *before is what it was. */
void images_init(struct images *i, struct rlimit *before);
/*
 * Makes sure that the file of a mapping is open; gives it, or NULL when it cannot be had. Valid
 * until the next call.
 */
const struct image *images_see(struct images *i, const struct image_name *name);
/* Takes a file that was opened by other means; fd is owned from now on. */
void images_take(struct images *i, int fd, uint32_t pid, const char *path);
/* The open file for this name, tried again if need be; NULL when it cannot be had. */
const struct image *images_find(struct images *i, const struct image_name *name);
void images_done(struct images *i);

#endif
