/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences of findings: {name} and {name:form} are replaced by values of a result row. */
#include "base/os.h"
#include "store/recipe.h"

static const char *const forms[] = { "count", "pct", "ms", NULL };

/* Next {...} at or behind *at; inside is what the braces hold. */
static bool next_slot(const char **at, const char **open, struct str *inside)
{
	const char *end;

	*open = strchr(*at, '{');
	if (!*open)
		return false;
	end = strchr(*open, '}');
	if (!end)
		return false;
	*inside = (struct str){ *open + 1, (size_t)(end - *open - 1) };
	*at = end + 1;
	return true;
}

bool template_name(const char *text, size_t n, struct str *name)
{
	const char *open;
	struct str inside;

	while (next_slot(&text, &open, &inside)) {
		if (n--)
			continue;
		return str_cut(&inside, ':', name);
	}
	return false;
}

static const char *slot_fault(struct str inside)
{
	struct str name;

	if (!str_cut(&inside, ':', &name) || !name.len || memchr(name.at, '{', name.len))
		return "a {name} without a name";
	if (!inside.len)
		return NULL;
	for (size_t i = 0; forms[i]; i++)
		if (str_eq(inside, forms[i]))
			return NULL;
	return "an unknown form; known are count, pct and ms";
}

const char *template_fault(const char *text)
{
	const char *open;
	struct str inside;

	while (next_slot(&text, &open, &inside)) {
		const char *fault = slot_fault(inside);

		if (fault)
			return fault;
	}
	return strchr(text, '{') ? "an open { without }" : NULL;
}

static void put_value(struct buf *b, sqlite3_stmt *row, int column, struct str form)
{
	if (column < 0 || sqlite3_column_type(row, column) == SQLITE_NULL)
		buf_puts(b, "n/a");
	else if (str_eq(form, "count"))
		str_signed_count(b, sqlite3_column_int64(row, column));
	else if (str_eq(form, "pct"))
		buf_printf(b, "%.1f %%", sqlite3_column_double(row, column));
	else if (str_eq(form, "ms"))
		buf_printf(b, "%.1f ms", sqlite3_column_double(row, column) / 1e6);
	else
		buf_add(b, sqlite3_column_blob(row, column),
			(size_t)sqlite3_column_bytes(row, column));
}

char *template_fill(struct arena *a, const char *text, sqlite3_stmt *row)
{
	const char *at = text, *open;
	buf_auto out = { 0 };
	struct str inside, name;

	while (next_slot(&at, &open, &inside)) {
		char_auto column = NULL;

		buf_add(&out, text, (size_t)(open - text));
		text = at;
		if (!str_cut(&inside, ':', &name))
			continue;
		column = mem_alloc(name.len + 1);
		memcpy(column, name.at, name.len);
		put_value(&out, row, recipe_result(row, column), inside);
	}
	buf_puts(&out, text);
	return arena_strndup(a, buf_str(&out), out.len);
}
