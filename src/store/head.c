/* SPDX-License-Identifier: Apache-2.0 */
/* The head of findings: run, target, evidence, notes, cost, workload, all from run.db. */
#include <sys/wait.h>

#include "store/store-db.h"

struct pairs {
	VEC(struct field) items;
	struct arena *arena;
};

static bool load_pairs(struct pairs *p, struct store *s, const char *sql, struct err *err)
{
	stmt_auto stmt = NULL;

	if (!store_prepare(s, sql, &stmt, err))
		return false;
	while (store_step(s, stmt, s->name, err)) {
		struct field *f = vec_push(&p->items);
		struct cell key = store_cell(p->arena, stmt, 0);

		f->name = key.text ? key.text : "";
		f->value = store_cell(p->arena, stmt, 1);
	}
	return err->kind == ERR_NONE;
}

static const struct cell *find(const struct pairs *p, const char *key)
{
	for (size_t i = 0; i < p->items.len; i++)
		if (!strcmp(p->items.at[i].name, key))
			return &p->items.at[i].value;
	return NULL;
}

static const char *text_of(const struct pairs *p, const char *key)
{
	const struct cell *c = find(p, key);

	return c && c->kind == CELL_TEXT ? c->text : NULL;
}

static int64_t integer_of(const struct pairs *p, const char *key, int64_t otherwise)
{
	const struct cell *c = find(p, key);

	return c && c->kind == CELL_INTEGER ? c->integer : otherwise;
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

#define add(fields, key, cell) vec_add(fields, ((struct field){ (key), (cell) }))

/* Every key is always there, so that programs can rely on it. */
static void put_target(struct findings *f, const struct pairs *target)
{
	static const struct {
		const char *key;
		bool is_number;
	} keys[] = {
		{ "hostname", false },	{ "arch", false },	  { "kernel", false },
		{ "os", false },	{ "cpu", false },	  { "cpuid", false },
		{ "cloud", false },	{ "cpus_online", true },  { "cpus_present", true },
		{ "page_bytes", true }, { "memory_bytes", true },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct cell *c = find(target, keys[i].key);
		enum cell_kind want = keys[i].is_number ? CELL_INTEGER : CELL_TEXT;

		if (c && c->kind == CELL_INTEGER && want == CELL_TEXT) {
			struct cell text = { .kind = CELL_TEXT };

			text.text = arena_printf(&f->arena, "%lld", (long long)c->integer);
			text.text_len = strlen(text.text);
			add(&f->target, keys[i].key, text);
		} else if (c && c->kind == want && (want != CELL_TEXT || c->text_len)) {
			add(&f->target, keys[i].key, *c);
		} else {
			add(&f->target, keys[i].key, null("not recorded"));
		}
	}
}

/* The columns after the first three go to the evidence list under their own names. */
static bool put_evidence(struct findings *f, struct store *s, struct err *err)
{
	stmt_auto stmt = NULL;

	if (!store_prepare(s,
			   "SELECT verdict, why, line, source, samples, idle, lost, lost_pct,"
			   " throttled, unnamed, unnamed_pct, kernel, frequency_hz, period,"
			   " duration_ns, chain_samples, partial, weight, final_frequency_hz"
			   " FROM v1_evidence",
			   &stmt, err))
		return false;
	if (!store_step(s, stmt, s->name, err))
		return err->kind != ERR_NONE ? false :
					       err_set(err, ERR_FORMAT, "%s: no evidence", s->name);
	f->verdict = store_cell(&f->arena, stmt, 0).text;
	f->verdict_why = store_cell(&f->arena, stmt, 1).text;
	f->evidence_line = store_cell(&f->arena, stmt, 2).text;
	for (int i = 3; i < sqlite3_column_count(stmt); i++) {
		const char *name = arena_strdup(&f->arena, sqlite3_column_name(stmt, i));
		struct cell c = store_cell(&f->arena, stmt, i);

		if (!strcmp(name, "partial"))
			c.kind = CELL_BOOLEAN;
		if (!strcmp(name, "frequency_hz") && c.kind == CELL_NULL)
			c.text = "sampled by period";
		if (!strcmp(name, "period") && c.kind == CELL_NULL)
			c.text = "sampled by frequency";
		if (!strcmp(name, "final_frequency_hz") && c.kind == CELL_NULL)
			c.text = "not recorded, or sampled by period";
		add(&f->evidence, name, c);
	}
	return true;
}

static bool put_levels(struct findings *f, struct store *s, struct err *err)
{
	stmt_auto stmt = NULL;

	if (!store_prepare(s, "SELECT level, verdict, why FROM v1_levels", &stmt, err))
		return false;
	while (store_step(s, stmt, s->name, err)) {
		struct level *l = vec_push(&f->levels);

		l->level = store_cell(&f->arena, stmt, 0).text;
		l->verdict = store_cell(&f->arena, stmt, 1).text;
		l->why = store_cell(&f->arena, stmt, 2).text;
	}
	return err->kind == ERR_NONE;
}

static bool put_notes(struct findings *f, struct store *s, struct err *err)
{
	stmt_auto stmt = NULL;

	if (!store_prepare(s, "SELECT id, text FROM v1_notes", &stmt, err))
		return false;
	while (store_step(s, stmt, s->name, err)) {
		struct note *n = vec_push(&f->notes);

		n->id = store_cell(&f->arena, stmt, 0).text;
		n->text = store_cell(&f->arena, stmt, 1).text;
	}
	return err->kind == ERR_NONE;
}

/* What the agent took of the target: its CPU time against all CPU time there was. */
static void put_cost(struct findings *f, const struct pairs *meta, const struct pairs *target)
{
	int64_t cpu = integer_of(meta, "capture.agent_cpu_ns", -1);
	int64_t wall = integer_of(meta, "capture.wall_ns", -1);
	int64_t cpus = integer_of(target, "cpus_online", 0);

	if (cpu < 0)
		return;
	add(&f->cost, "agent_cpu_ms", real((double)cpu / 1e6));
	if (wall > 0)
		add(&f->cost, "wall_ms", real((double)wall / 1e6));
	if (wall > 0 && cpus > 0 && cpu <= wall * cpus)
		add(&f->cost, "machine_pct",
		    real(100.0 * (double)cpu / ((double)wall * (double)cpus)));
	else if (wall > 0 && cpus > 0)
		add(&f->cost, "machine_pct", null("the capture was shorter than its own set-up"));
	else
		add(&f->cost, "machine_pct", null("wall time or number of CPUs not recorded"));
	if (integer_of(meta, "capture.data_bytes", -1) >= 0)
		add(&f->cost, "data_bytes", integer(integer_of(meta, "capture.data_bytes", 0)));
}

static void put_workload(struct findings *f, const struct pairs *meta)
{
	int status = (int)integer_of(meta, "capture.wait_status", 0);
	int64_t cpu = integer_of(meta, "capture.workload_cpu_ns", -1);
	const char *end = text_of(meta, "capture.end");

	if (integer_of(meta, "capture.has_status", 0)) {
		add(&f->workload, "exit_code",
		    WIFEXITED(status) ? integer(WEXITSTATUS(status)) : null("ended by a signal"));
		add(&f->workload, "signal",
		    WIFSIGNALED(status) ? integer(WTERMSIG(status)) : null("ended by itself"));
	}
	if (cpu >= 0)
		add(&f->workload, "cpu_ms", real((double)cpu / 1e6));
	if (end)
		add(&f->workload, "end",
		    ((struct cell){ .kind = CELL_TEXT, .text = end, .text_len = strlen(end) }));
}

static void put_names(struct findings *f, const struct pairs *meta)
{
	const char *run = text_of(meta, "run");
	const char *command = text_of(meta, "command");
	const char *source = text_of(meta, "source_name");

	f->run = run && run[0] ? run : NULL;
	f->command = command && command[0] ? command : source ? source : "";
}

bool store_head(struct findings *f, struct store *s, struct err *err)
{
	struct pairs meta = { .arena = &f->arena }, target = { .arena = &f->arena };
	bool ok;

	s->trusted = true;
	store_begin(s, "");
	ok = load_pairs(&meta, s, "SELECT key, value FROM v1_meta", err) &&
	     load_pairs(&target, s, "SELECT key, value FROM v1_target", err) &&
	     put_evidence(f, s, err) && put_levels(f, s, err) && put_notes(f, s, err);
	s->trusted = false;
	if (ok) {
		put_names(f, &meta);
		put_target(f, &target);
		put_cost(f, &meta, &target);
		put_workload(f, &meta);
	}
	vec_done(&meta.items);
	vec_done(&target.items);
	return ok;
}
