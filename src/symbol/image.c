/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the wanted addresses of one ELF image: symbols, PLT, DWARF, and what is left unknown. */
#include "symbol/parts.h"

#include <stdlib.h>

/* The files that one image is read from, and what they said. */
struct elf_work {
	struct image_work *w;
	struct image_files files;
	const struct elf_file *lines; /* of files; NULL also when the caller wants none */
	struct select select;
	struct cold_parts cold;
	struct plt plt;
	struct dwarf_file dwarf;
	struct symbol_image *state;
};

static void set_state(struct elf_work *x, enum symbol_image_state state, const char *why)
{
	x->state->state = state;
	x->state->why = arena_strdup(&x->w->out->arena, why);
}

static bool open_files(struct elf_work *x, const struct located *at, struct err *err)
{
	struct image_work *w = x->w;
	struct image_source from = {
		.path = at->path,
		.access = at->foreign_writer ? ELF_COPY : ELF_MAP,
		.debug_dir = w->debug_dir,
		.build_id = at->check_build_id ? w->model->images.at[w->image.i].build_id : NULL,
	};

	if (!image_files_open(&x->files, &from, err))
		return false;
	x->lines = x->files.lines;
	x->state->debug = "";
	if (x->lines)
		x->state->debug = x->lines == &x->files.image ?
					  "image" :
					  arena_strdup(&w->out->arena, x->files.debug_path);
	return true;
}

static void close_files(struct elf_work *x)
{
	dwarf_file_done(&x->dwarf);
	plt_done(&x->plt);
	cold_done(&x->cold);
	select_done(&x->select);
	image_files_close(&x->files);
}

/* Offsets in the file to the image's own addresses. */
static void convert(struct elf_work *x)
{
	struct image_work *w = x->w;

	for (size_t i = 0; i < w->addr_count; i++) {
		const struct model_addr *m = &w->model->addrs.at[w->addr_ids[i]];
		uint64_t back = m->is_return && m->address;

		w->has_lookup[i] =
			elf_file_address(&x->files.image, m->address - back, &w->lookups[i]);
		if (w->has_lookup[i])
			w->out->addr_values[w->addr_ids[i]] = w->lookups[i] + back;
	}
	image_work_sort(w);
}

static struct function_id cold_function(struct elf_work *x, const struct select_symbol *sym,
					struct str name, const struct function_source *source)
{
	struct arena *a = &x->w->out->arena;
	struct function_table *t = &x->w->functions;
	const struct select_symbol *parent = cold_parent(&x->cold, sym->address);

	if (parent)
		return function_physical(t, parent, NULL, source);
	return function_physical(
		t, sym, symbol_display_name(a, arena_strndup(a, name.at, name.len)), source);
}

static struct function_id plt_function(struct elf_work *x, const char *name, uint64_t start,
				       uint64_t size, const struct function_source *source)
{
	struct arena *a = &x->w->out->arena;
	struct select_symbol sym = { .name = "[plt]", .address = start, .size = size };
	const char *shown = "[plt]";

	if (name) {
		sym.name = arena_printf(a, "%s@plt", name);
		shown = arena_printf(a, "%s@plt", symbol_display_name(a, name));
	}
	return function_physical(&x->w->functions, &sym, shown, source);
}

/* The function whose machine code wanted address i is. */
static struct function_id physical(struct elf_work *x, size_t i)
{
	struct select_symbol sym = select_get(&x->select, i);
	const struct dwarf_answer *d = x->lines ? &x->dwarf.answers[i] : NULL;
	struct function_source source = { MODEL_NONE, 0 };
	uint64_t start;
	uint64_t size;
	const char *name;
	struct str parent;

	if (d && d->function)
		source = (struct function_source){ d->decl_file, d->decl_line };
	if (sym.name && cold_is_part(sym.name, &parent))
		return cold_function(x, &sym, parent, &source);
	if (sym.name)
		return function_physical(&x->w->functions, &sym, NULL, &source);
	if (plt_find(&x->plt, &x->files.image, x->w->wanted.at[i], &name, &start, &size))
		return plt_function(x, name, start, size, &source);
	if (d && d->function) {
		sym = (struct select_symbol){ .name = d->function, .address = d->function_start };
		return function_physical(&x->w->functions, &sym, NULL, &source);
	}
	return function_unknown(&x->w->functions, SYMBOL_UNKNOWN, "[unknown]");
}

/* Frames of wanted address i, innermost first. */
static struct symbol_span add_frames(struct elf_work *x, size_t i)
{
	struct symbols *out = x->w->out;
	struct symbol_span span = { .first = (uint32_t)out->frames.len };
	const struct dwarf_answer *d = x->lines ? &x->dwarf.answers[i] : NULL;
	uint32_t file = d ? d->file : MODEL_NONE;
	uint32_t line = d ? d->line : 0;

	for (uint32_t n = 0; d && n < d->count; n++) {
		const struct dwarf_inline *in = &x->dwarf.inlines.at[d->first + n];
		struct function_id f = function_inline(&x->w->functions, in);

		vec_add(&out->frames, ((struct symbol_frame){ f, file, line, true }));
		file = in->file;
		line = in->line;
	}
	vec_add(&out->frames, ((struct symbol_frame){ physical(x, i), file, line, false }));
	span.count = (uint32_t)out->frames.len - span.first;
	return span;
}

static void publish(struct elf_work *x)
{
	struct image_work *w = x->w;
	struct symbol_span *spans = mem_alloc(w->wanted.count * sizeof(spans[0]));

	for (size_t i = 0; i < w->wanted.count; i++)
		spans[i] = add_frames(x, i);
	for (size_t i = 0; i < w->addr_count; i++)
		if (w->has_lookup[i])
			w->out->addrs[w->addr_ids[i]] =
				spans[wanted_lower(&w->wanted, w->lookups[i])];
	free(spans);
}

static enum symbol_image_state state_of(const struct elf_work *x)
{
	if (elf_table_kind(x->files.names) == ELF_TABLE_FULL)
		return x->lines ? SYMBOL_IMAGE_FULL : SYMBOL_IMAGE_NO_LINES;
	if (x->lines)
		return SYMBOL_IMAGE_FULL;
	return elf_table_kind(x->files.names) == ELF_TABLE_DYNAMIC ? SYMBOL_IMAGE_DYNAMIC :
								     SYMBOL_IMAGE_NONE;
}

static void read_dwarf(struct elf_work *x)
{
	const struct symbol_options *o = x->w->options;
	unsigned want = (o->no_lines ? 0 : DWARF_LINES) | (o->no_inlines ? 0 : DWARF_INLINES);
	struct err err;

	if (!want)
		x->lines = NULL;
	if (x->lines && !dwarf_resolve(&x->dwarf, x->lines, x->w->wanted, want, x->w->debug_dir,
				       &x->w->out->files, &err))
		set_state(x, SYMBOL_IMAGE_UNREADABLE, err.text);
}

void image_resolve_elf(struct image_work *w, const struct located *at)
{
	struct elf_work x = { .w = w, .state = &w->out->images[w->image.i] };
	struct err err;

	if (!open_files(&x, at, &err)) {
		set_state(&x,
			  err.kind == ERR_NOT_FOUND ? SYMBOL_IMAGE_MISSING :
						      SYMBOL_IMAGE_UNREADABLE,
			  err.text);
		close_files(&x);
		return;
	}
	convert(&x);
	x.state->state = state_of(&x);
	select_init(&x.select, w->wanted);
	if (!elf_select(x.files.names, &x.select, &err))
		set_state(&x, SYMBOL_IMAGE_UNREADABLE, err.text);
	select_finish(&x.select);
	cold_find(&x.cold, x.files.names, &x.select);
	read_dwarf(&x);
	publish(&x);
	close_files(&x);
}
