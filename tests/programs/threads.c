/* SPDX-License-Identifier: Apache-2.0 */
/* threads COUNT MILLISECONDS: threads that each burn the same CPU time.
 *
 * What a truthful profiler says: threads worker-1 .. worker-COUNT have equal shares, all of it in
 * burn(); the main thread, called threads, has next to nothing.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MOST = 256, CHUNK = 20000 };

static volatile uint64_t sink;

struct worker {
	pthread_t thread;
	int number;
	int64_t cpu_ns;
};

__attribute__((noinline)) static uint64_t burn(uint64_t x)
{
	for (int i = 0; i < CHUNK; i++)
		x = x * 6364136223846793005u + 1442695040888963407u;
	return x;
}

static void *work(void *arg)
{
	const struct worker *worker = arg;
	struct timespec now;
	char name[16];

	snprintf(name, sizeof(name), "worker-%d", worker->number);
	pthread_setname_np(pthread_self(), name);
	do {
		sink = burn(sink);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((int64_t)now.tv_sec * 1000000000 + now.tv_nsec < worker->cpu_ns);
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker workers[MOST];
	long count = argc == 3 ? strtol(argv[1], NULL, 10) : 0;
	long ms = argc == 3 ? strtol(argv[2], NULL, 10) : 0;

	if (count <= 0 || count > MOST || ms <= 0) {
		fprintf(stderr, "usage: threads COUNT MILLISECONDS\n");
		return 2;
	}
	for (int i = 0; i < count; i++) {
		workers[i].number = i + 1;
		workers[i].cpu_ns = ms * 1000000;
		if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
			fprintf(stderr, "threads: cannot start thread %d\n", i + 1);
			return 1;
		}
	}
	for (int i = 0; i < count; i++)
		pthread_join(workers[i].thread, NULL);
	return 0;
}
