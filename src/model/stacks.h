/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the raw call chain of a sample to a node of the model. A chain that was seen before in the
 * same version of an address space is found by its bytes, so addresses are looked up once per
 * distinct chain and not once per sample.
 */
#ifndef CULPRIT_MODEL_STACKS_H
#define CULPRIT_MODEL_STACKS_H

#include "model/images.h"
#include "model/processes.h"

/* Fields of header.misc that a record's level is in; values as in linux/perf_event.h. */
enum stack_mode {
	STACK_UNKNOWN = 0,
	STACK_KERNEL = 1,
	STACK_USER = 2,
	STACK_HYPERVISOR = 3,
	STACK_GUEST_KERNEL = 4,
	STACK_GUEST_USER = 5,
	STACK_MODE_MASK = 7,
};

/*
 * A distinct chain of one version. The hash is over everything that decides the result; among a
 * million chains, two share one with a chance of 3 in 10^8, and are then taken to be the same.
 */
struct chain {
	uint64_t hash;
	uint32_t node, depth;
	uint32_t maps; /* of the version when it was looked up; matters when something was missed */
	bool missed;
	bool in_kernel, unmapped; /* of the innermost frame */
};

/* An address that was looked up lately. */
struct recent_addr {
	uint64_t ip;
	uint32_t version; /* MODEL_NONE for addresses of the kernel */
	uint32_t addr;	  /* plus one; 0 is an empty place */
	bool is_return;
};

struct stacks {
	struct model *m;
	const struct perfdata *pd;
	struct processes *ps;
	struct images *images;
	bool signed_pointers; /* the target may leave authentication codes in return addresses */
	struct index addrs;   /* over model.addrs */
	struct index nodes;   /* over model.nodes */
	struct index index;   /* over chains */
	VEC(struct chain) chains;
	struct recent_addr *recent;
	VEC(uint32_t) frames; /* of the chain at hand: addr ids, innermost first */
	VEC(uint32_t) path;   /* the nodes of the last chain, outermost first */
};

/* A sample on its way to its chain. */
struct stack_query {
	struct perfdata_sample sample;
	uint16_t misc;
	uint32_t version; /* of the address space */
	uint64_t hash;	  /* filled by stacks_hash */
};

/*
 * The two steps before stacks_get that let many queries wait for memory at once: work out the hash
 * and call for its slot, then call for the chain it leads to.
 */
void stacks_hash(const struct stacks *st, struct stack_query *q);
void stacks_call(const struct stacks *st, const struct stack_query *q);
/* The chain. Valid until the next call. */
const struct chain *stacks_get(struct stacks *st, const struct stack_query *q);
void stacks_done(struct stacks *st);

#endif
