/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a recipe's SQL over run.db and gathers tables and findings. */
#include <stdlib.h>

#include "base/os.h"
#include "store/recipe.h"

struct run {
	const struct recipe *r;
	struct store *s;
	struct findings *f;
	struct cell *values; /* of the options, in their order */
	struct err *err;
};

static int option_index(const struct recipe *r, const char *name)
{
	for (size_t i = 0; i < r->option_count; i++)
		if (!strcmp(r->options[i].name, name))
			return (int)i;
	return -1;
}

static bool err_unknown_option(const struct recipe *r, const char *name, struct err *err)
{
	buf_auto known = { 0 };

	for (size_t i = 0; i < r->option_count; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", r->options[i].name);
	err_set(err, ERR_USAGE, "recipe %s has no option %s", r->name, name);
	if (!known.len)
		return err_hint(err, "it has no options");
	return err_hint(err, "its options are %s", buf_str(&known));
}

static bool set_options(struct run *run, const struct recipe_setting *settings, size_t count)
{
	const struct recipe *r = run->r;

	for (size_t i = 0; i < r->option_count; i++)
		if (!recipe_value(&r->options[i], r->options[i].value, &run->values[i], run->err))
			return false;
	for (size_t i = 0; i < count; i++) {
		int k = option_index(r, settings[i].name);

		if (k < 0)
			return err_unknown_option(r, settings[i].name, run->err);
		if (!recipe_value(&r->options[k], settings[i].value, &run->values[k], run->err))
			return false;
	}
	return true;
}

static bool bind(struct run *run, const struct recipe_sql *sql, sqlite3_stmt *stmt)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(stmt); i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);
		int k = name && name[0] == ':' ? option_index(run->r, name + 1) : -1;
		const struct cell *c = k < 0 ? NULL : &run->values[k];

		if (!c)
			return err_set(run->err, ERR_FORMAT, "%s:%u: parameter %s is no option",
				       run->r->source, sql->line, name ? name : "?");
		if (c->kind == CELL_INTEGER)
			sqlite3_bind_int64(stmt, i, c->integer);
		else if (c->kind == CELL_REAL)
			sqlite3_bind_double(stmt, i, c->real);
		else if (c->kind == CELL_TEXT)
			sqlite3_bind_text(stmt, i, c->text, (int)c->text_len, SQLITE_STATIC);
	}
	return true;
}

static bool start(struct run *run, const struct recipe_sql *sql, sqlite3_stmt **stmt)
{
	return recipe_prepare(run->r, run->s, sql, stmt, run->err) && bind(run, sql, *stmt);
}

static bool next(struct run *run, const struct recipe_sql *sql, sqlite3_stmt *stmt)
{
	char_auto where = mem_printf("%s:%u", run->r->source, sql->line);

	return store_step(run->s, stmt, where, run->err);
}

/* What a table's cut keeps. */
struct cut {
	int column, share; /* of the result, -1 for none */
	double least;
	uint64_t top; /* 0: no limit */
	double left_out;
};

static struct cut cut_of(const struct run *run, const struct recipe_table *t, sqlite3_stmt *stmt)
{
	struct cut c = { .column = -1, .share = -1 };
	const struct cell *v;

	if (t->cut_column) {
		v = &run->values[option_index(run->r, t->cut_option)];
		c.column = recipe_result(stmt, t->cut_column);
		c.least = v->kind == CELL_INTEGER ? (double)v->integer : v->real;
	}
	if (t->top_option) {
		v = &run->values[option_index(run->r, t->top_option)];
		c.top = v->kind == CELL_INTEGER ? (uint64_t)v->integer : (uint64_t)v->real;
	}
	if (t->share_column)
		c.share = recipe_result(stmt, t->share_column);
	return c;
}

/* The first row always stays: an answer is never cut down to nothing. */
static bool is_cut(const struct cut *c, const struct table *table, sqlite3_stmt *stmt)
{
	size_t rows = table_rows(table);

	if (!rows)
		return false;
	if (c->top && rows >= c->top)
		return true;
	return c->column >= 0 && sqlite3_column_double(stmt, c->column) < c->least;
}

static void take_row(struct run *run, struct table *table, sqlite3_stmt *stmt, const int *results,
		     const int *whys)
{
	struct arena *a = &run->f->arena;

	for (size_t i = 0; i < table->column_count; i++) {
		struct cell c = store_cell(a, stmt, results[i]);

		if (c.kind == CELL_NULL && whys[i] >= 0)
			c.text = store_cell(a, stmt, whys[i]).text;
		vec_add(&table->cells, c);
	}
}

static void find_results(const struct table *table, sqlite3_stmt *stmt, int *results, int *whys)
{
	for (size_t i = 0; i < table->column_count; i++) {
		char_auto why = mem_printf("%s_why", table->columns[i].name);

		results[i] = recipe_result(stmt, table->columns[i].name);
		whys[i] = recipe_result(stmt, why);
	}
}

static bool take_rows(struct run *run, const struct recipe_table *t, struct table *table,
		      sqlite3_stmt *stmt)
{
	struct cut cut = cut_of(run, t, stmt);
	arena_auto scratch = { 0 };
	int *results = arena_alloc(&scratch, sizeof(int) * t->column_count);
	int *whys = arena_alloc(&scratch, sizeof(int) * t->column_count);

	find_results(table, stmt, results, whys);
	while (next(run, &t->rows, stmt)) {
		if (is_cut(&cut, table, stmt)) {
			table->more++;
			if (cut.share >= 0)
				cut.left_out += sqlite3_column_double(stmt, cut.share);
			continue;
		}
		if (table_rows(table) >= STORE_MAX_ROWS)
			return err_set(run->err, ERR_LIMIT, "%s:%u: table %s has more than %d rows",
				       run->r->source, t->line, t->id, STORE_MAX_ROWS);
		take_row(run, table, stmt, results, whys);
	}
	if (table->more && cut.share >= 0) {
		table->more_pct = cut.left_out;
		table->more_text = arena_printf(&run->f->arena, "%.2f %%", cut.left_out);
	}
	return run->err->kind == ERR_NONE;
}

/* How many rows the SQL itself left out, and their share. */
static bool take_more(struct run *run, const struct recipe_table *t, struct table *table)
{
	stmt_auto stmt = NULL;

	if (!start(run, &t->more, &stmt))
		return false;
	if (!next(run, &t->more, stmt))
		return run->err->kind == ERR_NONE;
	table->more += (uint64_t)sqlite3_column_int64(stmt, 0);
	if (table->more && sqlite3_column_type(stmt, 1) != SQLITE_NULL) {
		table->more_pct += sqlite3_column_double(stmt, 1);
		table->more_text = arena_printf(&run->f->arena, "%.2f %%", table->more_pct);
	}
	return true;
}

static bool no_rows(struct run *run, const struct recipe_table *t)
{
	const struct findings *f = run->f;

	err_set(run->err, ERR_FORMAT, "no samples: %s; table %s would be empty",
		f->evidence_line ? f->evidence_line : "nothing was recorded", t->id);
	snprintf(run->err->id, sizeof(run->err->id), "NO_SAMPLES");
	return err_hint(run->err,
			"let the workload run longer, or raise the rate with -F; a program that "
			"waits uses no CPU time and gives no samples, and processes that live "
			"shorter than a sampling period escape a timer");
}

static struct column *copy_columns(struct arena *a, const struct recipe_table *t)
{
	struct column *columns = arena_alloc(a, sizeof(*columns) * t->column_count);

	for (size_t i = 0; i < t->column_count; i++)
		columns[i] = (struct column){ arena_strdup(a, t->columns[i].name),
					      arena_strdup(a, t->columns[i].label),
					      t->columns[i].kind };
	return columns;
}

static bool run_table(struct run *run, const struct recipe_table *t)
{
	struct arena *a = &run->f->arena;
	stmt_auto stmt = NULL;
	struct table *table;

	if (!start(run, &t->rows, &stmt))
		return false;
	table = vec_push(&run->f->tables);
	table->id = arena_strdup(a, t->id);
	table->title = arena_strdup(a, t->title);
	table->empty = t->empty ? arena_strdup(a, t->empty) : "";
	table->hidden = t->hidden;
	table->columns = copy_columns(a, t);
	table->column_count = t->column_count;
	for (size_t i = 0; i < t->column_count; i++)
		if (recipe_result(stmt, t->columns[i].name) < 0)
			return err_set(run->err, ERR_FORMAT, "%s:%u: table %s does not select %s",
				       run->r->source, t->rows.line, t->id, t->columns[i].name);
	if (!take_rows(run, t, table, stmt) || (t->more.text && !take_more(run, t, table)))
		return false;
	if (t->required && !table_rows(table))
		return no_rows(run, t);
	return true;
}

static const char *severity_of(struct run *run, const struct recipe_finding *f, sqlite3_stmt *stmt)
{
	static const char *const known[] = { "info", "warning", "problem" };
	int column = recipe_result(stmt, "severity");
	const char *said = column < 0 ? NULL : (const char *)sqlite3_column_text(stmt, column);

	for (size_t i = 0; said && i < 3; i++)
		if (!strcmp(said, known[i]))
			return known[i];
	return arena_strdup(&run->f->arena, f->severity);
}

static bool run_finding(struct run *run, const struct recipe_finding *f)
{
	struct arena *a = &run->f->arena;
	stmt_auto stmt = NULL;

	if (!start(run, &f->rows, &stmt))
		return false;
	while (next(run, &f->rows, stmt)) {
		struct finding *found = vec_push(&run->f->findings);

		found->id = arena_strdup(a, f->id);
		found->severity = severity_of(run, f, stmt);
		found->text = template_fill(a, f->text, stmt);
		found->basis = f->basis ? template_fill(a, f->basis, stmt) : "";
		if (run->f->findings.len > 1000)
			return err_set(run->err, ERR_LIMIT, "%s:%u: more than 1,000 findings",
				       run->r->source, f->line);
	}
	return run->err->kind == ERR_NONE;
}

static bool run_stop(struct run *run, const struct recipe_stop *p)
{
	struct arena *a = &run->f->arena;
	stmt_auto stmt = NULL;

	if (!start(run, &p->rows, &stmt))
		return false;
	if (!next(run, &p->rows, stmt))
		return run->err->kind == ERR_NONE;
	err_set(run->err, p->kind, "%s", template_fill(a, p->text, stmt));
	snprintf(run->err->id, sizeof(run->err->id), "%s", p->id);
	if (p->remedy)
		err_hint(run->err, "%s", template_fill(a, p->remedy, stmt));
	return false;
}

static bool run_all(struct run *run, const struct recipe_setting *settings, size_t count)
{
	const struct recipe *r = run->r;

	if (!set_options(run, settings, count) || !store_head(run->f, run->s, run->err))
		return false;
	for (size_t i = 0; i < r->stop_count; i++)
		if (!run_stop(run, &r->stops[i]))
			return false;
	for (size_t i = 0; i < r->table_count; i++)
		if (!run_table(run, &r->tables[i]))
			return false;
	for (size_t i = 0; i < r->finding_count; i++)
		if (!run_finding(run, &r->findings[i]))
			return false;
	return true;
}

bool recipe_run(struct findings **out, const struct recipe *r, struct store *s,
		const struct recipe_setting *settings, size_t count, struct err *err)
{
	struct findings *f;
	struct run run;
	bool ok;

	if (r->planned) {
		err_set(err, ERR_UNSUPPORTED, "recipe %s is not built yet", r->name);
		snprintf(err->id, sizeof(err->id), "NOT_BUILT_YET");
		return err_hint(err, "culprit recipe list shows which are");
	}
	f = mem_alloc(sizeof(*f));
	run = (struct run){ .r = r, .s = s, .f = f, .err = err };
	f->recipe = arena_strdup(&f->arena, r->name);
	f->question = arena_strdup(&f->arena, r->question);
	run.values = mem_alloc(sizeof(*run.values) * r->option_count);
	ok = run_all(&run, settings, count);
	free(run.values);
	if (ok)
		*out = f;
	else
		findings_free(f);
	return ok;
}
