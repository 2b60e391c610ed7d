/* SPDX-License-Identifier: Apache-2.0 */
/* Abbreviation tables, and stepping over attribute values. Source: DWARF 5, sections 7.5 and 7.6. */
#include "symbol/dwarf-parts.h"

#include <dwarf.h>

enum { ABBREV_MAX_CODE = 1 << 20, ABBREV_VARIES = -1, ABBREV_UNKNOWN = -2 };

uint64_t dwarf_long_uleb(struct cursor *c)
{
	uint64_t value = 0;

	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = cursor_u8(c);

		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80) || c->failed)
			return value;
	}
}

int64_t dwarf_sleb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = cursor_u8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (shift < 64 && byte & 0x40)
		value |= ~(uint64_t)0 << shift;
	return (int64_t)value;
}

/* Bytes of a form where they are always the same. */
static int fixed_bytes(uint32_t form, const struct dwarf_unit_shape *shape)
{
	switch (form) {
	case DW_FORM_flag_present:
	case DW_FORM_implicit_const:
		return 0;
	case DW_FORM_data1:
	case DW_FORM_ref1:
	case DW_FORM_flag:
	case DW_FORM_strx1:
	case DW_FORM_addrx1:
		return 1;
	case DW_FORM_data2:
	case DW_FORM_ref2:
	case DW_FORM_strx2:
	case DW_FORM_addrx2:
		return 2;
	case DW_FORM_strx3:
	case DW_FORM_addrx3:
		return 3;
	case DW_FORM_data4:
	case DW_FORM_ref4:
	case DW_FORM_strx4:
	case DW_FORM_addrx4:
	case DW_FORM_ref_sup4:
		return 4;
	case DW_FORM_data8:
	case DW_FORM_ref8:
	case DW_FORM_ref_sig8:
	case DW_FORM_ref_sup8:
		return 8;
	case DW_FORM_data16:
		return 16;
	case DW_FORM_addr:
		return shape->address_size;
	case DW_FORM_strp:
	case DW_FORM_line_strp:
	case DW_FORM_sec_offset:
	case DW_FORM_strp_sup:
	case DW_FORM_GNU_ref_alt:
	case DW_FORM_GNU_strp_alt:
		return shape->offset_size;
	case DW_FORM_ref_addr:
		return shape->version <= 2 ? shape->address_size : shape->offset_size;
	case DW_FORM_string:
	case DW_FORM_block:
	case DW_FORM_block1:
	case DW_FORM_block2:
	case DW_FORM_block4:
	case DW_FORM_exprloc:
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
	case DW_FORM_indirect:
		return ABBREV_VARIES;
	default:
		return ABBREV_UNKNOWN;
	}
}

static void skip_string(struct cursor *c)
{
	const uint8_t *zero = memchr(c->at, 0, cursor_left(c));

	cursor_skip(c, zero ? (uint64_t)(zero - c->at) + 1 : UINT64_MAX);
}

/* Steps over a form whose bytes are known from the form alone. */
static bool skip_fixed(struct cursor *c, uint32_t form, const struct dwarf_unit_shape *shape)
{
	int fixed = fixed_bytes(form, shape);

	if (fixed >= 0)
		cursor_skip(c, (uint64_t)fixed);
	return fixed >= 0;
}

bool dwarf_skip_form(struct cursor *c, uint32_t form, const struct dwarf_unit_shape *shape)
{
	switch (form) {
	case DW_FORM_exprloc:
	case DW_FORM_block:
		cursor_skip(c, dwarf_uleb(c));
		return true;
	case DW_FORM_sdata:
	case DW_FORM_udata:
	case DW_FORM_ref_udata:
	case DW_FORM_strx:
	case DW_FORM_addrx:
	case DW_FORM_loclistx:
	case DW_FORM_rnglistx:
	case DW_FORM_GNU_addr_index:
	case DW_FORM_GNU_str_index:
		(void)dwarf_uleb(c);
		return true;
	case DW_FORM_string:
		skip_string(c);
		return true;
	case DW_FORM_block1:
		cursor_skip(c, cursor_u8(c));
		return true;
	case DW_FORM_block2:
		cursor_skip(c, cursor_u16(c));
		return true;
	case DW_FORM_block4:
		cursor_skip(c, cursor_u32(c));
		return true;
	case DW_FORM_indirect:
		form = (uint32_t)dwarf_uleb(c);
		/* A chain of these would be a way to make us recurse. */
		return form != DW_FORM_indirect && form != DW_FORM_implicit_const &&
		       dwarf_skip_form(c, form, shape);
	default:
		return skip_fixed(c, form, shape);
	}
}

static void add_step(struct abbrev_table *t, struct abbrev *a, int bytes, uint32_t form)
{
	struct abbrev_step *last = a->step_count ? &t->steps.at[t->steps.len - 1] : NULL;

	if (!last || last->form) {
		last = vec_push(&t->steps);
		a->step_count++;
	}
	if (bytes >= 0)
		last->bytes += (uint32_t)bytes;
	else
		last->form = form;
}

/* One entry of the table behind its code. False when damaged. */
static bool load_entry(struct abbrev_table *t, struct cursor *c, uint64_t code,
		       const struct dwarf_unit_shape *shape)
{
	struct abbrev a = {
		.tag = (uint32_t)dwarf_uleb(c),
		.first = (uint32_t)t->attrs.len,
		.first_step = (uint32_t)t->steps.len,
	};

	a.children = cursor_u8(c);
	for (;;) {
		uint32_t name = (uint32_t)dwarf_uleb(c);
		uint32_t form = (uint32_t)dwarf_uleb(c);
		int bytes;

		if (c->failed)
			return false;
		if (form == DW_FORM_implicit_const)
			(void)dwarf_uleb(c);
		if (!name && !form)
			break;
		vec_add(&t->attrs, ((struct abbrev_attr){ name, form }));
		bytes = fixed_bytes(form, shape);
		if (bytes == ABBREV_UNKNOWN)
			return false;
		add_step(t, &a, bytes, form);
	}
	a.count = (uint32_t)t->attrs.len - a.first;
	while (t->codes.len <= code)
		vec_push(&t->codes);
	t->codes.at[code] = a;
	return true;
}

bool abbrev_load(struct abbrev_table *t, struct cursor section, uint64_t offset,
		 const struct dwarf_unit_shape *shape)
{
	struct cursor c = section;
	uint64_t code;

	if (t->loaded && t->offset == offset && t->address_size == shape->address_size &&
	    t->offset_size == shape->offset_size)
		return true;
	vec_clear(&t->codes);
	vec_clear(&t->attrs);
	vec_clear(&t->steps);
	t->loaded = false;
	cursor_skip(&c, offset);
	while ((code = dwarf_uleb(&c)))
		if (code > ABBREV_MAX_CODE || !load_entry(t, &c, code, shape))
			return false;
	t->offset = offset;
	t->address_size = shape->address_size;
	t->offset_size = shape->offset_size;
	t->loaded = !c.failed;
	return t->loaded;
}

void abbrev_done(struct abbrev_table *t)
{
	vec_done(&t->codes);
	vec_done(&t->attrs);
	vec_done(&t->steps);
	*t = (struct abbrev_table){ 0 };
}
