/* SPDX-License-Identifier: Apache-2.0 */
/* Opens and closes run.db; statements of our own. */
#include "store/store-db.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	STEPS_DEFAULT_MILLIONS = 2000,
	STEPS_TO_OPEN = 1000000,
	MEMORY_DEFAULT_MB = 1024,
	TIME_DEFAULT_S = 20
};

struct store *store_new(const char *name)
{
	struct store *s = mem_alloc(sizeof(*s));

	s->name = arena_strdup(&s->arena, name);
	s->step_limit = STEPS_DEFAULT_MILLIONS * 1000000ull;
	s->time_limit_ns = TIME_DEFAULT_S * UINT64_C(1000000000);
	s->memory_limit = MEMORY_DEFAULT_MB * (INT64_C(1) << 20);
	return s;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	arena_done(&s->arena);
	free(s);
}

void store_finalize(sqlite3_stmt **stmt)
{
	sqlite3_finalize(*stmt);
	*stmt = NULL;
}

bool store_exec(struct store *s, const char *sql, struct err *err)
{
	if (sqlite3_exec(s->db, sql, NULL, NULL, NULL) != SQLITE_OK)
		return store_err(s, err, s->name);
	return true;
}

bool store_prepare(struct store *s, const char *sql, sqlite3_stmt **out, struct err *err)
{
	sqlite3_stmt *stmt = NULL;

	if (sqlite3_prepare_v2(s->db, sql, -1, &stmt, NULL) != SQLITE_OK)
		return store_err(s, err, s->name);
	*out = stmt;
	return true;
}

bool store_step(struct store *s, sqlite3_stmt *stmt, const char *what, struct err *err)
{
	int rc = sqlite3_step(stmt);

	err->kind = ERR_NONE;
	if (rc == SQLITE_ROW)
		return true;
	if (rc != SQLITE_DONE)
		store_err(s, err, what);
	return false;
}

/* One row of integers. */
static bool integers(struct store *s, const char *sql, int64_t *out, int count, struct err *err)
{
	stmt_auto stmt = NULL;

	store_begin(s, sql);
	if (!store_prepare(s, sql, &stmt, err))
		return false;
	if (!store_step(s, stmt, s->name, err))
		return err->kind != ERR_NONE ? false :
					       err_set(err, ERR_FORMAT, "%s: empty", s->name);
	for (int i = 0; i < count; i++)
		out[i] = sqlite3_column_int64(stmt, i);
	return true;
}

static bool check_version(struct store *s, struct err *err)
{
	int64_t version = 0;
	bool ok;

	s->trusted = true;
	ok = integers(s, "PRAGMA user_version", &version, 1, err);
	s->trusted = false;
	if (!ok)
		return false;
	if (version == STORE_SCHEMA)
		return true;
	err_set(err, ERR_FORMAT, "%s: its schema has version %lld, this program reads version %d",
		s->name, (long long)version, STORE_SCHEMA);
	return err_hint(err, "run.db can be made again from the rest of the run");
}

/* The file's own words, read as a user's query would be: through the guard, and not for long. */
static bool read_totals(struct store *s, struct err *err)
{
	uint64_t limit = s->step_limit;
	int64_t totals[2];
	bool ok;

	s->step_limit = STEPS_TO_OPEN;
	ok = integers(s, "SELECT samples, weight FROM v1_evidence", totals, 2, err);
	s->step_limit = limit;
	if (ok) {
		s->samples = totals[0];
		s->weight = totals[1];
	} else if (err->kind == ERR_USAGE) {
		err->kind = ERR_FORMAT; /* the statement is ours, so the file is at fault */
	}
	return ok;
}

static bool open_db(struct store *s, struct err *err)
{
	if (sqlite3_open_v2(s->name, &s->db,
			    SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW,
			    NULL) != SQLITE_OK)
		return store_err(s, err, s->name);
	return store_guard(s, err) && check_version(s, err) && read_totals(s, err);
}

bool store_open(struct store **out, const char *path, struct err *err)
{
	struct store *s;

	if (access(path, F_OK))
		return err_set(err, ERR_NOT_FOUND, "%s: no such file", path);
	s = store_new(path);
	if (!open_db(s, err)) {
		store_close(s);
		return false;
	}
	*out = s;
	return true;
}

bool store_open_empty(struct store **out, struct err *err)
{
	struct store *s = store_new(":memory:");

	if (sqlite3_open_v2(s->name, &s->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) !=
		    SQLITE_OK ||
	    sqlite3_exec(s->db, store_schema, NULL, NULL, NULL) != SQLITE_OK) {
		store_err(s, err, s->name);
	} else if (store_guard(s, err)) {
		*out = s;
		return true;
	}
	store_close(s);
	return false;
}

struct cell store_cell(struct arena *a, sqlite3_stmt *stmt, int column)
{
	struct cell c = { 0 };

	switch (sqlite3_column_type(stmt, column)) {
	case SQLITE_INTEGER:
		c.kind = CELL_INTEGER;
		c.integer = sqlite3_column_int64(stmt, column);
		break;
	case SQLITE_FLOAT:
		c.kind = CELL_REAL;
		c.real = sqlite3_column_double(stmt, column);
		break;
	case SQLITE_TEXT:
	case SQLITE_BLOB: {
		/* The pointer first: the length is that of the form asked for last. */
		const char *at = sqlite3_column_blob(stmt, column);

		c.kind = CELL_TEXT;
		c.text_len = (size_t)sqlite3_column_bytes(stmt, column);
		c.text = arena_strndup(a, at, c.text_len);
		break;
	}
	default:
		break;
	}
	return c;
}
