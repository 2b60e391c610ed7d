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

/* More types of cores than any machine has; those beyond are not kept. */
enum { TARGET_CORES_MOST = 4096 };

/* A core type of the machine: cores with the same MIDR. x86 machines have one, with midr 0. */
struct target_core {
	uint64_t midr;	  /* MIDR_EL1, 0 when the machine does not show it */
	const char *cpus; /* list text, e.g. "0-63" */
	uint32_t count;
};

/* More than any core has: who offers so many does not tell how many there are. */
enum { TARGET_COUNTERS_MOST = 64 };

/* Programmable counters as they were measured, -1 where that could not be done. */
struct target_pmu {
	const char *name, *cpus; /* cpus: list text, "" for all */
	uint32_t type;
	bool is_core;	  /* counts what cores do: armv8_pmuv3*, cpu, cpu_core, cpu_atom, apple_* */
	int32_t counters; /* programmable ones this machine was given */
	int32_t free;	  /* of these, how many could be had just now; fewer: somebody holds some */
	bool cycle_counter;	 /* one more for cycles alone */
	bool cycle_counter_free; /* and it could be had just now, beside those that are free */
	uint32_t slots;		 /* caps/slots, 0 when not told */
	const char *events;	 /* names in events/, blanks between, "" when none */
	int32_t open_errno;	 /* why no event of it opens for us, else 0 */
};

/* Not an errno: the text has no word of it, as that of an agent before this trial. */
enum { TARGET_UNTRIED = -1 };

/* What was found out by trying: 0 works, else the errno that stands for the reason. */
struct target_trials {
	int32_t cpu_clock;    /* perf_event_open works for us at all */
	int32_t cycles;	      /* hardware cycles open and count; ENODATA: they stand still */
	int32_t sampling;     /* and give samples; EOPNOTSUPP: the PMU has no interrupt */
	int32_t system_wide;  /* pid -1 */
	int32_t kernel;	      /* exclude_kernel = 0 */
	int32_t tracepoint;   /* sched:sched_switch opens; ENOENT: no tracefs or no such event */
	int32_t branch_stack; /* PERF_SAMPLE_BRANCH_STACK with user branches: LBR, BRBE */
	int32_t spe; /* an arm_spe_* event opens on a CPU of its own; ENOENT: there is none */
	int32_t bpf; /* bpf(2) loads a program */
};

enum target_virt {
	TARGET_VIRT_UNKNOWN,
	TARGET_VIRT_NONE, /* bare metal */
	TARGET_VIRT_GUEST,
	TARGET_VIRT_EMULATED, /* qemu without hardware help, qemu-user, gVisor */
};

struct target {
	char hostname[65], arch[32], kernel[128]; /* uname: nodename, machine, release */
	char os[128];				  /* PRETTY_NAME of os-release, or "" */
	char os_id[32], os_version[32];		  /* ID and VERSION_ID of os-release, or "" */
	char cpu[128];	/* model name, or "" when the machine does not say */
	char cpuid[64]; /* perf's form: MIDR text on arm64, vendor-family-model-stepping on x86 */
	char boot_id[40];
	char kernel_build_id[41]; /* from /sys/kernel/notes, "" when unreadable */
	char cloud[64];		  /* DMI vendor and product, "" when not told */
	char dmi_vendor[64], dmi_product[64],
		dmi_asset_tag[64]; /* sys_vendor, product_name, chassis_asset_tag */
	char dt_model[64];	   /* /proc/device-tree/model, or "" */
	char hypervisor[32];	   /* "kvm", "xen", "microsoft", "nitro", ... or "" */
	enum target_virt virt;
	bool is_acpi;		 /* firmware: ACPI tables, else a device tree */
	char container[32];	 /* "docker", "podman", "kubernetes", "lxc", ... or "" */
	char cgroup[128];	 /* path of our own cgroup, or "" */
	uint32_t cgroup_version; /* 1 or 2 (also hybrid: 1), 0 none */
	double cgroup_cpus;	 /* CPU quota in CPUs, 0 without one */
	uint32_t cpus_online, cpus_present, sockets, numa_nodes, threads_per_core;
	uint64_t page_bytes, memory_bytes;
	struct target_trials trials;
	int64_t paranoid, kptr_restrict, max_sample_rate, mlock_kb; /* INT64_MIN when unreadable */
	int64_t nmi_watchdog, perf_user_access, unprivileged_bpf_disabled; /* the same */
	int64_t ptrace_scope;	/* kernel.yama.ptrace_scope, the same */
	uint64_t memlock_bytes; /* RLIMIT_MEMLOCK, UINT64_MAX when unlimited */
	uint32_t euid;
	uint64_t capabilities; /* effective, as a bit set */
	bool can_perfmon, can_ipc_lock, can_ptrace,
		can_bpf;	/* effective capabilities (or SYS_ADMIN), where they count */
	bool has_btf;		/* /sys/kernel/btf/vmlinux */
	bool has_tracefs;	/* mounted and readable */
	bool has_kpti;		/* kernel page-table isolation is on (arm64: it blocks SPE) */
	char lockdown[24];	/* "none", "integrity", "confidentiality", or "" */
	bool in_user_namespace; /* not the first one: capabilities do not count for perf and bpf */
	char seccomp[8];	/* "0", "1", "2" of /proc/self/status, or "" */
	char spe_module[16]; /* arm_spe_pmu: "builtin", "loaded", "available", "absent", or "" unknown */
	char spe_firmware[8]; /* does firmware describe SPE: "yes", "no", or "" unknown */
	char cmn_module[16];  /* arm_cmn, the same words */
	char cmn_firmware[8]; /* does firmware describe a CMN mesh, the same words */
	VEC(struct target_core) cores;
	VEC(struct target_pmu) pmus;
	struct arena arena;
};

/* "none", "guest", "emulated", "unknown" */
const char *target_virt_word(enum target_virt virt);

static inline bool target_is_arm(const struct target *t)
{
	return !strcmp(t->arch, "aarch64");
}

/* perf_event_open(attr, pid, cpu, group, flags): a descriptor or -errno. */
typedef int target_open_fn(void *ctx, const void *attr, int pid, int cpu, int group,
			   unsigned long flags);
/* The system call itself; ctx is not used. */
target_open_fn target_open_real;

/* What perf_event_open and its companions answer, so that recorded machines can stand in. */
struct target_reading {
	uint64_t value, enabled_ns, running_ns;
};
struct target_perf {
	/* attr: struct perf_event_attr. A descriptor or -errno. */
	target_open_fn *open;
	/*
	 * Enables the group led by fd, works a little on that CPU (-1: wherever), reads the leader:
	 * 0 or an errno; ENODATA: it is pinned and got no counters. The leader's read_format has
	 * both times.
	 */
	int (*count)(void *ctx, int fd, int cpu, struct target_reading *out);
	void (*close)(void *ctx, int fd);
	/* Tries to load the smallest BPF program: 0 or an errno. */
	int (*bpf)(void *ctx);
	void *ctx;
	uint64_t page_bytes; /* of that machine; 0: as this one */
};
/* The system calls themselves. */
extern const struct target_perf target_perf_real;

/*
 * The answers of a recorded machine: file "perf_event_open" at the top of its tree (format in
 * docs/check.md). ERR_FORMAT names the line. Release with target_recorded_free.
 */
struct target_recorded;
ERR_CHECKED bool target_recorded_load(struct target_recorded **out, const struct rootfs *root,
				      struct target_perf *perf, struct err *err);
void target_recorded_free(struct target_recorded *r);

/* Looks at this machine, or at a tree. perf NULL: the system calls. Never fails. */
void target_probe(struct target *t, const struct rootfs *root, const struct target_perf *perf);

/* CAP_PERFMON and CAP_BPF came out of CAP_SYS_ADMIN with Linux 5.8. True where that is not told. */
bool target_has_perfmon(const struct target *t);

static inline bool target_has_cycles(const struct target *t)
{
	return !t->trials.cycles && !t->trials.sampling;
}

/* As key-value text, and back. Unknown keys are ignored. */
void target_encode(const struct target *t, struct buf *out);
/*
 * False: the text has no end mark, as one that was cut off, or that of an agent from before there was
 * one. All that it says is in t all the same, which target_done releases.
 */
bool target_decode(struct target *t, struct str text);
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
