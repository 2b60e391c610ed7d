/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a recipe file, line by line (docs/recipes.md). Errors name file and line. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "store/recipe.h"

enum { RECIPE_MAX_BYTES = 1 << 20, RECIPE_MAX_ITEMS = 200 };

/* Sections, as bits so that a keyword can say where it may stand. */
enum section { IN_HEAD = 1, IN_TABLE = 2, IN_FINDING = 4, IN_STOP = 8 };

struct parser {
	struct recipe *r;
	struct str rest;
	unsigned int line;
	enum section section;
	VEC(struct recipe_option) options;
	VEC(struct recipe_table) tables;
	VEC(struct recipe_finding) findings;
	VEC(struct recipe_stop) stops;
	VEC(struct column) columns; /* of the open table */
	struct err *err;
};

static bool fault_at(const struct parser *p, unsigned int line, const char *fmt, ...)
	ERR_PRINTF(3, 4);

static bool fault_at(const struct parser *p, unsigned int line, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(p->err, ERR_FORMAT, "%s:%u: %s", p->r->source, line, text);
}

#define fault(p, ...) fault_at(p, (p)->line, __VA_ARGS__)

static char *copy(const struct parser *p, struct str s)
{
	return arena_strndup(&p->r->arena, s.at, s.len);
}

static bool is_name(struct str s, char first)
{
	for (size_t i = 0; i < s.len; i++)
		if (!((s.at[i] >= first && s.at[i] <= first + 25) || s.at[i] == '_' ||
		      (i && s.at[i] >= '0' && s.at[i] <= '9')))
			return false;
	return s.len && s.len < 40;
}

/* The next word as a name in small letters. */
static bool take_name(const struct parser *p, struct str *args, const char *what, const char **name)
{
	struct str word = {0};

	if (!str_word(args, &word) || !is_name(word, 'a'))
		return fault(p, "%s: \"%.*s\" is no name (small letters, digits, _)", what,
			     (int)word.len, word.at ? word.at : "");
	*name = copy(p, word);
	return true;
}

static bool take_rest(const struct parser *p, struct str args, const char *what, const char **text)
{
	args = str_trim(args);
	if (!args.len)
		return fault(p, "%s has no text", what);
	if (*text)
		return fault(p, "%s comes twice", what);
	*text = copy(p, args);
	return true;
}

/* Several lines of the same keyword make one text. */
static bool take_more(const struct parser *p, struct str args, const char *what, const char **text)
{
	const char *old = *text;

	*text = NULL;
	if (!take_rest(p, args, what, text))
		return false;
	if (old)
		*text = arena_printf(&p->r->arena, "%s %s", old, *text);
	return true;
}

static struct recipe_table *table_of(struct parser *p)
{
	return &p->tables.at[p->tables.len - 1];
}

static struct recipe_finding *finding_of(struct parser *p)
{
	return &p->findings.at[p->findings.len - 1];
}

static struct recipe_stop *stop_of(struct parser *p)
{
	return &p->stops.at[p->stops.len - 1];
}

/* Head. */

static bool parse_recipe(struct parser *p, struct str args)
{
	if (p->r->name)
		return fault(p, "recipe comes twice");
	return take_name(p, &args, "recipe", &p->r->name);
}

static bool parse_question(struct parser *p, struct str args)
{
	return take_rest(p, args, "question", &p->r->question);
}

static bool parse_summary(struct parser *p, struct str args)
{
	return take_more(p, args, "summary", &p->r->summary);
}

static bool parse_ladder(struct parser *p, struct str args)
{
	struct str word;

	if (p->r->ladder.len)
		return fault(p, "ladder comes twice");
	while (str_word(&args, &word))
		vec_add(&p->r->ladder, copy(p, word));
	return p->r->ladder.len ? true : fault(p, "ladder names no source");
}

static bool parse_option(struct parser *p, struct str args)
{
	static const char *const kinds[] = {"text", "count", "pct", "number"};
	struct recipe_option o = {0};
	struct str kind = {0}, value;
	struct cell cell;
	size_t k = 0;

	if (!take_name(p, &args, "option", &o.name))
		return false;
	for (size_t i = 0; i < p->options.len; i++)
		if (!strcmp(p->options.at[i].name, o.name))
			return fault(p, "option %s comes twice", o.name);
	if (!str_word(&args, &kind) || !str_word(&args, &value))
		return fault(p, "option %s needs: NAME KIND DEFAULT HELP", o.name);
	while (k < 4 && !str_eq(kind, kinds[k]))
		k++;
	if (k == 4)
		return fault(p, "option %s: kind \"%.*s\" is none of text, count, pct, number",
			     o.name, (int)kind.len, kind.at);
	o.kind = (enum recipe_option_kind)k;
	o.value = str_eq(value, "-") ? "" : copy(p, value);
	if (!take_rest(p, args, "help of an option", &o.help))
		return false;
	if (!recipe_value(&o, o.value, &cell, p->err))
		return fault(p, "option %s: \"%s\" is no %s", o.name, o.value, kinds[k]);
	vec_add(&p->options, o);
	return true;
}

/* SQL up to a line "end". Comment lines become empty, so that line numbers stay true. */
static bool parse_block(struct parser *p, const char *what, struct recipe_sql *sql)
{
	buf_auto text = {0};
	unsigned int start = p->line;
	struct str line;

	if (sql->text)
		return fault(p, "%s comes twice", what);
	sql->line = p->line + 1;
	while (str_line(&p->rest, &line)) {
		struct str bare = str_trim(line);

		p->line++;
		if (str_eq(bare, "end")) {
			sql->text = arena_strndup(&p->r->arena, buf_str(&text), text.len);
			return text.len ? true : fault(p, "%s is empty", what);
		}
		if (!bare.len || bare.at[0] != '#')
			buf_add(&text, line.at, line.len);
		buf_u8(&text, '\n');
	}
	return fault_at(p, start, "%s has no end", what);
}

/* Tables. */

static bool parse_table(struct parser *p, struct str args)
{
	struct recipe_table *t = vec_push(&p->tables);

	t->line = p->line;
	p->section = IN_TABLE;
	if (!take_name(p, &args, "table", &t->id))
		return false;
	for (size_t i = 0; i + 1 < p->tables.len; i++)
		if (!strcmp(p->tables.at[i].id, t->id))
			return fault(p, "table %s comes twice", t->id);
	return true;
}

static bool parse_title(struct parser *p, struct str args)
{
	return take_rest(p, args, "title", &table_of(p)->title);
}

static bool parse_empty(struct parser *p, struct str args)
{
	return take_more(p, args, "empty", &table_of(p)->empty);
}

static bool parse_require(struct parser *p, struct str args)
{
	if (!str_eq(str_trim(args), "rows"))
		return fault(p, "require knows \"rows\" only");
	table_of(p)->required = true;
	return true;
}

static bool parse_hidden(struct parser *p, struct str args)
{
	if (str_trim(args).len)
		return fault(p, "hidden takes no words");
	table_of(p)->hidden = true;
	return true;
}

static bool parse_column(struct parser *p, struct str args)
{
	static const char *const kinds[] = {
		[COLUMN_TEXT] = "text",		[COLUMN_COUNT] = "count",
		[COLUMN_PCT] = "pct",		[COLUMN_NUMBER] = "number",
		[COLUMN_DURATION] = "duration", [COLUMN_BYTES] = "bytes",
		[COLUMN_ADDRESS] = "address",	[COLUMN_ID] = "id",
		[COLUMN_TREE] = "tree",		[COLUMN_HIDDEN] = "hidden",
		[COLUMN_PLACE] = "place",
	};
	enum { KINDS = sizeof(kinds) / sizeof(kinds[0]) };
	struct column c = {0};
	struct str kind = {0};
	size_t k = 0;

	if (!take_name(p, &args, "column", &c.name))
		return false;
	for (size_t i = 0; i < p->columns.len; i++)
		if (!strcmp(p->columns.at[i].name, c.name))
			return fault(p, "column %s comes twice", c.name);
	if (!str_word(&args, &kind))
		return fault(p, "column %s needs: NAME KIND LABEL", c.name);
	while (k < KINDS && !str_eq(kind, kinds[k]))
		k++;
	if (k == KINDS)
		return fault(p, "column %s: unknown kind \"%.*s\"", c.name, (int)kind.len, kind.at);
	c.kind = (enum column_kind)k;
	args = str_trim(args);
	c.label = args.len ? copy(p, args) : c.name;
	vec_add(&p->columns, c);
	return true;
}

static bool parse_cut(struct parser *p, struct str args)
{
	struct recipe_table *t = table_of(p);

	return take_name(p, &args, "cut", &t->cut_column) &&
	       take_name(p, &args, "cut", &t->cut_option);
}

static bool parse_top(struct parser *p, struct str args)
{
	return take_name(p, &args, "top", &table_of(p)->top_option);
}

static bool parse_share(struct parser *p, struct str args)
{
	return take_name(p, &args, "share", &table_of(p)->share_column);
}

static bool parse_more(struct parser *p, struct str args)
{
	(void)args;
	return parse_block(p, "more", &table_of(p)->more);
}

static bool parse_sql(struct parser *p, struct str args)
{
	(void)args;
	return parse_block(p, "sql",
			   p->section == IN_TABLE     ? &table_of(p)->rows
			   : p->section == IN_FINDING ? &finding_of(p)->rows
						      : &stop_of(p)->rows);
}

/* Findings and stops. */

static bool parse_finding(struct parser *p, struct str args)
{
	struct recipe_finding *f = vec_push(&p->findings);

	f->line = p->line;
	p->section = IN_FINDING;
	if (!take_name(p, &args, "finding", &f->id))
		return false;
	for (size_t i = 0; i + 1 < p->findings.len; i++)
		if (!strcmp(p->findings.at[i].id, f->id))
			return fault(p, "finding %s comes twice", f->id);
	return true;
}

static bool parse_stop(struct parser *p, struct str args)
{
	static const struct {
		const char *name;
		enum err_kind kind;
	} kinds[] = {{"refused", ERR_REFUSED}, {"usage", ERR_USAGE}, {"not_found", ERR_NOT_FOUND}};
	struct recipe_stop *s = vec_push(&p->stops);
	struct str id = {0}, kind = {0};

	s->line = p->line;
	p->section = IN_STOP;
	if (!str_word(&args, &id) || !is_name(id, 'A'))
		return fault(p, "stop: \"%.*s\" is no name (capitals, digits, _)", (int)id.len,
			     id.at ? id.at : "");
	s->id = copy(p, id);
	if (!str_word(&args, &kind))
		return fault(p, "stop %s needs a kind: refused, usage, not_found", s->id);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eq(kind, kinds[i].name))
			s->kind = kinds[i].kind;
	return s->kind != ERR_NONE ? true :
				     fault(p, "stop %s: kind \"%.*s\" is none of refused, usage, "
					      "not_found",
					   s->id, (int)kind.len, kind.at);
}

static bool parse_severity(struct parser *p, struct str args)
{
	args = str_trim(args);
	if (!str_eq(args, "info") && !str_eq(args, "warning") && !str_eq(args, "problem"))
		return fault(p, "severity is info, warning or problem");
	return take_rest(p, args, "severity", &finding_of(p)->severity);
}

static bool parse_template(struct parser *p, struct str args, const char *what, const char **text)
{
	const char *wrong;

	if (!take_more(p, args, what, text))
		return false;
	wrong = template_fault(*text);
	return wrong ? fault(p, "%s has %s", what, wrong) : true;
}

static bool parse_text(struct parser *p, struct str args)
{
	return parse_template(p, args, "text",
			      p->section == IN_FINDING ? &finding_of(p)->text : &stop_of(p)->text);
}

static bool parse_basis(struct parser *p, struct str args)
{
	return parse_template(p, args, "basis", &finding_of(p)->basis);
}

static bool parse_remedy(struct parser *p, struct str args)
{
	return parse_template(p, args, "remedy", &stop_of(p)->remedy);
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
	struct recipe_table *t = table_of(p);

	if (!t->title || !p->columns.len || !t->rows.text)
		return fault_at(p, t->line, "table %s has no %s", t->id,
				!t->title	  ? "title"
				: !p->columns.len ? "column"
						  : "sql");
	if (!has_column(p, t->cut_column) || !has_column(p, t->share_column))
		return fault_at(p, t->line, "table %s: cut or share names no column of it", t->id);
	if (!has_option(p, t->cut_option) || !has_option(p, t->top_option))
		return fault_at(p, t->line, "table %s: cut or top names no option", t->id);
	t->column_count = p->columns.len;
	t->columns = arena_alloc(&p->r->arena, sizeof(*t->columns) * t->column_count);
	memcpy(t->columns, p->columns.at, sizeof(*t->columns) * t->column_count);
	vec_clear(&p->columns);
	return true;
}

static bool end_finding(struct parser *p)
{
	struct recipe_finding *f = finding_of(p);

	if (!f->severity)
		f->severity = "info";
	if (!f->text || !f->rows.text)
		return fault_at(p, f->line, "finding %s has no %s", f->id, !f->text ? "text" : "sql");
	return true;
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
	case IN_STOP:
		s = stop_of(p);
		if (!s->text || !s->rows.text)
			return fault_at(p, s->line, "stop %s has no %s", s->id,
					!s->text ? "text" : "sql");
		break;
	}
	return true;
}

struct keyword {
	const char *name;
	int sections; /* where it may stand; 0: starts a section */
	bool (*parse)(struct parser *p, struct str args);
};

static const struct keyword keywords[] = {
	{"recipe", IN_HEAD, parse_recipe},
	{"question", IN_HEAD, parse_question},
	{"summary", IN_HEAD, parse_summary},
	{"ladder", IN_HEAD, parse_ladder},
	{"option", IN_HEAD, parse_option},
	{"table", 0, parse_table},
	{"title", IN_TABLE, parse_title},
	{"empty", IN_TABLE, parse_empty},
	{"require", IN_TABLE, parse_require},
	{"hidden", IN_TABLE, parse_hidden},
	{"column", IN_TABLE, parse_column},
	{"cut", IN_TABLE, parse_cut},
	{"top", IN_TABLE, parse_top},
	{"share", IN_TABLE, parse_share},
	{"sql", IN_TABLE | IN_FINDING | IN_STOP, parse_sql},
	{"more", IN_TABLE, parse_more},
	{"finding", 0, parse_finding},
	{"severity", IN_FINDING, parse_severity},
	{"text", IN_FINDING | IN_STOP, parse_text},
	{"basis", IN_FINDING, parse_basis},
	{"stop", 0, parse_stop},
	{"remedy", IN_STOP, parse_remedy},
};

static bool parse_line(struct parser *p, struct str line)
{
	struct str word;

	if (!str_word(&line, &word) || word.at[0] == '#')
		return true;
	if (p->options.len + p->columns.len + p->tables.len + p->findings.len + p->stops.len >
	    RECIPE_MAX_ITEMS)
		return fault(p, "more than %d options, columns, tables and findings",
			     RECIPE_MAX_ITEMS);
	for (size_t i = 0; i < sizeof(keywords) / sizeof(keywords[0]); i++) {
		const struct keyword *k = &keywords[i];

		if (!str_eq(word, k->name))
			continue;
		if (!k->sections && !end_section(p))
			return false;
		if (k->sections && !(k->sections & (int)p->section))
			return fault(p, "%s does not belong here", k->name);
		return k->parse(p, line);
	}
	return fault(p, "unknown word \"%.*s\"", word.len < 40 ? (int)word.len : 40, word.at);
}

static bool parse_all(struct parser *p)
{
	struct str line;

	while (str_line(&p->rest, &line)) {
		p->line++;
		if (!parse_line(p, line))
			return false;
	}
	if (!end_section(p))
		return false;
	if (!p->r->name || !p->r->question)
		return fault(p, "the recipe has no %s", p->r->name ? "question" : "name");
	return p->tables.len ? true : fault(p, "recipe %s has no table", p->r->name);
}

#define keep(p, to, count, from)                                                                   \
	((p)->r->to = arena_alloc(&(p)->r->arena, sizeof(*(p)->r->to) * (p)->from.len),           \
	 (p)->from.len ? memcpy((p)->r->to, (p)->from.at, sizeof(*(p)->r->to) * (p)->from.len)     \
		       : NULL,                                                                     \
	 (p)->r->count = (p)->from.len)

bool recipe_parse(struct recipe **out, const char *source, struct str text, struct err *err)
{
	struct parser p = {.r = mem_alloc(sizeof(*p.r)), .rest = text, .section = IN_HEAD,
			   .err = err};
	bool ok;

	p.r->source = arena_strdup(&p.r->arena, source);
	if (text.len > RECIPE_MAX_BYTES)
		ok = err_set(err, ERR_LIMIT, "%s: larger than 1 MB", source);
	else if (text.len && memchr(text.at, 0, text.len))
		ok = err_set(err, ERR_FORMAT, "%s: has a zero byte", source);
	else
		ok = parse_all(&p);
	keep(&p, options, option_count, options);
	keep(&p, tables, table_count, tables);
	keep(&p, findings, finding_count, findings);
	keep(&p, stops, stop_count, stops);
	vec_done(&p.options);
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
	vec_done(&r->ladder);
	arena_done(&r->arena);
	free(r);
}
