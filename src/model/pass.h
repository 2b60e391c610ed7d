/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pass over the records, with bounded memory. Two cursors go over the file. The lead takes what
 * tells of processes and mappings and keeps it until its time has come; the trail takes samples. A
 * recorder that writes FINISHED_ROUND promises that nothing after the end of a round is older than
 * the newest record of the round before. So with the lead one round ahead, everything that happened
 * up to a sample of the trail's round is in hand. Without rounds the lead reads all of the file first.
 *
 * Where records have no times, their place in the file stands for it.
 */
#ifndef CULPRIT_MODEL_PASS_H
#define CULPRIT_MODEL_PASS_H

#include "model/images.h"
#include "model/processes.h"
#include "model/sideband.h"
#include "model/stacks.h"
#include "model/threads.h"
#include "model/weights.h"

/* Samples whose thread and version are known, on their way to their stacks. */
enum { PASS_BATCH = 32 };
struct pass_sample {
	struct stack_query query;
	uint32_t thread, event;
	uint64_t period;
};

struct pass {
	struct model *m;
	const struct perfdata *pd;
	const struct model_options *options;
	struct images images;
	struct processes processes;
	struct threads threads;
	struct stacks stacks;
	struct weights weights;
	struct sideband sideband;
	struct pass_sample *batch;
	size_t batched;
	uint64_t lead, trail; /* offsets of the next record */
	uint64_t shown;	      /* offset at the last progress call */
	uint64_t now;	      /* time of the last sample that had one */
	uint64_t compressed;  /* records not read; perfdata_open refuses files full of them */
	bool timed;	      /* side-band records have times */
	bool done, damaged;   /* the lead stopped, and because of damage */
};

void pass_init(struct pass *p, struct model *m, struct perfdata *pd,
	       const struct model_options *options);
void pass_run(struct pass *p);
void pass_done(struct pass *p);

/* Applies what one record tells of processes, threads and mappings; counts it when unreadable. */
void pass_apply(struct pass *p, const struct sideband_item *item);

#endif
