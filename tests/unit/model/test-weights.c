/* SPDX-License-Identifier: Apache-2.0 */
/* Counts by time bucket. */
#include "model/weights.h"

#include <stdlib.h>

#include "recording.h"
#include "test.h"

static void add(struct weights *ws, uint32_t node, uint32_t thread, uint64_t t)
{
	weights_add(ws,
		    (struct model_weight){ .node = { node }, .thread = { thread }, .period = 10 },
		    true, t);
}

static void no_two_alike(const struct model *m)
{
	for (size_t i = 0; i < m->weights.len; i++)
		for (size_t k = i + 1; k < m->weights.len; k++) {
			const struct model_weight *a = &m->weights.at[i], *b = &m->weights.at[k];

			CHECK(a->node.i != b->node.i || a->thread.i != b->thread.i ||
			      a->bucket != b->bucket || a->event != b->event);
		}
}

TEST(first_second_in_milliseconds)
{
	struct model *m = mem_alloc(sizeof(*m));
	struct weights ws;

	weights_init(&ws, m);
	add(&ws, 1, 1, 5000000);
	add(&ws, 1, 1, 5999999);
	add(&ws, 1, 1, 6000000);
	add(&ws, 2, 1, 5000001);
	add(&ws, 1, 2, 5000001);
	add(&ws, 1, 1, 1004999999);
	/* Before the first one: counted with it. */
	add(&ws, 1, 1, 4000000);
	weights_finish(&ws);
	CHECK_EQ_U64(m->first_ns, 5000000);
	CHECK_EQ_U64(m->last_ns, 1004999999);
	CHECK_EQ_U64(m->bucket_ns, 1000000);
	CHECK_EQ_U64(m->weights.len, 5);
	CHECK_EQ_U64(m->weights.at[0].bucket, 0);
	CHECK_EQ_U64(m->weights.at[0].samples, 3);
	CHECK_EQ_U64(m->weights.at[0].period, 30);
	CHECK_EQ_U64(m->weights.at[1].bucket, 1);
	CHECK_EQ_U64(m->weights.at[4].bucket, 999);
	weights_done(&ws);
	model_free(m);
}

/* One nanosecond more than fits doubles the width; pairs of buckets become one. */
TEST(width_doubles_when_it_must)
{
	struct model *m = mem_alloc(sizeof(*m));
	struct weights ws;

	weights_init(&ws, m);
	for (uint64_t ms = 0; ms < 1000; ms++)
		add(&ws, 1, 1, 7 + ms * 1000000);
	CHECK_EQ_U64(m->weights.len, 1000);
	add(&ws, 1, 1, 7 + 1000000000);
	CHECK_EQ_U64(m->bucket_ns, 2000000);
	CHECK_EQ_U64(m->weights.len, 501);
	CHECK_EQ_U64(m->weights.at[499].samples, 2);
	CHECK_EQ_U64(m->weights.at[500].bucket, 500);
	/* An hour at once. */
	add(&ws, 1, 1, 7 + 3600000000000);
	CHECK_EQ_U64(m->bucket_ns, 4096000000);
	CHECK_EQ_U64(m->weights.len, 2);
	CHECK_EQ_U64(m->weights.at[0].samples, 1001);
	CHECK_EQ_U64(m->weights.at[1].bucket, 878);
	/* A time that cannot be true still finds a bucket. */
	add(&ws, 1, 1, UINT64_MAX);
	CHECK(m->weights.at[m->weights.len - 1].bucket < 1000);
	weights_done(&ws);
	model_free(m);
}

/* Rows that were long out of sight when their key came again. */
TEST(late_samples_find_their_row)
{
	enum { KEYS = 60000, AGAIN = 1000 };
	struct model *m = mem_alloc(sizeof(*m));
	struct weights ws;
	uint64_t samples = 0, twice = 0;

	weights_init(&ws, m);
	for (uint32_t i = 0; i < KEYS; i++)
		add(&ws, i, 1, 1000 + i * 10000);
	for (uint32_t i = 0; i < AGAIN; i++)
		add(&ws, i, 1, 1000 + i * 10000);
	weights_finish(&ws);
	CHECK_EQ_U64(m->weights.len, KEYS);
	for (size_t i = 0; i < m->weights.len; i++) {
		samples += m->weights.at[i].samples;
		twice += m->weights.at[i].samples == 2;
	}
	CHECK_EQ_U64(samples, KEYS + AGAIN);
	CHECK_EQ_U64(twice, AGAIN);
	weights_done(&ws);
	model_free(m);
}

/* Against a plain count, with times that jump back and forth. */
TEST(random_samples_against_a_table)
{
	enum { NODES = 4, BUCKETS = 1000, SAMPLES = 30000 };
	static uint64_t table[NODES][BUCKETS];
	struct model *m = mem_alloc(sizeof(*m));
	struct weights ws;
	uint64_t state = 1, times[SAMPLES];
	uint32_t nodes[SAMPLES];

	weights_init(&ws, m);
	for (uint32_t i = 0; i < SAMPLES; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		nodes[i] = (uint32_t)(state >> 33) % NODES;
		times[i] = i ? 1000 + i * 100000 + (state >> 40) % 50000000 : 1000;
		add(&ws, nodes[i], 0, times[i]);
	}
	weights_finish(&ws);
	CHECK_EQ_U64(m->bucket_ns, 4000000);
	for (uint32_t i = 0; i < SAMPLES; i++)
		table[nodes[i]][(times[i] - m->first_ns) / m->bucket_ns]++;
	for (size_t i = 0; i < m->weights.len; i++) {
		uint64_t *cell = &table[m->weights.at[i].node.i][m->weights.at[i].bucket];

		CHECK_EQ_U64(m->weights.at[i].samples, *cell);
		*cell = 0;
	}
	for (int n = 0; n < NODES; n++)
		for (int b = 0; b < BUCKETS; b++)
			CHECK_EQ_U64(table[n][b], 0);
	no_two_alike(m);
	weights_done(&ws);
	model_free(m);
}

TEST(samples_without_time_have_one_bucket)
{
	struct recording r = { .sample_type = PERFDATA_S_IP | PERFDATA_S_TID };
	struct model *m;

	for (uint32_t i = 0; i < 10; i++)
		rec_sample(&r, REC_USER, 100, 100, 0, 0x1000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->weights.len, 1);
	CHECK_EQ_U64(m->weights.at[0].samples, 10);
	CHECK_EQ_U64(m->weights.at[0].bucket, 0);
	CHECK_EQ_U64(m->first_ns, 0);
	CHECK_EQ_U64(m->last_ns, 0);
	model_free(m);
}
