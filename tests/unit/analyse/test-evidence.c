/* SPDX-License-Identifier: Apache-2.0 */
/* The table of verdicts, each rule on both sides of its limit, and the line of text. */
#include "analyse/evidence.h"

#include <math.h>

#include "profile.h"
#include "test.h"

/* A recording to be judged: samples with a line, without one, and in unknown code. */
struct judged {
	uint64_t named, lineless, unnamed, idle, lost, throttled;
	const char *partial; /* what the file shows */
	struct evidence_recording recording;
	struct profile p;
	struct hotspots h;
	struct evidence e;
};

static void judge(struct judged *j)
{
	profile_init(&j->p);
	if (j->named)
		profile_add(&j->p, "main:1 hot:5", j->named);
	if (j->lineless)
		profile_add(&j->p, "main:1 cold", j->lineless);
	if (j->unnamed)
		profile_add(&j->p, "main:1 ?", j->unnamed);
	if (j->idle)
		profile_add_idle(&j->p, "idle:1", j->idle);
	j->p.m.lost = j->lost;
	j->p.m.throttled = j->throttled;
	j->p.m.first_ns = 1000;
	j->p.m.last_ns = 5000001000;
	j->p.m.partial = j->partial;
	if (j->partial)
		vec_add(&j->p.m.notes, j->partial);
	hotspots_compute(&j->h, &j->p.m, &j->p.s);
	evidence_compute(&j->e, &j->p.m, &j->h, &j->recording);
}

static void release(struct judged *j)
{
	evidence_done(&j->e);
	hotspots_done(&j->h);
	profile_done(&j->p);
}

static void check(struct judged j, enum verdict function, const char *function_why,
		  enum verdict line, const char *line_why)
{
	judge(&j);
	CHECK_EQ_STR(j.e.levels[0].level, "function");
	CHECK_EQ_STR(j.e.levels[0].why, function_why);
	CHECK_EQ_STR(verdict_name(j.e.levels[0].verdict), verdict_name(function));
	CHECK_EQ_STR(j.e.levels[1].level, "line");
	CHECK_EQ_STR(j.e.levels[1].why, line_why);
	CHECK_EQ_STR(verdict_name(j.e.levels[1].verdict), verdict_name(line));
	CHECK_EQ_INT(j.e.verdict, function);
	/* Without SPE and without calibration no instruction is sure. */
	CHECK_EQ_STR(j.e.levels[2].level, "instruction");
	CHECK(j.e.levels[2].verdict >= VERDICT_WEAK);
	CHECK_HAS(j.e.levels[2].why,
		  "samples are late by an unknown distance: skid is not calibrated");
	release(&j);
}

TEST(number_of_samples)
{
	static const char few[] = "99 samples, a usable result needs 100";
	static const char some[] = "999 samples, a solid result needs 1,000";

	check((struct judged){ .named = 1000 }, VERDICT_SOLID, "", VERDICT_SOLID, "");
	check((struct judged){ .named = 999 }, VERDICT_WEAK, some, VERDICT_WEAK, some);
	check((struct judged){ .named = 100 }, VERDICT_WEAK,
	      "100 samples, a solid result needs 1,000", VERDICT_WEAK,
	      "100 samples, a solid result needs 1,000");
	check((struct judged){ .named = 99 }, VERDICT_UNUSABLE, few, VERDICT_UNUSABLE, few);
	/* Idle does not make a result any better. */
	check((struct judged){ .named = 99, .idle = 100000 }, VERDICT_UNUSABLE, few,
	      VERDICT_UNUSABLE, few);
}

TEST(lost_samples)
{
	static const char why[] = "1 % of samples lost, a solid result allows less than 1 %";
	static const char more[] = "33.3 % of samples lost, a solid result allows less than 1 %";

	/* 100 of 10,000 are 1 %, 99 of 9,999 are just less. */
	check((struct judged){ .named = 9900, .lost = 99 }, VERDICT_SOLID, "", VERDICT_SOLID, "");
	check((struct judged){ .named = 9900, .lost = 100 }, VERDICT_WEAK, why, VERDICT_WEAK, why);
	check((struct judged){ .named = 2000, .lost = 1000 }, VERDICT_WEAK, more, VERDICT_WEAK,
	      more);
}

TEST(unnamed_samples_lower_functions)
{
	check((struct judged){ .named = 9501, .unnamed = 499 }, VERDICT_SOLID, "", VERDICT_SOLID,
	      "");
	check((struct judged){ .named = 9500, .unnamed = 500 }, VERDICT_WEAK,
	      "5 % in no named function, a solid result allows less than 5 %", VERDICT_WEAK,
	      "5 % without a line, a solid result allows less than 5 %");
}

TEST(samples_without_lines_lower_lines)
{
	check((struct judged){ .named = 9501, .lineless = 499 }, VERDICT_SOLID, "", VERDICT_SOLID,
	      "");
	check((struct judged){ .named = 8750, .lineless = 1250 }, VERDICT_SOLID, "", VERDICT_WEAK,
	      "12.5 % without a line, a solid result allows less than 5 %");
	check((struct judged){ .lineless = 2000 }, VERDICT_SOLID, "", VERDICT_UNUSABLE,
	      "100 % without a line");
}

TEST(partial_recording)
{
	static const char why[] = "the recording is partial: x.data is damaged at offset 4096";

	check((struct judged){ .named = 5000, .partial = "x.data is damaged at offset 4096" },
	      VERDICT_WEAK, why, VERDICT_WEAK, why);
}

TEST(all_reasons_are_told)
{
	check((struct judged){ .named = 40, .unnamed = 10, .lost = 50, .partial = "cut" },
	      VERDICT_UNUSABLE,
	      "50 samples, a usable result needs 100; "
	      "50 % of samples lost, a solid result allows less than 1 %; "
	      "20 % in no named function, a solid result allows less than 5 %; "
	      "the recording is partial: cut",
	      VERDICT_UNUSABLE,
	      "50 samples, a usable result needs 100; "
	      "50 % of samples lost, a solid result allows less than 1 %; "
	      "20 % without a line, a solid result allows less than 5 %; "
	      "the recording is partial: cut");
}

/* No denominator, no share. */
TEST(no_samples)
{
	struct judged j = { 0 };

	judge(&j);
	CHECK(isnan(j.e.lost_pct));
	CHECK(isnan(j.e.unnamed_pct));
	CHECK_EQ_INT(j.e.verdict, VERDICT_UNUSABLE);
	CHECK_EQ_STR(j.e.levels[0].why, "0 samples, a usable result needs 100");
	CHECK_EQ_STR(j.e.line,
		     "cpu-clock 3997 Hz, 0 samples, 0 lost, as observed (skid not corrected)");
	release(&j);
}

TEST(all_lost)
{
	struct judged j = { .lost = 12345 };

	judge(&j);
	CHECK_EQ_INT(j.e.lost_pct, 100);
	CHECK(isnan(j.e.unnamed_pct));
	CHECK_EQ_STR(j.e.line, "cpu-clock 3997 Hz, 0 samples, 12,345 lost (100.0 %), "
			       "as observed (skid not corrected)");
	release(&j);
}

TEST(line_of_text)
{
	struct judged j = { .named = 20113 };

	judge(&j);
	CHECK_EQ_STR(j.e.line,
		     "cpu-clock 3997 Hz, 20,113 samples, 0 lost, as observed (skid not corrected)");
	CHECK_EQ_STR(j.e.source, "cpu-clock");
	CHECK(!j.e.other_events);
	CHECK(j.e.is_frequency);
	CHECK_EQ_U64(j.e.rate, 3997);
	CHECK_EQ_U64(j.e.duration_ns, 5000000000);
	release(&j);
}

TEST(line_of_text_with_everything)
{
	struct judged j = { .named = 1234567, .idle = 4000, .lost = 1000, .throttled = 3 };

	judge(&j);
	CHECK_EQ_U64(j.e.samples, 1234567);
	CHECK_EQ_U64(j.e.idle, 4000);
	CHECK_EQ_STR(j.e.line, "cpu-clock 3997 Hz, 1,234,567 samples, 4,000 idle left out, "
			       "1,000 lost (0.08 %), throttled 3 times, "
			       "as observed (skid not corrected)");
	release(&j);
}

/* A recording that was cut short is never solid, at any level, though the file is sound. */
TEST(recording_that_ended_early)
{
	static const char why[] = "the recording is partial: interrupted by a signal";
	static const char bare[] = "the recording is partial";
	static const char damaged[] = "the recording is partial: x.data is cut";

	check((struct judged){ .named = 5000, .recording.partial_why = "interrupted by a signal" },
	      VERDICT_WEAK, why, VERDICT_WEAK, why);
	check((struct judged){ .named = 5000,
			       .partial = "x.data is cut",
			       .recording.partial_why = "interrupted by a signal" },
	      VERDICT_WEAK, why, VERDICT_WEAK, why);
	check((struct judged){ .named = 5000, .recording.partial_why = "" }, VERDICT_WEAK, bare,
	      VERDICT_WEAK, bare);
	check((struct judged){ .named = 5000,
			       .partial = "x.data is cut",
			       .recording.partial_why = "" },
	      VERDICT_WEAK, damaged, VERDICT_WEAK, damaged);
}

TEST(partial_is_told_apart)
{
	struct judged j = { .named = 5000, .recording.partial_why = "recording broke off" };

	judge(&j);
	CHECK(j.e.partial);
	CHECK_EQ_STR(j.e.partial_why, "recording broke off");
	CHECK_EQ_STR(verdict_name(j.e.levels[2].verdict), "weak");
	CHECK_HAS(j.e.levels[2].why, "the recording is partial: recording broke off");
	release(&j);
	j = (struct judged){ .named = 5000 };
	judge(&j);
	CHECK(!j.e.partial);
	CHECK_EQ_STR(j.e.partial_why, "");
	release(&j);
}

TEST(lowered_rate_is_in_the_line)
{
	struct judged j = { .named = 5000, .recording.final_hz = 156 };

	judge(&j);
	CHECK_EQ_U64(j.e.final_hz, 156);
	CHECK_EQ_STR(j.e.line, "cpu-clock 3997 -> 156 Hz, 5,000 samples, 0 lost, "
			       "as observed (skid not corrected)");
	release(&j);
	j = (struct judged){ .named = 5000, .recording.final_hz = 3997 };
	judge(&j);
	CHECK_HAS(j.e.line, "cpu-clock 3997 Hz, ");
	release(&j);
}

/* One slow sample in unknown code may be most of the time. */
TEST(unnamed_and_lineless_by_period)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	profile_add_periods(&p, "main:1 hot:5", 0, 1990, 1990000);
	profile_add_periods(&p, "main:1 ?", 0, 10, 10000000);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, NULL);
	CHECK_EQ_U64(e.unnamed, 10);
	CHECK_EQ_U64(e.unnamed_weight, 10000000);
	CHECK_EQ_U64(e.weight, 11990000);
	CHECK_NEAR(e.unnamed_pct, 83.4028, 0.0001);
	CHECK_EQ_STR(e.levels[0].why,
		     "83.4 % in no named function, a solid result allows less than 5 %");
	CHECK_EQ_STR(e.levels[1].why, "83.4 % without a line, a solid result allows less than 5 %");
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

/* The evidence is that of the event in the tables; what is left out is named. */
TEST(evidence_is_of_one_event)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;
	struct evidence_recording recording = { .final_hz = 10 };
	uint32_t cycles;

	profile_init(&p);
	p.m.events.at[0].name = "cache-misses";
	profile_add_event(&p, "dummy:u");
	cycles = profile_add_event(&p, "cycles");
	profile_add_event(&p, "branches");
	profile_add(&p, "main:1", 90000);
	profile_add_periods(&p, "main:2", cycles, 1200, 1200);
	profile_add_periods(&p, "main:3", 3, 1, 1);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, &recording);
	CHECK_EQ_STR(e.source, "cycles");
	CHECK(!e.is_frequency);
	CHECK_EQ_U64(e.rate, 1000003);
	CHECK_EQ_U64(e.final_hz, 0);
	CHECK_EQ_U64(e.samples, 1200);
	CHECK_EQ_STR(e.line, "cycles every 1,000,003 events, 1,200 samples, 0 lost, "
			     "as observed (skid not corrected)");
	CHECK_EQ_STR(e.other_events, "only samples of cycles are analysed; the recording also has "
				     "90,000 of cache-misses, 1 of branches");
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

/* A timer of this rate and samples of this weight against what the workload took. */
static void check_timer(struct model_event event, uint64_t weight, uint64_t workload_cpu_ns,
			const char *why)
{
	struct evidence_recording recording = { .workload_cpu_ns = workload_cpu_ns };
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	event.has_chains = true;
	p.m.events.at[0] = event;
	profile_add_periods(&p, "main:1 hot:5", 0, 2000, weight);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, &recording);
	CHECK_EQ_STR(e.levels[0].why, why);
	CHECK_EQ_INT(e.verdict, *why ? VERDICT_WEAK : VERDICT_SOLID);
	CHECK_EQ_STR(e.levels[3].why, why);
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

TEST(fast_timers_slow_the_program)
{
	static const char why[] = "sampling above 10,000 Hz slows the program itself";

	check_timer(
		(struct model_event){ .name = "cpu-clock", .is_frequency = true, .rate = 10000 }, 1,
		0, "");
	check_timer(
		(struct model_event){ .name = "cpu-clock", .is_frequency = true, .rate = 10001 }, 1,
		0, why);
	check_timer((struct model_event){ .name = "task-clock:u", .rate = 100000 }, 1, 0, "");
	check_timer((struct model_event){ .name = "task-clock:u", .rate = 99999 }, 1, 0, why);
	/* An event is not a time: 99,999 cycles may be any rate. */
	check_timer((struct model_event){ .name = "cycles", .rate = 99999 }, 1, 0, "");
	check_timer((struct model_event){ .name = "cycles", .is_frequency = true, .rate = 20000 },
		    1, 0, "");
}

TEST(samples_cover_the_workload)
{
	static const struct model_event timer = { .name = "cpu-clock",
						  .is_frequency = true,
						  .rate = 3997 };
	static const char why[] =
		"samples account for 25 % of the workload's CPU time: processes that "
		"live shorter than a sampling period escape the timer, and a machine that "
		"cannot keep up loses its ticks";
	struct model_event user = timer, cycles = timer;

	user.exclude_kernel = true;
	cycles.name = "cycles";
	check_timer(timer, 500000000, 2000000000, why);
	check_timer(timer, 1500000000, 2000000000, "");
	check_timer(timer, 1499999999, 2000000000,
		    "samples account for 75.0 % of the workload's CPU time: processes that live "
		    "shorter than a sampling period escape the timer, and a machine that "
		    "cannot keep up loses its ticks");
	check_timer(timer, 500000000, 0, "");
	/* 100 ms are too little to tell. */
	check_timer(timer, 1000000, 100000000, "");
	check_timer(timer, 25000001, 100000004, why);
	/* The CPU time has the kernel in it, and cycles are no nanoseconds. */
	check_timer(user, 500000000, 2000000000, "");
	check_timer(cycles, 500000000, 2000000000, "");
}

static void check_source(const char *name, bool no_user, bool no_kernel, const char *source,
			 const char *rings)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	p.m.events.at[0].name = name;
	p.m.events.at[0].exclude_user = no_user;
	p.m.events.at[0].exclude_kernel = no_kernel;
	profile_add(&p, "main:1", 1000);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, NULL);
	CHECK_EQ_STR(e.source, source);
	CHECK_EQ_STR(e.rings, rings);
	CHECK_MSG(str_starts(e.line, source), "%s begins not with %s", e.line, source);
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

TEST(source_names_the_privilege_level)
{
	check_source("cpu-clock", false, false, "cpu-clock", "all");
	check_source("cpu-clock", false, true, "cpu-clock:u", "user");
	check_source("cpu-clock", true, false, "cpu-clock:k", "kernel");
	check_source("cycles:u", false, true, "cycles:u", "user");
	check_source("cycles:ppp", false, true, "cycles:ppp:u", "user");
	check_source("cpu_core/cycles/", false, true, "cpu_core/cycles/u", "user");
	check_source("cpu_core/cycles/u", false, true, "cpu_core/cycles/u", "user");
	check_source("sched:sched_switch", true, false, "sched:sched_switch:k", "kernel");
}

TEST(periods_have_a_unit)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	p.m.events.at[0].is_frequency = false;
	p.m.events.at[0].rate = 1000000;
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, NULL);
	CHECK_EQ_STR(e.line, "cpu-clock every 1,000,000 ns, 0 samples, 0 lost, "
			     "as observed (skid not corrected)");
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

/* 2,000 samples, this many of them in a chain that begins so; all in the kernel or not. */
static void check_path(const char *stack, uint64_t broken, enum model_image_kind kind,
		       const char *image, enum verdict verdict, const char *why)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	p.m.images.at[0].kind = kind;
	p.m.images.at[0].path = image;
	profile_add(&p, stack, broken);
	if (broken < 2000)
		profile_add(&p, "_start:1 main:2 hot:5", 2000 - broken);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, NULL);
	CHECK_EQ_STR(e.levels[3].level, "call path");
	CHECK_EQ_STR(e.levels[3].why, why);
	CHECK_EQ_STR(verdict_name(e.levels[3].verdict), verdict_name(verdict));
	/* Self is right all the same. */
	CHECK(*e.levels[0].why || e.verdict == VERDICT_SOLID);
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

#define BROKEN(pct)                                                                                 \
	pct " % of the call chains do not reach the start of a thread: code without frame "         \
	    "pointers (-fno-omit-frame-pointer) breaks them; Total, call tree and callers are too " \
	    "low there"

TEST(call_paths_that_break)
{
	check_path("work:1 hot:5", 400, MODEL_IMAGE_FILE, "/bin/app", VERDICT_SOLID, "");
	check_path("work:1 hot:5", 740, MODEL_IMAGE_FILE, "/bin/app", VERDICT_WEAK, BROKEN("37"));
	check_path("hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app", VERDICT_WEAK, BROKEN("100"));
	/* main is a start only where nothing calls it, and not what it calls. */
	check_path("work:1 main:2 hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app", VERDICT_WEAK,
		   BROKEN("100"));
	check_path("main:2 hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app", VERDICT_SOLID, "");
	check_path("__libc_start_main_impl:1 hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app",
		   VERDICT_SOLID, "");
	check_path("start_thread:1 hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app", VERDICT_SOLID, "");
}

TEST(call_paths_of_the_kernel)
{
	check_path("ret_from_fork_asm:1 kworker:2", 2000, MODEL_IMAGE_KERNEL, "[kernel]",
		   VERDICT_SOLID, "");
	check_path("entry_SYSCALL_64_after_hwframe:1 read:2", 2000, MODEL_IMAGE_KERNEL, "[kernel]",
		   VERDICT_SOLID, "");
	check_path("el0t_64_sync:1 read:2", 2000, MODEL_IMAGE_KERNEL, "[kernel]", VERDICT_SOLID,
		   "");
	check_path("?k ?k", 2000, MODEL_IMAGE_KERNEL, "[kernel]", VERDICT_SOLID, "");
	/* A program may call its functions what it likes. */
	check_path("wasm_asm_run:1 hot:5", 2000, MODEL_IMAGE_FILE, "/bin/app", VERDICT_WEAK,
		   BROKEN("100"));
}

/* A stripped C library has no name for what calls main and thread functions. */
TEST(call_paths_into_a_stripped_c_library)
{
	struct profile p;
	struct hotspots h;

	check_path("? main:1", 2000, MODEL_IMAGE_FILE, "/lib/libc.so.6", VERDICT_SOLID, "");
	check_path("? main:1", 2000, MODEL_IMAGE_FILE, "/lib/libcrypto.so.3", VERDICT_WEAK,
		   BROKEN("100"));
	profile_init(&p);
	p.m.images.at[0].path = "/lib/aarch64-linux-gnu/libc-2.31.so";
	profile_add(&p, "?", 30);
	profile_add(&p, "? main:1", 50);
	profile_add(&p, "", 20);
	hotspots_compute(&h, &p.m, &p.s);
	CHECK_EQ_U64(h.all.samples, 100);
	CHECK_EQ_U64(h.started.samples, 50);
	hotspots_done(&h);
	profile_done(&p);
}

static void check_no_path(struct model_event event, const char *why)
{
	struct profile p;
	struct hotspots h;
	struct evidence e;

	profile_init(&p);
	event.name = "cpu-clock";
	p.m.events.at[0] = event;
	profile_add(&p, "hot:5", 2000);
	hotspots_compute(&h, &p.m, &p.s);
	evidence_compute(&e, &p.m, &h, NULL);
	CHECK(!e.has_chains);
	CHECK_EQ_INT(e.verdict, VERDICT_SOLID);
	CHECK_EQ_STR(verdict_name(e.levels[3].verdict), "not applicable");
	CHECK_EQ_STR(e.levels[3].why, why);
	evidence_done(&e);
	hotspots_done(&h);
	profile_done(&p);
}

TEST(call_paths_that_were_not_recorded)
{
	check_no_path((struct model_event){ .rate = 1000000 },
		      "no call chains were recorded: they were not asked for");
	check_no_path((struct model_event){ .has_chains = true, .has_stack_copies = true },
		      "copies of the stack were recorded, which are not unwound");
}
