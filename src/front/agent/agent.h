/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the talk that wire/wire.h draws. */
#ifndef CULPRIT_FRONT_AGENT_AGENT_H
#define CULPRIT_FRONT_AGENT_AGENT_H

/*
 * Answers frames until BYE or the end of file; the exit status. stdio: the workload's stdin, stdout
 * and stderr, -1 where it has none. They become close-on-exec; all other descriptors that were open
 * before are the user's and reach the workload under their numbers.
 */
int agent_serve(int in, int out, const int stdio[3]);

#endif
