/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One pass over the entries of a unit for the functions and inlined copies that cover a wanted
 * address. All other entries are stepped over by size; asking libdw for each would cost ten times
 * as much, and asking it for the scopes of each address a thousand times.
 * Source: DWARF 5, sections 2.17, 3.3 and 7.5.
 */
#include "symbol/dwarf-parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>

enum {
	WALK_MAX_DEPTH = 1024,
	WALK_MAX_RANGES = 1 << 16, /* of one entry */
	WALK_MAX_ENTRIES = 1 << 30,
	WALK_MAX_WORK = 64 << 20,
};

/* Where an entry says that its code is. */
struct entry_pc {
	uint64_t low, high;
	bool has_low, has_high, high_is_size;
	bool is_complex; /* ranges, or addresses by index: left to libdw */
};

static uint64_t read_number(struct cursor *c, uint32_t form, uint8_t address_size)
{
	switch (form) {
	case DW_FORM_data1:
		return cursor_u8(c);
	case DW_FORM_data2:
		return cursor_u16(c);
	case DW_FORM_data4:
		return cursor_u32(c);
	case DW_FORM_data8:
		return cursor_u64(c);
	case DW_FORM_udata:
		return dwarf_uleb(c);
	default: /* DW_FORM_addr */
		return address_size == 8 ? cursor_u64(c) : cursor_u32(c);
	}
}

static bool read_attrs(struct walk *w, struct cursor *c, const struct abbrev *a,
		       const struct dwarf_unit_shape *shape, struct entry_pc *pc)
{
	const struct abbrev_attr *attr = w->abbrevs.attrs.at + a->first;

	for (uint32_t i = 0; i < a->count; i++, attr++) {
		bool is_address = attr->form == DW_FORM_addr;
		bool is_number = attr->form == DW_FORM_data1 || attr->form == DW_FORM_data2 ||
				 attr->form == DW_FORM_data4 || attr->form == DW_FORM_data8 ||
				 attr->form == DW_FORM_udata;

		if (attr->name == DW_AT_low_pc && is_address) {
			pc->low = read_number(c, attr->form, shape->address_size);
			pc->has_low = true;
			continue;
		}
		if (attr->name == DW_AT_high_pc && (is_address || is_number)) {
			pc->high = read_number(c, attr->form, shape->address_size);
			pc->has_high = true;
			pc->high_is_size = is_number;
			continue;
		}
		if (attr->name == DW_AT_ranges || attr->name == DW_AT_low_pc ||
		    attr->name == DW_AT_high_pc)
			pc->is_complex = true;
		if (!dwarf_skip_form(c, attr->form, shape))
			return false;
	}
	return true;
}

/* Gives the addresses of a range to a node, which is made when one of them is free for it. */
static bool take_range(struct walk *w, uint64_t die, uint32_t parent, uint64_t low, uint64_t high,
		       uint32_t *node)
{
	size_t i = wanted_lower(&w->wanted, low);

	if (low < w->text_start || high <= low)
		return true;
	for (; i < w->wanted.count && w->wanted.at[i] < high; i++) {
		if (++w->work > WALK_MAX_WORK)
			return false;
		/* A copy must lie within its parent; of two functions for one place the first. */
		if (w->deepest[i] != parent)
			continue;
		if (*node == MODEL_NONE) {
			*node = (uint32_t)w->nodes.len;
			vec_add(&w->nodes, ((struct walk_node){ .die = die, .parent = parent }));
		}
		if (parent == MODEL_NONE && w->missing)
			w->missing--;
		w->deepest[i] = *node;
	}
	return true;
}

static bool take_complex(struct walk *w, uint64_t die, uint32_t parent, uint32_t *node)
{
	Dwarf_Addr base;
	Dwarf_Addr low;
	Dwarf_Addr high;
	Dwarf_Die entry;
	ptrdiff_t at = 0;

	if (!dwarf_offdie(w->handle, die, &entry))
		return false;
	for (int i = 0; i < WALK_MAX_RANGES; i++) {
		at = dwarf_ranges(&entry, at, &base, &low, &high);
		/* A list that can't be read costs this entry, not the unit. */
		if (at <= 0)
			return true;
		if (!take_range(w, die, parent, low, high, node))
			return false;
	}
	return false;
}

/* A function or inlined copy, its attributes next. The node it became in *node. */
static bool take_entry(struct walk *w, struct cursor *c, const struct abbrev *a,
		       const struct dwarf_unit_shape *shape, uint64_t die, uint32_t parent,
		       uint32_t *node)
{
	struct entry_pc pc = { 0 };

	if (!read_attrs(w, c, a, shape, &pc) || c->failed)
		return false;
	if (pc.is_complex)
		return take_complex(w, die, parent, node);
	if (!pc.has_low || !pc.has_high)
		return true;
	if (pc.high_is_size && __builtin_add_overflow(pc.low, pc.high, &pc.high))
		return true;
	return take_range(w, die, parent, pc.low, pc.high, node);
}

bool walk_skip(struct walk *w, struct cursor *c, const struct abbrev *a,
	       const struct dwarf_unit_shape *shape)
{
	const struct abbrev_step *step = w->abbrevs.steps.at + a->first_step;

	for (uint32_t i = 0; i < a->step_count; i++, step++) {
		cursor_skip(c, step->bytes);
		if (step->form && !dwarf_skip_form(c, step->form, shape))
			return false;
	}
	return true;
}

/* Reads or steps over the attributes of one entry; *scope is what entries inside belong to. */
static bool read_entry(struct walk *w, struct cursor *c, const struct abbrev *a,
		       const struct dwarf_unit_shape *shape, uint64_t die, uint32_t *scope)
{
	uint32_t parent = a->tag == DW_TAG_inlined_subroutine ? *scope : MODEL_NONE;

	if (a->tag != DW_TAG_subprogram && parent == MODEL_NONE)
		return walk_skip(w, c, a, shape);
	*scope = MODEL_NONE;
	return take_entry(w, c, a, shape, die, parent, scope);
}

/*
 * The entries of one unit. scopes holds, for each open entry, the node that entries inside belong
 * to: MODEL_NONE where no wanted address can be.
 */
static bool walk_entries(struct walk *w, struct cursor *c, const struct dwarf_unit_shape *shape)
{
	size_t inside = 0; /* open entries that belong to a node */

	vec_clear(&w->scopes);
	do {
		uint64_t die = cursor_offset(c);
		const struct abbrev *a = NULL;
		uint64_t code = dwarf_uleb(c);
		uint32_t scope;

		if (!code) {
			if (w->scopes.len && w->scopes.at[--w->scopes.len] != MODEL_NONE)
				inside--;
			/* All have their place: the rest is types and functions of no interest. */
			if (!w->missing && !inside)
				return true;
			continue;
		}
		a = abbrev_find(&w->abbrevs, code);
		scope = w->scopes.len ? w->scopes.at[w->scopes.len - 1] : MODEL_NONE;
		if (!a || ++w->entries > WALK_MAX_ENTRIES || w->scopes.len >= WALK_MAX_DEPTH ||
		    !read_entry(w, c, a, shape, die, &scope) || c->failed)
			return false;
		if (a->children) {
			vec_add(&w->scopes, scope);
			inside += scope != MODEL_NONE;
		}
	} while (w->scopes.len && cursor_left(c));
	return true;
}

/* Header of a unit; *entries spans what is behind it. */
static bool read_header(struct walk *w, uint64_t offset, struct dwarf_unit_shape *shape,
			uint64_t *abbrev_offset, struct cursor *entries)
{
	struct cursor c = w->info;
	uint8_t type = DW_UT_compile;
	uint64_t length;

	cursor_skip(&c, offset);
	shape->offset_size = 4;
	length = cursor_u32(&c);
	if (length == UINT32_MAX) {
		shape->offset_size = 8;
		length = cursor_u64(&c);
	}
	c = cursor_sub(&c, length);
	shape->version = cursor_u16(&c);
	if (shape->version >= 5) {
		type = cursor_u8(&c);
		shape->address_size = cursor_u8(&c);
	}
	*abbrev_offset = shape->offset_size == 8 ? cursor_u64(&c) : cursor_u32(&c);
	if (shape->version < 5)
		shape->address_size = cursor_u8(&c);
	if (type == DW_UT_skeleton || type == DW_UT_split_compile)
		cursor_skip(&c, 8);
	*entries = c;
	return !c.failed && shape->version >= 2 && shape->version <= 5 &&
	       (shape->address_size == 8 || shape->address_size == 4);
}

bool walk_open(struct walk *w, const char *path, uint64_t offset, struct dwarf_unit_shape *shape,
	       struct cursor *entries, struct err *err)
{
	uint64_t abbrev_offset;

	if (!read_header(w, offset, shape, &abbrev_offset, entries))
		return err_set(err, ERR_FORMAT, "%s: unit header at .debug_info+0x%llx is damaged",
			       path, (unsigned long long)offset);
	if (!abbrev_load(&w->abbrevs, w->abbrev, abbrev_offset, shape))
		return err_set(err, ERR_FORMAT, "%s: .debug_abbrev+0x%llx is damaged", path,
			       (unsigned long long)abbrev_offset);
	return true;
}

bool walk_unit(struct walk *w, const char *path, uint64_t offset, size_t wanted, struct err *err)
{
	struct dwarf_unit_shape shape = { 0 };
	struct cursor entries;

	if (!walk_open(w, path, offset, &shape, &entries, err))
		return false;
	w->missing = wanted;
	if (!walk_entries(w, &entries, &shape))
		return err_set(err, ERR_FORMAT, "%s: entries before .debug_info+0x%llx are damaged",
			       path, (unsigned long long)cursor_offset(&entries));
	return true;
}

void walk_done(struct walk *w)
{
	abbrev_done(&w->abbrevs);
	vec_done(&w->nodes);
	vec_done(&w->scopes);
}
