/* SPDX-License-Identifier: Apache-2.0 */
/* Call chains: marks, levels, return addresses, garbage. */
#include "recording.h"
#include "test.h"

#define K(x) (0xffffffff81000000u + (uint64_t)(x))

static void add_app(struct recording *r)
{
	rec_comm(r, 0, 100, 100, "app", 0);
	rec_mmap(r, 100, 0x400000, 0x10000, 0, 7, "/bin/app", 0);
}

/* The stack alone of a recording with one sample by app; sets *m, to be freed. */
static const char *stack_of(struct recording *r, struct model **m)
{
	const char *text;

	*m = rec_load(r, NULL);
	text = strchr(rec_dump(*m), ':');
	CHECK(text);
	return text + 2;
}

/*
 * The place of the sample and the place where user code went into the kernel are no return
 * addresses; all others are.
 */
TEST(kernel_and_user_part)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_KERNEL, K(0x10),  K(0x20),  K(0x30), MARK_USER,
				   0x400010,	0x400020, 0x400030, 0 };

	add_app(&r);
	rec_sample(&r, REC_KERNEL, 100, 100, 1000, K(0x10), chain);
	CHECK_EQ_STR(stack_of(&r, &m), "[kernel]+ffffffff81000010<[kernel]+ffffffff81000020-<"
				       "[kernel]+ffffffff81000030-<app+10<app+20-<app+30-\n");
	CHECK_EQ_U64(m->chain_samples, 1);
	CHECK_EQ_U64(m->chain_frames, 6);
	CHECK_EQ_U64(m->kernel_samples, 1);
	CHECK_EQ_U64(rec_image(m, "app")->samples, 0);
	CHECK_EQ_U64(rec_image(m, "app")->touched, 1);
	model_free(m);
}

TEST(user_part_alone)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 0x400010, 0x400020, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, chain);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<app+20-\n");
	model_free(m);
}

TEST(no_chain_and_empty_chains)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t mark_only[] = { MARK_USER, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_USER, 100, 100, 1001, 0x400010, mark_only);
	CHECK_EQ_STR(rec_dump(m = rec_load(&r, NULL)), "app(app) 100/100 2: app+10\n");
	CHECK_EQ_U64(m->chain_samples, 0);
	CHECK_EQ_U64(m->chain_frames, 2);
	model_free(m);
	r = (struct recording){ .sample_type = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME };
	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, NULL);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10\n");
	model_free(m);
}

/* Neither ip nor chain: the sample counts, but has no stack. */
TEST(no_address_at_all)
{
	struct recording r = { .sample_type = PERFDATA_S_TID | PERFDATA_S_TIME };
	struct model *m;

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 1);
	CHECK_EQ_U64(m->weights.len, 1);
	CHECK_EQ_U64(m->weights.at[0].node.i, MODEL_NONE);
	CHECK_EQ_U64(m->nodes.len, 0);
	model_free(m);
}

/* A chain through code without frame pointers ends in small numbers. */
TEST(garbage_ends_a_chain)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t user[] = { MARK_USER, 0x400010, 0x400020, 5, 0x400030, 0 };
	const uint64_t minus[] = { MARK_USER, 0x400010, 0x400020, (uint64_t)-1, 0x400030, 0 };
	const uint64_t kernel[] = { MARK_KERNEL, K(1), 4095, K(2), MARK_USER, 0x400010, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, user);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<app+20-\n");
	model_free(m);
	r = (struct recording){ 0 };
	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, minus);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<app+20-\n");
	model_free(m);
	r = (struct recording){ 0 };
	add_app(&r);
	rec_sample(&r, REC_KERNEL, 100, 100, 1000, K(1), kernel);
	CHECK_EQ_STR(stack_of(&r, &m), "[kernel]+ffffffff81000001<app+10\n");
	model_free(m);
}

/* A jump to address 0 is worth seeing: the innermost place is kept whatever it is. */
TEST(call_of_a_null_pointer)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 8, 0x400020, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 8, chain);
	CHECK_EQ_STR(stack_of(&r, &m), "[unknown]+8<app+20-\n");
	CHECK_EQ_U64(m->unmapped, 1);
	model_free(m);
}

/* A precise event's ip is the better word for the place than where the interrupt came. */
TEST(ip_of_the_sample_wins)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 0x400014, 0x400020, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, chain);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<app+20-\n");
	model_free(m);
}

/* exclude_callchain_kernel: the sample fell in the kernel, the chain has the user part only. */
TEST(kernel_left_out_of_the_chain)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 0x400010, 0x400020, 0 };

	add_app(&r);
	rec_sample(&r, REC_KERNEL, 100, 100, 1000, K(0x10), chain);
	CHECK_EQ_STR(stack_of(&r, &m), "[kernel]+ffffffff81000010<app+10<app+20-\n");
	model_free(m);
}

TEST(guests_are_not_looked_into)
{
	struct recording r = { 0 };
	struct model *m;

	add_app(&r);
	rec_sample(&r, REC_GUEST_KERNEL, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, REC_HYPERVISOR, 100, 100, 1001, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 1: [guest]+400010\n"
				  "app(app) 100/100 1: [hypervisor]+400010\n");
	CHECK_EQ_U64(m->unmapped, 2);
	model_free(m);
}

/*
 * A record that leaves the level open: the upper half of addresses is the kernel's. The
 * same goes for levels that do not exist.
 */
TEST(level_left_open)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t chain[] = { K(0x10), 0x400020, 0 };

	add_app(&r);
	rec_sample(&r, 0, 100, 100, 1000, 0x400010, NULL);
	rec_sample(&r, 0, 100, 100, 1001, K(0x10), NULL);
	rec_sample(&r, 0, 100, 100, 1002, K(0x10), chain);
	rec_sample(&r, 6, 100, 100, 1003, 0x400010, NULL);
	rec_sample(&r, 7, 100, 100, 1004, 0x400010, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 3: app+10\n"
				  "app(app) 100/100 1: [kernel]+ffffffff81000010\n"
				  "app(app) 100/100 1: [kernel]+ffffffff81000010<app+20-\n");
	model_free(m);
}

/* Authentication codes in return addresses come off on Arm, and only there. */
TEST(signed_return_addresses)
{
	struct recording r = { .arch = "aarch64" };
	struct model *m;
	const uint64_t chain[] = { MARK_USER, 0x400010, 0x5f000000400020, 0x3a00000000400030, 0 };

	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, chain);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<app+20-<app+30-\n");
	model_free(m);
	r = (struct recording){ 0 };
	add_app(&r);
	rec_sample(&r, REC_USER, 100, 100, 1000, 0x400010, chain);
	CHECK_EQ_STR(stack_of(&r, &m), "app+10<[unknown]+5f000000400020-<"
				       "[unknown]+3a00000000400030-\n");
	model_free(m);
}

/* Many samples of few stacks make few rows, and paths share their outer nodes. */
TEST(stacks_are_shared)
{
	struct recording r = { 0 };
	struct model *m;
	const uint64_t a[] = { MARK_USER, 0x400010, 0x400100, 0x400200, 0 };
	const uint64_t b[] = { MARK_USER, 0x400020, 0x400100, 0x400200, 0 };
	const uint64_t c[] = { MARK_USER, 0x400100, 0x400200, 0 };

	add_app(&r);
	for (uint64_t i = 0; i < 300; i++) {
		const uint64_t *chain = i % 3 == 0 ? a : i % 3 == 1 ? b : c;

		rec_sample(&r, REC_USER, 100, 100, 1000 + i, chain[1], chain);
	}
	m = rec_load(&r, NULL);
	/* 0x400100 is twice there: as a return address and as the sampled place. */
	CHECK_EQ_U64(m->addrs.len, 5);
	CHECK_EQ_U64(m->nodes.len, 5);
	CHECK_EQ_U64(m->weights.len, 3);
	CHECK_EQ_STR(rec_dump(m), "app(app) 100/100 100: app+10<app+100-<app+200-\n"
				  "app(app) 100/100 100: app+20<app+100-<app+200-\n"
				  "app(app) 100/100 100: app+100<app+200-\n");
	for (uint32_t i = 0; i < m->nodes.len; i++)
		CHECK(m->nodes.at[i].parent.i == MODEL_NONE || m->nodes.at[i].parent.i < i);
	model_free(m);
}
