/* SPDX-License-Identifier: Apache-2.0 */
/* culprit recipe, completion and help: what this program itself can do. */
#include <stdlib.h>
#include <string.h>

#include "front/cli/pipeline.h"

static int write_text(struct args *args, const struct buf *out)
{
	struct err err;

	return cli_write_result(args, out, &err) ? CLI_SOLID : cli_fail(args, &err, NULL);
}

static int list_recipes(struct args *args)
{
	buf_auto out = { 0 };

	if (args->value[OPT_JSON])
		buf_puts(&out, "{\"format\":1,\"recipes\":[");
	for (const char *const *n = recipe_names(); *n; n++) {
		struct recipe *r;
		struct err err;

		if (!recipe_load(&r, *n, &err))
			return cli_fail(args, &err, NULL);
		if (args->value[OPT_JSON]) {
			buf_printf(&out, "%s{\"name\":\"", n == recipe_names() ? "" : ",");
			str_json(&out, str_of(r->name));
			buf_puts(&out, "\",\"question\":\"");
			str_json(&out, str_of(r->question));
			buf_puts(&out, "\"}");
		} else {
			buf_printf(&out, "%-24s %s\n", r->name, r->question);
		}
		recipe_free(r);
	}
	if (args->value[OPT_JSON])
		buf_puts(&out, "]}\n");
	return write_text(args, &out);
}

static int show_recipe(struct args *args, const char *name)
{
	buf_auto out = { 0 };
	struct err err;

	if (!recipe_text(name, &out, &err))
		return cli_fail(args, &err, NULL);
	return write_text(args, &out);
}

/* Reads it, then runs it on the newest run, where there is one. */
static int check_recipe(struct args *args, const char *name)
{
	struct recipe *recipe;
	struct findings *f = NULL;
	struct session *s = NULL;
	struct analysis a = { 0 };
	buf_auto out = { 0 };
	struct err err;
	int status = CLI_SOLID;

	if (!recipe_load(&recipe, name, &err))
		return cli_fail(args, &err, NULL);
	if (!recipe_check(recipe, &err)) {
		status = cli_fail(args, &err, NULL);
		goto done;
	}
	buf_printf(&out, "%s: reads well; every query runs on an empty run.db\n", recipe->name);
	if (!session_open(&s, NULL, &err)) {
		buf_puts(&out, "no run to try it on yet\n");
	} else if (!analysis_open(&a, args, s, &err) ||
		   !recipe_run(&f, recipe, a.store, NULL, 0, &err)) {
		status = cli_fail(args, &err, s->id);
	} else {
		vec_each(t, &f->tables)
			buf_printf(&out, "  table %-16s %zu rows of run %s\n", t->id, table_rows(t),
				   s->id);
		buf_printf(&out, "  findings %zu\n", f->findings.len);
		findings_free(f);
	}
	if (status == CLI_SOLID)
		status = write_text(args, &out);
done:
	analysis_done(&a);
	session_close(s);
	recipe_free(recipe);
	return status;
}

int cli_recipe(struct args *args)
{
	const char *verb = args->operands.len ? args->operands.at[0] : "list";
	const char *name = args->operands.len > 1 ? args->operands.at[1] : NULL;
	struct err err;

	if (!strcmp(verb, "list") && !name)
		return list_recipes(args);
	if (!strcmp(verb, "show") && name)
		return show_recipe(args, name);
	if (!strcmp(verb, "check") && name)
		return check_recipe(args, name);
	err_set(&err, ERR_USAGE, "recipe wants list, show NAME or check FILE");
	return cli_fail(args, &err, NULL);
}

int cli_completion(struct args *args)
{
	buf_auto out = { 0 };
	struct err err;

	if (args->operands.len != 1 || !cli_put_completion(&out, args->operands.at[0])) {
		err_set(&err, ERR_USAGE, "completion for which shell: bash, zsh or fish?");
		return cli_fail(args, &err, NULL);
	}
	return write_text(args, &out);
}

/* "--man" is for make install: it prints the page of a command, or of culprit itself. */
int cli_help(struct args *args)
{
	const struct command *c = NULL;
	buf_auto out = { 0 };
	struct err err;

	if (args->operands.len) {
		c = cli_command_find(args->operands.at[0]);
		if (!c && strcmp(args->operands.at[0], "culprit")) {
			err_set(&err, ERR_USAGE, "there is no command %s", args->operands.at[0]);
			return cli_fail(args, &err, NULL);
		}
	}
	if (args->value[OPT_MAN])
		cli_put_man(&out, c);
	else if (c)
		cli_put_help(&out, c);
	else
		cli_put_overview(&out);
	return write_text(args, &out);
}
