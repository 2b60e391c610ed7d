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
/* To step over all attributes: this many bytes, then one value of varying size (form 0: none). */
struct abbrev_step {
	uint32_t bytes, form;
};
struct abbrev {
	uint32_t tag;			 /* 0: no such code */
	uint32_t first, count;		 /* in attrs */
	uint32_t first_step, step_count; /* in steps */
	bool children;
};
struct abbrev_table { /* codes are small numbers from 1 on */
	uint64_t offset;
	uint8_t address_size, offset_size; /* that steps were computed for */
	VEC(struct abbrev) codes;
	VEC(struct abbrev_attr) attrs;
	VEC(struct abbrev_step) steps;
	bool loaded;
};
/* What decides sizes of forms. */
struct dwarf_unit_shape {
	uint16_t version;
	uint8_t address_size, offset_size;
};
uint64_t dwarf_long_uleb(struct cursor *c);
static inline uint64_t dwarf_uleb(struct cursor *c)
{
	/* Nearly all are of one byte. */
	if (c->at < c->end && !(*c->at & 0x80))
		return *c->at++;
	return dwarf_long_uleb(c);
}
int64_t dwarf_sleb(struct cursor *c);
/* Reads the table at offset unless it is there already. False when damaged. */
bool abbrev_load(struct abbrev_table *t, struct cursor section, uint64_t offset,
		 const struct dwarf_unit_shape *shape);
/* NULL for a code that isn't in the table. */
static inline const struct abbrev *abbrev_find(const struct abbrev_table *t, uint64_t code)
{
	return code < t->codes.len && t->codes.at[code].tag ? &t->codes.at[code] : NULL;
}
/* Steps over one attribute. False for an unknown form. */
bool dwarf_skip_form(struct cursor *c, uint32_t form, const struct dwarf_unit_shape *shape);
void abbrev_done(struct abbrev_table *t);

/* dwarf-walk.c: one pass over the entries of a unit */

struct walk_node {	 /* a function, or a copy of one inlined into its parent, that matters */
	uint64_t die;	 /* offset in .debug_info */
	uint32_t parent; /* index of a node, MODEL_NONE for a physical function */
};
struct walk {
	struct wanted wanted;
	uint64_t text_start;	    /* ranges below belong to code that the linker left out */
	struct cursor info, abbrev; /* whole sections */
	struct abbrev_table abbrevs;
	VEC(struct walk_node) nodes;
	uint32_t *deepest;	/* by wanted address: index of the innermost node, MODEL_NONE */
	VEC(uint32_t) scopes;	/* of the pass: the node that each open entry belongs to */
	uint64_t entries, work; /* so far, over all units */
	size_t missing;		/* addresses of the unit that no function covers yet */
	void *handle;		/* Dwarf *, asked for ranges that are not simple */
};
/*
 * The unit whose header is at offset, of which so many addresses are wanted; it may stop when they
 * all have their place. ERR_FORMAT naming the offset when it is damaged.
 */
ERR_CHECKED bool walk_unit(struct walk *w, const char *path, uint64_t offset, size_t wanted,
			   struct err *err);
/* The unit's shape and entries, with its abbreviations loaded. */
ERR_CHECKED bool walk_open(struct walk *w, const char *path, uint64_t offset,
			   struct dwarf_unit_shape *shape, struct cursor *entries, struct err *err);
/* Steps over the attributes of an entry. False when they are damaged. */
bool walk_skip(struct walk *w, struct cursor *c, const struct abbrev *a,
	       const struct dwarf_unit_shape *shape);
void walk_done(struct walk *w);

/* dwarf-scopes.c: names with their namespaces, for functions that have no linkage name */

enum { SCOPE_MAX_DEPTH = 16 };
struct scope_target {
	uint64_t die;  /* offset of the declaration */
	uint32_t node; /* whose name it is; for the caller */
	uint32_t depth;
	uint64_t parents[SCOPE_MAX_DEPTH]; /* outermost first, without the unit */
};
struct scope_targets {
	VEC(struct scope_target) at;
};
/* Finds the parents of all targets of one unit in one pass; sorts them by offset. */
void scope_find(struct walk *w, uint64_t unit_offset, struct scope_targets *targets);
/* "ns::type::name" in the arena. */
const char *scope_name(struct walk *w, const struct scope_target *t, const char *name,
		       struct arena *a);

/* dwarf-lines.c: the line table of a unit */

struct line_place {
	uint32_t file; /* index in the unit's file table */
	uint32_t line;
};
struct line_reader {
	struct wanted wanted;
	uint64_t text_start;
	struct cursor lines, strings, line_strings; /* whole sections */
	uint64_t bytes;				    /* read so far, over all units */
	/* Of the unit read last. */
	uint16_t version;
	uint8_t address_size, offset_size;
	const char *directory; /* the unit's own, "" when unknown */
	VEC(const char *) directories;
	VEC(struct line_file) files;
};
struct line_file {
	const char *name;
	uint64_t directory;
	uint32_t interned; /* id of the whole path + 1; 0: not yet */
};
/*
 * Reads the table at offset: its files, and the place of each wanted address that it covers and
 * that has no line yet (places is by index of wanted). ERR_FORMAT naming the offset.
 */
ERR_CHECKED bool line_read(struct line_reader *r, const char *path, uint64_t offset,
			   struct line_place *places, struct err *err);
/* Id of a file's whole path in files, MODEL_NONE when index is none of the unit. */
uint32_t line_file(struct line_reader *r, uint64_t index, struct intern *files);
/* Interns a source path without its detours. */
uint32_t line_put_path(struct intern *files, const char *path);
void line_done(struct line_reader *r);

#endif
