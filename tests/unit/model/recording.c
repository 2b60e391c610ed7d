/* SPDX-License-Identifier: Apache-2.0 */
/* Recordings made in memory, and models as text. */
#include "recording.h"

#include <stdlib.h>

#include "test.h"

enum { ATTR_BYTES = 128, FREQ = 1 << 10, SAMPLE_ID_ALL = 1 << 18 };

static uint64_t type_of(const struct recording *r)
{
	uint64_t type = r->sample_type ? r->sample_type :
					 PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |
						 PERFDATA_S_PERIOD | PERFDATA_S_CALLCHAIN;

	return r->events > 1 ? type | PERFDATA_S_IDENTIFIER : type;
}

static size_t begin(struct recording *r, uint32_t type, uint16_t misc)
{
	size_t start = r->data.len;

	buf_u32(&r->data, type);
	buf_u16(&r->data, misc);
	buf_u16(&r->data, 0);
	return start;
}

static void end(struct recording *r, size_t start)
{
	size_t size = r->data.len - start;

	CHECK(size < 65536);
	r->data.at[start + 6] = (uint8_t)size;
	r->data.at[start + 7] = (uint8_t)(size >> 8);
}

static void stamp(struct recording *r, uint32_t pid, uint32_t tid, uint64_t t)
{
	uint64_t type = type_of(r);

	if (r->no_stamps)
		return;
	if (type & PERFDATA_S_TID) {
		buf_u32(&r->data, pid);
		buf_u32(&r->data, tid);
	}
	if (type & PERFDATA_S_TIME)
		buf_u64(&r->data, t);
	if (type & PERFDATA_S_IDENTIFIER)
		buf_u64(&r->data, 1);
}

static void text(struct recording *r, const char *s)
{
	size_t len = strlen(s) + 1;

	buf_add(&r->data, s, len);
	for (; len % 8; len++)
		buf_u8(&r->data, 0);
}

static void sample(struct recording *r, uint16_t misc, uint64_t id, uint32_t pid, uint32_t tid,
		   uint64_t t, uint64_t ip, const uint64_t *chain)
{
	uint64_t type = type_of(r), entries = 0;
	size_t start = begin(r, PERFDATA_SAMPLE, misc);

	if (type & PERFDATA_S_IDENTIFIER)
		buf_u64(&r->data, id);
	if (type & PERFDATA_S_IP)
		buf_u64(&r->data, ip);
	if (type & PERFDATA_S_TID) {
		buf_u32(&r->data, pid);
		buf_u32(&r->data, tid);
	}
	if (type & PERFDATA_S_TIME)
		buf_u64(&r->data, t);
	if (type & PERFDATA_S_PERIOD)
		buf_u64(&r->data, 7);
	if (type & PERFDATA_S_CALLCHAIN) {
		while (chain && chain[entries])
			entries++;
		buf_u64(&r->data, entries);
		for (uint64_t i = 0; i < entries; i++)
			buf_u64(&r->data, chain[i]);
	}
	end(r, start);
}

void rec_sample(struct recording *r, uint16_t misc, uint32_t pid, uint32_t tid, uint64_t t,
		uint64_t ip, const uint64_t *chain)
{
	sample(r, misc, 1, pid, tid, t, ip, chain);
}

void rec_sample_of(struct recording *r, uint64_t id, uint32_t pid, uint64_t t, uint64_t ip)
{
	sample(r, REC_USER, id, pid, pid, t, ip, NULL);
}

static void mmap_head(struct recording *r, uint32_t pid, uint64_t start, uint64_t len,
		      uint64_t pgoff)
{
	buf_u32(&r->data, pid);
	buf_u32(&r->data, pid);
	buf_u64(&r->data, start);
	buf_u64(&r->data, len);
	buf_u64(&r->data, pgoff);
}

static void mmap_tail(struct recording *r, uint32_t pid, const char *path, uint64_t t)
{
	buf_u32(&r->data, 5); /* PROT_READ | PROT_EXEC */
	buf_u32(&r->data, 2);
	text(r, path);
	stamp(r, pid, pid, t);
}

void rec_mmap(struct recording *r, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
	      uint64_t inode, const char *path, uint64_t t)
{
	size_t at = begin(r, PERFDATA_MMAP2, REC_USER);

	mmap_head(r, pid, start, len, pgoff);
	buf_u32(&r->data, inode ? 8 : 0);
	buf_u32(&r->data, inode ? 1 : 0);
	buf_u64(&r->data, inode);
	buf_u64(&r->data, 0);
	mmap_tail(r, pid, path, t);
	end(r, at);
}

void rec_mmap_id(struct recording *r, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		 uint8_t id_byte, const char *path, uint64_t t)
{
	size_t at = begin(r, PERFDATA_MMAP2, REC_USER | 1 << 14);

	mmap_head(r, pid, start, len, pgoff);
	buf_u32(&r->data, 20);
	memset(buf_room(&r->data, 20), id_byte, 20);
	mmap_tail(r, pid, path, t);
	end(r, at);
}

void rec_comm(struct recording *r, uint16_t misc, uint32_t pid, uint32_t tid, const char *comm,
	      uint64_t t)
{
	size_t at = begin(r, PERFDATA_COMM, misc);

	buf_u32(&r->data, pid);
	buf_u32(&r->data, tid);
	text(r, comm);
	stamp(r, pid, tid, t);
	end(r, at);
}

static void task(struct recording *r, uint32_t type, uint16_t misc, const uint32_t ids[4],
		 uint64_t t)
{
	size_t at = begin(r, type, misc);

	for (int i = 0; i < 4; i++)
		buf_u32(&r->data, ids[i]);
	buf_u64(&r->data, t);
	stamp(r, ids[0], ids[2], t);
	end(r, at);
}

void rec_fork(struct recording *r, uint16_t misc, uint32_t pid, uint32_t ppid, uint32_t tid,
	      uint32_t ptid, uint64_t t)
{
	task(r, PERFDATA_FORK, misc, (uint32_t[]){ pid, ppid, tid, ptid }, t);
}

void rec_exit(struct recording *r, uint32_t pid, uint32_t tid, uint64_t t)
{
	task(r, PERFDATA_EXIT, 0, (uint32_t[]){ pid, pid, tid, tid }, t);
}

void rec_lost(struct recording *r, uint32_t type, uint64_t lost, uint64_t t)
{
	size_t at = begin(r, type, 0);

	if (type == PERFDATA_LOST)
		buf_u64(&r->data, 1);
	buf_u64(&r->data, lost);
	stamp(r, 0, 0, t);
	end(r, at);
}

void rec_round(struct recording *r)
{
	end(r, begin(r, PERFDATA_FINISHED_ROUND, 0));
}

void rec_empty(struct recording *r, uint32_t type, uint64_t t)
{
	size_t at = begin(r, type, 0);

	memset(buf_room(&r->data, 24), 0, 24);
	stamp(r, 0, 0, t);
	end(r, at);
}

static void make_attr(const struct recording *r, uint64_t config, struct buf *attr)
{
	uint64_t flags = r->flags | (r->period ? 0 : FREQ) | (r->no_stamps ? 0 : SAMPLE_ID_ALL);

	buf_u32(attr, 1); /* PERF_TYPE_SOFTWARE */
	buf_u32(attr, ATTR_BYTES);
	buf_u64(attr, config);
	buf_u64(attr, r->period ? r->period : 3997);
	buf_u64(attr, type_of(r));
	buf_u64(attr, 0);
	buf_u64(attr, flags);
	memset(buf_room(attr, ATTR_BYTES - attr->len), 0, ATTR_BYTES - 48);
}

void rec_file(const struct recording *r, struct buf *file)
{
	static const char *const names[] = { "cpu-clock", "task-clock" };
	static const uint64_t ids[] = { 1, 2 };
	struct perfdata_new_event events[2] = { 0 };
	struct perfdata_features features = { 0 };
	struct buf attrs[2] = { 0 };
	size_t count = r->events ? r->events : 1;

	for (size_t i = 0; i < count; i++) {
		make_attr(r, i, &attrs[i]);
		events[i] = (struct perfdata_new_event){
			.name = names[i],
			.attr = { (const char *)attrs[i].at, attrs[i].len },
			.ids = &ids[i],
			.id_count = 1,
		};
	}
	if (r->build_id_count)
		perfdata_add_build_ids(&features, r->build_ids, r->build_id_count);
	perfdata_add_text(&features, PERFDATA_F_HOSTNAME, "testhost");
	perfdata_add_text(&features, PERFDATA_F_OSRELEASE, "6.1.0-test");
	perfdata_add_text(&features, PERFDATA_F_ARCH, r->arch ? r->arch : "x86_64");
	perfdata_add_event_desc(&features, events, count);
	perfdata_put_header(file, events, count, r->data.len, features.bits);
	buf_add(file, r->data.at, r->data.len);
	perfdata_put_features(file, &features, file->len);
	perfdata_features_done(&features);
	buf_done(&attrs[0]);
	buf_done(&attrs[1]);
}

static struct model *load(struct recording *r, size_t cut, const struct model_options *options)
{
	struct buf file = { 0 };
	struct perfdata pd = { 0 };
	struct model *m = NULL;
	struct err err = { 0 };
	uint8_t *bytes;

	rec_file(r, &file);
	buf_done(&r->data);
	CHECK(cut < file.len);
	bytes = test_guard(file.at, file.len - cut);
	CHECK_MSG(perfdata_open(&pd, "test.data", bytes, file.len - cut, &err), "%s", err.text);
	CHECK_MSG(model_load(&m, &pd, options, &err), "%s", err.text);
	perfdata_close(&pd);
	buf_done(&file);
	return m;
}

struct model *rec_load(struct recording *r, const struct model_options *options)
{
	return load(r, 0, options);
}

struct model *rec_load_cut(struct recording *r, size_t cut)
{
	return load(r, cut, NULL);
}

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

static void dump_stack(struct buf *b, const struct model *m, uint32_t node)
{
	while (node != MODEL_NONE) {
		const struct model_node *n = &m->nodes.at[node];
		const struct model_addr *a = &m->addrs.at[n->addr.i];

		buf_printf(b, "%s+%" PRIx64 "%s", last_part(m->images.at[a->image.i].path),
			   a->address, a->is_return ? "-" : "");
		node = n->parent.i;
		if (node != MODEL_NONE)
			buf_puts(b, "<");
	}
}

const char *rec_dump(struct model *m)
{
	struct buf b = { 0 };
	bool *told = mem_alloc(m->weights.len * sizeof(*told));
	char *copy;

	for (size_t i = 0; i < m->weights.len; i++) {
		const struct model_weight *w = &m->weights.at[i];
		const struct model_thread *t = &m->threads.at[w->thread.i];
		uint64_t samples = 0;

		if (told[i])
			continue;
		for (size_t k = i; k < m->weights.len; k++) {
			if (m->weights.at[k].node.i != w->node.i ||
			    m->weights.at[k].thread.i != w->thread.i)
				continue;
			samples += m->weights.at[k].samples;
			told[k] = true;
		}
		buf_printf(&b, "%s(%s) %d/%d %" PRIu64 ": ", t->comm, t->process_comm, (int)t->pid,
			   (int)t->tid, samples);
		dump_stack(&b, m, w->node.i);
		buf_puts(&b, "\n");
	}
	free(told);
	copy = arena_strdup(&m->arena, buf_str(&b));
	buf_done(&b);
	return copy;
}

const struct model_image *rec_image(const struct model *m, const char *path_end)
{
	const struct model_image *found = NULL;

	for (size_t i = 0; i < m->images.len; i++) {
		if (!str_ends(m->images.at[i].path, path_end))
			continue;
		CHECK_MSG(!found, "two images end with %s", path_end);
		found = &m->images.at[i];
	}
	CHECK_MSG(found, "no image ends with %s", path_end);
	return found;
}
