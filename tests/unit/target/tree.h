/* SPDX-License-Identifier: Apache-2.0 */
/* Machines out of thin air: a root tree with a few files, and a kernel's answers. */
#ifndef TEST_TARGET_TREE_H
#define TEST_TARGET_TREE_H

#include "target/target.h"

/* Writes root + path with its folders. */
void tree_put(const char *path, const char *text);
void tree_put_bytes(const char *path, const void *bytes, size_t len);
struct rootfs tree_root(void);

/* What the machine's kernel answers: the lines of its file. */
void tree_answers(const char *lines);
/* Probes the tree with these answers; a file that cannot be read fails the test. */
void tree_probe(struct target *t);
/* A core PMU with these CPUs, "" for no such file. */
void tree_pmu(const char *name, const char *type, const char *cpus);

#endif
