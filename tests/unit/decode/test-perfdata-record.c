/* SPDX-License-Identifier: Apache-2.0 */
/* Records other than samples, with and without stamps, in both byte orders, cut everywhere. */
#include "make-perfdata.h"
#include "test.h"

enum { BOTH = 2 };

static struct make stamped(bool swap, uint64_t sample_type)
{
	struct make m = { .swap = swap, .event_count = 1 };

	m.events[0].sample_type = sample_type;
	m.events[0].flags = 1ull << MAKE_SAMPLE_ID_ALL;
	return m;
}

/* pid 21, tid 22, time 23, id 24, stream 25, cpu 26, id 24 */
static void put_stamp(struct make *m, uint64_t type)
{
	if (type & PERFDATA_S_TID) {
		make_u32(&m->data, m->swap, 21);
		make_u32(&m->data, m->swap, 22);
	}
	if (type & PERFDATA_S_TIME)
		make_u64(&m->data, m->swap, 23);
	if (type & PERFDATA_S_ID)
		make_u64(&m->data, m->swap, 24);
	if (type & PERFDATA_S_STREAM_ID)
		make_u64(&m->data, m->swap, 25);
	if (type & PERFDATA_S_CPU) {
		make_u32(&m->data, m->swap, 26);
		make_u32(&m->data, m->swap, 0);
	}
	if (type & PERFDATA_S_IDENTIFIER)
		make_u64(&m->data, m->swap, 24);
}

static void put_u32s(struct make *m, uint32_t a, uint32_t b)
{
	make_u32(&m->data, m->swap, a);
	make_u32(&m->data, m->swap, b);
}

static void put_u64s(struct make *m, uint64_t a, uint64_t b)
{
	make_u64(&m->data, m->swap, a);
	make_u64(&m->data, m->swap, b);
}

static void check_stamp(const struct perfdata_stamp *s, uint64_t type)
{
	CHECK_EQ_U64(s->pid, type & PERFDATA_S_TID ? 21 : 0);
	CHECK_EQ_U64(s->tid, type & PERFDATA_S_TID ? 22 : 0);
	CHECK_EQ_U64(s->time_ns, type & PERFDATA_S_TIME ? 23 : 0);
	CHECK_EQ_INT(s->has_time, (type & PERFDATA_S_TIME) != 0);
	CHECK_EQ_U64(s->id, type & (PERFDATA_S_ID | PERFDATA_S_IDENTIFIER) ? 24 : 0);
	CHECK_EQ_U64(s->cpu, type & PERFDATA_S_CPU ? 26 : 0);
	CHECK_EQ_INT(s->has_cpu, (type & PERFDATA_S_CPU) != 0);
}

static const uint64_t stamp_bits[] = {
	PERFDATA_S_TID,	      PERFDATA_S_TIME, PERFDATA_S_ID,
	PERFDATA_S_STREAM_ID, PERFDATA_S_CPU,  PERFDATA_S_IDENTIFIER,
};

TEST(record_stamp_of_every_layout)
{
	for (unsigned bits = 0; bits < 64; bits++) {
		for (int swap = 0; swap < BOTH; swap++) {
			uint64_t type = PERFDATA_S_IP;
			struct perfdata_record r;
			struct perfdata_comm comm;
			struct perfdata pd;
			uint64_t offset;
			struct make m;
			size_t at;

			for (unsigned i = 0; i < 6; i++)
				type |= bits >> i & 1 ? stamp_bits[i] : 0;
			m = stamped(swap, type);
			at = make_begin(&m, PERFDATA_COMM, 1 << 13);
			put_u32s(&m, 1, 2);
			make_text(&m, "worker");
			put_stamp(&m, type);
			make_end(&m, at);
			make_open(&m, &pd);
			offset = pd.data_start;
			CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
			CHECK(perfdata_comm(&pd, &r, &comm));
			CHECK_EQ_STR(comm.comm, "worker");
			CHECK_EQ_U64(comm.pid, 1);
			CHECK_EQ_U64(comm.tid, 2);
			CHECK(comm.exec);
			check_stamp(&comm.stamp, type);
			CHECK_EQ_U64(perfdata_time(&pd, &r), type & PERFDATA_S_TIME ? 23 : 0);
			CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_END);
			perfdata_close(&pd);
			make_done(&m);
		}
	}
}

static const uint64_t usual = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_CPU |
			      PERFDATA_S_IDENTIFIER;

static void put_all(struct make *m)
{
	size_t at = make_begin(m, PERFDATA_MMAP, 1);

	put_u32s(m, UINT32_MAX, 0);
	put_u64s(m, 0xffffffff81000000, 0x1000000);
	make_u64(&m->data, m->swap, 0xffffffff81000000);
	make_text(m, "[kernel.kallsyms]_text");
	put_stamp(m, usual);
	make_end(m, at);

	at = make_begin(m, PERFDATA_MMAP2, 2);
	put_u32s(m, 3, 4);
	put_u64s(m, 0x400000, 0x2000);
	make_u64(&m->data, m->swap, 0x1000);
	put_u32s(m, 8, 1);
	put_u64s(m, 1234567890123, 77);
	put_u32s(m, 5, 2);
	make_text(m, "/usr/bin/a b");
	put_stamp(m, usual);
	make_end(m, at);

	at = make_begin(m, PERFDATA_MMAP2, 2 | 1 << 14);
	put_u32s(m, 3, 4);
	put_u64s(m, 0x7f0000000000, 0x3000);
	make_u64(&m->data, m->swap, 0);
	buf_u8(&m->data, 16);
	buf_u8(&m->data, 0);
	buf_u16(&m->data, 0);
	for (uint8_t i = 0; i < 20; i++)
		buf_u8(&m->data, i < 16 ? (uint8_t)(0xa0 + i) : 0);
	put_u32s(m, 5, 2);
	make_text(m, "/usr/lib/libc.so.6");
	put_stamp(m, usual);
	make_end(m, at);

	at = make_begin(m, PERFDATA_FORK, 0);
	put_u32s(m, 5, 3);
	put_u32s(m, 6, 4);
	make_u64(&m->data, m->swap, 99);
	put_stamp(m, usual);
	make_end(m, at);

	at = make_begin(m, PERFDATA_LOST, 0);
	put_u64s(m, 24, 1000);
	put_stamp(m, usual);
	make_end(m, at);

	at = make_begin(m, PERFDATA_LOST_SAMPLES, 0);
	make_u64(&m->data, m->swap, 17);
	put_stamp(m, usual);
	make_end(m, at);
}

static void check_mmaps(const struct perfdata *pd, uint64_t *offset)
{
	struct perfdata_record r;
	struct perfdata_mmap m;

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK_EQ_INT(r.misc, 1);
	CHECK(perfdata_mmap(pd, &r, &m));
	CHECK_EQ_U64(m.pid, UINT32_MAX);
	CHECK_EQ_U64(m.start, 0xffffffff81000000);
	CHECK_EQ_STR(m.path, "[kernel.kallsyms]_text");
	CHECK(!m.has_build_id && !m.prot && !m.inode);
	check_stamp(&m.stamp, usual);

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK(perfdata_mmap(pd, &r, &m));
	CHECK_EQ_U64(m.pid, 3);
	CHECK_EQ_U64(m.tid, 4);
	CHECK_EQ_U64(m.start, 0x400000);
	CHECK_EQ_U64(m.len, 0x2000);
	CHECK_EQ_U64(m.pgoff, 0x1000);
	CHECK_EQ_U64(m.device_major, 8);
	CHECK_EQ_U64(m.device_minor, 1);
	CHECK_EQ_U64(m.inode, 1234567890123);
	CHECK_EQ_U64(m.inode_generation, 77);
	CHECK_EQ_U64(m.prot, 5);
	CHECK_EQ_U64(m.flags, 2);
	CHECK_EQ_STR(m.path, "/usr/bin/a b");
	CHECK(!m.has_build_id);
	check_stamp(&m.stamp, usual);

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK(perfdata_mmap(pd, &r, &m));
	CHECK(m.has_build_id);
	CHECK_EQ_INT(m.build_id_len, 16);
	CHECK_EQ_INT(m.build_id[15], 0xaf);
	CHECK_EQ_U64(m.inode, 0);
	CHECK_EQ_U64(m.prot, 5);
	CHECK_EQ_STR(m.path, "/usr/lib/libc.so.6");
}

static void check_others(const struct perfdata *pd, uint64_t *offset)
{
	struct perfdata_record r;
	struct perfdata_task t;
	struct perfdata_lost l;
	struct perfdata_mmap m;

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK(perfdata_task(pd, &r, &t));
	CHECK(t.pid == 5 && t.ppid == 3 && t.tid == 6 && t.ptid == 4);
	CHECK_EQ_U64(t.time_ns, 99);
	CHECK_EQ_U64(perfdata_time(pd, &r), 23);
	CHECK(!perfdata_mmap(pd, &r, &m));

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK(perfdata_lost(pd, &r, &l));
	CHECK(l.id == 24 && l.lost == 1000);

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	CHECK(perfdata_lost(pd, &r, &l));
	CHECK(l.id == 24 && l.lost == 17);
	check_stamp(&l.stamp, usual);
	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_END);
}

TEST(record_fields)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = stamped(swap, usual);
		struct perfdata pd;
		uint64_t offset;

		put_all(&m);
		make_open(&m, &pd);
		offset = pd.data_start;
		check_mmaps(&pd, &offset);
		check_others(&pd, &offset);
		perfdata_close(&pd);
		make_done(&m);
	}
}

static bool view(const struct perfdata *pd, const struct perfdata_record *r)
{
	struct perfdata_mmap mmap;
	struct perfdata_comm comm;
	struct perfdata_task task;
	struct perfdata_lost lost;

	perfdata_time(pd, r);
	return perfdata_mmap(pd, r, &mmap) || perfdata_comm(pd, r, &comm) ||
	       perfdata_task(pd, r, &task) || perfdata_lost(pd, r, &lost);
}

/* Each record shortened to every size, its last byte at a guard page. */
TEST(record_cut_at_every_length)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = stamped(swap, usual);
		struct perfdata_record r;
		struct perfdata pd;
		uint64_t offset;

		put_all(&m);
		make_open(&m, &pd);
		for (offset = pd.data_start; perfdata_next(&pd, &offset, &r) == PERFDATA_RECORD;) {
			uint32_t size = r.size;
			const uint8_t *body = r.body;

			CHECK(view(&pd, &r));
			for (r.size = 8; r.size < size; r.size++) {
				r.body = test_guard(body, r.size - 8);
				/* Without the bytes of its stamp nothing but a text may be read. */
				if (r.size <= 8 + 32)
					CHECK(!view(&pd, &r) || r.type == PERFDATA_LOST ||
					      r.type == PERFDATA_LOST_SAMPLES ||
					      r.type == PERFDATA_FORK);
				else
					view(&pd, &r);
			}
		}
		perfdata_close(&pd);
		make_done(&m);
	}
}

TEST(record_without_stamp)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = stamped(swap, usual);
		struct perfdata_record r;
		struct perfdata_task t;
		struct perfdata pd;
		uint64_t offset;
		size_t at;

		m.events[0].flags = 0;
		at = make_begin(&m, PERFDATA_EXIT, 0);
		put_u32s(&m, 5, 3);
		put_u32s(&m, 6, 4);
		make_u64(&m.data, m.swap, 99);
		make_end(&m, at);
		at = make_begin(&m, PERFDATA_COMM, 0);
		put_u32s(&m, 5, 6);
		make_text(&m, "x");
		make_end(&m, at);
		make_open(&m, &pd);
		offset = pd.data_start;
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK(perfdata_task(&pd, &r, &t));
		CHECK_EQ_U64(perfdata_time(&pd, &r), 99);
		CHECK(!t.stamp.has_time);
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK_EQ_U64(perfdata_time(&pd, &r), 0);
		CHECK(view(&pd, &r));
		perfdata_close(&pd);
		make_done(&m);
	}
}

/* Two events whose stamps differ: the id at the end of the stamp tells which. */
TEST(record_stamps_of_different_events)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = stamped(swap, PERFDATA_S_TID | PERFDATA_S_IDENTIFIER);
		struct perfdata_record r;
		struct perfdata_comm c;
		struct perfdata pd;
		uint64_t offset;
		size_t at;

		m.event_count = 2;
		m.events[1] = m.events[0];
		m.events[1].sample_type = usual;
		m.events[0].ids[0] = 1;
		m.events[1].ids[0] = 24;
		m.events[0].id_count = m.events[1].id_count = 1;
		at = make_begin(&m, PERFDATA_COMM, 0);
		put_u32s(&m, 5, 6);
		make_text(&m, "x");
		put_stamp(&m, usual);
		make_end(&m, at);
		make_open(&m, &pd);
		CHECK(!pd.same_stamp && pd.by_id);
		offset = pd.data_start;
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK(perfdata_comm(&pd, &r, &c));
		check_stamp(&c.stamp, usual);
		CHECK_EQ_U64(perfdata_time(&pd, &r), 23);
		perfdata_close(&pd);
		make_done(&m);
	}
}

TEST(record_text_without_end)
{
	struct make m = stamped(false, PERFDATA_S_IP);
	struct perfdata_record r;
	struct perfdata_comm c;
	struct perfdata pd;
	uint64_t offset;
	size_t at = make_begin(&m, PERFDATA_COMM, 0);

	put_u32s(&m, 5, 6);
	buf_puts(&m.data, "12345678");
	make_end(&m, at);
	make_open(&m, &pd);
	offset = pd.data_start;
	CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
	CHECK(!perfdata_comm(&pd, &r, &c));
	perfdata_close(&pd);
	make_done(&m);
}

TEST(record_build_id_of_zeros_or_too_long)
{
	for (uint8_t len = 0; len < 255; len = len ? 255 : 20) {
		struct make m = stamped(false, PERFDATA_S_IP);
		struct perfdata_record r;
		struct perfdata_mmap mm;
		struct perfdata pd;
		uint64_t offset;
		size_t at = make_begin(&m, PERFDATA_MMAP2, 2 | 1 << 14);

		put_u32s(&m, 3, 4);
		put_u64s(&m, 0x1000, 0x3000);
		make_u64(&m.data, false, 0);
		buf_u32(&m.data, len);
		memset(buf_room(&m.data, 20), 0, 20);
		put_u32s(&m, 5, 2);
		make_text(&m, "/x");
		make_end(&m, at);
		make_open(&m, &pd);
		offset = pd.data_start;
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
		CHECK(perfdata_mmap(&pd, &r, &mm));
		CHECK(!mm.has_build_id && !mm.build_id_len);
		CHECK_EQ_STR(mm.path, "/x");
		perfdata_close(&pd);
		make_done(&m);
	}
}

/* Records of unknown types are stepped over; payloads outside of a record are skipped with it. */
TEST(record_unknown_types_and_payloads)
{
	for (int swap = 0; swap < BOTH; swap++) {
		struct make m = stamped(swap, PERFDATA_S_IP);
		static const uint32_t expect[] = {
			200, PERFDATA_AUXTRACE, PERFDATA_TRACING_DATA, PERFDATA_TRACING_DATA,
			40,  0x80000001
		};
		struct perfdata_record r;
		struct perfdata pd;
		uint64_t offset;
		size_t at = make_begin(&m, 200, 0);

		put_u64s(&m, 1, 2);
		make_end(&m, at);
		at = make_begin(&m, PERFDATA_AUXTRACE, 0);
		put_u64s(&m, 24, 0);
		put_u64s(&m, 0, 0);
		make_u64(&m.data, swap, 0);
		make_end(&m, at);
		memset(buf_room(&m.data, 24), 0xee, 24);
		at = make_begin(&m, PERFDATA_TRACING_DATA, 0);
		make_u32(&m.data, swap, 13);
		make_end(&m, at);
		memset(buf_room(&m.data, 16), 0xee, 16);
		/* As simpleperf writes it. */
		at = make_begin(&m, PERFDATA_TRACING_DATA, 0);
		make_u32(&m.data, swap, 4);
		make_u32(&m.data, swap, 0);
		make_end(&m, at);
		make_end(&m, make_begin(&m, 40, 0));
		make_end(&m, make_begin(&m, 0x80000001, 0));
		make_open(&m, &pd);
		offset = pd.data_start;
		for (size_t i = 0; i < sizeof(expect) / sizeof(expect[0]); i++) {
			CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_RECORD);
			CHECK_EQ_U64(r.type, expect[i]);
			CHECK(!view(&pd, &r));
		}
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_END);
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_END);
		perfdata_close(&pd);
		make_done(&m);
	}
}

TEST(record_impossible_sizes)
{
	static const struct {
		uint32_t type;
		uint16_t size;
		uint64_t payload;
	} bad[] = {
		{ 9, 0, 0 },
		{ 9, 7, 0 },
		{ 9, 0xffff, 0 },
		{ PERFDATA_AUXTRACE, 8, 0 },
		{ PERFDATA_AUXTRACE, 16, 9 },
		{ PERFDATA_AUXTRACE, 16, UINT64_MAX },
		{ PERFDATA_TRACING_DATA, 12, UINT32_MAX },
		{ PERFDATA_TRACING_DATA, 8, 0 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct make m = stamped(false, PERFDATA_S_IP);
		struct perfdata_record r = { .type = 4242 };
		struct perfdata pd;
		uint64_t offset;

		buf_u32(&m.data, bad[i].type);
		buf_u16(&m.data, 0);
		buf_u16(&m.data, bad[i].size);
		buf_u64(&m.data, bad[i].payload);
		make_open(&m, &pd);
		offset = pd.data_start;
		CHECK_EQ_INT(perfdata_next(&pd, &offset, &r), PERFDATA_DAMAGED);
		CHECK_EQ_U64(offset, pd.data_start);
		CHECK_EQ_U64(r.type, 4242);
		perfdata_close(&pd);
		make_done(&m);
	}
}
