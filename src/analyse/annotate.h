/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A function's instructions with the samples that fell on each, in the order to be shown: by
 * address, a run of instructions of one source line behind a row for that line. A run ends where the
 * line, the inlined function or the piece is another.
 *
 * The rows of instructions hold all samples that came in, each once.
 */
#ifndef CULPRIT_ANALYSE_ANNOTATE_H
#define CULPRIT_ANALYSE_ANNOTATE_H

#include "analyse/hotspots.h"
#include "base/map.h"
#include "symbol/symbol.h"

/* What fell on one address of the function. */
struct annotate_sample {
	uint64_t address;
	const char *file; /* NULL unknown */
	uint32_t line;
	struct hot_count count;
};

enum annotate_kind {
	ANNOTATE_SOURCE,
	ANNOTATE_INSTRUCTION,
	ANNOTATE_PIECE, /* another piece of the function begins */
};
struct annotate_row {
	enum annotate_kind kind;
	uint32_t file, line; /* id in files, MODEL_NONE; line 0 unknown */
	uint64_t address;
	const struct code_insn *insn; /* of INSTRUCTION, NULL: no code was read there */
	const struct code_piece *piece;
	struct hot_count count; /* SOURCE: of the instructions of its run */
	/* Holds a tenth of the function, or the most of its kind; and enough to mean something. */
	bool hot;
};
/* A source line that occurs, with the counts of all its runs. */
struct annotate_line {
	uint32_t file, line;
	struct hot_count count;
};
struct annotation {
	VEC(struct annotate_row) rows;
	VEC(struct annotate_line) lines; /* by file, then by line */
	struct intern files;
	struct hot_count all;
	/* Samples inside an instruction, which are counted for it; and samples where no code is. */
	uint64_t between, outside;
};

/*
 * code may be NULL: then there is a row for each address that was sampled. It must outlive the
 * annotation. samples: rising by address, no address twice. Pure. Never fails.
 */
void annotate(struct annotation *out, const struct code *code,
	      const struct annotate_sample *samples, size_t count);
void annotation_done(struct annotation *a);

#endif
