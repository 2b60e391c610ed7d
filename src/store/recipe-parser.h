/* SPDX-License-Identifier: Apache-2.0 */
/* The state of recipe parsing, shared by its driver and the words of the format. */
#ifndef CULPRIT_STORE_RECIPE_PARSER_H
#define CULPRIT_STORE_RECIPE_PARSER_H

#include "store/recipe.h"

/* Sections, as bits so that a keyword can say where it may stand. */
enum section { IN_HEAD = 1, IN_TABLE = 2, IN_FINDING = 4, IN_STOP = 8, IN_RUNG = 16 };

struct parser {
	struct recipe *r;
	struct str rest;
	unsigned int line;
	enum section section;
	VEC(struct recipe_option) options;
	VEC(struct recipe_rung) rungs;
	VEC(struct recipe_table) tables;
	VEC(struct recipe_finding) findings;
	VEC(struct recipe_stop) stops;
	VEC(struct column) columns; /* of the open table */
	struct err *err;
};

/* ERR_FORMAT with file and line in front. */
bool parser_fault_at(const struct parser *p, unsigned int line, const char *fmt, ...)
	ERR_PRINTF(3, 4);
#define parser_fault(p, ...) parser_fault_at(p, (p)->line, __VA_ARGS__)

struct keyword {
	const char *name;
	int sections; /* where it may stand; 0: starts a section */
	bool (*parse)(struct parser *p, struct str args);
};
/* Ended by a NULL name. */
extern const struct keyword recipe_keywords[];

#endif
