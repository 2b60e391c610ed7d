/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign recordings of many tools, ages and machines: each gives records or one clear error. */
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "decode/decode.h"
#include "test.h"

/* Found with perf script of 6.1, or with readers of their own makers where perf refuses them. */
static const struct {
	const char *path;
	uint64_t samples;
} known[] = {
	{ "google+perf_data_converter/src/quipper/testdata/perf.data.callgraph-3.4", 1548 },
	{ "google+perf_data_converter/src/quipper/testdata/perf.data.systemwide.5-3.4", 13142 },
	{ "google+perf_data_converter/src/quipper/testdata/perf.data.throttle-3.8", 14980 },
	{ "google+perf_data_converter/src/quipper/testdata/perf.data.branch_stack_spec", 8 },
	{ "google+perf_data_converter/src/quipper/testdata/perf.data.weight_struct", 14 },
	{ "google+perf_data_converter/src/testdata/multi-event-single-process.perf.data", 39217 },
	{ "google+autofdo/testdata/perf-vmlinux.data", 56 },
	{ "mstange+linux-perf-data/tests/fixtures/sleep.data", 7 },
	{ "GrapheneOS+platform_system_extras/simpleperf/testdata/perf_with_trace_offcpu.data",
	  2369 },
	{ "openharmony+developtools_hiperf/dwarf.uncompress.data", 569 },
};

struct totals {
	size_t files, read, refused, records, samples;
};

/* The number of samples; total records are added to *records. */
static uint64_t step_all(const struct perfdata *pd, const char *path, size_t *records)
{
	uint64_t offset = pd->data_start, samples = 0, unreadable = 0;
	struct perfdata_sample s;
	struct perfdata_record r;
	struct perfdata_mmap m;
	struct perfdata_comm c;
	struct perfdata_task t;
	struct perfdata_lost l;
	enum perfdata_step step;

	while ((step = perfdata_next(pd, &offset, &r)) == PERFDATA_RECORD) {
		bool ok = perfdata_sample(pd, &r, &s) || perfdata_mmap(pd, &r, &m) ||
			  perfdata_comm(pd, &r, &c) || perfdata_task(pd, &r, &t) ||
			  perfdata_lost(pd, &r, &l);

		(*records)++;
		samples += ok && r.type == PERFDATA_SAMPLE;
		unreadable += !ok && (r.type == PERFDATA_SAMPLE || r.type == PERFDATA_MMAP ||
				      r.type == PERFDATA_MMAP2 || r.type == PERFDATA_COMM ||
				      r.type == PERFDATA_FORK || r.type == PERFDATA_EXIT);
		perfdata_time(pd, &r);
	}
	CHECK_MSG(!unreadable, "%s: %llu unreadable records", path, (unsigned long long)unreadable);
	CHECK_MSG(step == PERFDATA_END || pd->cut, "%s: damaged at offset %llu", path,
		  (unsigned long long)offset);
	return samples;
}

/* False when it was refused. */
static bool read_file(const char *path, uint64_t *samples, size_t *records)
{
	struct perfdata pd;
	struct os_map map;
	struct err err;
	bool ok;

	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	ok = perfdata_open(&pd, path, map.bytes, map.len, &err);
	if (ok) {
		*samples = step_all(&pd, path, records);
		perfdata_close(&pd);
	} else {
		CHECK(err.kind == ERR_FORMAT || err.kind == ERR_UNSUPPORTED);
		CHECK_HAS(err.text, path);
	}
	os_unmap(&map);
	return ok;
}

static bool is_perfdata(const char *path)
{
	file_auto f = fopen(path, "re");
	char magic[8];

	return f && fread(magic, 1, 8, f) == 8 &&
	       (!memcmp(magic, "PERFILE2", 8) || !memcmp(magic, "2ELIFREP", 8));
}

static const char *samples_folder(void)
{
	const char *folder = getenv("CULPRIT_SAMPLES");

	if (!folder || !*folder)
		SKIP("CULPRIT_SAMPLES does not name the folder of recordings");
	return folder;
}

static struct totals read_tree(const char *folder)
{
	char_auto root = mem_strdup(folder);
	char *const roots[] = { root, NULL };
	struct totals seen = { 0 };
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);

	CHECK(tree != NULL);
	for (FTSENT *e; (e = fts_read(tree));) {
		uint64_t samples = 0;

		if (e->fts_info != FTS_F || !is_perfdata(e->fts_path))
			continue;
		seen.files++;
		if (read_file(e->fts_path, &samples, &seen.records))
			seen.read++;
		else
			seen.refused++;
		seen.samples += samples;
	}
	fts_close(tree);
	return seen;
}

TEST(samples_all)
{
	struct totals seen = read_tree(samples_folder());

	printf("%zu files, %zu read, %zu refused, %zu records, %zu samples\n", seen.files,
	       seen.read, seen.refused, seen.records, seen.samples);
	CHECK(seen.files > 0);
	CHECK(seen.read > seen.refused);
}

TEST(samples_counts)
{
	const char *folder = samples_folder();
	size_t found = 0, records = 0;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		char_auto path = mem_printf("%s/%s", folder, known[i].path);
		uint64_t samples;

		if (!is_perfdata(path))
			continue;
		found++;
		CHECK_MSG(read_file(path, &samples, &records), "%s was refused", path);
		CHECK_MSG(samples == known[i].samples, "%s: %llu samples instead of %llu", path,
			  (unsigned long long)samples, (unsigned long long)known[i].samples);
	}
	if (!found)
		SKIP("none of the known recordings is in %s", folder);
}

/* PD-1 of real life: a recording of many features cut at every 512th byte. */
TEST(samples_cut)
{
	char_auto path = mem_printf("%s/mstange+linux-perf-data/tests/fixtures/sleep.data",
				    samples_folder());
	size_t records = 0;
	uint64_t before = 0;
	struct os_map map;
	struct err err;

	if (!is_perfdata(path))
		SKIP("%s is not there", path);
	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	for (size_t len = 0; len < map.len; len += 512) {
		uint64_t samples;
		struct perfdata pd;

		if (!perfdata_open(&pd, path, test_guard(map.bytes, len), len, &err)) {
			CHECK(!before);
			continue;
		}
		samples = step_all(&pd, path, &records);
		CHECK(samples >= before);
		before = samples;
		perfdata_close(&pd);
	}
	CHECK_EQ_U64(before, 7);
	os_unmap(&map);
}
