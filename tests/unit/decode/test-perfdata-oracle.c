/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made by the perf of this machine: what it says of them and what the reader says. */
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "decode/decode.h"
#include "run-perf.h"
#include "test.h"

struct counts {
	uint64_t samples, chain, regs, comms, mmaps, tasks, bad, sum_ip;
};

static void count_sample(const struct perfdata *pd, const struct perfdata_record *r,
			 struct counts *n)
{
	struct perfdata_sample s;

	if (!perfdata_sample(pd, r, &s) || s.time_ns != perfdata_time(pd, r)) {
		n->bad++;
		return;
	}
	n->samples++;
	n->sum_ip += s.ip;
	for (uint64_t i = 0; i < s.chain_len; i++)
		n->chain += perfdata_chain_at(pd, &s, i) < UINT64_MAX - 4095;
	n->regs += s.regs_user != NULL;
}

static struct counts count_all(const struct perfdata *pd)
{
	uint64_t offset = pd->data_start;
	struct perfdata_record r;
	struct perfdata_mmap m;
	struct perfdata_comm c;
	struct perfdata_task t;
	struct counts n = { 0 };

	while (perfdata_next(pd, &offset, &r) == PERFDATA_RECORD) {
		switch (r.type) {
		case PERFDATA_SAMPLE:
			count_sample(pd, &r, &n);
			break;
		case PERFDATA_MMAP:
		case PERFDATA_MMAP2:
			n.mmaps += perfdata_mmap(pd, &r, &m);
			break;
		case PERFDATA_COMM:
			n.comms += perfdata_comm(pd, &r, &c);
			break;
		case PERFDATA_FORK:
		case PERFDATA_EXIT:
			n.tasks += perfdata_task(pd, &r, &t);
			break;
		default:
			break;
		}
	}
	CHECK_EQ_U64(offset, pd->data_end);
	return n;
}

/* Records busy work of a shell and its children; skips when that is not allowed. */
static const char *record(const char *options)
{
	const char *dir = test_tmpdir();
	char_auto command = NULL;

	perf_needed();
	command = mem_printf(
		"/usr/bin/perf record -q %s -o %s/perf.data -- sh -c 'i=0; while [ $i "
		"-lt 60000 ]; do i=$((i+1)); done; (exit 3); (exit 4); true' >%s/perf.log "
		"2>&1 </dev/null",
		options, dir, dir);
	if (system(command))
		SKIP("perf record %s does not work here", options);
	return dir;
}

static uint64_t sum_of_hex_lines(const char *text)
{
	struct str rest = str_of(text), line;
	uint64_t sum = 0, v;

	while (str_line(&rest, &line))
		if (str_hex(str_trim(line), &v))
			sum += v;
	return sum;
}

static void check_against_perf(const char *options)
{
	const char *dir = record(options);
	char_auto path = mem_printf("%s/perf.data", dir);
	buf_auto text = { 0 };
	struct perfdata pd;
	struct os_map map;
	struct counts n;
	struct err err;

	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK_EQ_U64(pd.notes.len, 0);
	n = count_all(&pd);
	CHECK_EQ_U64(n.bad, 0);
	CHECK(n.samples > 5);
	CHECK(n.tasks >= 5);
	CHECK(n.comms >= 2);
	CHECK(n.mmaps > 3);
	perf_run(&text, "script --no-inline -i %s -F ip -G", path);
	CHECK_EQ_U64(count_of(buf_str(&text), "\n"), n.samples);
	CHECK_EQ_U64(sum_of_hex_lines(buf_str(&text)), n.sum_ip);
	buf_clear(&text);
	perf_run(&text, "script --no-inline -i %s --show-task-events --show-mmap-events", path);
	CHECK_EQ_U64(count_of(buf_str(&text), "PERF_RECORD_COMM"), n.comms);
	CHECK_EQ_U64(count_of(buf_str(&text), "PERF_RECORD_MMAP"), n.mmaps);
	CHECK_EQ_U64(count_of(buf_str(&text), "PERF_RECORD_FORK(") +
			     count_of(buf_str(&text), "PERF_RECORD_EXIT("),
		     n.tasks);
	perfdata_close(&pd);
	os_unmap(&map);
}

TEST(oracle_one_event)
{
	check_against_perf("-e cpu-clock -F 5000");
}

TEST(oracle_chains_and_two_events)
{
	check_against_perf("-e cpu-clock,task-clock -F 5000 -g");
}

TEST(oracle_stack_and_registers)
{
	check_against_perf("-e cpu-clock -F 1000 --call-graph dwarf,512 -d -W --phys-data "
			   "--data-page-size --code-page-size");
}

TEST(oracle_build_ids_in_mmaps)
{
	check_against_perf("-e cpu-clock -F 5000 --buildid-mmap");
}

/* perf script makes several lines of one such sample, so its raw dump is asked. */
TEST(oracle_group_with_counts)
{
	const char *dir = record("-e '{cpu-clock,page-faults}:S' -F 5000");
	char_auto path = mem_printf("%s/perf.data", dir);
	buf_auto text = { 0 };
	struct perfdata pd;
	struct os_map map;
	struct counts n;
	struct err err;

	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK(pd.attrs[0].sample_type & PERFDATA_S_READ);
	n = count_all(&pd);
	CHECK_EQ_U64(n.bad, 0);
	perf_run(&text, "report -D -i %s", path);
	CHECK(n.samples > 5);
	CHECK_EQ_U64(count_of(buf_str(&text), "PERF_RECORD_SAMPLE("), n.samples);
	perfdata_close(&pd);
	os_unmap(&map);
}

/* The header, ids and names of a real file through the writer: perf must not see a difference. */
TEST(oracle_written_again)
{
	const char *dir = record("-e cpu-clock,task-clock -F 5000 -g");
	char_auto path = mem_printf("%s/perf.data", dir);
	char_auto copy = mem_printf("%s/copy.data", dir);
	buf_auto before = { 0 }, after = { 0 }, file = { 0 };
	struct perfdata_features features = { 0 };
	struct perfdata_new_event events[2];
	struct perfdata_build_id ids[16];
	uint64_t attrs_at, entry, at = 0;
	struct perfdata pd;
	struct os_map map;
	struct err err;
	size_t n = 0;

	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK_EQ_U64(pd.attr_count, 2);
	memcpy(&entry, map.bytes + 16, 8);
	memcpy(&attrs_at, map.bytes + 24, 8);
	for (size_t i = 0; i < 2; i++)
		events[i] = (struct perfdata_new_event){
			.name = pd.attrs[i].name,
			.attr = { (const char *)map.bytes + attrs_at + i * entry, entry - 16 },
			.ids = pd.attrs[i].ids,
			.id_count = pd.attrs[i].id_count,
		};
	while (n < 16 && perfdata_next_build_id(&pd, &at, &ids[n]))
		n++;
	CHECK(n > 0);
	perfdata_add_build_ids(&features, ids, n);
	perfdata_add_text(&features, PERFDATA_F_HOSTNAME,
			  perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME));
	perfdata_add_event_desc(&features, events, 2);
	perfdata_put_header(&file, events, 2, pd.data_end - pd.data_start, features.bits);
	buf_add(&file, map.bytes + pd.data_start, pd.data_end - pd.data_start);
	perfdata_put_features(&file, &features, file.len);
	CHECK_MSG(os_save_file(copy, file.at, file.len, &err), "%s", err.text);
	perf_run(&before, "script --no-inline -i %s", path);
	perf_run(&after, "script --no-inline -i %s", copy);
	CHECK(before.len > 1000);
	CHECK(before.len == after.len && !memcmp(before.at, after.at, after.len));
	buf_clear(&before);
	buf_clear(&after);
	perf_run(&before, "evlist -v -i %s", path);
	perf_run(&after, "evlist -v -i %s", copy);
	CHECK_EQ_STR(buf_str(&before), buf_str(&after));
	buf_clear(&before);
	buf_clear(&after);
	perf_run(&before, "buildid-list -i %s", path);
	perf_run(&after, "buildid-list -i %s", copy);
	CHECK_EQ_STR(buf_str(&before), buf_str(&after));
	perfdata_features_done(&features);
	perfdata_close(&pd);
	os_unmap(&map);
}
