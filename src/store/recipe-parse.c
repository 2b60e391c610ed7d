/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a recipe file, line by line (docs/recipes.md). Errors name file and line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "store/recipe-parser.h"

enum { RECIPE_MAX_BYTES = 1 << 20, RECIPE_MAX_ITEMS = 200 };

bool parser_fault_at(const struct parser *p, unsigned int line, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(p->err, ERR_FORMAT, "%s:%u: %s", p->r->source, line, text);
}

/* What must hold of a whole section, checked when the next one starts. */

static bool has_column(const struct parser *p, const char *name)
{
	for (size_t i = 0; name && i < p->columns.len; i++)
		if (!strcmp(p->columns.at[i].name, name))
			return true;
	return !name;
}

static bool has_option(const struct parser *p, const char *name)
{
	for (size_t i = 0; name && i < p->options.len; i++)
		if (!strcmp(p->options.at[i].name, name))
			return true;
	return !name;
}

static bool end_table(struct parser *p)
{
	struct recipe_table *t = &p->tables.at[p->tables.len - 1];

	if (!t->title || !p->columns.len || !t->rows.text)
		return parser_fault_at(p, t->line, "table %s has no %s", t->id,
				       !t->title       ? "title" :
				       !p->columns.len ? "column" :
							 "sql");
	if (!has_column(p, t->cut_column) || !has_column(p, t->share_column))
		return parser_fault_at(p, t->line, "table %s: cut or share names no column of it",
				       t->id);
	if (!has_option(p, t->cut_option) || !has_option(p, t->top_option))
		return parser_fault_at(p, t->line, "table %s: cut or top names no option", t->id);
	t->column_count = p->columns.len;
	t->columns = arena_alloc(&p->r->arena, sizeof(*t->columns) * t->column_count);
	memcpy(t->columns, p->columns.at, sizeof(*t->columns) * t->column_count);
	vec_clear(&p->columns);
	return true;
}

static bool end_finding(struct parser *p)
{
	struct recipe_finding *f = &p->findings.at[p->findings.len - 1];

	if (!f->severity)
		f->severity = "info";
	if (!f->text || !f->rows.text)
		return parser_fault_at(p, f->line, "finding %s has no %s", f->id,
				       !f->text ? "text" : "sql");
	return true;
}

static bool end_rung(struct parser *p)
{
	const struct recipe_rung *g = &p->rungs.at[p->rungs.len - 1];

	return g->text ? true : parser_fault_at(p, g->line, "rung %s has no text", g->name);
}

static bool end_section(struct parser *p)
{
	struct recipe_stop *s;

	switch (p->section) {
	case IN_HEAD:
		break;
	case IN_TABLE:
		return end_table(p);
	case IN_FINDING:
		return end_finding(p);
	case IN_RUNG:
		return end_rung(p);
	case IN_STOP:
		s = &p->stops.at[p->stops.len - 1];
		if (!s->text || !s->rows.text)
			return parser_fault_at(p, s->line, "stop %s has no %s", s->id,
					       !s->text ? "text" : "sql");
		break;
	}
	return true;
}

static bool parse_line(struct parser *p, struct str line)
{
	struct str word;

	if (!str_word(&line, &word) || word.at[0] == '#')
		return true;
	if (p->options.len + p->rungs.len + p->columns.len + p->tables.len + p->findings.len +
		    p->stops.len >
	    RECIPE_MAX_ITEMS)
		return parser_fault(p, "more than %d options, rungs, columns, tables and findings",
				    RECIPE_MAX_ITEMS);
	for (const struct keyword *k = recipe_keywords; k->name; k++) {
		if (!str_eq(word, k->name))
			continue;
		if (!k->sections && !end_section(p))
			return false;
		if (k->sections && !(k->sections & (int)p->section))
			return parser_fault(p, "%s does not belong here", k->name);
		return k->parse(p, line);
	}
	return parser_fault(p, "unknown word \"%.*s\"", word.len < 40 ? (int)word.len : 40,
			    word.at);
}

/* What is not built has nothing to run, and what is built has something to show. */
static bool end_recipe(struct parser *p)
{
	bool has_parts = p->options.len || p->tables.len || p->findings.len || p->stops.len;

	if (!p->r->name || !p->r->question)
		return parser_fault(p, "the recipe has no %s", p->r->name ? "question" : "name");
	if (p->r->planned && has_parts)
		return parser_fault(p,
				    "recipe %s is planned: it has a question, a summary and rungs, "
				    "and nothing else",
				    p->r->name);
	if (p->r->planned)
		return p->rungs.len ? true : parser_fault(p, "recipe %s has no rung", p->r->name);
	return p->tables.len ? true : parser_fault(p, "recipe %s has no table", p->r->name);
}

static bool parse_all(struct parser *p)
{
	struct str line;

	while (str_line(&p->rest, &line)) {
		p->line++;
		if (!parse_line(p, line))
			return false;
	}
	return end_section(p) && end_recipe(p);
}

#define keep(p, to, count, from)                                                                 \
	((p)->r->to = arena_alloc(&(p)->r->arena, sizeof(*(p)->r->to) * (p)->from.len),          \
	 (p)->from.len ? memcpy((p)->r->to, (p)->from.at, sizeof(*(p)->r->to) * (p)->from.len) : \
			 NULL,                                                                   \
	 (p)->r->count = (p)->from.len)

bool recipe_parse(struct recipe **out, const char *source, struct str text, struct err *err)
{
	struct parser p = {
		.r = mem_alloc(sizeof(*p.r)), .rest = text, .section = IN_HEAD, .err = err
	};
	bool ok;

	p.r->source = arena_strdup(&p.r->arena, source);
	p.r->text = (struct str){ arena_strndup(&p.r->arena, text.at, text.len), text.len };
	if (text.len > RECIPE_MAX_BYTES)
		ok = err_set(err, ERR_LIMIT, "%s: larger than 1 MB", source);
	else if (text.len && memchr(text.at, 0, text.len))
		ok = err_set(err, ERR_FORMAT, "%s: has a zero byte", source);
	else
		ok = parse_all(&p);
	keep(&p, options, option_count, options);
	keep(&p, rungs, rung_count, rungs);
	keep(&p, tables, table_count, tables);
	keep(&p, findings, finding_count, findings);
	keep(&p, stops, stop_count, stops);
	vec_done(&p.options);
	vec_done(&p.rungs);
	vec_done(&p.tables);
	vec_done(&p.findings);
	vec_done(&p.stops);
	vec_done(&p.columns);
	if (ok) {
		if (!p.r->summary)
			p.r->summary = "";
		*out = p.r;
	} else {
		recipe_free(p.r);
	}
	return ok;
}

void recipe_free(struct recipe *r)
{
	if (!r)
		return;
	arena_done(&r->arena);
	free(r);
}
