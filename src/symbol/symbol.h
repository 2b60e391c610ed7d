/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Addresses to functions, lines and inline chains, all of a model at once: each image is opened
 * once, each distinct address looked up once. A chain of resolvers (ELF symbols and DWARF of the
 * run's image, kallsyms, vdso) ends in "[unknown]", which is counted.
 *
 * Names are demangled (Itanium C++, Rust legacy and v0). Never invented: an address outside every
 * symbol stays unknown. ELF and DWARF of an image may be hostile: damage ends in the image's state.
 */
#ifndef CULPRIT_SYMBOL_SYMBOL_H
#define CULPRIT_SYMBOL_SYMBOL_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "model/model.h"
#include "session/session.h"
#include "symbol/code.h"

struct function_id {
	uint32_t i;
};

enum symbol_function_kind {
	SYMBOL_FUNCTION,      /* a symbol covers the address */
	SYMBOL_INLINE,	      /* exists only as an inlined copy */
	SYMBOL_UNKNOWN,	      /* "[unknown]" of one image */
	SYMBOL_KERNEL_HIDDEN, /* "[kernel] (symbols hidden: kptr_restrict=N)" */
};

struct symbol_function {
	enum symbol_function_kind kind;
	const char *name;	/* demangled; what users see */
	const char *raw_name;	/* as in the symbol table, "" when unknown */
	struct image_id image;	/* for inlines: the image they were inlined in */
	uint64_t address, size; /* of the symbol, in the image's own addresses (st_value) */
	uint32_t file;		/* id in files of the declaration, MODEL_NONE */
	uint32_t line;
};

struct symbol_frame {
	struct function_id function;
	uint32_t file; /* id in files, MODEL_NONE when there is no line table */
	uint32_t line; /* 0 unknown */
	bool inlined;  /* this frame was inlined into the next one */
};

/* What was found of an image, for the user. */
enum symbol_image_state {
	SYMBOL_IMAGE_UNUSED,	 /* no sample touched it */
	SYMBOL_IMAGE_FULL,	 /* symbol table and lines */
	SYMBOL_IMAGE_NO_LINES,	 /* .symtab but no DWARF lines */
	SYMBOL_IMAGE_DYNAMIC,	 /* only .dynsym: static functions are unknown */
	SYMBOL_IMAGE_NONE,	 /* the file is there, it has no symbols */
	SYMBOL_IMAGE_MISSING,	 /* the run does not hold it */
	SYMBOL_IMAGE_UNREADABLE, /* damaged ELF or DWARF */
	SYMBOL_IMAGE_HIDDEN,	 /* kernel with kptr_restrict */
};

struct symbols {
	VEC(struct symbol_function) functions;
	VEC(struct symbol_frame) frames;
	struct symbol_span { /* by addr_id: frames innermost first; count is never 0 */
		uint32_t first, count;
	} * addrs;
	size_t addr_count;
	uint64_t *addr_values; /* by addr_id: the address in the image's own terms (vaddr) */
	struct intern files;   /* source paths */
	struct symbol_image {
		enum symbol_image_state state;
		const char *why;   /* for MISSING and UNREADABLE */
		const char *debug; /* where lines came from: "image", path of a debug file, "" */
	} * images;		   /* by image_id */
	size_t image_count;
	uint64_t unknown_addrs;
	struct arena arena;
};

/* "full", "no lines", "dynamic only", "none", "missing", "unreadable", "hidden", "unused". */
const char *symbol_image_state_name(enum symbol_image_state s);

struct symbol_options {
	bool no_inlines;
	bool no_lines;
	/* Folders of separate debug files (build-id layout); NULL: /usr/lib/debug. */
	const char *debug_dir;
	int64_t kptr_restrict; /* of the target when it recorded */
};

/*
 * Resolves every address of the model with the images that the run holds. s may be NULL (a bare
 * perf.data file): then only files of this machine whose build id matches are used. Trouble with
 * single images is no error: it is their state. Blocks.
 */
ERR_CHECKED bool symbols_resolve(struct symbols **out, const struct model *m,
				 const struct session *s, const struct symbol_options *options,
				 struct err *err);
void symbols_free(struct symbols *s);

/*
 * The file of an image on this machine when it is the very one that was recorded: by build id, else
 * by inode. NULL, and why (static or in the arena), when it is not there. Caller frees.
 */
char *symbol_file_here(const struct model_image *image, struct arena *a, const char **why);

/*
 * The address of the code that the symbol table of an ELF file, or of its debug file, calls exactly
 * so (raw names). Reads the whole table: blocks. False too when the file cannot be read.
 */
bool symbol_find_name(const char *path, const char *debug_dir, const char *name, uint64_t *address);

/* The demangled form in the arena, or NULL when raw is not a mangled name. Time and size capped. */
const char *symbol_demangle(struct arena *a, const char *raw);

#endif
