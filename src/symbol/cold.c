/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the function that a cold part was cut from. The name alone may be that of several static
 * functions: a local one of the same file wins, then a global one, then the only local one.
 */
#include "symbol/parts.h"

#include <stdlib.h>

/* All symbols that have one wanted name. */
struct namesakes {
	struct select_symbol global, local; /* the last one of each kind; name NULL: none */
	unsigned locals;
};

struct cold_search {
	struct cold_parts *c;
	struct namesakes *by_name; /* by id of names */
	struct map by_file;	   /* name and file of a part -> index in same_file */
	VEC(struct select_symbol) same_file;
};

bool cold_is_part(const char *name, struct str *parent)
{
	size_t len = strlen(name);
	size_t end = len;

	while (end && name[end - 1] >= '0' && name[end - 1] <= '9')
		end--;
	if (end == len || !end || name[end - 1] != '.')
		end = len;
	else
		end--;
	if (end <= 5 || memcmp(name + end - 5, ".cold", 5) != 0)
		return false;
	*parent = (struct str){ name, end - 5 };
	return true;
}

static void collect(struct cold_parts *c, const struct select *s)
{
	for (size_t i = 0; i < s->wanted.count; i++) {
		struct select_symbol sym = select_get(s, i);
		struct str parent;
		uint64_t *slot;
		bool is_new;

		if (!sym.name || !cold_is_part(sym.name, &parent))
			continue;
		slot = map_put(&c->by_address, sym.address, &is_new);
		if (!is_new)
			continue;
		*slot = c->parts.len;
		vec_add(&c->parts, ((struct cold_part){
					   .name = intern_put(&c->names, parent),
					   .file = sym.file,
				   }));
	}
}

static uint64_t file_key(uint32_t name, uint32_t file)
{
	return (uint64_t)name << 32 | file;
}

static void consider(void *ctx, const struct select_symbol *sym)
{
	struct cold_search *search = ctx;
	uint32_t name = intern_find(&search->c->names, str_of(sym->name));
	const uint64_t *same_file;
	struct namesakes *n;

	if (name == MODEL_NONE)
		return;
	n = &search->by_name[name];
	if (sym->rank & (SELECT_GLOBAL | SELECT_WEAK)) {
		n->global = *sym;
		return;
	}
	n->local = *sym;
	n->locals++;
	same_file = map_find(&search->by_file, file_key(name, sym->file));
	if (same_file)
		search->same_file.at[*same_file] = *sym;
}

static struct select_symbol choose(const struct cold_search *search, const struct cold_part *part)
{
	const struct namesakes *n = &search->by_name[part->name];
	const uint64_t *i = map_find(&search->by_file, file_key(part->name, part->file));

	if (i && search->same_file.at[*i].name)
		return search->same_file.at[*i];
	if (n->global.name || n->locals != 1)
		return n->global;
	return n->local;
}

/* First pass over the table: where the parents start. */
static void find_starts(struct cold_parts *c, const struct elf_file *e)
{
	struct cold_search search = {
		.c = c, .by_name = mem_alloc(c->names.names.len * sizeof(search.by_name[0]))
	};

	vec_each(part, &c->parts) {
		bool is_new;
		uint64_t *slot =
			map_put(&search.by_file, file_key(part->name, part->file), &is_new);

		if (!is_new)
			continue;
		*slot = search.same_file.len;
		vec_push(&search.same_file);
	}
	elf_each_symbol(e, consider, &search);
	vec_each(part, &c->parts)
		part->parent = choose(&search, part);
	vec_done(&search.same_file);
	map_done(&search.by_file);
	free(search.by_name);
}

/* Second pass: the best name of what starts there, as if a sample had hit it. */
static void find_names(struct cold_parts *c, const struct elf_file *e)
{
	uint64_t *at = mem_alloc(c->parts.len * sizeof(at[0]));
	size_t count = 0;
	struct select s;
	struct err ignored;
	bool good;

	vec_each(part, &c->parts)
		if (part->parent.name)
			at[count++] = part->parent.address;
	select_init(&s, wanted_sort(at, count));
	good = elf_select(e, &s, &ignored);
	select_finish(&s);
	vec_each(part, &c->parts) {
		uint64_t address = part->parent.address;

		if (!part->parent.name)
			continue;
		part->parent = select_get(&s, wanted_lower(&s.wanted, address));
		if (!good || part->parent.address != address)
			part->parent.name = NULL;
	}
	select_done(&s);
	free(at);
}

void cold_find(struct cold_parts *c, const struct elf_file *e, const struct select *s)
{
	collect(c, s);
	if (!c->parts.len)
		return;
	find_starts(c, e);
	find_names(c, e);
}

const struct select_symbol *cold_parent(const struct cold_parts *c, uint64_t address)
{
	const uint64_t *i = map_find(&c->by_address, address);

	return i && c->parts.at[*i].parent.name ? &c->parts.at[*i].parent : NULL;
}

void cold_done(struct cold_parts *c)
{
	map_done(&c->by_address);
	vec_done(&c->parts);
	intern_done(&c->names);
	*c = (struct cold_parts){ 0 };
}
