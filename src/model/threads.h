/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and their names by time. A task here is one life of a tid in one process; each pair of
 * names (its own, that of its process) that it had while a sample fell is one row of the model.
 */
#ifndef CULPRIT_MODEL_THREADS_H
#define CULPRIT_MODEL_THREADS_H

#include "model/processes.h"

struct task {
	uint32_t tid, process;
	struct history comms; /* ids in threads.comms */
	bool fresh;	      /* forked, nothing told of it since */
	/* The last row that was asked for, good from row_from on until the process renames. */
	uint32_t row, row_renames;
	uint64_t row_from;
};

struct threads {
	struct model *m;
	struct processes *ps;
	VEC(struct task) tasks;
	struct map tids; /* tid -> index in lives */
	VEC(struct history) lives;
	uint32_t last_tid; /* that was looked up, and its place in lives plus one */
	uint32_t last_lives;
	struct intern comms;
	VEC(const char *) model_comms; /* by comm id: the copy that the model owns, or NULL */
	struct map pairs;	       /* task, comm -> pair */
	struct map rows;	       /* pair, process comm -> row */
};

void threads_fork(struct threads *th, uint32_t process, uint32_t tid, uint32_t parent_process,
		  uint32_t parent_tid, uint64_t t);
void threads_comm(struct threads *th, uint32_t process, uint32_t tid, const char *comm, uint64_t t);
void threads_exit(struct threads *th, uint32_t process, uint32_t tid, uint64_t t);
/* The row of a sample of this thread at t. */
uint32_t threads_row(struct threads *th, uint32_t process, uint32_t tid, uint64_t t);
void threads_done(struct threads *th);

#endif
