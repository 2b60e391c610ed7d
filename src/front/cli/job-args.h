/* SPDX-License-Identifier: Apache-2.0 */
/* Options to a capture job. */
#ifndef CULPRIT_FRONT_CLI_JOB_ARGS_H
#define CULPRIT_FRONT_CLI_JOB_ARGS_H

#include "front/cli/cli.h"
#include "wire/wire.h"

/* Strings are borrowed from args and the arena. ERR_USAGE says what is wrong with which option. */
ERR_CHECKED bool job_from_args(struct job *job, const struct args *args, struct arena *a,
			       struct err *err);
/* The settings as key-value text for the manifest. */
void job_put_options(const struct job *job, const struct args *args, struct buf *out);

#endif
