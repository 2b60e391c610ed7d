/* SPDX-License-Identifier: Apache-2.0 */
/* What the writer makes, the reader reads, and perf opens without complaint where it is here. */
#include "decode/perfdata-write.h"

#include <unistd.h>

#include "base/os.h"
#include "run-perf.h"
#include "test.h"

enum { EVENTS = 2 };

static const uint64_t usual = PERFDATA_S_IDENTIFIER | PERFDATA_S_IP | PERFDATA_S_TID |
			      PERFDATA_S_TIME | PERFDATA_S_CPU | PERFDATA_S_PERIOD;

struct written {
	struct buf attrs[EVENTS], data, file;
	struct perfdata_new_event events[EVENTS];
	struct perfdata_features features;
	size_t header_bytes;
};

static const uint64_t ids[EVENTS][2] = { { 11, 12 }, { 13, 14 } };

/* Software events, frequency 3997, mmap, comm, task, mmap2 and sample_id_all set. */
static void put_attr(struct buf *b, uint64_t config, size_t bytes)
{
	buf_u32(b, 1);
	buf_u32(b, (uint32_t)bytes);
	buf_u64(b, config);
	buf_u64(b, 3997);
	buf_u64(b, usual);
	buf_u64(b, 4);
	buf_u64(b, 1ull << 8 | 1 << 9 | 1 << 10 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 24);
	while (b->len < bytes)
		buf_u8(b, 0);
}

static void put_sample(struct buf *b, uint64_t id, uint64_t ip, uint64_t time)
{
	buf_u32(b, PERFDATA_SAMPLE);
	buf_u16(b, 2);
	buf_u16(b, 8 + 48);
	buf_u64(b, id);
	buf_u64(b, ip);
	buf_u32(b, 100);
	buf_u32(b, 101);
	buf_u64(b, time);
	buf_u64(b, 1);
	buf_u64(b, 250187);
}

static const struct perfdata_mmap image = {
	.pid = 100,
	.tid = 101,
	.start = 0x400000,
	.len = 0x2000,
	.pgoff = 0x1000,
	.device_major = 8,
	.device_minor = 1,
	.inode = 4711,
	.inode_generation = 3,
	.prot = 5,
	.flags = 2,
	.path = "/no/such/program",
};

static void put_records(struct buf *b)
{
	struct perfdata_style st = { .sample_type = usual, .sample_id_all = true, .id = 11 };
	struct perfdata_mmap with_id = image;

	with_id.has_build_id = true;
	with_id.build_id_len = 20;
	with_id.start = 0x7f0000000000;
	memset(with_id.build_id, 0xab, 20);
	with_id.path = "/no/such/lib.so";
	perfdata_put_comm(b, &st, 100, 100, "main", true, 1000);
	perfdata_put_fork(b, &st, 100, 100, 101, 100, 1001);
	perfdata_put_comm(b, &st, 100, 101, "worker one", false, 1002);
	perfdata_put_mmap2(b, &st, 2, &image, 1003);
	perfdata_put_mmap2(b, &st, 2, &with_id, 1004);
	perfdata_put_finished_init(b);
	for (uint64_t i = 0; i < 10; i++)
		put_sample(b, ids[i % 2][i % 4 / 2], 0x400010 + i, 2000 + i);
	perfdata_put_finished_round(b);
}

static void put_features(struct perfdata_features *f, const struct perfdata_new_event *events)
{
	static const struct perfdata_build_id build_ids[] = {
		{ .id = { 1, 2, 3 },
		  .id_len = 20,
		  .misc = 2,
		  .pid = -1,
		  .path = "/no/such/program" },
		{ .id = { 9, 8 }, .id_len = 8, .misc = 1, .pid = -1, .path = "[kernel.kallsyms]" },
	};
	char prog[] = "./x", arg[] = "it's", *argv[] = { prog, arg, NULL };

	perfdata_add_build_ids(f, build_ids, 2);
	perfdata_add_text(f, PERFDATA_F_HOSTNAME, "n1-host");
	perfdata_add_text(f, PERFDATA_F_OSRELEASE, "6.1.0-culprit");
	perfdata_add_text(f, PERFDATA_F_VERSION, "culprit 0.1.0");
	perfdata_add_text(f, PERFDATA_F_ARCH, "x86_64");
	perfdata_add_nrcpus(f, 8, 6);
	perfdata_add_text(f, PERFDATA_F_CPUDESC, "some CPU");
	perfdata_add_text(f, PERFDATA_F_CPUID, "GenuineNone,6,1,1");
	perfdata_add_u64(f, PERFDATA_F_TOTAL_MEM, 123456);
	perfdata_add_cmdline(f, argv);
	perfdata_add_event_desc(f, events, EVENTS);
	perfdata_add_sample_time(f, 2000, 2009);
}

/* The second attribute is shorter, as an older kernel would have it. */
static void write_all(struct written *w)
{
	*w = (struct written){ 0 };
	put_attr(&w->attrs[0], 0, 128);
	put_attr(&w->attrs[1], 1, 112);
	for (size_t i = 0; i < EVENTS; i++)
		w->events[i] = (struct perfdata_new_event){
			.name = i ? "task-clock:u" : "cpu-clock:u",
			.attr = { buf_str(&w->attrs[i]), w->attrs[i].len },
			.ids = ids[i],
			.id_count = 2,
		};
	put_records(&w->data);
	put_features(&w->features, w->events);
	perfdata_put_header(&w->file, w->events, EVENTS, w->data.len, w->features.bits);
	w->header_bytes = w->file.len;
	buf_add(&w->file, w->data.at, w->data.len);
	perfdata_put_features(&w->file, &w->features, w->file.len);
}

static void written_done(struct written *w)
{
	for (size_t i = 0; i < EVENTS; i++)
		buf_done(&w->attrs[i]);
	buf_done(&w->data);
	buf_done(&w->file);
	perfdata_features_done(&w->features);
}

static struct perfdata open_written(const struct written *w)
{
	struct perfdata pd;
	struct err err;

	CHECK_MSG(perfdata_open(&pd, "w.data", test_guard(w->file.at, w->file.len), w->file.len,
				&err),
		  "%s", err.text);
	return pd;
}

TEST(write_header_and_features)
{
	struct written w;
	struct perfdata pd;
	struct perfdata_build_id id;
	uint64_t at = 0;

	write_all(&w);
	CHECK_EQ_U64(w.header_bytes, 104 + 2 * 144 + 4 * 8);
	pd = open_written(&w);
	CHECK_EQ_U64(pd.notes.len, 0);
	CHECK(!pd.cut);
	CHECK_EQ_U64(pd.attr_count, 2);
	for (size_t i = 0; i < EVENTS; i++) {
		CHECK_EQ_U64(pd.attrs[i].size, 128);
		CHECK_EQ_U64(pd.attrs[i].config, i);
		CHECK_EQ_U64(pd.attrs[i].sample_type, usual);
		CHECK_EQ_U64(pd.attrs[i].id_count, 2);
		CHECK_EQ_U64(pd.attrs[i].ids[1], ids[i][1]);
		CHECK(pd.attrs[i].freq && pd.attrs[i].sample_id_all);
	}
	CHECK_EQ_STR(pd.attrs[0].name, "cpu-clock:u");
	CHECK_EQ_STR(pd.attrs[1].name, "task-clock:u");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME), "n1-host");
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_CPUID), "GenuineNone,6,1,1");
	CHECK_EQ_STR(perfdata_cmdline(&pd), "./x it's");
	CHECK(perfdata_next_build_id(&pd, &at, &id));
	CHECK_EQ_STR(id.path, "/no/such/program");
	CHECK(id.id_len == 20 && id.id[2] == 3);
	CHECK(perfdata_next_build_id(&pd, &at, &id));
	CHECK_EQ_STR(id.path, "[kernel.kallsyms]");
	CHECK(id.id_len == 8 && id.misc == (1 | 1 << 15));
	CHECK(!perfdata_next_build_id(&pd, &at, &id));
	perfdata_close(&pd);
	written_done(&w);
}

static struct perfdata_record next_record(const struct perfdata *pd, uint64_t *offset)
{
	struct perfdata_record r;

	CHECK_EQ_INT(perfdata_next(pd, offset, &r), PERFDATA_RECORD);
	return r;
}

static void check_tasks(const struct perfdata *pd, uint64_t *offset)
{
	struct perfdata_record r = next_record(pd, offset);
	struct perfdata_comm c;
	struct perfdata_task t;

	CHECK(perfdata_comm(pd, &r, &c));
	CHECK_EQ_STR(c.comm, "main");
	CHECK(c.exec && c.stamp.time_ns == 1000 && c.stamp.id == 11 && !c.stamp.has_cpu);
	CHECK_EQ_U64(perfdata_time(pd, &r), 1000);
	r = next_record(pd, offset);
	CHECK(perfdata_task(pd, &r, &t));
	CHECK(t.pid == 100 && t.ppid == 100 && t.tid == 101 && t.ptid == 100);
	CHECK(t.time_ns == 1001 && t.stamp.time_ns == 1001);
	r = next_record(pd, offset);
	CHECK(perfdata_comm(pd, &r, &c));
	CHECK_EQ_STR(c.comm, "worker one");
	CHECK(!c.exec && c.pid == 100 && c.tid == 101);
}

static void check_images(const struct perfdata *pd, uint64_t *offset)
{
	struct perfdata_record r = next_record(pd, offset);
	struct perfdata_mmap m;

	CHECK_EQ_INT(r.misc, 2);
	CHECK(perfdata_mmap(pd, &r, &m));
	CHECK_EQ_STR(m.path, image.path);
	CHECK(m.start == image.start && m.len == image.len && m.pgoff == image.pgoff);
	CHECK(m.inode == 4711 && m.inode_generation == 3 && m.prot == 5 && m.flags == 2);
	CHECK(m.device_major == 8 && m.device_minor == 1 && !m.has_build_id);
	r = next_record(pd, offset);
	CHECK(perfdata_mmap(pd, &r, &m));
	CHECK_EQ_STR(m.path, "/no/such/lib.so");
	CHECK(m.has_build_id && m.build_id_len == 20 && m.build_id[19] == 0xab && !m.inode);
}

TEST(write_records)
{
	struct perfdata_sample s;
	struct perfdata_record r;
	struct written w;
	struct perfdata pd;
	uint64_t offset;

	write_all(&w);
	pd = open_written(&w);
	offset = pd.data_start;
	check_tasks(&pd, &offset);
	check_images(&pd, &offset);
	r = next_record(&pd, &offset);
	CHECK(r.type == PERFDATA_FINISHED_INIT && r.size == 8);
	for (uint64_t i = 0; i < 10; i++) {
		r = next_record(&pd, &offset);
		CHECK(perfdata_sample(&pd, &r, &s));
		CHECK_EQ_U64(s.ip, 0x400010 + i);
		CHECK_EQ_INT(s.attr - pd.attrs, i % 2);
		CHECK(s.time_ns == 2000 + i && s.cpu == 1 && s.period == 250187);
	}
	r = next_record(&pd, &offset);
	CHECK(r.type == PERFDATA_FINISHED_ROUND && r.size == 8);
	CHECK_EQ_U64(offset, pd.data_end);
	perfdata_close(&pd);
	written_done(&w);
}

/* While recording the header says size 0 and no features; the final one has the same length. */
TEST(write_header_twice)
{
	static const uint64_t none[4];
	buf_auto open = { 0 };
	struct perfdata pd;
	struct written w;
	struct err err;

	write_all(&w);
	perfdata_put_header(&open, w.events, EVENTS, 0, none);
	CHECK_EQ_U64(open.len, w.header_bytes);
	buf_add(&open, w.data.at, w.data.len);
	CHECK(perfdata_open(&pd, "open.data", open.at, open.len, &err));
	CHECK(pd.cut && pd.data_end == open.len);
	CHECK_EQ_STR(pd.attrs[0].name, "cpu-clock");
	perfdata_close(&pd);
	written_done(&w);
}

TEST(write_stamps_of_every_layout)
{
	static const uint64_t bits[] = { PERFDATA_S_TID, PERFDATA_S_TIME,
					 PERFDATA_S_ID,	 PERFDATA_S_STREAM_ID,
					 PERFDATA_S_CPU, PERFDATA_S_IDENTIFIER };

	for (unsigned set = 0; set < 64; set++) {
		struct perfdata_style st = { .sample_type = PERFDATA_S_IP,
					     .sample_id_all = true,
					     .id = 5 };
		struct perfdata_new_event event = { .name = "x" };
		static const uint64_t none[4];
		buf_auto attr = { 0 }, data = { 0 }, file = { 0 };
		struct perfdata_record r;
		struct perfdata_comm c;
		struct perfdata pd;
		struct err err;
		uint64_t offset;

		for (unsigned i = 0; i < 6; i++)
			st.sample_type |= set >> i & 1 ? bits[i] : 0;
		put_attr(&attr, 0, 128);
		memcpy(attr.at + 24, &st.sample_type, 8);
		event.attr = (struct str){ buf_str(&attr), attr.len };
		perfdata_put_comm(&data, &st, 1, 2, "1234567", false, 77);
		CHECK_EQ_U64(data.len, 8 + 8 + 8 + 8 * (size_t)__builtin_popcount(set));
		perfdata_put_header(&file, &event, 1, data.len, none);
		buf_add(&file, data.at, data.len);
		CHECK(perfdata_open(&pd, "s", file.at, file.len, &err));
		offset = pd.data_start;
		r = next_record(&pd, &offset);
		CHECK(perfdata_comm(&pd, &r, &c));
		CHECK_EQ_STR(c.comm, "1234567");
		CHECK_EQ_U64(c.stamp.tid, set & 1 ? 2 : 0);
		CHECK_EQ_U64(c.stamp.time_ns, set & 2 ? 77 : 0);
		CHECK_EQ_U64(c.stamp.id, set & (4 | 32) ? 5 : 0);
		perfdata_close(&pd);
	}
}

TEST(write_long_texts_are_cut)
{
	struct perfdata_style st = { .sample_id_all = false };
	struct perfdata_mmap m = image;
	buf_auto out = { 0 }, path = { 0 };

	for (int i = 0; i < 70000; i++)
		buf_u8(&path, 'p');
	m.path = buf_str(&path);
	perfdata_put_mmap2(&out, &st, 2, &m, 0);
	CHECK_EQ_U64(out.len, 8 + 32 + 24 + 8 + 4096);
	CHECK_EQ_INT(out.at[6] | out.at[7] << 8, out.len);
	CHECK_EQ_INT(out.at[out.len - 1], 0);
}

TEST(write_perf_reads_it)
{
	const char *dir = test_tmpdir();
	char_auto path = mem_printf("%s/w.data", dir);
	struct written w;
	struct err err;
	buf_auto text = { 0 };

	perf_needed();
	write_all(&w);
	CHECK_MSG(os_save_file(path, w.file.at, w.file.len, &err), "%s", err.text);
	perf_run(&text,
		 "script --no-demangle -F comm,tid,time,cpu,event,ip,sym --ns "
		 "--show-mmap-events --show-task-events -i %s",
		 path);
	CHECK_HAS(buf_str(&text), "PERF_RECORD_COMM exec: main:100/100");
	CHECK_HAS(buf_str(&text), "PERF_RECORD_COMM: worker one:100/101");
	CHECK_HAS(buf_str(&text), "PERF_RECORD_FORK(100:101):(100:100)");
	CHECK_HAS(buf_str(&text), "PERF_RECORD_MMAP2 100/101: [0x400000(0x2000) @ 0x1000 08:01 "
				  "4711 3]: r-xp /no/such/program");
	CHECK_HAS(buf_str(&text), "<abababababababababababababababababababab>]: r-xp "
				  "/no/such/lib.so");
	CHECK_HAS(buf_str(&text), "0.000002009:");
	CHECK_EQ_U64(count_of(buf_str(&text), "cpu-clock:u:"), 5);
	CHECK_EQ_U64(count_of(buf_str(&text), "task-clock:u:"), 5);
	buf_clear(&text);
	perf_run(&text, "report --header-only -I -i %s", path);
	CHECK_HAS(buf_str(&text), "# hostname : n1-host\n");
	CHECK_HAS(buf_str(&text), "# os release : 6.1.0-culprit\n");
	CHECK_HAS(buf_str(&text), "# perf version : culprit 0.1.0\n");
	CHECK_HAS(buf_str(&text), "# nrcpus online : 6\n# nrcpus avail : 8\n");
	CHECK_HAS(buf_str(&text), "# cpudesc : some CPU\n");
	CHECK_HAS(buf_str(&text), "# total memory : 123456 kB\n");
	CHECK_HAS(buf_str(&text), "# cmdline : ./x it\\'s \n");
	CHECK_HAS(buf_str(&text), "# event : name = cpu-clock:u, , id = { 11, 12 }, type = 1");
	CHECK_HAS(buf_str(&text), "# time of first sample : 0.000002\n");
	buf_clear(&text);
	perf_run(&text, "buildid-list -i %s", path);
	CHECK_HAS(buf_str(&text), "0102030000000000000000000000000000000000 /no/such/program\n");
	CHECK_HAS(buf_str(&text), "\n0908000000000000  ");
	written_done(&w);
}
