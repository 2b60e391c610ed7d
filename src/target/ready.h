/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recipe needs of a machine, and whether the machine has it. A recipe is a ladder of rungs,
 * best first; each rung has needs. A need is a word of one table (need.c), with its own refusal:
 * a stable id and a remedy that is true on this machine, this cloud and this distribution.
 */
#ifndef CULPRIT_TARGET_READY_H
#define CULPRIT_TARGET_READY_H

#include "base/err.h"
#include "base/mem.h"
#include "target/cores.h"
#include "target/target.h"

/* Where a machine stands: pointers into the tables, NULL where nothing is known. */
struct need_place {
	const struct core_info *core; /* the first core type that is known */
	const struct cloud_info *cloud;
	const struct instance_info *instance;
	enum target_virt virt; /* of the target, or by its instance where that one does not show it */
};
void need_place(struct need_place *out, const struct target *t);

/*
 * timer            cpu-clock samples
 * cycles           hardware cycles, counted and sampled
 * counters:N       N programmable counters at once, beside cycles
 * system-wide      events of all processes
 * kernel           events of kernel code
 * spe              the Statistical Profiling Extension
 * branch-records   BRBE or LBR
 * tracepoints      of perf, raw_syscalls and sched
 * bpf              programs, BTF
 * ptrace           of own children
 * cmn              an arm_cmn or other interconnect PMU
 * proc             /proc and /sys, which are always there
 */
bool target_need_known(const char *need);
/* The nth word of the table, without ":N"; NULL behind the last. */
const char *target_need_word(size_t i);
/* False: err is the refusal. */
ERR_CHECKED bool target_need(const struct target *t, const char *need, struct err *err);
/* The PMU by which a need is met that asks for one beside the core's: spe, cmn. NULL for others. */
const char *target_need_pmu(const struct target *t, const char *need);

/* What the remedy of a refusal takes, the least first. */
enum remedy_effort {
	REMEDY_SETTING, /* here and now: a setting, a right, a module */
	REMEDY_REBOOT,	/* of this machine, with another kernel, command line or firmware */
	REMEDY_MACHINE, /* another machine, or another instance */
};
enum remedy_effort target_remedy_effort(const struct err *refusal);

struct ready_rung {
	const char *name;
	const char *const *needs;
	size_t need_count;
};
enum ready_state { READY, READY_WEAKER, READY_BLOCKED };
struct ready_missing { /* the first need that a rung lacks */
	size_t rung;
	const char *need;
	struct err err;
};
struct ready {
	enum ready_state state;
	size_t rung; /* stands on this one; count of rungs when blocked or none */
	VEC(struct ready_missing) missing; /* of the rungs above it, best first */
};
/* Without rungs nothing is needed: READY. Release with ready_done. */
void ready_judge(struct ready *out, const struct target *t, const struct ready_rung *rungs,
		 size_t count);
/*
 * Why it is blocked, as one refusal: the id and remedy of the rung that is nearest (the last). True
 * when it is not.
 */
ERR_CHECKED bool ready_refuse(const struct ready *r, const char *recipe, struct err *err);
void ready_done(struct ready *r);

#endif
