/* SPDX-License-Identifier: Apache-2.0 */
/* Whole recordings: order across rounds, events, losses, damage, what the header says. */
#include <stdio.h>

#include "recording.h"
#include "test.h"

/*
 * Buffers of two CPUs, drained one after the other: what CPU 1 told of the mapping comes behind the
 * samples of CPU 0 that need it, in the next round.
 */
TEST(order_across_rounds)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "app", 1000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 1001);
	rec_sample(&r, REC_USER, 100, 100, 2000, 0x400010, NULL);
	rec_round(&r);
	rec_sample(&r, REC_USER, 100, 100, 4000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 5000, 0x400010, NULL);
	rec_round(&r);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 8, "/lib/b.so", 3000);
	rec_comm(&r, 0, 100, 100, "renamed", 4500);
	rec_sample(&r, REC_USER, 100, 100, 2500, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 6000, 0x400010, NULL);
	rec_round(&r);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 9, "/lib/c.so", 5500);
	rec_round(&r);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 2: a.so+10\n"
				  "app(app) 100/100 1: b.so+10\n"
				  "renamed(renamed) 100/100 1: b.so+10\n"
				  "renamed(renamed) 100/100 1: c.so+10\n");
	CHECK_EQ_U64(m->first_ns, 2000);
	CHECK_EQ_U64(m->last_ns, 6000);
	model_free(m);
}

/* Within a round records lie buffer by buffer, not by time. */
TEST(order_within_a_round)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 5000, 0x400010, NULL);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 9, "/lib/c.so", 4000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 2000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 8, "/lib/b.so", 3000);
	rec_sample(&r, REC_USER, 100, 100, 2500, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 3500, 0x400010, NULL);
	rec_round(&r);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), ":100(:100) 100/100 1: c.so+10\n"
				  ":100(:100) 100/100 1: a.so+10\n"
				  ":100(:100) 100/100 1: b.so+10\n");
	model_free(m);
}

/* No FINISHED_ROUND at all: everything that happened is known before the first sample. */
TEST(file_without_rounds)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 1500, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 2500, 0x400010, NULL);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 8, "/lib/b.so", 2000);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 1000);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), ":100(:100) 100/100 1: a.so+10\n"
				  ":100(:100) 100/100 1: b.so+10\n");
	model_free(m);
}

/* Without times the place in the file decides. */
TEST(file_without_times)
{
	struct recording r = { .sample_type = PERFDATA_S_IP | PERFDATA_S_TID, .no_stamps = true };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "one", 0);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 7, "/lib/a.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 0, 0x400010, NULL);
	rec_comm(&r, MISC_EXEC, 100, 100, "two", 0);
	rec_mmap(&r, 100, 0x400000, 0x1000, 0, 8, "/lib/b.so", 0);
	rec_sample(&r, REC_USER, 100, 100, 0, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "one(one) 100/100 1: a.so+10\n"
				  "two(two) 100/100 1: b.so+10\n");
	model_free(m);
}

TEST(losses_and_throttling_are_counted)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	rec_lost(&r, PERFDATA_LOST, 40, 1001);
	rec_lost(&r, PERFDATA_LOST_SAMPLES, 2, 1002);
	rec_empty(&r, PERFDATA_THROTTLE, 1003);
	rec_empty(&r, PERFDATA_UNTHROTTLE, 1004);
	rec_empty(&r, PERFDATA_THROTTLE, 1005);
	rec_empty(&r, 200, 1006);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->lost, 42);
	CHECK_EQ_U64(m->throttled, 2);
	CHECK_EQ_U64(m->records, 7);
	CHECK_EQ_U64(m->unknown_records, 1);
	CHECK_EQ_U64(m->bad_records, 0);
	CHECK(!m->partial);
	CHECK_EQ_U64(m->notes.len, 1);
	CHECK_EQ_STR(m->notes.at[0], "records of unknown types in test.data: 1");
	model_free(m);
}

TEST(header_and_event)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(m->hostname, "testhost");
	CHECK_EQ_STR(m->kernel, "6.1.0-test");
	CHECK_EQ_STR(m->arch, "x86_64");
	CHECK_EQ_STR(m->cpuid, "");
	CHECK_EQ_U64(m->events.len, 1);
	CHECK_EQ_STR(m->events.at[0].name, "cpu-clock");
	CHECK(m->events.at[0].is_frequency);
	CHECK_EQ_U64(m->events.at[0].rate, 3997);
	CHECK_EQ_U64(m->events.at[0].period, 7);
	CHECK(m->events.at[0].has_chains && !m->events.at[0].has_stack_copies);
	CHECK(!m->events.at[0].exclude_user && !m->events.at[0].exclude_kernel);
	model_free(m);
}

/* What was left out of the samples is known, so that nobody takes it for the whole. */
TEST(event_of_one_privilege_level)
{
	struct recording r = { .sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME,
			       .period = 100003 };
	struct model *m;

	for (int kernel = 0; kernel < 2; kernel++) {
		r.flags = kernel ? 1 << 4 : 1 << 5;
		buf_clear(&r.data);
		rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
		m = rec_load(&r, NULL);
		CHECK_EQ_INT(m->events.at[0].exclude_user, kernel);
		CHECK_EQ_INT(m->events.at[0].exclude_kernel, !kernel);
		CHECK(!m->events.at[0].has_chains);
		model_free(m);
		r = (struct recording){ .sample_type = r.sample_type, .period = r.period };
	}
}

/* A fixed period that is not in each sample. */
TEST(period_of_the_event)
{
	struct recording r = { .sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME,
			       .period = 100003 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1001, 0x1000, NULL);
	m = rec_load(&r, NULL);
	CHECK(!m->events.at[0].is_frequency);
	CHECK_EQ_U64(m->events.at[0].rate, 100003);
	CHECK_EQ_U64(m->weights.at[0].period, 200006);
	CHECK_EQ_U64(m->threads.at[0].period, 200006);
	model_free(m);
}

static void two_events(struct recording *r)
{
	*r = (struct recording){ .events = 2 };
	for (uint64_t i = 0; i < 6; i++)
		rec_sample_of(r, i % 3 ? 2 : 1, 100, 1000 + i, 0x1000);
}

TEST(events_are_kept_apart)
{
	struct recording r;
	struct model *m;

	two_events(&r);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 6);
	CHECK_EQ_U64(m->events.len, 2);
	CHECK_EQ_U64(m->events.at[0].samples, 2);
	CHECK_EQ_U64(m->events.at[1].samples, 4);
	CHECK_EQ_U64(m->weights.len, 2);
	model_free(m);
}

TEST(one_event_asked_for)
{
	struct recording r;
	struct model *m;

	two_events(&r);
	m = rec_load(&r, &(struct model_options){ .event = 1 });
	CHECK_EQ_U64(m->samples, 4);
	CHECK_EQ_U64(m->weights.len, 1);
	CHECK_EQ_U64(m->weights.at[0].event, 1);
	model_free(m);
}

/* Whatever byte the file ends at: what is whole counts, and it is marked. */
TEST(cut_file)
{
	enum { SAMPLES = 8, SAMPLE_BYTES = 48 };
	struct buf file = { 0 };
	struct recording r = { 0 };
	size_t start;

	for (uint64_t i = 0; i < SAMPLES; i++)
		rec_sample(&r, REC_USER, 100, 100, 1000 + i, 0x1000, NULL);
	CHECK_EQ_U64(r.data.len, SAMPLES * SAMPLE_BYTES);
	rec_file(&r, &file);
	start = 104 + 128 + 16 + 8;
	for (size_t len = start + SAMPLE_BYTES; len < start + SAMPLES * SAMPLE_BYTES; len++) {
		const uint8_t *bytes = test_guard(file.at, len);
		struct perfdata pd = { 0 };
		struct model *m = NULL;
		struct err err = { 0 };
		char text[100];

		CHECK_MSG(perfdata_open(&pd, "cut.data", bytes, len, &err), "%s", err.text);
		CHECK_MSG(model_load(&m, &pd, NULL, &err), "%s", err.text);
		CHECK_EQ_U64(m->samples, (len - start) / SAMPLE_BYTES);
		CHECK(m->partial);
		CHECK(m->notes.len >= 1);
		snprintf(text, sizeof(text), "offset %zu",
			 start + (len - start) / SAMPLE_BYTES * SAMPLE_BYTES);
		CHECK_HAS(m->notes.at[0], text);
		model_free(m);
		perfdata_close(&pd);
	}
	buf_done(&file);
	buf_done(&r.data);
}

TEST(nothing_can_be_read)
{
	struct buf file = { 0 };
	struct recording r = { 0 };
	struct perfdata pd = { 0 };
	struct model *m = NULL;
	struct err err = { 0 };

	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	r.data.at[6] = 3; /* a record cannot be that short */
	rec_file(&r, &file);
	CHECK_MSG(perfdata_open(&pd, "bad.data", file.at, file.len, &err), "%s", err.text);
	CHECK(!model_load(&m, &pd, NULL, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, "bad.data: no record can be read at offset 256");
	CHECK(!m);
	perfdata_close(&pd);
	buf_done(&file);
	buf_done(&r.data);
}

/* Damage in the middle: what came before it stays. */
TEST(damaged_in_the_middle)
{
	struct recording r = { 0 };
	struct model *m;

	for (uint64_t i = 0; i < 3; i++)
		rec_sample(&r, REC_USER, 100, 100, 1000 + i, 0x1000, NULL);
	r.data.at[2 * 48 + 6] = 0;
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 2);
	CHECK(m->partial);
	CHECK_EQ_STR(m->notes.at[0],
		     "test.data is damaged at offset 352: what came before it was read");
	model_free(m);
}

/* A sample whose chain reaches past its end is left out and counted; the rest is read. */
TEST(sample_that_lies)
{
	struct recording r = { 0 };
	struct model *m;

	for (uint64_t i = 0; i < 3; i++)
		rec_sample(&r, REC_USER, 100, 100, 1000 + i, 0x1000, NULL);
	r.data.at[48 + 40 + 7] = 0xff; /* of the number of entries */
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 2);
	CHECK_EQ_U64(m->bad_records, 1);
	CHECK(!m->partial);
	CHECK_EQ_STR(m->notes.at[0], "records that do not hold what they promise in test.data: 1");
	model_free(m);
}

/* Where all is compressed the file is not even opened; a part that is makes the rest partial. */
TEST(compressed_part)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_USER, 100, 100, 1000, 0x1000, NULL);
	rec_empty(&r, PERFDATA_COMPRESSED, 0);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 1);
	CHECK(m->partial);
	CHECK_EQ_STR(m->notes.at[0], "compressed records that were not read in test.data: 1");
	model_free(m);
}

struct progress {
	uint64_t calls, last, total;
};

static void on_progress(void *ctx, uint64_t done, uint64_t total)
{
	struct progress *p = ctx;

	CHECK(done > p->last && done <= total);
	p->calls++;
	p->last = done;
	p->total = total;
}

TEST(progress_is_told_now_and_then)
{
	enum { SAMPLES = 400000 };
	struct recording r = { 0 };
	struct progress p = { 0 };
	struct model *m;

	for (uint64_t i = 0; i < SAMPLES; i++)
		rec_sample(&r, REC_USER, 100, 100, 1000 + i, 0x1000, NULL);
	m = rec_load(&r, &(struct model_options){
				 .event = -1, .progress = on_progress, .progress_ctx = &p });
	CHECK_EQ_U64(m->samples, SAMPLES);
	CHECK_EQ_U64(p.calls, 4);
	CHECK_EQ_U64(p.total, SAMPLES * 48);
	model_free(m);
}
