/* SPDX-License-Identifier: Apache-2.0 */
/* An annotated function as findings: head, listing, and notes on what the listing rests on. */
#include "store/store-db.h"

#include <stdlib.h>

#include "base/name.h"
#include "base/os.h"

enum {
	NAME_COLUMNS = 60, /* of a name in the question; the head has all of it */
	LINE_BYTES = 4096, /* of a source line; generated ones reach megabytes */
};

struct listing_work {
	struct findings *f;
	struct arena *arena;
	const struct listing_input *in;
	struct listing *out;
	VEC(const char *) files; /* by id of the annotation's files: the copy */
	struct map by_line;	 /* file << 32 | line -> index in texts */
	VEC(const char *) texts;
};

static const char *file_of(struct listing_work *w, uint32_t file)
{
	return file == MODEL_NONE ? NULL : w->files.at[file];
}

/* The line, as far as it is shown. A NUL would hide what stands behind it. */
static const char *keep_line(struct listing_work *w, struct str text)
{
	size_t len = text.len;
	buf_auto b = { 0 };

	if (len > LINE_BYTES) {
		/* Not in the middle of a character. */
		for (len = LINE_BYTES; len > LINE_BYTES - 4; len--)
			if (((unsigned char)text.at[len] & 0xc0) != 0x80)
				break;
	}
	for (size_t i = 0; i < len; i++) {
		if (text.at[i])
			buf_u8(&b, (uint8_t)text.at[i]);
		else
			buf_puts(&b, "\\x00");
	}
	if (len < text.len)
		buf_printf(&b, " ... (%zu more bytes)", text.len - len);
	return arena_strndup(w->arena, buf_str(&b), b.len);
}

/* The same line belongs to many rows, which share its text. */
static const char *line_text(struct listing_work *w, uint32_t file, uint32_t line)
{
	struct str text;
	uint64_t *at;
	bool is_new;

	if (file == MODEL_NONE ||
	    !sources_line(w->in->sources, w->in->annotation->files.names.at[file], line, &text))
		return NULL;
	at = map_put(&w->by_line, (uint64_t)file << 32 | line, &is_new);
	if (is_new) {
		*at = w->texts.len;
		vec_add(&w->texts, keep_line(w, text));
	}
	return w->texts.at[*at];
}

static const char *copy(struct listing_work *w, const char *text)
{
	return text ? arena_strdup(w->arena, text) : NULL;
}

static void add_row(struct listing_work *w, const struct annotate_row *from)
{
	struct listing_row *row = vec_push(&w->out->rows);

	row->file = file_of(w, from->file);
	row->line = from->line;
	row->address = from->address;
	row->offset = (int64_t)(from->address - w->in->function->address);
	row->samples = from->count.samples;
	row->pct = hot_pct(from->count.weight, w->in->all->weight);
	row->function_pct = hot_pct(from->count.weight, w->in->annotation->all.weight);
	row->hot = from->hot;
	switch (from->kind) {
	case ANNOTATE_SOURCE:
		row->kind = LISTING_SOURCE;
		row->text = line_text(w, from->file, from->line);
		break;
	case ANNOTATE_PIECE:
		row->kind = LISTING_PIECE;
		row->text = copy(w, from->piece->name);
		break;
	case ANNOTATE_INSTRUCTION:
		row->kind = LISTING_INSTRUCTION;
		if (!from->insn)
			break;
		row->text = copy(w, from->insn->text);
		row->inlined = copy(w, from->insn->inlined);
		row->target = copy(w, from->insn->target_text);
		break;
	}
}

static void add_line(struct listing_work *w, const struct annotate_line *from)
{
	vec_add(&w->out->lines,
		((struct listing_line){
			.file = file_of(w, from->file),
			.line = from->line,
			.text = line_text(w, from->file, from->line),
			.samples = from->count.samples,
			.pct = hot_pct(from->count.weight, w->in->all->weight),
			.function_pct = hot_pct(from->count.weight, w->in->annotation->all.weight),
		}));
}

/* What the head says of the run's evidence; NULL when it is no such value. */
static const struct cell *evidence_of(const struct findings *f, const char *name,
				      enum cell_kind kind)
{
	vec_each(e, &f->evidence)
		if (!strcmp(e->name, name) && e->value.kind == kind)
			return &e->value;
	return NULL;
}

static const char *source_event(const struct findings *f)
{
	const struct cell *source = evidence_of(f, "source", CELL_TEXT);

	return source ? source->text : "";
}

/* "cycles:ppp", "cycles:P:u", "cpu/event=1/p": was a precise address asked for? */
static bool is_precise(const char *event)
{
	const char *slash = strrchr(event, '/'), *colon = strchr(event, ':');
	const char *modifiers = slash ? slash + 1 : colon ? colon + 1 : "";

	/* A timer's interrupt is late whatever is asked for. */
	if (hotspots_is_timer(event))
		return false;
	/* The name of a tracepoint has a colon too. */
	return !modifiers[strspn(modifiers, ":ukhGHPpSDWeb")] &&
	       modifiers[strcspn(modifiers, "pP")];
}

static const char *caution_for(const char *event)
{
	if (is_precise(event))
		return "as observed. The event was asked to be precise; where the "
		       "processor could not, a sample names an instruction shortly behind the one "
		       "that cost the time, so look at what stands before a hot one too.";
	return "as observed: a sample names the instruction at which the interrupt was "
	       "taken, which is often one or more behind the one that cost the time. Look at what "
	       "stands before a hot one too; this is not corrected yet.";
}

/* What of the code that is shown is not of functions that are inlined there. */
static struct hot_count own_count(const struct listing_work *w)
{
	const struct store_function *fn = w->in->function;
	struct hot_count all = w->in->annotation->all;

	return all.samples == fn->code.samples && fn->self.samples < all.samples ? fn->self : all;
}

static void fill(struct listing_work *w)
{
	const struct store_function *fn = w->in->function;
	const struct annotation *a = w->in->annotation;
	struct hot_count own = own_count(w);
	struct listing *l = w->out;

	l->function = copy(w, fn->name);
	l->raw_name = copy(w, fn->raw_name);
	l->image = copy(w, fn->image);
	l->image_path = copy(w, fn->image_path);
	l->address = fn->address;
	l->size = fn->size;
	l->samples = a->all.samples;
	l->pct = hot_pct(a->all.weight, w->in->all->weight);
	l->self_samples = own.samples;
	l->self_pct = hot_pct(own.weight, w->in->all->weight);
	l->source = source_event(w->f);
	l->syntax = copy(w, w->in->syntax);
	l->caution = caution_for(l->source);
	l->code_why = w->in->code ? NULL : copy(w, w->in->code_why);
	if (w->in->code)
		l->lines_why = copy(w, w->in->code->lines_why);
	if (!w->in->code && !a->lines.len)
		l->lines_why = "the code could not be read";
	vec_each(row, &a->rows)
		add_row(w, row);
	vec_each(line, &a->lines)
		add_line(w, line);
}

static enum verdict verdict_of(const char *name)
{
	enum verdict v = VERDICT_SOLID;

	while (v < VERDICT_NOT_APPLICABLE && strcmp(name, verdict_name(v)) != 0)
		v++;
	return v;
}

static uint64_t run_samples(const struct findings *f)
{
	const struct cell *samples = evidence_of(f, "samples", CELL_INTEGER);

	return samples ? (uint64_t)samples->integer : 0;
}

static void lower(struct findings *f, const char **verdict, const char **why, enum verdict limit,
		  const char *reason)
{
	if (verdict_of(*verdict) < limit)
		*verdict = verdict_name(limit);
	*why = *why && **why ? arena_printf(&f->arena, "%s; %s", *why, reason) : reason;
}

/* What is shown rests on the samples of this code alone, and is never better than the run. */
static void judge(struct listing_work *w)
{
	uint64_t samples = w->in->annotation->all.samples, needed, run_needed;
	enum verdict limit = evidence_of_samples(samples, &needed);
	enum verdict run_limit = evidence_of_samples(run_samples(w->f), &run_needed);
	struct findings *f = w->f;
	buf_auto text = { 0 };
	buf_auto why = { 0 };

	str_count(&text, samples);
	buf_puts(&text, samples == 1 ? " sample in this code" : " samples in this code");
	f->evidence_line = arena_printf(&f->arena, "%s; %s%s%s",
					f->evidence_line ? f->evidence_line : "", buf_str(&text),
					limit == VERDICT_SOLID ? "" : ": ",
					limit == VERDICT_SOLID ? "" : verdict_name(limit));
	/* What the whole run lacks is said already. */
	if (limit <= run_limit)
		return;
	buf_printf(&why, "%s, a %s result needs ", buf_str(&text),
		   limit == VERDICT_UNUSABLE ? "usable" : "solid");
	str_count(&why, needed);
	lower(f, &f->verdict, &f->verdict_why, limit, arena_strdup(&f->arena, buf_str(&why)));
	vec_each(l, &f->levels)
		if (strcmp(l->level, "call path") != 0)
			lower(f, &l->verdict, &l->why, limit,
			      arena_strdup(&f->arena, buf_str(&why)));
}

static void note_samples(struct listing_work *w)
{
	const struct annotation *a = w->in->annotation;

	if (a->between)
		findings_note(w->f, "SAMPLES_BETWEEN_INSTRUCTIONS",
			      "%llu samples are inside an instruction, not at its start; each is "
			      "counted for the one that covers it",
			      (unsigned long long)a->between);
	if (a->outside)
		findings_note(w->f, "SAMPLES_OUTSIDE_CODE",
			      "%llu samples are at addresses where no code could be read; they "
			      "stand at the end",
			      (unsigned long long)a->outside);
	if (w->in->code && w->in->code->unknown)
		findings_note(w->f, "UNKNOWN_INSTRUCTIONS",
			      "%llu instructions are not known to the disassembler",
			      (unsigned long long)w->in->code->unknown);
	/* What no symbol names has no size to be cut. */
	if (w->in->code && w->in->code->size_cut && w->in->function->size)
		findings_note(
			w->f, "SIZE_CUT",
			"the symbol says 0x%llx bytes of code, but the image ends 0x%llx bytes "
			"before that; shown is what is there",
			(unsigned long long)w->in->function->size,
			(unsigned long long)w->in->code->size_cut);
	if (!w->in->code)
		findings_note(w->f, "NO_CODE", "no instructions are shown: %s", w->in->code_why);
	else if (w->in->code->lines_why)
		findings_note(w->f, "NO_LINES", "no source lines are shown: %s",
			      w->in->code->lines_why);
}

/* One note for all files of one fate, naming the first few. */
static void note_files(struct listing_work *w, bool newer, const char *id, const char *before,
		       const char *behind)
{
	enum { MOST = 3 };
	buf_auto names = { 0 };
	size_t count = 0;

	vec_each(f, &w->in->sources->files) {
		if (newer ? !f->newer : f->state == SOURCE_FOUND)
			continue;
		if (count < MOST)
			buf_printf(&names, "%s%s", count ? ", " : "",
				   newer && f->path ? f->path : f->name);
		if (f->state == SOURCE_UNREADABLE && count < MOST)
			buf_puts(&names, " (cannot be read, is no file, or is above 16 MiB)");
		count++;
	}
	if (count > MOST)
		buf_printf(&names, " and %zu more", count - MOST);
	if (count)
		findings_note(w->f, id, "%s: %s%s", before, buf_str(&names), behind);
}

bool store_listing(struct findings **out, struct store *s, const struct listing_input *in,
		   struct err *err)
{
	struct findings *f = mem_alloc(sizeof(*f));
	struct listing_work w = { .f = f, .arena = &f->arena, .in = in };
	buf_auto name = { 0 };

	if (!store_head(f, s, err)) {
		findings_free(f);
		return false;
	}
	name_shorten(&name, str_of(in->function->name), NAME_COLUMNS, "...");
	f->question =
		arena_printf(&f->arena, "Which instructions of %s cost the time?", buf_str(&name));
	f->listing = w.out = arena_alloc(&f->arena, sizeof(*w.out));
	for (size_t i = 0; i < in->annotation->files.names.len; i++)
		vec_add(&w.files, copy(&w, in->annotation->files.names.at[i]));
	fill(&w);
	judge(&w);
	note_samples(&w);
	note_files(&w, false, "SOURCE_MISSING", "source that is not here",
		   "; --source-dir DIR looks under DIR, with leading parts of the path left off");
	note_files(&w, true, "SOURCE_NEWER",
		   "source that changed after the program was built, so that lines may have moved",
		   "");
	vec_done(&w.files);
	vec_done(&w.texts);
	map_done(&w.by_line);
	*out = f;
	return true;
}
