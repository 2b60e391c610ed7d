/* SPDX-License-Identifier: Apache-2.0 */
/* How a capture comes to its end, and a workload of ours with it. */
#include "capture/session.h"

#include "base/os.h"

static const uint64_t term_grace_ns = 2000000000;
static const uint64_t kill_again_ns = 50000000;
/* A process that waits for a dead disk or server does not die of SIGKILL either. */
static const uint64_t kill_patience_ns = 5000000000;

void end_because(struct capture *c, enum job_end why)
{
	if (c->ending.decided)
		return;
	c->ending.decided = true;
	c->ending.why = why;
}

static bool has_workload(const struct capture *c)
{
	return c->job->scope == JOB_LAUNCH;
}

void end_raise(struct capture *c)
{
	struct ending *e = &c->ending;
	uint64_t now = os_now_ns();

	if (!has_workload(c))
		return;
	/* The whole tree, or what a shell started would live on without it. */
	if (e->level < END_TERM) {
		e->level = END_TERM;
		e->deadline_ns = now + term_grace_ns;
		tree_signal(SIGTERM);
		return;
	}
	if (e->level < END_KILL) {
		e->level = END_KILL;
		e->give_up_ns = now + kill_patience_ns;
	}
	/* Again and again: whoever is born between the look and the blow is found by the next. */
	e->deadline_ns = now + kill_again_ns;
	tree_signal(SIGKILL);
}

void end_by_force(struct capture *c, enum job_end why)
{
	end_because(c, why);
	if (c->ending.level < END_TERM)
		end_raise(c);
}

void end_stop(struct capture *c, int signal, uint64_t grace_ns)
{
	struct ending *e = &c->ending;
	uint64_t now = os_now_ns();

	end_because(c, JOB_END_STOP);
	if (!has_workload(c))
		return;
	if (e->level != END_NONE) {
		end_raise(c);
		return;
	}
	e->level = END_ASKED;
	if (__builtin_add_overflow(now, grace_ns, &e->deadline_ns))
		e->deadline_ns = UINT64_MAX;
	if (signal > 0 && signal < NSIG && c->launched.pid > 0)
		kill(c->launched.pid, signal);
}

bool end_reached(const struct capture *c)
{
	const struct ending *e = &c->ending;

	if (!has_workload(c))
		return e->decided;
	if (e->level == END_KILL && os_now_ns() >= e->give_up_ns)
		return true;
	if (!c->launched.reaped)
		return false;
	/* A workload that ended by itself may leave daemons behind; one that was ended may not. */
	if (e->level < END_TERM)
		return true;
	return !tree_signal(0);
}
