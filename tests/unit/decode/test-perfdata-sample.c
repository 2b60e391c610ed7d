/* SPDX-License-Identifier: Apache-2.0 */
/* Samples: every field alone and all together, every way of reading counters, both byte orders. */
#include "make-perfdata.h"
#include "test.h"

enum { BOTH = 2, BITS = 25 };

enum { /* attr.read_format and attr.branch_sample_type */
       TIME_ENABLED = 1,
       TIME_RUNNING = 2,
       WITH_ID = 4,
       GROUP = 8,
       WITH_LOST = 16,
       HW_INDEX = 1 << 17,
       COUNTERS = 1 << 19,
};

static const uint64_t chain[] = { 0xfffffffffffffe00, 0x401000, 0x402000 };

static void u64s(struct make *m, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		make_u64(&m->data, m->swap, value + i);
}

static void put_read(struct make *m, uint64_t format)
{
	uint64_t values = 1, words;

	if (format & GROUP) {
		values = 3;
		u64s(m, 1, values);
	}
	words = (uint64_t)__builtin_popcountll(format & (TIME_ENABLED | TIME_RUNNING)) +
		values * (1 + (uint64_t)__builtin_popcountll(format & (WITH_ID | WITH_LOST)));
	u64s(m, words, 0x9000);
}

static void put_branches(struct make *m, uint64_t branch)
{
	u64s(m, 1, 2);
	if (branch & HW_INDEX)
		u64s(m, 1, UINT64_MAX);
	u64s(m, 6, 0x7000);
	if (branch & COUNTERS)
		u64s(m, 2, 0);
}

/* The fixed fields: ip 1, pid 2, tid 3, time 4, addr 5, id 6, cpu 7, period 8. */
static void put_fixed(struct make *m, uint64_t type, uint64_t id)
{
	if (type & PERFDATA_S_IDENTIFIER)
		u64s(m, 1, id);
	if (type & PERFDATA_S_IP)
		u64s(m, 1, 1);
	if (type & PERFDATA_S_TID) {
		make_u32(&m->data, m->swap, 2);
		make_u32(&m->data, m->swap, 3);
	}
	if (type & PERFDATA_S_TIME)
		u64s(m, 1, 4);
	if (type & PERFDATA_S_ADDR)
		u64s(m, 1, 5);
	if (type & PERFDATA_S_ID)
		u64s(m, 1, id);
	if (type & PERFDATA_S_STREAM_ID)
		u64s(m, 1, 66);
	if (type & PERFDATA_S_CPU) {
		make_u32(&m->data, m->swap, 7);
		make_u32(&m->data, m->swap, 0xdead);
	}
	if (type & PERFDATA_S_PERIOD)
		u64s(m, 1, 8);
}

static void put_middle(struct make *m, const struct make_event *e)
{
	uint64_t type = e->sample_type;

	if (type & PERFDATA_S_READ)
		put_read(m, e->read_format);
	if (type & PERFDATA_S_CALLCHAIN) {
		u64s(m, 1, 3);
		for (int i = 0; i < 3; i++)
			u64s(m, 1, chain[i]);
	}
	if (type & PERFDATA_S_RAW) {
		make_u32(&m->data, m->swap, 12);
		memset(buf_room(&m->data, 12), 0x5a, 12);
	}
	if (type & PERFDATA_S_BRANCH_STACK)
		put_branches(m, e->branch);
	if (type & PERFDATA_S_REGS_USER) {
		u64s(m, 1, 2);
		u64s(m, (size_t)__builtin_popcountll(e->regs_user), 0x100);
	}
	if (type & PERFDATA_S_STACK_USER) {
		u64s(m, 1, 32);
		memset(buf_room(&m->data, 32), 0x77, 32);
		u64s(m, 1, 24);
	}
}

static void put_end(struct make *m, const struct make_event *e)
{
	uint64_t type = e->sample_type;

	if (type & (PERFDATA_S_WEIGHT | PERFDATA_S_WEIGHT_STRUCT))
		u64s(m, 1, 0x3000);
	if (type & PERFDATA_S_DATA_SRC)
		u64s(m, 1, 0x3001);
	if (type & PERFDATA_S_TRANSACTION)
		u64s(m, 1, 0x3002);
	if (type & PERFDATA_S_REGS_INTR) {
		u64s(m, 1, 1);
		u64s(m, (size_t)__builtin_popcountll(e->regs_intr), 0x200);
	}
	if (type & PERFDATA_S_PHYS_ADDR)
		u64s(m, 1, 0x3003);
	if (type & PERFDATA_S_CGROUP)
		u64s(m, 1, 0x3004);
	if (type & PERFDATA_S_DATA_PAGE_SIZE)
		u64s(m, 1, 4096);
	if (type & PERFDATA_S_CODE_PAGE_SIZE)
		u64s(m, 1, 65536);
	if (type & PERFDATA_S_AUX) {
		u64s(m, 1, 16);
		u64s(m, 2, 0);
	}
}

static void put_sample(struct make *m, const struct make_event *e, uint64_t id)
{
	size_t at = make_begin(m, PERFDATA_SAMPLE, 2);

	put_fixed(m, e->sample_type, id);
	put_middle(m, e);
	put_end(m, e);
	make_end(m, at);
}

static void check_fixed(const struct perfdata_sample *s, uint64_t type)
{
	CHECK_EQ_U64(s->ip, type & PERFDATA_S_IP ? 1 : 0);
	CHECK_EQ_U64(s->pid, type & PERFDATA_S_TID ? 2 : 0);
	CHECK_EQ_U64(s->tid, type & PERFDATA_S_TID ? 3 : 0);
	CHECK_EQ_U64(s->time_ns, type & PERFDATA_S_TIME ? 4 : 0);
	CHECK_EQ_INT(s->has_time, (type & PERFDATA_S_TIME) != 0);
	CHECK_EQ_U64(s->addr, type & PERFDATA_S_ADDR ? 5 : 0);
	CHECK_EQ_U64(s->cpu, type & PERFDATA_S_CPU ? 7 : 0);
	CHECK_EQ_INT(s->has_cpu, (type & PERFDATA_S_CPU) != 0);
	CHECK_EQ_U64(s->period, type & PERFDATA_S_PERIOD ? 8 : 0);
}

static void check_sample(const struct perfdata *pd, const struct perfdata_record *r,
			 const struct make_event *e)
{
	uint64_t type = e->sample_type;
	struct perfdata_sample s;

	CHECK_MSG(perfdata_sample(pd, r, &s), "sample_type 0x%llx", (unsigned long long)type);
	check_fixed(&s, type);
	CHECK_EQ_U64(perfdata_time(pd, r), s.time_ns);
	CHECK_EQ_U64(s.chain_len, type & PERFDATA_S_CALLCHAIN ? 3 : 0);
	for (uint64_t i = 0; i < s.chain_len; i++)
		CHECK_EQ_U64(perfdata_chain_at(pd, &s, i), chain[i]);
	CHECK_EQ_INT(s.regs_user != NULL, (type & PERFDATA_S_REGS_USER) != 0);
	CHECK_EQ_U64(s.regs_user_mask, s.regs_user ? e->regs_user : 0);
	CHECK_EQ_U64(s.regs_user_abi, s.regs_user ? 2 : 0);
	if (s.regs_user) {
		uint64_t first;

		memcpy(&first, s.regs_user, 8);
		CHECK_EQ_U64(pd->swap ? __builtin_bswap64(first) : first, 0x100);
	}
	CHECK_EQ_U64(s.stack_bytes, type & PERFDATA_S_STACK_USER ? 24 : 0);
	CHECK_EQ_INT(s.stack != NULL, (type & PERFDATA_S_STACK_USER) != 0);
	if (s.stack)
		CHECK(s.stack[0] == 0x77 && s.stack[31] == 0x77);
}

static struct perfdata_record only_record(const struct perfdata *pd)
{
	uint64_t offset = pd->data_start;
	struct perfdata_record r;

	CHECK_EQ_INT(perfdata_next(pd, &offset, &r), PERFDATA_RECORD);
	CHECK_EQ_U64(offset, pd->data_end);
	return r;
}

/* Decodes it whole, and cut at every length, where it must be refused. */
static void round_trip(const struct make_event *e, bool swap)
{
	struct make m = { .swap = swap, .event_count = 1 };
	struct perfdata_record r;
	struct perfdata_sample s;
	struct perfdata pd;
	uint32_t size;
	const uint8_t *body;

	m.events[0] = *e;
	put_sample(&m, e, 6);
	make_open(&m, &pd);
	r = only_record(&pd);
	check_sample(&pd, &r, e);
	size = r.size;
	body = r.body;
	for (r.size = 8; r.size < size; r.size++) {
		r.body = test_guard(body, r.size - 8);
		CHECK_MSG(!perfdata_sample(&pd, &r, &s), "sample_type 0x%llx cut at %u of %u",
			  (unsigned long long)e->sample_type, r.size, size);
		perfdata_time(&pd, &r);
	}
	perfdata_close(&pd);
	make_done(&m);
}

static const struct make_event rich = {
	.read_format = TIME_ENABLED | WITH_ID | GROUP | WITH_LOST,
	.branch = HW_INDEX | COUNTERS,
	.regs_user = 0xff0fff,
	.regs_intr = 0x100000001,
	.stack_user = 32,
};

TEST(sample_each_field_alone)
{
	for (unsigned bit = 0; bit < BITS; bit++) {
		for (int swap = 0; swap < BOTH; swap++) {
			struct make_event e = rich;

			e.sample_type = 1ull << bit;
			round_trip(&e, swap);
		}
	}
}

TEST(sample_each_field_missing)
{
	for (unsigned bit = 0; bit <= BITS; bit++) {
		for (int swap = 0; swap < BOTH; swap++) {
			struct make_event e = rich;

			/* The kernel takes only one of the two kinds of weight. */
			e.sample_type = ((1ull << BITS) - 1) & ~(1ull << bit) &
					~(uint64_t)PERFDATA_S_WEIGHT;
			round_trip(&e, swap);
		}
	}
}

TEST(sample_read_formats)
{
	for (uint64_t format = 0; format < 32; format++) {
		struct make_event e = rich;

		e.read_format = format;
		e.sample_type = PERFDATA_S_IP | PERFDATA_S_READ | PERFDATA_S_CALLCHAIN;
		round_trip(&e, format % 2);
	}
}

TEST(sample_branch_formats)
{
	static const uint64_t branch[] = { 0, HW_INDEX, COUNTERS, HW_INDEX | COUNTERS };

	for (int i = 0; i < 4; i++) {
		struct make_event e = rich;

		e.branch = branch[i];
		e.sample_type = PERFDATA_S_IP | PERFDATA_S_BRANCH_STACK | PERFDATA_S_REGS_USER;
		round_trip(&e, i % 2);
	}
}

/* Without any branches the kernel leaves out the index too. */
TEST(sample_no_branches_no_index)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = { .swap = swap, .event_count = 1 };
		struct perfdata_record r;
		struct perfdata_sample s;
		struct perfdata pd;
		size_t at;

		m.events[0] = rich;
		m.events[0].sample_type = PERFDATA_S_IP | PERFDATA_S_BRANCH_STACK |
					  PERFDATA_S_REGS_USER | PERFDATA_S_WEIGHT;
		m.events[0].regs_user = 3;
		at = make_begin(&m, PERFDATA_SAMPLE, 2);
		u64s(&m, 1, 1);
		u64s(&m, 1, 0);
		u64s(&m, 1, 2);
		u64s(&m, 2, 0x100);
		u64s(&m, 1, 9);
		make_end(&m, at);
		make_open(&m, &pd);
		r = only_record(&pd);
		CHECK(perfdata_sample(&pd, &r, &s));
		CHECK_EQ_U64(s.regs_user_abi, 2);
		CHECK_EQ_U64(s.regs_user_mask, 3);
		perfdata_close(&pd);
		make_done(&m);
	}
}

/* A kernel thread has no user registers and no user stack. */
TEST(sample_without_user_side)
{
	struct make m = { .event_count = 1 };
	struct perfdata_record r;
	struct perfdata_sample s;
	struct perfdata pd;
	size_t at;

	m.events[0] = rich;
	m.events[0].sample_type = PERFDATA_S_IP | PERFDATA_S_REGS_USER | PERFDATA_S_STACK_USER;
	at = make_begin(&m, PERFDATA_SAMPLE, 1);
	u64s(&m, 1, 1);
	u64s(&m, 2, 0);
	m.data.at[m.data.len - 8] = 0;
	make_end(&m, at);
	make_open(&m, &pd);
	r = only_record(&pd);
	CHECK(perfdata_sample(&pd, &r, &s));
	CHECK(!s.regs_user && !s.stack && !s.stack_bytes && !s.regs_user_abi);
	perfdata_close(&pd);
	make_done(&m);
}

TEST(sample_hostile_counts)
{
	static const uint64_t types[] = {
		PERFDATA_S_CALLCHAIN,  PERFDATA_S_CALLCHAIN | PERFDATA_S_WEIGHT,
		PERFDATA_S_RAW,	       PERFDATA_S_BRANCH_STACK,
		PERFDATA_S_STACK_USER, PERFDATA_S_AUX,
		PERFDATA_S_READ,
	};
	static const uint64_t counts[] = {
		4, 1ull << 40, 1ull << 60, 0x2000000000000000, 0x0aaaaaaaaaaaaaab, UINT64_MAX
	};

	for (size_t t = 0; t < sizeof(types) / sizeof(types[0]); t++) {
		for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
			struct make m = { .event_count = 1 };
			struct perfdata_record r;
			struct perfdata_sample s;
			struct perfdata pd;
			size_t at;

			m.events[0].sample_type = types[t];
			m.events[0].read_format = GROUP | WITH_ID;
			at = make_begin(&m, PERFDATA_SAMPLE, 2);
			/* RAW has 32 bits of length; twice the low half is large as well. */
			u64s(&m, 1,
			     types[t] == PERFDATA_S_RAW ? counts[i] | 0xf0000000 : counts[i]);
			u64s(&m, 1, UINT64_MAX);
			make_end(&m, at);
			make_open(&m, &pd);
			r = only_record(&pd);
			if (types[t] == PERFDATA_S_AUX && counts[i] == 4)
				CHECK(perfdata_sample(&pd, &r, &s));
			else
				CHECK_MSG(!perfdata_sample(&pd, &r, &s), "type %zu count %zu", t,
					  i);
			perfdata_close(&pd);
			make_done(&m);
		}
	}
}

/* A dump that claims more than was reserved for it is cut to what there is. */
TEST(sample_stack_longer_than_its_room)
{
	struct make m = { .event_count = 1 };
	struct perfdata_record r;
	struct perfdata_sample s;
	struct perfdata pd;
	size_t at;

	m.events[0].sample_type = PERFDATA_S_STACK_USER;
	at = make_begin(&m, PERFDATA_SAMPLE, 2);
	u64s(&m, 1, 16);
	u64s(&m, 2, 0);
	u64s(&m, 1, UINT64_MAX);
	make_end(&m, at);
	make_open(&m, &pd);
	r = only_record(&pd);
	CHECK(perfdata_sample(&pd, &r, &s));
	CHECK_EQ_U64(s.stack_bytes, 16);
	perfdata_close(&pd);
	make_done(&m);
}

/* Three events with unlike fields: each sample is read as its own event has it. */
static void check_by_id(uint64_t id_bit)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = { .swap = swap, .event_count = 3 };
		struct perfdata_record r;
		struct perfdata_sample s;
		struct perfdata pd;
		uint64_t offset;

		for (uint64_t i = 0; i < 3; i++) {
			m.events[i] = rich;
			m.events[i].ids[0] = 100 + i;
			m.events[i].ids[1] = 200 + i;
			m.events[i].id_count = 2;
			m.events[i].sample_type = id_bit | PERFDATA_S_IP | PERFDATA_S_TID;
		}
		m.events[1].sample_type |= PERFDATA_S_PERIOD | PERFDATA_S_CALLCHAIN;
		m.events[2].sample_type |= PERFDATA_S_CPU | PERFDATA_S_RAW | PERFDATA_S_CALLCHAIN;
		for (uint64_t i = 0; i < 6; i++)
			put_sample(&m, &m.events[i % 3], i < 3 ? 100 + i : 197 + i);
		put_sample(&m, &m.events[0], 999);
		put_sample(&m, &m.events[0], 0);
		make_open(&m, &pd);
		CHECK(pd.by_id);
		CHECK_EQ_U64(pd.notes.len, 0);
		offset = pd.data_start;
		for (size_t i = 0; i < 6; i++) {
			CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
			check_sample(&pd, &r, &m.events[i % 3]);
			CHECK(perfdata_sample(&pd, &r, &s));
			CHECK_EQ_INT(s.attr - pd.attrs, i % 3);
		}
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK(!perfdata_sample(&pd, &r, &s));
		CHECK_EQ_U64(perfdata_time(&pd, &r), 0);
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK(perfdata_sample(&pd, &r, &s));
		CHECK(s.attr == pd.attrs);
		perfdata_close(&pd);
		make_done(&m);
	}
}

TEST(sample_event_by_identifier)
{
	check_by_id(PERFDATA_S_IDENTIFIER);
}

TEST(sample_event_by_id)
{
	check_by_id(PERFDATA_S_ID);
}

TEST(sample_times_at_different_places)
{
	struct make m = { .event_count = 2 };
	struct perfdata_record r;
	struct perfdata pd;
	uint64_t offset;

	for (uint64_t i = 0; i < 2; i++) {
		m.events[i].ids[0] = 100 + i;
		m.events[i].id_count = 1;
		m.events[i].sample_type = PERFDATA_S_IDENTIFIER | PERFDATA_S_TIME;
	}
	m.events[1].sample_type |= PERFDATA_S_IP | PERFDATA_S_TID;
	put_sample(&m, &m.events[0], 100);
	put_sample(&m, &m.events[1], 101);
	make_open(&m, &pd);
	offset = pd.data_start;
	for (int i = 0; i < 2; i++) {
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK_EQ_U64(perfdata_time(&pd, &r), 4);
	}
	perfdata_close(&pd);
	make_done(&m);
}

/* Several events and nothing to tell them apart: the first one's, with a note. */
TEST(sample_events_without_ids)
{
	struct make m = { .event_count = 2 };
	struct perfdata_record r;
	struct perfdata pd;

	m.events[0].sample_type = m.events[1].sample_type = PERFDATA_S_IP | PERFDATA_S_TIME;
	put_sample(&m, &m.events[0], 0);
	make_open(&m, &pd);
	CHECK(!pd.by_id);
	CHECK_EQ_U64(pd.notes.len, 1);
	CHECK_HAS(pd.notes.at[0], "2 events but no ids");
	r = only_record(&pd);
	check_sample(&pd, &r, &m.events[0]);
	perfdata_close(&pd);
	make_done(&m);
}

TEST(sample_is_not_another_record)
{
	struct make m = { .event_count = 1 };
	struct perfdata_record r;
	struct perfdata_sample s;
	struct perfdata pd;

	m.events[0].sample_type = PERFDATA_S_IP;
	make_end(&m, make_begin(&m, PERFDATA_EXIT, 0));
	make_open(&m, &pd);
	r = only_record(&pd);
	CHECK(!perfdata_sample(&pd, &r, &s));
	perfdata_close(&pd);
	make_done(&m);
}
