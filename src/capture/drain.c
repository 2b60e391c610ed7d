/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Takes records out of the rings. Nothing is copied: frames are written from the ring's own memory,
 * and the kernel gets the room back once a frame is out. The walk over the headers finds the ends
 * of records, opens the images of new mappings and counts what was lost.
 */
#include "capture/session.h"

#include <sys/mman.h>

#include "base/os.h"

enum {
	FRAME_MOST_BYTES = 1 << 20,
	PARTS_MOST = 400, /* below what a frame takes */
	RECORD_HEADER_BYTES = 8,
	MISC_BUILD_ID = 1 << 14,
	MISC_MODE = 7,
	MODE_USER = 2,
	/* In a sample as plan_make asks for it: IDENTIFIER, IP, pid and tid, TIME. */
	SAMPLE_ID = 8,
	SAMPLE_TIME = 32,
};

/* What goes into the next frame, and how far each ring is emptied by it. */
struct batch {
	struct capture *c;
	struct iovec parts[PARTS_MOST + 2];
	size_t parts_len, bytes;
	struct {
		struct ring *ring;
		uint64_t tail;
	} taken[PARTS_MOST];
	size_t taken_len;
	bool any;
};

struct record_head {
	uint32_t type;
	uint16_t misc, size;
};

static uint64_t ring_head(const struct ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Headers never wrap: records are aligned to 8 bytes and rings are whole pages. */
static struct record_head head_at(const struct capture *c, const struct ring *r, uint64_t at)
{
	const uint8_t *p = r->data + (at & (c->rings.ring_bytes - 1));
	struct record_head h;

	memcpy(&h.type, p, 4);
	memcpy(&h.misc, p + 4, 2);
	memcpy(&h.size, p + 6, 2);
	return h;
}

/* A field that is aligned to its size does not wrap either. */
static uint64_t u64_at(const struct capture *c, const struct ring *r, uint64_t at)
{
	uint64_t v;

	memcpy(&v, r->data + (at & (c->rings.ring_bytes - 1)), sizeof(v));
	return v;
}

static bool is_muted(const struct capture *c, const struct ring *r, uint64_t at)
{
	return c->muted.before_ns && u64_at(c, r, at + SAMPLE_ID) > c->muted.id_above &&
	       u64_at(c, r, at + SAMPLE_TIME) < c->muted.before_ns;
}

/* A record's body in one piece. */
static struct cursor body_at(struct capture *c, const struct ring *r, uint64_t at, uint16_t size)
{
	uint64_t offset = at & (c->rings.ring_bytes - 1), first = c->rings.ring_bytes - offset;
	const uint8_t *p = r->data + offset;

	if (size > first) {
		buf_clear(&c->scratch);
		buf_add(&c->scratch, p, first);
		buf_add(&c->scratch, r->data, size - first);
		p = c->scratch.at;
	}
	return cursor_of("record", p + RECORD_HEADER_BYTES, size - RECORD_HEADER_BYTES);
}

static void see_mmap2(struct capture *c, struct record_head h, struct cursor body)
{
	struct image_name n = { .pid = cursor_u32(&body) };

	cursor_skip(&body, 4);
	n.start = cursor_u64(&body);
	n.len = cursor_u64(&body);
	cursor_skip(&body, 8);
	if (h.misc & MISC_BUILD_ID) {
		const uint8_t *id;

		n.build_id_len = cursor_u8(&body);
		cursor_skip(&body, 3);
		id = cursor_bytes(&body, sizeof(n.build_id));
		if (n.build_id_len > sizeof(n.build_id) || !id)
			return;
		memcpy(n.build_id, id, sizeof(n.build_id));
	} else {
		n.device_major = cursor_u32(&body);
		n.device_minor = cursor_u32(&body);
		n.inode = cursor_u64(&body);
		n.inode_generation = cursor_u64(&body);
	}
	if (!(cursor_u32(&body) & PROT_EXEC))
		return;
	cursor_skip(&body, 4);
	if (body.failed || !memchr(body.at, 0, cursor_left(&body)))
		return;
	n.path = (const char *)body.at;
	(void)images_see(&c->images, &n);
}

static void look_into(struct capture *c, const struct ring *r, uint64_t at, struct record_head h)
{
	struct cursor body;

	if (h.type == PERFDATA_THROTTLE) {
		c->counts.throttled++;
	} else if (h.type == PERFDATA_MMAP2) {
		if ((h.misc & MISC_MODE) == MODE_USER)
			see_mmap2(c, h, body_at(c, r, at, h.size));
	} else if (h.type == PERFDATA_LOST || h.type == PERFDATA_LOST_SAMPLES) {
		body = body_at(c, r, at, h.size);
		if (h.type == PERFDATA_LOST)
			cursor_skip(&body, 8);
		c->counts.lost += cursor_u64(&body);
	}
}

/* Writes the batch and gives the kernel its room back. */
static void flush(struct batch *b)
{
	struct err err;

	if (b->parts_len && !b->c->host_gone &&
	    !wire_send_parts(b->c->wire, WIRE_DATA, b->parts, b->parts_len, &err))
		b->c->host_gone = true;
	b->c->counts.data_bytes += b->bytes;
	for (size_t i = 0; i < b->taken_len; i++)
		__atomic_store_n(&b->taken[i].ring->page->data_tail, b->taken[i].tail,
				 __ATOMIC_RELEASE);
	b->parts_len = b->taken_len = b->bytes = 0;
}

/* [from, to) of a ring joins the batch; it holds whole records. What lies before from is let go. */
static void add(struct batch *b, struct ring *r, uint64_t from, uint64_t to)
{
	uint64_t size = b->c->rings.ring_bytes, offset = from & (size - 1), len = to - from;
	uint64_t first = len < size - offset ? len : size - offset;

	if (to == r->tail)
		return;
	if (b->parts_len + 2 > PARTS_MOST || b->taken_len == PARTS_MOST)
		flush(b);
	if (len)
		b->parts[b->parts_len++] = (struct iovec){ r->data + offset, first };
	if (len > first)
		b->parts[b->parts_len++] = (struct iovec){ r->data, len - first };
	b->bytes += len;
	b->taken[b->taken_len].ring = r;
	b->taken[b->taken_len++].tail = to;
	r->tail = to;
	b->any |= len > 0;
}

static void take(struct batch *b, struct ring *r)
{
	uint64_t head = ring_head(r), from = r->tail, at = from;

	while (at < head) {
		struct record_head h = head_at(b->c, r, at);

		/* The kernel writes whole records; should it ever not, the rest is unreadable. */
		if (h.size < RECORD_HEADER_BYTES || h.size > head - at) {
			add(b, r, from, at);
			flush(b);
			r->tail = head;
			__atomic_store_n(&r->page->data_tail, head, __ATOMIC_RELEASE);
			b->c->counts.lost++;
			return;
		}
		if (h.type == PERFDATA_SAMPLE && is_muted(b->c, r, at)) {
			add(b, r, from, at);
			at += h.size;
			from = at;
			continue;
		}
		if (h.type != PERFDATA_SAMPLE)
			look_into(b->c, r, at, h);
		if (b->bytes + (at - from) + h.size > FRAME_MOST_BYTES) {
			add(b, r, from, at);
			flush(b);
			from = at;
		}
		at += h.size;
	}
	add(b, r, from, at);
}

bool capture_drain(struct capture *c)
{
	struct batch b;
	buf_auto round = { 0 };

	b.c = c;
	b.parts_len = b.bytes = b.taken_len = 0;
	b.any = false;
	for (size_t i = 0; i < c->rings.list.len; i++)
		take(&b, &c->rings.list.at[i]);
	if (b.any && c->rounds) {
		perfdata_put_finished_round(&round);
		b.parts[b.parts_len++] = (struct iovec){ round.at, round.len };
		b.bytes += round.len;
	}
	flush(&b);
	return b.any;
}

/* struct perf_event_header, the count, and the stamp that sample_id_all asks for. */
void capture_tell_lost(struct capture *c, uint64_t lost)
{
	buf_auto out = { 0 };

	buf_u32(&out, PERFDATA_LOST_SAMPLES);
	buf_u16(&out, 0);
	buf_u16(&out, 8 + 8 + 8 + 8 + 8 + 8);
	buf_u64(&out, lost);
	buf_u64(&out, 0); /* pid and tid: nobody's */
	buf_u64(&out, os_now_ns());
	buf_u64(&out, 0); /* CPU */
	buf_u64(&out, c->style.id);
	capture_send_records(c, &out);
	c->counts.lost += lost;
}

void capture_peek_forks(struct capture *c, uint64_t id_above, struct map *tids)
{
	for (size_t i = 0; i < c->rings.list.len; i++) {
		struct ring *r = &c->rings.list.at[i];
		uint64_t head = ring_head(r);
		struct record_head h;

		for (uint64_t at = r->tail; at < head; at += h.size) {
			struct cursor body, stamp;
			uint32_t tid;

			h = head_at(c, r, at);
			if (h.size < RECORD_HEADER_BYTES || h.size > head - at)
				break;
			if (h.type != PERFDATA_FORK)
				continue;
			body = body_at(c, r, at, h.size);
			stamp = body;
			cursor_skip(&body, 8);
			tid = cursor_u32(&body);
			/* IDENTIFIER closes a record: the event that the child inherited. */
			cursor_skip(&stamp, cursor_left(&stamp) - 8);
			if (cursor_u64(&stamp) > id_above && !stamp.failed)
				*map_put(tids, tid, NULL) = 1;
		}
	}
}
