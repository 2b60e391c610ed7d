/* SPDX-License-Identifier: Apache-2.0 */
/* A findings tree made by hand, with everything that makes rendering hard. */
#ifndef TEST_RENDER_SAMPLE_H
#define TEST_RENDER_SAMPLE_H

#include "render/render.h"

/* A full result: five tables, a tree, cuts, nulls with reasons, findings, notes, cost. */
struct findings *sample_full(void);
/* Twelve threads whose names hold blanks, control bytes, bad UTF-8, markup, nothing. */
struct findings *sample_names(void);
enum { HOSTILE_NAMES = 13 };
extern const char *const hostile_names[HOSTILE_NAMES];

/*
 * Compares text with tests/unit/render/golden/NAME. With CULPRIT_BLESS=1 in the environment the
 * file is written instead: CULPRIT_BLESS=1 build/tests/unit/render/test-render golden
 */
void check_golden(struct buf *text, const char *name);

#endif
