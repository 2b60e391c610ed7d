/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of remote/ share. */
#ifndef CULPRIT_REMOTE_PARTS_H
#define CULPRIT_REMOTE_PARTS_H

#include <sys/types.h>

#include "remote/remote.h"

struct remote {
	pid_t pid; /* of the agent or of what carries it; 0 once reaped */
	int down, up;
	struct wire wire;
	bool dead; /* the talk broke; nothing more can be asked */
};

ERR_CHECKED bool remote_hello(struct remote *r, struct err *err);
/* Why the other side closed, as far as its exit status tells. */
void remote_explain_death(struct remote *r, struct err *err);

#endif
