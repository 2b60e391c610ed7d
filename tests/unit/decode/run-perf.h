/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the perf of this machine as a second opinion. */
#ifndef RUN_PERF_H
#define RUN_PERF_H

#include "base/mem.h"

/* Skips the test when there is no perf that can be asked. */
void perf_needed(void);
/* Adds the standard output; anything on standard error or a failure ends the test. */
void perf_run(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* How often needle occurs in text. */
size_t count_of(const char *text, const char *needle);

#endif
