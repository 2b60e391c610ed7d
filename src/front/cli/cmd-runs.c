/* SPDX-License-Identifier: Apache-2.0 */
/* culprit runs, show, rm, query: the run store. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/cli/pipeline.h"
#include "render/render.h"

/* "key":"text" with visible escapes for control and bad bytes. */
static void put_text(struct buf *out, const char *key, const char *text)
{
	buf_auto shown = { 0 };

	str_escape(&shown, str_of(text));
	buf_printf(out, "\"%s\": \"", key);
	str_json(out, (struct str){ buf_str(&shown), shown.len });
	buf_puts(out, "\"");
}

static void put_runs(struct buf *out, const struct session_list *list)
{
	buf_puts(out, "{\n  \"format\": 1,\n  \"runs\": [");
	vec_each(e, &list->entries) {
		buf_printf(out, "%s\n    {", e == list->entries.at ? "" : ",");
		put_text(out, "id", e->id);
		buf_puts(out, ", ");
		put_text(out, "recipe", e->recipe);
		buf_puts(out, ", ");
		put_text(out, "state", e->state);
		buf_printf(out, ", \"bytes\": %llu, \"created_realtime_ns\": %llu, ",
			   (unsigned long long)e->bytes,
			   (unsigned long long)e->created_realtime_ns);
		put_text(out, "command", e->command);
		buf_puts(out, "}");
	}
	buf_puts(out, "\n  ]\n}\n");
}

static int write_text(struct args *args, const struct buf *out, const char *run)
{
	struct err err;

	return cli_write_result(args, out, &err) ? CLI_SOLID : cli_fail(args, &err, run);
}

int cli_runs(struct args *args)
{
	struct session_list list;
	buf_auto out = { 0 };
	struct err err;
	int status;

	if (args->operands.len) {
		err_set(&err, ERR_USAGE, "runs takes no name: %s", args->operands.at[0]);
		err_hint(&err, "culprit show %s", args->operands.at[0]);
		return cli_fail(args, &err, NULL);
	}
	if (!session_list(&list, &err))
		return cli_fail(args, &err, NULL);
	if (args->value[OPT_JSON]) {
		put_runs(&out, &list);
	} else {
		if (list.entries.len)
			buf_printf(&out, "%-36s %-10s %9s  %s\n", "RUN", "STATE", "SIZE",
				   "COMMAND");
		else
			cli_say(args,
				"no runs yet: culprit run code_hotspots -- COMMAND makes one");
		vec_each(e, &list.entries) {
			buf_printf(&out, "%-36s %-10s %6.1f MB  ", e->id, e->state,
				   (double)e->bytes / 1e6);
			str_escape(&out, str_of(e->command));
			buf_u8(&out, '\n');
		}
	}
	status = write_text(args, &out, NULL);
	session_list_done(&list);
	return status;
}

static void show_section(struct buf *out, const char *title, const struct buf *text)
{
	struct kv kv;

	kv_parse(&kv, (struct str){ (const char *)text->at, text->len });
	if (kv.items.len)
		buf_printf(out, "\n%s\n", title);
	vec_each(item, &kv.items) {
		buf_printf(out, "  %-22s ", item->key);
		str_escape(out, (struct str){ item->value, item->value_len });
		buf_u8(out, '\n');
	}
	kv_done(&kv);
}

static void put_line(struct buf *out, const char *name, const char *text)
{
	buf_printf(out, "%-8s ", name);
	str_escape(out, str_of(text));
	buf_u8(out, '\n');
}

static void show_text(const struct session *s, struct buf *out)
{
	char_auto capture = session_capture_path(s);
	time_t when = (time_t)(s->created_realtime_ns / 1000000000u);
	buf_auto command = { 0 };
	char stamp[64];
	struct tm tm;

	localtime_r(&when, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S %z", &tm);
	put_line(out, "run", s->id);
	put_line(out, "recipe", s->recipe);
	put_line(out, "state", session_state_name(s->state));
	if (s->state_why[0])
		put_line(out, "why", s->state_why);
	put_line(out, "created", stamp);
	put_line(out, "folder", s->dir);
	put_line(out, "capture", capture);
	session_put_command(s, &command);
	put_line(out, "command", buf_str(&command));
	show_section(out, "settings", &s->options);
	show_section(out, "target", &s->target);
	show_section(out, "capture", &s->finished);
	show_section(out, "stages, ns", &s->stages);
	show_section(out, "images that are missing", &s->missing_images);
	show_section(out, "notes", &s->notes);
}

/* The manifest is JSON already; the run's name and place are put in front of its members. */
static bool show_json(const struct session *s, struct buf *out, struct err *err)
{
	char_auto path = mem_printf("%s/manifest.json", s->dir);
	buf_auto text = { 0 };
	const char *members;

	if (!os_load_file(path, 16u << 20, &text, err))
		return false;
	members = strchr(buf_str(&text), '{');
	buf_puts(out, "{\n  ");
	put_text(out, "run", s->id);
	buf_puts(out, ",\n  ");
	put_text(out, "folder", s->dir);
	buf_printf(out, ",%s\n", members ? members + 1 : "}");
	return true;
}

int cli_show(struct args *args)
{
	struct session *s;
	buf_auto out = { 0 };
	struct err err;
	int status;

	if (args->operands.len > 1) {
		err_set(&err, ERR_USAGE, "show takes one run");
		return cli_fail(args, &err, NULL);
	}
	if (!session_open(&s, args->operands.len ? args->operands.at[0] : NULL, &err))
		return cli_fail(args, &err, NULL);
	if (!args->value[OPT_JSON])
		show_text(s, &out);
	if (args->value[OPT_JSON] && !show_json(s, &out, &err))
		status = cli_fail(args, &err, s->id);
	else
		status = write_text(args, &out, s->id);
	session_close(s);
	return status;
}

int cli_rm(struct args *args)
{
	struct err err;
	int status = CLI_SOLID;

	if (!args->operands.len) {
		err_set(&err, ERR_USAGE, "which run? culprit rm RUN...");
		err_hint(&err, "culprit runs lists them");
		return cli_fail(args, &err, NULL);
	}
	for (size_t i = 0; i < args->operands.len; i++) {
		char_auto id = NULL;

		if (!session_remove(args->operands.at[i], &id, &err))
			status = cli_fail(args, &err, NULL);
		else
			cli_say(args, "removed %s", id);
	}
	return status;
}

int cli_query(struct args *args)
{
	struct session *s;
	struct analysis a = { 0 };
	struct findings *f = NULL;
	struct err err;
	int status;

	if (args->operands.len != 2) {
		err_set(&err, ERR_USAGE, "query takes a run and one SELECT");
		err_hint(&err,
			 "culprit query last \"SELECT name, self FROM v1_functions LIMIT 5\"");
		return cli_fail(args, &err, NULL);
	}
	if (!session_open(&s, args->operands.at[0], &err))
		return cli_fail(args, &err, NULL);
	if (!analysis_open(&a, args, s, &err) ||
	    !store_query(&f, a.store, args->operands.at[1], &err)) {
		status = cli_fail(args, &err, s->id);
	} else {
		status = write_findings(args, f);
		findings_free(f);
	}
	analysis_done(&a);
	session_close(s);
	return status;
}
