/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs, answers and image names: round trips and refusals. */
#include <stdio.h>

#include "base/os.h"
#include "test.h"
#include "wire/wire.h"

static struct job example(void)
{
	static char words[4][16] = { "/bin/sh", "-c", "echo a\\nb\nc", "" };
	static char *argv[] = { words[0], words[1], words[2], words[3], NULL };

	return (struct job){ .scope = JOB_LAUNCH,
			     .argv = argv,
			     .event = "cpu-clock",
			     .frequency_hz = 3997,
			     .rings = JOB_RINGS_USER,
			     .chain = JOB_CHAIN_DWARF,
			     .stack_bytes = 8192,
			     .for_ns = 10000000000,
			     .ring_total_bytes = 64u << 20,
			     .max_overhead_permille = 10,
			     .compress = true,
			     .stdio = true };
}

static struct str text_of(struct buf *b)
{
	return (struct str){ buf_str(b), b->len };
}

TEST(job_round_trip)
{
	struct job job = example(), back;
	buf_auto body = { 0 };
	arena_auto arena = { 0 };
	struct err err;

	job_encode(&job, &body);
	CHECK(job_decode(&back, text_of(&body), &arena, &err));
	for (size_t i = 0; job.argv[i]; i++)
		CHECK_EQ_STR(back.argv[i], job.argv[i]);
	CHECK(!back.argv[4]);
	CHECK_EQ_STR(back.event, "cpu-clock");
	CHECK_EQ_INT(back.scope, JOB_LAUNCH);
	CHECK_EQ_INT(back.rings, JOB_RINGS_USER);
	CHECK_EQ_INT(back.chain, JOB_CHAIN_DWARF);
	CHECK_EQ_U64(back.frequency_hz, 3997);
	CHECK_EQ_U64(back.period, 0);
	CHECK_EQ_INT(back.stack_bytes, 8192);
	CHECK_EQ_U64(back.for_ns, 10000000000);
	CHECK_EQ_U64(back.ring_total_bytes, 64u << 20);
	CHECK_EQ_INT(back.max_overhead_permille, 10);
	CHECK(back.compress && back.stdio);
}

/* The example with one line changed must be refused with these words. */
static void refused(const char *key, const char *value, const char *why)
{
	struct job job = example(), back = { .pid = 7 };
	buf_auto body = { 0 };
	arena_auto arena = { 0 };
	struct err err = { 0 };

	job_encode(&job, &body);
	kv_put(&body, key, value);
	CHECK(!job_decode(&back, text_of(&body), &arena, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.text, why);
	CHECK_EQ_U64(back.pid, 7);
}

TEST(job_refusals)
{
	refused("scope", "everything", "scope is 'everything'");
	refused("scope", "pid", "without a pid");
	refused("pid", "4294967296", "pid is '4294967296'");
	refused("pid", "-1", "pid is '-1'");
	refused("event", "", "no event");
	refused("frequency_hz", "0", "frequency or a period");
	refused("period", "1000", "frequency or a period");
	refused("frequency_hz", "99999999999", "frequency_hz");
	refused("stack_bytes", "8191", "stack dump of 8191");
	refused("stack_bytes", "0", "stack dump of 0");
	refused("stack_bytes", "65536", "stack_bytes");
	refused("ring_total_bytes", "0", "no memory");
	refused("max_overhead_permille", "1001", "max_overhead_permille");
	refused("stdio", "2", "stdio");
	refused("chain", "lbr", "chain is 'lbr'");
}

TEST(job_needs_a_command)
{
	struct job job = example(), back;
	char nothing[] = "", *none[] = { NULL }, *empty[] = { nothing, NULL };
	arena_auto arena = { 0 };
	struct err err;

	for (int i = 0; i < 2; i++) {
		buf_auto body = { 0 };

		job.argv = i ? empty : none;
		job_encode(&job, &body);
		CHECK(!job_decode(&back, text_of(&body), &arena, &err));
		CHECK_HAS(err.text, "without a command");
	}
	CHECK(!job_decode(&back, str_of(""), &arena, &err));
	CHECK(!job_decode(&back, str_of("scope launch\n"), &arena, &err));
}

TEST(job_started_round_trip)
{
	struct job_started s = { .pid = 42,
				 .perf_ns = 1,
				 .monotonic_ns = 2,
				 .realtime_ns = UINT64_MAX,
				 .clockid = "monotonic",
				 .ring_bytes = 1 << 20,
				 .rings = 3 },
			   back;
	buf_auto body = { 0 };
	uint8_t attr[136];
	struct err err;

	for (int i = 0; i < 2; i++) {
		struct job_event *e = vec_push(&s.events);

		snprintf(e->name, sizeof(e->name), "event %d", i);
		memset(attr, 0xf0 + i, sizeof(attr));
		buf_add(&e->attr, attr, sizeof(attr));
		vec_add(&e->ids, 100 + (uint64_t)i);
		vec_add(&e->ids, UINT64_MAX);
	}
	job_started_encode(&s, &body);
	CHECK(job_started_decode(&back, text_of(&body), &err));
	CHECK_EQ_U64(back.pid, 42);
	CHECK_EQ_U64(back.realtime_ns, UINT64_MAX);
	CHECK_EQ_STR(back.clockid, "monotonic");
	CHECK_EQ_INT(back.rings, 3);
	CHECK_EQ_INT(back.events.len, 2);
	CHECK_EQ_STR(back.events.at[1].name, "event 1");
	CHECK_EQ_INT(back.events.at[1].attr.len, 136);
	CHECK_EQ_MEM(back.events.at[1].attr.at, attr, 136);
	CHECK_EQ_U64(back.events.at[1].ids.at[0], 101);
	CHECK_EQ_U64(back.events.at[1].ids.at[1], UINT64_MAX);
	job_started_done(&back);
	job_started_done(&s);
}

/* CPUs times threads: the only event's ids are cut so that the frame stays small. */
TEST(job_started_with_many_ids)
{
	struct job_started s = { .clockid = "monotonic" }, back;
	struct job_event *e = vec_push(&s.events);
	uint8_t attr[136] = { 1 };
	buf_auto body = { 0 };
	struct err err;

	snprintf(e->name, sizeof(e->name), "cpu-clock");
	buf_add(&e->attr, attr, sizeof(attr));
	for (uint64_t i = 0; i < 1 << 20; i++)
		vec_add(&e->ids, UINT64_MAX - i);
	job_started_encode(&s, &body);
	CHECK(body.len < WIRE_MAX / 16);
	CHECK_MSG(job_started_decode(&back, text_of(&body), &err), "%s", err.text);
	CHECK_EQ_INT(back.events.at[0].ids.len, JOB_IDS_SENT);
	CHECK_EQ_U64(back.events.at[0].ids.at[0], UINT64_MAX);
	CHECK_EQ_U64(back.events.at[0].ids.at[JOB_IDS_SENT - 1], UINT64_MAX - JOB_IDS_SENT + 1);
	job_started_done(&back);
	job_started_done(&s);
}

TEST(job_started_refusals)
{
	static const char good[] = "pid 1\nperf_ns 1\nmonotonic_ns 1\nrealtime_ns 1\n"
				   "ring_bytes 4096\nring_count 1\nclockid x\n";
	static const char *const bad[] = {
		"",
		"attr 00\n",
		"id 5\nevent a\n",
		"event a\nattr 0\n",
		"event a\nattr zz\n",
		"event a\nattr 0011\n",
		"event a\nid 5\n",
		"event a\nid x\nattr 00\n",
		"event a\n",
	};
	struct job_started s;
	struct err err;

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		buf_auto body = { 0 };

		buf_puts(&body, good);
		buf_puts(&body, bad[i]);
		CHECK(!job_started_decode(&s, text_of(&body), &err));
		CHECK_EQ_INT(err.kind, ERR_FORMAT);
	}
}

TEST(job_finished_round_trip)
{
	struct job_finished f = { .end = JOB_END_STOP,
				  .has_status = true,
				  .wait_status = 3 << 8,
				  .wall_ns = 1,
				  .agent_cpu_ns = 2,
				  .workload_cpu_ns = 3,
				  .lost = 4,
				  .throttled = 5,
				  .data_bytes = UINT64_MAX,
				  .wakeups = 6,
				  .final_frequency_hz = 7 },
			    back;
	buf_auto body = { 0 };
	struct err err;

	job_finished_encode(&f, &body);
	CHECK(job_finished_decode(&back, text_of(&body), &err));
	CHECK_EQ_INT(back.end, JOB_END_STOP);
	CHECK(back.has_status);
	CHECK_EQ_INT(back.wait_status, 3 << 8);
	CHECK_EQ_U64(back.wall_ns, 1);
	CHECK_EQ_U64(back.agent_cpu_ns, 2);
	CHECK_EQ_U64(back.workload_cpu_ns, 3);
	CHECK_EQ_U64(back.lost, 4);
	CHECK_EQ_U64(back.throttled, 5);
	CHECK_EQ_U64(back.data_bytes, UINT64_MAX);
	CHECK_EQ_U64(back.wakeups, 6);
	CHECK_EQ_U64(back.final_frequency_hz, 7);
	CHECK(!job_finished_decode(&back, str_of("end exit\n"), &err));
	CHECK_HAS(err.text, "no has_status");
}

TEST(job_image_round_trip)
{
	struct job_image i = { .kind = JOB_IMAGE_FILE,
			       .build_id = "00ff",
			       .device_major = 254,
			       .device_minor = 1,
			       .inode = UINT64_MAX,
			       .inode_generation = 9,
			       .pid = 12,
			       .path = "/usr/lib/a b\nc (deleted)" },
			 back;
	buf_auto body = { 0 };
	arena_auto arena = { 0 };
	struct err err;

	job_image_encode(&i, &body);
	CHECK(job_image_decode(&back, text_of(&body), &arena, &err));
	CHECK_EQ_STR(back.path, i.path);
	CHECK_EQ_STR(back.build_id, "00ff");
	CHECK_EQ_U64(back.inode, UINT64_MAX);
	CHECK_EQ_U64(back.device_major, 254);
	kv_put(&body, "build_id", "../../etc");
	CHECK(!job_image_decode(&back, text_of(&body), &arena, &err));
	CHECK_HAS(err.text, "build id");
}
