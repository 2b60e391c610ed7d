/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as one JSON object (docs/json.md). Keys are stable; rows stand on one line each. */
#include <stdio.h>

#include "base/os.h"
#include "render/json-writer.h"
#include "render/render.h"

enum { FORMAT = 1, PCT_DECIMALS = 4 };

static bool is_pct(const char *name)
{
	return !strcmp(name, "pct") || str_ends(name, "_pct");
}

/* null, and why, where that is known. */
static void put_null(struct json *j, const char *name, const struct cell *c)
{
	json_null(j, name);
	if (c->text) {
		char_auto why = mem_printf("%s_why", name);

		json_string(j, why, c->text);
	}
}

static void put_cell(struct json *j, const char *name, enum column_kind kind, const struct cell *c)
{
	char text[32];

	switch (c->kind) {
	case CELL_NULL:
		put_null(j, name, c);
		break;
	case CELL_TEXT:
		json_text(j, name, (struct str){c->text, c->text_len});
		break;
	case CELL_INTEGER:
		if (kind == COLUMN_ADDRESS || kind == COLUMN_ID) {
			snprintf(text, sizeof(text), kind == COLUMN_ID ? "%lld" : "0x%llx",
				 (long long)c->integer);
			json_string(j, name, text);
		} else {
			json_integer(j, name, c->integer);
		}
		break;
	case CELL_REAL:
		json_real(j, name, c->real,
			  kind == COLUMN_PCT || is_pct(name) ? PCT_DECIMALS : -1);
		break;
	case CELL_BOOLEAN:
		json_boolean(j, name, c->integer != 0);
		break;
	}
}

static void put_fields(struct json *j, const struct field *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_cell(j, at[i].name, COLUMN_TEXT, &at[i].value);
}

static void put_evidence(struct json *j, const struct findings *f)
{
	json_open(j, "evidence", '{', JSON_LINES);
	json_string(j, "verdict", f->verdict);
	json_string(j, "why", f->verdict_why ? f->verdict_why : "");
	put_fields(j, f->evidence.at, f->evidence.len);
	json_string(j, "line", f->evidence_line);
	json_open(j, "levels", '[', JSON_LINES);
	for vec_each (l, &f->levels) {
		json_open(j, NULL, '{', JSON_FLAT);
		json_string(j, "level", l->level);
		json_string(j, "verdict", l->verdict);
		json_string(j, "why", l->why ? l->why : "");
		json_close(j, '}');
	}
	json_close(j, ']');
	json_close(j, '}');
}

static void put_table(struct json *j, const struct table *t)
{
	json_open(j, t->id, '[', JSON_LINES);
	for (size_t r = 0; r < table_rows(t); r++) {
		json_open(j, NULL, '{', JSON_FLAT);
		for (size_t c = 0; c < t->column_count; c++)
			put_cell(j, t->columns[c].name, t->columns[c].kind, table_cell(t, r, c));
		json_close(j, '}');
	}
	json_close(j, ']');
}

/* What the cuts left out, by table; every table is there, so that 0 can be told from unknown. */
static void put_more(struct json *j, const struct findings *f)
{
	json_open(j, "more", '{', JSON_LINES);
	for vec_each (t, &f->tables) {
		json_open(j, t->id, '{', JSON_FLAT);
		json_integer(j, "rows", (int64_t)t->more);
		if (t->more_text)
			json_real(j, "pct", t->more_pct, PCT_DECIMALS);
		else
			json_null(j, "pct");
		json_close(j, '}');
	}
	json_close(j, '}');
}

static void put_findings(struct json *j, const struct findings *f)
{
	json_open(j, "findings", '[', JSON_LINES);
	for vec_each (found, &f->findings) {
		json_open(j, NULL, '{', JSON_FLAT);
		json_string(j, "id", found->id);
		json_string(j, "severity", found->severity);
		json_string(j, "text", found->text);
		json_string(j, "basis", found->basis);
		json_close(j, '}');
	}
	json_close(j, ']');
	json_open(j, "notes", '[', JSON_LINES);
	for vec_each (n, &f->notes) {
		json_open(j, NULL, '{', JSON_FLAT);
		json_string(j, "id", n->id);
		json_string(j, "text", n->text);
		json_close(j, '}');
	}
	json_close(j, ']');
}

void render_json(struct buf *out, const struct findings *f, const struct render_options *o)
{
	struct json j = {.out = out};

	(void)o;
	json_open(&j, NULL, '{', JSON_LINES);
	json_integer(&j, "format", FORMAT);
	json_string(&j, "recipe", f->recipe);
	json_string(&j, "question", f->question);
	json_string(&j, "run", f->run);
	json_string(&j, "command", f->command);
	json_open(&j, "target", '{', JSON_LINES);
	put_fields(&j, f->target.at, f->target.len);
	json_close(&j, '}');
	put_evidence(&j, f);
	json_open(&j, "tables", '{', JSON_LINES);
	for vec_each (t, &f->tables)
		put_table(&j, t);
	json_close(&j, '}');
	put_more(&j, f);
	put_findings(&j, f);
	json_open(&j, "cost", '{', JSON_LINES);
	put_fields(&j, f->cost.at, f->cost.len);
	json_close(&j, '}');
	json_open(&j, "workload", '{', JSON_LINES);
	put_fields(&j, f->workload.at, f->workload.len);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_u8(out, '\n');
}

void render_json_error(struct buf *out, const struct err *err, const char *run)
{
	struct json j = {.out = out};

	json_open(&j, NULL, '{', JSON_LINES);
	json_integer(&j, "format", FORMAT);
	json_string(&j, "run", run);
	json_open(&j, "error", '{', JSON_LINES);
	json_string(&j, "id", err_id(err));
	json_string(&j, "message", err->text);
	json_string(&j, "remedy", err->hint[0] ? err->hint : NULL);
	json_close(&j, '}');
	json_close(&j, '}');
	buf_u8(out, '\n');
}
