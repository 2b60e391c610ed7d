/* SPDX-License-Identifier: Apache-2.0 */
/* Machines out of thin air: a root tree with a few files, and a kernel's answers. */
#ifndef TEST_TARGET_TREE_H
#define TEST_TARGET_TREE_H

#include "target/target.h"

/* Writes root + path with its folders. */
void tree_put(const char *path, const char *text);
void tree_put_bytes(const char *path, const void *bytes, size_t len);
struct rootfs tree_root(void);

/* What perf_event_open says: 0 or an errno for each kind of event. */
struct tree_kernel {
	int cycles, timer, system, kernel;
	uint64_t count; /* of cycles, when they open */
};
target_open_fn tree_open;

#endif
