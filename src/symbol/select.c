/* SPDX-License-Identifier: Apache-2.0 */
/* Which of many symbols names an address: nearest start, sizes respected, one rule for aliases. */
#include "symbol/parts.h"

#include <stdlib.h>

/* Hostile tables have a million symbols that each cover everything. */
enum { SELECT_MAX_WORK = 64 << 20 };

struct select_slot {
	struct select_symbol sized; /* covers the address by its own size */
	struct select_symbol open;  /* nearest one below without a size */
	uint64_t start;		    /* nearest start of anything at or below */
	uint64_t next;		    /* nearest start of anything above */
	uint64_t ended;		    /* latest end, at or below, of anything that has a size */
};

static int compare_u64(const void *a, const void *b)
{
	uint64_t x;
	uint64_t y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (x > y) - (x < y);
}

struct wanted wanted_sort(uint64_t *at, size_t count)
{
	size_t distinct = 0;

	qsort(at, count, sizeof(at[0]), compare_u64);
	for (size_t i = 0; i < count; i++)
		if (!distinct || at[distinct - 1] != at[i])
			at[distinct++] = at[i];
	return (struct wanted){ at, distinct };
}

size_t wanted_lower(const struct wanted *w, uint64_t address)
{
	size_t low = 0;
	size_t high = w->count;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->at[mid] < address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void select_init(struct select *s, struct wanted w)
{
	*s = (struct select){ .wanted = w };
	s->slots = mem_alloc(w.count * sizeof(s->slots[0]));
	for (size_t i = 0; i < w.count; i++)
		s->slots[i].next = UINT64_MAX;
}

static size_t underscores(const char *name)
{
	return strspn(name, "_");
}

/* Is a a better name than b, both starting at the same address? */
static bool is_better_alias(const struct select_symbol *a, const struct select_symbol *b)
{
	size_t len_a;
	size_t len_b;

	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (underscores(a->name) != underscores(b->name))
		return underscores(a->name) < underscores(b->name);
	len_a = strlen(a->name);
	len_b = strlen(b->name);
	if (len_a != len_b)
		return len_a < len_b;
	return strcmp(a->name, b->name) < 0;
}

static void keep_better(struct select_symbol *best, const struct select_symbol *sym)
{
	if (!best->name || sym->address > best->address ||
	    (sym->address == best->address && is_better_alias(sym, best)))
		*best = *sym;
}

static uint64_t end_of(uint64_t address, uint64_t size)
{
	uint64_t end;

	return __builtin_add_overflow(address, size, &end) ? UINT64_MAX : end;
}

/* Tables are mostly in order: the place is often that of the symbol before. */
static size_t lower(struct select *s, uint64_t address)
{
	const struct wanted *w = &s->wanted;
	size_t i = s->hint;

	if (!((i == w->count || address <= w->at[i]) && (i == 0 || address > w->at[i - 1])))
		s->hint = i = wanted_lower(w, address);
	return i;
}

bool select_covers(struct select *s, uint64_t address, uint64_t size)
{
	size_t i = lower(s, address);

	return size && i < s->wanted.count && s->wanted.at[i] < end_of(address, size);
}

bool select_matters(struct select *s, uint64_t address, uint64_t size)
{
	size_t i = lower(s, address);

	if (i > 0 && address < s->slots[i - 1].next)
		return true;
	if (i == s->wanted.count)
		return false;
	/* It covers the address, or may be the last to end before it. */
	if (size &&
	    (s->wanted.at[i] < end_of(address, size) || end_of(address, size) > s->slots[i].ended))
		return true;
	return address >= s->slots[i].start;
}

static void note_start(struct select *s, size_t i, uint64_t address)
{
	if (i > 0 && address < s->slots[i - 1].next)
		s->slots[i - 1].next = address;
	if (i < s->wanted.count && address > s->slots[i].start)
		s->slots[i].start = address;
}

void select_bound(struct select *s, uint64_t address, uint64_t size)
{
	size_t i = lower(s, address);

	note_start(s, i, address);
	if (size && i < s->wanted.count && end_of(address, size) > s->slots[i].ended)
		s->slots[i].ended = end_of(address, size);
}

bool select_is_nearest(struct select *s, uint64_t address)
{
	size_t i = lower(s, address);

	return i < s->wanted.count && s->slots[i].start == address;
}

void select_add(struct select *s, const struct select_symbol *sym)
{
	size_t i = lower(s, sym->address);
	uint64_t end = end_of(sym->address, sym->size);

	note_start(s, i, sym->address);
	if (!sym->size && i < s->wanted.count)
		keep_better(&s->slots[i].open, sym);
	for (; i < s->wanted.count && s->wanted.at[i] < end; i++) {
		if (++s->work > SELECT_MAX_WORK) {
			s->overflow = true;
			return;
		}
		keep_better(&s->slots[i].sized, sym);
	}
	if (sym->size && i < s->wanted.count && end > s->slots[i].ended)
		s->slots[i].ended = end;
}

void select_finish(struct select *s)
{
	size_t count = s->wanted.count;

	/* Starts and ends were noted at the first address behind them; they hold for all behind. */
	for (size_t i = 1; i < count; i++) {
		struct select_slot *slot = &s->slots[i];

		if (slot[-1].start > slot->start)
			slot->start = slot[-1].start;
		if (slot[-1].ended > slot->ended)
			slot->ended = slot[-1].ended;
		if (slot[-1].open.name)
			keep_better(&slot->open, &slot[-1].open);
	}
	for (size_t i = count; i-- > 1;)
		if (s->slots[i].next < s->slots[i - 1].next)
			s->slots[i - 1].next = s->slots[i].next;
}

struct select_symbol select_get(const struct select *s, size_t i)
{
	const struct select_slot *slot = &s->slots[i];
	struct select_symbol sym = slot->open;

	if (slot->sized.name)
		return slot->sized;
	/* Behind the end of something, around it or after it, an open symbol proves nothing. */
	if (!sym.name || sym.address != slot->start || sym.address < slot->ended ||
	    s->wanted.at[i] >= sym.limit)
		return (struct select_symbol){ 0 };
	sym.size = (slot->next < sym.limit ? slot->next : sym.limit) - sym.address;
	return sym;
}

void select_done(struct select *s)
{
	free(s->slots);
	*s = (struct select){ 0 };
}
