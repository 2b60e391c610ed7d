/* SPDX-License-Identifier: Apache-2.0 */
/* The code_hotspots recipe on the run made by hand. */
#include "base/os.h"
#include "fixture.h"
#include "test.h"

struct answer {
	struct fixture fx;
	struct store *s;
	struct findings *f;
};

static void answer_init(struct answer *a, const char *const *settings)
{
	a->s = fixture_store(&a->fx);
	a->f = run_hotspots(a->s, settings);
}

static void answer_done(struct answer *a)
{
	findings_free(a->f);
	store_close(a->s);
	fixture_done(&a->fx);
}

static void check_cell(const struct table *t, size_t row, const char *column, const char *want)
{
	const struct cell *c = cell_named(t, row, column);
	char_auto got = c->kind == CELL_TEXT	? mem_strdup(c->text) :
			c->kind == CELL_INTEGER ? mem_printf("%lld", (long long)c->integer) :
			c->kind == CELL_REAL	? mem_printf("%.4g", c->real) :
						  mem_strdup("NULL");

	CHECK_MSG(!strcmp(got, want), "%s.%s in row %zu is %s, not %s", t->id, column, row, got,
		  want);
}

TEST(hotspots_functions)
{
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, NULL);
	t = table_named(a.f, "functions");
	CHECK_EQ_U64(table_rows(t), 3);
	check_cell(t, 0, "function", "chase");
	check_cell(t, 0, "image", "app");
	check_cell(t, 0, "self_pct", "90");
	check_cell(t, 0, "total_pct", "90");
	check_cell(t, 0, "samples", "900");
	check_cell(t, 0, "inlined", "0");
	check_cell(t, 1, "function", "mix<int>(a, b)");
	check_cell(t, 1, "inlined", "1");
	check_cell(t, 2, "function", "[unknown]");
	check_cell(t, 2, "image_path", "/usr/lib/libz.so.1");
	/* Callers without samples of their own. */
	CHECK_EQ_U64(t->more, 2);
	answer_done(&a);
}

TEST(hotspots_cut)
{
	static const char *const settings[] = { "cut=50", NULL };
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, settings);
	t = table_named(a.f, "functions");
	CHECK_EQ_U64(table_rows(t), 1);
	CHECK_EQ_U64(t->more, 4);
	CHECK_EQ_STR(t->more_text, "10.00 %");
	CHECK_NEAR(t->more_pct, 10, 1e-9);
	t = table_named(a.f, "calltree");
	CHECK_EQ_U64(table_rows(t), 2);
	/* setup (with mix below it) and unknown: 60 + 40 samples, not 60 + 60 + 40. */
	CHECK_EQ_U64(t->more, 3);
	CHECK_EQ_STR(t->more_text, "10.00 %");
	answer_done(&a);
}

TEST(hotspots_tree)
{
	static const char *const settings[] = { "tree=3", NULL };
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, settings);
	t = table_named(a.f, "calltree");
	CHECK_EQ_U64(table_rows(t), 3);
	check_cell(t, 0, "function", "main");
	check_cell(t, 0, "parent", "NULL");
	check_cell(t, 0, "total_pct", "100");
	check_cell(t, 0, "samples", "0");
	check_cell(t, 1, "function", "chase");
	check_cell(t, 2, "function", "setup");
	check_cell(t, 2, "parent", "1");
	check_cell(t, 2, "depth", "1");
	CHECK_EQ_U64(t->more, 2);
	CHECK_EQ_STR(t->more_text, "10.00 %");
	answer_done(&a);
}

TEST(hotspots_lines_threads_images)
{
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, NULL);
	t = table_named(a.f, "lines");
	CHECK_EQ_U64(table_rows(t), 4);
	check_cell(t, 0, "place", "/src/app.c:10");
	check_cell(t, 0, "samples", "800");
	check_cell(t, 0, "line", "10");
	check_cell(t, 3, "place", "NULL");
	CHECK_EQ_STR(cell_named(t, 3, "place")->text, "no line table in libz.so.1 (dynamic only)");
	t = table_named(a.f, "threads");
	CHECK_EQ_U64(table_rows(t), 2);
	check_cell(t, 1, "thread", "nl\nhe\xff");
	check_cell(t, 1, "process", "app");
	check_cell(t, 1, "pid", "100");
	check_cell(t, 1, "tid", "101");
	check_cell(t, 1, "pct", "30");
	t = table_named(a.f, "images");
	CHECK_EQ_U64(table_rows(t), 2);
	check_cell(t, 0, "image", "app");
	check_cell(t, 0, "pct", "96");
	check_cell(t, 1, "symbols", "dynamic only");
	answer_done(&a);
}

TEST(hotspots_callers)
{
	static const char *const settings[] = { "function=mix<int>(a, b)", NULL };
	static const char *const bare[] = { "function=mix<int>", NULL };
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, NULL);
	t = table_named(a.f, "callers");
	CHECK_EQ_U64(table_rows(t), 1);
	check_cell(t, 0, "caller", "main");
	check_cell(t, 0, "function", "chase");
	check_cell(t, 0, "pct", "100");
	answer_done(&a);
	fixture_init(&a.fx);
	answer_init(&a, settings);
	t = table_named(a.f, "callers");
	check_cell(t, 0, "caller", "setup");
	check_cell(t, 0, "samples", "60");
	answer_done(&a);
	/* The parameters may be left out, but not a part of the name. */
	fixture_init(&a.fx);
	answer_init(&a, bare);
	CHECK_EQ_U64(table_rows(table_named(a.f, "callers")), 1);
	answer_done(&a);
}

static void check_error(struct fixture *fx, const struct recipe_setting *settings, size_t count,
			const char *id, const char *text, const char *hint)
{
	struct store *s = fixture_store(fx);
	struct findings *f;
	struct recipe *r;
	struct err err;

	CHECK(recipe_load(&r, "code_hotspots", &err));
	CHECK(!recipe_run(&f, r, s, settings, count, &err));
	CHECK_EQ_STR(err_id(&err), id);
	CHECK_HAS(err.text, text);
	CHECK_HAS(err.hint, hint);
	recipe_free(r);
	store_close(s);
	fixture_done(fx);
}

TEST(hotspots_unknown_function)
{
	struct recipe_setting setting = { "function", "chas" };
	struct fixture fx;

	fixture_init(&fx);
	check_error(&fx, &setting, 1, "NO_SUCH_FUNCTION", "called chas in", "contain it: chase");
}

TEST(hotspots_without_samples)
{
	struct fixture fx;

	fixture_init(&fx);
	vec_clear(&fx.h.functions);
	fx.e.samples = fx.e.weight = 0;
	fx.e.line = "cpu-clock 3,997 Hz, 0 samples, 0 lost";
	check_error(&fx, NULL, 0, "NO_SAMPLES", "cpu-clock 3,997 Hz, 0 samples",
		    "-F; a program that waits uses no CPU time and gives no samples, and processes "
		    "that live shorter than a sampling period escape a timer");
}

static void check_finding(const struct findings *f, const char *id, const char *severity,
			  const char *text, const char *basis)
{
	const struct finding *found = finding_named(f, id);

	CHECK_MSG(found, "no finding %s", id);
	CHECK_EQ_STR(found->severity, severity);
	CHECK_EQ_STR(found->text, text);
	CHECK_EQ_STR(found->basis, basis);
}

TEST(hotspots_findings_of_a_sound_run)
{
	struct answer a;

	fixture_init(&a.fx);
	answer_init(&a, NULL);
	check_finding(a.f, "hot_function", "info", "chase takes 90.0 % of the time itself",
		      "900 of 1,000 samples");
	check_finding(a.f, "idle", "info",
		      "the CPUs were idle for 33.3 % of the time; idle is left out of all shares",
		      "500 of 1,500 samples");
	CHECK_EQ_U64(a.f->findings.len, 2);
	answer_done(&a);
}

TEST(hotspots_findings_of_a_poor_run)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.h.functions.at[2].self = (struct hot_count){ 300, 3000 };
	a.fx.e.unnamed = 300;
	a.fx.e.unnamed_weight = 3000;
	a.fx.e.unnamed_pct = 30;
	a.fx.e.kernel = 400;
	a.fx.e.kernel_weight = 4000;
	a.fx.e.lost = 1234;
	a.fx.e.lost_pct = 12.34;
	a.fx.e.throttled = 1007;
	a.fx.e.partial = true;
	a.fx.e.partial_why = "interrupted by a signal";
	a.fx.e.idle = a.fx.e.idle_weight = 0;
	a.fx.e.final_hz = 1000;
	a.fx.e.started = 650;
	a.fx.e.started_weight = 6300;
	a.fx.h.threads.at[0] = (struct hot_count){ 950, 9500 };
	a.fx.h.threads.at[1] = (struct hot_count){ 50, 500 };
	a.fx.s.images[0].state = SYMBOL_IMAGE_NO_LINES;
	answer_init(&a, NULL);
	check_finding(
		a.f, "symbols_missing", "warning",
		"30.0 % of the time is spent in libz.so.1 without a function name: it is "
		"stripped and only exported names are left: install its debug package, or run "
		"a build that is not stripped",
		"300 samples, symbols: dynamic only");
	CHECK(!finding_named(a.f, "unnamed"));
	check_finding(a.f, "kernel", "info", "40.0 % of the time is spent in the kernel",
		      "400 of 1,000 samples");
	check_finding(a.f, "one_thread", "info",
		      "thread app (100) takes 95.0 % of the time; 1 more share the rest",
		      "950 samples");
	check_finding(a.f, "lost", "warning",
		      "1,234 samples were lost (12.3 %): lower the rate with -F",
		      "1,000 samples were kept");
	check_finding(a.f, "throttled", "warning",
		      "the kernel throttled sampling 1,007 times, so busy moments are underrated: "
		      "lower the rate with -F, or raise kernel.perf_cpu_time_max_percent",
		      "1,007 THROTTLE records");
	check_finding(a.f, "broken_chains", "warning",
		      "37.0 % of the call chains do not reach the start of a thread, so Total, the "
		      "call tree and callers are too low there: build with "
		      "-fno-omit-frame-pointer",
		      "350 of 1,000 samples");
	CHECK_EQ_STR(
		finding_named(a.f, "rate_lowered")->text,
		"the rate was lowered from 3,997 to 1,000 Hz to keep the cost of sampling down");
	CHECK_EQ_STR(finding_named(a.f, "partial")->text,
		     "the recording is partial: interrupted by a signal");
	CHECK(finding_named(a.f, "lines_missing"));
	answer_done(&a);
}

/*
 * The rate was lowered: the few samples of libz and of thread 101 stand for most of the time. What
 * is said, and in which order, follows the weights; the counts stay beside it.
 */
TEST(hotspots_of_two_rates)
{
	const struct table *t;
	struct answer a;

	fixture_init(&a.fx);
	a.fx.h.functions.at[0].self.weight = a.fx.h.functions.at[0].total.weight = 900;
	a.fx.h.functions.at[1].self.weight = a.fx.h.functions.at[1].total.weight = 8100;
	a.fx.h.functions.at[2].self.weight = a.fx.h.functions.at[2].total.weight = 1000;
	a.fx.h.lines.at[0].self.weight = 100;
	a.fx.h.lines.at[2].self.weight = 8100;
	a.fx.h.threads.at[0].weight = 500;
	a.fx.h.threads.at[1].weight = 9500;
	a.fx.e.kernel_weight = 5000;
	a.fx.e.idle_weight = 10000;
	answer_init(&a, NULL);
	t = table_named(a.f, "functions");
	check_cell(t, 0, "function", "mix<int>(a, b)");
	check_cell(t, 0, "self_pct", "81");
	check_cell(t, 0, "samples", "60");
	check_cell(t, 1, "function", "[unknown]");
	check_cell(t, 2, "function", "chase");
	check_cell(t, 2, "self_pct", "9");
	t = table_named(a.f, "lines");
	check_cell(t, 0, "place", "/src/mix.h:5");
	check_cell(t, 0, "self_pct", "81");
	t = table_named(a.f, "threads");
	check_cell(t, 0, "tid", "101");
	check_cell(t, 0, "pct", "95");
	check_cell(t, 0, "samples", "300");
	t = table_named(a.f, "callers");
	check_cell(t, 0, "function", "mix<int>(a, b)");
	check_finding(a.f, "hot_function", "info", "mix<int>(a, b) takes 81.0 % of the time itself",
		      "60 of 1,000 samples");
	check_finding(a.f, "symbols_missing", "warning",
		      "10.0 % of the time is spent in libz.so.1 without a function name: it is "
		      "stripped and only exported names are left: install its debug package, or "
		      "run a build that is not stripped",
		      "40 samples, symbols: dynamic only");
	check_finding(a.f, "one_thread", "info",
		      "thread nl\nhe\xff (101) takes 95.0 % of the time; 1 more share the rest",
		      "300 samples");
	check_finding(a.f, "kernel", "info", "50.0 % of the time is spent in the kernel",
		      "10 of 1,000 samples");
	check_finding(a.f, "idle", "info",
		      "the CPUs were idle for 50.0 % of the time; idle is left out of all shares",
		      "500 of 1,500 samples");
	answer_done(&a);
}

TEST(hotspots_unnamed_spread_out)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.e.unnamed = 60;
	a.fx.e.unnamed_weight = 600;
	a.fx.e.unnamed_pct = 6;
	answer_init(&a, NULL);
	CHECK(finding_named(a.f, "unnamed"));
	CHECK(!finding_named(a.f, "symbols_missing"));
	answer_done(&a);
}

/* Two samples prove nothing, so nothing is said about shares. */
TEST(hotspots_unusable_says_little)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.e.verdict = VERDICT_UNUSABLE;
	a.fx.e.kernel = 900;
	a.fx.e.kernel_weight = 9000;
	answer_init(&a, NULL);
	CHECK(!finding_named(a.f, "hot_function"));
	CHECK(!finding_named(a.f, "kernel"));
	answer_done(&a);
}

/* Most of the time has no name: that comes first, and the hottest name is called what it is. */
TEST(hotspots_unnamed_is_hottest)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.h.functions.at[0].self = (struct hot_count){ 100, 1350 };
	a.fx.h.functions.at[2].self = (struct hot_count){ 840, 8050 };
	a.fx.s.images[1].state = SYMBOL_IMAGE_NONE;
	answer_init(&a, NULL);
	CHECK_EQ_STR(a.f->findings.at[0].id, "hot_unnamed");
	check_finding(a.f, "hot_unnamed", "warning",
		      "80.5 % of the time is in libz.so.1, which has no function names: it is "
		      "stripped: install its debug package, or run a build that is not stripped",
		      "840 of 1,000 samples, symbols: none");
	check_finding(a.f, "hot_function", "info",
		      "the hottest named function, chase, takes 13.5 % of the time itself",
		      "100 of 1,000 samples");
	CHECK(!finding_named(a.f, "symbols_missing"));
	answer_done(&a);
	fixture_init(&a.fx);
	a.fx.h.functions.at[2].self = (struct hot_count){ 9000, 90000 };
	a.fx.s.functions.at[1].image.i = 1;
	answer_init(&a, NULL);
	CHECK_HAS(finding_named(a.f, "hot_unnamed")->text,
		  "of the time is in functions of libz.so.1 that have no names: it is stripped and "
		  "only exported names are left");
	answer_done(&a);
}

static void check_rings(const char *rings, const char *hot, bool tells_kernel)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.e.rings = rings;
	a.fx.e.kernel = 1000;
	a.fx.e.kernel_weight = 10000;
	answer_init(&a, NULL);
	CHECK_EQ_STR(finding_named(a.f, "hot_function")->text, hot);
	CHECK_EQ_INT(finding_named(a.f, "kernel") != NULL, tells_kernel);
	answer_done(&a);
}

TEST(hotspots_of_one_privilege_level)
{
	check_rings("all", "chase takes 90.0 % of the time itself", true);
	check_rings("user", "chase takes 90.0 % of the user time itself", false);
	check_rings("kernel", "chase takes 90.0 % of the kernel time itself", false);
}

/* Nothing is said of chains that were not asked for. */
TEST(hotspots_without_chains)
{
	struct answer a;

	fixture_init(&a.fx);
	a.fx.e.has_chains = false;
	a.fx.e.started = a.fx.e.started_weight = 0;
	a.fx.e.throttled = 1;
	answer_init(&a, NULL);
	CHECK(!finding_named(a.f, "broken_chains"));
	CHECK_HAS(finding_named(a.f, "throttled")->text, "the kernel throttled sampling once, so");
	CHECK_EQ_STR(finding_named(a.f, "throttled")->basis, "1 THROTTLE record");
	answer_done(&a);
}

static const struct finding *on_cpu(struct answer *a, const char *scope, uint64_t cpu_ns,
				    uint64_t wall_ns)
{
	fixture_init(&a->fx);
	kv_put(&a->fx.session.options, "scope", scope);
	kv_put_u64(&a->fx.session.finished, "workload_cpu_ns", cpu_ns);
	kv_put_u64(&a->fx.session.finished, "wall_ns", wall_ns);
	answer_init(a, NULL);
	return finding_named(a->f, "on_cpu");
}

TEST(hotspots_of_a_workload_that_waits)
{
	struct answer a;

	CHECK(on_cpu(&a, "launch", 480000000, 3700000000));
	check_finding(a.f, "on_cpu", "info",
		      "the workload was on a CPU for 0.48 s of 3.70 s: this report says nothing "
		      "about the rest, when it waited",
		      "13.0 %");
	answer_done(&a);
	CHECK(!on_cpu(&a, "launch", 1850000000, 3700000000));
	answer_done(&a);
	CHECK(!on_cpu(&a, "system", 480000000, 3700000000));
	answer_done(&a);
	CHECK(!on_cpu(&a, "launch", 0, 3700000000));
	answer_done(&a);
	CHECK_EQ_STR(on_cpu(&a, "launch", 99400000, 400000000)->text,
		     "the workload was on a CPU for 99 ms of 400 ms: this report says nothing "
		     "about the rest, when it waited");
	answer_done(&a);
}
