/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What SQL of a recipe or a user may do with run.db: read the v1_ views through one SELECT, call
 * known functions, within limits of steps, memory and time. SQLite asks the authorizer for each name
 * while it compiles a statement, and the progress handler while it runs one.
 */
#include <ctype.h>
#include <stdio.h>

#include "base/os.h"
#include "store/store-db.h"

enum { STEPS_PER_CALL = 20000 };

/* SQLite's own functions that compute and do nothing else. Lower case, sorted by kind. */
static const char *const plain_functions[] = {
	"abs",	      "char",	   "coalesce",	  "format",	  "glob",      "hex",
	"ifnull",     "iif",	   "instr",	  "length",	  "like",      "likelihood",
	"likely",     "lower",	   "ltrim",	  "max",	  "min",       "nullif",
	"printf",     "quote",	   "replace",	  "round",	  "rtrim",     "sign",
	"substr",     "substring", "trim",	  "typeof",	  "unicode",   "unlikely",
	"upper",      "avg",	   "count",	  "group_concat", "sum",       "total",
	"row_number", "rank",	   "dense_rank",  "percent_rank", "cume_dist", "ntile",
	"lag",	      "lead",	   "first_value", "last_value",	  "nth_value", "ceil",
	"ceiling",    "floor",	   "exp",	  "ln",		  "log",       "log10",
	"log2",	      "mod",	   "pow",	  "power",	  "sqrt",      "trunc",
	"date",	      "time",	   "datetime",	  "strftime",	  NULL,
};

static bool listed(const char *const *names, const char *name)
{
	for (size_t i = 0; names[i]; i++)
		if (!sqlite3_stricmp(names[i], name))
			return true;
	return false;
}

static int deny(struct store *s, const char *what, const char *name)
{
	/* The first refusal is the cause; what SQLite asks afterwards only follows from it. */
	if (!s->denied[0])
		snprintf(s->denied, sizeof(s->denied), "%s%s", what, name ? name : "");
	return SQLITE_DENY;
}

/* Is name a word of the statement? Any way to mention a table is. */
static bool mentions(const char *sql, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = sql; (at = strcasestr(at, name)); at++) {
		bool starts = at == sql || !(isalnum((unsigned char)at[-1]) || at[-1] == '_');
		bool ends = !(isalnum((unsigned char)at[len]) || at[len] == '_');

		if (starts && ends)
			return true;
	}
	return false;
}

/*
 * A private table is read on behalf of a view unless the statement itself mentions it. The context
 * that SQLite hands over does not tell: it is missing for tables that give no column, and a user's
 * own common table expression can pose as one.
 */
static int may_read(struct store *s, const char *table)
{
	static const char *const private[] = { "t_", "sqlite_", "pragma_" };

	if (!table || !table[0] || store_is_view(table))
		return SQLITE_OK;
	if (str_starts(table, "t_") && !mentions(s->sql, table))
		return SQLITE_OK;
	for (size_t i = 0; i < sizeof(private) / sizeof(private[0]); i++)
		if (!sqlite3_strnicmp(table, private[i], (int)strlen(private[i])))
			return deny(s, "table ", table);
	/* No table of ours, and there are no virtual ones: a common table expression's own name. */
	return SQLITE_OK;
}

static int authorize(void *ctx, int action, const char *a, const char *b, const char *db,
		     const char *context)
{
	struct store *s = ctx;

	(void)db;
	(void)context;
	if (s->trusted)
		return SQLITE_OK;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_READ:
		return may_read(s, a);
	case SQLITE_FUNCTION:
		if (listed(plain_functions, b) || listed(store_functions, b))
			return SQLITE_OK;
		return deny(s, "function ", b);
	case SQLITE_ATTACH:
	case SQLITE_DETACH:
		return deny(s, "ATTACH and DETACH", NULL);
	case SQLITE_PRAGMA:
		return deny(s, "PRAGMA ", a);
	case SQLITE_TRANSACTION:
	case SQLITE_SAVEPOINT:
		return deny(s, "transactions", NULL);
	default:
		return deny(s, "anything but SELECT", NULL);
	}
}

static int progress(void *ctx)
{
	struct store *s = ctx;

	s->steps += STEPS_PER_CALL;
	if (s->steps >= s->step_limit)
		s->stopped = STORE_STEPS;
	else if (sqlite3_memory_used() > s->memory_limit)
		s->stopped = STORE_MEMORY;
	else if (os_now_ns() - s->started_ns > s->time_limit_ns)
		s->stopped = STORE_TIME;
	return s->stopped != STORE_RUNS;
}

bool store_guard(struct store *s, struct err *err)
{
	static const struct {
		int op, value;
	} switches[] = {
		{ SQLITE_DBCONFIG_DEFENSIVE, 1 },
		{ SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0 },
		{ SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0 },
		{ SQLITE_DBCONFIG_ENABLE_TRIGGER, 0 },
		{ SQLITE_DBCONFIG_DQS_DML, 0 },
		{ SQLITE_DBCONFIG_DQS_DDL, 0 },
	};
	bool ok;

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++)
		if (sqlite3_db_config(s->db, switches[i].op, switches[i].value, NULL) != SQLITE_OK)
			return store_err(s, err, s->name);
	sqlite3_limit(s->db, SQLITE_LIMIT_ATTACHED, 0);
	sqlite3_limit(s->db, SQLITE_LIMIT_LENGTH, 64 << 20);
	sqlite3_limit(s->db, SQLITE_LIMIT_SQL_LENGTH, 1 << 20);
	sqlite3_limit(s->db, SQLITE_LIMIT_WORKER_THREADS, 0);
	/* dbstat, sqlite_dbpage and their like show what is private under names of their own. */
	if (sqlite3_drop_modules(s->db, NULL) != SQLITE_OK)
		return store_err(s, err, s->name);
	sqlite3_progress_handler(s->db, STEPS_PER_CALL, progress, s);
	if (sqlite3_set_authorizer(s->db, authorize, s) != SQLITE_OK)
		return store_err(s, err, s->name);
	store_begin(s, "");
	/* Sorters must not spill run data to a shared temporary folder. */
	s->trusted = true;
	ok = store_exec(s, "PRAGMA temp_store = MEMORY; PRAGMA query_only = 1;", err);
	s->trusted = false;
	return ok && store_add_functions(s, err);
}

void store_begin(struct store *s, const char *sql)
{
	s->sql = sql;
	s->steps = 0;
	s->started_ns = os_now_ns();
	s->stopped = STORE_RUNS;
	s->denied[0] = 0;
}

static bool hint_views(struct err *err)
{
	buf_auto views = { 0 };

	for (size_t i = 0; store_views[i]; i++)
		buf_printf(&views, "%s%s", i ? ", " : "", store_views[i]);
	return err_hint(err, "the views are %s", buf_str(&views));
}

static bool err_denied(struct store *s, struct err *err, const char *what)
{
	if (str_starts(s->denied, "table ")) {
		err_set(err, ERR_USAGE, "%s: %s is private, only the v1_ views are public", what,
			s->denied);
		return hint_views(err);
	}
	err_set(err, ERR_USAGE, "%s: %s: not allowed here", what, s->denied);
	return err_hint(err, "what is allowed is one SELECT over the v1_ views");
}

bool store_err(struct store *s, struct err *err, const char *what)
{
	int rc = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_NOMEM;
	const char *text = s->db ? sqlite3_errmsg(s->db) : "out of memory";
	int errnum = s->db ? sqlite3_system_errno(s->db) : 0;

	if (s->denied[0])
		return err_denied(s, err, what);
	switch (rc & 0xff) {
	case SQLITE_INTERRUPT:
		if (s->stopped == STORE_MEMORY)
			return err_set(err, ERR_LIMIT, "%s: needs more than %lld MB of memory",
				       what, (long long)(s->memory_limit >> 20));
		if (s->stopped == STORE_TIME)
			err_set(err, ERR_LIMIT, "%s: stopped after %g s", what,
				(double)s->time_limit_ns / 1e9);
		else
			err_set(err, ERR_LIMIT, "%s: stopped after %llu steps", what,
				(unsigned long long)s->step_limit);
		return err_hint(err, "does a recursion end, does each join have a condition?");
	case SQLITE_FULL:
		err_set(err, ERR_SYSTEM, "%s: no space left on the disk", what);
		return err_hint(err, "free some space, or point CULPRIT_HOME at another disk");
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		err_set(err, ERR_FORMAT, "%s: damaged: %s", what, text);
		return err_hint(err, "run.db can be made again from the rest of the run");
	case SQLITE_CANTOPEN:
	case SQLITE_IOERR:
	case SQLITE_PERM:
	case SQLITE_READONLY:
		if (errnum)
			return err_sys(err, errnum, "%s: %s", what, text);
		return err_set(err, ERR_SYSTEM, "%s: %s", what, text);
	case SQLITE_TOOBIG:
		return err_set(err, ERR_LIMIT, "%s: %s", what, text);
	default:
		err_set(err, ERR_USAGE, "%s: %s", what, text);
		return str_starts(text, "no such table") ? hint_views(err) : false;
	}
}
