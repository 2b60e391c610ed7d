/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts by stack, thread, event and time bucket. There are at most 1,000 buckets: when a recording
 * outgrows them they double their width and neighbours become one.
 */
#ifndef CULPRIT_MODEL_WEIGHTS_H
#define CULPRIT_MODEL_WEIGHTS_H

#include "model/index.h"
#include "model/model.h"

/*
 * Samples come nearly in the order of time, so a row is looked for only among those of lately, and
 * the tables stay in the cache however long the recording is. A sample that comes later than that
 * may make a second row for the same key; weights_finish puts such rows together.
 */
struct weights {
	struct model *m;
	struct index young, old;       /* rows of lately, and those before them */
	uint32_t young_last, old_last; /* their latest buckets */
	uint32_t forgotten;	       /* latest bucket of a row in neither, plus one */
	uint32_t most;		       /* rows in young before it becomes the old one */
	bool doubled;		       /* some key may have two rows */
	bool started;		       /* first_ns is set */
};

void weights_init(struct weights *ws, struct model *m);
/* Adds one sample; event, node, thread and period are taken from w, the bucket from the time. */
void weights_add(struct weights *ws, struct model_weight w, bool has_time, uint64_t time_ns);
/* One row for each key from here on. No more samples may be added. */
void weights_finish(struct weights *ws);
void weights_done(struct weights *ws);

#endif
