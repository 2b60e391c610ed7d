/* SPDX-License-Identifier: Apache-2.0 */
/* Fills one table of run.db row by row; the first error is kept and reported once. */
#include <stdlib.h>

#include "store/store-db.h"

bool filler_init(struct filler *f, struct store *s, const char *table, int columns, struct err *err)
{
	buf_auto sql = { 0 };

	*f = (struct filler){ .s = s, .table = table };
	buf_printf(&sql, "INSERT OR REPLACE INTO %s VALUES(?", table);
	for (int i = 1; i < columns; i++)
		buf_puts(&sql, ",?");
	buf_puts(&sql, ")");
	return store_prepare(s, buf_str(&sql), &f->stmt, err);
}

static void check(struct filler *f, int rc)
{
	if (rc != SQLITE_OK)
		f->failed = true;
}

void fill_u64(struct filler *f, uint64_t v)
{
	check(f, sqlite3_bind_int64(f->stmt, ++f->column, (sqlite3_int64)v));
}

void fill_id(struct filler *f, uint32_t id)
{
	if (id == MODEL_NONE)
		check(f, sqlite3_bind_null(f->stmt, ++f->column));
	else
		fill_u64(f, id);
}

void fill_real(struct filler *f, double v)
{
	check(f, sqlite3_bind_double(f->stmt, ++f->column, v));
}

void fill_text(struct filler *f, const char *v)
{
	check(f, sqlite3_bind_text(f->stmt, ++f->column, v, -1, SQLITE_STATIC));
}

void fill_some(struct filler *f, const char *v)
{
	fill_text(f, v && v[0] ? v : NULL);
}

void fill_row(struct filler *f)
{
	f->column = 0;
	if (f->failed)
		return;
	/* A failed step is reported by filler_done, from the connection's state, so stop here. */
	if (sqlite3_step(f->stmt) != SQLITE_DONE)
		f->failed = true;
	else
		sqlite3_reset(f->stmt);
}

bool filler_done(struct filler *f, struct err *err)
{
	bool ok = true;

	if (f->failed) {
		ok = store_err(f->s, err, "writing run.db");
		err_wrap(err, "table %s", f->table);
	}
	sqlite3_finalize(f->stmt);
	f->stmt = NULL;
	return ok;
}
