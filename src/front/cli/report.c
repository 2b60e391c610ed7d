/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a recipe over a run.db and writes what it found in the form asked for. */
#include <stdlib.h>
#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "front/cli/pipeline.h"
#include "render/render.h"

bool settings_read(struct settings *out, const struct args *args, struct err *err)
{
	*out = (struct settings){ 0 };
	for (size_t i = 0; i < args->settings.len; i++) {
		const char *text = args->settings.at[i], *eq = strchr(text, '=');

		if (!eq || eq == text) {
			settings_done(out);
			err_set(err, ERR_USAGE, "-o %s is not KEY=VALUE", text);
			return err_hint(err,
					"for example -o cut=1; culprit recipe show NAME lists the "
					"options of a recipe");
		}
		vec_add(&out->list,
			((struct recipe_setting){
				arena_strndup(&out->arena, text, (size_t)(eq - text)), eq + 1 }));
	}
	return true;
}

void settings_done(struct settings *s)
{
	vec_done(&s->list);
	arena_done(&s->arena);
}

static const struct renderer *renderer_for(const struct args *args)
{
	const char *name = args->value[OPT_JSON] ? "json" : args->value[OPT_CSV] ? "csv" : "text";
	const struct renderer *r = renderers;

	while (r->name && strcmp(r->name, name))
		r++;
	return r;
}

/* COLUMNS when it is set, else the terminal's, else what a page or a wide window holds. */
static uint32_t columns_for(bool terminal)
{
	enum { FILE_COLUMNS = 132, LEAST = 20, USUAL = 80 };
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (columns && str_u64(str_of(columns), &n) && n >= LEAST && n < 10000)
		return (uint32_t)n;
	if (!terminal)
		return FILE_COLUMNS;
	return !ioctl(1, TIOCGWINSZ, &size) && size.ws_col >= LEAST ? size.ws_col : USUAL;
}

struct render_options cli_render_options(const struct args *args)
{
	const char *output = args->value[OPT_OUTPUT], *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	bool terminal = (!output || !strcmp(output, "-")) && isatty(1);

	return (struct render_options){
		.columns = columns_for(terminal),
		.unicode = !strcmp(nl_langinfo(CODESET), "UTF-8"),
		.whole = args->value[OPT_ALL] != NULL,
		.color = terminal && !(no_color && *no_color) && term && *term &&
			 strcmp(term, "dumb") != 0,
	};
}

int findings_exit(const struct findings *f)
{
	if (!strcmp(f->verdict, "solid"))
		return CLI_SOLID;
	return !strcmp(f->verdict, "weak") ? CLI_WEAK : CLI_UNUSABLE;
}

int write_findings(const struct args *args, const struct findings *f)
{
	struct render_options options = cli_render_options(args);
	buf_auto text = { 0 };
	struct err err;

	renderer_for(args)->render(&text, f, &options);
	return cli_write_result(args, &text, &err) ? CLI_SOLID : cli_fail(args, &err, f->run);
}

int report_findings(const struct args *args, const struct recipe *recipe, struct store *store,
		    const char *run)
{
	struct findings *f = NULL;
	struct settings settings;
	struct err err;
	int status;

	if (!settings_read(&settings, args, &err))
		return cli_fail(args, &err, run);
	if (!recipe_run(&f, recipe, store, settings.list.at, settings.list.len, &err)) {
		status = cli_fail(args, &err, run);
	} else {
		status = write_findings(args, f);
		if (status == CLI_SOLID)
			status = findings_exit(f);
		findings_free(f);
	}
	settings_done(&settings);
	return status;
}
