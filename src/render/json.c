/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as one JSON object (docs/json.md). Keys are stable; rows stand on one line each. */
#include <stdio.h>

#include "base/os.h"
#include "base/json-writer.h"
#include "render/listing.h"

enum { FORMAT = 1, PCT_DECIMALS = 4 };

static bool is_pct(const char *name)
{
	return !strcmp(name, "pct") || str_ends(name, "_pct");
}

/* null, and why, where that is known. */
static void put_null(struct jw *j, const char *name, const struct cell *c)
{
	jw_null(j, name);
	if (c->text) {
		char_auto why = mem_printf("%s_why", name);

		jw_string(j, why, c->text);
	}
}

static void put_cell(struct jw *j, const char *name, enum column_kind kind, const struct cell *c)
{
	char text[32];

	switch (c->kind) {
	case CELL_NULL:
		put_null(j, name, c);
		break;
	case CELL_TEXT:
		jw_text(j, name, (struct str){ c->text, c->text_len });
		break;
	case CELL_INTEGER:
		if (kind == COLUMN_ADDRESS || kind == COLUMN_ID) {
			snprintf(text, sizeof(text), kind == COLUMN_ID ? "%lld" : "0x%llx",
				 (long long)c->integer);
			jw_string(j, name, text);
		} else {
			jw_integer(j, name, c->integer);
		}
		break;
	case CELL_REAL:
		jw_real(j, name, c->real, kind == COLUMN_PCT || is_pct(name) ? PCT_DECIMALS : -1);
		break;
	case CELL_BOOLEAN:
		jw_boolean(j, name, c->integer != 0);
		break;
	}
}

static void put_fields(struct jw *j, const struct field *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		put_cell(j, at[i].name, COLUMN_TEXT, &at[i].value);
}

static void put_evidence(struct jw *j, const struct findings *f)
{
	jw_open(j, "evidence", '{', JSON_LINES);
	jw_string(j, "verdict", f->verdict);
	jw_string(j, "why", f->verdict_why ? f->verdict_why : "");
	put_fields(j, f->evidence.at, f->evidence.len);
	jw_string(j, "line", f->evidence_line);
	jw_open(j, "levels", '[', JSON_LINES);
	vec_each(l, &f->levels) {
		jw_open(j, NULL, '{', JSON_FLAT);
		jw_string(j, "level", l->level);
		jw_string(j, "verdict", l->verdict);
		jw_string(j, "why", l->why ? l->why : "");
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

static void put_table(struct jw *j, const struct table *t)
{
	jw_open(j, t->id, '[', JSON_LINES);
	for (size_t r = 0; r < table_rows(t); r++) {
		jw_open(j, NULL, '{', JSON_FLAT);
		for (size_t c = 0; c < t->column_count; c++)
			put_cell(j, t->columns[c].name, t->columns[c].kind, table_cell(t, r, c));
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

/* What the cuts left out, by table; every table is there, so that 0 can be told from unknown. */
static void put_more(struct jw *j, const struct findings *f)
{
	jw_open(j, "more", '{', JSON_LINES);
	vec_each(t, &f->tables) {
		jw_open(j, t->id, '{', JSON_FLAT);
		jw_integer(j, "rows", (int64_t)t->more);
		if (t->more_text)
			jw_real(j, "pct", t->more_pct, PCT_DECIMALS);
		else
			jw_null(j, "pct");
		jw_close(j, '}');
	}
	jw_close(j, '}');
}

static void put_findings(struct jw *j, const struct findings *f)
{
	jw_open(j, "findings", '[', JSON_LINES);
	vec_each(found, &f->findings) {
		jw_open(j, NULL, '{', JSON_FLAT);
		jw_string(j, "id", found->id);
		jw_string(j, "severity", found->severity);
		jw_string(j, "text", found->text);
		jw_string(j, "basis", found->basis);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_open(j, "notes", '[', JSON_LINES);
	vec_each(n, &f->notes) {
		jw_open(j, NULL, '{', JSON_FLAT);
		jw_string(j, "id", n->id);
		jw_string(j, "text", n->text);
		jw_close(j, '}');
	}
	jw_close(j, ']');
}

void render_json(struct buf *out, const struct findings *f, const struct render_options *o)
{
	struct jw j = { .out = out };

	(void)o;
	jw_open(&j, NULL, '{', JSON_LINES);
	jw_integer(&j, "format", FORMAT);
	jw_string(&j, "recipe", f->recipe);
	jw_string(&j, "question", f->question);
	jw_string(&j, "run", f->run);
	jw_string(&j, "command", f->command);
	jw_open(&j, "target", '{', JSON_LINES);
	put_fields(&j, f->target.at, f->target.len);
	jw_close(&j, '}');
	put_evidence(&j, f);
	if (f->listing)
		json_listing(&j, f->listing);
	jw_open(&j, "tables", '{', JSON_LINES);
	vec_each(t, &f->tables)
		put_table(&j, t);
	jw_close(&j, '}');
	put_more(&j, f);
	put_findings(&j, f);
	jw_open(&j, "cost", '{', JSON_LINES);
	put_fields(&j, f->cost.at, f->cost.len);
	jw_close(&j, '}');
	jw_open(&j, "workload", '{', JSON_LINES);
	put_fields(&j, f->workload.at, f->workload.len);
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_u8(out, '\n');
}

void render_json_error(struct buf *out, const struct err *err, const char *run)
{
	struct jw j = { .out = out };

	jw_open(&j, NULL, '{', JSON_LINES);
	jw_integer(&j, "format", FORMAT);
	jw_string(&j, "run", run);
	jw_open(&j, "error", '{', JSON_LINES);
	jw_string(&j, "id", err_id(err));
	jw_string(&j, "message", err->text);
	jw_string(&j, "remedy", err->hint[0] ? err->hint : NULL);
	jw_close(&j, '}');
	jw_close(&j, '}');
	buf_u8(out, '\n');
}
