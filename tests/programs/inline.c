/* SPDX-License-Identifier: Apache-2.0 */
/* inline MILLISECONDS: a hot function that exists in its callers only.
 *
 * What a truthful profiler says: the samples are in the functions first_caller and second_caller of
 * the symbol table, half each, and the inline chain there is hot_inline in caller; the hot line is
 * the one marked HOT LINE, the call sites are those marked FIRST CALL and SECOND CALL. Tests find the
 * lines by their marks.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { CHUNK = 20000 };

static volatile uint64_t sink;

__attribute__((always_inline)) static inline uint64_t hot_inline(uint64_t x)
{
	for (int i = 0; i < CHUNK; i++)
		x = x * 6364136223846793005u + 1442695040888963407u; /* HOT LINE */
	return x;
}

__attribute__((noinline)) static uint64_t first_caller(uint64_t x)
{
	return hot_inline(x) + 1; /* FIRST CALL */
}

__attribute__((noinline)) static uint64_t second_caller(uint64_t x)
{
	return hot_inline(x) ^ 2; /* SECOND CALL */
}

int main(int argc, char **argv)
{
	long ms = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	struct timespec now;

	if (ms <= 0) {
		fprintf(stderr, "usage: inline MILLISECONDS\n");
		return 2;
	}
	do {
		sink = first_caller(sink);
		sink = second_caller(sink);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 < ms);
	return 0;
}
