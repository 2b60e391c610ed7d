/* SPDX-License-Identifier: Apache-2.0 */
/* The way from a target to a report, in steps that commands share. */
#ifndef CULPRIT_FRONT_CLI_PIPELINE_H
#define CULPRIT_FRONT_CLI_PIPELINE_H

#include <signal.h>

#include "front/cli/cli.h"
#include "remote/remote.h"
#include "render/render.h"
#include "session/session.h"
#include "store/store.h"
#include "wire/wire.h"

/* What happened while recording. */
struct recording {
	struct job_started started;
	struct job_finished finished;
	bool has_finished; /* the agent closed the capture properly */
	bool interrupted;  /* by a signal to us */
	bool write_failed; /* disk full and the like: see write_err */
	struct err write_err;
};

/*
 * Runs the job on the agent and writes capture/perf.data (sealed, without features). False: there
 * is nothing worth keeping. Notes of the agent land in s->notes. Blocks until the end; handles
 * SIGINT, SIGTERM, SIGHUP, which must be blocked by the caller (record_block_signals).
 */
ERR_CHECKED bool record_run(const struct args *args, struct remote *r, const struct job *job,
			    struct session *s, struct session_capture *capture,
			    struct recording *rec, struct err *err);
void record_block_signals(sigset_t *old_mask);
/* Back to the mask from before; signals that still wait count as an interruption. */
void record_unblock_signals(const sigset_t *old_mask, struct recording *rec);

/* A recording on its way to findings. Zero-initialised; release with analysis_done. */
struct analysis {
	struct os_map map;
	struct perfdata pd;
	bool has_pd;
	struct model *model;
	struct symbols *symbols;
	struct hotspots hotspots;
	struct evidence evidence;
	struct store *store;
	bool disk_trouble; /* something of the run could not be written */
	uint64_t stage_start_ns;
};
/* Maps path and loads the model. */
ERR_CHECKED bool analysis_load(struct analysis *a, const struct args *args, const char *path,
			       struct err *err);
/* The same for what the user has named, which may be a pipe. */
ERR_CHECKED bool analysis_load_input(struct analysis *a, const struct args *args, const char *path,
				     struct err *err);
/*
 * Fetches the images that samples touched into the run; what is missing is noted in s. A recording
 * of another boot or machine gets only what is proved to be the same: files by build id, and the
 * kernel's symbols when its build id and its place in memory are the recording's.
 */
enum analysis_origin { ANALYSIS_RECORDED_HERE, ANALYSIS_IMPORTED };
void analysis_fetch_images(struct analysis *a, struct remote *r, struct session *s,
			   enum analysis_origin origin);
/* Symbols, hot spots, evidence, run.db (in memory when s is NULL or its disk is full). */
ERR_CHECKED bool analysis_build(struct analysis *a, const struct args *args, struct session *s,
				const char *source_name, struct err *err);
/* run.db as it is, or made again when it is missing, of another version or damaged. */
ERR_CHECKED bool analysis_open(struct analysis *a, const struct args *args, struct session *s,
			       struct err *err);
void analysis_done(struct analysis *a);

/* Runs the recipe and writes the result in the form asked for; gives the exit code. */
int report_findings(const struct args *args, const struct recipe *recipe, struct store *store,
		    const char *run);
/* Writes findings in the form asked for; CLI_SOLID or the failure's code. */
int write_findings(const struct args *args, const struct findings *f);
/* The exit code that the verdict gives. */
int findings_exit(const struct findings *f);
/* Width, colour and characters that the reader of the result can show. */
struct render_options cli_render_options(const struct args *args);

/* After a recipe was not found by name: adds the nearest one to the hint. Always false. */
bool cli_recipe_near(const char *name, struct err *err);
/* Settings of -o as pairs; ERR_USAGE for one without '='. */
struct settings {
	VEC(struct recipe_setting) list;
	struct arena arena;
};
ERR_CHECKED bool settings_read(struct settings *out, const struct args *args, struct err *err);
void settings_done(struct settings *s);

#endif
