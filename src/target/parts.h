/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of target/ share. */
#ifndef CULPRIT_TARGET_PARTS_H
#define CULPRIT_TARGET_PARTS_H

#include <linux/perf_event.h>

#include "target/target.h"

/* Name, kernel, system and firmware of the machine. */
void target_probe_system(struct target *t, const struct rootfs *root);
/* Cores, topology and memory. */
void target_probe_hardware(struct target *t, const struct rootfs *root);
/* What the machine is itself: hypervisor, emulator. After target_probe_hardware. */
void target_probe_virt(struct target *t, const struct rootfs *root);
/* Container and control group. */
void target_probe_container(struct target *t, const struct rootfs *root);
/* Names, CPUs and events of the PMUs; what is measured of them stays -1. */
void target_probe_pmus(struct target *t, const struct rootfs *root);
/* Settings, limits and capabilities. */
void target_probe_limits(struct target *t, const struct rootfs *root);
/* Drivers, what firmware says of their devices, and what keeps them out. After the PMUs. */
void target_probe_drivers(struct target *t, const struct rootfs *root);
/* What perf_event_open and bpf answer. After the PMUs. */
void target_probe_trials(struct target *t, const struct rootfs *root,
			 const struct target_perf *perf);
/* The counters of the core PMUs, by growing groups. */
void target_probe_counters(struct target *t, const struct rootfs *root,
			   const struct target_perf *perf);

/* What to do so that kernel.perf_event_paranoid is no more than level, or does not matter. */
bool target_hint_level(const struct target *t, int level, struct err *err);
/* Nothing but a filter, lockdown or a security module can have denied it: which, as far as told. */
bool target_hint_blocked(const struct target *t, const char *call, struct err *err);

/* A counter of the smallest kind, for this user's own code. */
struct perf_event_attr target_plain_attr(uint32_t type, uint64_t config);
/* Has it core PMUs of several kinds? An event of one then counts on some CPUs alone. */
bool target_is_mixed(const struct target *t);
/* The first CPU of the list ("": of all) that is online and that we may run on; -1: none. */
int target_first_cpu(const struct rootfs *root, const char *cpus);
/* Where a task must be for the events of this PMU to count; the second says that we may not. */
enum { TARGET_CPU_ANY = -1, TARGET_CPU_NONE = -2 };
int target_pmu_cpu(const struct target *t, const struct rootfs *root, const struct target_pmu *pmu);
/* The config of the PMU's own cycles event. */
uint64_t target_cycles_config(const struct rootfs *root, const char *pmu);
/* PMUs of x86 take PERF_TYPE_HARDWARE events, all others their own raw codes. */
bool target_pmu_is_x86(const struct target_pmu *pmu);

/* The value behind "key" and a colon in a file like /proc/cpuinfo; false when it is not there. */
bool target_field(struct str text, const char *key, struct str *value);
/* Cut to fit and terminated; ends at a zero byte. */
void target_copy(char *to, size_t room, struct str from);
/* The text of a small file, or "" when it cannot be read. */
void target_copy_file(char *to, size_t room, const struct rootfs *root, const char *path);
/* All bytes of a file as they are; false when it cannot be read. */
bool target_read_bytes(const struct rootfs *root, const char *path, struct buf *out);
/* Is the word among the words of the text? */
bool target_has_word(struct str text, const char *word);

/* An empty machine that answers by default; then the lines of its file. name is for messages. */
struct target_recorded *target_recorded_new(const struct rootfs *root, struct target_perf *perf);
ERR_CHECKED bool target_recorded_parse(struct target_recorded *r, const char *name, struct str text,
				       struct err *err);

#endif
