/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes and their address spaces by time. A process here is one life of a pid, from its fork to
 * the next process with that pid. Records must be given in the order of their time; questions may be
 * asked about the past.
 *
 * An address space has a new version whenever an address changes its meaning (exec, a mapping over
 * another one). Mappings that only add to a version hold for all of it.
 */
#ifndef CULPRIT_MODEL_PROCESSES_H
#define CULPRIT_MODEL_PROCESSES_H

#include "base/map.h"
#include "model/history.h"
#include "model/pieces.h"

struct process {
	uint32_t pid, parent;	 /* parent: pid */
	struct history versions; /* ids of struct version */
	uint32_t epoch;		 /* of its writes to the tree */
	uint32_t leader;	 /* task whose tid is pid, MODEL_NONE until seen */
	uint32_t renames;	 /* comm changes of any of its tasks so far */
	uint32_t unknown_image;	 /* MODEL_NONE until needed */
	bool fresh;		 /* forked, nothing told of it since */
	bool ended;		 /* its leader exited */
};

struct version {
	uint32_t root, process;
	uint32_t maps; /* mappings put in so far */
	uint32_t old;  /* the version that an exec replaced by this one, else MODEL_NONE */
};

struct processes {
	VEC(struct process) list;
	VEC(struct version) versions;
	struct pieces pieces;
	struct map pids;	   /* pid -> index in lives */
	VEC(struct history) lives; /* by pid, indexes in list */
	uint32_t last_pid;	   /* that was looked up, and its place in lives plus one */
	uint32_t last_lives;
};

/* The process that had this pid at t; made when it was never told of. */
uint32_t processes_at(struct processes *ps, uint32_t pid, uint64_t t);
/* Bits for processes_fork. */
enum process_fork { PROCESS_FORK_COPIES_SPACE, PROCESS_FORK_EMPTY_SPACE };
/* A new life of pid; MODEL_NONE when the record repeats the one before. */
uint32_t processes_fork(struct processes *ps, uint32_t pid, uint32_t parent_pid, uint64_t t,
			enum process_fork how);
/* The process that goes on after an exec of pid, with nothing mapped. */
uint32_t processes_exec(struct processes *ps, uint32_t pid, uint64_t t);
/* The leader of pid exited. */
void processes_exit(struct processes *ps, uint32_t pid, uint64_t t);
void processes_map(struct processes *ps, uint32_t process, uint64_t t, const struct piece *p);
/* Id of the version of its address space at t. */
uint32_t processes_version(const struct processes *ps, uint32_t process, uint64_t t);
/* What covers the address in that version, or NULL (also for MODEL_NONE). Until the next mapping. */
const struct piece *processes_find(const struct processes *ps, uint32_t version, uint64_t address);
void processes_done(struct processes *ps);

#endif
