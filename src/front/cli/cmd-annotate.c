/* SPDX-License-Identifier: Apache-2.0 */
/* culprit annotate: source and machine code of one function with the samples on each. */
#include <stdlib.h>
#include <string.h>

#include "analyse/analyse.h"
#include "base/name.h"
#include "front/cli/pipeline.h"
#include "symbol/symbol.h"

struct annotate_job {
	struct args *args;
	const char *words;  /* the function as the user calls it */
	const char *report; /* the command that shows all functions */
	struct session *s;  /* NULL: of a file */
	struct analysis a;
	struct store_functions all;
	struct store_found found;	 /* what the words name */
	bool is_alias;			 /* they are another name of it */
	const struct store_function *fn; /* whose code is shown: another one for inlined copies */
	struct store_hosts hosts;	 /* of what was found */
	struct store_samples samples;
	struct code *code;    /* NULL: there is none, see code_why */
	const char *code_why; /* static or in the arena */
	struct annotation annotation;
	struct sources sources;
	struct arena arena;
};

static const struct store_function *function_of(const struct annotate_job *j, uint32_t id)
{
	vec_each(f, &j->all.list)
		if (f->id == id)
			return f;
	return NULL;
}

/* Where an image has no file: what it is, and what would give its code. */
static const char *no_file(const struct store_function *f)
{
	if (!strcmp(f->image_kind, "kernel"))
		return "the code of the kernel is not kept with a recording; look the offsets up in "
		       "a vmlinux of the same build";
	if (!strcmp(f->image_kind, "anon"))
		return "it was made at run time, and its bytes were not recorded; a runtime that "
		       "writes a jitdump gives images to read (perf inject --jit)";
	if (strcmp(f->image_kind, "file") != 0 && strcmp(f->image_kind, "vdso") != 0)
		return "no mapping was recorded for these addresses";
	return NULL;
}

/* The path of the image that holds a function's code; NULL with code_why set. Caller frees. */
static char *find_image(struct annotate_job *j, const struct store_function *f)
{
	char *path = NULL;

	j->code_why = no_file(f);
	if (j->code_why)
		return NULL;
	if (!j->s)
		return symbol_file_here(&j->a.model->images.at[f->image_id], &j->arena,
					&j->code_why);
	path = f->image_key[0] ? session_image_path(j->s, f->image_key) : NULL;
	if (!path)
		j->code_why = arena_printf(
			&j->arena, "the run does not hold %s (%s); record again while it is there",
			f->image, f->image_why[0] ? f->image_why : "it has no build id");
	return path;
}

/* The function whose code in that image begins at the address. */
static const struct store_function *starting_at(const struct annotate_job *j, uint32_t image,
						uint64_t address)
{
	vec_each(f, &j->all.list)
		if (!strcmp(f->kind, "function") && f->image_id == image && f->address == address &&
		    f->code.samples)
			return f;
	return NULL;
}

/* Reports have one name of code that has several; the symbol tables have the others. */
static bool find_alias(struct annotate_job *j)
{
	enum { MOST = 16 }; /* images, hottest first */
	const char *why = j->code_why;
	struct map seen = { 0 };
	size_t count = 0;

	vec_each(f, &j->all.list) {
		const struct store_function *same = NULL;
		char_auto path = NULL;
		uint64_t address;
		bool is_new;

		(void)map_put(&seen, f->image_id, &is_new);
		if (f->image_id == MODEL_NONE || !is_new || ++count > MOST)
			continue;
		path = find_image(j, f);
		if (path &&
		    symbol_find_name(path, j->args->value[OPT_DEBUG_DIR], j->words, &address))
			same = starting_at(j, f->image_id, address);
		if (!same)
			continue;
		j->found = (struct store_found){ .function = same };
		j->is_alias = true;
		break;
	}
	j->code_why = why;
	map_done(&seen);
	return j->is_alias;
}

static bool find_function(struct annotate_job *j, struct err *err)
{
	if (store_function_find(&j->all, j->words, &j->found, err)) {
		/* A whole name that is hidden is meant rather than a part of another one. */
		if (j->found.is_part)
			(void)find_alias(j);
		return true;
	}
	return !strcmp(err_id(err), "NO_SUCH_FUNCTION") && find_alias(j);
}

/* An inlined function has no code of its own: the one that holds most of its samples is shown. */
static bool choose(struct annotate_job *j, struct err *err)
{
	if (!store_functions_load(&j->all, j->a.store, err))
		return false;
	j->all.report = j->report;
	if (!find_function(j, err))
		return false;
	j->fn = j->found.function;
	if (strcmp(j->fn->kind, "inline") != 0)
		return true;
	if (!store_function_hosts(&j->hosts, j->a.store, j->fn->id, err))
		return false;
	j->fn = j->hosts.list.len ? function_of(j, j->hosts.list.at[0].function) : NULL;
	if (j->fn)
		return true;
	return err_set(err, ERR_INTERNAL, "no function holds the inlined copies of %s",
		       j->found.function->name);
}

/* Of code without names only what lies around the address that was asked for. */
static void keep_around(struct annotate_job *j)
{
	struct store_samples *s = &j->samples;
	size_t kept = 0;

	if (!j->found.has_address)
		return;
	for (size_t i = 0; i < s->list.len; i++) {
		uint64_t at = s->list.at[i].address, want = j->found.address;

		if ((at > want ? at - want : want - at) <= STORE_AROUND_BYTES)
			s->list.at[kept++] = s->list.at[i];
	}
	s->list.len = kept;
}

/* The name as a sentence can bear it. */
static const char *brief(struct annotate_job *j, const char *name)
{
	enum { COLUMNS = 60 };
	buf_auto text = { 0 };

	name_shorten(&text, str_of(name), COLUMNS, "...");
	return arena_strndup(&j->arena, buf_str(&text), text.len);
}

/* What has no name begins, as far as is known, at its first sample. */
static void place_unnamed(const struct annotate_job *j, struct code_request *r)
{
	enum { BEHIND = 64 };
	uint64_t first, last;

	if (strcmp(j->fn->kind, "unknown") != 0 || !j->samples.list.len)
		return;
	first = j->samples.list.at[0].address;
	last = j->samples.list.at[j->samples.list.len - 1].address;
	r->address = first;
	if (!j->found.has_address)
		return;
	r->address = j->found.address < first ? j->found.address : first;
	last = j->found.address > last ? j->found.address : last;
	r->size = last - r->address + BEHIND;
}

static void read_code(struct annotate_job *j)
{
	char_auto path = find_image(j, j->fn);
	size_t count = j->samples.list.len;
	uint64_t *sampled;
	struct code_request request = {
		.path = path,
		.debug_dir = j->args->value[OPT_DEBUG_DIR],
		.address = j->fn->address,
		.size = j->fn->size,
		.sampled_count = count,
		.syntax = j->args->value[OPT_INTEL] ? DISASM_INTEL : DISASM_ATT,
	};
	struct err err;

	if (!path)
		return;
	sampled = mem_alloc(sizeof(*sampled) * count);
	for (size_t i = 0; i < count; i++)
		sampled[i] = j->samples.list.at[i].address;
	request.sampled = sampled;
	place_unnamed(j, &request);
	if (!code_read(&j->code, &request, &err))
		j->code_why = arena_strdup(&j->arena, err.text);
	free(sampled);
}

static const char *syntax_of(const struct annotate_job *j)
{
	if (!j->code)
		return "";
	if (j->code->arch == DISASM_AARCH64)
		return "aarch64";
	return j->args->value[OPT_INTEL] ? "x86-64 Intel" : "x86-64 AT&T";
}

/* The program is not younger than the first of these: its file, and the run. */
static uint64_t built_ns(const struct annotate_job *j)
{
	uint64_t image = j->code ? j->code->built_ns : 0;
	uint64_t run = j->s ? j->s->created_realtime_ns : 0;

	return !image || (run && run < image) ? run : image;
}

/* "first_caller (52.10 %), second_caller (47.90 %)", from the nth host on. */
static void put_hosts(struct buf *b, struct annotate_job *j, const struct store_hosts *hosts,
		      size_t from, uint64_t whole)
{
	enum { MOST = 5 };

	for (size_t i = from; i < hosts->list.len && i < from + MOST; i++) {
		const struct store_host *h = &hosts->list.at[i];
		const struct store_function *f = function_of(j, h->function);

		buf_printf(b, "%s%s (%.2f %%)", i > from ? ", " : "",
			   f ? brief(j, f->name) : "[unknown]", hot_pct(h->count.weight, whole));
	}
	if (hosts->list.len > from + MOST)
		buf_printf(b, " and %zu more", hosts->list.len - from - MOST);
}

static void note_copies(struct annotate_job *j, struct findings *f)
{
	uint64_t whole = 0;
	buf_auto first = { 0 };
	buf_auto others = { 0 };
	struct store_hosts one = { 0 };

	if (j->found.function == j->fn)
		return;
	vec_each(h, &j->hosts.list)
		whole += h->count.weight;
	one.list.at = j->hosts.list.at;
	one.list.len = 1;
	put_hosts(&first, j, &one, 0, whole);
	put_hosts(&others, j, &j->hosts, 1, whole);
	findings_note(
		f, "INLINED_ONLY",
		"%s is inlined wherever it has samples; shown is the function that holds most "
		"of them, %s%s%s",
		brief(j, j->found.function->name), buf_str(&first),
		j->hosts.list.len > 1 ? "; others are in " : "", buf_str(&others));
}

static bool is_copy_of(const struct store_function *other, const struct store_function *fn)
{
	return !strcmp(other->kind, "inline") && other->code.samples &&
	       other->image_id == fn->image_id && other->line == fn->line &&
	       !strcmp(other->name, fn->name) && !strcmp(other->file, fn->file);
}

static int by_weight(const void *a, const void *b)
{
	const struct store_host *x = a, *y = b;

	if (x->count.weight != y->count.weight)
		return x->count.weight < y->count.weight ? 1 : -1;
	return (x->function > y->function) - (x->function < y->function);
}

static void add_host(struct store_hosts *all, const struct store_host *from)
{
	vec_each(h, &all->list) {
		if (h->function != from->function)
			continue;
		h->count.samples += from->count.samples;
		h->count.weight += from->count.weight;
		return;
	}
	vec_add(&all->list, *from);
}

/* All that hold inlined copies of what is shown, heaviest first; their sum to *sum. */
static bool find_copies(struct annotate_job *j, struct store_hosts *all, struct hot_count *sum,
			struct err *err)
{
	vec_each(other, &j->all.list) {
		struct store_hosts hosts;

		if (!is_copy_of(other, j->fn))
			continue;
		if (!store_function_hosts(&hosts, j->a.store, other->id, err))
			return false;
		vec_each(h, &hosts.list)
			add_host(all, h);
		vec_done(&hosts.list);
		sum->samples += other->code.samples;
		sum->weight += other->code.weight;
	}
	if (all->list.len)
		qsort(all->list.at, all->list.len, sizeof(*all->list.at), by_weight);
	return true;
}

/* The function itself is shown, and other functions hold copies of it. */
static bool note_other_copies(struct annotate_job *j, struct findings *f, struct err *err)
{
	struct store_hosts hosts = { 0 };
	struct hot_count sum = { 0 };
	buf_auto names = { 0 };
	bool good;

	if (j->found.function != j->fn)
		return true;
	good = find_copies(j, &hosts, &sum, err);
	put_hosts(&names, j, &hosts, 0, sum.weight);
	if (good && sum.samples)
		findings_note(f, "ALSO_INLINED",
			      "%llu more samples are in copies of %s that are inlined into %s",
			      (unsigned long long)sum.samples, j->fn->name, buf_str(&names));
	vec_done(&hosts.list);
	return good;
}

static void note_words(struct annotate_job *j, struct findings *f)
{
	const struct store_function *asked = j->found.function;

	if (j->found.is_part)
		findings_note(f, "PARTIAL_NAME",
			      "no function is called %s; showing the only one that contains it: %s",
			      j->words, brief(j, asked->name));
	if (j->is_alias)
		findings_note(f, "ALIAS", "%s is another name of the code that reports call %s",
			      j->words, brief(j, asked->name));
	if (j->found.has_address)
		findings_note(f, "AROUND_ADDRESS",
			      "no symbol covers 0x%llx: shown is what was sampled within %d bytes "
			      "of it, %llu of the %llu samples of %s:%s",
			      (unsigned long long)j->found.address, STORE_AROUND_BYTES,
			      (unsigned long long)j->annotation.all.samples,
			      (unsigned long long)asked->code.samples, asked->image, asked->name);
}

static bool build(struct annotate_job *j, struct findings **out, struct err *err)
{
	struct listing_input in = { .all = &j->all,
				    .annotation = &j->annotation,
				    .sources = &j->sources };

	if (!choose(j, err) || !store_function_samples(&j->samples, j->a.store, j->fn->id, err))
		return false;
	keep_around(j);
	read_code(j);
	annotate(&j->annotation, j->code, j->samples.list.at, j->samples.list.len);
	j->sources.dir = j->args->value[OPT_SOURCE_DIR];
	j->sources.built_ns = built_ns(j);
	in.function = j->fn;
	in.code = j->code;
	in.code_why = j->code_why;
	in.syntax = syntax_of(j);
	if (!store_listing(out, j->a.store, &in, err))
		return false;
	note_words(j, *out);
	note_copies(j, *out);
	return note_other_copies(j, *out, err);
}

static bool open_recording(struct annotate_job *j, const char *run, struct err *err)
{
	const char *path = j->args->value[OPT_INPUT];

	if (path)
		return analysis_load_input(&j->a, j->args, path, err) &&
		       analysis_build(&j->a, j->args, NULL, path, err);
	return session_open(&j->s, run, err) && analysis_open(&j->a, j->args, j->s, err);
}

/* "culprit report", with the run or the file that this command was given. */
static const char *report_command(struct annotate_job *j, const char *run)
{
	const char *file = j->args->value[OPT_INPUT];

	return arena_printf(&j->arena, "culprit report%s%s",
			    file ? " -i " :
			    run	 ? " " :
				   "",
			    file ? file :
			    run	 ? run :
				   "");
}

static bool read_operands(struct annotate_job *j, const char **run, struct err *err)
{
	size_t count = j->args->operands.len;
	bool of_file = j->args->value[OPT_INPUT] != NULL;

	j->report = report_command(j, count > 1 ? j->args->operands.at[0] : NULL);
	if (!count || count > (of_file ? 1 : 2)) {
		err_set(err, ERR_USAGE,
			of_file ?
				"annotate -i FILE takes one function, not %zu" :
				"annotate takes a function, or a run and a function, not %zu words",
			count);
		return err_hint(err, "%s lists the functions; quote names that have blanks in them",
				j->report);
	}
	*run = count > 1 ? j->args->operands.at[0] : NULL;
	j->words = j->args->operands.at[count - 1];
	if (!j->words[0])
		return err_set(err, ERR_USAGE, "annotate: the function's name is empty");
	return true;
}

static void job_done(struct annotate_job *j)
{
	sources_done(&j->sources);
	annotation_done(&j->annotation);
	code_free(j->code);
	store_samples_done(&j->samples);
	vec_done(&j->hosts.list);
	store_functions_done(&j->all);
	analysis_done(&j->a);
	session_close(j->s);
	arena_done(&j->arena);
}

int cli_annotate(struct args *args)
{
	struct annotate_job j = { .args = args };
	struct findings *f = NULL;
	const char *run = NULL;
	struct err err;
	int status;

	if (!read_operands(&j, &run, &err) || !open_recording(&j, run, &err) ||
	    !build(&j, &f, &err)) {
		status = cli_fail(args, &err, j.s ? j.s->id : NULL);
	} else {
		status = write_findings(args, f);
		if (status == CLI_SOLID)
			status = findings_exit(f);
	}
	findings_free(f);
	job_done(&j);
	return status;
}
