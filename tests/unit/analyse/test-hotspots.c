/* SPDX-License-Identifier: Apache-2.0 */
/* Counts worked out by hand. */
#include "analyse/hotspots.h"

#include <stdlib.h>

#include "base/os.h"
#include "profile.h"
#include "test.h"

TEST(self_and_total)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main parse", 30);
	profile_add(&p, "main parse next", 50);
	profile_add(&p, "main", 20);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.all.samples, 100);
	CHECK_EQ_U64(h.unnamed.samples, 0);
	CHECK_EQ_STR(profile_functions(&p, &h), "next 50 50\n"
						"parse 30 80\n"
						"main 20 100\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 20 100\n"
					   " parse 30 80\n"
					   "  next 50 50\n");
	CHECK_EQ_STR(profile_edges(&p, &h), "main>parse 80\n"
					    "parse>next 50\n");
	hotspots_done(&h);
	profile_done(&p);
}

/* fib calls itself: total counts a sample once, however often fib is on its stack. */
TEST(recursion_counts_once)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main fib:7", 5);
	profile_add(&p, "main fib:8 fib:7", 10);
	profile_add(&p, "main fib:8 fib:8 fib:9 leaf", 3);
	profile_add(&p, "main other", 2);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_STR(profile_functions(&p, &h), "fib 15 18\n"
						"leaf 3 3\n"
						"other 2 2\n"
						"main 0 20\n");
	/* 10 and 3 samples have fib>fib, the latter twice. */
	CHECK_EQ_STR(profile_edges(&p, &h), "main>fib 18\n"
					    "fib>fib 13\n"
					    "fib>leaf 3\n"
					    "main>other 2\n");
	/* Line 8 is on the stack of 10 and of 3 samples, in the latter twice. */
	CHECK_EQ_STR(profile_lines(&p, &h), "fib:7 15 15\n"
					    "fib:8 0 13\n"
					    "fib:9 0 3\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 0 20\n"
					   " fib 5 18\n"
					   "  fib 10 13\n"
					   "   fib 0 3\n"
					   "    leaf 3 3\n"
					   " other 2 2\n");
	hotspots_done(&h);
	profile_done(&p);
}

/* a > b > a: the walk must take a off the path only when the outer a is left. */
TEST(mutual_recursion)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "a b a", 4);
	profile_add(&p, "a b", 2);
	profile_add(&p, "a c", 1);
	profile_add(&p, "b", 8);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_STR(profile_functions(&p, &h), "b 10 14\n"
						"a 4 7\n"
						"c 1 1\n");
	CHECK_EQ_STR(profile_edges(&p, &h), "a>b 6\n"
					    "b>a 4\n"
					    "a>c 1\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "b 8 8\n"
					   "a 0 7\n"
					   " b 2 6\n"
					   "  a 4 4\n"
					   " c 1 1\n");
	hotspots_done(&h);
	profile_done(&p);
}

/* Inlined code is a function of its own; the instruction belongs to the function that holds it. */
TEST(inlined_frames)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main:3 work:20>step:8>add:2", 6);
	profile_add(&p, "main:3 work:20>step:9", 3);
	profile_add(&p, "main:3 work:21", 1);
	/* add, called and inlined. */
	profile_add(&p, "main:4 add:2", 2);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_STR(profile_functions(&p, &h), "add 8 8\n"
						"step 3 9\n"
						"work 1 10\n"
						"main 0 12\n");
	CHECK_EQ_STR(profile_lines(&p, &h), "add:2 8 8\n"
					    "step:9 3 3\n"
					    "work:21 1 1\n"
					    "main:3 0 10\n"
					    "work:20 0 9\n"
					    "step:8 0 6\n"
					    "main:4 0 2\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 0 12\n"
					   " work 1 10\n"
					   "  +step 3 9\n"
					   "   +add 6 6\n"
					   " add 2 2\n");
	CHECK_EQ_STR(profile_instructions(&p, &h), "work @work:20>step:8>add:2:2 6\n"
						   "work @work:20>step:9:9 3\n"
						   "add @add:2:2 2\n"
						   "work @work:21:21 1\n");
	CHECK_EQ_STR(profile_edges(&p, &h), "main>work 10\n"
					    "work>step 9\n"
					    "step>add 6\n"
					    "main>add 2\n");
	hotspots_done(&h);
	profile_done(&p);
}

/* One stack, one line, one function, spread over addresses and over rows of weights. */
TEST(rows_fall_together)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main:1 f:5", 1);
	profile_add(&p, "main:1 f:5", 2);
	profile_add(&p, "main:2 f:5>g:9", 4);
	profile_add(&p, "main:2 f:6>g:9", 8);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_STR(profile_functions(&p, &h), "g 12 12\n"
						"f 3 15\n"
						"main 0 15\n");
	CHECK_EQ_STR(profile_lines(&p, &h), "g:9 12 12\n"
					    "f:5 3 7\n"
					    "main:2 0 12\n"
					    "f:6 0 8\n"
					    "main:1 0 3\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 0 15\n"
					   " f 3 15\n"
					   "  +g 12 12\n");
	hotspots_done(&h);
	profile_done(&p);
}

/* Equal counts are told in the order of names, whatever order they came in. */
TEST(equal_counts_by_name)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main:1 zebra:3", 5);
	profile_add(&p, "main:1 ape:9", 5);
	profile_add(&p, "main:1 ape:4", 5);
	profile_add(&p, "main:1 mule:1", 5);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_STR(profile_functions(&p, &h), "ape 10 10\n"
						"mule 5 5\n"
						"zebra 5 5\n"
						"main 0 20\n");
	CHECK_EQ_STR(profile_lines(&p, &h), "ape:4 5 5\n"
					    "ape:9 5 5\n"
					    "mule:1 5 5\n"
					    "zebra:3 5 5\n"
					    "main:1 0 20\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 0 20\n"
					   " ape 10 10\n"
					   " mule 5 5\n"
					   " zebra 5 5\n");
	hotspots_done(&h);
	profile_done(&p);
}

TEST(idle_is_in_none_of_it)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main", 10);
	profile_add_idle(&p, "start idle_loop halt", 1000);
	profile_add_idle(&p, "main", 7);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.all.samples, 10);
	CHECK_EQ_STR(profile_functions(&p, &h), "main 10 10\n");
	CHECK_EQ_STR(profile_tree(&p, &h), "main 10 10\n");
	CHECK_EQ_U64(h.instructions.len, 1);
	CHECK_EQ_U64(h.edges.len, 0);
	hotspots_done(&h);
	profile_done(&p);
}

/* Unknown is a row like others and counted; a known caller of unknown code is known. */
TEST(unnamed_samples)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add(&p, "main ?", 10);
	profile_add(&p, "? main", 5);
	profile_add(&p, "main ?k", 3);
	profile_add(&p, "", 2);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.all.samples, 20);
	CHECK_EQ_U64(h.unnamed.samples, 15);
	CHECK_EQ_STR(profile_functions(&p, &h), "? 10 15\n"
						"main 5 18\n"
						"?k 3 3\n");
	hotspots_done(&h);
	profile_done(&p);
}

TEST(nothing_at_all)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.all.samples, 0);
	CHECK_EQ_U64(h.functions.len + h.lines.len + h.instructions.len + h.tree.len + h.edges.len,
		     0);
	hotspots_done(&h);
	profile_done(&p);
}

/* Children stand together, in the order of their rank. */
TEST(children_are_contiguous)
{
	struct profile p;
	struct hotspots h;
	uint32_t last = 0;

	profile_init(&p);
	profile_add(&p, "r1 a x", 1);
	profile_add(&p, "r2 b y", 2);
	profile_add(&p, "r1 b x", 4);
	profile_add(&p, "r1 a z", 8);
	profile_add(&p, "r2 a", 16);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.tree.len, 10);
	for (uint32_t i = 0; i < h.tree.len; i++) {
		const struct hot_node *n = &h.tree.at[i];

		CHECK(n->parent == MODEL_NONE || n->parent < i);
		CHECK(n->parent == MODEL_NONE ? i < 2 : n->parent >= last);
		if (n->parent != MODEL_NONE)
			last = n->parent;
		if (i && h.tree.at[i - 1].parent == n->parent)
			CHECK(h.tree.at[i - 1].total.weight >= n->total.weight);
	}
	CHECK_EQ_STR(profile_tree(&p, &h), "r2 0 18\n"
					   " a 16 16\n"
					   " b 0 2\n"
					   "  y 2 2\n"
					   "r1 0 13\n"
					   " a 0 9\n"
					   "  z 8 8\n"
					   "  x 1 1\n"
					   " b 0 4\n"
					   "  x 4 4\n");
	hotspots_done(&h);
	profile_done(&p);
}

/*
 * The rate falls from 1,000 Hz to 10 Hz half-way: in the first second "early" runs, in the second
 * one "late". Both took one second, whatever the number of samples says.
 */
TEST(shares_are_of_periods)
{
	struct profile p;
	struct hotspots h;

	profile_init(&p);
	profile_add_periods(&p, "main:1 early:5", 0, 1000, 1000000000);
	profile_add_periods(&p, "main:2 late:7", 0, 10, 1000000000);
	profile_add_periods(&p, "main:2 late:8", 0, 2, 200000000);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK(h.by_period);
	CHECK_EQ_U64(h.all.samples, 1012);
	CHECK_EQ_U64(h.all.weight, 2200000000);
	CHECK_EQ_STR(profile_functions(&p, &h), "late 12 12\n"
						"early 1000 1000\n"
						"main 0 1012\n");
	CHECK_EQ_STR(profile_weights(&p, &h), "late 1200000000 1200000000\n"
					      "early 1000000000 1000000000\n"
					      "main 0 2200000000\n");
	CHECK_EQ_STR(profile_lines(&p, &h), "early:5 1000 1000\n"
					    "late:7 10 10\n"
					    "late:8 2 2\n"
					    "main:2 0 12\n"
					    "main:1 0 1000\n");
	CHECK_EQ_U64(h.lines.at[1].self.weight, 1000000000);
	CHECK_EQ_U64(h.lines.at[3].total.weight, 1200000000);
	CHECK_EQ_STR(profile_tree(&p, &h), "main 0 1012\n"
					   " late 12 12\n"
					   " early 1000 1000\n");
	CHECK_EQ_U64(h.tree.at[1].total.weight, 1200000000);
	CHECK_EQ_STR(profile_edges(&p, &h), "main>late 12\n"
					    "main>early 1000\n");
	CHECK_EQ_U64(h.edges.at[0].total.weight, 1200000000);
	CHECK_EQ_STR(profile_instructions(&p, &h), "early @early:5:5 1000\n"
						   "late @late:7:7 10\n"
						   "late @late:8:8 2\n");
	CHECK_EQ_U64(h.instructions.at[2].self.weight, 200000000);
	CHECK_EQ_U64(h.threads.at[0].samples, 1012);
	CHECK_EQ_U64(h.threads.at[0].weight, 2200000000);
	hotspots_done(&h);
	profile_done(&p);
}

TEST(samples_weigh_one_where_periods_say_nothing)
{
	static const uint64_t periods[] = { 0, UINT64_MAX, INT64_MAX };

	for (size_t i = 0; i < sizeof(periods) / sizeof(periods[0]); i++) {
		struct profile p;
		struct hotspots h;

		profile_init(&p);
		profile_add_periods(&p, "main a", 0, 7, periods[i]);
		profile_add_periods(&p, "main b", 0, 3, periods[i]);
		hotspots_compute(&h, &p.m, &p.s);
		CHECK(!h.by_period);
		CHECK_EQ_STR(profile_weights(&p, &h), "a 7 7\n"
						      "b 3 3\n"
						      "main 0 10\n");
		CHECK_EQ_U64(h.all.weight, 10);
		hotspots_done(&h);
		profile_done(&p);
	}
}

/* A sample of cache-misses is no piece of time. */
TEST(one_event_is_analysed)
{
	struct profile p;
	struct hotspots h;
	uint32_t misses, cycles;

	profile_init(&p);
	misses = profile_add_event(&p, "cache-misses");
	cycles = profile_add_event(&p, "armv8_pmuv3_0/cycles/u");
	profile_add_periods(&p, "main misser", misses, 500, 5000);
	profile_add_periods(&p, "main worker", cycles, 30, 3000);
	profile_add_periods(&p, "main", cycles, 10, 2000);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.event, cycles);
	CHECK_EQ_U64(h.all.samples, 40);
	CHECK_EQ_U64(h.all.weight, 5000);
	CHECK_EQ_U64(h.chain_samples, 30);
	CHECK_EQ_U64(h.threads.at[0].samples, 40);
	CHECK_EQ_U64(h.touched.at[0], 40);
	CHECK_EQ_STR(profile_functions(&p, &h), "worker 30 30\n"
						"main 10 40\n");
	CHECK_EQ_U64(h.instructions.len, 2);
	CHECK_EQ_U64(h.tree.len, 2);
	hotspots_done(&h);
	profile_done(&p);
}

static uint32_t event_of(const char *first, uint64_t first_samples, const char *second,
			 uint64_t second_samples)
{
	struct profile p;
	struct hotspots h;
	uint32_t event;

	profile_init(&p);
	p.m.events.at[0].name = first;
	profile_add_event(&p, second);
	if (first_samples)
		profile_add_periods(&p, "f", 0, first_samples, 1);
	if (second_samples)
		profile_add_periods(&p, "f", 1, second_samples, 1);
	hotspots_compute(&h, &p.m, &p.s);
	event = h.event;
	hotspots_done(&h);
	profile_done(&p);
	return event;
}

TEST(the_event_that_tells_of_time)
{
	CHECK_EQ_U64(event_of("cycles", 1, "cpu-clock", 9), 0);
	CHECK_EQ_U64(event_of("cycles", 0, "cpu-clock:pppH", 9), 1);
	CHECK_EQ_U64(event_of("instructions:u", 9, "cycles:u", 1), 1);
	CHECK_EQ_U64(event_of("instructions", 9, "cycles", 0), 0);
	CHECK_EQ_U64(event_of("instructions", 1, "branches", 9), 0);
	CHECK_EQ_U64(event_of("instructions", 0, "branches", 9), 1);
	CHECK_EQ_U64(event_of("bus-cycles", 9, "cpu_core/cpu-cycles,period=9/", 1), 1);
	CHECK_EQ_U64(event_of("dummy:u", 0, "task-clock", 0), 1);
}

/* A stack of one function that recurses a million times, and a million stacks: time stays linear. */
static void big_model(struct profile *p, uint32_t nodes, uint32_t fan)
{
	profile_init(p);
	profile_add(p, "f:1", 1);
	for (uint32_t i = 1; i < nodes; i++) {
		uint32_t parent = fan ? (i - 1) / fan : i - 1;

		vec_add(&p->m.nodes, ((struct model_node){ { parent }, { 0 } }));
		vec_add(&p->m.weights, ((struct model_weight){ .node = { i }, .samples = 1 }));
	}
}

TEST(a_million_frames_deep)
{
	enum { NODES = 1000000 };
	struct profile p;
	struct hotspots h;
	uint64_t start;

	big_model(&p, NODES, 0);
	start = os_self_cpu_ns();
	hotspots_compute(&h, &p.m, &p.s);
	CHECK(os_self_cpu_ns() - start < 10000000000);
	CHECK_EQ_STR(profile_functions(&p, &h), "f 1000000 1000000\n");
	CHECK_EQ_U64(h.tree.len, NODES);
	CHECK_EQ_U64(h.tree.at[NODES - 1].depth, NODES - 1);
	CHECK_EQ_U64(h.tree.at[NODES - 1].total.samples, 1);
	CHECK_EQ_U64(h.edges.at[0].total.samples, NODES - 1);
	hotspots_done(&h);
	profile_done(&p);
}

TEST(a_million_stacks)
{
	enum { NODES = 1000000 };
	struct profile p;
	struct hotspots h;
	uint64_t start;

	big_model(&p, NODES, 10);
	start = os_self_cpu_ns();
	hotspots_compute(&h, &p.m, &p.s);
	CHECK(os_self_cpu_ns() - start < 10000000000);
	CHECK_EQ_STR(profile_functions(&p, &h), "f 1000000 1000000\n");
	/* Levels of 1, 10, 100, ... stacks of f become one node each. */
	CHECK_EQ_U64(h.tree.len, 7);
	CHECK_EQ_U64(h.tree.at[5].self.samples, 100000);
	CHECK_EQ_U64(h.tree.at[6].self.samples, NODES - 111111);
	hotspots_done(&h);
	profile_done(&p);
}
