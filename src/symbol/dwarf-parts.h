/* SPDX-License-Identifier: Apache-2.0 */
/* What the DWARF files tell each other. */
#ifndef CULPRIT_SYMBOL_DWARF_PARTS_H
#define CULPRIT_SYMBOL_DWARF_PARTS_H

#include "base/cursor.h"
#include "symbol/parts.h"

/* dwarf-abbrev.c: shapes of entries, and how to step over their attributes */

struct abbrev_attr {
	uint32_t name, form;
};
struct abbrev {
	uint32_t tag; /* 0: no such code */
	uint32_t first, count; /* in attrs */
	uint32_t fixed; /* bytes of all attributes when that doesn't vary, else UINT32_MAX */
	bool children;
};
struct abbrev_table { /* codes are small numbers from 1 on */
	uint64_t offset;
	uint8_t address_size, offset_size; /* that fixed was computed for */
	VEC(struct abbrev) codes;
	VEC(struct abbrev_attr) attrs;
	bool loaded;
};
/* What decides sizes of forms. */
struct dwarf_unit_shape {
	uint16_t version;
	uint8_t address_size, offset_size;
};
uint64_t dwarf_uleb(struct cursor *c);
/* Reads the table at offset unless it is there already. False when damaged. */
bool abbrev_load(struct abbrev_table *t, struct cursor section, uint64_t offset,
		 const struct dwarf_unit_shape *shape);
/* NULL for a code that isn't in the table. */
const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code);
/* Steps over one attribute. False for an unknown form. */
bool dwarf_skip_form(struct cursor *c, uint32_t form, const struct dwarf_unit_shape *shape);
void abbrev_done(struct abbrev_table *t);

/* dwarf-walk.c: one pass over the entries of a unit */

struct walk_node { /* a function, or a copy of one inlined into its parent, that matters */
	uint64_t die; /* offset in .debug_info */
	uint32_t parent; /* index of a node, MODEL_NONE for a physical function */
};
struct walk {
	struct wanted wanted;
	uint64_t text_start; /* ranges below belong to code that the linker left out */
	struct cursor info, abbrev; /* whole sections */
	struct abbrev_table abbrevs;
	VEC(struct walk_node) nodes;
	uint32_t *deepest; /* by wanted address: index of the innermost node, MODEL_NONE */
	VEC(uint32_t) scopes; /* of the pass: the node that each open entry belongs to */
	uint64_t entries, work; /* so far, over all units */
	void *handle; /* Dwarf *, asked for ranges that are not simple */
};
/* The unit whose header is at offset. ERR_FORMAT naming the offset when it is damaged. */
ERR_CHECKED bool walk_unit(struct walk *w, const char *path, uint64_t offset, struct err *err);
void walk_done(struct walk *w);

#endif
