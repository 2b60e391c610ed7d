/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where samples fell, by function, line, instruction and call path. Counts are as observed; idle
 * samples (model.h) are counted apart and are in none of these.
 *
 *   self(f)  = samples whose innermost frame, inlined frames included, is f
 *   total(f) = samples with f anywhere in the stack, counted once however often f recurs
 *   share    = samples / (all samples - idle samples)
 */
#ifndef CULPRIT_ANALYSE_HOTSPOTS_H
#define CULPRIT_ANALYSE_HOTSPOTS_H

#include "model/model.h"
#include "symbol/symbol.h"

struct hot_function {
	struct function_id function;
	uint64_t self, total;
};
struct hot_line {
	struct function_id function;
	uint32_t file, line;
	uint64_t self, total;
};
struct hot_instruction {
	struct function_id function; /* the physical function, not an inlined one */
	struct image_id image;
	uint64_t address; /* in the image's own terms (vaddr) */
	uint32_t file, line;
	uint64_t self;
};
/* Call tree, outermost first. Children of a node are contiguous in rank order (total falling). */
struct hot_node {
	uint32_t parent; /* MODEL_NONE for roots */
	struct function_id function;
	bool inlined; /* inlined into its parent */
	uint32_t depth;
	uint64_t self, total;
};
/* caller -> callee with the samples that have this edge (once per sample). */
struct hot_edge {
	struct function_id caller, callee;
	uint64_t total;
};

struct hotspots {
	VEC(struct hot_function) functions; /* self falling, then total, then name */
	VEC(struct hot_line) lines;
	VEC(struct hot_instruction) instructions;
	VEC(struct hot_node) tree;
	VEC(struct hot_edge) edges;
	uint64_t samples; /* the denominator: all but idle */
	uint64_t unnamed; /* of those, innermost frame unknown */
};

/* Linear in the model's weights and nodes. Pure. Never fails. */
void hotspots_compute(struct hotspots *h, const struct model *m, const struct symbols *s);
void hotspots_done(struct hotspots *h);

#endif
