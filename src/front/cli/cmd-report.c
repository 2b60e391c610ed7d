/* SPDX-License-Identifier: Apache-2.0 */
/* culprit report and culprit import: findings of recordings that exist. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/cli/pipeline.h"

static bool load_recipe(struct recipe **out, const struct session *s, struct err *err)
{
	char_auto own = session_recipe_path(s);
	struct stat st;

	/* A run may come from somebody else: its manifest names no file of ours. */
	if (strchr(s->recipe, '/') || str_ends(s->recipe, ".recipe") || !s->recipe[0]) {
		err_set(err, ERR_FORMAT,
			"the manifest of run %s is damaged: no recipe is named '%s'", s->id,
			s->recipe);
		return err_hint(err,
				"culprit report -i %s/capture/perf.data reads what was recorded",
				s->dir);
	}
	return recipe_load(out, stat(own, &st) || !S_ISREG(st.st_mode) ? s->recipe : own, err);
}

static int report_run(struct args *args, const char *name)
{
	struct session *s = NULL;
	struct recipe *recipe = NULL;
	struct analysis a = { 0 };
	struct err err;
	int status;

	if (!session_open(&s, name, &err))
		return cli_fail(args, &err, NULL);
	if (!load_recipe(&recipe, s, &err) || !analysis_open(&a, args, s, &err))
		status = cli_fail(args, &err, s->id);
	else
		status = report_findings(args, recipe, a.store, s->id);
	analysis_done(&a);
	recipe_free(recipe);
	session_close(s);
	return status;
}

static int report_file(struct args *args, const char *path)
{
	struct recipe *recipe = NULL;
	struct analysis a = { 0 };
	struct err err;
	int status;

	if (!recipe_load(&recipe, "code_hotspots", &err) ||
	    !analysis_load_input(&a, args, path, &err) ||
	    !analysis_build(&a, args, NULL, path, &err))
		status = cli_fail(args, &err, NULL);
	else
		status = report_findings(args, recipe, a.store, NULL);
	analysis_done(&a);
	recipe_free(recipe);
	return status;
}

int cli_report(struct args *args)
{
	struct err err;

	if (args->operands.len > 1) {
		err_set(&err, ERR_USAGE, "report takes one run, not %zu", args->operands.len);
		return cli_fail(args, &err, NULL);
	}
	if (!args->value[OPT_INPUT])
		return report_run(args, args->operands.len ? args->operands.at[0] : NULL);
	if (args->operands.len) {
		err_set(&err, ERR_USAGE, "a run and -i cannot go together");
		return cli_fail(args, &err, NULL);
	}
	return report_file(args, args->value[OPT_INPUT]);
}

/* The recording's own words about its machine, in the form that a probe has. */
static void describe_target(struct session *s, const struct model *m, struct perfdata *pd)
{
	kv_put(&s->target, "hostname", m->hostname);
	kv_put(&s->target, "kernel", m->kernel);
	kv_put(&s->target, "arch", m->arch);
	kv_put(&s->target, "cpuid", m->cpuid);
	kv_put(&s->target, "cpu", perfdata_feature_text(pd, PERFDATA_F_CPUDESC));
}

static bool import_file(struct analysis *a, struct args *args, const char *path,
			struct session **out, struct err *err)
{
	struct remote_options options = { .stdio = { -1, -1, -1 } };
	struct remote *remote = NULL;
	buf_auto here = { 0 };
	struct session *s;

	/* Read it first: what cannot be read makes no run. */
	if (!analysis_load(a, args, path, err) || !session_create(&s, "code_hotspots", err))
		return false;
	*out = s;
	describe_target(s, a->model, &a->pd);
	kv_put(&s->options, "imported", path);
	kv_printf(&s->options, "label", "%s (imported)",
		  *a->model->cmdline ? a->model->cmdline : path);
	if (!session_capture_adopt(s, path, err) || !remote_start_local(&remote, &options, err))
		return false;
	if (remote_probe(remote, &here, err)) {
		struct kv kv;

		kv_parse(&kv, (struct str){ buf_str(&here), here.len });
		kv_put(&s->target, "local_kernel_build_id", kv_get(&kv, "kernel_build_id"));
		kv_done(&kv);
	}
	analysis_fetch_images(a, remote, s, ANALYSIS_IMPORTED);
	remote_close(remote);
	s->state = a->model->partial ? SESSION_PARTIAL : SESSION_COMPLETE;
	return analysis_build(a, args, s, path, err) && session_save(s, err);
}

int cli_import(struct args *args)
{
	struct recipe *recipe = NULL;
	struct session *s = NULL;
	struct analysis a = { 0 };
	struct err err, trouble;
	int status;

	if (args->operands.len != 1) {
		err_set(&err, ERR_USAGE, "import takes one file");
		return cli_fail(args, &err, NULL);
	}
	if (!recipe_load(&recipe, "code_hotspots", &err) ||
	    !import_file(&a, args, args->operands.at[0], &s, &err)) {
		if (s && !os_remove_tree(s->dir, &trouble))
			cli_say(args, "%s", trouble.text);
		status = cli_fail(args, &err, NULL);
	} else {
		cli_say(args, "run %s", s->id);
		status = report_findings(args, recipe, a.store, s->id);
	}
	analysis_done(&a);
	session_close(s);
	recipe_free(recipe);
	return status;
}
