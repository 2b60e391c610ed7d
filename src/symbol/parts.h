/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the files of symbol/ tell each other. Nobody outside the folder includes this.
 *
 * An image is resolved in one batch: the distinct addresses that are wanted of it, sorted. Every
 * source (symbol table, PLT, DWARF, kallsyms) is read once against that list, so that nothing is
 * built for the million symbols that no sample touched.
 */
#ifndef CULPRIT_SYMBOL_PARTS_H
#define CULPRIT_SYMBOL_PARTS_H

#include <libelf.h>

#include "base/cursor.h"
#include "base/os.h"
#include "symbol/symbol.h"

/* Sorted, no value twice. Not owned. */
struct wanted {
	const uint64_t *at;
	size_t count;
};
/* Sorts the values in place and drops doubles; at stays the caller's. */
struct wanted wanted_sort(uint64_t *at, size_t count);
/* Index of the first one that is not below address; count when all are. */
size_t wanted_lower(const struct wanted *w, uint64_t address);

/* select.c: which of many symbols names an address */

enum select_rank { /* a sum of these; more is better */
		   SELECT_LOCAL = 0,
		   SELECT_WEAK = 1,
		   SELECT_GLOBAL = 2,
		   SELECT_FUNCTION = 4,
};

struct select_symbol {
	const char *name; /* borrowed; NULL: none */
	uint64_t address;
	uint64_t size;	/* 0: reaches to the next symbol, at most to limit */
	uint64_t limit; /* end of the section */
	uint32_t file;	/* ordinal of the STT_FILE entry before it */
	uint8_t rank;
};

/*
 * Fed with all symbols in any order, holds the best for each wanted address. A symbol that has a
 * size and covers the address beats one without; then the nearest start wins; then the alias rule:
 * functions before other labels, global before weak before local, fewer leading underscores,
 * shorter, alphabetical.
 */
struct select {
	struct wanted wanted;
	struct select_slot *slots;
	size_t hint;   /* where the last symbol belonged */
	uint64_t work; /* updates of slots so far */
	bool overflow; /* the ceiling on work was hit; only a hostile table gets there */
};
void select_init(struct select *s, struct wanted w);
/* False when a symbol at these addresses cannot change anything; then its name isn't needed. */
bool select_matters(struct select *s, uint64_t address, uint64_t size);
/* Does a symbol of that size hold a wanted address? */
bool select_covers(struct select *s, uint64_t address, uint64_t size);
void select_add(struct select *s, const struct select_symbol *sym);
/*
 * Something starts here that will name no wanted address: symbols without a size end at it. One
 * that has a size itself may be told without a name when it covers nothing.
 */
void select_bound(struct select *s, uint64_t address, uint64_t size);
/* Is this the nearest start so far of some wanted address? */
bool select_is_nearest(struct select *s, uint64_t address);
/* After the last symbol. */
void select_finish(struct select *s);
/* The symbol of wanted address i with its size filled in; name NULL when there is none. */
struct select_symbol select_get(const struct select *s, size_t i);
void select_done(struct select *s);

/* elf.c: an ELF file as far as addresses and names need it */

struct elf_section {
	Elf_Scn *scn;
	const char *name;
	uint64_t address, offset, size, entry_size;
	uint32_t type, link, info;
	bool exec;
};
struct elf_segment { /* PT_LOAD only */
	uint64_t offset, file_size, address, align;
	bool exec;
};
struct elf_span { /* of code: end is not part of it */
	uint64_t start, end;
	uint32_t section;
};
struct elf_spans { /* by start; where sections overlap, what starts first has it all */
	VEC(struct elf_span) at;
};
struct elf_file {
	const char *path; /* not owned */
	struct os_map map;
	struct buf copy;
	Elf *elf;
	uint16_t type, machine;
	bool is_64, big_endian;
	uint64_t text_start;		  /* lowest address of code; 0 when unknown */
	VEC(struct elf_section) sections; /* by section index */
	VEC(struct elf_segment) segments;
	struct elf_spans by_address,
		by_offset; /* non-empty sections of code; latter: in the file */
};

/* ELF_COPY for a file that others may cut while we read: no SIGBUS. Big ones are mapped anyway. */
enum elf_access { ELF_MAP, ELF_COPY };
/* path must outlive it. */
ERR_CHECKED bool elf_file_open(struct elf_file *e, const char *path, enum elf_access access,
			       struct err *err);
void elf_file_close(struct elf_file *e);
/* The build id in lower-case hex, in the arena; "" when there is none. */
const char *elf_file_build_id(const struct elf_file *e, struct arena *a);
/* The address that the linker gave to the byte at this offset of the file, if it is loaded. */
bool elf_file_address(const struct elf_file *e, uint64_t offset, uint64_t *address);
/*
 * The code at an address as the file has it, up to the end of its segment. ERR_NOT_FOUND when
 * there is none, as in debug files; ERR_FORMAT when the file ends before it.
 */
ERR_CHECKED bool elf_file_code(const struct elf_file *e, uint64_t address, struct cursor *code,
			       struct err *err);
const struct elf_section *elf_find_section(const struct elf_file *e, const char *name);
/* The section of code that holds address, or NULL. */
const struct elf_section *elf_code_at(const struct elf_file *e, uint64_t address);

enum elf_table { ELF_TABLE_NONE, ELF_TABLE_DYNAMIC, ELF_TABLE_FULL };
/* Which table there is. */
enum elf_table elf_table_kind(const struct elf_file *e);
/* Feeds all code symbols of the best table. ERR_FORMAT when the table is damaged. */
ERR_CHECKED bool elf_select(const struct elf_file *e, struct select *s, struct err *err);
/* Shows all code symbols of the best table. Nothing when the table is damaged. */
typedef void elf_symbol_fn(void *ctx, const struct select_symbol *symbol);
void elf_each_symbol(const struct elf_file *e, elf_symbol_fn *visit, void *ctx);

/* cold.c: functions whose rare part the compiler put elsewhere, as a symbol of its own */

struct cold_part {
	uint32_t name, file;	     /* the parent's name in names; the part's own file */
	struct select_symbol parent; /* name NULL: not found */
};
struct cold_parts {
	struct map by_address; /* start of a part -> index in parts */
	VEC(struct cold_part) parts;
	struct intern names;
};
/* "f" of "f.cold" and "f.cold.3"; false when name is no part's. */
bool cold_is_part(const char *name, struct str *parent);
/* Finds the parents of all parts among what select found in e, however many, in two passes. */
void cold_find(struct cold_parts *c, const struct elf_file *e, const struct select *s);
/* The function that the part at address belongs to, or NULL. */
const struct select_symbol *cold_parent(const struct cold_parts *c, uint64_t address);
void cold_done(struct cold_parts *c);

/* plt.c: names of stubs that have no symbol */

struct plt {
	const struct elf_file *elf;
	struct map slots;    /* GOT slot -> symbol index + 1 in .dynsym */
	VEC(uint32_t) order; /* symbol index of the n-th .rela.plt entry */
	struct elf_section dynsym;
	bool loaded;
};
/* False when address is in no PLT. *name is "puts", or NULL when only "[plt]" is known. */
bool plt_find(struct plt *p, const struct elf_file *e, uint64_t address, const char **name,
	      uint64_t *start, uint64_t *size);
void plt_done(struct plt *p);

/* dwarf.c, dwarf-walk.c, dwarf-abbrev.c: lines and inline chains */

struct dwarf_inline {
	const char *name;    /* linkage name where there is one; lives as long as the dwarf_file */
	uint32_t file, line; /* of the call, in the next frame out */
	uint32_t decl_file, decl_line;
};
struct dwarf_answer {	       /* for one wanted address */
	bool found;	       /* some unit covers it */
	uint32_t first, count; /* in inlines, innermost first */
	uint32_t file, line;   /* MODEL_NONE, 0 when unknown */
	const char *function;  /* the physical function as DWARF calls it, or NULL */
	uint64_t function_start;
	uint32_t decl_file, decl_line;
};
struct dwarf_file {
	struct dwarf_answer *answers; /* by index of the wanted address */
	VEC(struct dwarf_inline) inlines;
	struct arena names;
	void *handle, *alt_handle; /* Dwarf * */
	struct elf_file alt;
	char *alt_path;
};
enum dwarf_want { DWARF_LINES = 1, DWARF_INLINES = 2 };
bool dwarf_has(const struct elf_file *e);
/*
 * Answers all wanted addresses. Source paths go into files. ERR_FORMAT when the data is damaged;
 * answers found before that stay.
 */
ERR_CHECKED bool dwarf_resolve(struct dwarf_file *d, const struct elf_file *e, struct wanted w,
			       unsigned want, const char *debug_dir, struct intern *files,
			       struct err *err);
void dwarf_file_done(struct dwarf_file *d);

/* kallsyms.c */

enum kallsyms_found { KALLSYMS_OK, KALLSYMS_HIDDEN };
/* Feeds kallsyms text; all addresses zero is HIDDEN. Names are copied into the arena. */
enum kallsyms_found kallsyms_select(struct str text, struct select *s, struct arena *names);

/* files.c: an image and its separate debug file */

struct image_source {
	const char *path; /* must outlive the files */
	enum elf_access access;
	const char *debug_dir;
	const char *build_id; /* what it must be; NULL: any */
};
struct image_files {
	struct elf_file image, debug;
	char *build_id;		      /* "" when the image has none */
	char *debug_path;	      /* NULL: there is no debug file */
	const struct elf_file *names; /* where the symbol table comes from */
	const struct elf_file *lines; /* where DWARF comes from, or NULL */
};
/* ERR_NOT_FOUND for another build. Close it after a failure too; it stays where it is. */
ERR_CHECKED bool image_files_open(struct image_files *f, const struct image_source *from,
				  struct err *err);
void image_files_close(struct image_files *f);

/* locate.c: where the file of an image lies */

struct located {
	char *path;	     /* NULL: missing */
	const char *why;     /* static or in the arena */
	bool foreign_writer; /* others may write to it while we read */
	bool check_build_id; /* a file found by path: only good when the build id agrees */
};
typedef void symbol_locate_fn(void *ctx, const struct model_image *image, struct arena *a,
			      struct located *out);
symbol_locate_fn symbol_locate_here; /* files of this machine; ctx unused */

/* functions.c: the functions of one image, each once */

struct function_table {
	struct symbols *out;
	struct image_id image;
	struct map by_address; /* of physical functions */
	struct intern inline_names;
	struct map inline_places; /* file and line of a declaration -> a number */
	struct map inlines;	  /* that number and the name -> function */
	uint32_t unknown;	  /* MODEL_NONE until somebody asks */
};
struct function_source { /* where a physical function is declared; MODEL_NONE, 0 when unknown */
	uint32_t file, line;
};
void function_table_init(struct function_table *t, struct symbols *out, struct image_id image);
/* The function that starts at sym->address, made when it is new; shown is what users see. */
struct function_id function_physical(struct function_table *t, const struct select_symbol *sym,
				     const char *shown, const struct function_source *source);
/* Same name, same place of the declaration: same function. */
struct function_id function_inline(struct function_table *t, const struct dwarf_inline *in);
/* name is "[unknown]" and its like; the same one for the whole image. */
struct function_id function_unknown(struct function_table *t, enum symbol_function_kind kind,
				    const char *name);
void function_table_done(struct function_table *t);

/* image.c: one ELF image */

struct image_work {
	struct symbols *out;
	const struct model *model;
	const struct symbol_options *options;
	const char *debug_dir;
	struct image_id image;
	const uint32_t *addr_ids; /* of the model, those in this image */
	size_t addr_count;
	uint64_t *lookups; /* by position in addr_ids: what to look up, where has_lookup */
	bool *has_lookup;
	uint64_t *wanted_at;  /* storage of wanted */
	struct wanted wanted; /* the distinct lookups */
	struct function_table functions;
	uint32_t nowhere; /* the one unknown function of all processes' unmapped addresses */
};
/* Sets out lookups and wanted once lookups are filled in. */
void image_work_sort(struct image_work *w);
/* Gives all addresses without a lookup, or all of them, to an unknown function. */
void image_all_unknown(struct image_work *w, enum symbol_function_kind kind, const char *name);
void image_resolve_elf(struct image_work *w, const struct located *at);
void image_resolve_kernel(struct image_work *w, const struct located *at);

/* resolve.c: as symbols_resolve, with another way to find files */
ERR_CHECKED bool symbols_resolve_from(struct symbols **out, const struct model *m,
				      symbol_locate_fn *locate, void *ctx,
				      const struct symbol_options *options, struct err *err);

/* demangle.cc: the C++ world behind one call. malloc'd, or NULL when it isn't a mangled name. */
char *demangle_itanium(const char *raw, size_t len);
/* rust-v0.c: appends to out; false when raw is no v0 name or a limit was hit. */
bool demangle_rust_v0(struct str raw, struct buf *out);
/* demangle.c: what users see of a raw name; always something. */
const char *symbol_display_name(struct arena *a, const char *raw);

#endif
