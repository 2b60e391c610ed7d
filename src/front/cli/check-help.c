/* SPDX-License-Identifier: Apache-2.0 */
/* The end of the page: what would help on this machine, in which order, and what to type next. */
#include <stdlib.h>
#include <string.h>

#include "front/cli/check-page.h"

static const char level_setting[] = "kernel.perf_event_paranoid=";

/* Levels of that setting, from the most careful one; each allows what those above it do. */
static const struct {
	int level;
	const char *what_for;
} levels[] = {
	{ 2, "to record own programs" },
	{ 1, "to record kernel code too" },
	{ 0, "for the whole system" },
	{ -1, "for tracepoints" },
};
enum { LEVELS = sizeof(levels) / sizeof(*levels) };

/* A remedy with all that waits for it. */
struct help {
	const char *remedy, *last; /* last: the recipe that unblocks ends with */
	struct buf unblocks;
	size_t uses, first;
	enum remedy_effort effort;
	bool is_useful;	     /* for a recipe that is built, not only for planned ones */
	bool lifts;	     /* a recipe that is built is blocked without it */
	unsigned int levels; /* a bit for each of levels that is asked for, 0: it is not about them */
};

struct helps {
	VEC(struct help) list;
	struct arena arena;
};

/* Useful ones first; then what lifts a block, what takes little, what serves many. */
static int by_use(const void *a, const void *b)
{
	const struct help *x = a, *y = b;

	if (x->is_useful != y->is_useful)
		return x->is_useful ? -1 : 1;
	if (x->lifts != y->lifts)
		return x->lifts ? -1 : 1;
	if (x->effort != y->effort)
		return x->effort < y->effort ? -1 : 1;
	if (x->uses != y->uses)
		return x->uses < y->uses ? 1 : -1;
	return x->first < y->first ? -1 : 1;
}

/* A remedy that sets a level, in three: what stands before the level, which one, what follows. */
static bool split_level(const char *remedy, size_t *before, size_t *which, const char **after)
{
	const char *at = strstr(remedy, level_setting);
	char *end;
	long level;

	if (!at)
		return false;
	at += sizeof(level_setting) - 1;
	level = strtol(at, &end, 10);
	for (size_t i = 0; i < LEVELS; i++)
		if (end != at && level == levels[i].level) {
			*before = (size_t)(at - remedy);
			*which = i;
			*after = end;
			return true;
		}
	return false;
}

/* The same words, or the same but for the level that they set. */
static bool is_same(const char *a, const char *b)
{
	size_t at_a, at_b, which;
	const char *after_a, *after_b;

	if (!strcmp(a, b))
		return true;
	return split_level(a, &at_a, &which, &after_a) && split_level(b, &at_b, &which, &after_b) &&
	       at_a == at_b && !strncmp(a, b, at_a) && !strcmp(after_a, after_b);
}

/* The entry of the refusal's remedy, made when it is new; NULL when nothing is known to help. */
static struct help *help_for(struct helps *h, const struct err *refusal)
{
	struct help *found = NULL;
	size_t before, which;
	const char *after;

	if (!*refusal->hint)
		return NULL;
	for (size_t i = 0; i < h->list.len && !found; i++)
		if (is_same(h->list.at[i].remedy, refusal->hint))
			found = &h->list.at[i];
	if (!found) {
		found = vec_push(&h->list);
		*found = (struct help){ .remedy = arena_strdup(&h->arena, refusal->hint),
					.first = h->list.len,
					.effort = target_remedy_effort(refusal) };
	}
	if (split_level(refusal->hint, &before, &which, &after))
		found->levels |= 1u << which;
	return found;
}

static void add_missing(struct helps *h, const struct check_recipe *r,
			const struct ready_missing *m)
{
	const char *rung = r->recipe->rungs[m->rung].name, *name = r->recipe->name;
	struct help *help = help_for(h, &m->err);

	if (!help)
		return;
	help->uses++;
	if (!r->recipe->planned) {
		help->is_useful = true;
		help->lifts |= r->ready.state == READY_BLOCKED;
	}
	if (help->last && !strcmp(help->last, name)) {
		help->unblocks.len--; /* the closing bracket */
		buf_printf(&help->unblocks, ", %s)", rung);
		return;
	}
	help->last = name;
	buf_printf(&help->unblocks, "%s%s (%s%s)", help->unblocks.len ? ", " : "", name,
		   r->recipe->planned ? "planned: " : "", rung);
}

/* A need that every recipe can be asked for: --system, and kernel code. */
static bool is_scope(const char *need)
{
	return !strcmp(need, "system-wide") || !strcmp(need, "kernel");
}

static bool is_waited_for(const struct check *c, const char *need)
{
	vec_each(r, &c->recipes)
		vec_each(m, &r->ready.missing)
			if (!strcmp(m->need, need))
				return true;
	return false;
}

/* What no recipe waits for now, and scopes. */
static void add_other_needs(struct helps *h, const struct check *c)
{
	vec_each(n, &c->needs) {
		struct help *help;
		struct err err;

		if ((!is_scope(*n) && is_waited_for(c, *n)) || target_need(&c->target, *n, &err))
			continue;
		help = help_for(h, &err);
		if (!help)
			continue;
		help->is_useful |= is_scope(*n);
		help->last = NULL;
		buf_printf(&help->unblocks, "%s%s", help->unblocks.len ? ", " : "", *n);
	}
}

/* The remedy; where several levels of a setting are asked for, each with what it is for. */
static void put_remedy(struct buf *out, const struct help *help)
{
	size_t before, which;
	const char *after, *separator = "";

	if (!(help->levels & (help->levels - 1)) ||
	    !split_level(help->remedy, &before, &which, &after)) {
		buf_puts(out, help->remedy);
		return;
	}
	buf_add(out, help->remedy, before);
	for (size_t i = 0; i < LEVELS; i++)
		if (help->levels & 1u << i) {
			buf_printf(out, "%s%d %s", separator, levels[i].level, levels[i].what_for);
			separator = ", ";
		}
	buf_printf(out, ";%s", after + (*after != 0));
}

static void put_entry(struct page *p, struct help *help)
{
	buf_auto remedy = { 0 };

	put_remedy(&remedy, help);
	buf_puts(p->out, "  - ");
	page_line(p, 4, buf_str(&remedy));
	text_spaces(p->out, 6);
	text_style(p->out, &p->o, STYLE_DIM);
	buf_puts(p->out, "for ");
	text_wrap(p->out, &p->o, 10, (struct str){ buf_str(&help->unblocks), help->unblocks.len });
	text_plain(p->out, &p->o);
	buf_u8(p->out, '\n');
}

static void put_list(struct page *p, struct helps *h)
{
	bool any_useful = false, any_planned = false;

	vec_each(help, &h->list) {
		if (help->is_useful && !any_useful)
			page_title(p, "What would help");
		if (!help->is_useful && !any_planned)
			page_title(p,
				   "For recipes that are planned: of no use before they are built");
		any_useful |= help->is_useful;
		any_planned |= !help->is_useful;
		put_entry(p, help);
	}
}

/* The recipe to begin with: one that runs; where none does, the first that is built. */
static const struct check_recipe *first_recipe(const struct check *c)
{
	const struct check_recipe *first = NULL;

	vec_each(r, &c->recipes) {
		if (r->recipe->planned)
			continue;
		if (r->ready.state != READY_BLOCKED)
			return r;
		if (!first)
			first = r;
	}
	return first;
}

static void put_next(struct page *p, const struct helps *h)
{
	const struct check_recipe *r = first_recipe(p->c);
	buf_auto text = { 0 };

	if (!r)
		return;
	page_title(p, "Next");
	if (r->ready.state == READY_BLOCKED) {
		const struct err *err = &r->ready.missing.at[r->ready.missing.len - 1].err;

		buf_printf(&text, "%s is blocked [%s]", r->recipe->name, err_id(err));
		if (h->list.len && h->list.at[0].lifts)
			buf_puts(&text, "; with the first of what would help:");
		else
			buf_printf(&text, ": %s", err->text);
		buf_puts(p->out, "  ");
		page_line(p, 2, buf_str(&text));
	}
	buf_printf(p->out, "  %sculprit run %s -- COMMAND\n",
		   !strcmp(p->c->name, "local") ? "" : "there: ", r->recipe->name);
}

void page_help(struct page *p)
{
	struct helps h = { 0 };

	vec_each(r, &p->c->recipes)
		vec_each(m, &r->ready.missing)
			add_missing(&h, r, m);
	add_other_needs(&h, p->c);
	if (h.list.len)
		qsort(h.list.at, h.list.len, sizeof(*h.list.at), by_use);
	put_list(p, &h);
	put_next(p, &h);
	vec_each(help, &h.list)
		buf_done(&help->unblocks);
	vec_done(&h.list);
	arena_done(&h.arena);
}
