/* SPDX-License-Identifier: Apache-2.0 */
/* The front door: resolves a model with the images that its run holds. */
#include "symbol/parts.h"

/* The run, and what it says of images that it does not hold, read once. */
struct run {
	const struct session *s;
	struct kv missing;
	struct intern keys;
	VEC(const char *) why; /* by id of keys; the last of that key */
};

static void read_missing(struct run *r)
{
	const struct buf *text = &r->s->missing_images;

	kv_parse(&r->missing, (struct str){ (const char *)text->at, text->len });
	vec_each(item, &r->missing.items) {
		uint32_t i = intern_put(&r->keys, str_of(item->key));

		if (i == r->why.len)
			vec_push(&r->why);
		r->why.at[i] = item->value;
	}
}

static void locate_in_run(void *ctx, const struct model_image *image, struct arena *a,
			  struct located *out)
{
	const struct run *r = ctx;
	uint32_t i;

	*out = (struct located){ .check_build_id = image->build_id[0] != 0 };
	if (image->key[0])
		out->path = session_image_path(r->s, image->key);
	if (out->path)
		return;
	i = intern_find(&r->keys, str_of(image->key));
	out->why = i == MODEL_NONE ? "the run does not hold it" : arena_strdup(a, r->why.at[i]);
}

bool symbols_resolve(struct symbols **out, const struct model *m, const struct session *s,
		     const struct symbol_options *options, struct err *err)
{
	struct run run = { .s = s };
	bool ok;

	if (!s)
		return symbols_resolve_from(out, m, symbol_locate_here, NULL, options, err);
	read_missing(&run);
	ok = symbols_resolve_from(out, m, locate_in_run, &run, options, err);
	kv_done(&run.missing);
	intern_done(&run.keys);
	vec_done(&run.why);
	return ok;
}
