/* SPDX-License-Identifier: Apache-2.0 */
/* Checked fields of the key-value bodies of job.h. Private to wire/. */
#ifndef CULPRIT_WIRE_JOB_TEXT_H
#define CULPRIT_WIRE_JOB_TEXT_H

#include "base/err.h"
#include "base/str.h"

/* A number that must be there and not above most; ERR_FORMAT naming the body and the key. */
ERR_CHECKED bool job_text_u64(uint64_t *out, const struct kv *kv, const char *what, const char *key,
			      uint64_t most, struct err *err);
/* One of count words, as its index. */
ERR_CHECKED bool job_text_word(uint64_t *out, const struct kv *kv, const char *what,
			       const char *key, const char *const *words, size_t count,
			       struct err *err);
void job_text_put_hex(struct buf *out, const char *key, const void *bytes, size_t len);
/* Pairs of hexadecimal digits, added to out. False when they are not. */
bool job_text_hex(struct buf *out, struct str text);

#endif
