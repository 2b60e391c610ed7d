/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a machine is and allows, found by looking and by trying. All reads go through a root path;
 * what perf_event_open answers goes through a function, so that recorded machines can be tested.
 */
#ifndef CULPRIT_TARGET_TARGET_H
#define CULPRIT_TARGET_TARGET_H

#include "base/err.h"
#include "base/mem.h"
#include "base/rootfs.h"
#include "base/str.h"

struct target {
	char hostname[65], arch[32], kernel[128]; /* uname: nodename, machine, release */
	char os[128];				  /* PRETTY_NAME of os-release, or "" */
	char cpu[128];	/* model name, or "" when the machine does not say */
	char cpuid[64]; /* perf's form: MIDR text on arm64, vendor-family-model-stepping on x86 */
	char boot_id[40];
	char kernel_build_id[41]; /* from /sys/kernel/notes, "" when unreadable */
	char cloud[64];		  /* DMI vendor and product, "" when not told */
	uint32_t cpus_online, cpus_present;
	uint64_t page_bytes, memory_bytes;
	bool has_cycles;    /* a hardware cycles event opens and counts */
	int cycles_errno;   /* why not, else 0 */
	bool has_cpu_clock; /* perf_event_open works for us at all */
	int cpu_clock_errno;
	bool system_wide;    /* pid -1 is allowed for us */
	bool kernel_samples; /* exclude_kernel = 0 is allowed for us */
	int64_t paranoid, kptr_restrict, max_sample_rate, mlock_kb; /* INT64_MIN when unreadable */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, UINT64_MAX when unlimited */
	uint32_t euid;
	bool can_perfmon, can_ipc_lock, can_ptrace; /* effective capabilities (or SYS_ADMIN) */
	VEC(struct target_pmu) pmus;
	struct arena arena;
};

struct target_pmu {
	const char *name, *cpus; /* cpus: list text, "" for all */
	uint32_t type;
};

/* perf_event_open(attr, pid, cpu, group, flags): a descriptor or -errno. */
typedef int target_open_fn(void *ctx, const void *attr, int pid, int cpu, int group,
			   unsigned long flags);

/* The system call itself; ctx is not used. */
target_open_fn target_open_real;

/* Looks at this machine, or at a tree. open may be NULL: the real system call. Never fails. */
void target_probe(struct target *t, const struct rootfs *root, target_open_fn *open, void *ctx);
/* As key-value text, and back. Unknown keys are ignored. */
void target_encode(const struct target *t, struct buf *out);
void target_decode(struct target *t, struct str text);
void target_done(struct target *t);

/*
 * Why perf_event_open said errnum for this event and scope on this machine, as a refusal with a
 * stable id (PERF_EVENT_PARANOID, NO_PMU, SECCOMP, NO_PERF_EVENTS, ...) and a remedy that is true
 * here. Returns false, as err_refuse does.
 */
bool target_explain_open(const struct target *t, const char *event, bool system_wide, bool kernel,
			 int errnum, struct err *err);

/* The same for mmap of a ring of so many bytes. */
bool target_explain_ring(const struct target *t, uint64_t bytes, int errnum, struct err *err);

#endif
