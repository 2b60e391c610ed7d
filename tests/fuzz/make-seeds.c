/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the first files of tests/corpus/perfdata and elf-id: small, of both byte orders, of many
 * shapes. Usage: make-seeds tests/corpus; files of the same name there are replaced. */
#include <stdio.h>
#include <sys/stat.h>

#include "base/os.h"
#include "make-elf.h"
#include "make-perfdata.h"

enum {
	USUAL = PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME | PERFDATA_S_CPU |
		PERFDATA_S_PERIOD
};

static void u64s(struct make *m, size_t count, uint64_t value)
{
	for (size_t i = 0; i < count; i++)
		make_u64(&m->data, m->swap, value);
}

static void put_stamp(struct make *m)
{
	u64s(m, m->events[0].sample_type & PERFDATA_S_STREAM_ID ? 6 : 4, 1);
}

static void put_tasks(struct make *m)
{
	size_t at = make_begin(m, PERFDATA_COMM, 1 << 13);

	u64s(m, 1, 0x100000001);
	make_text(m, "seed");
	put_stamp(m);
	make_end(m, at);
	at = make_begin(m, PERFDATA_FORK, 0);
	u64s(m, 3, 2);
	put_stamp(m);
	make_end(m, at);
	at = make_begin(m, PERFDATA_LOST, 0);
	u64s(m, 2, 3);
	put_stamp(m);
	make_end(m, at);
	at = make_begin(m, PERFDATA_AUXTRACE, 0);
	u64s(m, 1, 16);
	u64s(m, 4, 0);
	make_end(m, at);
	u64s(m, 2, 0);
	make_end(m, make_begin(m, PERFDATA_FINISHED_ROUND, 0));
}

static void put_mmaps(struct make *m)
{
	for (unsigned kind = 0; kind < 3; kind++) {
		size_t at = make_begin(m, kind ? PERFDATA_MMAP2 : PERFDATA_MMAP,
				       (uint16_t)(2 | (kind == 2 ? 1 << 14 : 0)));

		u64s(m, 4, 0x1000);
		if (kind == 2) {
			buf_u32(&m->data, 20);
			for (uint8_t i = 0; i < 20; i++)
				buf_u8(&m->data, i);
			u64s(m, 1, 5);
		} else if (kind == 1) {
			u64s(m, 4, 5);
		}
		make_text(m, "/bin/seed");
		put_stamp(m);
		make_end(m, at);
	}
}

/* All fields there are, each of the shortest form that has something in it. */
static void put_rich_sample(struct make *m, const struct make_event *e)
{
	size_t at = make_begin(m, PERFDATA_SAMPLE, 2);

	u64s(m, 1, e->ids[0]);
	u64s(m, 4, 0x401000);
	u64s(m, 1, e->ids[0]);
	u64s(m, 3, 1);
	if (e->sample_type & PERFDATA_S_READ) {
		u64s(m, 1, 2); /* of a group */
		u64s(m, 2 + 2 * 3, 7);
	}
	u64s(m, 1, 3); /* chain */
	u64s(m, 1, (uint64_t)-512);
	u64s(m, 2, 0x401000);
	make_u32(&m->data, m->swap, 4); /* RAW */
	make_u32(&m->data, m->swap, 0);
	u64s(m, 1, 1); /* branches */
	u64s(m, 4, 0x401000);
	u64s(m, 1, 2); /* user registers */
	u64s(m, 3, 9);
	u64s(m, 1, 16); /* stack */
	u64s(m, 2, 0x401000);
	u64s(m, 1, 8);
	u64s(m, 3, 4); /* weight, source, transaction */
	u64s(m, 1, 1); /* interrupted registers */
	u64s(m, 1, 9);
	u64s(m, 4, 4096);
	u64s(m, 1, 8); /* AUX */
	u64s(m, 1, 0);
	make_end(m, at);
}

static void put_features(struct make *m)
{
	struct buf *b = make_feature(m, PERFDATA_F_BUILD_ID);

	make_u32(b, m->swap, 0);
	make_u16(b, m->swap, (uint16_t)(2 | 1 << 15));
	make_u16(b, m->swap, 8 + 4 + 24 + 16);
	make_u32(b, m->swap, 1);
	for (uint8_t i = 0; i < 20; i++)
		buf_u8(b, i);
	buf_u32(b, 20);
	buf_add(b, "/bin/seed\0\0\0\0\0\0", 16);
	make_string(make_feature(m, PERFDATA_F_HOSTNAME), m->swap, "seed");
	b = make_feature(m, PERFDATA_F_CMDLINE);
	make_u32(b, m->swap, 1);
	make_string(b, m->swap, "seed");
	b = make_feature(m, PERFDATA_F_EVENT_DESC);
	make_u32(b, m->swap, 1);
	make_u32(b, m->swap, 64);
	memset(buf_room(b, 64), 0, 64);
	make_u32(b, m->swap, 1);
	make_string(b, m->swap, "cpu-clock:u");
	make_u64(b, m->swap, 100);
}

static bool save_bytes(const char *path, const struct buf *bytes)
{
	struct err err;

	if (os_save_file(path, bytes->at, bytes->len, &err) && !chmod(path, 0644))
		return true;
	fprintf(stderr, "make-seeds: cannot write %s\n", path);
	return false;
}

static bool save(struct make *m, const char *folder, const char *name)
{
	char_auto path = mem_printf("%s/perfdata/%s%s", folder, name, m->swap ? "-swapped" : "");
	buf_auto file = { 0 };

	make_file(m, &file);
	make_done(m);
	return save_bytes(path, &file);
}

static bool simple(const char *folder, bool swap)
{
	struct make m = { .swap = swap, .event_count = 1 };

	m.events[0] = (struct make_event){ .type = 1,
					   .sample_type = USUAL | PERFDATA_S_CALLCHAIN |
							  PERFDATA_S_IDENTIFIER,
					   .flags = 1ull << MAKE_SAMPLE_ID_ALL,
					   .ids = { 100 },
					   .id_count = 1 };
	put_tasks(&m);
	put_mmaps(&m);
	for (size_t i = 0; i < 3; i++) {
		size_t at = make_begin(&m, PERFDATA_SAMPLE, 2);

		u64s(&m, 6, 100);
		u64s(&m, 1, i);
		u64s(&m, i, 0x401000);
		make_end(&m, at);
	}
	put_features(&m);
	return save(&m, folder, "simple");
}

static bool rich(const char *folder, bool swap)
{
	struct make m = { .swap = swap, .event_count = 2 };

	m.events[0] = (struct make_event){
		.type = 4,
		.config = 0x11,
		.sample_type = ((1u << 25) - 1) & ~(uint64_t)PERFDATA_S_WEIGHT,
		.read_format = 31,
		.branch = 1 << 17,
		.regs_user = 7,
		.regs_intr = 1,
		.stack_user = 16,
		.attr_bytes = 136,
		.flags = 1ull << MAKE_SAMPLE_ID_ALL,
		.ids = { 100, 101 },
		.id_count = 2,
	};
	m.events[1] = m.events[0];
	m.events[1].sample_type &= ~(uint64_t)PERFDATA_S_READ;
	m.events[1].ids[0] = 200;
	m.events[1].ids[1] = 201;
	put_rich_sample(&m, &m.events[0]);
	put_rich_sample(&m, &m.events[1]);
	put_tasks(&m);
	return save(&m, folder, "rich");
}

static bool old(const char *folder, bool swap)
{
	struct make m = { .swap = swap, .event_count = 1 };
	size_t at;

	m.events[0] = (struct make_event){ .sample_type = USUAL, .attr_bytes = 64 };
	at = make_begin(&m, PERFDATA_EXIT, 0);
	u64s(&m, 3, 2);
	make_end(&m, at);
	at = make_begin(&m, PERFDATA_SAMPLE, 1);
	u64s(&m, 5, 2);
	make_end(&m, at);
	return save(&m, folder, "old");
}

/* Thirty events whose ids are all the same bytes, as many as the file has. */
static bool shared_ids(const char *folder)
{
	enum { EVENTS = 30, ENTRY = 80, HEADER = 104 };
	char_auto path = mem_printf("%s/perfdata/shared-ids", folder);
	buf_auto file = { 0 };

	buf_puts(&file, "PERFILE2");
	buf_u64(&file, HEADER);
	buf_u64(&file, ENTRY);
	buf_u64(&file, HEADER);
	buf_u64(&file, EVENTS * ENTRY);
	buf_u64(&file, HEADER + EVENTS * ENTRY);
	while (file.len < HEADER)
		buf_u8(&file, 0);
	for (int i = 0; i < EVENTS; i++) {
		memset(buf_room(&file, ENTRY - 16), 0, ENTRY - 16);
		buf_u64(&file, HEADER);
		buf_u64(&file, EVENTS * ENTRY);
	}
	return save_bytes(path, &file);
}

static bool elf(const char *folder)
{
	static const uint8_t id[20] = { 1, 2, 3 };

	for (unsigned i = 0; i < 16; i++) {
		struct make_elf k = { i & 1, i & 2, i & 4, i & 8 ? 8 : 4 };
		char_auto path = mem_printf("%s/elf-id/%s%s%s%s", folder, k.is_64 ? "64" : "32",
					    k.swap ? "-swapped" : "",
					    k.by_section ? "-section" : "-segment",
					    k.align == 8 ? "-align8" : "");
		buf_auto file = { 0 };

		make_elf_file(&file, k, id, sizeof(id));
		if (!save_bytes(path, &file))
			return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	bool ok = argc == 2 && elf(argv[1]) && shared_ids(argv[1]);

	for (int swap = 0; ok && swap < 2; swap++)
		ok = simple(argv[1], swap) && rich(argv[1], swap) && old(argv[1], swap);
	if (argc != 2)
		fprintf(stderr, "usage: make-seeds FOLDER\n");
	return ok ? 0 : 1;
}
