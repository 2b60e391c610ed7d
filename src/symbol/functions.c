/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of one image, each with one id however many addresses lead to it. */
#include "symbol/parts.h"

void function_table_init(struct function_table *t, struct symbols *out, struct image_id image)
{
	*t = (struct function_table){ .out = out, .image = image, .unknown = MODEL_NONE };
}

static uint32_t add(struct function_table *t, const struct symbol_function *f)
{
	uint32_t id = (uint32_t)t->out->functions.len;

	vec_add(&t->out->functions, *f);
	t->out->functions.at[id].image = t->image;
	return id;
}

struct function_id function_physical(struct function_table *t, const struct select_symbol *sym,
				     const char *shown, const struct function_source *source)
{
	struct arena *a = &t->out->arena;
	struct function_id id;
	bool is_new;
	uint64_t *slot = map_put(&t->by_address, sym->address, &is_new);

	if (is_new)
		*slot = add(t, &(struct symbol_function){
				       .kind = SYMBOL_FUNCTION,
				       .name = shown ? shown : symbol_display_name(a, sym->name),
				       .raw_name = arena_strdup(a, sym->name),
				       .address = sym->address,
				       .size = sym->size,
				       .file = source->file,
				       .line = source->line,
			       });
	id = (struct function_id){ (uint32_t)*slot };
	return id;
}

struct function_id function_inline(struct function_table *t, const struct dwarf_inline *in)
{
	struct arena *a = &t->out->arena;
	uint64_t name = intern_put(&t->inline_names, str_of(in->name));
	bool is_new;
	uint64_t *slot;
	uint64_t place;

	/* Every file may have its static inline step(); one of a header is the same in all units. */
	slot = map_put(&t->inline_places, (uint64_t)in->decl_file << 32 | in->decl_line, &is_new);
	if (is_new)
		*slot = t->inline_places.len;
	place = *slot;
	slot = map_put(&t->inlines, place << 32 | name, &is_new);
	if (is_new)
		*slot = add(t, &(struct symbol_function){
				       .kind = SYMBOL_INLINE,
				       .name = symbol_display_name(a, in->name),
				       .raw_name = arena_strdup(a, in->name),
				       .file = in->decl_file,
				       .line = in->decl_line,
			       });
	return (struct function_id){ (uint32_t)*slot };
}

struct function_id function_unknown(struct function_table *t, enum symbol_function_kind kind,
				    const char *name)
{
	if (t->unknown == MODEL_NONE)
		t->unknown = add(t, &(struct symbol_function){
					    .kind = kind,
					    .name = arena_strdup(&t->out->arena, name),
					    .raw_name = "",
					    .file = MODEL_NONE,
				    });
	return (struct function_id){ t->unknown };
}

void function_table_done(struct function_table *t)
{
	map_done(&t->by_address);
	intern_done(&t->inline_names);
	map_done(&t->inline_places);
	map_done(&t->inlines);
}
