/* SPDX-License-Identifier: Apache-2.0 */
/* The front door: resolves a model with the images that its run holds. */
#include "symbol/parts.h"

static void locate_in_run(void *ctx, const struct model_image *image, struct arena *a,
			  struct located *out)
{
	const struct session *s = ctx;
	struct kv missing = { 0 };
	const char *why;

	*out = (struct located){ .check_build_id = image->build_id[0] != 0 };
	if (image->key[0])
		out->path = session_image_path(s, image->key);
	if (out->path)
		return;
	kv_parse(&missing,
		 (struct str){ (const char *)s->missing_images.at, s->missing_images.len });
	why = kv_find(&missing, image->key);
	out->why = why ? arena_strdup(a, why) : "the run does not hold it";
	kv_done(&missing);
}

bool symbols_resolve(struct symbols **out, const struct model *m, const struct session *s,
		     const struct symbol_options *options, struct err *err)
{
	/* The run is only read; the call's context has no const to be of use to others. */
	return symbols_resolve_from(out, m, s ? locate_in_run : symbol_locate_here,
				    (void *)(uintptr_t)s, options, err);
}
