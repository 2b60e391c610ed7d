/* SPDX-License-Identifier: Apache-2.0 */
/* Models and symbols made by hand: stacks are given as words, counts come out as text. */
#ifndef PROFILE_H
#define PROFILE_H

#include "analyse/analyse.h"

struct profile {
	struct model m;
	struct symbols s;
	uint32_t threads[2]; /* a busy one and the idle one */
};

void profile_init(struct profile *p);
/*
 * Adds samples of one stack, outermost address first, blank between addresses. An address is its
 * frames, outermost first, joined by '>' where inlined; a frame is "function" or "function:line".
 * Each distinct word is one address. A function named "?" is unknown, "?k" hidden kernel code. An
 * empty stack is a sample without an address.
 */
void profile_add(struct profile *p, const char *stack, uint64_t samples);
/* The same with the sum of their periods, of any event; 0 is cpu-clock. */
void profile_add_periods(struct profile *p, const char *stack, uint32_t event, uint64_t samples,
			 uint64_t period);
/* One more event, with a period of 1,000,003; gives its index. */
uint32_t profile_add_event(struct profile *p, const char *name);
void profile_add_idle(struct profile *p, const char *stack, uint64_t samples);
void profile_done(struct profile *p);

/* "name self total\n" ... */
const char *profile_functions(struct profile *p, const struct hotspots *h);
/* The same as weights. */
const char *profile_weights(struct profile *p, const struct hotspots *h);
/* "name:line self total\n" ... */
const char *profile_lines(struct profile *p, const struct hotspots *h);
/* "function word-of-address:line self\n" ... */
const char *profile_instructions(struct profile *p, const struct hotspots *h);
/* One line a node, indented by depth: "name self total", '+' in front of inlined ones. */
const char *profile_tree(struct profile *p, const struct hotspots *h);
/* "caller>callee total\n" ... */
const char *profile_edges(struct profile *p, const struct hotspots *h);

#endif
