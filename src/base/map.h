/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Hash tables: u64 to u64, and text to small dense ids. Open addressing, grown at 3/4 full; no
 * removal. Zero-initialised is valid and empty.
 */
#ifndef CULPRIT_BASE_MAP_H
#define CULPRIT_BASE_MAP_H

#include "base/mem.h"
#include "base/str.h"

/* A good mixer for integers (the finaliser of splitmix64, public domain by Sebastiano Vigna). */
static inline uint64_t hash_u64(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xbf58476d1ce4e5b9ull;
	x ^= x >> 27;
	x *= 0x94d049bb133111ebull;
	return x ^ x >> 31;
}

uint64_t hash_bytes(const void *bytes, size_t len);

struct map {
	struct map_slot *slots;
	size_t len, cap;
};
/* The value of key, or NULL. Valid until the next map_put. */
uint64_t *map_find(const struct map *m, uint64_t key);
/* The value of key, made 0 when it is new; *is_new (may be NULL) says so. */
uint64_t *map_put(struct map *m, uint64_t key, bool *is_new);
void map_done(struct map *m);

/* Text to ids 0, 1, 2, ...; names[id] is terminated and stays where it is. */
struct intern {
	VEC(const char *) names;
	struct arena arena;
	uint32_t *slots; /* id + 1, or 0 */
	size_t cap;
};
uint32_t intern_put(struct intern *t, struct str s);
/* Id of text that is there, or UINT32_MAX. */
uint32_t intern_find(const struct intern *t, struct str s);
void intern_done(struct intern *t);

#endif
