/* SPDX-License-Identifier: Apache-2.0 */
/* forker CHILDREN MILLISECONDS: processes without exec that each burn the same CPU time.
 *
 * What a truthful profiler says: CHILDREN processes, children of one that only waits, have equal
 * shares, all of it in burn_child(); they have the image and the name of their parent, forker.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST = 1000, CHUNK = 20000 };

static volatile uint64_t sink;

__attribute__((noinline)) static uint64_t burn_child(uint64_t x)
{
	for (int i = 0; i < CHUNK; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void burn_for(int64_t ns)
{
	struct timespec now;

	do {
		sink = burn_child(sink);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	} while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < ns);
}

int main(int argc, char **argv)
{
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long ms = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (count <= 0 || count > MOST || ms <= 0) {
		fprintf(stderr, "usage: forker CHILDREN MILLISECONDS\n");
		return 2;
	}
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("forker: fork");
			return 1;
		}
		if (pid == 0) {
			burn_for(ms * 1000000);
			_exit(0);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
