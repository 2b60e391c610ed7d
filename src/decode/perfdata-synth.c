/* SPDX-License-Identifier: Apache-2.0 */
/* Makes records that describe what was there before recording began, as the kernel would. */
#include "decode/perfdata-write.h"

enum {
	MISC_COMM_EXEC = 1 << 13,
	MISC_MMAP_BUILD_ID = 1 << 14,
	TEXT_MAX = 4095, /* of a path; a record's size has 16 bits */
};

struct record {
	struct buf *out;
	size_t start;
};

static struct record record_begin(struct buf *out, uint32_t type, uint16_t misc)
{
	struct record r = { out, out->len };

	buf_u32(out, type);
	buf_u16(out, misc);
	buf_u16(out, 0);
	return r;
}

static void record_end(const struct record *r)
{
	size_t size = r->out->len - r->start;

	r->out->at[r->start + 6] = (uint8_t)size;
	r->out->at[r->start + 7] = (uint8_t)(size >> 8);
}

/* Terminated and padded to 8 bytes, counted from the start of the text. */
static void put_text(struct buf *out, const char *text)
{
	size_t len = strnlen(text, TEXT_MAX);

	buf_add(out, text, len);
	do
		buf_u8(out, 0);
	while (++len % 8);
}

/* The order of struct sample_id in linux/perf_event.h. */
static void put_stamp(struct buf *out, const struct perfdata_style *st, uint32_t pid, uint32_t tid,
		      uint64_t time_ns)
{
	if (!st->sample_id_all)
		return;
	if (st->sample_type & PERFDATA_S_TID) {
		buf_u32(out, pid);
		buf_u32(out, tid);
	}
	if (st->sample_type & PERFDATA_S_TIME)
		buf_u64(out, time_ns);
	if (st->sample_type & PERFDATA_S_ID)
		buf_u64(out, st->id);
	if (st->sample_type & PERFDATA_S_STREAM_ID)
		buf_u64(out, st->id);
	if (st->sample_type & PERFDATA_S_CPU) {
		buf_u32(out, UINT32_MAX); /* no CPU of its own */
		buf_u32(out, 0);
	}
	if (st->sample_type & PERFDATA_S_IDENTIFIER)
		buf_u64(out, st->id);
}

void perfdata_put_comm(struct buf *out, const struct perfdata_style *st, uint32_t pid, uint32_t tid,
		       const char *comm, bool exec, uint64_t time_ns)
{
	struct record r = record_begin(out, PERFDATA_COMM, exec ? MISC_COMM_EXEC : 0);

	buf_u32(out, pid);
	buf_u32(out, tid);
	put_text(out, comm);
	put_stamp(out, st, pid, tid, time_ns);
	record_end(&r);
}

void perfdata_put_fork(struct buf *out, const struct perfdata_style *st, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time_ns)
{
	struct record r = record_begin(out, PERFDATA_FORK, 0);

	buf_u32(out, pid);
	buf_u32(out, ppid);
	buf_u32(out, tid);
	buf_u32(out, ptid);
	buf_u64(out, time_ns);
	put_stamp(out, st, pid, tid, time_ns);
	record_end(&r);
}

static void put_identity(struct buf *out, const struct perfdata_mmap *m)
{
	if (m->has_build_id) {
		buf_u8(out, m->build_id_len);
		buf_u8(out, 0);
		buf_u16(out, 0);
		buf_add(out, m->build_id, sizeof(m->build_id));
		return;
	}
	buf_u32(out, m->device_major);
	buf_u32(out, m->device_minor);
	buf_u64(out, m->inode);
	buf_u64(out, m->inode_generation);
}

void perfdata_put_mmap2(struct buf *out, const struct perfdata_style *st, uint16_t cpumode,
			const struct perfdata_mmap *m, uint64_t time_ns)
{
	uint16_t misc = (uint16_t)(cpumode | (m->has_build_id ? MISC_MMAP_BUILD_ID : 0));
	struct record r = record_begin(out, PERFDATA_MMAP2, misc);

	buf_u32(out, m->pid);
	buf_u32(out, m->tid);
	buf_u64(out, m->start);
	buf_u64(out, m->len);
	buf_u64(out, m->pgoff);
	put_identity(out, m);
	buf_u32(out, m->prot);
	buf_u32(out, m->flags);
	put_text(out, m->path);
	put_stamp(out, st, m->pid, m->tid, time_ns);
	record_end(&r);
}

void perfdata_put_finished_round(struct buf *out)
{
	struct record r = record_begin(out, PERFDATA_FINISHED_ROUND, 0);

	record_end(&r);
}

void perfdata_put_finished_init(struct buf *out)
{
	struct record r = record_begin(out, PERFDATA_FINISHED_INIT, 0);

	record_end(&r);
}
