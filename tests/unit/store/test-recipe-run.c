/* SPDX-License-Identifier: Apache-2.0 */
/* Running recipes: options, cuts, nulls with reasons, stops, limits, the head. */
#include "base/os.h"
#include "fixture.h"
#include "test.h"

#define HEAD \
	"recipe r\nquestion Why?\noption cut pct 10 x\noption top count 0 x\noption name text - x\n"

static bool run(struct findings **f, struct store *s, const char *text,
		const struct recipe_setting *settings, size_t count, struct err *err)
{
	struct recipe *r;
	bool ok;

	if (!recipe_parse(&r, "x.recipe", str_of(text), err))
		FAIL("%s", err->text);
	ok = recipe_run(f, r, s, settings, count, err);
	recipe_free(r);
	return ok;
}

static const char rows[] = HEAD
	"table t\n title T\n column p pct P\n column n text N\n cut p cut\n top top\n share p\n"
	" sql\n  SELECT column1 AS p, column2 AS n FROM (VALUES (50, 'a'), (20, 'b'), (9, 'c'), "
	"(8, 'd'), (3, 'e'))\n end\n";

static void check_cut(const char *cut, const char *top, size_t kept, uint64_t more,
		      const char *more_text)
{
	struct recipe_setting settings[] = { { "cut", cut }, { "top", top } };
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(run(&f, s, rows, settings, 2, &err));
	CHECK_EQ_U64(table_rows(&f->tables.at[0]), kept);
	CHECK_EQ_U64(f->tables.at[0].more, more);
	if (more_text)
		CHECK_EQ_STR(f->tables.at[0].more_text, more_text);
	else
		CHECK(!f->tables.at[0].more_text);
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

TEST(run_cuts_and_counts_the_rest)
{
	check_cut("10", "0", 2, 3, "20.00 %");
	check_cut("8", "0", 4, 1, "3.00 %");
	check_cut("0", "0", 5, 0, NULL);
	check_cut("0", "3", 3, 2, "11.00 %");
	/* Never down to nothing. */
	check_cut("99", "0", 1, 4, "40.00 %");
}

TEST(run_refuses_bad_settings)
{
	struct recipe_setting unknown = { "cot", "1" }, bad = { "cut", "lots" };
	struct recipe_setting negative = { "top", "-1" };
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(!run(&f, s, rows, &unknown, 1, &err));
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_EQ_STR(err.text, "recipe r has no option cot");
	CHECK_EQ_STR(err.hint, "its options are cut, top, name");
	CHECK(!run(&f, s, rows, &bad, 1, &err));
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_EQ_STR(err.text, "option cut: \"lots\" is not a percentage from 0 to 100");
	CHECK(!run(&f, s, rows, &negative, 1, &err));
	CHECK_EQ_STR(err.text, "option top: \"-1\" is not a whole number");
	store_close(s);
	fixture_done(&fx);
}

TEST(run_null_has_a_why)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(run(&f, s,
		  HEAD
		  "table t\n title T\n column a count\n column b text\n sql\n SELECT NULL AS a, "
		  "'dark' AS a_why, :name AS b\n end\n",
		  NULL, 0, &err));
	CHECK_EQ_INT(cell_named(&f->tables.at[0], 0, "a")->kind, CELL_NULL);
	CHECK_EQ_STR(cell_named(&f->tables.at[0], 0, "a")->text, "dark");
	/* A text option without a value is NULL. */
	CHECK_EQ_INT(cell_named(&f->tables.at[0], 0, "b")->kind, CELL_NULL);
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

TEST(run_findings_and_stops)
{
	struct recipe_setting name = { "name", "x" };
	static const char text[] = HEAD
		"table t\n title T\n column a count\n sql\n SELECT 1 AS a\n end\n"
		"finding f\n severity info\n sql\n SELECT 'warning' AS severity, 1234567 AS n, "
		"12.345 AS p, 2500000 AS t, NULL AS z UNION ALL SELECT 'loud', -1234, 0, 0, 'z'\n end\n"
		" text {n:count}|{n}|{p:pct}|{t:ms}|{z}\n basis {n}\n"
		"stop NO_X refused\n sql\n SELECT :name AS name WHERE :name IS NOT NULL\n end\n"
		" text no {name}\n remedy find {name}\n";
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(run(&f, s, text, NULL, 0, &err));
	CHECK_EQ_U64(f->findings.len, 2);
	CHECK_EQ_STR(f->findings.at[0].text, "1,234,567|1234567|12.3 %|2.5 ms|n/a");
	CHECK_EQ_STR(f->findings.at[0].severity, "warning");
	CHECK_EQ_STR(f->findings.at[1].text, "-1,234|-1234|0.0 %|0.0 ms|z");
	CHECK_EQ_STR(f->findings.at[1].severity, "info");
	findings_free(f);
	CHECK(!run(&f, s, text, &name, 1, &err));
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_EQ_STR(err_id(&err), "NO_X");
	CHECK_EQ_STR(err.text, "no x");
	CHECK_EQ_STR(err.hint, "find x");
	store_close(s);
	fixture_done(&fx);
}

TEST(run_is_confined_and_bounded)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(!run(&f, s,
		   HEAD "table t\n title T\n column a count\n sql\n SELECT id AS a FROM "
			"t_files\n end\n",
		   NULL, 0, &err));
	CHECK_HAS(err.text, "x.recipe:10: table t_files is private");
	s->step_limit = 1000000;
	CHECK(!run(&f, s,
		   HEAD "table t\n title T\n column a count\n sql\n WITH RECURSIVE n(i) AS "
			"(SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT max(i) AS a FROM n\n "
			"end\n",
		   NULL, 0, &err));
	CHECK_EQ_INT(err.kind, ERR_LIMIT);
	CHECK_HAS(err.text, "x.recipe:10: stopped after");
	store_close(s);
	fixture_done(&fx);
}

static const struct cell *field(const struct field *at, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(at[i].name, name))
			return &at[i].value;
	FAIL("no field %s", name);
}

#define FIELD(list, name) field((list).at, (list).len, (name))

TEST(run_head)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(run(&f, s, rows, NULL, 0, &err));
	CHECK_EQ_STR(f->recipe, "r");
	CHECK_EQ_STR(f->question, "Why?");
	CHECK_EQ_STR(f->run, "20260102-030405-code_hotspots");
	CHECK_EQ_STR(f->command, "./app 'it'\\''s' ''");
	CHECK_EQ_STR(f->verdict, "solid");
	CHECK_EQ_STR(f->evidence_line, "cpu-clock 3,997 Hz, 1,000 samples, 0 lost");
	CHECK_EQ_INT(FIELD(f->evidence, "samples")->integer, 1000);
	CHECK_EQ_STR(FIELD(f->evidence, "source")->text, "cpu-clock");
	CHECK_EQ_INT(FIELD(f->evidence, "frequency_hz")->integer, 3997);
	CHECK_EQ_INT(FIELD(f->evidence, "period")->kind, CELL_NULL);
	CHECK_EQ_INT(FIELD(f->evidence, "partial")->kind, CELL_BOOLEAN);
	CHECK_EQ_U64(f->levels.len, 4);
	CHECK_EQ_STR(f->levels.at[2].why, "skid is not corrected");
	CHECK_EQ_STR(FIELD(f->target, "hostname")->text, "box");
	CHECK_EQ_INT(FIELD(f->target, "cpus_online")->integer, 4);
	CHECK_EQ_STR(FIELD(f->target, "cloud")->text, "not recorded");
	CHECK_NEAR(FIELD(f->cost, "agent_cpu_ms")->real, 12, 1e-9);
	/* 12 ms of 2 s on 4 CPUs. */
	CHECK_NEAR(FIELD(f->cost, "machine_pct")->real, 0.15, 1e-9);
	CHECK_EQ_INT(FIELD(f->workload, "exit_code")->integer, 3);
	CHECK_EQ_INT(FIELD(f->workload, "signal")->kind, CELL_NULL);
	CHECK_EQ_STR(f->notes.at[0].id, "PARANOID");
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

TEST(run_head_of_a_bare_file)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	fx.in.session = NULL;
	s = fixture_store(&fx);
	CHECK(run(&f, s, rows, NULL, 0, &err));
	CHECK(!f->run);
	CHECK_EQ_STR(f->command, "perf.data");
	CHECK_EQ_U64(f->cost.len, 0);
	CHECK_EQ_U64(f->workload.len, 0);
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

TEST(run_killed_workload)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	buf_clear(&fx.session.finished);
	kv_put_u64(&fx.session.finished, "has_status", 1);
	kv_put_u64(&fx.session.finished, "wait_status", 11);
	s = fixture_store(&fx);
	CHECK(run(&f, s, rows, NULL, 0, &err));
	CHECK_EQ_INT(FIELD(f->workload, "exit_code")->kind, CELL_NULL);
	CHECK_EQ_INT(FIELD(f->workload, "signal")->integer, 11);
	CHECK_EQ_U64(f->cost.len, 0);
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

/* The indented block of a page under docs/ that begins with this line, up to the next heading. */
static char *example_of(const char *page, const char *begins, const char *ends)
{
	char_auto path = mem_printf("docs/%s", page);
	buf_auto text = { 0 };
	struct buf out = { 0 };
	struct str rest, line;
	struct err err;
	char *from, *to;

	if (!os_load_file(test_source(path), 1 << 20, &text, &err))
		FAIL("%s", err.text);
	from = strstr(buf_str(&text), begins);
	to = from ? strstr(from, ends) : NULL;
	CHECK_MSG(from && to, "docs/%s: no %s", page, begins);
	rest = (struct str){ from, (size_t)(to - from) };
	while (str_line(&rest, &line)) {
		size_t indent = line.len < 4 ? line.len : 4;

		buf_add(&out, line.at + indent, line.len - indent);
		buf_u8(&out, '\n');
	}
	return (char *)out.at;
}

/* What is not built gives no empty answer. */
TEST(run_planned)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(!run(&f, s, "recipe r\nquestion Why?\nplanned\nrung a\n text b\n", NULL, 0, &err));
	CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
	CHECK_EQ_STR(err.id, "NOT_BUILT_YET");
	store_close(s);
	fixture_done(&fx);
}

TEST(run_documented_recipe)
{
	char_auto text = example_of("recipes.md", "    recipe busy_threads", "### Head");
	struct fixture fx;
	struct findings *f;
	struct recipe *r;
	struct store *s;
	struct err err;

	if (!recipe_parse(&r, "docs/recipes.md", str_of(text), &err) || !recipe_check(r, &err))
		FAIL("%s", err.text);
	fixture_init(&fx);
	s = fixture_store(&fx);
	CHECK(recipe_run(&f, r, s, NULL, 0, &err));
	CHECK_EQ_U64(table_rows(&f->tables.at[0]), 2);
	CHECK_EQ_INT(cell_named(&f->tables.at[0], 0, "samples")->integer, 700);
	findings_free(f);
	recipe_free(r);
	store_close(s);
	fixture_done(&fx);
}

TEST(run_documented_queries)
{
	char_auto busiest = example_of("run-db.md", "    SELECT t.function", "Samples over time");
	char_auto steps = example_of("run-db.md", "    SELECT start_ns /", "## What");
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	s = fixture_store(&fx);
	if (!store_query(&f, s, busiest, &err))
		FAIL("%s", err.text);
	CHECK_EQ_STR(table_cell(&f->tables.at[0], 0, 0)->text, "chase");
	CHECK_EQ_INT(table_cell(&f->tables.at[0], 0, 2)->integer, 600);
	findings_free(f);
	if (!store_query(&f, s, steps, &err))
		FAIL("%s", err.text);
	CHECK_EQ_U64(table_rows(&f->tables.at[0]), 2);
	CHECK_EQ_INT(table_cell(&f->tables.at[0], 0, 1)->integer, 960);
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}

/* A capture shorter than the agent's own work gives no share above 100 %. */
TEST(run_cost_of_a_short_capture)
{
	struct fixture fx;
	struct findings *f;
	struct store *s;
	struct err err;

	fixture_init(&fx);
	kv_put_u64(&fx.session.finished, "wall_ns", 1000000);
	s = fixture_store(&fx);
	CHECK(run(&f, s, rows, NULL, 0, &err));
	CHECK_EQ_INT(FIELD(f->cost, "machine_pct")->kind, CELL_NULL);
	CHECK_EQ_STR(FIELD(f->cost, "machine_pct")->text,
		     "the capture was shorter than its own set-up");
	findings_free(f);
	store_close(s);
	fixture_done(&fx);
}
