/* SPDX-License-Identifier: Apache-2.0 */
/* Takes a model apart by image, hands each image to who can read it, counts what stays unknown. */
#include "symbol/parts.h"

#include <stdlib.h>

enum { KALLSYMS_MAX_BYTES = 256 << 20 };

const char *symbol_image_state_name(enum symbol_image_state s)
{
	switch (s) {
	case SYMBOL_IMAGE_UNUSED:
		return "unused";
	case SYMBOL_IMAGE_FULL:
		return "full";
	case SYMBOL_IMAGE_NO_LINES:
		return "no lines";
	case SYMBOL_IMAGE_DYNAMIC:
		return "dynamic only";
	case SYMBOL_IMAGE_NONE:
		return "none";
	case SYMBOL_IMAGE_MISSING:
		return "missing";
	case SYMBOL_IMAGE_UNREADABLE:
		return "unreadable";
	case SYMBOL_IMAGE_HIDDEN:
		return "hidden";
	}
	return "unknown";
}

void image_work_sort(struct image_work *w)
{
	size_t count = 0;

	for (size_t i = 0; i < w->addr_count; i++)
		if (w->has_lookup[i])
			w->wanted_at[count++] = w->lookups[i];
	w->wanted = wanted_sort(w->wanted_at, count);
}

void image_all_unknown(struct image_work *w, enum symbol_function_kind kind, const char *name)
{
	struct symbols *out = w->out;
	struct symbol_span span = { 0 };

	for (size_t i = 0; i < w->addr_count; i++) {
		struct symbol_span *s = &out->addrs[w->addr_ids[i]];

		if (s->count)
			continue;
		if (!span.count) {
			span = (struct symbol_span){ (uint32_t)out->frames.len, 1 };
			vec_add(&out->frames,
				((struct symbol_frame){
					.function = function_unknown(&w->functions, kind, name),
					.file = MODEL_NONE,
				}));
		}
		*s = span;
	}
}

static void hide_kernel(struct image_work *w)
{
	int64_t restricted = w->options->kptr_restrict;
	char_auto name =
		mem_printf("[kernel] (symbols hidden: kptr_restrict=%lld)", (long long)restricted);

	w->out->images[w->image.i].state = SYMBOL_IMAGE_HIDDEN;
	image_all_unknown(w, SYMBOL_KERNEL_HIDDEN, name);
}

static void name_kernel(struct image_work *w, const struct select *s)
{
	struct function_source nowhere = { MODEL_NONE, 0 };

	for (size_t i = 0; i < w->addr_count; i++) {
		struct select_symbol sym = select_get(s, wanted_lower(&w->wanted, w->lookups[i]));

		if (!sym.name)
			continue;
		w->out->addrs[w->addr_ids[i]] =
			(struct symbol_span){ (uint32_t)w->out->frames.len, 1 };
		vec_add(&w->out->frames,
			((struct symbol_frame){
				.function = function_physical(&w->functions, &sym, NULL, &nowhere),
				.file = MODEL_NONE,
			}));
	}
}

void image_resolve_kernel(struct image_work *w, const struct located *at)
{
	struct symbol_image *state = &w->out->images[w->image.i];
	buf_auto text = { 0 };
	struct select s;
	struct err err;

	if (!os_load_file(at->path, KALLSYMS_MAX_BYTES, &text, &err)) {
		state->state = SYMBOL_IMAGE_UNREADABLE;
		state->why = arena_strdup(&w->out->arena, err.text);
		image_all_unknown(w, SYMBOL_UNKNOWN, "[kernel]");
		return;
	}
	for (size_t i = 0; i < w->addr_count; i++) {
		const struct model_addr *m = &w->model->addrs.at[w->addr_ids[i]];

		w->lookups[i] = m->address - (m->is_return && m->address);
		w->has_lookup[i] = true;
	}
	image_work_sort(w);
	select_init(&s, w->wanted);
	state->state = SYMBOL_IMAGE_NO_LINES;
	if (kallsyms_select((struct str){ buf_str(&text), text.len }, &s, &w->out->arena) ==
	    KALLSYMS_HIDDEN) {
		hide_kernel(w);
	} else {
		select_finish(&s);
		name_kernel(w, &s);
	}
	select_done(&s);
}

/* Nobody has the file. */
static void give_up(struct image_work *w, const char *why)
{
	const struct model_image *image = &w->model->images.at[w->image.i];

	w->out->images[w->image.i].state = SYMBOL_IMAGE_MISSING;
	w->out->images[w->image.i].why = why;
	if (image->kind != MODEL_IMAGE_KERNEL)
		return;
	if (w->options->kptr_restrict > 0)
		hide_kernel(w);
	else
		image_all_unknown(w, SYMBOL_UNKNOWN, "[kernel]");
}

static void resolve_image(struct image_work *w, symbol_locate_fn *locate, void *ctx)
{
	const struct model_image *image = &w->model->images.at[w->image.i];
	struct symbol_image *state = &w->out->images[w->image.i];
	struct located at = { 0 };

	if (image->kind == MODEL_IMAGE_ANON || image->kind == MODEL_IMAGE_UNKNOWN) {
		state->state = SYMBOL_IMAGE_NONE;
		state->why = image->kind == MODEL_IMAGE_ANON ? "memory without a file" :
							       "no mapping covers it";
		/* Broken chains of all processes end in one place, or a tree is full of twins. */
		if (image->kind == MODEL_IMAGE_UNKNOWN)
			w->functions.unknown = w->nowhere;
	} else {
		locate(ctx, image, &w->out->arena, &at);
		if (!at.path)
			give_up(w, at.why);
		else if (image->kind == MODEL_IMAGE_KERNEL)
			image_resolve_kernel(w, &at);
		else
			image_resolve_elf(w, &at);
		free(at.path);
	}
	image_all_unknown(w, SYMBOL_UNKNOWN, "[unknown]");
	if (image->kind == MODEL_IMAGE_UNKNOWN)
		w->nowhere = w->functions.unknown;
}

/* Ids of addresses by image: those of image i are order[start[i]] .. order[start[i + 1]]. */
static void group(const struct model *m, uint32_t *order, size_t *start)
{
	size_t images = m->images.len;

	vec_each(a, &m->addrs)
		start[a->image.i + 2]++;
	for (size_t i = 2; i < images + 2; i++)
		start[i] += start[i - 1];
	for (uint32_t id = 0; id < m->addrs.len; id++)
		order[start[m->addrs.at[id].image.i + 1]++] = id;
}

static void count_unknown(struct symbols *s)
{
	for (size_t i = 0; i < s->addr_count; i++) {
		const struct symbol_frame *f = &s->frames.at[s->addrs[i].first];

		if (s->functions.at[f->function.i].kind == SYMBOL_UNKNOWN)
			s->unknown_addrs++;
	}
}

static struct symbols *new_symbols(const struct model *m)
{
	struct symbols *s = mem_alloc(sizeof(*s));

	s->addr_count = m->addrs.len;
	s->image_count = m->images.len;
	s->addrs = mem_alloc(s->addr_count * sizeof(s->addrs[0]));
	s->addr_values = mem_alloc(s->addr_count * sizeof(s->addr_values[0]));
	s->images = mem_alloc(s->image_count * sizeof(s->images[0]));
	for (size_t i = 0; i < s->addr_count; i++)
		s->addr_values[i] = m->addrs.at[i].address;
	for (size_t i = 0; i < s->image_count; i++)
		s->images[i].why = s->images[i].debug = "";
	return s;
}

bool symbols_resolve_from(struct symbols **out, const struct model *m, symbol_locate_fn *locate,
			  void *ctx, const struct symbol_options *options, struct err *err)
{
	struct symbols *s = new_symbols(m);
	uint32_t *order = mem_alloc(m->addrs.len * sizeof(order[0]));
	size_t *start = mem_alloc((m->images.len + 2) * sizeof(start[0]));
	struct image_work w = {
		.out = s,
		.model = m,
		.options = options,
		.debug_dir = options->debug_dir ? options->debug_dir : "/usr/lib/debug",
		.lookups = mem_alloc(m->addrs.len * sizeof(uint64_t)),
		.has_lookup = mem_alloc(m->addrs.len * sizeof(bool)),
		.wanted_at = mem_alloc(m->addrs.len * sizeof(uint64_t)),
		.nowhere = MODEL_NONE,
	};

	(void)err;
	group(m, order, start);
	for (uint32_t i = 0; i < m->images.len; i++) {
		w.image = (struct image_id){ i };
		w.addr_ids = order + start[i];
		w.addr_count = start[i + 1] - start[i];
		if (!w.addr_count)
			continue;
		w.wanted = (struct wanted){ w.wanted_at, 0 };
		function_table_init(&w.functions, s, w.image);
		resolve_image(&w, locate, ctx);
		function_table_done(&w.functions);
	}
	free(w.lookups);
	free(w.has_lookup);
	free(w.wanted_at);
	free(order);
	free(start);
	count_unknown(s);
	*out = s;
	return true;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	vec_done(&s->functions);
	vec_done(&s->frames);
	free(s->addrs);
	free(s->addr_values);
	free(s->images);
	intern_done(&s->files);
	arena_done(&s->arena);
	free(s);
}
