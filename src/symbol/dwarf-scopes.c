/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function is declared: gcc gives lambdas and what is local to a file no linkage name, and
 * "operator()" alone would throw all lambdas of a program together.
 */
#include "symbol/dwarf-parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdlib.h>

struct open_entries {
	VEC(uint64_t) dies;
};

static int compare_targets(const void *a, const void *b)
{
	const struct scope_target *x = a;
	const struct scope_target *y = b;

	return (x->die > y->die) - (x->die < y->die);
}

static void take_parents(struct scope_target *t, const struct open_entries *open)
{
	/* The first is the unit itself. */
	for (size_t i = 1; i < open->dies.len && t->depth < SCOPE_MAX_DEPTH; i++)
		t->parents[t->depth++] = open->dies.at[i];
}

/* One pass; what is damaged was told when the unit was walked for its functions. */
static void find(struct walk *w, struct cursor *c, const struct dwarf_unit_shape *shape,
		 struct scope_targets *targets, struct open_entries *open)
{
	size_t next = 0;

	do {
		uint64_t die = cursor_offset(c);
		uint64_t code = dwarf_uleb(c);
		const struct abbrev *a;

		if (!code) {
			if (open->dies.len)
				open->dies.len--;
			continue;
		}
		a = abbrev_find(&w->abbrevs, code);
		while (next < targets->at.len && targets->at.at[next].die < die)
			next++;
		for (; next < targets->at.len && targets->at.at[next].die == die; next++)
			take_parents(&targets->at.at[next], open);
		if (!a || next == targets->at.len || !walk_skip(w, c, a, shape))
			return;
		if (a->children)
			vec_add(&open->dies, die);
	} while (open->dies.len && cursor_left(c));
}

void scope_find(struct walk *w, uint64_t unit_offset, struct scope_targets *targets)
{
	struct dwarf_unit_shape shape = { 0 };
	struct open_entries open = { 0 };
	struct cursor entries;
	struct err ignored;

	if (!targets->at.len)
		return;
	qsort(targets->at.at, targets->at.len, sizeof(targets->at.at[0]), compare_targets);
	if (walk_open(w, "", unit_offset, &shape, &entries, &ignored))
		find(w, &entries, &shape, targets, &open);
	vec_done(&open.dies);
}

/* What a parent adds to a name; NULL for one that adds nothing. */
static const char *part_of(Dwarf_Die *die, const char *nameless)
{
	Dwarf_Attribute attr;
	const char *name = NULL;
	int tag = dwarf_tag(die);

	if (tag != DW_TAG_namespace && tag != DW_TAG_class_type && tag != DW_TAG_structure_type &&
	    tag != DW_TAG_union_type && tag != DW_TAG_enumeration_type && tag != DW_TAG_subprogram)
		return NULL;
	if (dwarf_attr_integrate(die, DW_AT_name, &attr))
		name = dwarf_formstring(&attr);
	if (name && name[0])
		return name;
	return tag == DW_TAG_namespace ? "(anonymous namespace)" : nameless;
}

const char *scope_name(struct walk *w, const struct scope_target *t, const char *name,
		       struct arena *a)
{
	/* Newer gcc gives the type of a lambda no name. */
	const char *nameless = strcmp(name, "operator()") == 0 ? "<lambda>" : "(anonymous)";
	buf_auto full = { 0 };

	for (uint32_t i = 0; i < t->depth; i++) {
		const char *part;
		Dwarf_Die die;

		if (!dwarf_offdie(w->handle, t->parents[i], &die))
			break;
		part = part_of(&die, nameless);
		if (part)
			buf_printf(&full, "%s::", part);
	}
	buf_puts(&full, name);
	return arena_strdup(a, buf_str(&full));
}
