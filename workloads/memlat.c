/* SPDX-License-Identifier: Apache-2.0 */
/* memlat chase|seq SECONDS: one core waiting for memory, or streaming through it.
 *
 * What a truthful profiler says:
 *
 * chase  One thread follows pointers through 192 MB in random order, a cache line each, all lines in
 *	  one cycle. Each load needs the result of the one before, so nothing overlaps: the time is
 *	  memory latency. At least 95 % of all samples are in chase(), on its one load or, by skid, on
 *	  an instruction next to it. The load misses every cache that is smaller than the buffer, and
 *	  the TLB too where pages are small. IPC is far below 1; backend (memory) bound; no branch
 *	  misses, no front-end stalls.
 * seq	  The same buffer, the same number of bytes used per line, in order of address: walk(). The
 *	  prefetcher sees it coming, so a step costs a small part of what it costs in chase. At least
 *	  95 % of all samples are in walk().
 *
 * The set-up (page faults, building the cycle) is the rest, commonly 0.1 s. A virtual machine whose
 * host has taken back its idle memory pays up to a second for it; then the timed part runs longer
 * than SECONDS, up to three times as long, so that the shares above hold, and a line says so.
 */
#include "keep-frame.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

enum {
	LINE = 64,
	LINES = 192 * 1024 * 1024 / LINE,
	/* Of one call, between two looks at the clock: some 100 ms of latency. They are no
	 * arguments, so that no compiler makes a clone of the function with a name of its own. */
	CHASE_STEPS = 1000000,
	WALK_STEPS = LINES / 3,
	SETUP_SHARE = 25, /* the timed part is at least so many times the set-up */
};

struct node {
	struct node *next;
	uint64_t value;
	char rest[LINE - sizeof(struct node *) - sizeof(uint64_t)];
};

static uint32_t xorshift(uint32_t *state)
{
	uint32_t x = *state;

	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	*state = x;
	return x;
}

/* Sattolo's shuffle of 0..LINES-1: the permutation is one cycle. It is made on indices, which are
 * a sixteenth of the buffer, and then written to the buffer once in order of address. */
static void link_nodes(struct node *nodes, uint32_t *order)
{
	uint32_t state = 2463534242u;

	for (uint32_t i = 0; i < LINES; i++)
		order[i] = i;
	for (uint32_t i = LINES - 1; i > 0; i--) {
		uint32_t j = (uint32_t)(((uint64_t)xorshift(&state) * i) >> 32);
		uint32_t swap = order[i];

		order[i] = order[j];
		order[j] = swap;
	}
	for (uint32_t i = 0; i < LINES; i++) {
		nodes[i].next = &nodes[order[i]];
		nodes[i].value = i;
	}
}

__attribute__((noinline)) static struct node *chase(struct node *at)
{
	KEEP_FRAME;

	for (uint32_t i = 0; i < CHASE_STEPS; i++)
		at = at->next;
	return at;
}

/* One word of each line, in order. */
__attribute__((noinline)) static uint64_t walk(const struct node *nodes)
{
	uint64_t sum = 0;

	KEEP_FRAME;

	for (uint32_t i = 0; i < WALK_STEPS; i++)
		sum += nodes[i].value;
	return sum;
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void *get_memory(size_t size)
{
	/* Large pages, where the system has them, make the set-up short: 96 faults for 49,152. */
	size_t huge = 2 * 1024 * 1024;
	char *at =
		mmap(NULL, size + huge, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED) {
		perror("memlat: mmap");
		exit(1);
	}
	at += (huge - (uintptr_t)at % huge) % huge;
	madvise(at, size, MADV_HUGEPAGE);
	return at;
}

static int usage(void)
{
	fprintf(stderr, "usage: memlat chase|seq SECONDS\n");
	return 2;
}

int main(int argc, char **argv)
{
	struct node *nodes;
	struct node *at;
	uint64_t steps = 0;
	uint64_t sum = 0;
	uint32_t *order;
	double seconds;
	double start;
	double spent;
	char *end;
	int is_chase;

	if (argc != 3 || (strcmp(argv[1], "chase") != 0 && strcmp(argv[1], "seq") != 0))
		return usage();
	is_chase = argv[1][0] == 'c';
	seconds = strtod(argv[2], &end);
	if (end == argv[2] || *end || !(seconds > 0 && seconds < 1e6))
		return usage();

	nodes = get_memory((size_t)LINES * sizeof(*nodes));
	order = get_memory((size_t)LINES * sizeof(*order));
	start = now_s();
	link_nodes(nodes, order);
	spent = now_s() - start;
	printf("set-up %.3f s\n", spent);
	if (spent * SETUP_SHARE > seconds) {
		seconds = spent * SETUP_SHARE < seconds * 3 ? spent * SETUP_SHARE : seconds * 3;
		printf("timed for %.1f s, as the set-up was long\n", seconds);
	}
	fflush(stdout);

	at = nodes;
	start = now_s();
	do {
		if (is_chase) {
			at = chase(at);
			steps += CHASE_STEPS;
		} else {
			sum += walk(nodes + steps % LINES);
			steps += WALK_STEPS;
		}
		spent = now_s() - start;
	} while (spent < seconds);

	printf("%s %.2f ns per access, %llu accesses, check %llx\n", argv[1],
	       spent * 1e9 / (double)steps, (unsigned long long)steps,
	       (unsigned long long)(is_chase ? at->value : sum));
	return 0;
}
