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

bool function_is_known(const struct function_table *t, uint64_t address, struct function_id *id)
{
	const uint64_t *known = map_find(&t->by_address, address);

	if (known)
		*id = (struct function_id){ (uint32_t)*known };
	return known;
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
	uint32_t name = intern_put(&t->inline_names, str_of(in->name));

	if (name == t->inline_ids.len)
		vec_add(&t->inline_ids, add(t, &(struct symbol_function){
						       .kind = SYMBOL_INLINE,
						       .name = symbol_display_name(a, in->name),
						       .raw_name = arena_strdup(a, in->name),
						       .file = in->decl_file,
						       .line = in->decl_line,
					       }));
	return (struct function_id){ t->inline_ids.at[name] };
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
	vec_done(&t->inline_ids);
}
