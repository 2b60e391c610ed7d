/* SPDX-License-Identifier: Apache-2.0 */
/* culprit runs, show, rm, query: the run store. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "front/cli/pipeline.h"
#include "render/render.h"

static int write_json(struct args *args, json_t *root)
{
	char_auto text = json_dumps(root, JSON_INDENT(2));
	buf_auto out = { 0 };
	struct err err;

	json_decref(root);
	if (!text) {
		err_set(&err, ERR_INTERNAL, "the result cannot be written as JSON");
		return cli_fail(args, &err, NULL);
	}
	buf_printf(&out, "%s\n", text);
	return cli_write_result(args, &out, &err) ? CLI_SOLID : cli_fail(args, &err, NULL);
}

/* Valid UTF-8 whatever the bytes are: control and bad bytes become visible escapes. */
static json_t *json_text(const char *s)
{
	buf_auto b = { 0 };

	str_escape(&b, str_of(s));
	return json_string(buf_str(&b));
}

static json_t *runs_json(const struct session_list *list)
{
	json_t *runs = json_array();

	for vec_each (e, &list->entries)
		json_array_append_new(runs,
				      json_pack("{s:o,s:o,s:o,s:I,s:I,s:o}", "id", json_text(e->id),
						"recipe", json_text(e->recipe), "state",
						json_text(e->state), "bytes",
						(json_int_t)e->bytes, "created_realtime_ns",
						(json_int_t)e->created_realtime_ns, "command",
						json_text(e->command)));
	return json_pack("{s:i,s:o}", "format", 1, "runs", runs);
}

int cli_runs(struct args *args)
{
	struct session_list list;
	buf_auto out = { 0 };
	struct err err;
	int status;

	if (!session_list(&list, &err))
		return cli_fail(args, &err, NULL);
	if (args->value[OPT_JSON]) {
		status = write_json(args, runs_json(&list));
	} else {
		if (list.entries.len)
			buf_printf(&out, "%-36s %-10s %9s  %s\n", "RUN", "STATE", "SIZE", "COMMAND");
		else
			cli_say(args, "no runs yet: culprit run code_hotspots -- COMMAND makes one");
		for vec_each (e, &list.entries) {
			buf_printf(&out, "%-36s %-10s %6.1f MB  ", e->id, e->state,
				   (double)e->bytes / 1e6);
			str_escape(&out, str_of(e->command));
			buf_u8(&out, '\n');
		}
		status = cli_write_result(args, &out, &err) ? CLI_SOLID :
							      cli_fail(args, &err, NULL);
	}
	session_list_done(&list);
	return status;
}

static void show_section(struct buf *out, const char *title, const struct buf *text)
{
	struct kv kv;

	kv_parse(&kv, (struct str){ (const char *)text->at, text->len });
	if (kv.items.len)
		buf_printf(out, "\n%s\n", title);
	for vec_each (item, &kv.items) {
		buf_printf(out, "  %-22s ", item->key);
		str_escape(out, (struct str){ item->value, item->value_len });
		buf_u8(out, '\n');
	}
	kv_done(&kv);
}

static void show_text(const struct session *s, struct buf *out)
{
	char_auto capture = session_capture_path(s);
	time_t when = (time_t)(s->created_realtime_ns / 1000000000u);
	char stamp[64];
	struct tm tm;

	localtime_r(&when, &tm);
	strftime(stamp, sizeof(stamp), "%Y-%m-%d %H:%M:%S %z", &tm);
	buf_printf(out, "run      %s\nrecipe   %s\nstate    %s%s%s\ncreated  %s\nfolder   %s\n"
			"capture  %s\ncommand ",
		   s->id, s->recipe, session_state_name(s->state), s->state_why[0] ? ": " : "",
		   s->state_why, stamp, s->dir, capture);
	for (char **a = s->argv; *a; a++) {
		buf_u8(out, ' ');
		str_escape(out, str_of(*a));
	}
	buf_u8(out, '\n');
	show_section(out, "settings", &s->options);
	show_section(out, "target", &s->target);
	show_section(out, "capture", &s->finished);
	show_section(out, "stages, ns", &s->stages);
	show_section(out, "images that are missing", &s->missing_images);
	show_section(out, "notes", &s->notes);
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
	if (args->value[OPT_JSON]) {
		/* The manifest is JSON already; the reader gets it with the run's place added. */
		char_auto path = mem_printf("%s/manifest.json", s->dir);
		json_t *root = json_load_file(path, 0, NULL);

		if (!root)
			root = json_object();
		json_object_set_new(root, "run", json_text(s->id));
		json_object_set_new(root, "folder", json_text(s->dir));
		status = write_json(args, root);
	} else {
		show_text(s, &out);
		status = cli_write_result(args, &out, &err) ? CLI_SOLID :
							      cli_fail(args, &err, s->id);
	}
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
		if (!session_remove(args->operands.at[i], &err))
			status = cli_fail(args, &err, NULL);
		else
			cli_say(args, "removed %s", args->operands.at[i]);
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
		err_hint(&err, "culprit query last \"SELECT name, self FROM v1_functions LIMIT 5\"");
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
