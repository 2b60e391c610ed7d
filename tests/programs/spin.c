/* SPDX-License-Identifier: Apache-2.0 */
/* spin MILLISECONDS: three hot leaves with known shares of the CPU and a known call chain.
 *
 * What a truthful profiler says: hot_a has 60 %, hot_b 30 %, hot_c 10 % of the samples, within the
 * noise of their number; nearly nothing is anywhere else. Chains are main > outer > middle > leaf for
 * each of them. The shares come from CPU time, so they hold on a busy machine too.
 */
#include "keep-frame.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static volatile uint64_t sink;
static uint32_t random_state = 2463534242u;

/* How many steps a leaf makes: lengths without a period, lest they beat with the sampling. */
static int chunk(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 17;
	random_state ^= random_state << 5;
	return 1000 + (int)(random_state % 50000);
}

static int64_t cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Three bodies that differ, lest they are made one. */
__attribute__((noinline)) static uint64_t hot_a(uint64_t x, int steps)
{
	KEEP_FRAME;

	for (int i = 0; i < steps; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

__attribute__((noinline)) static uint64_t hot_b(uint64_t x, int steps)
{
	KEEP_FRAME;

	for (int i = 0; i < steps; i++)
		x = (x ^ (x >> 29)) * 0xbf58476d1ce4e5b9u;
	return x;
}

__attribute__((noinline)) static uint64_t hot_c(uint64_t x, int steps)
{
	KEEP_FRAME;

	for (int i = 0; i < steps; i++)
		x = (x << 7 | x >> 57) * 3 + 5;
	return x;
}

__attribute__((noinline)) static void middle(int which)
{
	uint64_t x = sink + (uint64_t)which;
	int steps = chunk();

	if (which == 0)
		x = hot_a(x, steps);
	else if (which == 1)
		x = hot_b(x, steps);
	else
		x = hot_c(x, steps);
	sink = x;
}

__attribute__((noinline)) static void outer(int64_t until_ns)
{
	static const int64_t share[] = { 60, 30, 10 };
	int64_t spent[] = { 0, 0, 0 };
	int64_t before = cpu_ns();

	/* Always the one that is furthest behind its share. */
	while (before < until_ns) {
		int64_t after;
		int next = 0;

		for (int i = 1; i < 3; i++)
			if (spent[i] * share[next] < spent[next] * share[i])
				next = i;
		middle(next);
		after = cpu_ns();
		spent[next] += after - before;
		before = after;
	}
}

int main(int argc, char **argv)
{
	char *end = NULL;
	long ms = argc == 2 ? strtol(argv[1], &end, 10) : 0;

	if (ms <= 0 || *end) {
		fprintf(stderr, "usage: spin MILLISECONDS\n");
		return 2;
	}
	outer(cpu_ns() + ms * 1000000);
	return 0;
}
