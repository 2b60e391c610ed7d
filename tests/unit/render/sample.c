/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for the tests of the renderers, and comparison with golden files. */
#include "sample.h"

#include <stdlib.h>

#include "base/os.h"
#include "test.h"

const char *const hostile_names[HOSTILE_NAMES] = {
	"java main",
	"[ET_NET 0]",
	"a) R 1 2 (b",
	"x:y 12/13",
	"tab\there",
	"nl\nhere",
	"\xff\xfe\x80zz",
	"<b>hi</b>&'\"",
	"=cmd|' /C calc'!A0",
	"",
	"  lead",
	"\xe6\x97\xa5\xe6\x9c\xac\xe8\xaa\x9e\xe3\x81\xa0 trail ",
	/* A name that a terminal would show with its end in the middle. */
	"z\xe2\x80\xaey",
};

static struct cell text(const char *s)
{
	return (struct cell){ .kind = CELL_TEXT, .text = s, .text_len = strlen(s) };
}

static struct cell integer(int64_t v)
{
	return (struct cell){ .kind = CELL_INTEGER, .integer = v };
}

static struct cell real(double v)
{
	return (struct cell){ .kind = CELL_REAL, .real = v };
}

static struct cell null(const char *why)
{
	return (struct cell){ .kind = CELL_NULL, .text = why };
}

#define COLUMNS(...)                              \
	((const struct column[]){ __VA_ARGS__ }), \
		sizeof((const struct column[]){ __VA_ARGS__ }) / sizeof(struct column)

static struct table *add_table(struct findings *f, const char *id, const char *title,
			       const struct column *columns, size_t count)
{
	struct table *t = vec_push(&f->tables);

	t->id = id;
	t->title = title;
	t->column_count = count;
	t->columns = arena_alloc(&f->arena, sizeof(*columns) * count);
	memcpy(t->columns, columns, sizeof(*columns) * count);
	return t;
}

static void add_row(struct table *t, const struct cell *cells)
{
	for (size_t i = 0; i < t->column_count; i++)
		vec_add(&t->cells, cells[i]);
}

#define ROW(t, ...) add_row((t), (const struct cell[]){ __VA_ARGS__ })
#define FIELD(list, name, value) vec_add(list, ((struct field){ (name), (value) }))

static struct findings *head(void)
{
	struct findings *f = mem_alloc(sizeof(*f));

	f->recipe = "code_hotspots";
	f->question = "Where does the time go?";
	f->run = "20260102-030405-code_hotspots";
	f->command = "./build/workloads/memlat chase 'a b' '\x1b[31m'";
	f->verdict = "weak";
	f->verdict_why = "6.1 % of samples are unnamed";
	f->evidence_line = "cpu-clock 3,997 Hz, 20,113 samples, 12 lost";
	vec_add(&f->levels, ((struct level){ "function", "weak", "6.1 % of samples are unnamed" }));
	vec_add(&f->levels, ((struct level){ "line", "solid", "" }));
	vec_add(&f->levels, ((struct level){ "instruction", "weak", "skid is not corrected" }));
	FIELD(&f->target, "hostname", text("box"));
	FIELD(&f->target, "arch", text("aarch64"));
	FIELD(&f->target, "kernel", text("6.1.0-18-arm64"));
	FIELD(&f->target, "cpu", text("Neoverse-N1"));
	FIELD(&f->target, "cpus_online", integer(64));
	FIELD(&f->target, "cloud", null("not recorded"));
	FIELD(&f->evidence, "source", text("cpu-clock"));
	FIELD(&f->evidence, "samples", integer(20113));
	FIELD(&f->evidence, "lost", integer(12));
	FIELD(&f->evidence, "lost_pct", real(12.0 * 100 / 20125));
	FIELD(&f->evidence, "partial", ((struct cell){ .kind = CELL_BOOLEAN, .integer = 1 }));
	FIELD(&f->evidence, "period", null("sampled by frequency"));
	return f;
}

static void add_functions(struct findings *f)
{
	struct table *t = add_table(
		f, "functions", "Functions",
		COLUMNS({ "self_pct", "Self", COLUMN_PCT }, { "total_pct", "Total", COLUMN_PCT },
			{ "samples", "Samples", COLUMN_COUNT },
			{ "function", "Function", COLUMN_TEXT }, { "image", "Image", COLUMN_TEXT },
			{ "file", "File", COLUMN_HIDDEN },
			{ "address", "Address", COLUMN_HIDDEN }));

	ROW(t, real(93.81234567), real(94), integer(18869), text("chase"), text("memlat"),
	    text("/src/memlat.c"), text("0x401200"));
	ROW(t, real(3.5), real(99.99999), integer(704),
	    text("std::map<std::string, std::vector<int> >::operator[](std::string const&)"),
	    text("libstdc++.so.6.0.30"), null("no line table"), text("0xffff80001000"));
	ROW(t, real(2), real(2), integer(402),
	    text("\xe8\xa8\x88\xe7\xae\x97\xe3\x81\x99\xe3\x82\x8b\xe9\x96\xa2\xe6\x95\xb0"),
	    null("the address is in no known image"), null("no line table"), text("0x1"));
	t->more = 1234;
	t->more_text = "0.69 %";
	t->more_pct = 0.6876;
}

static void add_tree(struct findings *f)
{
	struct table *t = add_table(
		f, "calltree", "Call tree",
		COLUMNS({ "total_pct", "Total", COLUMN_PCT }, { "self_pct", "Self", COLUMN_PCT },
			{ "function", "Function", COLUMN_TREE }, { "image", "Image", COLUMN_TEXT },
			{ "inlined", "inlined", COLUMN_HIDDEN },
			{ "depth", "depth", COLUMN_HIDDEN }, { "id", "id", COLUMN_ID },
			{ "parent", "parent", COLUMN_ID }));
	static const struct {
		const char *name;
		int64_t depth, inlined, parent;
		double total, self;
	} rows[] = {
		{ "_start", 0, 0, 0, 98, 0 },	  { "main", 1, 0, 1, 98, 1 },
		{ "work", 2, 0, 2, 90, 0 },	  { "chase", 3, 0, 3, 80, 70 },
		{ "step", 4, 1, 4, 10, 10 },	  { "walk", 3, 0, 3, 10, 10 },
		{ "setup", 2, 0, 2, 7, 7 },	  { "clone", 0, 0, 0, 2, 0 },
		{ "thread_main", 1, 0, 8, 2, 2 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ROW(t, real(rows[i].total), real(rows[i].self), text(rows[i].name), text("memlat"),
		    integer(rows[i].inlined), integer(rows[i].depth), integer((int64_t)i + 1),
		    rows[i].parent ? integer(rows[i].parent) : null("outermost frame"));
	t->more = 57;
	t->more_text = "12.30 %";
	t->more_pct = 12.3;
}

static void add_others(struct findings *f)
{
	struct table *t = add_table(f, "lines", "Lines",
				    COLUMNS({ "self_pct", "Self", COLUMN_PCT },
					    { "place", "Line", COLUMN_PLACE },
					    { "function", "Function", COLUMN_TEXT }));

	ROW(t, real(60), text("/home/someone/src/project/workloads/memory/latency/memlat.c:1042"),
	    text("chase"));
	ROW(t, real(40), null("no line table in libz.so.1 (stripped)"), text("[unknown]"));
	t = add_table(f, "numbers", "Numbers",
		      COLUMNS({ "at", "Address", COLUMN_ADDRESS },
			      { "ns", "Time", COLUMN_DURATION }, { "bytes", "Size", COLUMN_BYTES },
			      { "n", "N", COLUMN_NUMBER }));
	ROW(t, integer(INT64_C(-2130706428)), integer(1234567), integer(200 << 20),
	    integer(INT64_MAX));
	ROW(t, integer(4096), integer(999), integer(1023), real(0.1));
	ROW(t, null(NULL), real(61e9), integer(1536), real(-1e300));
	t = add_table(f, "callers", "Callers", COLUMNS({ "caller", "Caller", COLUMN_TEXT }));
	t->empty = "nothing calls it: its frames are the outermost ones";
}

struct findings *sample_full(void)
{
	struct findings *f = head();

	add_functions(f);
	add_tree(f);
	add_others(f);
	vec_add(&f->findings,
		((struct finding){ "hot_function", "info", "chase takes 93.8 % of the time itself",
				   "18,869 of 20,113 samples" }));
	vec_add(&f->findings,
		((struct finding){
			"symbols_missing", "warning",
			"6.1 % of the time is spent in libz.so.1 without a function name: it "
			"is stripped: install its debug package",
			"1,227 samples" }));
	vec_add(&f->findings, ((struct finding){ "broken", "problem", "an evil\x1b[2J name", "" }));
	vec_add(&f->notes, ((struct note){ "PARANOID", "kernel.perf_event_paranoid is 2, so kernel "
						       "code is not sampled" }));
	FIELD(&f->cost, "agent_cpu_ms", real(12.3456));
	FIELD(&f->cost, "wall_ms", real(5032.1));
	FIELD(&f->cost, "machine_pct", real(0.0038333));
	FIELD(&f->workload, "exit_code", null("ended by a signal"));
	FIELD(&f->workload, "signal", integer(11));
	return f;
}

struct findings *sample_names(void)
{
	struct findings *f = head();
	struct table *t = add_table(
		f, "threads", "Threads",
		COLUMNS({ "pct", "Share", COLUMN_PCT }, { "samples", "Samples", COLUMN_COUNT },
			{ "process", "Process", COLUMN_TEXT }, { "pid", "PID", COLUMN_NUMBER },
			{ "thread", "Thread", COLUMN_TEXT }, { "tid", "TID", COLUMN_NUMBER }));

	for (int i = 0; i < HOSTILE_NAMES; i++)
		ROW(t, real(8.25), integer(1659), text("names (2) prog"), integer(100),
		    text(hostile_names[i]), integer(101 + i));
	return f;
}

void check_golden(struct buf *got, const char *name)
{
	char_auto path = mem_printf("tests/unit/render/golden/%s", name);
	const char *full = test_source(path);
	buf_auto want = { 0 };
	struct err err;

	if (getenv("CULPRIT_BLESS")) {
		CHECK(os_save_file(full, got->at, got->len, &err));
		return;
	}
	if (!os_load_file(full, 1 << 20, &want, &err))
		FAIL("%s", err.text);
	CHECK_EQ_STR(buf_str(got), buf_str(&want));
	CHECK_EQ_U64(got->len, want.len);
}
