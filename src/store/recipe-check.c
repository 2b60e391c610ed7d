/* SPDX-License-Identifier: Apache-2.0 */
/* Compiles a recipe's SQL and compares what it gives with what the recipe declares. */
#include "base/os.h"
#include "store/recipe.h"

bool recipe_value(const struct recipe_option *o, const char *text, struct cell *out,
		  struct err *err)
{
	struct cell c = { 0 };
	uint64_t count;
	bool ok = true;

	if (!text[0]) {
		*out = c;
		return true;
	}
	switch (o->kind) {
	case OPTION_TEXT:
		c = (struct cell){ .kind = CELL_TEXT, .text = text, .text_len = strlen(text) };
		break;
	case OPTION_COUNT:
		ok = str_u64(str_of(text), &count) && count <= INT64_MAX;
		c.kind = CELL_INTEGER;
		c.integer = ok ? (int64_t)count : 0;
		break;
	case OPTION_PCT:
		ok = str_double(str_of(text), &c.real) && c.real >= 0 && c.real <= 100;
		c.kind = CELL_REAL;
		break;
	case OPTION_NUMBER:
		ok = str_double(str_of(text), &c.real) && c.real - c.real == 0;
		c.kind = CELL_REAL;
		break;
	}
	if (!ok)
		return err_set(err, ERR_USAGE, "option %s: \"%s\" is not %s", o->name, text,
			       o->kind == OPTION_COUNT ? "a whole number" :
			       o->kind == OPTION_PCT   ? "a percentage from 0 to 100" :
							 "a number");
	*out = c;
	return true;
}

/* The recipe's line of an offset into its SQL. */
static unsigned int line_of(const struct recipe_sql *sql, int offset)
{
	unsigned int line = sql->line;

	for (int i = 0; i < offset && sql->text[i]; i++)
		line += sql->text[i] == '\n';
	return line;
}

bool recipe_prepare(const struct recipe *r, struct store *s, const struct recipe_sql *sql,
		    sqlite3_stmt **out, struct err *err)
{
	sqlite3_stmt *stmt = NULL;
	const char *tail = "";
	char_auto where = NULL;

	store_begin(s, sql->text);
	if (sqlite3_prepare_v2(s->db, sql->text, -1, &stmt, &tail) != SQLITE_OK) {
		where = mem_printf("%s:%u", r->source, line_of(sql, sqlite3_error_offset(s->db)));
		store_err(s, err, where);
		err->kind = ERR_FORMAT;
		return false;
	}
	if (!stmt || str_trim(str_of(tail)).len) {
		sqlite3_finalize(stmt);
		return err_set(err, ERR_FORMAT, "%s:%u: the SQL must be one statement", r->source,
			       line_of(sql, (int)(tail - sql->text)));
	}
	*out = stmt;
	return true;
}

int recipe_result(sqlite3_stmt *stmt, const char *name)
{
	for (int i = 0; i < sqlite3_column_count(stmt); i++)
		if (!strcmp(sqlite3_column_name(stmt, i), name))
			return i;
	return -1;
}

static bool is_option(const struct recipe *r, const char *name)
{
	for (size_t i = 0; i < r->option_count; i++)
		if (!strcmp(r->options[i].name, name))
			return true;
	return false;
}

/* Each parameter is ":" and the name of an option. */
static bool check_parameters(const struct recipe *r, const struct recipe_sql *sql,
			     sqlite3_stmt *stmt, struct err *err)
{
	for (int i = 1; i <= sqlite3_bind_parameter_count(stmt); i++) {
		const char *name = sqlite3_bind_parameter_name(stmt, i);

		if (!name || name[0] != ':' || !is_option(r, name + 1))
			return err_set(err, ERR_FORMAT, "%s:%u: parameter %s is no option",
				       r->source, sql->line, name ? name : "?");
	}
	return true;
}

static bool prepare_checked(const struct recipe *r, struct store *s, const struct recipe_sql *sql,
			    sqlite3_stmt **out, struct err *err)
{
	return recipe_prepare(r, s, sql, out, err) && check_parameters(r, sql, *out, err);
}

static bool is_column(const struct recipe_table *t, struct str name)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (str_eq(name, t->columns[i].name))
			return true;
	return false;
}

/* Declared columns are selected; what else is selected is the "_why" of a declared one. */
static bool check_columns(const struct recipe *r, const struct recipe_table *t, sqlite3_stmt *stmt,
			  struct err *err)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (recipe_result(stmt, t->columns[i].name) < 0)
			return err_set(err, ERR_FORMAT, "%s:%u: table %s does not select %s",
				       r->source, t->rows.line, t->id, t->columns[i].name);
	for (int i = 0; i < sqlite3_column_count(stmt); i++) {
		const char *name = sqlite3_column_name(stmt, i);
		struct str bare = str_of(name);

		if (str_ends(name, "_why"))
			bare.len -= 4;
		if (!is_column(t, bare) && !is_column(t, str_of(name)))
			return err_set(err, ERR_FORMAT,
				       "%s:%u: table %s selects %s, which is no column of it",
				       r->source, t->rows.line, t->id, name);
	}
	return true;
}

static bool check_table(const struct recipe *r, struct store *s, const struct recipe_table *t,
			struct err *err)
{
	stmt_auto rows = NULL;
	stmt_auto more = NULL;

	if (!prepare_checked(r, s, &t->rows, &rows, err) || !check_columns(r, t, rows, err))
		return false;
	if (!t->more.text)
		return true;
	if (!prepare_checked(r, s, &t->more, &more, err))
		return false;
	if (sqlite3_column_count(more) != 2)
		return err_set(err, ERR_FORMAT, "%s:%u: more selects a count and a percentage",
			       r->source, t->more.line);
	return true;
}

/* Every {name} of a text is selected. */
static bool check_template(const struct recipe *r, const struct recipe_sql *sql, sqlite3_stmt *stmt,
			   const char *text, struct err *err)
{
	struct str name;

	for (size_t n = 0; text && template_name(text, n, &name); n++) {
		char_auto column = mem_printf("%.*s", (int)name.len, name.at);

		if (recipe_result(stmt, column) < 0)
			return err_set(err, ERR_FORMAT, "%s:%u: {%s} is not selected", r->source,
				       sql->line, column);
	}
	return true;
}

static bool check_sentences(const struct recipe *r, struct store *s, const struct recipe_sql *sql,
			    const char *one, const char *two, struct err *err)
{
	stmt_auto stmt = NULL;

	return prepare_checked(r, s, sql, &stmt, err) && check_template(r, sql, stmt, one, err) &&
	       check_template(r, sql, stmt, two, err);
}

bool recipe_check_on(const struct recipe *r, struct store *s, struct err *err)
{
	for (size_t i = 0; i < r->table_count; i++)
		if (!check_table(r, s, &r->tables[i], err))
			return false;
	for (size_t i = 0; i < r->finding_count; i++) {
		const struct recipe_finding *f = &r->findings[i];

		if (!check_sentences(r, s, &f->rows, f->text, f->basis, err))
			return false;
	}
	for (size_t i = 0; i < r->stop_count; i++) {
		const struct recipe_stop *p = &r->stops[i];

		if (!check_sentences(r, s, &p->rows, p->text, p->remedy, err))
			return false;
	}
	return true;
}

bool recipe_check(const struct recipe *r, struct err *err)
{
	struct store *s;
	bool ok;

	if (!store_open_empty(&s, err))
		return false;
	ok = recipe_check_on(r, s, err);
	store_close(s);
	return ok;
}
