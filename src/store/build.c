/* SPDX-License-Identifier: Apache-2.0 */
/* Makes run.db from the model, symbols, hot spots and evidence of one run, in one transaction. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "store/store-db.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] && path[0] != '[' ? slash + 1 : path;
}

static bool put_events(struct store *s, const struct store_input *in, struct err *err)
{
	const struct model *m = in->model;
	struct filler f;

	if (!filler_init(&f, s, "t_events", 7, err))
		return false;
	for (size_t i = 0; i < m->events.len; i++) {
		const struct model_event *e = &m->events.at[i];

		fill_u64(&f, i);
		fill_text(&f, e->name);
		fill_id(&f, e->is_frequency ? (uint32_t)e->rate : MODEL_NONE);
		fill_id(&f, e->is_frequency ? MODEL_NONE : (uint32_t)e->rate);
		fill_u64(&f, e->samples);
		fill_u64(&f, e->period);
		fill_u64(&f, i == in->hotspots->event);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static const char *image_kind(enum model_image_kind kind)
{
	switch (kind) {
	case MODEL_IMAGE_FILE:
		return "file";
	case MODEL_IMAGE_KERNEL:
		return "kernel";
	case MODEL_IMAGE_VDSO:
		return "vdso";
	case MODEL_IMAGE_ANON:
		return "anon";
	case MODEL_IMAGE_UNKNOWN:
		break;
	}
	return "unknown";
}

/* Samples by image are summed from the functions: the model's own count has idle ones in it. */
static struct hot_count *self_by_image(const struct store_input *in)
{
	struct hot_count *self = mem_alloc(sizeof(*self) * in->model->images.len);

	for (size_t i = 0; i < in->hotspots->functions.len; i++) {
		const struct hot_function *h = &in->hotspots->functions.at[i];
		uint32_t image = in->symbols->functions.at[h->function.i].image.i;

		if (image >= in->model->images.len)
			continue;
		self[image].samples += h->self.samples;
		self[image].weight += h->self.weight;
	}
	return self;
}

static bool put_images(struct store *s, const struct store_input *in, struct err *err)
{
	const struct model *m = in->model;
	struct hot_count *self;
	struct filler f;

	if (!filler_init(&f, s, "t_images", 14, err))
		return false;
	self = self_by_image(in);
	for (size_t i = 0; i < m->images.len; i++) {
		const struct model_image *image = &m->images.at[i];
		const struct symbol_image *found =
			i < in->symbols->image_count ? &in->symbols->images[i] : NULL;

		fill_u64(&f, i);
		fill_text(&f, image_kind(image->kind));
		fill_text(&f, base_name(image->path));
		fill_text(&f, image->path);
		fill_some(&f, image->key);
		fill_some(&f, image->build_id);
		fill_u64(&f, image->deleted);
		fill_u64(&f, image->pid);
		fill_u64(&f, self[i].samples);
		fill_u64(&f, in->hotspots->touched.at[i]);
		fill_text(&f, symbol_image_state_name(found ? found->state : SYMBOL_IMAGE_UNUSED));
		fill_some(&f, found ? found->why : NULL);
		fill_some(&f, found ? found->debug : NULL);
		fill_u64(&f, self[i].weight);
		fill_row(&f);
	}
	free(self);
	return filler_done(&f, err);
}

static bool put_files(struct store *s, const struct symbols *symbols, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_files", 2, err))
		return false;
	for (size_t i = 0; i < symbols->files.names.len; i++) {
		fill_u64(&f, i);
		fill_text(&f, symbols->files.names.at[i]);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static const char *function_kind(enum symbol_function_kind kind)
{
	switch (kind) {
	case SYMBOL_FUNCTION:
		return "function";
	case SYMBOL_INLINE:
		return "inline";
	case SYMBOL_KERNEL_HIDDEN:
		return "hidden";
	case SYMBOL_UNKNOWN:
		break;
	}
	return "unknown";
}

static void fill_function(struct filler *f, size_t id, const struct symbol_function *fn,
			  const struct hot_function *hot)
{
	fill_u64(f, id);
	fill_text(f, function_kind(fn->kind));
	fill_text(f, fn->name);
	fill_some(f, fn->raw_name);
	fill_id(f, fn->image.i);
	fill_u64(f, fn->address);
	fill_u64(f, fn->size);
	fill_id(f, fn->file);
	fill_id(f, fn->line ? fn->line : MODEL_NONE);
	fill_u64(f, hot ? hot->self.samples : 0);
	fill_u64(f, hot ? hot->total.samples : 0);
	fill_u64(f, hot ? hot->self.weight : 0);
	fill_u64(f, hot ? hot->total.weight : 0);
	fill_row(f);
}

static bool put_functions(struct store *s, const struct store_input *in, struct err *err)
{
	size_t count = in->symbols->functions.len;
	const struct hot_function **by_id;
	struct filler f;

	if (!filler_init(&f, s, "t_functions", 13, err))
		return false;
	by_id = mem_alloc(sizeof(*by_id) * count);
	for (size_t i = 0; i < in->hotspots->functions.len; i++)
		by_id[in->hotspots->functions.at[i].function.i] = &in->hotspots->functions.at[i];
	for (size_t i = 0; i < count; i++)
		fill_function(&f, i, &in->symbols->functions.at[i], by_id[i]);
	free(by_id);
	return filler_done(&f, err);
}

static bool put_lines(struct store *s, const struct hotspots *h, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_lines", 7, err))
		return false;
	for (size_t i = 0; i < h->lines.len; i++) {
		const struct hot_line *l = &h->lines.at[i];

		fill_id(&f, l->function.i);
		fill_id(&f, l->file);
		fill_id(&f, l->line ? l->line : MODEL_NONE);
		fill_u64(&f, l->self.samples);
		fill_u64(&f, l->total.samples);
		fill_u64(&f, l->self.weight);
		fill_u64(&f, l->total.weight);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static bool put_instructions(struct store *s, const struct hotspots *h, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_instructions", 7, err))
		return false;
	for (size_t i = 0; i < h->instructions.len; i++) {
		const struct hot_instruction *n = &h->instructions.at[i];

		fill_id(&f, n->function.i);
		fill_id(&f, n->image.i);
		fill_u64(&f, n->address);
		fill_id(&f, n->file);
		fill_id(&f, n->line ? n->line : MODEL_NONE);
		fill_u64(&f, n->self.samples);
		fill_u64(&f, n->self.weight);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static bool put_edges(struct store *s, const struct hotspots *h, struct err *err)
{
	struct filler f;

	if (!filler_init(&f, s, "t_edges", 4, err))
		return false;
	for (size_t i = 0; i < h->edges.len; i++) {
		fill_id(&f, h->edges.at[i].caller.i);
		fill_id(&f, h->edges.at[i].callee.i);
		fill_u64(&f, h->edges.at[i].total.samples);
		fill_u64(&f, h->edges.at[i].total.weight);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static bool put_threads(struct store *s, const struct store_input *in, struct err *err)
{
	const struct model *m = in->model;
	struct filler f;

	if (!filler_init(&f, s, "t_threads", 9, err))
		return false;
	for (size_t i = 0; i < m->threads.len; i++) {
		const struct model_thread *t = &m->threads.at[i];
		struct hot_count count = in->hotspots->threads.at[i];

		fill_u64(&f, i);
		fill_u64(&f, t->pid);
		fill_u64(&f, t->tid);
		fill_text(&f, t->comm);
		fill_text(&f, t->process_comm);
		fill_u64(&f, count.samples);
		fill_u64(&f, in->hotspots->by_period ? count.weight : 0);
		fill_u64(&f, t->idle);
		fill_u64(&f, count.weight);
		fill_row(&f);
	}
	return filler_done(&f, err);
}

static bool fill_all(struct store *s, const struct store_input *in, struct err *err)
{
	return store_exec(s, "BEGIN", err) && store_exec(s, store_schema, err) &&
	       store_put_meta(s, in, err) && put_events(s, in, err) && put_images(s, in, err) &&
	       put_files(s, in->symbols, err) && put_functions(s, in, err) &&
	       put_lines(s, in->hotspots, err) && put_instructions(s, in->hotspots, err) &&
	       put_edges(s, in->hotspots, err) && put_threads(s, in, err) &&
	       store_put_stacks(s, in, err) && store_exec(s, "COMMIT", err);
}

static bool make(struct store *s, const char *file, const struct store_input *in, struct err *err)
{
	if (sqlite3_open_v2(file, &s->db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK)
		return store_err(s, err, s->name);
	/* No journal: the file has no name that anybody reads before it is whole. */
	if (!store_exec(s,
			"PRAGMA page_size = 8192; PRAGMA journal_mode = OFF;"
			"PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;",
			err))
		return false;
	s->trusted = true;
	s->samples = (int64_t)in->evidence->samples;
	s->weight = (int64_t)in->evidence->weight;
	return fill_all(s, in, err);
}

/* Beside path, with a name of its own and readable by its owner alone. */
static char *temporary(const char *path, struct err *err)
{
	char *file = mem_printf("%s.XXXXXX", path);
	int fd = mkostemp(file, O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, errno, "making %s", path);
		free(file);
		return NULL;
	}
	close(fd);
	return file;
}

static bool build_file(struct store *s, const char *path, const struct store_input *in,
		       struct err *err)
{
	char_auto file = temporary(path, err);

	if (!file)
		return false;
	if (make(s, file, in, err)) {
		if (!rename(file, path))
			return true;
		err_sys(err, errno, "renaming %s to %s", file, path);
	}
	unlink(file);
	return false;
}

bool store_build(struct store **out, const char *path, const struct store_input *in,
		 struct err *err)
{
	struct store *s = store_new(path ? path : ":memory:");
	bool ok = path ? build_file(s, path, in, err) : make(s, s->name, in, err);

	s->trusted = false;
	if (ok && store_guard(s, err)) {
		*out = s;
		return true;
	}
	store_close(s);
	return false;
}
