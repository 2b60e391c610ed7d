/* SPDX-License-Identifier: Apache-2.0 */
/* Steps over the records of a perf.data file and reads all kinds but samples. */
#include "decode/perfdata-private.h"

enum {
	HEADER_BYTES = 8,
	MISC_COMM_EXEC = 1 << 13,
	MISC_MMAP_BUILD_ID = 1 << 14,
};

/* The bytes behind two kinds of records of perf's own that are not in their size. */
static bool payload_bytes(const struct perfdata *pd, uint32_t type, const uint8_t *record,
			  uint32_t size, uint64_t *bytes)
{
	struct cursor c = cursor_of(pd->name, record, size);

	c.swap = pd->swap;
	cursor_skip(&c, HEADER_BYTES);
	if (type == PERFDATA_AUXTRACE) {
		*bytes = cursor_u64(&c);
	} else {
		/* perf pads what follows to 8; simpleperf puts it into the record. */
		*bytes = cursor_u32(&c);
		*bytes = *bytes <= cursor_left(&c) ? 0 : (*bytes + 7) & ~7ull;
	}
	return !c.failed;
}

enum perfdata_step perfdata_next(const struct perfdata *pd, uint64_t *offset,
				 struct perfdata_record *rec)
{
	uint64_t at = *offset, left, payload = 0;
	uint32_t type, size;
	uint16_t misc;
	const uint8_t *p;

	if (at >= pd->data_end)
		return PERFDATA_END;
	left = pd->data_end - at;
	if (left < HEADER_BYTES)
		return PERFDATA_DAMAGED;
	p = pd->bytes + at;
	type = perfdata_get32(pd, p);
	misc = perfdata_get16(pd, p + 4);
	size = perfdata_get16(pd, p + 6);
	if (size < HEADER_BYTES || size > left)
		return PERFDATA_DAMAGED;
	if (__builtin_expect(type == PERFDATA_AUXTRACE || type == PERFDATA_TRACING_DATA, 0) &&
	    (!payload_bytes(pd, type, p, size, &payload) || payload > left - size))
		return PERFDATA_DAMAGED;
	rec->type = type;
	rec->misc = misc;
	rec->size = size;
	rec->offset = at;
	rec->body = p + HEADER_BYTES;
	*offset = at + size + payload;
	return PERFDATA_RECORD;
}

static inline uint64_t body_bytes(const struct perfdata_record *rec)
{
	return rec->size - HEADER_BYTES;
}

/* The layout of this record's stamp; NULL when it has none or is too short for it. */
static const struct perfdata_layout *stamp_layout(const struct perfdata *pd,
						  const struct perfdata_record *rec)
{
	const struct perfdata_attr *a = pd->attrs;

	if (!pd->stamped || rec->type >= PERFDATA_USER_FIRST)
		return NULL;
	if (!pd->same_stamp && pd->by_id && pd->stamp_id_up != PERFDATA_ABSENT) {
		if (body_bytes(rec) < pd->stamp_id_up)
			return NULL;
		a = perfdata_attr_of(
			pd, perfdata_get64(pd, rec->body + body_bytes(rec) - pd->stamp_id_up));
		if (!a)
			return NULL;
	}
	return body_bytes(rec) < a->layout.stamp_bytes ? NULL : &a->layout;
}

static struct perfdata_stamp stamp_read(const struct perfdata *pd,
					const struct perfdata_record *rec,
					const struct perfdata_layout *l)
{
	struct perfdata_stamp s = { 0 };
	const uint8_t *p;

	if (!l)
		return s;
	p = rec->body + body_bytes(rec) - l->stamp_bytes;
	if (l->stamp_tid != PERFDATA_ABSENT) {
		s.pid = perfdata_get32(pd, p + l->stamp_tid);
		s.tid = perfdata_get32(pd, p + l->stamp_tid + 4);
	}
	if (l->stamp_time != PERFDATA_ABSENT) {
		s.time_ns = perfdata_get64(pd, p + l->stamp_time);
		s.has_time = true;
	}
	if (l->stamp_id != PERFDATA_ABSENT)
		s.id = perfdata_get64(pd, p + l->stamp_id);
	if (l->stamp_cpu != PERFDATA_ABSENT) {
		s.cpu = perfdata_get32(pd, p + l->stamp_cpu);
		s.has_cpu = s.cpu != UINT32_MAX;
	}
	return s;
}

/* The body up to the stamp, which is read. */
static struct cursor body_read(const struct perfdata *pd, const struct perfdata_record *rec,
			       struct perfdata_stamp *stamp)
{
	const struct perfdata_layout *l = stamp_layout(pd, rec);
	uint64_t len = body_bytes(rec) - (l ? l->stamp_bytes : 0);
	struct cursor c = cursor_of(pd->name, rec->body, (size_t)len);

	c.base = rec->offset + HEADER_BYTES;
	c.swap = pd->swap;
	*stamp = stamp_read(pd, rec, l);
	return c;
}

/* Where the time of a sample lies when its events do not agree. */
static uint64_t sample_time(const struct perfdata *pd, const struct perfdata_record *rec)
{
	const struct perfdata_attr *a = pd->attrs;

	if (pd->by_id) {
		if (body_bytes(rec) < (uint64_t)pd->sample_id + 8)
			return 0;
		a = perfdata_attr_of(pd, perfdata_get64(pd, rec->body + pd->sample_id));
	}
	if (!a || a->layout.time == PERFDATA_ABSENT ||
	    body_bytes(rec) < (uint64_t)a->layout.time + 8)
		return 0;
	return perfdata_get64(pd, rec->body + a->layout.time);
}

uint64_t perfdata_time(const struct perfdata *pd, const struct perfdata_record *rec)
{
	const struct perfdata_layout *l;

	if (rec->type == PERFDATA_SAMPLE) {
		if (pd->sample_time == PERFDATA_ABSENT)
			return sample_time(pd, rec);
		if (body_bytes(rec) < (uint64_t)pd->sample_time + 8)
			return 0;
		return perfdata_get64(pd, rec->body + pd->sample_time);
	}
	l = stamp_layout(pd, rec);
	if (l && l->stamp_time != PERFDATA_ABSENT)
		return perfdata_get64(pd,
				      rec->body + body_bytes(rec) - l->stamp_bytes + l->stamp_time);
	if ((rec->type == PERFDATA_FORK || rec->type == PERFDATA_EXIT) && body_bytes(rec) >= 24)
		return perfdata_get64(pd, rec->body + 16);
	return 0;
}

static void identity_read(struct cursor *c, uint16_t misc, struct perfdata_mmap *m)
{
	const uint8_t *id;
	uint8_t len;

	if (!(misc & MISC_MMAP_BUILD_ID)) {
		m->device_major = cursor_u32(c);
		m->device_minor = cursor_u32(c);
		m->inode = cursor_u64(c);
		m->inode_generation = cursor_u64(c);
		return;
	}
	len = cursor_u8(c);
	cursor_skip(c, 3);
	id = cursor_bytes(c, 20);
	if (!id || !len || len > 20)
		return;
	memcpy(m->build_id, id, len);
	/* The kernel gives zeros for a file without one. */
	m->has_build_id = memcmp(m->build_id, (const uint8_t[20]){ 0 }, 20) != 0;
	m->build_id_len = m->has_build_id ? len : 0;
}

bool perfdata_mmap(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_mmap *out)
{
	struct perfdata_mmap m = { 0 };
	struct cursor c;

	if (rec->type != PERFDATA_MMAP && rec->type != PERFDATA_MMAP2)
		return false;
	c = body_read(pd, rec, &m.stamp);
	m.pid = cursor_u32(&c);
	m.tid = cursor_u32(&c);
	m.start = cursor_u64(&c);
	m.len = cursor_u64(&c);
	m.pgoff = cursor_u64(&c);
	if (rec->type == PERFDATA_MMAP2) {
		identity_read(&c, rec->misc, &m);
		m.prot = cursor_u32(&c);
		m.flags = cursor_u32(&c);
	}
	m.path = cursor_fixed_str(&c, cursor_left(&c));
	if (c.failed)
		return false;
	*out = m;
	return true;
}

bool perfdata_comm(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_comm *out)
{
	struct perfdata_comm m = { 0 };
	struct cursor c;

	if (rec->type != PERFDATA_COMM)
		return false;
	c = body_read(pd, rec, &m.stamp);
	m.exec = rec->misc & MISC_COMM_EXEC;
	m.pid = cursor_u32(&c);
	m.tid = cursor_u32(&c);
	m.comm = cursor_fixed_str(&c, cursor_left(&c));
	if (c.failed)
		return false;
	*out = m;
	return true;
}

bool perfdata_task(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_task *out)
{
	struct perfdata_task t = { 0 };
	struct cursor c;

	if (rec->type != PERFDATA_FORK && rec->type != PERFDATA_EXIT)
		return false;
	c = body_read(pd, rec, &t.stamp);
	t.pid = cursor_u32(&c);
	t.ppid = cursor_u32(&c);
	t.tid = cursor_u32(&c);
	t.ptid = cursor_u32(&c);
	t.time_ns = cursor_u64(&c);
	if (c.failed)
		return false;
	*out = t;
	return true;
}

bool perfdata_lost(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_lost *out)
{
	struct perfdata_lost l = { 0 };
	struct cursor c;

	if (rec->type != PERFDATA_LOST && rec->type != PERFDATA_LOST_SAMPLES)
		return false;
	c = body_read(pd, rec, &l.stamp);
	l.id = rec->type == PERFDATA_LOST ? cursor_u64(&c) : l.stamp.id;
	l.lost = cursor_u64(&c);
	if (c.failed)
		return false;
	*out = l;
	return true;
}
