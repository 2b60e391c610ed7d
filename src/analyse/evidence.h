/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a result may be trusted: one table of rules (DESIGN.md section 5), applied per level.
 * Solid: at least 1,000 samples, less than 1 % lost, less than 5 % unnamed. Weak: from 100
 * samples. Below that: unusable. A partial recording is weak at best, whether the file is damaged
 * or the recording ended early. So is one by a timer of more than 10,000 Hz, which slows what it
 * measures, and one by a timer whose samples come to less than 75 % of the CPU time that the
 * workload took: what lives shorter than a sampling period escapes. The instruction level is
 * never solid without SPE or a skid calibration. The call path level is weak when more than 20 % of
 * the weight is in call chains that do not reach the start of a thread or program; it does not
 * apply without call chains. Zero samples is a failure, not a verdict.
 */
#ifndef CULPRIT_ANALYSE_EVIDENCE_H
#define CULPRIT_ANALYSE_EVIDENCE_H

#include "analyse/hotspots.h"
#include "base/mem.h"

enum verdict { VERDICT_SOLID, VERDICT_WEAK, VERDICT_UNUSABLE, VERDICT_NOT_APPLICABLE };
const char *verdict_name(enum verdict v);

struct evidence_level {
	const char *level; /* "function", "line", "instruction", "call path" */
	enum verdict verdict;
	const char *why; /* the rule that lowered it, "" when solid; in the arena */
};

struct evidence {
	enum verdict verdict; /* of the function level: what the whole result is worth */
	struct evidence_level levels[4];
	uint64_t samples; /* without idle; of the event that is analysed, like all but lost */
	uint64_t idle, lost, throttled, unnamed, kernel;
	/* What they weigh (hotspots.h): a share of the event is a part of weight. */
	uint64_t weight, idle_weight, unnamed_weight, kernel_weight;
	double lost_pct;    /* of samples + lost; NaN when that is 0 */
	double unnamed_pct; /* of weight; NaN when that is 0 */
	/*
	 * Of samples and weight, those whose call chain reaches the start of a thread or program.
	 * Meaningless without chains: none were recorded, or copies of the stack in their place.
	 */
	uint64_t started, started_weight;
	bool has_chains;
	const char *source; /* event name and the level that was sampled alone, "cpu-clock:u" */
	const char *rings;  /* "all", "user", "kernel": the privilege levels that were sampled */
	bool is_timer;	    /* a clock, whose periods are nanoseconds */
	bool is_frequency;
	uint64_t rate;
	uint64_t final_hz;    /* at the end: less than rate when it was lowered; 0 when not known */
	uint64_t duration_ns; /* first to last sample */
	bool partial;
	const char *partial_why;  /* "" when complete */
	const char *other_events; /* what else was sampled and is left out, as a note; or NULL */
	const char *line; /* one line of text, as DESIGN.md section 5 shows it, without verdict */
	struct arena arena;
};

/* How the recording went, as far as the capture itself does not tell. */
struct evidence_recording {
	const char *partial_why; /* why it is not complete ("" when nobody said); NULL when it is */
	uint64_t final_hz;	 /* rate at the end; 0 when not known */
	/* CPU time of a command that was sampled from its start to its end; 0 when not known. */
	uint64_t workload_cpu_ns;
};

/*
 * What so many samples alone allow. needed: how many the next better verdict takes, 0 for the best.
 */
enum verdict evidence_of_samples(uint64_t samples, uint64_t *needed);

/* recording may be NULL: nothing is known. */
void evidence_compute(struct evidence *e, const struct model *m, const struct hotspots *h,
		      const struct evidence_recording *recording);
void evidence_done(struct evidence *e);

#endif
