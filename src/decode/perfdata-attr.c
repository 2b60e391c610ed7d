/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the attributes of a perf.data file and works out how their records are laid out. */
#include "decode/perfdata-private.h"

enum {
	SECTION_BYTES = 16,
	ATTR_MIN_BYTES = 64,	/* PERF_ATTR_SIZE_VER0 */
	ATTR_KNOWN_BYTES = 144, /* up to config4 of Linux 6.18 */
	ENTRY_MAX_BYTES = 4096,
};

/* Bits of the flag word of struct perf_event_attr. */
enum {
	FLAG_INHERIT = 1,
	FLAG_EXCLUDE_USER = 4,
	FLAG_EXCLUDE_KERNEL = 5,
	FLAG_FREQ = 10,
	FLAG_SAMPLE_ID_ALL = 18,
	FLAG_USE_CLOCKID = 25,
	FLAG_BUILD_ID = 34,
};

/* Bit-fields are filled from the other end of each byte by a machine of the other byte order. */
static uint64_t flags_read(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);
	uint64_t flags = 0;

	for (unsigned i = 0; p && i < 64; i++) {
		unsigned bit = c->swap ? 7 - i % 8 : i % 8;

		flags |= (uint64_t)(p[i / 8] >> bit & 1) << i;
	}
	return flags;
}

static void attr_flags(struct perfdata_attr *a, uint64_t flags)
{
	a->inherit = flags >> FLAG_INHERIT & 1;
	a->exclude_user = flags >> FLAG_EXCLUDE_USER & 1;
	a->exclude_kernel = flags >> FLAG_EXCLUDE_KERNEL & 1;
	a->freq = flags >> FLAG_FREQ & 1;
	a->sample_id_all = flags >> FLAG_SAMPLE_ID_ALL & 1;
	a->use_clockid = flags >> FLAG_USE_CLOCKID & 1;
	a->build_id = flags >> FLAG_BUILD_ID & 1;
}

static bool any_set(const struct cursor *c)
{
	for (const uint8_t *p = c->at; p < c->end; p++)
		if (*p)
			return true;
	return false;
}

/* Fields that an older and shorter attribute lacks stay 0, as the cursor gives them. */
static void attr_read(struct perfdata_attr *a, struct cursor c)
{
	a->type = cursor_u32(&c);
	a->size = cursor_u32(&c);
	a->config = cursor_u64(&c);
	a->sample_period = cursor_u64(&c);
	a->sample_type = cursor_u64(&c);
	a->read_format = cursor_u64(&c);
	attr_flags(a, flags_read(&c));
	cursor_skip(&c, 24); /* wakeup, breakpoint type, config1, and config2 with the next */
	if (cursor_left(&c) < 8)
		return;
	a->branch_sample_type = cursor_u64(&c);
	a->sample_regs_user = cursor_u64(&c);
	a->sample_stack_user = cursor_u32(&c);
	a->clockid = (int32_t)cursor_u32(&c);
	a->sample_regs_intr = cursor_u64(&c);
	cursor_skip(&c, ATTR_KNOWN_BYTES - 104);
	a->unknown_tail = any_set(&c);
}

static void ids_read(struct perfdata *pd, size_t index, struct cursor *entry, uint64_t *ids_left)
{
	struct perfdata_attr *a = &pd->attrs[index];
	uint64_t offset = cursor_u64(entry), size = cursor_u64(entry), count = size / 8;
	struct cursor c;
	uint64_t *ids;

	if (!size)
		return;
	/* All ids together fit in the file, else sections that overlap would cost its square. */
	if (!perfdata_inside(pd, offset, size) || count > *ids_left) {
		perfdata_note(pd,
			      "ids of event %zu dropped: offset %llu and size %llu do not fit in "
			      "the file",
			      index, (unsigned long long)offset, (unsigned long long)size);
		return;
	}
	*ids_left -= count;
	c = perfdata_cursor(pd, offset, size);
	ids = arena_alloc(&pd->arena, count * sizeof(*ids));
	for (uint64_t i = 0; i < count; i++) {
		bool is_new;
		uint64_t *at;

		ids[i] = cursor_u64(&c);
		at = map_put(&pd->ids, ids[i], &is_new);
		if (is_new)
			*at = index;
	}
	a->ids = ids;
	a->id_count = count;
}

static void entry_read(struct perfdata *pd, size_t index, struct cursor entry, uint64_t *ids_left)
{
	struct perfdata_attr *a = &pd->attrs[index];
	uint64_t at = cursor_offset(&entry);
	struct cursor bytes = cursor_sub(&entry, cursor_left(&entry) - SECTION_BYTES);
	uint32_t size = perfdata_get32(pd, bytes.at + 4);

	if (size > cursor_left(&bytes))
		perfdata_note(pd,
			      "event %zu at offset %llu says that its attribute has %u bytes, the "
			      "file has room for %zu",
			      index, (unsigned long long)at, size, cursor_left(&bytes));
	/* Size 0 is the first version, from before the field had a meaning. */
	if (size < ATTR_MIN_BYTES)
		size = ATTR_MIN_BYTES;
	if (size < cursor_left(&bytes))
		bytes.end = bytes.at + size;
	attr_read(a, bytes);
	if (a->unknown_tail)
		perfdata_note(pd,
			      "event %zu at offset %llu uses settings of a newer kernel (attribute "
			      "of %u bytes) that are ignored",
			      index, (unsigned long long)at, a->size);
	ids_read(pd, index, &entry, ids_left);
}

bool perfdata_read_attrs(struct perfdata *pd, uint64_t entry_bytes, uint64_t offset, uint64_t size,
			 struct err *err)
{
	uint64_t ids_left = pd->len / 8;
	struct cursor c;

	if (entry_bytes < ATTR_MIN_BYTES + SECTION_BYTES || entry_bytes > ENTRY_MAX_BYTES)
		return err_set(err, ERR_FORMAT,
			       "%s: attribute size %llu at offset 16 is out of range (%d to %d)",
			       pd->name, (unsigned long long)entry_bytes,
			       ATTR_MIN_BYTES + SECTION_BYTES, ENTRY_MAX_BYTES);
	if (!perfdata_inside(pd, offset, size))
		return err_set(
			err, ERR_FORMAT,
			"%s: attribute section at offset %llu with %llu bytes reaches beyond "
			"the file of %llu bytes",
			pd->name, (unsigned long long)offset, (unsigned long long)size,
			(unsigned long long)pd->len);
	if (size < entry_bytes)
		return err_set(
			err, ERR_FORMAT,
			"%s: attribute section at offset %llu with %llu bytes holds no event",
			pd->name, (unsigned long long)offset, (unsigned long long)size);
	if (size % entry_bytes)
		perfdata_note(pd,
			      "attribute section at offset %llu: %llu bytes left over behind the "
			      "last event",
			      (unsigned long long)offset, (unsigned long long)(size % entry_bytes));
	pd->attr_count = (size_t)(size / entry_bytes);
	pd->attrs = arena_alloc(&pd->arena, pd->attr_count * sizeof(*pd->attrs));
	c = perfdata_cursor(pd, offset, size);
	for (size_t i = 0; i < pd->attr_count; i++)
		entry_read(pd, i, cursor_sub(&c, entry_bytes), &ids_left);
	return true;
}

static uint8_t place(uint64_t sample_type, uint64_t bit, uint8_t *next)
{
	uint8_t at = *next;

	if (!(sample_type & bit))
		return PERFDATA_ABSENT;
	*next = (uint8_t)(at + 8);
	return at;
}

/* The order in which perf_output_sample of the kernel writes. */
static void layout_sample(struct perfdata_layout *l, uint64_t type)
{
	uint64_t fixed = PERFDATA_S_IDENTIFIER | PERFDATA_S_IP | PERFDATA_S_TID | PERFDATA_S_TIME |
			 PERFDATA_S_ADDR | PERFDATA_S_ID | PERFDATA_S_STREAM_ID | PERFDATA_S_CPU |
			 PERFDATA_S_PERIOD;
	uint8_t identifier, id;

	l->fixed_bytes = 0;
	identifier = place(type, PERFDATA_S_IDENTIFIER, &l->fixed_bytes);
	l->ip = place(type, PERFDATA_S_IP, &l->fixed_bytes);
	l->tid = place(type, PERFDATA_S_TID, &l->fixed_bytes);
	l->time = place(type, PERFDATA_S_TIME, &l->fixed_bytes);
	l->addr = place(type, PERFDATA_S_ADDR, &l->fixed_bytes);
	id = place(type, PERFDATA_S_ID, &l->fixed_bytes);
	place(type, PERFDATA_S_STREAM_ID, &l->fixed_bytes);
	l->cpu = place(type, PERFDATA_S_CPU, &l->fixed_bytes);
	l->period = place(type, PERFDATA_S_PERIOD, &l->fixed_bytes);
	l->id = identifier != PERFDATA_ABSENT ? identifier : id;
	l->has_chain = type & PERFDATA_S_CALLCHAIN;
	l->has_more = type & ~(fixed | PERFDATA_S_CALLCHAIN);
}

/* struct sample_id of linux/perf_event.h. */
static void layout_stamp(struct perfdata_layout *l, uint64_t type)
{
	uint8_t identifier, id;

	l->stamp_bytes = 0;
	l->stamp_tid = place(type, PERFDATA_S_TID, &l->stamp_bytes);
	l->stamp_time = place(type, PERFDATA_S_TIME, &l->stamp_bytes);
	id = place(type, PERFDATA_S_ID, &l->stamp_bytes);
	place(type, PERFDATA_S_STREAM_ID, &l->stamp_bytes);
	l->stamp_cpu = place(type, PERFDATA_S_CPU, &l->stamp_bytes);
	identifier = place(type, PERFDATA_S_IDENTIFIER, &l->stamp_bytes);
	l->stamp_id = identifier != PERFDATA_ABSENT ? identifier : id;
}

static uint8_t id_from_end(const struct perfdata_layout *l)
{
	return l->stamp_id == PERFDATA_ABSENT ? PERFDATA_ABSENT :
						(uint8_t)(l->stamp_bytes - l->stamp_id);
}

/* How records of several events are told apart; without ids they are all the first one's. */
static void plan_ids(struct perfdata *pd, bool same_places)
{
	const struct perfdata_layout *first = &pd->attrs[0].layout;

	pd->sample_id = first->id;
	pd->stamp_id_up = id_from_end(first);
	if (pd->attr_count < 2)
		return;
	pd->by_id = first->id != PERFDATA_ABSENT && pd->ids.len;
	if (!pd->by_id)
		perfdata_note(pd,
			      "%zu events but no ids to tell them apart: all samples are taken "
			      "for those of the first",
			      pd->attr_count);
	else if (!same_places)
		perfdata_note(pd, "the events put their ids at different places: samples of some "
				  "may be unreadable");
}

void perfdata_plan_layouts(struct perfdata *pd)
{
	const struct perfdata_layout *first = &pd->attrs[0].layout;
	bool same_places = true;

	for (size_t i = 0; i < pd->attr_count; i++) {
		layout_sample(&pd->attrs[i].layout, pd->attrs[i].sample_type);
		layout_stamp(&pd->attrs[i].layout, pd->attrs[i].sample_type);
	}
	pd->stamped = pd->attrs[0].sample_id_all;
	pd->same_stamp = true;
	pd->sample_time = first->time;
	for (size_t i = 1; i < pd->attr_count; i++) {
		const struct perfdata_layout *l = &pd->attrs[i].layout;

		if (l->stamp_bytes != first->stamp_bytes || l->stamp_tid != first->stamp_tid ||
		    l->stamp_time != first->stamp_time || l->stamp_id != first->stamp_id ||
		    l->stamp_cpu != first->stamp_cpu)
			pd->same_stamp = false;
		if (l->time != first->time)
			pd->sample_time = PERFDATA_ABSENT;
		if (l->id != first->id || (pd->stamped && id_from_end(l) != id_from_end(first)))
			same_places = false;
	}
	plan_ids(pd, same_places);
}
