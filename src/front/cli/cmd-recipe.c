/* SPDX-License-Identifier: Apache-2.0 */
/* culprit recipe, completion and help: what this program itself can do. */
#include <stdlib.h>
#include <string.h>

#include "base/json-writer.h"
#include "front/cli/check.h"
#include "front/cli/pipeline.h"

static int write_text(struct args *args, const struct buf *out)
{
	struct err err;

	return cli_write_result(args, out, &err) ? CLI_SOLID : cli_fail(args, &err, NULL);
}

bool cli_recipe_near(const char *name, struct err *err)
{
	bool is_path = strchr(name, '/') || str_ends(name, ".recipe");
	const char *near = is_path ? NULL : cli_nearest(name, recipe_names());

	if (!near || err->kind != ERR_NOT_FOUND)
		return false;
	return err_rehint(err, "did you mean %s? %s", near, err->hint);
}

/* A line of the list for people; the question wraps behind the columns in front of it. */
static void put_listed(struct buf *out, const struct render_options *o, const struct recipe *r)
{
	enum { NAME = 22, STATE = 9 };

	buf_printf(out, "%-*s", NAME, r->name);
	text_style(out, o, STYLE_DIM);
	buf_printf(out, "%-*s", STATE, r->planned ? "planned" : "");
	text_plain(out, o);
	text_wrap(out, o, NAME + STATE, str_of(r->question));
	buf_u8(out, '\n');
}

static int list_recipes(struct args *args)
{
	struct render_options options = cli_render_options(args);
	buf_auto out = { 0 };
	struct jw j = { .out = &out };
	bool json = args->value[OPT_JSON] != NULL;

	if (json) {
		jw_open(&j, NULL, '{', JSON_LINES);
		jw_integer(&j, "format", 1);
		jw_open(&j, "recipes", '[', JSON_LINES);
	}
	for (const char *const *n = recipe_names(); *n; n++) {
		struct recipe *r;
		struct err err;

		if (!recipe_load(&r, *n, &err))
			return cli_fail(args, &err, NULL);
		if (json) {
			jw_open(&j, NULL, '{', JSON_FLAT);
			jw_string(&j, "name", r->name);
			jw_string(&j, "question", r->question);
			jw_boolean(&j, "built", !r->planned);
			jw_close(&j, '}');
		} else {
			put_listed(&out, &options, r);
		}
		recipe_free(r);
	}
	if (json) {
		jw_close(&j, ']');
		jw_close(&j, '}');
		buf_u8(&out, '\n');
	}
	return write_text(args, &out);
}

static void put_rung(struct jw *j, const struct recipe_rung *g)
{
	jw_open(j, NULL, '{', JSON_LINES);
	jw_string(j, "name", g->name);
	jw_open(j, "needs", '[', JSON_FLAT);
	for (size_t i = 0; i < g->need_count; i++)
		jw_string(j, NULL, g->needs[i]);
	jw_close(j, ']');
	jw_string(j, "text", g->text);
	jw_close(j, '}');
}

static void put_option(struct jw *j, const struct recipe_option *o)
{
	static const char *const kinds[] = {
		[OPTION_TEXT] = "text",
		[OPTION_COUNT] = "count",
		[OPTION_PCT] = "pct",
		[OPTION_NUMBER] = "number",
	};

	jw_open(j, NULL, '{', JSON_FLAT);
	jw_string(j, "name", o->name);
	jw_string(j, "type", kinds[o->kind]);
	if (*o->value) {
		jw_string(j, "default", o->value);
	} else {
		jw_null(j, "default");
		jw_string(j, "default_why", "it has none");
	}
	jw_string(j, "help", o->help);
	jw_close(j, '}');
}

static void put_recipe(struct buf *out, const struct recipe *r)
{
	struct jw j = { .out = out };

	jw_open(&j, NULL, '{', JSON_LINES);
	jw_integer(&j, "format", 1);
	jw_string(&j, "recipe", r->name);
	jw_string(&j, "question", r->question);
	jw_string(&j, "summary", r->summary);
	jw_boolean(&j, "built", !r->planned);
	jw_string(&j, "source", r->source);
	jw_open(&j, "rungs", '[', JSON_LINES);
	for (size_t i = 0; i < r->rung_count; i++)
		put_rung(&j, &r->rungs[i]);
	jw_close(&j, ']');
	jw_open(&j, "options", '[', JSON_LINES);
	for (size_t i = 0; i < r->option_count; i++)
		put_option(&j, &r->options[i]);
	jw_close(&j, ']');
	jw_text(&j, "text", r->text);
	jw_close(&j, '}');
	buf_u8(out, '\n');
}

static int show_recipe(struct args *args, const char *name)
{
	buf_auto out = { 0 };
	struct recipe *r = NULL;
	struct err err;

	/* As text, a file with a fault in it can still be shown as it is. */
	if (args->value[OPT_JSON] ? !recipe_load(&r, name, &err) : !recipe_text(name, &out, &err)) {
		cli_recipe_near(name, &err);
		return cli_fail(args, &err, NULL);
	}
	if (args->value[OPT_JSON]) {
		put_recipe(&out, r);
		recipe_free(r);
	}
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

	if (!recipe_load(&recipe, name, &err)) {
		cli_recipe_near(name, &err);
		return cli_fail(args, &err, NULL);
	}
	if (!check_needs_known(recipe, &err) || !recipe_check(recipe, &err)) {
		status = cli_fail(args, &err, NULL);
		goto done;
	}
	if (recipe->planned) {
		buf_printf(&out, "%s: reads well; it is planned and has nothing to run yet\n",
			   recipe->name);
		status = write_text(args, &out);
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
