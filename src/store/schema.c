/* SPDX-License-Identifier: Apache-2.0 */
/* The tables and views of run.db. docs/run-db.md describes the views; the tables are private. */
#include "store/store-db.h"

#include <string.h>

/*
 * Views use SQL that every SQLite knows, none of our functions, so that any program can read them.
 * STRICT is not used: names are raw bytes, meta values are of any type.
 */
const char store_schema[] =
	"CREATE TABLE t_meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE t_target(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"CREATE TABLE t_evidence(verdict TEXT, why TEXT, line TEXT, samples INTEGER, idle INTEGER,"
	" lost INTEGER, lost_pct REAL, throttled INTEGER, unnamed INTEGER, unnamed_pct REAL,"
	" kernel INTEGER, source TEXT, frequency_hz INTEGER, period INTEGER, duration_ns INTEGER,"
	" partial INTEGER, chain_samples INTEGER, weight INTEGER, idle_weight INTEGER,"
	" unnamed_weight INTEGER, kernel_weight INTEGER, final_frequency_hz INTEGER,"
	" partial_why TEXT, rings TEXT, started INTEGER, started_weight INTEGER);"
	"CREATE TABLE t_levels(level TEXT, verdict TEXT, why TEXT);"
	"CREATE TABLE t_events(id INTEGER PRIMARY KEY, name TEXT, frequency_hz INTEGER,"
	" period INTEGER, samples INTEGER, period_sum INTEGER, analysed INTEGER);"
	"CREATE TABLE t_images(id INTEGER PRIMARY KEY, kind TEXT, name TEXT, path TEXT, key TEXT,"
	" build_id TEXT, deleted INTEGER, pid INTEGER, self INTEGER, touched INTEGER,"
	" symbols TEXT, why TEXT, debug TEXT, self_weight INTEGER);"
	"CREATE TABLE t_files(id INTEGER PRIMARY KEY, path TEXT);"
	"CREATE TABLE t_functions(id INTEGER PRIMARY KEY, kind TEXT, name TEXT, raw_name TEXT,"
	" image INTEGER, address INTEGER, size INTEGER, file INTEGER, line INTEGER,"
	" self INTEGER, total INTEGER, self_weight INTEGER, total_weight INTEGER);"
	"CREATE TABLE t_lines(function INTEGER, file INTEGER, line INTEGER, self INTEGER,"
	" total INTEGER, self_weight INTEGER, total_weight INTEGER);"
	"CREATE TABLE t_instructions(function INTEGER, image INTEGER, address INTEGER, file INTEGER,"
	" line INTEGER, self INTEGER, self_weight INTEGER);"
	"CREATE TABLE t_threads(id INTEGER PRIMARY KEY, pid INTEGER, tid INTEGER, comm TEXT,"
	" process TEXT, samples INTEGER, period INTEGER, idle INTEGER, weight INTEGER);"
	"CREATE TABLE t_stacks(id INTEGER PRIMARY KEY, parent INTEGER, last INTEGER, depth INTEGER,"
	" function INTEGER, inlined INTEGER, self INTEGER, total INTEGER, self_weight INTEGER,"
	" total_weight INTEGER);"
	"CREATE TABLE t_stack_counts(stack INTEGER, thread INTEGER, event INTEGER, bucket INTEGER,"
	" samples INTEGER, period INTEGER, weight INTEGER);"
	"CREATE TABLE t_edges(caller INTEGER, callee INTEGER, total INTEGER, weight INTEGER);"
	"CREATE TABLE t_notes(id TEXT, text TEXT);"
	"CREATE TABLE t_stages(stage TEXT, ns INTEGER);"

	"CREATE VIEW v1_meta AS SELECT key, value FROM t_meta;"
	"CREATE VIEW v1_target AS SELECT key, value FROM t_target;"
	"CREATE VIEW v1_evidence AS SELECT verdict, why, line, samples, idle, lost, lost_pct,"
	" throttled, unnamed, unnamed_pct, kernel, source, frequency_hz, period, duration_ns,"
	" partial, chain_samples, weight, idle_weight, unnamed_weight, kernel_weight,"
	" final_frequency_hz, partial_why, rings, started, started_weight FROM t_evidence;"
	"CREATE VIEW v1_levels AS SELECT level, verdict, why FROM t_levels;"
	"CREATE VIEW v1_events AS SELECT id AS event_id, name, frequency_hz, period, samples,"
	" period_sum, analysed FROM t_events;"
	"CREATE VIEW v1_images AS SELECT id AS image_id, kind, name, path, build_id, deleted, pid,"
	" self, 100.0 * self_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS self_pct, touched,"
	" symbols, why, debug, self_weight, CASE symbols"
	" WHEN 'unused' THEN NULL"
	" WHEN 'dynamic only' THEN 'it is stripped and only exported names are left: install its'"
	" || ' debug package, or run a build that is not stripped'"
	" WHEN 'none' THEN 'it is stripped: install its debug package, or run a build that is not'"
	" || ' stripped'"
	" WHEN 'missing' THEN 'the run does not hold it ('"
	" || coalesce(why, 'it was gone before it could be saved')"
	" || '): record again while the file is there'"
	" WHEN 'unreadable' THEN 'it could not be read (' || coalesce(why, 'damaged') || ')'"
	" WHEN 'hidden' THEN 'kernel.kptr_restrict hides kernel symbols: set it to 0, or record as'"
	" || ' root'"
	" ELSE CASE kind WHEN 'anon' THEN 'it is code made at run time: let the runtime write a perf'"
	" || ' map or a jitdump'"
	" WHEN 'unknown' THEN 'no mapping was recorded for these addresses'"
	" ELSE 'its symbol table does not cover these addresses' END END AS remedy FROM t_images;"
	"CREATE VIEW v1_functions AS SELECT f.id AS function_id, f.kind, f.name, f.raw_name,"
	" f.image AS image_id, i.name AS image, i.path AS image_path,"
	" CASE WHEN f.size > 0 THEN printf('0x%x', f.address) END AS address, f.size,"
	" s.path AS file, f.line, f.self, f.total,"
	" 100.0 * f.self_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS self_pct,"
	" 100.0 * f.total_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS total_pct,"
	" f.self_weight, f.total_weight"
	" FROM t_functions f LEFT JOIN t_images i ON i.id = f.image LEFT JOIN t_files s ON s.id = f.file"
	" WHERE f.total > 0;"
	"CREATE VIEW v1_lines AS SELECT l.function AS function_id, f.name AS function,"
	" i.id AS image_id, i.name AS image, s.path AS file, l.line, l.self, l.total,"
	" 100.0 * l.self_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS self_pct,"
	" 100.0 * l.total_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS total_pct,"
	" i.symbols, l.self_weight, l.total_weight"
	" FROM t_lines l LEFT JOIN t_functions f ON f.id = l.function"
	" LEFT JOIN t_images i ON i.id = f.image LEFT JOIN t_files s ON s.id = l.file;"
	"CREATE VIEW v1_instructions AS SELECT n.function AS function_id, f.name AS function,"
	" n.image AS image_id, i.name AS image, printf('0x%x', n.address) AS address,"
	" CASE WHEN f.size > 0 THEN n.address - f.address END AS offset,"
	" s.path AS file, n.line, n.self,"
	" 100.0 * n.self_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS self_pct,"
	" n.self_weight"
	" FROM t_instructions n LEFT JOIN t_functions f ON f.id = n.function"
	" LEFT JOIN t_images i ON i.id = n.image LEFT JOIN t_files s ON s.id = n.file;"
	"CREATE VIEW v1_threads AS SELECT id AS thread_id, pid, tid, comm AS thread, process,"
	" samples, period, idle, CASE WHEN idle = 0 THEN"
	" 100.0 * weight / NULLIF((SELECT weight FROM t_evidence), 0) END AS pct,"
	" weight"
	" FROM t_threads;"
	"CREATE VIEW v1_calltree AS SELECT t.id AS stack_id, t.parent AS parent_id,"
	" t.last AS last_id, t.depth, t.function AS function_id, f.name AS function,"
	" i.name AS image, t.inlined, t.self, t.total,"
	" 100.0 * t.self_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS self_pct,"
	" 100.0 * t.total_weight / NULLIF((SELECT weight FROM t_evidence), 0) AS total_pct,"
	" t.self_weight, t.total_weight"
	" FROM t_stacks t LEFT JOIN t_functions f ON f.id = t.function"
	" LEFT JOIN t_images i ON i.id = f.image;"
	"CREATE VIEW v1_callers AS SELECT e.caller AS caller_id, a.name AS caller,"
	" ai.name AS caller_image, e.callee AS callee_id, b.name AS callee,"
	" bi.name AS callee_image, e.total AS samples,"
	" 100.0 * e.weight / NULLIF(b.total_weight, 0) AS callee_pct,"
	" 100.0 * e.weight / NULLIF((SELECT weight FROM t_evidence), 0) AS pct,"
	" e.weight"
	" FROM t_edges e LEFT JOIN t_functions a ON a.id = e.caller"
	" LEFT JOIN t_images ai ON ai.id = a.image LEFT JOIN t_functions b ON b.id = e.callee"
	" LEFT JOIN t_images bi ON bi.id = b.image;"
	"CREATE VIEW v1_stacks AS SELECT c.stack AS stack_id, c.thread AS thread_id,"
	" c.event AS event_id, c.bucket,"
	" c.bucket * (SELECT value FROM t_meta WHERE key = 'bucket_ns') AS start_ns,"
	" c.samples, c.period, c.weight FROM t_stack_counts c;"
	"CREATE VIEW v1_notes AS SELECT id, text FROM t_notes;"
	"CREATE VIEW v1_stages AS SELECT stage, ns FROM t_stages;"
	"PRAGMA user_version = 3;";

_Static_assert(STORE_SCHEMA == 3, "the PRAGMA at the end of the schema says 3");

const char *const store_views[] = {
	"v1_callers",	   "v1_calltree", "v1_events",	"v1_evidence", "v1_functions", "v1_images",
	"v1_instructions", "v1_levels",	  "v1_lines",	"v1_meta",     "v1_notes",     "v1_stacks",
	"v1_stages",	   "v1_target",	  "v1_threads", NULL,
};

bool store_is_view(const char *name)
{
	for (size_t i = 0; store_views[i]; i++)
		if (!sqlite3_stricmp(name, store_views[i]))
			return true;
	return false;
}
