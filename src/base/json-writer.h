/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON, comma and indentation included. Objects and lists that are opened flat stay on one
 * line. key is NULL inside lists. Always valid UTF-8: bytes that are not become U+FFFD.
 */
#ifndef CULPRIT_BASE_JSON_WRITER_H
#define CULPRIT_BASE_JSON_WRITER_H

#include "base/mem.h"
#include "base/str.h"

struct jw {
	struct buf *out;
	unsigned int depth, flat; /* flat: the depth from which all is on one line, 0 for none */
	bool comma;
};

enum json_shape { JSON_LINES, JSON_FLAT };

void jw_open(struct jw *j, const char *key, char bracket, enum json_shape shape);
void jw_close(struct jw *j, char bracket);
void jw_text(struct jw *j, const char *key, struct str value);
void jw_string(struct jw *j, const char *key, const char *value); /* NULL as null */
void jw_integer(struct jw *j, const char *key, int64_t value);
/* decimals >= 0: fixed, without trailing zeros; < 0: what reads back as the same value. */
void jw_real(struct jw *j, const char *key, double value, int decimals);
void jw_boolean(struct jw *j, const char *key, bool value);
void jw_null(struct jw *j, const char *key);

/* The number as text, with a point whatever the locale; "" when it is not finite. */
void jw_format_real(char *to, size_t size, double value, int decimals);

#endif
