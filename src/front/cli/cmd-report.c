/* SPDX-License-Identifier: Apache-2.0 */
/* culprit report and culprit import: findings of recordings that exist. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/cli/pipeline.h"

static int report_run(struct args *args, const char *name)
{
	struct session *s = NULL;
	struct recipe *recipe = NULL;
	struct analysis a = { 0 };
	struct err err;
	int status;

	if (!session_open(&s, name, &err))
		return cli_fail(args, &err, NULL);
	if (!recipe_load(&recipe, s->recipe, &err) || !analysis_open(&a, args, s, &err))
		status = cli_fail(args, &err, s->id);
	else
		status = report_findings(args, recipe, a.store, s->id);
	if (s->state != SESSION_COMPLETE && status == CLI_SOLID)
		status = CLI_WEAK;
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

	if (!recipe_load(&recipe, "code_hotspots", &err) || !analysis_load(&a, args, path, &err) ||
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
static void describe_target(struct session *s, const struct model *m)
{
	kv_put(&s->target, "hostname", m->hostname);
	kv_put(&s->target, "kernel", m->kernel);
	kv_put(&s->target, "arch", m->arch);
	kv_put(&s->target, "cpuid", m->cpuid);
}

static bool import_file(struct analysis *a, struct args *args, const char *path,
			struct session **out, struct err *err)
{
	struct remote_options options = { .stdio = { -1, -1, -1 } };
	struct remote *remote = NULL;
	struct session *s;
	bool ok;

	/* Read it first: what cannot be read makes no run. */
	if (!analysis_load(a, args, path, err) || !session_create(&s, "code_hotspots", err))
		return false;
	*out = s;
	describe_target(s, a->model);
	kv_put(&s->options, "imported", path);
	if (!session_capture_adopt(s, path, err) || !remote_start_local(&remote, &options, err))
		return false;
	ok = analysis_fetch_images(a, remote, s, NULL, err);
	remote_close(remote);
	if (!ok || !analysis_build(a, args, s, path, err))
		return false;
	s->state = a->model->partial ? SESSION_PARTIAL : SESSION_COMPLETE;
	return session_save(s, err);
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
