/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a recipe found: the one tree that every renderer reads. Renderers see nothing else.
 * All strings lie in the arena. Raw bytes of names are kept; renderers escape.
 */
#ifndef CULPRIT_STORE_FINDINGS_H
#define CULPRIT_STORE_FINDINGS_H

#include "base/mem.h"
#include "base/str.h"

enum cell_kind { CELL_NULL, CELL_TEXT, CELL_INTEGER, CELL_REAL, CELL_BOOLEAN };

struct cell {
	enum cell_kind kind;
	const char *text; /* TEXT; for NULL: why it is not available, or NULL */
	size_t text_len;
	int64_t integer; /* INTEGER; BOOLEAN as 0 or 1 */
	double real;
};

/* How a column is shown. */
enum column_kind {
	COLUMN_TEXT,	 /* left, cut in the middle when the terminal is narrow */
	COLUMN_COUNT,	 /* right, thousands separated in text */
	COLUMN_PCT,	 /* right, two decimals in text; 0..100 */
	COLUMN_NUMBER,	 /* right, as it is */
	COLUMN_DURATION, /* nanoseconds */
	COLUMN_BYTES,
	COLUMN_ADDRESS, /* integer shown as 0x hex; a string in JSON */
	COLUMN_ID,	/* integer id: a string in JSON, not in text */
	COLUMN_TREE,	/* text, indented by the row's "depth" column */
	COLUMN_HIDDEN,	/* in JSON and CSV, not in text */
	COLUMN_PLACE,	/* file:line text, shortened from the left */
};

struct column {
	const char *name;  /* JSON key and CSV header */
	const char *label; /* text header */
	enum column_kind kind;
};

struct table {
	const char *id, *title;
	const char *empty; /* said in place of an empty table */
	struct column *columns;
	size_t column_count;
	VEC(struct cell) cells; /* row by row */
	uint64_t more;		/* rows that the recipe's cut left out ("12 more") */
	const char *more_text;	/* what they hold together, e.g. "3.10 %"; or NULL */
	double more_pct;	/* the same as a number when more_text is set */
	bool hidden;		/* not in text */
};

static inline size_t table_rows(const struct table *t)
{
	return t->column_count ? t->cells.len / t->column_count : 0;
}

static inline const struct cell *table_cell(const struct table *t, size_t row, size_t column)
{
	return &t->cells.at[row * t->column_count + column];
}

struct finding {
	const char *id;
	const char *severity; /* "info", "warning", "problem" */
	const char *text;
	const char *basis; /* the numbers it rests on */
};

struct note {
	const char *id, *text;
};

/* A flat key -> cell list: evidence and target in JSON. */
struct field {
	const char *name;
	struct cell value;
};

/* The verdict of one level: "function", "line", "instruction", "call path". */
struct level {
	const char *level, *verdict; /* verdict: also "not applicable" */
	const char *why;	     /* "" when solid */
};

/*
 * A function with its instructions, source lines in between. Rows are in the order to be shown: by
 * address, a run of instructions of one source line behind a row for that line.
 */
enum listing_kind {
	LISTING_SOURCE,	     /* a source line; text NULL when the source is not there */
	LISTING_INSTRUCTION, /* text NULL when the code is not there, only its samples */
	LISTING_PIECE,	     /* another piece of the function begins: text is its name */
};
struct listing_row {
	enum listing_kind kind;
	const char *file; /* source path, NULL unknown */
	uint32_t line;	  /* 0 unknown */
	/* The line without its newline, cut when very long, NUL as "\x00"; or mnemonic, tab, operands. */
	const char *text;
	/* INSTRUCTION */
	uint64_t address;
	int64_t offset;	     /* from the function's start */
	const char *inlined; /* the inlined function that it belongs to, or NULL */
	const char *target;  /* what a branch goes to: "chase+0x10", or NULL */
	uint64_t samples;    /* as observed; SOURCE: of the instructions of its run */
	double pct;	     /* of all time (docs/json.md) */
	double function_pct; /* of the function's own time */
	bool hot;	     /* one of the hottest */
};
/* A source line that occurs, with the samples of all its runs. */
struct listing_line {
	const char *file;
	uint32_t line;
	const char *text; /* NULL when the source is not there */
	uint64_t samples;
	double pct, function_pct;
};
struct listing {
	const char *function, *raw_name, *image, *image_path;
	uint64_t address, size;	     /* size 0: no symbol says where it begins */
	uint64_t samples;	     /* of the function's code, with what is inlined into it */
	double pct;		     /* of all time */
	uint64_t self_samples;	     /* of those, without what is inlined: as reports count them */
	double self_pct;	     /* of all time */
	const char *source, *syntax; /* "cpu-clock"; "aarch64", "x86-64 AT&T", "x86-64 Intel" */
	const char *caution;	     /* how far the address of a sample may be trusted */
	const char *code_why;	     /* why there are no instructions' texts, or NULL */
	const char *lines_why;	     /* why there are no source lines, or NULL */
	VEC(struct listing_row) rows;
	VEC(struct listing_line) lines; /* by file in the order of the rows, then by line */
};

struct findings {
	const char *recipe, *question;
	const char *run;	 /* id, or NULL when there is no run */
	const char *command;	 /* shown in the head */
	const char *verdict;	 /* "solid", "weak", "unusable" */
	const char *verdict_why; /* "" when solid */
	const char *evidence_line;
	VEC(struct field) target, evidence;
	VEC(struct level) levels;
	VEC(struct table) tables;
	VEC(struct finding) findings;
	VEC(struct note) notes;
	VEC(struct field) cost;	    /* the agent's own: agent_cpu_ms, machine_pct, wall_ms, ... */
	VEC(struct field) workload; /* exit_code, signal, cpu_ms */
	struct listing *listing;    /* of annotate, in the arena; or NULL */
	struct arena arena;
};

void findings_free(struct findings *f);
/* For callers that know more: adds a note. */
void findings_note(struct findings *f, const char *id, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
