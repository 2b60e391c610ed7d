/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where samples fell, by function, line, instruction and call path. Counts are as observed; idle
 * samples (model.h) are counted apart and are in none of these.
 *
 *   self(f)  = samples whose innermost frame, inlined frames included, is f
 *   total(f) = samples with f anywhere in the stack, counted once however often f recurs
 *   weight   = the sum of the samples' periods: how much of the event they stand for
 *   share    = weight / (weight of all samples - weight of idle samples)
 *
 * A sample stands for more when the rate was lowered, so shares are of weights, never of counts.
 *
 * All of it is of one event: the first that has samples and tells of time (cpu-clock, cycles, ...),
 * else the first that has samples. Samples of different events cannot be added.
 */
#ifndef CULPRIT_ANALYSE_HOTSPOTS_H
#define CULPRIT_ANALYSE_HOTSPOTS_H

#include "model/model.h"
#include "symbol/symbol.h"

struct hot_count {
	uint64_t samples, weight;
};
/* A share of 100; 0 of nothing. */
static inline double hot_pct(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}
struct hot_function {
	struct function_id function;
	struct hot_count self, total;
};
struct hot_line {
	struct function_id function;
	uint32_t file, line;
	struct hot_count self, total;
};
struct hot_instruction {
	struct function_id function; /* the physical function, not an inlined one */
	struct image_id image;
	uint64_t address; /* in the image's own terms (vaddr) */
	uint32_t file, line;
	struct hot_count self;
};
/* Call tree, outermost first. Children of a node are contiguous in rank order (total falling). */
struct hot_node {
	uint32_t parent; /* MODEL_NONE for roots */
	struct function_id function;
	bool inlined; /* inlined into its parent */
	uint32_t depth;
	struct hot_count self, total;
};
/* caller -> callee with the samples that have this edge (once per sample). */
struct hot_edge {
	struct function_id caller, callee;
	struct hot_count total;
};

struct hotspots {
	VEC(struct hot_function) functions; /* weight of self falling, then of total, then name */
	VEC(struct hot_line) lines;
	VEC(struct hot_instruction) instructions;
	VEC(struct hot_node) tree;
	VEC(struct hot_edge) edges;
	VEC(struct hot_count) threads; /* by thread id of the model, idle ones too */
	VEC(uint64_t) touched;	       /* by image id: samples with any frame there */
	struct hot_count all;	       /* all but idle; its weight is the denominator of shares */
	struct hot_count idle;
	struct hot_count unnamed; /* of all, innermost frame unknown */
	struct hot_count kernel;  /* of all, innermost frame in the kernel */
	struct hot_count started; /* of all, outermost frame is the start of a thread or program */
	uint64_t chain_samples;	  /* with more than one frame, idle ones too */
	uint32_t event;		  /* index of the attribute that all of this is of */
	/*
	 * Weights are periods. False: the recording has none (all 0), or they are nonsense (more
	 * than 63 bits together), and each sample weighs 1.
	 */
	bool by_period;
};

static inline uint64_t hotspots_weight(const struct hotspots *h, const struct model_weight *w)
{
	return h->by_period ? w->period : w->samples;
}

/* Is the event of that name a clock, whose periods are nanoseconds, whatever its modifiers? */
bool hotspots_is_timer(const char *event);

/* Linear in the model's weights and nodes. Pure. Never fails. */
void hotspots_compute(struct hotspots *h, const struct model *m, const struct symbols *s);
void hotspots_done(struct hotspots *h);

#endif
