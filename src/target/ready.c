/* SPDX-License-Identifier: Apache-2.0 */
/* Judges a ladder of rungs against a machine. */
#include "target/ready.h"

static bool has_all(const struct ready_rung *g, const struct target *t,
		    struct ready_missing *missing)
{
	for (size_t i = 0; i < g->need_count; i++)
		if (!target_need(t, g->needs[i], &missing->err)) {
			missing->need = g->needs[i];
			return false;
		}
	return true;
}

void ready_judge(struct ready *out, const struct target *t, const struct ready_rung *rungs,
		 size_t count)
{
	struct ready r = { .state = count ? READY_BLOCKED : READY, .rung = count };

	for (size_t i = 0; i < count; i++) {
		struct ready_missing missing = { .rung = i };

		if (has_all(&rungs[i], t, &missing)) {
			r.state = i ? READY_WEAKER : READY;
			r.rung = i;
			break;
		}
		vec_add(&r.missing, missing);
	}
	*out = r;
}

bool ready_refuse(const struct ready *r, const char *recipe, struct err *err)
{
	if (r->state != READY_BLOCKED)
		return true;
	*err = r->missing.at[r->missing.len - 1].err;
	return err_wrap(err, "recipe %s cannot run on this machine", recipe);
}

void ready_done(struct ready *r)
{
	vec_done(&r->missing);
}
