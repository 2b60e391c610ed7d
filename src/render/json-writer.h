/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes JSON, comma and indentation included. Objects and lists that are opened flat stay on one
 * line. key is NULL inside lists. Always valid UTF-8: bytes that are not become U+FFFD.
 */
#ifndef CULPRIT_RENDER_JSON_WRITER_H
#define CULPRIT_RENDER_JSON_WRITER_H

#include "base/mem.h"
#include "base/str.h"

struct json {
	struct buf *out;
	unsigned int depth, flat; /* flat: the depth from which all is on one line, 0 for none */
	bool comma;
};

enum json_shape { JSON_LINES, JSON_FLAT };

void json_open(struct json *j, const char *key, char bracket, enum json_shape shape);
void json_close(struct json *j, char bracket);
void json_text(struct json *j, const char *key, struct str value);
void json_string(struct json *j, const char *key, const char *value); /* NULL as null */
void json_integer(struct json *j, const char *key, int64_t value);
/* decimals >= 0: fixed, without trailing zeros; < 0: what reads back as the same value. */
void json_real(struct json *j, const char *key, double value, int decimals);
void json_boolean(struct json *j, const char *key, bool value);
void json_null(struct json *j, const char *key);

/* The number as text, with a point whatever the locale; "" when it is not finite. */
void json_format_real(char *to, size_t size, double value, int decimals);

#endif
