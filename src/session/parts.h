/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of session/ share among themselves. */
#ifndef CULPRIT_SESSION_PARTS_H
#define CULPRIT_SESSION_PARTS_H

#include "session/session.h"

struct session *session_new(const char *home, const char *id, const char *dir);
/* Reads manifest.json of s->dir. */
ERR_CHECKED bool session_load(struct session *s, struct err *err);

#endif
