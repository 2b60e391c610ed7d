/* SPDX-License-Identifier: Apache-2.0 */
/* Raw call chains to nodes of the model, each distinct one once. */
#include "model/stacks.h"

#include <stdlib.h>

/*
 * Entries at and above this are marks that say where the entries after them run; linux/perf_event.h,
 * enum perf_callchain_context.
 */
static const uint64_t MARK_FIRST = (uint64_t)-4095;

/* Below the lowest address that a process can map: what a broken frame pointer leads to. */
enum { LOWEST_ADDRESS = 4096 };

enum { RECENT_BITS = 13 };

static enum stack_mode mode_of_mark(uint64_t mark)
{
	switch ((int64_t)mark) {
	case -32:
		return STACK_HYPERVISOR;
	case -128:
		return STACK_KERNEL;
	case -512:
		return STACK_USER;
	case -2048:
	case -2176:
		return STACK_GUEST_KERNEL;
	case -2560:
		return STACK_GUEST_USER;
	default:
		return STACK_UNKNOWN;
	}
}

/* What a chain is resolved with. */
struct walk {
	struct stacks *st;
	const struct perfdata_sample *sample;
	uint32_t version;
	enum stack_mode sampled; /* level of the sample's own ip */
	bool has_ip;
	enum stack_mode mode; /* of the entries after the last mark */
	bool is_first;	      /* the next entry was not put there by a call */
	bool ended;	      /* garbage came; the rest of this level is none */
	bool missed;	      /* no mapping covered an address */
};

static uint32_t addr_get(struct stacks *st, uint32_t image, uint64_t address, bool is_return)
{
	struct model *m = st->m;
	uint64_t hash = hash_u64(hash_u64(address) ^ ((uint64_t)image << 1 | is_return));
	struct index_probe p = index_start(&st->addrs, hash);
	uint32_t i;

	while ((i = index_next(&st->addrs, &p)) != MODEL_NONE) {
		const struct model_addr *a = &m->addrs.at[i];

		if (a->address == address && a->image.i == image && a->is_return == is_return)
			return i;
	}
	i = (uint32_t)m->addrs.len;
	vec_add(&m->addrs, ((struct model_addr){ { image }, is_return, address }));
	index_put(&st->addrs, hash, i);
	return i;
}

static uint32_t unknown_image(struct stacks *st, uint32_t version)
{
	uint32_t process = st->ps->versions.at[version].process;
	struct process *p = &st->ps->list.at[process];

	if (p->unknown_image == MODEL_NONE)
		p->unknown_image = images_unknown(st->images, process, p->pid);
	return p->unknown_image;
}

static uint32_t user_addr(struct walk *w, uint64_t ip, bool is_return)
{
	struct stacks *st = w->st;
	const struct piece *p = processes_find(st->ps, w->version, ip);

	/* Pointer authentication puts its code above the 48 bits of an address (Arm ARM, D8.10). */
	if (!p && st->signed_pointers && ip >> 48) {
		ip &= (1ull << 48) - 1;
		p = processes_find(st->ps, w->version, ip);
	}
	if (p)
		return addr_get(st, p->image, ip + p->shift, is_return);
	w->missed = true;
	/* An exec at work in the kernel was called by the program that it replaces. */
	if (w->is_first && st->frames.len)
		p = processes_find(st->ps, st->ps->versions.at[w->version].old, ip);
	if (p)
		return addr_get(st, p->image, ip + p->shift, is_return);
	return addr_get(st, unknown_image(st, w->version), ip, is_return);
}

/*
 * Most chains share most of their addresses with chains just before. What was found stays true for
 * its version; what was missed is not kept.
 */
static uint32_t recent_get(struct walk *w, bool in_kernel, uint64_t ip, bool is_return)
{
	struct stacks *st = w->st;
	uint32_t version = in_kernel ? MODEL_NONE : w->version, addr;
	uint64_t hash = hash_u64(ip ^ (uint64_t)version << 40 ^ (uint64_t)is_return << 63);
	struct recent_addr *r;
	bool missed = w->missed;

	if (!st->recent)
		st->recent = mem_alloc(sizeof(*st->recent) << RECENT_BITS);
	r = &st->recent[hash >> (64 - RECENT_BITS)];
	if (r->addr && r->ip == ip && r->version == version && r->is_return == is_return)
		return r->addr - 1;
	w->missed = false;
	addr = in_kernel ? addr_get(st, images_kernel(st->images), ip, is_return) :
			   user_addr(w, ip, is_return);
	if (!w->missed)
		*r = (struct recent_addr){ ip, version, addr + 1, is_return };
	w->missed |= missed;
	return addr;
}

static void frame_add(struct walk *w, enum stack_mode mode, uint64_t ip)
{
	struct stacks *st = w->st;
	bool is_return = !w->is_first;
	uint32_t addr = MODEL_NONE;

	switch (mode) {
	case STACK_HYPERVISOR:
		addr = addr_get(st, images_hypervisor(st->images), ip, is_return);
		break;
	case STACK_GUEST_KERNEL:
	case STACK_GUEST_USER:
		addr = addr_get(st, images_guest(st->images), ip, is_return);
		break;
	case STACK_KERNEL:
	case STACK_USER:
	case STACK_UNKNOWN:
	case STACK_MODE_MASK:
		addr = recent_get(w, mode == STACK_KERNEL, ip, is_return);
		break;
	}
	w->is_first = false;
	vec_add(&st->frames, addr);
}

/* A level that the record leaves open, or one that nobody knows, is seen from the address. */
static enum stack_mode settled(enum stack_mode mode, uint64_t ip)
{
	if (mode != STACK_UNKNOWN && mode <= STACK_GUEST_USER)
		return mode;
	return ip >> 63 ? STACK_KERNEL : STACK_USER;
}

static void entry_add(struct walk *w, uint64_t ip)
{
	enum stack_mode mode = settled(w->mode, ip);
	bool is_innermost = !w->st->frames.len;

	/*
	 * The first entry stands for the sampled place, but the sample's own ip is the better word
	 * for it; and where the level that was interrupted is left out of chains, it comes on top.
	 */
	if (is_innermost && w->has_ip && mode == w->sampled) {
		ip = w->sample->ip;
	} else if (is_innermost && w->has_ip) {
		frame_add(w, w->sampled, w->sample->ip);
		w->is_first = true;
	}
	if (ip < LOWEST_ADDRESS && w->st->frames.len)
		w->ended = true;
	else
		frame_add(w, mode, ip);
}

static void walk_chain(struct walk *w)
{
	const struct perfdata_sample *s = w->sample;

	for (uint64_t i = 0; i < s->chain_len; i++) {
		uint64_t ip = perfdata_chain_at(w->st->pd, s, i);

		if (ip >= MARK_FIRST) {
			w->mode = mode_of_mark(ip);
			w->is_first = true;
			/* No mark that is known: a broken frame pointer led to a small negative. */
			w->ended = w->mode == STACK_UNKNOWN;
		} else if (!w->ended) {
			entry_add(w, ip);
		}
	}
	if (!w->st->frames.len && w->has_ip) {
		w->is_first = true;
		frame_add(w, w->sampled, s->ip);
	}
}

static uint32_t node_get(struct stacks *st, uint32_t parent, uint32_t addr)
{
	struct model *m = st->m;
	uint64_t hash = hash_u64((uint64_t)parent << 32 | addr);
	struct index_probe p = index_start(&st->nodes, hash);
	uint32_t i;

	while ((i = index_next(&st->nodes, &p)) != MODEL_NONE)
		if (m->nodes.at[i].parent.i == parent && m->nodes.at[i].addr.i == addr)
			return i;
	i = (uint32_t)m->nodes.len;
	vec_add(&m->nodes, ((struct model_node){ { parent }, { addr } }));
	index_put(&st->nodes, hash, i);
	return i;
}

/* The node of the frames at hand. Chains that follow each other begin alike, from outside. */
static uint32_t path_node(struct stacks *st)
{
	const struct model *m = st->m;
	size_t count = st->frames.len, known = 0;
	uint32_t node = MODEL_NONE;

	while (known < count && known < st->path.len &&
	       m->nodes.at[st->path.at[known]].addr.i == st->frames.at[count - 1 - known])
		node = st->path.at[known++];
	st->path.len = known;
	for (size_t i = count - known; i > 0; i--) {
		node = node_get(st, node, st->frames.at[i - 1]);
		vec_add(&st->path, node);
	}
	return node;
}

static void resolve(struct stacks *st, struct chain *c, const struct stack_query *q)
{
	enum stack_mode mode = (enum stack_mode)(q->misc & STACK_MODE_MASK);
	struct walk w = {
		.st = st,
		.sample = &q->sample,
		.version = q->version,
		.sampled = settled(mode, q->sample.ip),
		.has_ip = q->sample.attr->sample_type & PERFDATA_S_IP,
		.mode = mode,
		.is_first = true,
	};
	const struct model *m = st->m;

	vec_clear(&st->frames);
	walk_chain(&w);
	c->maps = st->ps->versions.at[q->version].maps;
	c->missed = w.missed;
	c->depth = (uint32_t)st->frames.len;
	c->node = path_node(st);
	c->in_kernel = c->unmapped = false;
	if (c->depth) {
		uint32_t image = m->addrs.at[st->frames.at[0]].image.i;

		c->in_kernel = m->images.at[image].kind == MODEL_IMAGE_KERNEL;
		c->unmapped = m->images.at[image].kind == MODEL_IMAGE_UNKNOWN;
	}
}

/* One multiplication per entry on the way, where hash_bytes has two: chains are most of the bytes. */
static uint64_t chain_hash(const struct perfdata_sample *s)
{
	uint64_t hash = s->chain_len, entry;

	for (uint64_t i = 0; i < s->chain_len; i++) {
		memcpy(&entry, s->chain + i * 8, 8);
		hash += entry * 0xd6e8feb86659fd93u;
		hash = (hash << 31 | hash >> 33) * 0x9e3779b97f4a7c15u;
	}
	return hash_u64(hash);
}

void stacks_hash(const struct stacks *st, struct stack_query *q)
{
	const struct perfdata_sample *s = &q->sample;
	uint64_t hash = chain_hash(s);
	uint64_t has_ip = s->attr->sample_type & PERFDATA_S_IP;

	hash = hash_u64(hash ^ (uint64_t)q->version << 32) + s->ip;
	q->hash = hash_u64(hash ^ (uint64_t)(q->misc & STACK_MODE_MASK) << 1 ^ has_ip);
	if (st->index.cap)
		__builtin_prefetch(&st->index.slots[index_start(&st->index, q->hash).at]);
}

void stacks_call(const struct stacks *st, const struct stack_query *q)
{
	struct index_probe p = index_start(&st->index, q->hash);
	uint32_t i = index_next(&st->index, &p);

	if (i != MODEL_NONE)
		__builtin_prefetch(&st->chains.at[i]);
}

const struct chain *stacks_get(struct stacks *st, const struct stack_query *q)
{
	struct index_probe p = index_start(&st->index, q->hash);
	struct chain *c;
	uint32_t i;

	while ((i = index_next(&st->index, &p)) != MODEL_NONE) {
		c = &st->chains.at[i];
		if (c->hash != q->hash)
			continue;
		/* A mapping that was told of later may cover what was missed. */
		if (c->missed && c->maps != st->ps->versions.at[q->version].maps)
			resolve(st, c, q);
		return c;
	}
	index_put(&st->index, q->hash, (uint32_t)st->chains.len);
	c = vec_push(&st->chains);
	c->hash = q->hash;
	resolve(st, c, q);
	return c;
}

void stacks_done(struct stacks *st)
{
	index_done(&st->addrs);
	index_done(&st->nodes);
	index_done(&st->index);
	vec_done(&st->chains);
	vec_done(&st->frames);
	vec_done(&st->path);
	free(st->recent);
	*st = (struct stacks){ 0 };
}
