/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.db and the recipes that read it. Schema: docs/run-db.md. Tables are private; views named
 * v1_* are the public, versioned schema. run.db can always be made again from the rest of a run.
 */
#ifndef CULPRIT_STORE_STORE_H
#define CULPRIT_STORE_STORE_H

#include "analyse/analyse.h"
#include "base/err.h"
#include "session/session.h"
#include "store/findings.h"
#include "store/functions.h"

struct store; /* an open run.db */

struct store_input {
	const struct session *session; /* NULL for a bare perf.data file */
	const struct model *model;
	const struct symbols *symbols;
	const struct hotspots *hotspots;
	const struct evidence *evidence;
	const char *source_name; /* shown when there is no session */
};

/* Makes path anew (NULL: in memory) and fills it. */
ERR_CHECKED bool store_build(struct store **out, const char *path, const struct store_input *in,
			     struct err *err);
/* Opens read-only. ERR_NOT_FOUND when missing, ERR_FORMAT when damaged or of another version. */
ERR_CHECKED bool store_open(struct store **out, const char *path, struct err *err);
void store_close(struct store *s);

/* A way to answer a recipe's question, and what it needs of a machine (docs/check.md). */
struct recipe_rung {
	const char *name, *text;
	const char *const *needs;
	size_t need_count;
	unsigned int line;
};

/* A recipe, built in or the user's. A planned one has a question and rungs, and no answer yet. */
struct recipe {
	const char *name, *question, *summary, *source; /* source: "built-in" or a path */
	struct str text; /* as it was read: a pipe cannot be read again */
	bool planned;
	struct recipe_rung *rungs; /* best first; none: it needs nothing of a machine */
	size_t rung_count;
	struct recipe_option {
		const char *name, *value, *help; /* default value; "" for none */
		enum recipe_option_kind {
			OPTION_TEXT,
			OPTION_COUNT,
			OPTION_PCT,
			OPTION_NUMBER,
		} kind;
	} * options;
	size_t option_count;
	struct recipe_table *tables;
	size_t table_count;
	struct recipe_finding *findings;
	size_t finding_count;
	struct recipe_stop *stops; /* conditions under which it has no answer */
	size_t stop_count;
	struct arena arena;
};

/* By name among the built-in ones, or a path with '/' or ending in ".recipe". */
ERR_CHECKED bool recipe_load(struct recipe **out, const char *name, struct err *err);
/* Parses text; errors name file and line. */
ERR_CHECKED bool recipe_parse(struct recipe **out, const char *source, struct str text,
			      struct err *err);
/* The text of a built-in recipe, or of the user's file. */
ERR_CHECKED bool recipe_text(const char *name, struct buf *out, struct err *err);
void recipe_free(struct recipe *r);
/* Names of the built-in recipes, NULL-terminated. */
const char *const *recipe_names(void);
/* Compiles all of its SQL against an empty run.db: errors name file and line. */
ERR_CHECKED bool recipe_check(const struct recipe *r, struct err *err);

struct recipe_setting {
	const char *name, *value;
};
/*
 * Runs the recipe's SQL with these settings (unknown ones are ERR_USAGE). Zero rows in a required
 * table is ERR_FORMAT with id NO_SAMPLES; a planned recipe is ERR_UNSUPPORTED with id NOT_BUILT_YET.
 * The queries can read the v1_ views and nothing else.
 */
ERR_CHECKED bool recipe_run(struct findings **out, const struct recipe *r, struct store *s,
			    const struct recipe_setting *settings, size_t count, struct err *err);

/* What a listing is made of; all of it is copied. */
struct listing_input {
	const struct store_functions *all;
	const struct store_function *function;
	const struct annotation *annotation;
	const struct code *code; /* NULL: it could not be had, and code_why says why */
	const char *code_why;
	const char *syntax; /* "" without code */
	struct sources *sources;
};
/* Head and listing; notes on what the listing rests on come with it. */
ERR_CHECKED bool store_listing(struct findings **out, struct store *s,
			       const struct listing_input *in, struct err *err);

/* Read-only SQL with a progress limit; the result as a table named "query". */
ERR_CHECKED bool store_query(struct findings **out, struct store *s, const char *sql,
			     struct err *err);

#endif
