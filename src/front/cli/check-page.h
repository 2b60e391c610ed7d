/* SPDX-License-Identifier: Apache-2.0 */
/* The page of culprit check on its way: what its files share. */
#ifndef CULPRIT_FRONT_CLI_CHECK_PAGE_H
#define CULPRIT_FRONT_CLI_CHECK_PAGE_H

#include "front/cli/check.h"

struct page {
	struct buf *out;
	const struct check *c;
	struct render_options o;
};

/* A heading, with an empty line above all but the first. */
void page_title(struct page *p, const char *title);
/* Wrapped behind what stands there up to indent; control bytes of the target made visible. */
void page_line(struct page *p, size_t indent, const char *text);
/* check-help.c: what would help, and what to type next. */
void page_help(struct page *p);

#endif
