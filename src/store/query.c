/* SPDX-License-Identifier: Apache-2.0 */
/* One SELECT of a user over the views of run.db, as a findings tree with one table. */
#include <stdlib.h>

#include "base/os.h"
#include "store/store-db.h"

static bool is_shares_name(const char *name)
{
	return !strcmp(name, "pct") || str_ends(name, "_pct");
}

/* JSON keys must differ: a second "a" becomes "a_2". */
static const char *unique_name(struct findings *f, const struct table *t, size_t count,
			       const char *name)
{
	const char *unique = name;

	for (int n = 2;; n++) {
		bool taken = false;

		for (size_t i = 0; i < count; i++)
			taken |= !strcmp(t->columns[i].name, unique);
		if (!taken)
			return unique == name ? arena_strdup(&f->arena, name) : unique;
		unique = arena_printf(&f->arena, "%s_%d", name, n);
	}
}

static void name_columns(struct findings *f, struct table *t, sqlite3_stmt *stmt)
{
	size_t count = (size_t)sqlite3_column_count(stmt);

	t->columns = arena_alloc(&f->arena, sizeof(*t->columns) * count);
	for (size_t i = 0; i < count; i++) {
		const char *name = sqlite3_column_name(stmt, (int)i);

		t->columns[i].name = unique_name(f, t, i, name);
		t->columns[i].label = t->columns[i].name;
		t->columns[i].kind = is_shares_name(name) ? COLUMN_PCT : COLUMN_TEXT;
	}
	t->column_count = count;
}

/* A column without any text is one of numbers. */
static void type_columns(struct table *t)
{
	for (size_t c = 0; c < t->column_count; c++) {
		bool text = false, number = false;

		for (size_t r = 0; r < table_rows(t); r++) {
			enum cell_kind kind = table_cell(t, r, c)->kind;

			text |= kind == CELL_TEXT;
			number |= kind == CELL_INTEGER || kind == CELL_REAL;
		}
		if (text)
			t->columns[c].kind = COLUMN_TEXT;
		else if (number && t->columns[c].kind == COLUMN_TEXT)
			t->columns[c].kind = COLUMN_NUMBER;
	}
}

static bool take_rows(struct findings *f, struct store *s, struct table *t, sqlite3_stmt *stmt,
		      struct err *err)
{
	while (store_step(s, stmt, "query", err)) {
		if (table_rows(t) >= STORE_MAX_ROWS) {
			err_set(err, ERR_LIMIT, "query: more than %d rows", STORE_MAX_ROWS);
			return err_hint(err, "add a LIMIT, or aggregate");
		}
		for (int i = 0; i < (int)t->column_count; i++)
			vec_add(&t->cells, store_cell(&f->arena, stmt, i));
	}
	return err->kind == ERR_NONE;
}

/* A second statement, found by compiling what is left; white space and comments are none. */
static bool has_second(struct store *s, const char *tail)
{
	stmt_auto stmt = NULL;

	while (*tail) {
		const char *from = tail;

		if (sqlite3_prepare_v2(s->db, from, -1, &stmt, &tail) != SQLITE_OK || stmt)
			return true;
		if (tail == from)
			return false;
	}
	return false;
}

static bool prepare(struct store *s, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
	const char *tail = "";

	store_begin(s, sql);
	if (sqlite3_prepare_v2(s->db, sql, -1, stmt, &tail) != SQLITE_OK)
		return store_err(s, err, "query");
	if (!*stmt)
		return err_set(err, ERR_USAGE, "query: there is no statement in it");
	if (has_second(s, tail))
		return err_set(err, ERR_USAGE, "query: one statement at a time");
	if (sqlite3_bind_parameter_count(*stmt))
		return err_set(err, ERR_USAGE, "query: parameters (?, :name) have no value here");
	if (!sqlite3_column_count(*stmt) || !sqlite3_stmt_readonly(*stmt))
		return err_set(err, ERR_USAGE, "query: only a SELECT gives an answer");
	return true;
}

static bool query(struct findings *f, struct store *s, const char *sql, struct err *err)
{
	stmt_auto stmt = NULL;
	struct table *t;

	if (!store_head(f, s, err) || !prepare(s, sql, &stmt, err))
		return false;
	/* The evidence belongs to every answer; the rest of the head can be asked for. */
	vec_clear(&f->target);
	vec_clear(&f->notes);
	vec_clear(&f->cost);
	vec_clear(&f->workload);
	t = vec_push(&f->tables);
	t->id = t->title = "query";
	t->empty = "no rows";
	name_columns(f, t, stmt);
	if (!take_rows(f, s, t, stmt, err))
		return false;
	type_columns(t);
	return true;
}

bool store_query(struct findings **out, struct store *s, const char *sql, struct err *err)
{
	struct findings *f = mem_alloc(sizeof(*f));

	f->recipe = "query";
	f->question = arena_strdup(&f->arena, sql);
	if (!query(f, s, sql, err)) {
		findings_free(f);
		return false;
	}
	*out = f;
	return true;
}
