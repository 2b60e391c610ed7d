/* SPDX-License-Identifier: Apache-2.0 */
/* What store_build writes, seen through the public views. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/os.h"
#include "fixture.h"
#include "test.h"

#define CHECK_NUMBER(s, sql, want) CHECK_EQ_INT(ask_number((s), (sql)), (want))

static void check_text(struct store *s, const char *sql, const char *want)
{
	char_auto got = ask_text(s, sql);

	CHECK_EQ_STR(got, want);
}

TEST(build_functions_and_lines)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	s = fixture_store(&f);
	/* default_idle is only in idle samples: in no share, so not in the view. */
	CHECK_NUMBER(s, "SELECT count(*) FROM v1_functions", 5);
	CHECK_NUMBER(s, "SELECT self FROM v1_functions WHERE name = 'chase'", 900);
	CHECK_NUMBER(s, "SELECT self_pct = 90.0 FROM v1_functions WHERE name = 'chase'", 1);
	CHECK_NUMBER(s, "SELECT total FROM v1_functions WHERE name = 'main'", 1000);
	check_text(s, "SELECT address FROM v1_functions WHERE name = 'main'", "0x2000");
	check_text(s, "SELECT image FROM v1_functions WHERE name = 'main'", "app");
	check_text(s, "SELECT image_path FROM v1_functions WHERE name = 'main'",
		   "/opt/app/bin/app");
	check_text(s, "SELECT raw_name FROM v1_functions WHERE kind = 'unknown'", "NULL");
	check_text(s,
		   "SELECT group_concat(file || ':' || line || '=' || self, ' ') FROM "
		   "(SELECT * FROM v1_lines WHERE self > 0 AND file IS NOT NULL ORDER BY self "
		   "DESC)",
		   "/src/app.c:10=800 /src/app.c:11=100 /src/mix.h:5=60");
	store_close(s);
	fixture_done(&f);
}

TEST(build_addresses_above_2_to_63)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	s = fixture_store(&f);
	check_text(s, "SELECT address FROM v1_instructions WHERE function = 'default_idle'",
		   "0xffffffff81000004");
	CHECK_NUMBER(s, "SELECT offset FROM v1_instructions WHERE function = 'default_idle'", 4);
	CHECK_NUMBER(s, "SELECT offset FROM v1_instructions WHERE function = 'chase'", 4);
	store_close(s);
	fixture_done(&f);
}

TEST(build_counts_are_exact_to_63_bits)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	f.h.functions.at[0].self.samples = UINT64_C(9007199254740993);
	s = fixture_store(&f);
	CHECK_NUMBER(s, "SELECT self FROM v1_functions WHERE name = 'chase'",
		     INT64_C(9007199254740993));
	store_close(s);
	fixture_done(&f);
}

TEST(build_tree_is_depth_first)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	s = fixture_store(&f);
	check_text(s,
		   "SELECT group_concat(stack_id || ' ' || coalesce(parent_id, '-') || ' ' || "
		   "last_id || ' ' || depth || ' ' || function, '; ') FROM "
		   "(SELECT * FROM v1_calltree ORDER BY stack_id)",
		   "1 - 5 0 main; 2 1 2 1 chase; 3 1 4 1 setup; 4 3 4 2 mix<int>(a, b); "
		   "5 1 5 1 [unknown]");
	CHECK_NUMBER(s, "SELECT inlined FROM v1_calltree WHERE stack_id = 4", 1);
	store_close(s);
	fixture_done(&f);
}

TEST(build_stacks_by_thread_and_bucket)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	s = fixture_store(&f);
	/* Two addresses of chase in one bucket are one row; idle is in none. */
	check_text(s,
		   "SELECT group_concat(stack_id || '/' || thread_id || '/' || bucket || '=' || "
		   "samples, ' ') FROM v1_stacks",
		   "2/0/0=600 2/1/3=300 4/0/5=60 5/0/999=40");
	CHECK_NUMBER(s, "SELECT sum(period) FROM v1_stacks", 10000);
	CHECK_NUMBER(s, "SELECT start_ns FROM v1_stacks WHERE bucket = 3", 6000003);
	/* Each node's self is the sum of its rows. */
	CHECK_NUMBER(s,
		     "SELECT count(*) FROM v1_calltree t WHERE t.self <> "
		     "(SELECT total(samples) FROM v1_stacks c WHERE c.stack_id = t.stack_id)",
		     0);
	store_close(s);
	fixture_done(&f);
}

TEST(build_images_threads_meta)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	s = fixture_store(&f);
	check_text(s,
		   "SELECT group_concat(name || ' ' || self || ' ' || symbols, '; ') FROM "
		   "v1_images",
		   "app 960 full; libz.so.1 40 dynamic only; [kernel] 0 no lines");
	check_text(s, "SELECT hex(thread) FROM v1_threads WHERE tid = 101", "6E6C0A6865FF");
	CHECK_NUMBER(s, "SELECT pct = 30.0 FROM v1_threads WHERE tid = 101", 1);
	check_text(s, "SELECT pct FROM v1_threads WHERE idle", "NULL");
	check_text(s, "SELECT value FROM v1_meta WHERE key = 'command'", "./app 'it'\\''s' ''");
	CHECK_NUMBER(s, "SELECT value + 1 FROM v1_meta WHERE key = 'capture.agent_cpu_ns'",
		     12000001);
	check_text(s, "SELECT group_concat(id || ': ' || text, '; ') FROM v1_notes",
		   "PARANOID: kernel.perf_event_paranoid is 2; RECORDING: 3 records were skipped");
	CHECK_NUMBER(s, "SELECT ns FROM v1_stages WHERE stage = 'load'", 5000);
	check_text(s, "SELECT group_concat(level || ' ' || verdict, '; ') FROM v1_levels",
		   "function solid; line weak; instruction weak; call path solid");
	check_text(s,
		   "SELECT caller || ' ' || samples || ' ' || callee_pct FROM v1_callers WHERE "
		   "callee = 'chase'",
		   "main 900 100.0");
	store_close(s);
	fixture_done(&f);
}

/* chase has 90 % of the samples, but they stand for 1 % of what was sampled. */
TEST(build_shares_are_of_weights)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	f.h.functions.at[0].self.weight = f.h.functions.at[0].total.weight = 100;
	f.h.functions.at[2].self.weight = f.h.functions.at[2].total.weight = 6000;
	f.h.lines.at[0].self.weight = 250;
	f.h.instructions.at[0].self.weight = 2500;
	f.h.tree.at[1].total.weight = 1250;
	f.h.edges.at[0].total.weight = 25;
	f.h.threads.at[1].weight = 750;
	for (size_t i = 0; i < f.m.weights.len; i++)
		f.m.weights.at[i].period = i == 4 ? 7000 : 1;
	s = fixture_store(&f);
	check_text(s,
		   "SELECT self || ' ' || self_weight || ' ' || self_pct || ' ' || total_weight || "
		   "' ' || total_pct FROM v1_functions WHERE name = 'chase'",
		   "900 100 1.0 100 1.0");
	check_text(s, "SELECT self_pct FROM v1_lines WHERE line = 10", "2.5");
	check_text(s, "SELECT self_pct FROM v1_instructions WHERE line = 10", "25");
	check_text(s,
		   "SELECT total || ' ' || total_pct || ' ' || total_weight FROM v1_calltree "
		   "WHERE function = 'chase'",
		   "900 12.5 1250");
	check_text(s,
		   "SELECT samples || ' ' || callee_pct || ' ' || pct || ' ' || weight "
		   "FROM v1_callers WHERE callee = 'chase'",
		   "900 25.0 0.25 25");
	check_text(s,
		   "SELECT samples || ' ' || pct || ' ' || weight || ' ' || period "
		   "FROM v1_threads WHERE tid = 101",
		   "300 7.5 750 750");
	check_text(s, "SELECT self || ' ' || self_pct FROM v1_images WHERE name = 'libz.so.1'",
		   "40 60.0");
	check_text(s,
		   "SELECT samples || ' ' || weight || ' ' || period FROM v1_stacks "
		   "WHERE bucket = 999",
		   "40 7000 7000");
	check_text(s,
		   "SELECT weight || ' ' || idle_weight || ' ' || unnamed_weight || ' ' || "
		   "kernel_weight || ' ' || final_frequency_hz || partial_why FROM v1_evidence",
		   "10000 5000 400 100 3997");
	store_close(s);
	fixture_done(&f);
}

TEST(build_counts_where_there_are_no_periods)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	f.h.by_period = false;
	f.h.threads.at[1].weight = 300;
	s = fixture_store(&f);
	CHECK_NUMBER(s, "SELECT weight FROM v1_stacks WHERE bucket = 3", 300);
	check_text(s, "SELECT weight || ' ' || period FROM v1_threads WHERE tid = 101", "300 0");
	store_close(s);
	fixture_done(&f);
}

/* Samples of another event are in no table; they are named. */
TEST(build_one_event)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	vec_add(&f.m.events,
		((struct model_event){
			.name = "cache-misses", .rate = 1009, .samples = 77, .period = 77693 }));
	vec_add(&f.m.weights, ((struct model_weight){ { 1 }, { 0 }, 1, 0, 77, 77693 }));
	f.e.other_events = "only cpu-clock";
	s = fixture_store(&f);
	CHECK_NUMBER(s, "SELECT sum(samples) FROM v1_stacks", 1000);
	CHECK_NUMBER(s, "SELECT count(*) FROM v1_stacks WHERE event_id <> 0", 0);
	check_text(s,
		   "SELECT group_concat(name || ' ' || samples || ' ' || analysed) FROM v1_events",
		   "cpu-clock 1500 1,cache-misses 77 0");
	check_text(s, "SELECT text FROM v1_notes WHERE id = 'OTHER_EVENTS'", "only cpu-clock");
	store_close(s);
	fixture_done(&f);
}

TEST(build_shares_without_samples_are_null)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	f.e.samples = f.e.weight = 0;
	s = fixture_store(&f);
	check_text(s, "SELECT self_pct FROM v1_functions WHERE name = 'chase'", "NULL");
	check_text(s, "SELECT pct(1, total_samples())", "NULL");
	check_text(s, "SELECT pct(1, total_weight())", "NULL");
	store_close(s);
	fixture_done(&f);
}

static int files_in(const char *path)
{
	DIR *dir = opendir(path);
	int count = -2; /* . and .. */

	CHECK(dir);
	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

TEST(build_file_is_private_and_whole)
{
	char_auto path = mem_printf("%s/run.db", test_tmpdir());
	struct fixture f;
	struct store *s;
	struct stat st;
	struct err err;

	fixture_init(&f);
	CHECK(store_build(&s, path, &f.in, &err));
	CHECK_NUMBER(s, "SELECT count(*) FROM v1_stacks", 4);
	store_close(s);
	CHECK(!stat(path, &st));
	CHECK_EQ_INT(st.st_mode & 0777, 0600);
	CHECK_EQ_INT(files_in(test_tmpdir()), 1);
	CHECK(store_open(&s, path, &err));
	CHECK_NUMBER(s, "SELECT samples FROM v1_evidence", 1000);
	CHECK_NUMBER(s, "SELECT total_samples()", 1000);
	CHECK_NUMBER(s, "SELECT total_weight()", 10000);
	store_close(s);
	/* Again over the old one. */
	CHECK(store_build(&s, path, &f.in, &err));
	store_close(s);
	fixture_done(&f);
}

TEST(open_errors)
{
	char_auto path = mem_printf("%s/run.db", test_tmpdir());
	char_auto missing = mem_printf("%s/none/run.db", test_tmpdir());
	struct fixture f;
	struct store *s;
	struct err err;

	CHECK(!store_open(&s, missing, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, missing);
	CHECK(os_save_file(path, "not a database at all, but long enough to look at", 50, &err));
	CHECK(!store_open(&s, path, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.hint, "made again");
	CHECK(os_save_file(path, "", 0, &err));
	CHECK(!store_open(&s, path, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.text, "version 0");
	fixture_init(&f);
	CHECK(!store_build(&s, missing, &f.in, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, ENOENT);
	fixture_done(&f);
}

/* A run.db as somebody else may have made it, with this in place of the view of the evidence. */
static void forge(const char *path, const struct fixture *f, const char *view)
{
	char_auto sql = mem_printf("DROP VIEW v1_evidence; %s", view);
	struct store *s;
	struct err err;
	sqlite3 *db;

	CHECK(store_build(&s, path, &f->in, &err));
	store_close(s);
	CHECK_EQ_INT(sqlite3_open(path, &db), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	CHECK_EQ_INT(sqlite3_close(db), SQLITE_OK);
}

static void check_forged(const char *view, enum err_kind kind, const char *text)
{
	char_auto path = mem_printf("%s/run.db", test_tmpdir());
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	forge(path, &f, view);
	CHECK(!store_open(&s, path, &err));
	CHECK_EQ_INT(err.kind, kind);
	CHECK_HAS(err.text, text);
	fixture_done(&f);
}

/* The guard is up before anything is read of a file. */
TEST(open_forged_file)
{
	check_forged("CREATE VIEW v1_evidence AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL "
		     "SELECT i + 1 FROM n) SELECT max(i) AS samples, 1 AS weight FROM n",
		     ERR_LIMIT, "stopped after");
	check_forged("CREATE VIEW v1_evidence AS SELECT length(randomblob(9)) AS samples, "
		     "1 AS weight",
		     ERR_FORMAT, "randomblob");
	check_forged("CREATE VIEW v1_evidence AS SELECT count(*) AS samples, 1 AS weight "
		     "FROM sqlite_master",
		     ERR_FORMAT, "sqlite_master");
	check_forged("CREATE TABLE x(a)", ERR_FORMAT, "v1_evidence");
}

TEST(open_cut_file)
{
	char_auto path = mem_printf("%s/run.db", test_tmpdir());
	struct buf bytes = { 0 };
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	CHECK(store_build(&s, path, &f.in, &err));
	store_close(s);
	CHECK(os_load_file(path, 1 << 24, &bytes, &err));
	for (size_t len = 1; len < bytes.len; len += bytes.len / 60) {
		struct findings *found;

		CHECK(os_save_file(path, bytes.at, len, &err));
		if (!store_open(&s, path, &err))
			continue;
		if (store_query(&found, s, "SELECT count(*) FROM v1_stacks, v1_meta", &err))
			findings_free(found);
		store_close(s);
	}
	buf_done(&bytes);
	fixture_done(&f);
}

TEST(build_where_nothing_can_be_written)
{
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	CHECK(!store_build(&s, "/proc/run.db", &f.in, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_HAS(err.text, "/proc/run.db");
	fixture_done(&f);
}

TEST(build_without_session)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	f.in.session = NULL;
	f.m.hostname = "1234";
	s = fixture_store(&f);
	check_text(s, "SELECT typeof(value) FROM v1_target WHERE key = 'hostname'", "text");
	check_text(s, "SELECT value FROM v1_meta WHERE key = 'source_name'", "perf.data");
	store_close(s);
	fixture_done(&f);
}

/* A hundred thousand functions below each other: depth is no recursion of ours. */
TEST(build_deep_tree)
{
	struct fixture f;
	struct store *s;

	fixture_init(&f);
	for (uint32_t i = 0; i < 100000; i++) {
		uint32_t parent = i ? (uint32_t)f.h.tree.len - 1 : 1;

		vec_add(&f.h.tree, ((struct hot_node){
					   parent, { 0 }, false, i + 2, { 0, 0 }, { 900, 9000 } }));
	}
	s = fixture_store(&f);
	CHECK_NUMBER(s, "SELECT count(*) FROM v1_calltree", 100005);
	CHECK_NUMBER(s, "SELECT last_id FROM v1_calltree WHERE stack_id = 2", 100002);
	store_close(s);
	fixture_done(&f);
}
