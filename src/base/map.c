/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: integers to integers, text to ids. */
#include "base/map.h"

#include <stdlib.h>

struct map_slot {
	uint64_t key, value;
	bool used;
};

/* Words of 8 bytes, each mixed in; made for speed, not against somebody who aims at one bucket. */
uint64_t hash_bytes(const void *bytes, size_t len)
{
	const uint8_t *p = bytes;
	uint64_t h = 0xcbf29ce484222325ull ^ len, word;

	for (; len >= 8; p += 8, len -= 8) {
		memcpy(&word, p, 8);
		h = hash_u64(h ^ word) + 0x9e3779b97f4a7c15ull;
	}
	word = 0;
	if (len)
		memcpy(&word, p, len);
	return hash_u64(h ^ word);
}

static struct map_slot *slot_of(struct map_slot *slots, size_t cap, uint64_t key)
{
	size_t i = hash_u64(key + 0x9e3779b97f4a7c15ull) & (cap - 1);

	while (slots[i].used && slots[i].key != key)
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

uint64_t *map_find(const struct map *m, uint64_t key)
{
	struct map_slot *s;

	if (!m->len)
		return NULL;
	s = slot_of(m->slots, m->cap, key);
	return s->used ? &s->value : NULL;
}

uint64_t *map_put(struct map *m, uint64_t key, bool *is_new)
{
	struct map_slot *s;

	if (m->len * 4 >= m->cap * 3) {
		size_t cap = m->cap ? m->cap * 2 : 16;
		struct map_slot *slots = mem_alloc(cap * sizeof(*slots));

		for (size_t i = 0; i < m->cap; i++)
			if (m->slots[i].used)
				*slot_of(slots, cap, m->slots[i].key) = m->slots[i];
		free(m->slots);
		m->slots = slots;
		m->cap = cap;
	}
	s = slot_of(m->slots, m->cap, key);
	if (is_new)
		*is_new = !s->used;
	if (!s->used) {
		*s = (struct map_slot){ .key = key, .used = true };
		m->len++;
	}
	return &s->value;
}

void map_done(struct map *m)
{
	free(m->slots);
	*m = (struct map){ 0 };
}

static uint32_t *intern_slot(uint32_t *slots, size_t cap, const struct intern *t, struct str s)
{
	size_t i = hash_bytes(s.at, s.len) & (cap - 1);

	while (slots[i] && !str_eq(s, t->names.at[slots[i] - 1]))
		i = (i + 1) & (cap - 1);
	return &slots[i];
}

/* Names are compared as C strings, so a zero byte ends them. */
static struct str until_zero(struct str s)
{
	return (struct str){ s.at, s.len ? strnlen(s.at, s.len) : 0 };
}

uint32_t intern_put(struct intern *t, struct str s)
{
	uint32_t *slot;

	if (t->names.len * 4 >= t->cap * 3) {
		size_t cap = t->cap ? t->cap * 2 : 64;
		uint32_t *slots = mem_alloc(cap * sizeof(*slots));

		for (uint32_t id = 0; id < t->names.len; id++)
			*intern_slot(slots, cap, t, str_of(t->names.at[id])) = id + 1;
		free(t->slots);
		t->slots = slots;
		t->cap = cap;
	}
	s = until_zero(s);
	slot = intern_slot(t->slots, t->cap, t, s);
	if (!*slot) {
		vec_add(&t->names, arena_strndup(&t->arena, s.at, s.len));
		*slot = (uint32_t)t->names.len;
	}
	return *slot - 1;
}

uint32_t intern_find(const struct intern *t, struct str s)
{
	uint32_t *slot;

	if (!t->names.len)
		return UINT32_MAX;
	slot = intern_slot(t->slots, t->cap, t, until_zero(s));
	return *slot ? *slot - 1 : UINT32_MAX;
}

void intern_done(struct intern *t)
{
	vec_done(&t->names);
	arena_done(&t->arena);
	free(t->slots);
	*t = (struct intern){ 0 };
}
