/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the header, the attributes and the feature sections of a perf.data file. */
#include "decode/perfdata-write.h"

#include <assert.h>

enum {
	HEADER_BYTES = 104,
	SECTION_BYTES = 16, /* offset and size */
	ATTR_SIZE_AT = 4,   /* of the size field in an attribute */
	NAME_PAD = 64,	    /* strings and file names in features */
};

/* All attributes get the size of the largest: readers step through them with one size. */
static uint64_t attr_bytes(const struct perfdata_new_event *events, size_t count)
{
	uint64_t most = 64;

	for (size_t i = 0; i < count; i++)
		if (events[i].attr.len > most)
			most = events[i].attr.len;
	return (most + 7) & ~7ull;
}

static void put_attr(struct buf *out, const struct perfdata_new_event *e, uint64_t size)
{
	uint8_t *to = buf_room(out, size);
	uint8_t le[4] = { (uint8_t)size, (uint8_t)(size >> 8), (uint8_t)(size >> 16), 0 };

	memset(to, 0, size);
	memcpy(to, e->attr.at, e->attr.len);
	memcpy(to + ATTR_SIZE_AT, le, sizeof(le));
}

void perfdata_put_header(struct buf *out, const struct perfdata_new_event *events, size_t count,
			 uint64_t data_bytes, const uint64_t feature_bits[4])
{
	uint64_t size = attr_bytes(events, count);
	uint64_t attrs_bytes = count * (size + SECTION_BYTES);
	uint64_t ids_at = HEADER_BYTES + attrs_bytes, data_at = ids_at;

	for (size_t i = 0; i < count; i++)
		data_at += events[i].id_count * 8;
	buf_puts(out, "PERFILE2");
	buf_u64(out, HEADER_BYTES);
	buf_u64(out, size + SECTION_BYTES);
	buf_u64(out, HEADER_BYTES);
	buf_u64(out, attrs_bytes);
	buf_u64(out, data_at);
	buf_u64(out, data_bytes);
	buf_u64(out, 0); /* event types, which nobody has written for long */
	buf_u64(out, 0);
	for (int i = 0; i < 4; i++)
		buf_u64(out, feature_bits[i]);
	for (size_t i = 0; i < count; i++) {
		put_attr(out, &events[i], size);
		buf_u64(out, ids_at);
		buf_u64(out, events[i].id_count * 8);
		ids_at += events[i].id_count * 8;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; k < events[i].id_count; k++)
			buf_u64(out, events[i].ids[k]);
}

static void section_begin(struct perfdata_features *f, enum perfdata_feature which)
{
	assert((unsigned)which < PERFDATA_F_COUNT);
	buf_align(&f->bytes, 8);
	f->bits[which / 64] |= 1ull << (which % 64);
	f->sections[which].start = f->bytes.len;
}

static void section_end(struct perfdata_features *f, enum perfdata_feature which)
{
	f->sections[which].len = f->bytes.len - f->sections[which].start;
}

static size_t padded_name(size_t len)
{
	return (len + NAME_PAD - 1) & ~(size_t)(NAME_PAD - 1);
}

static void put_padded(struct buf *out, const char *text, size_t len, size_t size)
{
	uint8_t *to = buf_room(out, size);

	memset(to, 0, size);
	memcpy(to, text, len);
}

/* A string of a feature: its padded length, its bytes, zeros. */
static void put_string(struct buf *out, const char *text)
{
	size_t len = strlen(text), size = padded_name(len + 1);

	buf_u32(out, (uint32_t)size);
	put_padded(out, text, len, size);
}

void perfdata_add_text(struct perfdata_features *f, enum perfdata_feature which, const char *text)
{
	section_begin(f, which);
	put_string(&f->bytes, text);
	section_end(f, which);
}

void perfdata_add_nrcpus(struct perfdata_features *f, uint32_t available, uint32_t online)
{
	section_begin(f, PERFDATA_F_NRCPUS);
	buf_u32(&f->bytes, available);
	buf_u32(&f->bytes, online);
	section_end(f, PERFDATA_F_NRCPUS);
}

void perfdata_add_u64(struct perfdata_features *f, enum perfdata_feature which, uint64_t value)
{
	section_begin(f, which);
	buf_u64(&f->bytes, value);
	section_end(f, which);
}

void perfdata_add_cmdline(struct perfdata_features *f, char *const *argv)
{
	uint32_t count = 0;

	while (argv[count])
		count++;
	section_begin(f, PERFDATA_F_CMDLINE);
	buf_u32(&f->bytes, count);
	for (uint32_t i = 0; i < count; i++)
		put_string(&f->bytes, argv[i]);
	section_end(f, PERFDATA_F_CMDLINE);
}

void perfdata_add_event_desc(struct perfdata_features *f, const struct perfdata_new_event *events,
			     size_t count)
{
	uint64_t size = attr_bytes(events, count);

	section_begin(f, PERFDATA_F_EVENT_DESC);
	buf_u32(&f->bytes, (uint32_t)count);
	buf_u32(&f->bytes, (uint32_t)size);
	for (size_t i = 0; i < count; i++) {
		put_attr(&f->bytes, &events[i], size);
		buf_u32(&f->bytes, (uint32_t)events[i].id_count);
		put_string(&f->bytes, events[i].name);
		for (size_t k = 0; k < events[i].id_count; k++)
			buf_u64(&f->bytes, events[i].ids[k]);
	}
	section_end(f, PERFDATA_F_EVENT_DESC);
}

void perfdata_add_sample_time(struct perfdata_features *f, uint64_t first_ns, uint64_t last_ns)
{
	section_begin(f, PERFDATA_F_SAMPLE_TIME);
	buf_u64(&f->bytes, first_ns);
	buf_u64(&f->bytes, last_ns);
	section_end(f, PERFDATA_F_SAMPLE_TIME);
}

/* An entry: record header, pid, 20 bytes of id, its length, 3 spare bytes, padded file name. */
static void put_build_id(struct buf *out, const struct perfdata_build_id *id)
{
	enum { FIXED = 8 + 4 + 24, MISC_HAS_SIZE = 1 << 15, PATH_MAX_BYTES = 4095 };
	size_t len = strnlen(id->path, PATH_MAX_BYTES), name = padded_name(len + 1);
	uint8_t bytes[24] = { 0 };

	memcpy(bytes, id->id, id->id_len < 20 ? id->id_len : 20);
	bytes[20] = id->id_len;
	buf_u32(out, PERFDATA_BUILD_ID);
	buf_u16(out, (uint16_t)(id->misc | MISC_HAS_SIZE));
	buf_u16(out, (uint16_t)(FIXED + name));
	buf_u32(out, (uint32_t)id->pid);
	buf_add(out, bytes, sizeof(bytes));
	put_padded(out, id->path, len, name);
}

void perfdata_add_build_ids(struct perfdata_features *f, const struct perfdata_build_id *ids,
			    size_t count)
{
	section_begin(f, PERFDATA_F_BUILD_ID);
	for (size_t i = 0; i < count; i++)
		put_build_id(&f->bytes, &ids[i]);
	section_end(f, PERFDATA_F_BUILD_ID);
}

static bool has_feature(const struct perfdata_features *f, unsigned bit)
{
	return f->bits[bit / 64] >> (bit % 64) & 1;
}

void perfdata_put_features(struct buf *out, const struct perfdata_features *f, uint64_t file_offset)
{
	uint64_t first = file_offset;

	for (unsigned bit = 0; bit < PERFDATA_F_COUNT; bit++)
		first += has_feature(f, bit) ? SECTION_BYTES : 0;
	for (unsigned bit = 0; bit < PERFDATA_F_COUNT; bit++) {
		if (!has_feature(f, bit))
			continue;
		buf_u64(out, first + f->sections[bit].start);
		buf_u64(out, f->sections[bit].len);
	}
	buf_add(out, f->bytes.at, f->bytes.len);
}

void perfdata_features_done(struct perfdata_features *f)
{
	buf_done(&f->bytes);
	memset(f->bits, 0, sizeof(f->bits));
}
