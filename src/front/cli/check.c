/* SPDX-License-Identifier: Apache-2.0 */
/* Judges recipes against a machine, and refuses those that cannot run on it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/check.h"
#include "remote/remote.h"

void check_ready(struct ready *out, const struct recipe *r, const struct target *t)
{
	struct ready_rung *rungs = mem_alloc(sizeof(*rungs) * r->rung_count);

	for (size_t i = 0; i < r->rung_count; i++)
		rungs[i] = (struct ready_rung){ r->rungs[i].name, r->rungs[i].needs,
						r->rungs[i].need_count };
	ready_judge(out, t, rungs, r->rung_count);
	free(rungs);
}

bool check_needs_known(const struct recipe *r, struct err *err)
{
	for (size_t i = 0; i < r->rung_count; i++)
		for (size_t k = 0; k < r->rungs[i].need_count; k++)
			if (!target_need_known(r->rungs[i].needs[k])) {
				err_set(err, ERR_FORMAT,
					"%s:%u: rung %s needs \"%s\", and there is no such need",
					r->source, r->rungs[i].line, r->rungs[i].name,
					r->rungs[i].needs[k]);
				return err_hint(err, "docs/check.md lists the words");
			}
	return true;
}

bool check_probe_local(struct target *t, struct err *err)
{
	struct remote_options options = { .stdio = { -1, -1, -1 } };
	struct remote *remote;
	buf_auto text = { 0 };
	bool ok;

	if (!remote_start_local(&remote, &options, err))
		return false;
	ok = remote_probe(remote, &text, err);
	remote_close(remote);
	if (ok)
		target_decode(t, (struct str){ buf_str(&text), text.len });
	return ok;
}

const char *check_state_word(enum ready_state state)
{
	static const char *const words[] = {
		[READY] = "ready",
		[READY_WEAKER] = "weaker",
		[READY_BLOCKED] = "blocked",
	};

	return words[state];
}

void check_put_core_name(struct buf *out, const struct target *t, const struct target_core *core)
{
	const struct core_info *info = core->midr ? core_find(core->midr) : NULL;
	const struct x86_info *x86 = core->midr ? NULL : x86_find(t->cpuid);

	if (info)
		buf_puts(out, info->name);
	else if (core->midr)
		buf_printf(out,
			   "unknown core (implementer 0x%02x, part 0x%03x), described by what it "
			   "exposes",
			   midr_implementer(core->midr), midr_part(core->midr));
	else if (x86)
		buf_puts(out, x86->name);
	else
		buf_printf(out, "unknown core%s%s, described by what it exposes",
			   *t->cpuid ? " " : "", t->cpuid);
}

static bool has_need(const struct check *c, const char *word)
{
	vec_each(n, &c->needs) {
		if (!strcmp(*n, word))
			return true;
	}
	return false;
}

/* The forms "word:N" of a counted need that recipes ask for. */
static void collect_counted(struct check *c, const char *word)
{
	size_t len = strlen(word);

	vec_each(r, &c->recipes)
		for (size_t i = 0; i < r->recipe->rung_count; i++)
			for (size_t k = 0; k < r->recipe->rungs[i].need_count; k++) {
				const char *need = r->recipe->rungs[i].needs[k];

				if (str_starts(need, word) && need[len] == ':' &&
				    !has_need(c, need))
					vec_add(&c->needs, need);
			}
}

static void collect_needs(struct check *c)
{
	const char *word;

	for (size_t i = 0; (word = target_need_word(i)); i++)
		if (target_need_known(word))
			vec_add(&c->needs, word);
		else
			collect_counted(c, word);
}

bool check_judge(struct check *c, struct err *err)
{
	const struct target *t = &c->target;
	struct need_place place;

	need_place(&place, t);
	c->cloud = place.cloud;
	c->instance = place.instance;
	for (const char *const *n = recipe_names(); *n; n++) {
		struct check_recipe r = { 0 };

		if (!recipe_load(&r.recipe, *n, err))
			return false;
		check_ready(&r.ready, r.recipe, t);
		vec_add(&c->recipes, r);
	}
	collect_needs(c);
	return true;
}

void check_done(struct check *c)
{
	vec_each(r, &c->recipes) {
		ready_done(&r->ready);
		recipe_free(r->recipe);
	}
	vec_done(&c->recipes);
	vec_done(&c->needs);
	target_done(&c->target);
}

/* The built recipes that this machine can run, as "a, b"; "" for none. */
static void put_working(struct buf *out, const struct target *t)
{
	for (const char *const *n = recipe_names(); *n; n++) {
		struct recipe *r;
		struct ready ready;
		struct err err;

		if (!recipe_load(&r, *n, &err))
			continue;
		check_ready(&ready, r, t);
		if (!r->planned && ready.state != READY_BLOCKED)
			buf_printf(out, "%s%s", out->len ? ", " : "", r->name);
		ready_done(&ready);
		recipe_free(r);
	}
}

static bool hint_working(const struct target *t, struct err *err)
{
	buf_auto working = { 0 };

	put_working(&working, t);
	if (!working.len)
		return false;
	return err_rehint(err, "%s%sculprit run works here with: %s", err->hint,
			  err->hint[0] ? "; " : "", buf_str(&working));
}

/* What would help the machine is of no use yet: nobody shall rent another one for it today. */
static void hint_later(struct err *err)
{
	if (err->hint[0])
		err_rehint(err, "once it is built: %s", err->hint);
}

bool check_refuse_planned(const struct recipe *r, const struct target *t, struct err *err)
{
	struct ready ready;

	check_ready(&ready, r, t);
	if (ready.state == READY_BLOCKED) {
		*err = ready.missing.at[ready.missing.len - 1].err;
		err_wrap(err, "recipe %s is not built yet, and this machine could not run it",
			 r->name);
		hint_later(err);
	} else {
		err_set(err, ERR_UNSUPPORTED,
			"recipe %s is not built yet; this machine could run it%s%s%s", r->name,
			r->rung_count ? " (" : "", r->rung_count ? r->rungs[ready.rung].name : "",
			r->rung_count ? ")" : "");
		snprintf(err->id, sizeof(err->id), "NOT_BUILT_YET");
	}
	ready_done(&ready);
	return hint_working(t, err);
}

/* Somebody else's doing, and gone by the next try. */
static bool may_pass(int errnum)
{
	return errnum == EMFILE || errnum == ENFILE || errnum == EBUSY || errnum == ENOMEM ||
	       errnum == EINTR;
}

bool check_refuse_blocked(const struct recipe *r, const struct target *t, struct err *err)
{
	struct ready ready;
	bool ok;

	check_ready(&ready, r, t);
	ok = ready.state != READY_BLOCKED ||
	     may_pass(ready.missing.at[ready.missing.len - 1].err.sys_errno) ||
	     ready_refuse(&ready, r->name, err);
	ready_done(&ready);
	return ok;
}
