/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of one function of an image: its pieces (a function may have a cold part
 * elsewhere), each instruction's bytes, source line and inline chain. Addresses are the image's own
 * (vaddr), as in symbols and run.db.
 */
#ifndef CULPRIT_SYMBOL_CODE_H
#define CULPRIT_SYMBOL_CODE_H

#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "symbol/disasm.h"

struct code_piece {
	uint64_t address, size;
	const char *name; /* as users see it, "puts@plt" for a stub, "" where none is known */
};
struct code_insn {
	uint64_t address, target; /* target: of a direct branch, when has_target */
	uint32_t size, piece;
	uint32_t file, line; /* innermost place; file: id in files, MODEL_NONE; line 0 unknown */
	const char *inlined; /* demangled name of the innermost inlined function, NULL when none */
	const char *text;    /* mnemonic, tab, operands */
	const char *target_text; /* "chase+0x10", "malloc@plt"; NULL when no symbol is known */
	bool known, has_target;
	bool is_data; /* a literal pool in AArch64 code: text is ".word" or ".byte"; known */
};
struct code {
	enum disasm_arch arch;
	VEC(struct code_piece) pieces; /* by address, the entry's piece first */
	VEC(struct code_insn) insns;   /* piece by piece, by address */
	struct intern files;	       /* source paths, absolute where DWARF says so */
	uint64_t unknown;	       /* instructions that did not decode */
	uint64_t size_cut;     /* bytes of the request's size that the image does not have */
	const char *lines_why; /* why there are no lines, or NULL */
	uint64_t built_ns;     /* mtime of the image when it was read by path, 0 unknown */
	struct intern texts;   /* what text, inlined and target_text point into */
	struct arena arena;
};

struct code_request {
	const char *path;	/* the ELF file */
	const char *debug_dir;	/* NULL: /usr/lib/debug */
	uint64_t address, size; /* of the function's symbol, as symbols has it */
	/* Addresses that samples named; those outside [address, address + size) bring in the piece
	 * (cold part) that holds them; where no symbol does, a short stretch around them. */
	const uint64_t *sampled;
	size_t sampled_count;
	enum disasm_syntax syntax;
};
/* Generated interpreters reach a megabyte; each byte may become an instruction of 100 bytes here. */
enum { CODE_MAX_BYTES = 4 << 20 };
/*
 * Reads, disassembles and resolves. ERR_NOT_FOUND when the image has no bytes there, ERR_FORMAT
 * when it is damaged, ERR_UNSUPPORTED for another architecture or a file that was not linked,
 * ERR_LIMIT above CODE_MAX_BYTES. A size beyond the end of the code is cut to what is there. A piece
 * without a name ends with its last whole instruction. Size 0 reaches to the next symbol or the end of the section.
 */
ERR_CHECKED bool code_read(struct code **out, const struct code_request *request, struct err *err);
void code_free(struct code *c);

#endif
