/* SPDX-License-Identifier: Apache-2.0 */
/* Opening perf.data files: good ones of both byte orders and all ages, cut ones, hostile ones. */
#include "base/os.h"
#include "make-perfdata.h"
#include "test.h"

static void add_sample(struct make *m, uint64_t ip)
{
	size_t r = make_begin(m, PERFDATA_SAMPLE, 2);

	make_u64(&m->data, m->swap, ip);
	make_end(m, r);
}

static struct make small(bool swap)
{
	struct make m = { .swap = swap, .event_count = 1 };

	m.events[0] = (struct make_event){
		.type = 1,
		.config = 0,
		.period = 3997,
		.sample_type = PERFDATA_S_IP,
		.flags = 1ull << MAKE_FREQ | 1ull << MAKE_EXCLUDE_KERNEL | 1ull << MAKE_INHERIT,
	};
	for (uint64_t i = 0; i < 5; i++)
		add_sample(&m, 0x1000 + i);
	return m;
}

static uint64_t count_records(const struct perfdata *pd, enum perfdata_step *end)
{
	uint64_t offset = pd->data_start, n = 0;
	struct perfdata_record r;

	while ((*end = perfdata_next(pd, &offset, &r)) == PERFDATA_RECORD)
		n++;
	return n;
}

static void check_fields(bool swap)
{
	struct make m = { .swap = swap, .event_count = 2 };
	struct make_event e = {
		.type = 8,
		.config = 0x1122334455667788,
		.period = 12345,
		.sample_type = PERFDATA_S_IDENTIFIER | PERFDATA_S_IP,
		.read_format = 4,
		.flags = 1ull << MAKE_FREQ | 1ull << MAKE_SAMPLE_ID_ALL | 1ull << MAKE_BUILD_ID |
			 1ull << MAKE_USE_CLOCKID,
		.branch = 1 << 17,
		.regs_user = 0xff0fff,
		.regs_intr = 0x1ff,
		.stack_user = 8192,
		.clockid = 4,
		.ids = { 7, 0x8000000000000009 },
		.id_count = 2,
	};
	struct perfdata pd;
	const struct perfdata_attr *a;

	m.events[0] = e;
	m.events[1] = (struct make_event){ .type = 0, .config = 1, .ids = { 11 }, .id_count = 1 };
	make_end(&m, make_begin(&m, PERFDATA_FINISHED_ROUND, 0));
	make_open(&m, &pd);
	CHECK(pd.swap == swap && !pd.cut && !pd.pipe);
	CHECK_EQ_U64(pd.attr_count, 2);
	a = &pd.attrs[0];
	CHECK_EQ_U64(a->type, 8);
	CHECK_EQ_U64(a->size, 128);
	CHECK_EQ_U64(a->config, e.config);
	CHECK_EQ_U64(a->sample_period, 12345);
	CHECK_EQ_U64(a->sample_type, e.sample_type);
	CHECK_EQ_U64(a->read_format, 4);
	CHECK(a->freq && a->sample_id_all && a->build_id && a->use_clockid);
	CHECK(!a->inherit && !a->exclude_user && !a->exclude_kernel && !a->unknown_tail);
	CHECK_EQ_U64(a->branch_sample_type, 1 << 17);
	CHECK_EQ_U64(a->sample_regs_user, 0xff0fff);
	CHECK_EQ_U64(a->sample_regs_intr, 0x1ff);
	CHECK_EQ_U64(a->sample_stack_user, 8192);
	CHECK_EQ_INT(a->clockid, 4);
	CHECK_EQ_U64(a->id_count, 2);
	CHECK_EQ_U64(a->ids[1], 0x8000000000000009);
	CHECK_EQ_STR(a->name, "pmu-8/config=0x1122334455667788/");
	CHECK_EQ_STR(pd.attrs[1].name, "instructions");
	CHECK_EQ_U64(pd.attrs[1].ids[0], 11);
	perfdata_close(&pd);
	make_done(&m);
}

TEST(header_fields)
{
	check_fields(false);
}

TEST(header_fields_swapped)
{
	check_fields(true);
}

/* Attributes of all ages; what newer ones hold beyond what is known matters only when set. */
TEST(header_attr_sizes)
{
	static const uint32_t sizes[] = { 64, 72, 80, 96, 104, 112, 120, 128, 136, 144, 152, 200 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		for (int set = 0; set < 2; set++) {
			struct make m = small(i % 2);
			enum perfdata_step end;
			struct perfdata pd;

			m.events[0].attr_bytes = sizes[i];
			m.events[0].stack_user = 512;
			m.events[0].last_byte = set && sizes[i] > 104 ? 1 : 0;
			make_open(&m, &pd);
			CHECK_EQ_U64(count_records(&pd, &end), 5);
			CHECK_EQ_U64(pd.attrs[0].sample_period, 3997);
			CHECK_EQ_U64(pd.attrs[0].sample_stack_user, sizes[i] >= 96 ? 512 : 0);
			CHECK_EQ_INT(pd.attrs[0].unknown_tail, set && sizes[i] > 144);
			CHECK_EQ_U64(pd.notes.len, set && sizes[i] > 144 ? 1 : 0);
			if (pd.notes.len)
				CHECK_HAS(pd.notes.at[0], "event 0 at offset 104");
			perfdata_close(&pd);
			make_done(&m);
		}
	}
}

static void add_features(struct make *m)
{
	struct buf *b = make_feature(m, PERFDATA_F_BUILD_ID);

	for (int i = 0; i < 2; i++) {
		make_u32(b, m->swap, 0);
		make_u16(b, m->swap, (uint16_t)(2 | (i ? 1 << 15 : 0)));
		make_u16(b, m->swap, 8 + 4 + 24 + 64);
		make_u32(b, m->swap, (uint32_t)-1);
		for (uint8_t k = 0; k < 20; k++)
			buf_u8(b, (uint8_t)(k + 1));
		buf_u32(b, i ? 8 : 0); /* one byte, so in both orders the first */
		memset(buf_room(b, 64), 0, 64);
		memcpy(b->at + b->len - 64, i ? "/bin/b" : "/bin/a", 6);
	}
	make_string(make_feature(m, PERFDATA_F_HOSTNAME), m->swap, "n1");
	make_string(make_feature(m, PERFDATA_F_ARCH), m->swap, "aarch64");
	b = make_feature(m, PERFDATA_F_CMDLINE);
	make_u32(b, m->swap, 3);
	make_string(b, m->swap, "perf");
	make_string(b, m->swap, "record");
	make_string(b, m->swap, "a b");
	b = make_feature(m, PERFDATA_F_EVENT_DESC);
	make_u32(b, m->swap, 1);
	make_u32(b, m->swap, 64);
	memset(buf_room(b, 64), 0, 64);
	make_u32(b, m->swap, 0);
	make_string(b, m->swap, "cpu-clock:u");
	buf_puts(make_feature(m, 60), "what nobody knows yet");
}

static void check_features(bool swap)
{
	struct make m = small(swap);
	struct perfdata_build_id id;
	struct perfdata pd;
	uint64_t at = 0;

	add_features(&m);
	make_open(&m, &pd);
	CHECK_EQ_U64(pd.notes.len, 0);
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME), "n1");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_ARCH), "aarch64");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_CPUID), "");
	CHECK_EQ_STR(perfdata_cmdline(&pd), "perf record a b");
	CHECK_EQ_STR(pd.attrs[0].name, "cpu-clock:u");
	CHECK(pd.features[60].size == 21);
	CHECK(perfdata_next_build_id(&pd, &at, &id));
	CHECK_EQ_STR(id.path, "/bin/a");
	CHECK_EQ_INT(id.id_len, 20);
	CHECK_EQ_INT(id.id[19], 20);
	CHECK_EQ_INT(id.pid, -1);
	CHECK_EQ_INT(id.misc, 2);
	CHECK(perfdata_next_build_id(&pd, &at, &id));
	CHECK_EQ_STR(id.path, "/bin/b");
	CHECK_EQ_INT(id.id_len, 8);
	CHECK_EQ_INT(id.id[7], 8);
	CHECK_EQ_INT(id.id[8], 0);
	CHECK(!perfdata_next_build_id(&pd, &at, &id));
	perfdata_close(&pd);
	make_done(&m);
}

TEST(header_features)
{
	check_features(false);
}

TEST(header_features_swapped)
{
	check_features(true);
}

static bool open_bytes(const struct buf *file, struct perfdata *pd, struct err *err)
{
	return perfdata_open(pd, "made.data", test_guard(file->at, file->len), file->len, err);
}

TEST(header_swapped_bits_of_32_bit_writer)
{
	struct make m = small(true);
	buf_auto file = { 0 };
	uint8_t half[4];
	struct perfdata pd;
	struct err err;

	add_features(&m);
	make_file(&m, &file);
	for (size_t at = MAKE_AT_BITS; at < 104; at += 8) {
		memcpy(half, file.at + at, 4);
		memmove(file.at + at, file.at + at + 4, 4);
		memcpy(file.at + at + 4, half, 4);
	}
	CHECK(open_bytes(&file, &pd, &err));
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME), "n1");
	perfdata_close(&pd);
	make_done(&m);
}

struct damage {
	size_t at;
	uint64_t value;
	enum err_kind kind;
	const char *says;
};

TEST(header_damage_is_named)
{
	static const struct damage all[] = {
		{ MAKE_AT_SIZE, 16, ERR_UNSUPPORTED, "was written to a pipe" },
		{ MAKE_AT_SIZE, 0, ERR_FORMAT, "header size 0 at offset 8" },
		{ MAKE_AT_SIZE, 1ull << 40, ERR_FORMAT, "header size 1099511627776 at offset 8" },
		{ MAKE_AT_ATTR_SIZE, 0, ERR_FORMAT, "attribute size 0 at offset 16" },
		{ MAKE_AT_ATTR_SIZE, 6, ERR_FORMAT, "attribute size 6 at offset 16" },
		{ MAKE_AT_ATTR_SIZE, UINT64_MAX, ERR_FORMAT, "at offset 16 is out of range" },
		{ MAKE_AT_ATTRS_OFFSET, UINT64_MAX - 8, ERR_FORMAT, "attribute section at offset" },
		{ MAKE_AT_ATTRS_SIZE, 144ull << 40, ERR_FORMAT, "reaches beyond the file" },
		{ MAKE_AT_ATTRS_SIZE, UINT64_MAX, ERR_FORMAT, "reaches beyond the file" },
		{ MAKE_AT_ATTRS_SIZE, 100, ERR_FORMAT, "offset 104 with 100 bytes holds no event" },
		{ MAKE_AT_DATA_OFFSET, UINT64_MAX, ERR_FORMAT, "data section starts at offset" },
		{ MAKE_AT_DATA_OFFSET, 8, ERR_FORMAT, "data section starts at offset 8" },
		{ MAKE_AT_BITS, 1ull << PERFDATA_F_COMPRESSED, ERR_UNSUPPORTED,
		  "is a compressed recording" },
	};

	for (int swap = 0; swap < 2; swap++) {
		for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
			struct make m = small(swap);
			buf_auto file = { 0 };
			struct perfdata pd = { .len = 42 };
			struct err err;

			make_file(&m, &file);
			make_set_u64(&file, swap, all[i].at, all[i].value);
			CHECK_MSG(!open_bytes(&file, &pd, &err), "case %zu opened", i);
			CHECK_EQ_INT(err.kind, all[i].kind);
			CHECK_HAS(err.text, all[i].says);
			CHECK_HAS(err.text, "made.data");
			CHECK_EQ_U64(pd.len, 42);
			make_done(&m);
		}
	}
}

TEST(header_is_no_perf_data)
{
	static const char *const texts[] = { "", "PERFILE2", "\177ELF............" };
	struct perfdata pd;
	struct err err;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const uint8_t *bytes = test_guard(texts[i], strlen(texts[i]));

		CHECK(!perfdata_open(&pd, "x", bytes, strlen(texts[i]), &err));
		CHECK_EQ_INT(err.kind, ERR_FORMAT);
		CHECK_HAS(err.text, "x is no perf.data file");
	}
	CHECK_HAS(err.text, "it starts with \"\\x7fELF....\"");
}

TEST(header_ids_out_of_range_are_dropped)
{
	struct make m = small(false);
	buf_auto file = { 0 };
	struct perfdata pd;
	struct err err;

	m.events[0].ids[0] = 1;
	m.events[0].id_count = 1;
	make_file(&m, &file);
	make_set_u64(&file, false, 104 + 128 + 8, 1ull << 43);
	CHECK(open_bytes(&file, &pd, &err));
	CHECK_EQ_U64(pd.attrs[0].id_count, 0);
	CHECK_EQ_U64(pd.notes.len, 1);
	CHECK_HAS(pd.notes.at[0], "ids of event 0 dropped: offset 248 and size 8796093022208");
	perfdata_close(&pd);
	make_done(&m);
}

enum { SHARED_ATTRS = 20000, SHARED_ENTRY = 80 };

/* Many attributes whose ids are the same bytes but for shift bytes from one to the next. */
static void check_shared_ids(uint64_t shift, uint64_t ids)
{
	buf_auto file = { 0 };
	uint64_t read = 0;
	struct perfdata pd;
	struct err err;

	buf_puts(&file, "PERFILE2");
	buf_u64(&file, 104);
	buf_u64(&file, SHARED_ENTRY);
	buf_u64(&file, 104);
	buf_u64(&file, SHARED_ATTRS * SHARED_ENTRY);
	buf_u64(&file, 104 + SHARED_ATTRS * SHARED_ENTRY);
	buf_u64(&file, 0);
	while (file.len < 104)
		buf_u8(&file, 0);
	for (uint64_t i = 0; i < SHARED_ATTRS; i++) {
		memset(buf_room(&file, 64), 0, 64);
		buf_u64(&file, 104 + i * shift);
		buf_u64(&file, ids * 8);
	}
	CHECK_MSG(open_bytes(&file, &pd, &err), "%s", err.text);
	CHECK_EQ_U64(pd.attr_count, SHARED_ATTRS);
	for (size_t i = 0; i < pd.attr_count; i++)
		read += pd.attrs[i].id_count;
	/* As many whole sections as the file could hold one behind the other. */
	CHECK_EQ_U64(read, file.len / 8 / ids * ids);
	CHECK_HAS(pd.notes.at[0], "dropped: offset ");
	CHECK(pd.arena.used_bytes < 100u << 20);
	perfdata_close(&pd);
}

/* They must not cost the square of the file. */
TEST_TIMEOUT(header_overlapping_ids, 20)
{
	check_shared_ids(1, (SHARED_ATTRS - 1) * SHARED_ENTRY / 8);
	check_shared_ids(0, (SHARED_ATTRS - 1) * SHARED_ENTRY / 8);
	check_shared_ids(0, 64);
}

TEST(header_damaged_features_are_dropped)
{
	struct make m = small(false);
	size_t table, sections;
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_build_id id;
	struct err err;
	uint64_t at = 0;

	add_features(&m);
	make_file(&m, &file);
	table = 104 + 144 + m.data.len;
	sections = table + 16 * 6;
	/* One size in the build ids, one offset past the end, one string length of gigabytes. */
	make_set_u32(&file, false, sections + 100 + 4, 0xffff0002);
	make_set_u64(&file, false, table + 16, UINT64_MAX - 3);
	make_set_u32(&file, false, sections + 200 + 68, 0xB0000000);
	make_set_u32(&file, false, sections + 200 + 136, 0x40000000);
	CHECK(open_bytes(&file, &pd, &err));
	CHECK_EQ_U64(pd.notes.len, 4);
	CHECK_HAS(pd.notes.at[0], "feature 3 dropped: offset 18446744073709551612");
	CHECK_HAS(pd.notes.at[1], "feature ARCH at offset 692 dropped: damaged at offset 692");
	CHECK_HAS(pd.notes.at[2], "feature CMDLINE at offset 760 dropped");
	CHECK_HAS(pd.notes.at[3], "feature BUILD_ID at offset 424: damaged at offset 524");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME), "");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_ARCH), "");
	CHECK_EQ_STR(perfdata_cmdline(&pd), "");
	CHECK_EQ_STR(pd.attrs[0].name, "cpu-clock:u");
	CHECK(perfdata_next_build_id(&pd, &at, &id));
	CHECK_EQ_STR(id.path, "/bin/a");
	CHECK(!perfdata_next_build_id(&pd, &at, &id));
	perfdata_close(&pd);
	make_done(&m);
}

TEST(header_damaged_event_desc_keeps_made_names)
{
	struct make m = small(false);
	struct buf *b = make_feature(&m, PERFDATA_F_EVENT_DESC);
	struct perfdata pd;

	make_u32(b, false, UINT32_MAX);
	make_u32(b, false, 0);
	make_u32(b, false, UINT32_MAX);
	make_open(&m, &pd);
	CHECK_EQ_STR(pd.attrs[0].name, "cpu-clock");
	CHECK_EQ_U64(pd.notes.len, 1);
	CHECK_HAS(pd.notes.at[0], "feature EVENT_DESC");
	perfdata_close(&pd);
	make_done(&m);
}

/* A recording that was killed: no data size, no features, the last record half written. */
TEST(header_never_closed)
{
	struct make m = small(false);
	enum perfdata_step end;
	buf_auto file = { 0 };
	struct perfdata pd;
	struct err err;

	make_file(&m, &file);
	make_set_u64(&file, false, MAKE_AT_DATA_SIZE, 0);
	buf_u32(&file, PERFDATA_SAMPLE);
	CHECK(open_bytes(&file, &pd, &err));
	CHECK(pd.cut);
	CHECK_HAS(pd.notes.at[0], "never closed");
	CHECK_EQ_U64(count_records(&pd, &end), 5);
	CHECK_EQ_INT(end, PERFDATA_DAMAGED);
	perfdata_close(&pd);
	make_done(&m);
}

/* perf record -z that was killed: no feature tells, the first record from the kernel does. */
TEST(header_never_closed_and_compressed)
{
	static const uint32_t types[] = { PERFDATA_COMPRESSED, PERFDATA_COMPRESSED2 };

	for (size_t i = 0; i < 2; i++) {
		struct make m = { .event_count = 1 };
		buf_auto file = { 0 };
		struct perfdata pd;
		struct err err;

		m.events[0].sample_type = PERFDATA_S_IP;
		make_end(&m, make_begin(&m, PERFDATA_COMM, 0));
		make_end(&m, make_begin(&m, types[i], 0));
		make_file(&m, &file);
		make_set_u64(&file, false, MAKE_AT_DATA_SIZE, 0);
		CHECK(!open_bytes(&file, &pd, &err));
		CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
		CHECK_HAS(err.text, "made.data is a compressed recording");
		CHECK_HAS(err.hint, "perf inject");
		make_done(&m);
	}
}

TEST(header_one_file_of_a_folder)
{
	struct make m = small(false);
	struct perfdata pd;

	make_u64(make_feature(&m, PERFDATA_F_DIR_FORMAT), false, 1);
	make_open(&m, &pd);
	CHECK_EQ_U64(pd.notes.len, 1);
	CHECK_HAS(pd.notes.at[0], "a folder of several files");
	perfdata_close(&pd);
	make_done(&m);
}

/* Cut at every byte: an error or all whole records before the cut; never a byte beyond. */
static void check_cuts(bool swap)
{
	struct make m = small(swap);
	buf_auto file = { 0 };
	size_t data_at;

	add_features(&m);
	make_file(&m, &file);
	data_at = 104 + 144;
	for (size_t len = 0; len <= file.len; len++) {
		uint64_t whole = len < data_at ? 0 : (len - data_at) / 16;
		enum perfdata_step end;
		struct perfdata pd;
		struct err err;

		if (!perfdata_open(&pd, "cut", test_guard(file.at, len), len, &err)) {
			CHECK_MSG(len < data_at, "not opened with %zu bytes: %s", len, err.text);
			continue;
		}
		CHECK(len >= data_at);
		CHECK_EQ_INT(pd.cut, len < data_at + m.data.len);
		CHECK_EQ_U64(count_records(&pd, &end), whole < 5 ? whole : 5);
		CHECK_EQ_INT(end, pd.cut && (len - data_at) % 16 ? PERFDATA_DAMAGED : PERFDATA_END);
		if (len < file.len)
			CHECK(pd.notes.len > 0);
		perfdata_close(&pd);
	}
	make_done(&m);
}

TEST(header_cut_at_every_length)
{
	check_cuts(false);
}

TEST(header_cut_at_every_length_swapped)
{
	check_cuts(true);
}

TEST(header_names_of_events)
{
	static const struct {
		uint32_t type;
		uint64_t config;
		const char *name;
	} all[] = {
		{ 0, 0, "cycles" },	      { 0, 9, "ref-cycles" },
		{ 0, 77, "hardware:0x4d" },   { 1, 0, "cpu-clock" },
		{ 1, 11, "cgroup-switches" }, { 2, 300, "tracepoint:0x12c" },
		{ 4, 0x11, "raw:0x11" },      { 10, 0x1b, "pmu-10/config=0x1b/" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct make m = small(false);
		struct perfdata pd;

		m.events[0].type = all[i].type;
		m.events[0].config = all[i].config;
		make_open(&m, &pd);
		CHECK_EQ_STR(pd.attrs[0].name, all[i].name);
		perfdata_close(&pd);
		make_done(&m);
	}
}
