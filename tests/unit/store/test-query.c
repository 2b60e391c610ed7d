/* SPDX-License-Identifier: Apache-2.0 */
/* What SQL of a user may do, and what it must not. */
#include "base/os.h"
#include "fixture.h"
#include "test.h"

struct open {
	struct fixture f;
	struct store *s;
};

static void open_init(struct open *o)
{
	fixture_init(&o->f);
	o->s = fixture_store(&o->f);
}

static void open_done(struct open *o)
{
	store_close(o->s);
	fixture_done(&o->f);
}

/* The query fails, with this kind and part of the message. */
static void check_refused(struct store *s, const char *sql, enum err_kind kind, const char *part)
{
	struct findings *f;
	struct err err;

	if (store_query(&f, s, sql, &err))
		FAIL("%s: gave an answer", sql);
	CHECK_MSG(err.kind == kind, "%s: kind %d: %s", sql, err.kind, err.text);
	CHECK_HAS(err.text, part);
}

TEST(query_types_and_names)
{
	struct findings *f;
	struct open o;
	struct err err;
	const struct table *t;

	open_init(&o);
	CHECK(store_query(&f, o.s,
			  "SELECT self AS n, name, self AS n, self_pct, NULL AS void, 0.5 AS half "
			  "FROM v1_functions ORDER BY self DESC -- the end",
			  &err));
	t = table_named(f, "query");
	CHECK_EQ_U64(table_rows(t), 5);
	CHECK_EQ_INT(t->columns[0].kind, COLUMN_NUMBER);
	CHECK_EQ_INT(t->columns[1].kind, COLUMN_TEXT);
	CHECK_EQ_STR(t->columns[2].name, "n_2");
	CHECK_EQ_INT(t->columns[3].kind, COLUMN_PCT);
	CHECK_EQ_INT(table_cell(t, 0, 0)->integer, 900);
	CHECK_EQ_STR(table_cell(t, 0, 1)->text, "chase");
	CHECK_EQ_INT(table_cell(t, 0, 4)->kind, CELL_NULL);
	CHECK_NEAR(table_cell(t, 0, 5)->real, 0.5, 0);
	/* The answer carries the evidence it rests on. */
	CHECK_EQ_STR(f->verdict, "solid");
	CHECK_EQ_STR(f->run, "20260102-030405-code_hotspots");
	findings_free(f);
	open_done(&o);
}

TEST(query_refuses_private_tables)
{
	static const char *const tries[] = {
		"SELECT * FROM t_functions",
		"SELECT count(*) FROM t_functions",
		"SELECT 1 FROM v1_meta, T_Functions",
		"SELECT name FROM \"t_functions\"",
		"WITH v1_functions AS (SELECT * FROM t_functions) SELECT * FROM v1_functions",
		"SELECT (SELECT sql FROM sqlite_master LIMIT 1)",
		"SELECT count(*) FROM sqlite_schema",
		"WITH c AS (SELECT * FROM t_functions) SELECT count(*) FROM c",
		"WITH RECURSIVE c(x) AS (SELECT name FROM t_functions UNION SELECT x FROM c) "
		"SELECT x FROM c",
		"WITH c AS (SELECT sql FROM sqlite_master) SELECT * FROM c",
		"WITH RECURSIVE c(x) AS (SELECT sql FROM sqlite_master UNION SELECT x FROM c) "
		"SELECT x FROM c",
		"WITH sqlite_master AS (SELECT 1 AS sql) SELECT sql FROM main.sqlite_master",
	};
	struct open o;

	open_init(&o);
	for (size_t i = 0; i < sizeof(tries) / sizeof(tries[0]); i++)
		check_refused(o.s, tries[i], ERR_USAGE, "is private");
	CHECK_EQ_INT(ask_number(o.s, "SELECT count(*) FROM v1_functions"), 5);
	CHECK_EQ_INT(ask_number(o.s, "SELECT count(*) AS t_other FROM v1_calltree"), 5);
	open_done(&o);
}

TEST(query_common_table_expressions)
{
	struct open o;

	open_init(&o);
	CHECK_EQ_INT(ask_number(o.s, "with recursive c(x) as (select 1 union all select x+1 from c "
				     "limit 10) select count(*) from c"),
		     10);
	CHECK_EQ_INT(ask_number(o.s, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
				     "n WHERE i < 5) SELECT sum(i) FROM n"),
		     15);
	/* Up from the innermost frame of a stack. */
	CHECK_EQ_INT(ask_number(o.s, "WITH RECURSIVE up(id, parent) AS (SELECT stack_id, parent_id "
				     "FROM v1_calltree WHERE inlined UNION ALL SELECT t.stack_id, "
				     "t.parent_id FROM up JOIN v1_calltree t ON t.stack_id = "
				     "up.parent) SELECT count(*) FROM up"),
		     3);
	/* A name of ours is no way in: it stands for what was given under it. */
	CHECK_EQ_INT(ask_number(o.s, "WITH RECURSIVE t_functions(x) AS (SELECT 7 UNION SELECT x "
				     "FROM t_functions) SELECT x FROM t_functions"),
		     7);
	/* Tables that SQLite makes up show private pages, under any name. */
	check_refused(o.s, "SELECT count(*) FROM dbstat", ERR_USAGE, "no such table: dbstat");
	check_refused(o.s, "SELECT count(*) FROM sqlite_dbpage", ERR_USAGE, "");
	check_refused(o.s, "SELECT count(*) FROM json_each('[1]')", ERR_USAGE, "");
	check_refused(o.s, "SELECT name FROM pragma_table_info('t_functions')", ERR_USAGE, "");
	open_done(&o);
}

TEST(query_missing_table_names_the_views)
{
	struct findings *f;
	struct open o;
	struct err err;

	open_init(&o);
	CHECK(!store_query(&f, o.s, "SELECT * FROM functions", &err));
	CHECK_EQ_STR(err.text, "query: no such table: functions");
	CHECK_HAS(err.hint, "v1_functions");
	CHECK_HAS(err.hint, "v1_threads");
	open_done(&o);
}

TEST(query_refuses_all_but_one_select)
{
	char_auto attach = mem_printf("ATTACH '%s/x.db' AS x", test_tmpdir());
	char_auto vacuum = mem_printf("VACUUM INTO '%s/x.db'", test_tmpdir());
	struct open o;

	open_init(&o);
	check_refused(o.s, attach, ERR_USAGE, "ATTACH");
	check_refused(o.s, vacuum, ERR_USAGE, "");
	check_refused(o.s, "PRAGMA journal_mode = DELETE", ERR_USAGE, "PRAGMA journal_mode");
	check_refused(o.s, "SELECT load_extension('x')", ERR_USAGE, "load_extension");
	check_refused(o.s, "SELECT zeroblob(1000000000)", ERR_USAGE, "function zeroblob");
	check_refused(o.s, "SELECT randomblob(10)", ERR_USAGE, "function randomblob");
	check_refused(o.s, "DELETE FROM t_functions", ERR_USAGE, "not allowed");
	check_refused(o.s, "UPDATE t_meta SET value = 1", ERR_USAGE, "not allowed");
	check_refused(o.s, "INSERT INTO t_files VALUES(9, 'x')", ERR_USAGE, "not allowed");
	check_refused(o.s, "CREATE TABLE x(a)", ERR_USAGE, "not allowed");
	check_refused(o.s, "CREATE TEMP TABLE x(a)", ERR_USAGE, "not allowed");
	check_refused(o.s, "CREATE TEMP VIEW v1_x AS SELECT * FROM t_files", ERR_USAGE, "");
	check_refused(o.s, "DROP VIEW v1_meta", ERR_USAGE, "not allowed");
	check_refused(o.s, "BEGIN", ERR_USAGE, "transactions");
	check_refused(o.s, "SELECT * FROM pragma_database_list", ERR_USAGE, "");
	check_refused(o.s, "SELECT count(*) FROM pragma_table_list", ERR_USAGE, "");
	check_refused(o.s, "SELECT 1; SELECT 2", ERR_USAGE, "one statement");
	check_refused(o.s, "SELECT 1; nonsense", ERR_USAGE, "one statement");
	check_refused(o.s, "SELECT :a", ERR_USAGE, "parameters");
	check_refused(o.s, "", ERR_USAGE, "no statement");
	check_refused(o.s, " -- nothing", ERR_USAGE, "no statement");
	check_refused(o.s, "SELEC 1", ERR_USAGE, "syntax error");
	check_refused(o.s, "SELECT nix FROM v1_meta", ERR_USAGE, "no such column: nix");
	CHECK_EQ_INT(ask_number(o.s, "SELECT 1; -- one is fine\n ;"), 1);
	open_done(&o);
}

TEST(query_stops_bombs)
{
	struct open o;

	open_init(&o);
	o.s->step_limit = 5000000;
	check_refused(o.s,
		      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
		      "SELECT max(i) FROM n",
		      ERR_LIMIT, "stopped after 5000000 steps");
	o.s->step_limit = UINT64_MAX;
	o.s->memory_limit = 32 << 20;
	check_refused(o.s,
		      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
		      "SELECT printf('%0100d', i) AS x FROM n ORDER BY x",
		      ERR_LIMIT, "32 MB of memory");
	o.s->memory_limit = INT64_MAX;
	o.s->time_limit_ns = 200000000;
	check_refused(o.s,
		      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
		      "SELECT max(i) FROM n",
		      ERR_LIMIT, "stopped after 0.2 s");
	check_refused(o.s, "SELECT replace(printf('%100000d', 1), ' ', printf('%100000d', 1))",
		      ERR_LIMIT, "too big");
	/* And the next query is not affected. */
	CHECK_EQ_INT(ask_number(o.s, "SELECT 1"), 1);
	open_done(&o);
}

TEST(query_bounds_rows)
{
	struct open o;

	open_init(&o);
	check_refused(o.s,
		      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT "
		      "1000001) SELECT i FROM n",
		      ERR_LIMIT, "more than 1000000 rows");
	open_done(&o);
}

TEST(query_functions)
{
	struct open o;
	char *text;

	open_init(&o);
	CHECK_EQ_INT(ask_number(o.s, "SELECT total_samples()"), 1000);
	CHECK_EQ_INT(ask_number(o.s, "SELECT total_weight()"), 10000);
	CHECK_EQ_INT(ask_number(o.s, "SELECT pct(1, 4) = 25.0"), 1);
	CHECK_EQ_INT(ask_number(o.s, "SELECT pct(1, 0) IS NULL AND pct(NULL, 4) IS NULL"), 1);
	text = ask_text(o.s, "SELECT short_path('/a/b/c.so') || short_path('[kernel]') || "
			     "short_path('/a/') || short_path('x')");
	CHECK_EQ_STR(text, "c.so[kernel]/a/x");
	os_free_ptr(&text);
	text = ask_text(o.s, "SELECT place('/a/b.c', 12) || ' ' || place('b.c', 0) || ' ' || "
			     "coalesce(place(NULL, 3), 'none')");
	CHECK_EQ_STR(text, "/a/b.c:12 b.c none");
	os_free_ptr(&text);
	open_done(&o);
}

/* A path opened read-only stays as it was, whatever is tried. */
TEST(query_on_a_file)
{
	char_auto path = mem_printf("%s/run.db", test_tmpdir());
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	CHECK(store_build(&s, path, &f.in, &err));
	store_close(s);
	CHECK(store_open(&s, path, &err));
	check_refused(s, "DELETE FROM t_meta", ERR_USAGE, "not allowed");
	check_refused(s, "SELECT * FROM t_meta", ERR_USAGE, "is private");
	CHECK_EQ_INT(ask_number(s, "SELECT count(*) FROM v1_threads"), 3);
	store_close(s);
	fixture_done(&f);
}
