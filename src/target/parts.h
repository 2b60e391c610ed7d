/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of target/ share. */
#ifndef CULPRIT_TARGET_PARTS_H
#define CULPRIT_TARGET_PARTS_H

#include <linux/perf_event.h>

#include "target/target.h"

/* Name, kernel, system and maker of the machine. */
void target_probe_system(struct target *t, const struct rootfs *root);
/* Cores, memory and PMUs. */
void target_probe_hardware(struct target *t, const struct rootfs *root);
/* Settings, limits and capabilities. */
void target_probe_limits(struct target *t, const struct rootfs *root);
/* What perf_event_open answers. */
void target_probe_events(struct target *t, const struct rootfs *root, target_open_fn *open,
			 void *ctx);

/* A counter of the smallest kind, for this user's own code. */
struct perf_event_attr target_plain_attr(uint32_t type, uint64_t config);

/* The value behind "key" and a colon in a file like /proc/cpuinfo; false when it is not there. */
bool target_field(struct str text, const char *key, struct str *value);
/* Cut to fit and terminated. */
void target_copy(char *to, size_t room, struct str from);

#endif
