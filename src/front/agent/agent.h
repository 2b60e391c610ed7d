/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the talk that wire/wire.h draws. */
#ifndef CULPRIT_FRONT_AGENT_AGENT_H
#define CULPRIT_FRONT_AGENT_AGENT_H

/*
 * Answers frames until BYE or the end of file; the exit status. Descriptors 3, 4 and 5, where they
 * are open, are the workload's stdin, stdout and stderr.
 */
int agent_serve(int in, int out);

#endif
