/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loads a perf.data file into a model a few times and prints the best times, for comparison with
 * "perf report --stats" on the same file. Usage: model-load FILE [ROUNDS].
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "base/os.h"
#include "model/model.h"

static bool load(const char *path, struct model **m, struct os_map *map, uint64_t *took_ns,
		 uint64_t *cpu_ns, struct err *err)
{
	struct perfdata pd = { 0 };
	uint64_t start = os_now_ns(), cpu = os_self_cpu_ns();
	bool ok;

	if (!os_map_file(path, map, err))
		return false;
	ok = perfdata_open(&pd, path, map->bytes, map->len, err) && model_load(m, &pd, NULL, err);
	*took_ns = os_now_ns() - start;
	*cpu_ns = os_self_cpu_ns() - cpu;
	perfdata_close(&pd);
	return ok;
}

static void show(const struct model *m)
{
	printf("records %" PRIu64 "  samples %" PRIu64 "  idle %" PRIu64 "  lost %" PRIu64
	       "  unmapped %" PRIu64 "  bad %" PRIu64 "  unknown %" PRIu64 "\n",
	       m->records, m->samples, m->idle_samples, m->lost, m->unmapped, m->bad_records,
	       m->unknown_records);
	printf("images %zu  threads %zu  addresses %zu  nodes %zu  weights %zu  bucket %" PRIu64
	       " ms  frames per sample %.1f\n",
	       m->images.len, m->threads.len, m->addrs.len, m->nodes.len, m->weights.len,
	       m->bucket_ns / 1000000,
	       m->samples ? (double)m->chain_frames / (double)m->samples : 0.0);
	for (const char **n = m->notes.at; n < m->notes.at + m->notes.len; n++)
		printf("note: %s\n", *n);
}

int main(int argc, char **argv)
{
	int rounds = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 3;
	uint64_t best = UINT64_MAX, best_cpu = UINT64_MAX;
	struct rusage use;

	if (argc < 2) {
		fprintf(stderr, "usage: model-load FILE [ROUNDS]\n");
		return 2;
	}
	for (int i = 0; i < rounds; i++) {
		struct model *m = NULL;
		struct os_map map = { 0 };
		struct err err = { 0 };
		uint64_t took, cpu;

		if (!load(argv[1], &m, &map, &took, &cpu, &err)) {
			fprintf(stderr, "model-load: %s\n", err.text);
			return 1;
		}
		if (took < best)
			best = took;
		if (cpu < best_cpu)
			best_cpu = cpu;
		if (i == rounds - 1)
			show(m);
		model_free(m);
		os_unmap(&map);
	}
	getrusage(RUSAGE_SELF, &use);
	printf("best of %d: %.3f s, CPU %.3f s  peak %ld MB\n", rounds, (double)best / 1e9,
	       (double)best_cpu / 1e9, use.ru_maxrss / 1024);
	return 0;
}
