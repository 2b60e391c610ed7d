/* SPDX-License-Identifier: Apache-2.0 */
/* Opens a perf.data file: magic, sections, feature table. */
#include "decode/perfdata.h"

#include <stdarg.h>

#include "decode/perfdata-private.h"

enum {
	PIPE_HEADER_BYTES = 16,
	HEADER_MIN_BYTES = 72, /* up to the features, which the first versions did not have */
	HEADER_BYTES = 104,
	SECTION_BYTES = 16,
};

struct file_header {
	uint64_t size, attr_size;
	uint64_t attrs_offset, attrs_size;
	uint64_t data_offset, data_size;
	uint64_t bits[4];
};

void perfdata_note(struct perfdata *pd, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	vec_add(&pd->notes, arena_strndup(&pd->arena, buf_str(&text), text.len));
	buf_done(&text);
}

static bool check_magic(struct perfdata *pd, struct err *err)
{
	struct buf shown = { 0 };

	if (pd->len < PIPE_HEADER_BYTES)
		return err_set(err, ERR_FORMAT, "%s is no perf.data file: %llu bytes are too few",
			       pd->name, (unsigned long long)pd->len);
	if (!memcmp(pd->bytes, "PERFILE2", 8)) {
		pd->swap = false;
	} else if (!memcmp(pd->bytes, "2ELIFREP", 8)) {
		pd->swap = true;
	} else if (!memcmp(pd->bytes, "PERFFILE", 8)) {
		return err_set(err, ERR_UNSUPPORTED,
			       "%s is a perf.data file of version 1, from before 2010", pd->name);
	} else {
		str_escape(&shown, (struct str){ (const char *)pd->bytes, 8 });
		err_set(err, ERR_FORMAT, "%s is no perf.data file: it starts with \"%s\"", pd->name,
			buf_str(&shown));
		buf_done(&shown);
		return false;
	}
	return true;
}

/*
 * The feature bits are an array of unsigned long: a writer of 32 bits and the other byte order has
 * swapped the halves. Every writer sets HOSTNAME, which tells.
 */
static void order_bits(const struct perfdata *pd, uint64_t bits[4])
{
	uint64_t hostname = 1ull << PERFDATA_F_HOSTNAME;

	if (!pd->swap || bits[0] & hostname || !(bits[0] >> 32 & hostname))
		return;
	for (int i = 0; i < 4; i++)
		bits[i] = bits[i] << 32 | bits[i] >> 32;
}

static bool read_header(struct perfdata *pd, struct file_header *h, struct err *err)
{
	struct cursor c;

	c = perfdata_cursor(pd, 8, pd->len - 8);
	*h = (struct file_header){ .size = cursor_u64(&c) };
	if (h->size == PIPE_HEADER_BYTES) {
		err_set(err, ERR_UNSUPPORTED,
			"%s was written to a pipe, which this version cannot read", pd->name);
		return err_hint(err,
				"record with perf record -o FILE, or convert it with "
				"perf inject -i %s -o FILE",
				pd->name);
	}
	if (h->size < HEADER_MIN_BYTES || h->size > pd->len)
		return err_set(
			err, ERR_FORMAT,
			"%s: header size %llu at offset 8 is out of range (file of %llu bytes)",
			pd->name, (unsigned long long)h->size, (unsigned long long)pd->len);
	c = perfdata_cursor(pd, 16, h->size - 16);
	h->attr_size = cursor_u64(&c);
	h->attrs_offset = cursor_u64(&c);
	h->attrs_size = cursor_u64(&c);
	h->data_offset = cursor_u64(&c);
	h->data_size = cursor_u64(&c);
	cursor_skip(&c, SECTION_BYTES); /* event types, of no use for long */
	for (int i = 0; i < 4 && h->size >= HEADER_BYTES; i++)
		h->bits[i] = cursor_u64(&c);
	order_bits(pd, h->bits);
	return true;
}

static bool find_data(struct perfdata *pd, const struct file_header *h, struct err *err)
{
	if (h->data_offset < h->size || h->data_offset > pd->len)
		return err_set(
			err, ERR_FORMAT,
			"%s: data section starts at offset %llu, outside the file of %llu bytes",
			pd->name, (unsigned long long)h->data_offset, (unsigned long long)pd->len);
	pd->data_start = h->data_offset;
	pd->data_end = pd->len;
	if (h->data_size && h->data_size <= pd->len - h->data_offset) {
		pd->data_end = h->data_offset + h->data_size;
		return true;
	}
	pd->cut = true;
	if (h->data_size)
		perfdata_note(
			pd,
			"data section at offset %llu should have %llu bytes but the file ends "
			"after %llu of them",
			(unsigned long long)h->data_offset, (unsigned long long)h->data_size,
			(unsigned long long)(pd->len - h->data_offset));
	else
		perfdata_note(pd, "the recording was never closed (data size 0): read to its end");
	return true;
}

/* The table has one row for each bit that is set, in rising order, right behind the data. */
static void find_features(struct perfdata *pd, const struct file_header *h)
{
	struct cursor c = perfdata_cursor(pd, pd->data_end, pd->len - pd->data_end);

	if (pd->cut)
		return;
	for (unsigned bit = 0; bit < PERFDATA_F_COUNT; bit++) {
		uint64_t at = cursor_offset(&c), offset, size;

		if (!(h->bits[bit / 64] >> (bit % 64) & 1))
			continue;
		offset = cursor_u64(&c);
		size = cursor_u64(&c);
		if (c.failed) {
			perfdata_note(pd, "feature table ends early at offset %llu, in feature %u",
				      (unsigned long long)at, bit);
			return;
		}
		if (!perfdata_inside(pd, offset, size)) {
			perfdata_note(pd,
				      "feature %u dropped: offset %llu and size %llu, said at "
				      "offset %llu, reach beyond the file",
				      bit, (unsigned long long)offset, (unsigned long long)size,
				      (unsigned long long)at);
			continue;
		}
		pd->features[bit].offset = offset;
		pd->features[bit].size = size;
	}
}

/*
 * A recording that was never closed lacks its feature bits, but its records tell: perf puts all that
 * comes from the kernel into compressed ones, so no sample stands before the first of them.
 */
static bool holds_compressed(const struct perfdata *pd)
{
	enum { FAR_ENOUGH = 16 << 20 };
	uint64_t offset = pd->data_start;
	struct perfdata_record r;

	while (offset - pd->data_start < FAR_ENOUGH &&
	       perfdata_next(pd, &offset, &r) == PERFDATA_RECORD) {
		if (r.type == PERFDATA_COMPRESSED || r.type == PERFDATA_COMPRESSED2)
			return true;
		if (r.type == PERFDATA_SAMPLE)
			return false;
	}
	return false;
}

static bool refuse_compressed(const struct perfdata *pd, struct err *err)
{
	err_set(err, ERR_UNSUPPORTED,
		"%s is a compressed recording, which this version cannot read", pd->name);
	return err_hint(err,
			"record without -z (--compression-level), or convert it with "
			"perf inject -i %s -o NEW",
			pd->name);
}

static bool open_file(struct perfdata *pd, struct err *err)
{
	struct file_header h;

	if (!check_magic(pd, err) || !read_header(pd, &h, err))
		return false;
	if (h.bits[0] >> PERFDATA_F_COMPRESSED & 1)
		return refuse_compressed(pd, err);
	if (!perfdata_read_attrs(pd, h.attr_size, h.attrs_offset, h.attrs_size, err) ||
	    !find_data(pd, &h, err))
		return false;
	if (holds_compressed(pd))
		return refuse_compressed(pd, err);
	find_features(pd, &h);
	perfdata_plan_layouts(pd);
	perfdata_check_features(pd);
	perfdata_name_events(pd);
	if (pd->features[PERFDATA_F_DIR_FORMAT].size)
		perfdata_note(pd, "recorded as a folder of several files; only this one is read");
	return true;
}

bool perfdata_open(struct perfdata *pd, const char *name, const void *bytes, uint64_t len,
		   struct err *err)
{
	struct perfdata p = { .name = name, .bytes = bytes, .len = len };

	if (!open_file(&p, err)) {
		perfdata_close(&p);
		return false;
	}
	*pd = p;
	return true;
}

void perfdata_close(struct perfdata *pd)
{
	if (!pd)
		return;
	map_done(&pd->ids);
	vec_done(&pd->notes);
	arena_done(&pd->arena);
	*pd = (struct perfdata){ 0 };
}
