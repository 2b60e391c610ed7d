/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The error value. A call that can fail returns bool and takes a struct err * last; false means
 * that the error is filled in and that no other output was touched. Nothing here allocates.
 *
 * Whoever first knows the cause sets the error and names the object (file and byte offset, event,
 * pid, address). A caller that adds meaning wraps one step in front. Only front/ prints.
 */
#ifndef CULPRIT_BASE_ERR_H
#define CULPRIT_BASE_ERR_H

#include <stdbool.h>

/* The kind decides the exit code (docs/errors.md): usage 2, refused 4, all others 1. */
enum err_kind {
	ERR_NONE,
	ERR_USAGE,	 /* the user's words are off */
	ERR_NOT_FOUND,	 /* a named thing does not exist */
	ERR_REFUSED,	 /* the target cannot or does not allow it; id says why */
	ERR_UNSUPPORTED, /* valid, but this version cannot do it */
	ERR_FORMAT,	 /* bytes that are not what they claim to be */
	ERR_SYSTEM,	 /* a system call failed; sys_errno says how */
	ERR_LIMIT,	 /* a ceiling of ours was hit */
	ERR_INTERNAL,	 /* our own mistake */
};

struct err {
	enum err_kind kind;
	int sys_errno;	/* 0 unless a system call is the cause */
	char id[40];	/* stable upper-case name such as PERF_EVENT_PARANOID, or "" */
	char text[480]; /* one sentence without a full stop at the end */
	char hint[400]; /* what to try, or "" */
};

#define ERR_CHECKED __attribute__((warn_unused_result))
#define ERR_PRINTF(f, a) __attribute__((format(printf, f, a)))

/* All of these return false, so that a caller can write: return err_set(err, ...). */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...) ERR_PRINTF(3, 4);
/* ERR_SYSTEM, with ": " and the text of errnum behind the sentence. */
bool err_sys(struct err *err, int errnum, const char *fmt, ...) ERR_PRINTF(3, 4);
/* ERR_REFUSED with a stable id. */
bool err_refuse(struct err *err, const char *id, const char *fmt, ...) ERR_PRINTF(3, 4);
/* Puts "<step>: " in front of the text; keeps kind, errno, id and hint. */
bool err_wrap(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Sets the hint unless one is there already. */
bool err_hint(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3);
/* Sets the hint whatever was there; the old one may be among the arguments. */
bool err_rehint(struct err *err, const char *fmt, ...) ERR_PRINTF(2, 3);
/* The stable id to show for it: err->id, or a name made from the kind ("FORMAT", "SYSTEM", ...). */
const char *err_id(const struct err *err);

#endif
