/* SPDX-License-Identifier: Apache-2.0 */
/* Gives samples to the instructions that cover them, and groups instructions by source line. */
#include "analyse/annotate.h"

#include <stdlib.h>

#include "analyse/work.h"

enum {
	HOT_PARTS = 10,	  /* what holds one of so many parts of the function is hot */
	HOT_SAMPLES = 10, /* fewer in one place are chance */
};

struct annotate_work {
	struct annotation *out;
	const struct code *code;
	uint32_t *by_address;	  /* instructions of code, rising by address */
	struct hot_count *counts; /* by instruction of code */
	bool has_lines;
	uint32_t piece;
};

static int by_insn_address(const void *a, const void *b, void *ctx)
{
	const struct code *c = ctx;
	uint64_t x = c->insns.at[*(const uint32_t *)a].address;
	uint64_t y = c->insns.at[*(const uint32_t *)b].address;

	return (x > y) - (x < y);
}

static void sort_insns(struct annotate_work *w)
{
	size_t count = w->code->insns.len;

	w->by_address = mem_alloc(sizeof(*w->by_address) * count);
	w->counts = mem_alloc(sizeof(*w->counts) * count);
	for (size_t i = 0; i < count; i++)
		w->by_address[i] = (uint32_t)i;
	if (count)
		qsort_r(w->by_address, count, sizeof(*w->by_address), by_insn_address,
			(void *)(uintptr_t)w->code);
}

/* The instruction that covers address, or MODEL_NONE. */
static uint32_t insn_at(const struct annotate_work *w, uint64_t address)
{
	size_t low = 0, high = w->code ? w->code->insns.len : 0;
	const struct code_insn *n;

	/* The last one that does not start behind it. */
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (w->code->insns.at[w->by_address[middle]].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return MODEL_NONE;
	n = &w->code->insns.at[w->by_address[low - 1]];
	return address - n->address < n->size ? w->by_address[low - 1] : MODEL_NONE;
}

static bool is_same_inline(const struct code_insn *a, const struct code_insn *b)
{
	const char *x = a ? a->inlined : NULL, *y = b ? b->inlined : NULL;

	return x == y || (x && y && !strcmp(x, y));
}

static bool goes_on(const struct annotate_row *last, const struct annotate_row *row)
{
	return last->kind == ANNOTATE_INSTRUCTION && last->file == row->file &&
	       last->line == row->line && is_same_inline(last->insn, row->insn);
}

/* A row for the instruction, behind one for its source line where a new run begins. */
static void add_row(struct annotate_work *w, struct annotate_row row)
{
	struct annotation *out = w->out;

	if (w->has_lines && (!out->rows.len || !goes_on(&out->rows.at[out->rows.len - 1], &row)))
		vec_add(&out->rows, ((struct annotate_row){ .kind = ANNOTATE_SOURCE,
							    .file = row.file,
							    .line = row.line,
							    .address = row.address }));
	vec_add(&out->rows, row);
}

static void add_insn(struct annotate_work *w, const struct code_insn *n, struct hot_count count)
{
	struct annotate_row row = { .kind = ANNOTATE_INSTRUCTION,
				    .file = MODEL_NONE,
				    .address = n->address,
				    .insn = n,
				    .count = count };

	if (n->piece != w->piece)
		vec_add(&w->out->rows,
			((struct annotate_row){ .kind = ANNOTATE_PIECE,
						.file = MODEL_NONE,
						.address = n->address,
						.piece = &w->code->pieces.at[n->piece] }));
	w->piece = n->piece;
	if (n->line && n->file != MODEL_NONE) {
		row.file = intern_put(&w->out->files, str_of(w->code->files.names.at[n->file]));
		row.line = n->line;
	}
	add_row(w, row);
}

static void add_sample(struct annotate_work *w, const struct annotate_sample *s)
{
	struct annotate_row row = { .kind = ANNOTATE_INSTRUCTION,
				    .file = MODEL_NONE,
				    .address = s->address,
				    .count = s->count };

	if (s->line && s->file) {
		row.file = intern_put(&w->out->files, str_of(s->file));
		row.line = s->line;
	}
	add_row(w, row);
}

static bool has_lines(const struct code *code, const struct annotate_sample *samples, size_t count)
{
	for (size_t i = 0; code && i < code->insns.len; i++)
		if (code->insns.at[i].line && code->insns.at[i].file != MODEL_NONE)
			return true;
	for (size_t i = 0; i < count; i++)
		if (samples[i].line && samples[i].file)
			return true;
	return false;
}

static void fill_rows(struct annotate_work *w, const struct annotate_sample *samples, size_t count)
{
	bool *outside = mem_alloc(sizeof(*outside) * count);

	for (size_t i = 0; i < count; i++) {
		uint32_t n = insn_at(w, samples[i].address);

		work_add(&w->out->all, samples[i].count);
		outside[i] = n == MODEL_NONE;
		if (outside[i]) {
			w->out->outside += w->code ? samples[i].count.samples : 0;
			continue;
		}
		work_add(&w->counts[n], samples[i].count);
		if (w->code->insns.at[n].address != samples[i].address)
			w->out->between += samples[i].count.samples;
	}
	for (size_t i = 0; w->code && i < w->code->insns.len; i++)
		add_insn(w, &w->code->insns.at[i], w->counts[i]);
	for (size_t i = 0; i < count; i++)
		if (outside[i])
			add_sample(w, &samples[i]);
	free(outside);
}

/* The sum of a run goes to the row of its line. */
static void sum_runs(struct annotation *a)
{
	struct annotate_row *source = NULL;

	vec_each(row, &a->rows) {
		if (row->kind != ANNOTATE_INSTRUCTION)
			source = row->kind == ANNOTATE_SOURCE ? row : NULL;
		else if (source)
			work_add(&source->count, row->count);
	}
}

static int by_line(const void *a, const void *b)
{
	const struct annotate_line *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void sum_lines(struct annotation *a)
{
	size_t kept = 0;

	vec_each(row, &a->rows)
		if (row->kind == ANNOTATE_SOURCE && row->line)
			vec_add(&a->lines,
				((struct annotate_line){ row->file, row->line, row->count }));
	if (!a->lines.len)
		return;
	qsort(a->lines.at, a->lines.len, sizeof(*a->lines.at), by_line);
	for (size_t i = 1; i < a->lines.len; i++) {
		if (!by_line(&a->lines.at[kept], &a->lines.at[i]))
			work_add(&a->lines.at[kept].count, a->lines.at[i].count);
		else
			a->lines.at[++kept] = a->lines.at[i];
	}
	a->lines.len = kept + 1;
}

static void mark_hot(struct annotation *a, enum annotate_kind kind)
{
	struct annotate_row *most = NULL;

	vec_each(row, &a->rows) {
		if (row->kind != kind || !row->count.weight || row->count.samples < HOT_SAMPLES)
			continue;
		row->hot = row->count.weight >=
			   a->all.weight / HOT_PARTS + (a->all.weight % HOT_PARTS != 0);
		if (!most || row->count.weight > most->count.weight)
			most = row;
	}
	if (most)
		most->hot = true;
}

void annotate(struct annotation *out, const struct code *code,
	      const struct annotate_sample *samples, size_t count)
{
	struct annotate_work w = { .out = out, .code = code };

	*out = (struct annotation){ 0 };
	if (code)
		sort_insns(&w);
	w.has_lines = has_lines(code, samples, count);
	fill_rows(&w, samples, count);
	sum_runs(out);
	sum_lines(out);
	mark_hot(out, ANNOTATE_SOURCE);
	mark_hot(out, ANNOTATE_INSTRUCTION);
	free(w.by_address);
	free(w.counts);
}

void annotation_done(struct annotation *a)
{
	vec_done(&a->rows);
	vec_done(&a->lines);
	intern_done(&a->files);
}
