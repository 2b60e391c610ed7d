/* SPDX-License-Identifier: Apache-2.0 */
/* Builds perf.data files byte by byte. */
#include "make-perfdata.h"

#include "base/os.h"

void make_u16(struct buf *b, bool swap, uint16_t v)
{
	buf_u16(b, swap ? __builtin_bswap16(v) : v);
}

void make_u32(struct buf *b, bool swap, uint32_t v)
{
	buf_u32(b, swap ? __builtin_bswap32(v) : v);
}

void make_u64(struct buf *b, bool swap, uint64_t v)
{
	buf_u64(b, swap ? __builtin_bswap64(v) : v);
}

void make_set_u32(struct buf *b, bool swap, size_t at, uint32_t v)
{
	buf_auto bytes = { 0 };

	make_u32(&bytes, swap, v);
	memcpy(b->at + at, bytes.at, 4);
}

void make_set_u64(struct buf *b, bool swap, size_t at, uint64_t v)
{
	buf_auto bytes = { 0 };

	make_u64(&bytes, swap, v);
	memcpy(b->at + at, bytes.at, 8);
}

size_t make_begin(struct make *m, uint32_t type, uint16_t misc)
{
	size_t start = m->data.len;

	make_u32(&m->data, m->swap, type);
	make_u16(&m->data, m->swap, misc);
	make_u16(&m->data, m->swap, 0);
	return start;
}

void make_end(struct make *m, size_t start)
{
	uint16_t size = (uint16_t)(m->data.len - start);
	buf_auto bytes = { 0 };

	make_u16(&bytes, m->swap, size);
	memcpy(m->data.at + start + 6, bytes.at, 2);
}

void make_text(struct make *m, const char *text)
{
	buf_add(&m->data, text, strlen(text) + 1);
	buf_align(&m->data, 8);
}

struct buf *make_feature(struct make *m, unsigned bit)
{
	m->features[m->feature_count].bit = bit;
	return &m->features[m->feature_count++].bytes;
}

void make_string(struct buf *b, bool swap, const char *text)
{
	size_t size = (strlen(text) + 1 + 63) & ~(size_t)63;

	make_u32(b, swap, (uint32_t)size);
	memset(buf_room(b, size), 0, size);
	memcpy(b->at + b->len - size, text, strlen(text));
}

/* A bit-field written by a machine of the other byte order fills each byte from the top. */
static void put_flags(struct buf *b, bool swap, uint64_t flags)
{
	for (unsigned byte = 0; byte < 8; byte++) {
		uint8_t v = 0;

		for (unsigned bit = 0; bit < 8; bit++)
			if (flags >> (byte * 8 + bit) & 1)
				v |= (uint8_t)(swap ? 0x80 >> bit : 1 << bit);
		buf_u8(b, v);
	}
}

static uint32_t attr_bytes(const struct make_event *e)
{
	return e->attr_bytes ? e->attr_bytes : 128;
}

static void put_attr(struct buf *out, bool swap, const struct make_event *e)
{
	buf_auto b = { 0 };

	make_u32(&b, swap, e->type);
	make_u32(&b, swap, attr_bytes(e));
	make_u64(&b, swap, e->config);
	make_u64(&b, swap, e->period);
	make_u64(&b, swap, e->sample_type);
	make_u64(&b, swap, e->read_format);
	put_flags(&b, swap, e->flags);
	for (int i = 0; i < 3; i++)
		make_u64(&b, swap, 0);
	make_u64(&b, swap, e->branch);
	make_u64(&b, swap, e->regs_user);
	make_u32(&b, swap, e->stack_user);
	make_u32(&b, swap, e->clockid);
	make_u64(&b, swap, e->regs_intr);
	while (b.len < attr_bytes(e))
		buf_u8(&b, 0);
	if (e->last_byte)
		b.at[attr_bytes(e) - 1] = e->last_byte;
	buf_add(out, b.at, attr_bytes(e));
}

static void put_features(const struct make *m, struct buf *out)
{
	uint64_t at = out->len + 16 * m->feature_count;

	for (size_t i = 0; i < m->feature_count; i++) {
		make_u64(out, m->swap, at);
		make_u64(out, m->swap, m->features[i].bytes.len);
		at += m->features[i].bytes.len;
	}
	for (size_t i = 0; i < m->feature_count; i++)
		buf_add(out, m->features[i].bytes.at, m->features[i].bytes.len);
}

void make_file(const struct make *m, struct buf *out)
{
	uint64_t entry = attr_bytes(&m->events[0]) + 16, ids_at = 104 + m->event_count * entry;
	uint64_t data_at = ids_at, bits[4] = { 0 };

	for (size_t i = 0; i < m->event_count; i++)
		data_at += 8 * m->events[i].id_count;
	for (size_t i = 0; i < m->feature_count; i++)
		bits[m->features[i].bit / 64] |= 1ull << m->features[i].bit % 64;
	buf_puts(out, m->swap ? "2ELIFREP" : "PERFILE2");
	make_u64(out, m->swap, 104);
	make_u64(out, m->swap, entry);
	make_u64(out, m->swap, 104);
	make_u64(out, m->swap, m->event_count * entry);
	make_u64(out, m->swap, data_at);
	make_u64(out, m->swap, m->data.len);
	make_u64(out, m->swap, 0);
	make_u64(out, m->swap, 0);
	for (int i = 0; i < 4; i++)
		make_u64(out, m->swap, bits[i]);
	for (size_t i = 0; i < m->event_count; i++) {
		put_attr(out, m->swap, &m->events[i]);
		make_u64(out, m->swap, ids_at);
		make_u64(out, m->swap, 8 * m->events[i].id_count);
		ids_at += 8 * m->events[i].id_count;
	}
	for (size_t i = 0; i < m->event_count; i++)
		for (size_t k = 0; k < m->events[i].id_count; k++)
			make_u64(out, m->swap, m->events[i].ids[k]);
	buf_add(out, m->data.at, m->data.len);
	put_features(m, out);
}

void make_done(struct make *m)
{
	buf_done(&m->data);
	for (size_t i = 0; i < m->feature_count; i++)
		buf_done(&m->features[i].bytes);
}
