/* SPDX-License-Identifier: Apache-2.0 */
/* vecmix SECONDS: the same arithmetic, built twice: vecmix-scalar and vecmix-vector.
 *
 * Both are this file at -O2 -ffast-math; the one difference is -fno-tree-vectorize against
 * -ftree-vectorize.
 *
 * What a truthful profiler says:
 *
 * Both	   Nearly all samples are in mix(), in one loop. The arrays are 16 KB together and stay in the
 *	   first cache: it is bound by arithmetic, not by memory; branches are predicted.
 * scalar  The hot loop's floating point is scalar: no vector operation in it. Vectorisation is what
 *	   to try.
 * vector  The hot loop's multiplications and additions are vector operations (mulps/addps on x86-64,
 *	   fmla on Advanced SIMD). The same work takes a small part of the instructions and of the
 *	   time, so GFLOP/s is a multiple of the scalar build's.
 */
#include "keep-frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
	COUNT = 1024,
	ROUNDS = 100000, /* of one call, between two looks at the clock */
	FLOP = 4,	 /* per element and round */
};

struct arrays {
	float a[COUNT];
	float b[COUNT];
	float c[COUNT];
	float d[COUNT];
};

static struct arrays arrays __attribute__((aligned(64)));

/* The count is known and the arrays lie apart in one object: even a cautious cost model needs no
 * check at run time and no remainder. */
__attribute__((noinline)) static void mix(void)
{
	KEEP_FRAME;

	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < COUNT; i++)
			arrays.d[i] = arrays.a[i] * arrays.b[i] + arrays.c[i] * 0.5f + arrays.d[i];
		/* The rounds stay rounds. */
		__asm__ volatile("" : : "r"(&arrays) : "memory");
	}
}

static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv)
{
	double seconds = 0;
	double flop = 0;
	double start;
	double spent;
	char *end = NULL;

	if (argc == 2)
		seconds = strtod(argv[1], &end);
	if (argc != 2 || end == argv[1] || *end || !(seconds > 0 && seconds < 1e6)) {
		fprintf(stderr, "usage: vecmix SECONDS\n");
		return 2;
	}
	for (int i = 0; i < COUNT; i++) {
		arrays.a[i] = (float)i * 1e-6f;
		arrays.b[i] = (float)(COUNT - i) * 1e-6f;
		arrays.c[i] = 1e-6f;
	}
	start = now_s();
	do {
		mix();
		flop += (double)COUNT * ROUNDS * FLOP;
		spent = now_s() - start;
	} while (spent < seconds);

	printf("%.2f GFLOP/s, check %g\n", flop / spent * 1e-9, (double)arrays.d[COUNT / 2]);
	return 0;
}
