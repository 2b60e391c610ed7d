/* SPDX-License-Identifier: Apache-2.0 */
/* From a capture file to findings: model, images, symbols, numbers, run.db, recipe. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
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

/* From what is mapped. */
static bool load_model(struct analysis *a, const struct args *args, const char *path,
		       struct err *err)
{
	struct model_options options = { .event = -1,
					 .progress = show_progress,
					 .progress_ctx = (void *)(uintptr_t)args };
	bool ok;

	if (!perfdata_open(&a->pd, path, a->map.bytes, a->map.len, err))
		return false;
	a->has_pd = true;
	ok = model_load(&a->model, &a->pd, &options, err);
	if (a->map.len > 64u << 20)
		cli_live(args, "%s", "");
	return ok;
}

bool analysis_load(struct analysis *a, const struct args *args, const char *path, struct err *err)
{
	a->stage_start_ns = os_now_ns();
	return os_map_file(path, &a->map, err) && load_model(a, args, path, err);
}

bool analysis_load_input(struct analysis *a, const struct args *args, const char *path,
			 struct err *err)
{
	static const size_t pipe_max_bytes = (size_t)4 << 30;

	a->stage_start_ns = os_now_ns();
	return os_map_input(path, pipe_max_bytes, &a->map, err) && load_model(a, args, path, err);
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

/* What a file in the cache is called for good, or NULL when nothing names its content. */
static char *cache_key(const struct session *s, const struct model_image *img,
		       enum analysis_origin origin)
{
	char *key = NULL;
	struct kv kv;

	if (img->kind == MODEL_IMAGE_FILE)
		return img->build_id[0] ? mem_strdup(img->build_id) : NULL;
	/* The boot decides where the kernel lies; a recording from elsewhere does not say which. */
	if (img->kind != MODEL_IMAGE_KERNEL || origin == ANALYSIS_IMPORTED)
		return NULL;
	kv_parse(&kv, (struct str){ (const char *)s->target.at, s->target.len });
	if (*kv_get(&kv, "kernel_build_id") && *kv_get(&kv, "boot_id"))
		key = mem_printf("kallsyms-%s-%s", kv_get(&kv, "kernel_build_id"),
				 kv_get(&kv, "boot_id"));
	kv_done(&kv);
	return key;
}

/* True when these kernel symbols, just fetched, have the text where the recording has it. */
static bool is_same_kernel(const char *path, uint64_t text)
{
	struct kallsyms_line l;
	struct str rest, line;
	buf_auto syms = { 0 };
	struct err err;

	if (!text || !os_load_file(path, 256u << 20, &syms, &err))
		return false;
	rest = (struct str){ buf_str(&syms), syms.len };
	while (str_line(&rest, &line))
		if (kallsyms_parse(line, &l) && l.address == text &&
		    (str_eq(l.name, "_text") || str_eq(l.name, "_stext")))
			return true;
	return false;
}

/* Whether what came is what the recording saw; *why says what is wrong. */
static bool is_proved(const struct model *m, const struct model_image *img,
		      enum analysis_origin origin, const char *path, const char *build_id,
		      const char **why)
{
	*why = "the file there now has another build id";
	if (img->build_id[0] && strcmp(img->build_id, build_id) != 0)
		return false;
	if (origin == ANALYSIS_RECORDED_HERE || img->kind != MODEL_IMAGE_KERNEL)
		return true;
	/* The same build lies elsewhere after each boot, so its build id alone proves nothing. */
	*why = "the kernel lies elsewhere in memory now than when this was recorded";
	return is_same_kernel(path, m->kernel_text);
}

/* What may be asked for at all; *why says why not. */
static bool may_ask(const struct model *m, const struct session *s, const struct model_image *img,
		    enum analysis_origin origin, const char **why)
{
	struct kv kv;
	bool same;

	if (origin == ANALYSIS_RECORDED_HERE)
		return true;
	if (img->kind != MODEL_IMAGE_KERNEL) {
		*why = "imported without a build id to prove that a file is the same";
		return img->build_id[0];
	}
	kv_parse(&kv, (struct str){ (const char *)s->target.at, s->target.len });
	same = m->kernel_build_id[0] &&
	       !strcmp(m->kernel_build_id, kv_get(&kv, "local_kernel_build_id"));
	kv_done(&kv);
	*why = "imported, and recorded under another kernel than the one that runs here";
	return same;
}

/* Trouble with one image is noted, not returned. */
static void fetch_one(struct analysis *a, struct remote *r, struct session *s,
		      const struct model_image *img, enum analysis_origin origin)
{
	char_auto cached = cache_key(s, img, origin);
	struct job_image want = wanted(img);
	struct session_image new;
	char build_id[41] = "";
	const char *why;
	struct err err;

	if (!may_ask(a->model, s, img, origin, &why)) {
		kv_put(&s->missing_images, img->key, why);
		return;
	}
	if (cached && session_image_link(s, img->key, cached))
		return;
	if (!session_image_create(s, &new, &err)) {
		a->disk_trouble = true;
		kv_put(&s->missing_images, img->key, err.text);
		return;
	}
	if (!remote_fetch_image(r, &want, new.fd, img->path, build_id, &err)) {
		session_image_discard(&new);
		a->disk_trouble |= err.sys_errno == ENOSPC || err.sys_errno == EFBIG;
		kv_put(&s->missing_images, img->key, err.text);
		if (img->kind == MODEL_IMAGE_KERNEL && err.hint[0])
			kv_printf(&s->notes, err_id(&err), "%s: %s", err.text, err.hint);
		return;
	}
	if (!is_proved(a->model, img, origin, new.path, build_id, &why)) {
		session_image_discard(&new);
		kv_put(&s->missing_images, img->key, why);
		return;
	}
	if (!session_image_commit(s, &new, img->key, cached, &err))
		kv_put(&s->missing_images, img->key, err.text);
}

void analysis_fetch_images(struct analysis *a, struct remote *r, struct session *s,
			   enum analysis_origin origin)
{
	stage(a, s, "load");
	vec_each(img, &a->model->images) {
		if (!img->touched || !img->key[0])
			continue;
		if (!r || !remote_alive(r)) {
			kv_put(&s->notes, "IMAGES_MISSING",
			       "the agent was gone before all program images were fetched");
			break;
		}
		fetch_one(a, r, s, img, origin);
	}
	stage(a, s, "images");
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

static struct evidence_recording recording_of(const struct session *s)
{
	struct evidence_recording r = { 0 };
	struct kv kv;

	if (!s)
		return r;
	if (s->state == SESSION_RECORDING)
		r.partial_why = "the recording was never closed";
	else if (s->state != SESSION_COMPLETE)
		r.partial_why = s->state_why;
	kv_parse(&kv, (struct str){ (const char *)s->finished.at, s->finished.len });
	r.final_hz = kv_u64(&kv, "final_frequency_hz", 0);
	r.workload_cpu_ns = kv_u64(&kv, "workload_cpu_ns", 0);
	kv_done(&kv);
	kv_parse(&kv, (struct str){ (const char *)s->options.at, s->options.len });
	/* Of a process that ran before, the CPU time is less sure than the samples. */
	if (strcmp(kv_get(&kv, "scope"), "launch") != 0)
		r.workload_cpu_ns = 0;
	kv_done(&kv);
	return r;
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
	struct evidence_recording recording = recording_of(s);
	char_auto path = s ? session_db_path(s) : NULL;

	if (!a->stage_start_ns)
		a->stage_start_ns = os_now_ns();
	if (!symbols_resolve(&a->symbols, a->model, s, &options, err))
		return false;
	stage(a, s, "symbols");
	hotspots_compute(&a->hotspots, a->model, a->symbols);
	evidence_compute(&a->evidence, a->model, &a->hotspots, &recording);
	stage(a, s, "analyse");
	in.symbols = a->symbols;
	if (!store_build(&a->store, path, &in, err)) {
		/* A full disk must not take the report away: the same in memory. */
		if (!path || !store_build(&a->store, NULL, &in, err))
			return false;
		a->disk_trouble = true;
		cli_say(args, "run.db could not be written; this report is made in memory");
	}
	stage(a, s, "store");
	return true;
}

bool analysis_open(struct analysis *a, const struct args *args, struct session *s, struct err *err)
{
	char_auto db = session_db_path(s);
	char_auto capture = session_capture_path(s);
	struct stat st;
	bool other_view = args->value[OPT_NO_INLINES] || args->value[OPT_DEBUG_DIR];

	/* A pipe of that name would keep us waiting. */
	if (!lstat(db, &st) && !S_ISREG(st.st_mode)) {
		cli_say(args, "making run.db again: it is no regular file");
		other_view = true;
	}
	if (!other_view && store_open(&a->store, db, err))
		return true;
	if (access(capture, F_OK)) {
		err_set(err, ERR_NOT_FOUND, "nothing was recorded in run %s: it has no capture",
			s->id);
		return err_hint(err, "culprit rm %s removes it", s->id);
	}
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
