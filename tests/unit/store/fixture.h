/* SPDX-License-Identifier: Apache-2.0 */
/* A small run made by hand: 1,000 samples of "app" in two threads, and 500 idle ones. */
#ifndef TEST_STORE_FIXTURE_H
#define TEST_STORE_FIXTURE_H

#include "store/recipe.h"

struct fixture {
	struct model m;
	struct symbols s;
	struct hotspots h;
	struct evidence e;
	struct session session;
	struct store_input in;
};

/*
 * main (line 30) calls chase (lines 10, 11), setup, which has mix (line 5) inlined, and a function
 * of libz without a name. Samples: chase 900, mix 60, unknown 40; thread 101 has 300 of chase. Each
 * has a period of 10.
 */
void fixture_init(struct fixture *f);
void fixture_done(struct fixture *f);
/* A run.db of it in memory; ends the test on an error. */
struct store *fixture_store(struct fixture *f);
/* The one number or text that a query gives. */
int64_t ask_number(struct store *s, const char *sql);
char *ask_text(struct store *s, const char *sql); /* caller frees; "NULL" for none */
/* The built-in recipe run with settings "a=b", NULL-terminated list; ends the test on an error. */
struct findings *run_hotspots(struct store *s, const char *const *settings);
const struct table *table_named(const struct findings *f, const char *id);
const struct cell *cell_named(const struct table *t, size_t row, const char *column);
/* The finding, or NULL. */
const struct finding *finding_named(const struct findings *f, const char *id);

#endif
