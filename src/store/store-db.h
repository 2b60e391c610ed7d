/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of store/ share about an open run.db. Private to the folder and its tests. */
#ifndef CULPRIT_STORE_STORE_DB_H
#define CULPRIT_STORE_STORE_DB_H

#include <sqlite3.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "store/findings.h"
#include "store/store.h"

enum { STORE_SCHEMA = 3, STORE_MAX_ROWS = 1000000 };

struct store {
	sqlite3 *db;
	const char *name; /* path or ":memory:", for messages; in the arena */
	/*
	 * What one statement may cost: virtual machine steps, bytes that SQLite holds, and time. The
	 * progress handler compares; steps and started_ns count from store_begin.
	 */
	uint64_t step_limit, steps;
	int64_t memory_limit;
	uint64_t time_limit_ns, started_ns;
	enum store_stop { STORE_RUNS, STORE_STEPS, STORE_MEMORY, STORE_TIME } stopped;
	bool trusted;	  /* our own SQL: the authorizer lets all pass */
	const char *sql;  /* what is compiled now, for the authorizer */
	char denied[128]; /* what the authorizer refused last, "" when nothing */
	int64_t samples;  /* all but idle ones */
	int64_t weight;	  /* what they weigh: the denominator of all shares */
	struct arena arena;
};

/* schema.c: all tables and views; ends with the version. */
extern const char store_schema[];
/* Names of the views, NULL-terminated. */
extern const char *const store_views[];
bool store_is_view(const char *name);

/* sql-functions.c: pct(), total_weight(), short_path(), ... */
ERR_CHECKED bool store_add_functions(struct store *s, struct err *err);
/* Names of them, NULL-terminated. */
extern const char *const store_functions[];

/*
 * guard.c. From here on the connection can read views and nothing else, within the limits. Comes
 * before anything is read of a file: whoever wrote it may have put views where tables should be.
 */
ERR_CHECKED bool store_guard(struct store *s, struct err *err);
/* Resets the limits before sql, which must live until it is compiled, is prepared. */
void store_begin(struct store *s, const char *sql);
/* The last error of the connection as an error of ours; what says what was done. */
bool store_err(struct store *s, struct err *err, const char *what);

/* open.c */
struct store *store_new(const char *name);
/* An empty run.db in memory, guarded: what recipes are checked against. */
ERR_CHECKED bool store_open_empty(struct store **out, struct err *err);
ERR_CHECKED bool store_exec(struct store *s, const char *sql, struct err *err);
/* A statement of our own; false with err set when it does not compile. */
ERR_CHECKED bool store_prepare(struct store *s, const char *sql, sqlite3_stmt **out,
			       struct err *err);
void store_finalize(sqlite3_stmt **stmt);
#define stmt_auto __attribute__((cleanup(store_finalize))) sqlite3_stmt *
/* Next row? false at the end and on an error, which is then set (kind ERR_NONE at the end). */
bool store_step(struct store *s, sqlite3_stmt *stmt, const char *what, struct err *err);

/* build-stacks.c: the call tree in depth-first order, and counts by thread and time bucket. */
ERR_CHECKED bool store_put_stacks(struct store *s, const struct store_input *in, struct err *err);

/* build-meta.c: session, target, evidence, notes. */
ERR_CHECKED bool store_put_meta(struct store *s, const struct store_input *in, struct err *err);

/* function-match.c: how words name a function; the first kind that any function has wins. */
enum store_match {
	STORE_MATCH_NAME,
	STORE_MATCH_BARE,     /* without parameters and return type */
	STORE_MATCH_RAW,      /* of the symbol table */
	STORE_MATCH_TEMPLATE, /* without its template arguments */
	STORE_MATCH_SHORT,    /* as reports shorten it */
	STORE_MATCH_ADDRESS,  /* in it */
	STORE_MATCH_NEAR,     /* of its samples, where no function is */
	STORE_MATCH_PART,
	STORE_MATCH_NONE
};
enum store_match store_function_match(const struct store_functions *all,
				      const struct store_function *f, const char *words);
/* The address that words are, or have behind a place: 0x10, app:0x10. */
bool store_words_address(const char *words, uint64_t *address);

/* head.c: everything of findings but tables and findings. */
ERR_CHECKED bool store_head(struct findings *f, struct store *s, struct err *err);

/* A cell from a result column; text is copied to the arena. */
struct cell store_cell(struct arena *a, sqlite3_stmt *stmt, int column);

/* filler.c: rows into one table. */
struct filler {
	struct store *s;
	sqlite3_stmt *stmt;
	const char *table;
	int column;
	bool failed;
};
ERR_CHECKED bool filler_init(struct filler *f, struct store *s, const char *table, int columns,
			     struct err *err);
void fill_u64(struct filler *f, uint64_t v);
void fill_id(struct filler *f, uint32_t id); /* MODEL_NONE as NULL */
void fill_real(struct filler *f, double v);
void fill_text(struct filler *f, const char *v); /* must live until fill_row; NULL as NULL */
void fill_some(struct filler *f, const char *v); /* "" as NULL too */
void fill_row(struct filler *f);
/* False with the first error of all rows. */
ERR_CHECKED bool filler_done(struct filler *f, struct err *err);

#endif
