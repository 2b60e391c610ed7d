/* SPDX-License-Identifier: Apache-2.0 */
/* From a capture file to findings: model, images, symbols, numbers, run.db, recipe. */
#include <stdlib.h>
#include <unistd.h>

#include "front/cli/pipeline.h"

/* Notes the time that a stage took in the run. */
static void stage(struct analysis *a, struct session *s, const char *name)
{
	uint64_t now = os_now_ns();

	if (s && a->stage_start_ns)
		kv_put_u64(&s->stages, name, now - a->stage_start_ns);
	a->stage_start_ns = now;
}

static void show_progress(void *ctx, uint64_t done, uint64_t total)
{
	const struct args *args = ctx;

	if (total > 64u << 20)
		cli_live(args, "reading %.0f of %.0f MB", (double)done / 1e6, (double)total / 1e6);
}

bool analysis_load(struct analysis *a, const struct args *args, const char *path, struct err *err)
{
	struct model_options options = { .event = -1,
					 .progress = show_progress,
					 .progress_ctx = (void *)(uintptr_t)args };
	bool ok;

	a->stage_start_ns = os_now_ns();
	if (!os_map_file(path, &a->map, err))
		return false;
	if (!perfdata_open(&a->pd, path, a->map.bytes, a->map.len, err))
		return false;
	a->has_pd = true;
	ok = model_load(&a->model, &a->pd, &options, err);
	if (a->map.len > 64u << 20)
		cli_live(args, "%s", "");
	return ok;
}

/* The image as the agent would know it. */
static struct job_image wanted(const struct model_image *img)
{
	struct job_image want = {
		.kind = JOB_IMAGE_FILE,
		.device_major = img->device_major,
		.device_minor = img->device_minor,
		.inode = img->inode,
		.inode_generation = img->inode_generation,
		.pid = img->pid,
		.path = img->path,
	};

	memcpy(want.build_id, img->build_id, sizeof(want.build_id));
	if (img->kind == MODEL_IMAGE_VDSO)
		want.kind = JOB_IMAGE_VDSO;
	if (img->kind == MODEL_IMAGE_KERNEL)
		want.kind = JOB_IMAGE_KALLSYMS;
	return want;
}

/* Fetches one image; trouble is noted, not returned, unless the agent is gone. */
static void fetch_one(struct remote *r, struct session *s, const struct model_image *img,
		      const char *cache_key)
{
	struct job_image want = wanted(img);
	struct session_image new;
	char build_id[41] = "";
	struct err err;

	if (cache_key && session_image_link(s, img->key, cache_key))
		return;
	if (!session_image_create(s, &new, &err)) {
		kv_put(&s->missing_images, img->key, err.text);
		return;
	}
	if (!remote_fetch_image(r, &want, new.fd, img->path, build_id, &err)) {
		session_image_discard(&new);
		kv_put(&s->missing_images, img->key, err.text);
		if (img->kind == MODEL_IMAGE_KERNEL && err.hint[0])
			kv_printf(&s->notes, err_id(&err), "%s: %s", err.text, err.hint);
		return;
	}
	if (!session_image_commit(s, &new, img->key, cache_key, &err))
		kv_put(&s->missing_images, img->key, err.text);
}

bool analysis_fetch_images(struct analysis *a, struct remote *r, struct session *s,
			   const char *kernel_cache_key, struct err *err)
{
	(void)err;
	stage(a, s, "load");
	vec_each(img, &a->model->images) {
		const char *cache_key = img->build_id[0] ? img->build_id : NULL;

		if (!img->touched || !img->key[0])
			continue;
		if (img->kind == MODEL_IMAGE_KERNEL)
			cache_key = kernel_cache_key;
		/* One kernel and one vdso entry may come under several paths. */
		fetch_one(r, s, img, cache_key);
	}
	stage(a, s, "images");
	return true;
}

static int64_t kptr_restrict_of(const struct session *s)
{
	struct kv kv;
	int64_t v = 0;

	if (!s)
		return 0;
	kv_parse(&kv, (struct str){ (const char *)s->target.at, s->target.len });
	if (!str_i64(str_of(kv_get(&kv, "kptr_restrict")), &v))
		v = 0;
	kv_done(&kv);
	return v;
}

bool analysis_build(struct analysis *a, const struct args *args, struct session *s,
		    const char *source_name, struct err *err)
{
	struct symbol_options options = { .no_inlines = args->value[OPT_NO_INLINES] != NULL,
					  .debug_dir = args->value[OPT_DEBUG_DIR],
					  .kptr_restrict = kptr_restrict_of(s) };
	struct store_input in = { .session = s,
				  .model = a->model,
				  .hotspots = &a->hotspots,
				  .evidence = &a->evidence,
				  .source_name = source_name };
	char_auto path = s ? session_db_path(s) : NULL;

	if (!a->stage_start_ns)
		a->stage_start_ns = os_now_ns();
	if (!symbols_resolve(&a->symbols, a->model, s, &options, err))
		return false;
	stage(a, s, "symbols");
	hotspots_compute(&a->hotspots, a->model, a->symbols);
	evidence_compute(&a->evidence, a->model, &a->hotspots);
	stage(a, s, "analyse");
	in.symbols = a->symbols;
	if (!store_build(&a->store, path, &in, err)) {
		/* A full disk must not take the report away: the same in memory. */
		if (!path || !store_build(&a->store, NULL, &in, err))
			return false;
		cli_say(args, "run.db could not be written; this report is made in memory");
	}
	stage(a, s, "store");
	return true;
}

bool analysis_open(struct analysis *a, const struct args *args, struct session *s, struct err *err)
{
	char_auto db = session_db_path(s);
	char_auto capture = session_capture_path(s);
	bool other_view = args->value[OPT_NO_INLINES] || args->value[OPT_DEBUG_DIR];

	if (!other_view && store_open(&a->store, db, err))
		return true;
	if (!other_view && err->kind != ERR_NOT_FOUND)
		cli_say(args, "making run.db again: %s", err->text);
	return analysis_load(a, args, capture, err) && analysis_build(a, args, s, NULL, err);
}

void analysis_done(struct analysis *a)
{
	store_close(a->store);
	evidence_done(&a->evidence);
	hotspots_done(&a->hotspots);
	symbols_free(a->symbols);
	model_free(a->model);
	if (a->has_pd)
		perfdata_close(&a->pd);
	os_unmap(&a->map);
}
