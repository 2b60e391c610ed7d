/* SPDX-License-Identifier: Apache-2.0 */
/* A parsed recipe in full, and its steps. Private to store/, its tests and tools/gen-recipes. */
#ifndef CULPRIT_STORE_RECIPE_H
#define CULPRIT_STORE_RECIPE_H

#include "store/store-db.h"

/* SQL with the line of the recipe that its first line stands on; text NULL when absent. */
struct recipe_sql {
	const char *text;
	unsigned int line;
};

struct recipe_table {
	const char *id, *title, *empty;
	struct column *columns;
	size_t column_count;
	bool required, hidden;
	/* Names of an option and of columns, or NULL: see docs/recipes.md. */
	const char *cut_column, *cut_option, *top_option, *share_column;
	struct recipe_sql rows, more;
	unsigned int line;
};

struct recipe_finding {
	const char *id, *severity, *text, *basis;
	struct recipe_sql rows;
	unsigned int line;
};

/* A row of its SQL ends the recipe with an error. */
struct recipe_stop {
	const char *id, *text, *remedy;
	enum err_kind kind;
	struct recipe_sql rows;
	unsigned int line;
};

/* Text of an option as the value that SQL gets for :name. */
ERR_CHECKED bool recipe_value(const struct recipe_option *o, const char *text, struct cell *out,
			      struct err *err);

/* Compiles all SQL against s and compares result columns with what is declared. */
ERR_CHECKED bool recipe_check_on(const struct recipe *r, struct store *s, struct err *err);
/* One statement with a recipe's file and line in its errors. */
ERR_CHECKED bool recipe_prepare(const struct recipe *r, struct store *s,
				const struct recipe_sql *sql, sqlite3_stmt **out, struct err *err);
/* Index of a result column, or -1. */
int recipe_result(sqlite3_stmt *stmt, const char *name);

/* {name} and {name:form} in text by the columns of the current row. */
char *template_fill(struct arena *a, const char *text, sqlite3_stmt *row);
/* The nth {name} of text; false at the end. name is not terminated. */
bool template_name(const char *text, size_t n, struct str *name);
/* What is wrong with a template, or NULL. */
const char *template_fault(const char *text);

/* The built-in ones, made by tools/gen-recipes; ended by a NULL name. */
struct recipe_builtin {
	const char *name, *text;
};
extern const struct recipe_builtin recipe_builtins[];

#endif
