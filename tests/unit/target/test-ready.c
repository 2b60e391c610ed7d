/* SPDX-License-Identifier: Apache-2.0 */
/* Ladders of rungs are judged, and refused for the nearest reason. */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "test.h"

static const char *const want_spe[] = { "spe" };
static const char *const want_both[] = { "cycles", "counters:1" };
static const char *const want_timer[] = { "timer" };
static const struct ready_rung ladder[] = {
	{ "spe", want_spe, 1 },
	{ "sampling", want_both, 2 },
	{ "timer", want_timer, 1 },
};

TEST(judge_ladder)
{
	struct machine m;
	struct ready r;
	struct err err = { 0 };

	machine_metal(&m, V2);
	ready_judge(&r, &m.t, ladder, 3);
	CHECK_EQ_INT(r.state, READY);
	CHECK_EQ_U64(r.rung, 0);
	CHECK_EQ_U64(r.missing.len, 0);
	CHECK(ready_refuse(&r, "x", &err));
	ready_done(&r);
	machine_guest(&m, V2, "Amazon EC2", "c8g.4xlarge", 2);
	ready_judge(&r, &m.t, ladder, 3);
	CHECK_EQ_INT(r.state, READY_WEAKER);
	CHECK_EQ_U64(r.rung, 1);
	CHECK_EQ_U64(r.missing.len, 1);
	CHECK_EQ_STR(r.missing.at[0].need, "spe");
	ready_done(&r);
	machine_x86_guest(&m);
	ready_judge(&r, &m.t, ladder, 3);
	CHECK_EQ_U64(r.rung, 2);
	CHECK_EQ_STR(r.missing.at[1].need, "cycles");
	ready_done(&r);
	ready_judge(&r, &m.t, NULL, 0);
	CHECK_EQ_INT(r.state, READY);
	ready_done(&r);
}

/* The id and the remedy are those of the nearest rung, which is the last. */
TEST(judge_blocked)
{
	struct machine m;
	struct ready r;
	struct err err;

	machine_x86_guest(&m);
	ready_judge(&r, &m.t, ladder, 2);
	CHECK_EQ_INT(r.state, READY_BLOCKED);
	CHECK_EQ_U64(r.rung, 2);
	CHECK_EQ_U64(r.missing.len, 2);
	CHECK(!ready_refuse(&r, "memory_access", &err));
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_EQ_STR(err.id, "NO_PMU");
	CHECK_HAS(err.text,
		  "recipe memory_access cannot run on this machine: this machine shows no");
	CHECK_HAS(err.hint, "pmu=on");
	ready_done(&r);
}
