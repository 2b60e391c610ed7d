/* SPDX-License-Identifier: Apache-2.0 */
/* Which event a job samples and with which attribute, settled by trial. Private to capture/. */
#ifndef CULPRIT_CAPTURE_PLAN_H
#define CULPRIT_CAPTURE_PLAN_H

#include <linux/perf_event.h>

#include "target/target.h"
#include "wire/wire.h"

struct note {
	const char *id, *text; /* in the arena */
};
/* Things the user must know about a capture; sent as NOTE frames. */
struct notes {
	VEC(struct note) list;
	struct arena arena;
};
void notes_add(struct notes *n, const char *id, const char *fmt, ...) ERR_PRINTF(3, 4);
void notes_done(struct notes *n);

struct opener {
	target_open_fn *open;
	void *ctx;
};

struct plan {
	char name[64]; /* as shown: "cpu-clock:u" */
	struct perf_event_attr attr;
	bool is_timer;	       /* cpu-clock or task-clock: its period is in ns */
	uint64_t frequency_hz; /* 0 when the job asked for a period */
	uint64_t record_bytes; /* what a sample is expected to take, with room to spare */
	uint64_t record_bytes_most;
};

/*
 * Finds the attribute that the kernel takes: the best precision, build ids and lost counts where it
 * knows them, user code only (with a note) where the kernel's is not allowed. Opens nothing for
 * good. A refusal has a stable id and a remedy.
 */
ERR_CHECKED bool plan_make(struct plan *p, const struct job *job, const struct target *t,
			   const struct opener *o, struct notes *notes, struct err *err);

struct ring_size {
	uint64_t bytes;	      /* of the data area of each ring; a power of two of pages */
	uint64_t bytes_least; /* below that a single record may not fit */
};
/*
 * The size of each of count rings: what the rate fills between two drains with room to spare, under
 * the job's total, and under what an unprivileged user may lock.
 */
struct ring_size plan_ring_size(const struct plan *p, const struct job *job, const struct target *t,
				uint64_t page_bytes, uint64_t count);

#endif
