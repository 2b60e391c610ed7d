/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a recipe file: what each of them may hold. docs/recipes.md lists them. */
#include "base/os.h"
#include "store/recipe-parser.h"

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
	struct str word = { 0 };

	if (!str_word(args, &word) || !is_name(word, 'a'))
		return parser_fault(p, "%s: \"%.*s\" is no name (small letters, digits, _)", what,
				    (int)word.len, word.at ? word.at : "");
	*name = copy(p, word);
	return true;
}

static bool take_rest(const struct parser *p, struct str args, const char *what, const char **text)
{
	args = str_trim(args);
	if (!args.len)
		return parser_fault(p, "%s has no text", what);
	if (*text)
		return parser_fault(p, "%s comes twice", what);
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
		return parser_fault(p, "recipe comes twice");
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

static bool parse_planned(struct parser *p, struct str args)
{
	if (str_trim(args).len)
		return parser_fault(p, "planned takes no words");
	p->r->planned = true;
	return true;
}

static bool parse_option(struct parser *p, struct str args)
{
	static const char *const kinds[] = { "text", "count", "pct", "number" };
	struct recipe_option o = { 0 };
	struct str kind = { 0 }, value;
	struct cell cell;
	size_t k = 0;

	if (!take_name(p, &args, "option", &o.name))
		return false;
	for (size_t i = 0; i < p->options.len; i++)
		if (!strcmp(p->options.at[i].name, o.name))
			return parser_fault(p, "option %s comes twice", o.name);
	if (!str_word(&args, &kind) || !str_word(&args, &value))
		return parser_fault(p, "option %s needs: NAME KIND DEFAULT HELP", o.name);
	while (k < 4 && !str_eq(kind, kinds[k]))
		k++;
	if (k == 4)
		return parser_fault(p,
				    "option %s: kind \"%.*s\" is none of text, count, pct, number",
				    o.name, (int)kind.len, kind.at);
	o.kind = (enum recipe_option_kind)k;
	o.value = str_eq(value, "-") ? "" : copy(p, value);
	if (!take_rest(p, args, "help of an option", &o.help))
		return false;
	if (!recipe_value(&o, o.value, &cell, p->err))
		return parser_fault(p, "option %s: \"%s\" is no %s", o.name, o.value, kinds[k]);
	vec_add(&p->options, o);
	return true;
}

/* SQL up to a line "end". Comment lines become empty, so that line numbers stay true. */
static bool parse_block(struct parser *p, const char *what, struct recipe_sql *sql)
{
	buf_auto text = { 0 };
	unsigned int start = p->line;
	struct str line;

	if (sql->text)
		return parser_fault(p, "%s comes twice", what);
	sql->line = p->line + 1;
	while (str_line(&p->rest, &line)) {
		struct str bare = str_trim(line);

		p->line++;
		if (str_eq(bare, "end")) {
			sql->text = arena_strndup(&p->r->arena, buf_str(&text), text.len);
			return text.len ? true : parser_fault(p, "%s is empty", what);
		}
		if (!bare.len || bare.at[0] != '#')
			buf_add(&text, line.at, line.len);
		buf_u8(&text, '\n');
	}
	return parser_fault_at(p, start, "%s has no end", what);
}

/* Rungs. */

/* A need is "word" or "word:number"; which words there are is not a matter of the format. */
static bool is_need(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (!((s.at[i] >= 'a' && s.at[i] <= 'z') || (s.at[i] >= '0' && s.at[i] <= '9') ||
		      s.at[i] == '-' || s.at[i] == ':'))
			return false;
	return s.len < 40;
}

static bool take_needs(struct parser *p, struct str args, struct recipe_rung *g)
{
	struct str rest = args, word;
	const char **needs;
	size_t count = 0;

	while (str_word(&rest, &word))
		count++;
	if (!count)
		return parser_fault(p, "rung %s: needs names nothing; leave it out", g->name);
	needs = arena_alloc(&p->r->arena, sizeof(*needs) * count);
	for (size_t i = 0; i < count; i++) {
		if (!str_word(&args, &word) || !is_need(word))
			return parser_fault(p,
					    "rung %s: \"%.*s\" is no need (small letters, digits, "
					    "-, :)",
					    g->name, word.len < 40 ? (int)word.len : 40, word.at);
		needs[i] = copy(p, word);
	}
	g->needs = needs;
	g->need_count = count;
	return true;
}

static bool parse_rung(struct parser *p, struct str args)
{
	struct recipe_rung *g = vec_push(&p->rungs);
	struct str word = { 0 }, name;

	g->line = p->line;
	p->section = IN_RUNG;
	if (p->tables.len || p->findings.len || p->stops.len)
		return parser_fault(p, "rungs come before tables, findings and stops");
	if (!str_word(&args, &name) || !is_need(name))
		return parser_fault(p, "rung wants: NAME [needs WORD ...]");
	g->name = copy(p, name);
	for (size_t i = 0; i + 1 < p->rungs.len; i++)
		if (!strcmp(p->rungs.at[i].name, g->name))
			return parser_fault(p, "rung %s comes twice", g->name);
	if (!str_word(&args, &word))
		return true;
	if (!str_eq(word, "needs"))
		return parser_fault(p, "rung %s: only needs may stand behind the name", g->name);
	return take_needs(p, args, g);
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
			return parser_fault(p, "table %s comes twice", t->id);
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
		return parser_fault(p, "require knows \"rows\" only");
	table_of(p)->required = true;
	return true;
}

static bool parse_hidden(struct parser *p, struct str args)
{
	if (str_trim(args).len)
		return parser_fault(p, "hidden takes no words");
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
	struct column c = { 0 };
	struct str kind = { 0 };
	size_t k = 0;

	if (!take_name(p, &args, "column", &c.name))
		return false;
	for (size_t i = 0; i < p->columns.len; i++)
		if (!strcmp(p->columns.at[i].name, c.name))
			return parser_fault(p, "column %s comes twice", c.name);
	if (!str_word(&args, &kind))
		return parser_fault(p, "column %s needs: NAME KIND LABEL", c.name);
	while (k < KINDS && !str_eq(kind, kinds[k]))
		k++;
	if (k == KINDS)
		return parser_fault(p, "column %s: unknown kind \"%.*s\"", c.name, (int)kind.len,
				    kind.at);
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
			   p->section == IN_TABLE   ? &table_of(p)->rows :
			   p->section == IN_FINDING ? &finding_of(p)->rows :
						      &stop_of(p)->rows);
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
			return parser_fault(p, "finding %s comes twice", f->id);
	return true;
}

static bool parse_stop(struct parser *p, struct str args)
{
	static const struct {
		const char *name;
		enum err_kind kind;
	} kinds[] = { { "refused", ERR_REFUSED },
		      { "usage", ERR_USAGE },
		      { "not_found", ERR_NOT_FOUND } };
	struct recipe_stop *s = vec_push(&p->stops);
	struct str id = { 0 }, kind = { 0 };

	s->line = p->line;
	p->section = IN_STOP;
	if (!str_word(&args, &id) || !is_name(id, 'A'))
		return parser_fault(p, "stop: \"%.*s\" is no name (capitals, digits, _)",
				    (int)id.len, id.at ? id.at : "");
	s->id = copy(p, id);
	if (!str_word(&args, &kind))
		return parser_fault(p, "stop %s needs a kind: refused, usage, not_found", s->id);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (str_eq(kind, kinds[i].name))
			s->kind = kinds[i].kind;
	return s->kind != ERR_NONE ?
		       true :
		       parser_fault(p,
				    "stop %s: kind \"%.*s\" is none of refused, usage, "
				    "not_found",
				    s->id, (int)kind.len, kind.at);
}

static bool parse_severity(struct parser *p, struct str args)
{
	args = str_trim(args);
	if (!str_eq(args, "info") && !str_eq(args, "warning") && !str_eq(args, "problem"))
		return parser_fault(p, "severity is info, warning or problem");
	return take_rest(p, args, "severity", &finding_of(p)->severity);
}

static bool parse_template(struct parser *p, struct str args, const char *what, const char **text)
{
	const char *wrong;

	if (!take_more(p, args, what, text))
		return false;
	wrong = template_fault(*text);
	return wrong ? parser_fault(p, "%s has %s", what, wrong) : true;
}

static bool parse_text(struct parser *p, struct str args)
{
	if (p->section == IN_RUNG)
		return take_more(p, args, "text", &p->rungs.at[p->rungs.len - 1].text);
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

const struct keyword recipe_keywords[] = {
	{ "recipe", IN_HEAD, parse_recipe },
	{ "question", IN_HEAD, parse_question },
	{ "summary", IN_HEAD, parse_summary },
	{ "planned", IN_HEAD, parse_planned },
	{ "option", IN_HEAD, parse_option },
	{ "rung", 0, parse_rung },
	{ "table", 0, parse_table },
	{ "title", IN_TABLE, parse_title },
	{ "empty", IN_TABLE, parse_empty },
	{ "require", IN_TABLE, parse_require },
	{ "hidden", IN_TABLE, parse_hidden },
	{ "column", IN_TABLE, parse_column },
	{ "cut", IN_TABLE, parse_cut },
	{ "top", IN_TABLE, parse_top },
	{ "share", IN_TABLE, parse_share },
	{ "sql", IN_TABLE | IN_FINDING | IN_STOP, parse_sql },
	{ "more", IN_TABLE, parse_more },
	{ "finding", 0, parse_finding },
	{ "severity", IN_FINDING, parse_severity },
	{ "text", IN_FINDING | IN_STOP | IN_RUNG, parse_text },
	{ "basis", IN_FINDING, parse_basis },
	{ "stop", 0, parse_stop },
	{ "remedy", IN_STOP, parse_remedy },
	{ NULL, 0, NULL },
};
