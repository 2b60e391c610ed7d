/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine can do, recipe by recipe: judged once, then written as text or JSON. */
#ifndef CULPRIT_FRONT_CLI_CHECK_H
#define CULPRIT_FRONT_CLI_CHECK_H

#include "front/cli/cli.h"
#include "render/render.h"
#include "store/store.h"
#include "target/cores.h"
#include "target/ready.h"

struct check_recipe {
	struct recipe *recipe;
	struct ready ready;
};

struct check {
	const char *name; /* "local", or the folder or file it was read from; borrowed */
	struct target target;
	const struct cloud_info *cloud;	      /* NULL: none that is known */
	const struct instance_info *instance; /* NULL: none that is known */
	VEC(struct check_recipe) recipes;     /* the built-in ones, in their order */
	VEC(const char *) needs;	      /* every need word, counters as recipes want them */
};

/* Judges all built-in recipes on c->target, which c owns. Release with check_done. */
ERR_CHECKED bool check_judge(struct check *c, struct err *err);
void check_done(struct check *c);

/* A recipe's rungs against a machine. Release with ready_done. */
void check_ready(struct ready *out, const struct recipe *r, const struct target *t);
/* ERR_FORMAT with file and line for a need that there is not. */
ERR_CHECKED bool check_needs_known(const struct recipe *r, struct err *err);
/* The machine's own probe, by its agent; what a job would meet. */
ERR_CHECKED bool check_probe_local(struct target *t, struct err *err);
/*
 * The recipe is planned: always false, refused by name where the machine cannot, else
 * NOT_BUILT_YET. The hint ends with what works here.
 */
bool check_refuse_planned(const struct recipe *r, const struct target *t, struct err *err);
/* False: no rung is possible, and that will not change by itself. */
ERR_CHECKED bool check_refuse_blocked(const struct recipe *r, const struct target *t,
				      struct err *err);

/* "ready", "weaker", "blocked" */
const char *check_state_word(enum ready_state state);
/* "Neoverse V2", or how an unknown core is told; in the buffer. */
void check_put_core_name(struct buf *out, const struct target *t, const struct target_core *core);

void check_put_text(struct buf *out, const struct check *c, const struct render_options *o);
void check_put_json(struct buf *out, const struct check *c);

#endif
