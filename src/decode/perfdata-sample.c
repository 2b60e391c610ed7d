/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a sample's body. The usual fields take the short way, the rare ones a cursor. */
#include "decode/perfdata-private.h"

enum { HEADER_BYTES = 8, BRANCH_BYTES = 24 };

enum { /* attr.read_format */
       READ_TIME_ENABLED = 1 << 0,
       READ_TIME_RUNNING = 1 << 1,
       READ_ID = 1 << 2,
       READ_GROUP = 1 << 3,
       READ_LOST = 1 << 4,
};

enum { /* attr.branch_sample_type */
       BRANCH_HW_INDEX = 1 << 17,
       BRANCH_COUNTERS = 1 << 19,
};

static uint64_t bits_of(uint64_t v)
{
	return (uint64_t)__builtin_popcountll(v);
}

/* Skips count items; a count that is larger than what is left fails before it is multiplied. */
static void skip_items(struct cursor *c, uint64_t count, uint64_t item_bytes)
{
	if (count > cursor_left(c) / item_bytes)
		count = cursor_left(c) / item_bytes + 1;
	cursor_skip(c, count * item_bytes);
}

static void skip_read(struct cursor *c, uint64_t format)
{
	uint64_t times = bits_of(format & (READ_TIME_ENABLED | READ_TIME_RUNNING)) * 8;
	uint64_t value = 8 + bits_of(format & (READ_ID | READ_LOST)) * 8;
	uint64_t count = format & READ_GROUP ? cursor_u64(c) : 1;

	cursor_skip(c, times);
	skip_items(c, count, value);
}

static void take_chain(struct cursor *c, struct perfdata_sample *s)
{
	uint64_t count = cursor_u64(c);

	s->chain = c->at;
	s->chain_len = count;
	skip_items(c, count, 8);
}

/* How a branch stack without any branch looks when the index of the newest was asked for. */
enum empty_stack { EMPTY_WITH_INDEX, EMPTY_WITHOUT_INDEX };

static void skip_branches(struct cursor *c, uint64_t branch_type, enum empty_stack empty)
{
	uint64_t count = cursor_u64(c);

	if (branch_type & BRANCH_HW_INDEX && (count || empty == EMPTY_WITH_INDEX))
		cursor_skip(c, 8);
	skip_items(c, count, BRANCH_BYTES);
	if (branch_type & BRANCH_COUNTERS)
		skip_items(c, count, 8);
}

static const uint8_t *take_regs(struct cursor *c, uint64_t mask, uint64_t *abi)
{
	*abi = cursor_u64(c);
	return *abi ? cursor_bytes(c, bits_of(mask) * 8) : NULL;
}

static void take_stack(struct cursor *c, struct perfdata_sample *s)
{
	uint64_t size = cursor_u64(c), dumped;
	const uint8_t *bytes;

	if (!size)
		return;
	bytes = cursor_bytes(c, size);
	dumped = cursor_u64(c);
	if (c->failed)
		return;
	s->stack = bytes;
	s->stack_bytes = dumped < size ? dumped : size;
}

/* From READ on, in the kernel's order. */
static bool take_rest(struct cursor *c, const struct perfdata_attr *a, enum empty_stack empty,
		      struct perfdata_sample *s)
{
	uint64_t type = a->sample_type, abi;

	if (type & PERFDATA_S_READ)
		skip_read(c, a->read_format);
	if (type & PERFDATA_S_CALLCHAIN)
		take_chain(c, s);
	if (type & PERFDATA_S_RAW)
		cursor_skip(c, cursor_u32(c));
	if (type & PERFDATA_S_BRANCH_STACK)
		skip_branches(c, a->branch_sample_type, empty);
	if (type & PERFDATA_S_REGS_USER) {
		s->regs_user = take_regs(c, a->sample_regs_user, &s->regs_user_abi);
		s->regs_user_mask = s->regs_user ? a->sample_regs_user : 0;
	}
	if (type & PERFDATA_S_STACK_USER)
		take_stack(c, s);
	cursor_skip(c, 8 * bits_of(type & (PERFDATA_S_WEIGHT | PERFDATA_S_WEIGHT_STRUCT |
					   PERFDATA_S_DATA_SRC | PERFDATA_S_TRANSACTION)));
	if (type & PERFDATA_S_REGS_INTR)
		take_regs(c, a->sample_regs_intr, &abi);
	cursor_skip(c, 8 * bits_of(type & (PERFDATA_S_PHYS_ADDR | PERFDATA_S_CGROUP |
					   PERFDATA_S_DATA_PAGE_SIZE | PERFDATA_S_CODE_PAGE_SIZE)));
	if (type & PERFDATA_S_AUX)
		cursor_skip(c, cursor_u64(c));
	return !c->failed;
}

static __attribute__((noinline)) bool rest_read(const struct perfdata *pd, const uint8_t *at,
						uint64_t left, struct perfdata_sample *s)
{
	const struct perfdata_attr *a = s->attr;
	bool doubtful = a->sample_type & PERFDATA_S_BRANCH_STACK &&
			a->branch_sample_type & BRANCH_HW_INDEX;
	struct perfdata_sample other = *s;
	struct cursor c = cursor_of(pd->name, at, (size_t)left), again;
	bool ok;

	c.swap = pd->swap;
	again = c;
	ok = take_rest(&c, a, EMPTY_WITH_INDEX, s);
	/* Kernels leave the index out when there was no stack at all: the end tells. */
	if (doubtful && (!ok || cursor_left(&c)) &&
	    take_rest(&again, a, EMPTY_WITHOUT_INDEX, &other) && !cursor_left(&again)) {
		*s = other;
		return true;
	}
	return ok;
}

static inline uint64_t field(const struct perfdata *pd, const uint8_t *body, uint8_t at)
{
	return at == PERFDATA_ABSENT ? 0 : perfdata_get64(pd, body + at);
}

static inline const struct perfdata_attr *attr_of_sample(const struct perfdata *pd,
							 const uint8_t *body, uint64_t len)
{
	if (!pd->by_id)
		return pd->attrs;
	if (len < (uint64_t)pd->sample_id + 8)
		return NULL;
	return perfdata_attr_of(pd, perfdata_get64(pd, body + pd->sample_id));
}

bool perfdata_sample(const struct perfdata *pd, const struct perfdata_record *rec,
		     struct perfdata_sample *out)
{
	const uint8_t *body = rec->body;
	uint64_t len = rec->size - HEADER_BYTES, left;
	const struct perfdata_attr *a;
	const struct perfdata_layout *l;
	struct perfdata_sample s;

	if (rec->type != PERFDATA_SAMPLE)
		return false;
	a = attr_of_sample(pd, body, len);
	if (!a || len < a->layout.fixed_bytes)
		return false;
	l = &a->layout;
	left = len - l->fixed_bytes;
	s = (struct perfdata_sample){
		.attr = a,
		.ip = field(pd, body, l->ip),
		.time_ns = field(pd, body, l->time),
		.addr = field(pd, body, l->addr),
		.period = field(pd, body, l->period),
		.has_time = l->time != PERFDATA_ABSENT,
		.has_cpu = l->cpu != PERFDATA_ABSENT,
	};
	if (l->tid != PERFDATA_ABSENT) {
		s.pid = perfdata_get32(pd, body + l->tid);
		s.tid = perfdata_get32(pd, body + l->tid + 4);
	}
	if (l->cpu != PERFDATA_ABSENT)
		s.cpu = perfdata_get32(pd, body + l->cpu);
	body += l->fixed_bytes;
	if (l->has_more) {
		if (!rest_read(pd, body, left, &s))
			return false;
	} else if (l->has_chain) {
		if (left < 8)
			return false;
		s.chain_len = perfdata_get64(pd, body);
		s.chain = body + 8;
		if (s.chain_len > (left - 8) / 8)
			return false;
	}
	*out = s;
	return true;
}
