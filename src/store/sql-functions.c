/* SPDX-License-Identifier: Apache-2.0 */
/* SQL functions that recipes and queries have beyond SQLite's own. docs/run-db.md lists them. */
#include "store/store-db.h"

/* pct(part, whole): percent, NULL when either is NULL or whole is 0. */
static void fn_pct(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	double whole = sqlite3_value_double(argv[1]);

	(void)argc;
	if (sqlite3_value_type(argv[0]) == SQLITE_NULL ||
	    sqlite3_value_type(argv[1]) == SQLITE_NULL || !(whole > 0))
		sqlite3_result_null(ctx);
	else
		sqlite3_result_double(ctx, 100.0 * sqlite3_value_double(argv[0]) / whole);
}

/* total_samples(): all samples but idle ones. */
static void fn_total_samples(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct store *s = sqlite3_user_data(ctx);

	(void)argc;
	(void)argv;
	sqlite3_result_int64(ctx, s->samples);
}

/* total_weight(): the denominator of shares, what these samples weigh. */
static void fn_total_weight(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	const struct store *s = sqlite3_user_data(ctx);

	(void)argc;
	(void)argv;
	sqlite3_result_int64(ctx, s->weight);
}

/* The bytes of an argument; len is -1 for NULL. */
static const char *bytes_of(sqlite3_value *v, int *len)
{
	const char *at = (const char *)sqlite3_value_text(v);

	*len = at ? sqlite3_value_bytes(v) : -1;
	return at;
}

/* short_path(path): its last part; names in brackets stay as they are. */
static void fn_short_path(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int len, from;
	const char *at = bytes_of(argv[0], &len);

	(void)argc;
	if (!at)
		return;
	from = len;
	while (from > 0 && at[from - 1] != '/')
		from--;
	if (from == len || at[0] == '[')
		from = 0;
	sqlite3_result_text(ctx, at + from, len - from, SQLITE_TRANSIENT);
}

/* place(file, line): "file:line", "file" without a line, NULL without a file. */
static void fn_place(sqlite3_context *ctx, int argc, sqlite3_value **argv)
{
	int len;
	const char *at = bytes_of(argv[0], &len);
	sqlite3_int64 line = sqlite3_value_int64(argv[1]);

	(void)argc;
	if (!at)
		return;
	if (line > 0)
		sqlite3_result_text(ctx, sqlite3_mprintf("%.*s:%lld", len, at, line), -1,
				    sqlite3_free);
	else
		sqlite3_result_text(ctx, at, len, SQLITE_TRANSIENT);
}

const char *const store_functions[] = { "pct",	      "total_samples", "total_weight",
					"short_path", "place",	       NULL };

bool store_add_functions(struct store *s, struct err *err)
{
	static const struct {
		void (*call)(sqlite3_context *, int, sqlite3_value **);
		int arguments;
	} calls[] = { { fn_pct, 2 },
		      { fn_total_samples, 0 },
		      { fn_total_weight, 0 },
		      { fn_short_path, 1 },
		      { fn_place, 2 } };

	for (size_t i = 0; store_functions[i]; i++)
		if (sqlite3_create_function_v2(s->db, store_functions[i], calls[i].arguments,
					       SQLITE_UTF8 | SQLITE_DETERMINISTIC |
						       SQLITE_DIRECTONLY,
					       s, calls[i].call, NULL, NULL, NULL) != SQLITE_OK)
			return store_err(s, err, "adding SQL functions");
	return true;
}
