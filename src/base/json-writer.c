/* SPDX-License-Identifier: Apache-2.0 */
/* Writes JSON value by value. */
#include "base/json-writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_flat(const struct jw *j)
{
	return j->flat && j->depth >= j->flat;
}

static void new_line(struct jw *j)
{
	buf_u8(j->out, '\n');
	for (unsigned int i = 0; i < j->depth; i++)
		buf_puts(j->out, "  ");
}

static void put_key(struct jw *j, const char *key)
{
	if (j->comma)
		buf_puts(j->out, is_flat(j) ? ", " : ",");
	if (j->depth && !is_flat(j))
		new_line(j);
	if (key) {
		buf_u8(j->out, '"');
		str_json(j->out, str_of(key));
		buf_puts(j->out, "\": ");
	}
	j->comma = true;
}

void jw_open(struct jw *j, const char *key, char bracket, enum json_shape shape)
{
	put_key(j, key);
	buf_u8(j->out, (uint8_t)bracket);
	j->depth++;
	if (shape == JSON_FLAT && !j->flat)
		j->flat = j->depth;
	j->comma = false;
}

void jw_close(struct jw *j, char bracket)
{
	bool was_flat = is_flat(j);

	if (j->flat == j->depth)
		j->flat = 0;
	j->depth--;
	if (!was_flat && j->comma)
		new_line(j);
	buf_u8(j->out, (uint8_t)bracket);
	j->comma = true;
}

void jw_text(struct jw *j, const char *key, struct str value)
{
	put_key(j, key);
	buf_u8(j->out, '"');
	str_json(j->out, value);
	buf_u8(j->out, '"');
}

void jw_string(struct jw *j, const char *key, const char *value)
{
	if (value)
		jw_text(j, key, str_of(value));
	else
		jw_null(j, key);
}

void jw_integer(struct jw *j, const char *key, int64_t value)
{
	put_key(j, key);
	buf_printf(j->out, "%lld", (long long)value);
}

static void trim_zeros(char *text)
{
	size_t len = strlen(text);

	if (!strpbrk(text, "."))
		return;
	while (len && text[len - 1] == '0')
		text[--len] = 0;
	if (len && text[len - 1] == '.')
		text[--len] = 0;
}

void jw_format_real(char *to, size_t size, double value, int decimals)
{
	to[0] = 0;
	if (!isfinite(value))
		return;
	if (decimals >= 0) {
		snprintf(to, size, "%.*f", decimals, value);
	} else {
		snprintf(to, size, "%.15g", value);
		if (strtod(to, NULL) != value)
			snprintf(to, size, "%.17g", value);
	}
	for (char *p = to; *p; p++)
		if (*p == ',')
			*p = '.';
	if (decimals > 0)
		trim_zeros(to);
	if (!strcmp(to, "-0"))
		snprintf(to, size, "0");
}

void jw_real(struct jw *j, const char *key, double value, int decimals)
{
	char text[400];

	jw_format_real(text, sizeof(text), value, decimals);
	put_key(j, key);
	buf_puts(j->out, text[0] ? text : "null");
}

void jw_boolean(struct jw *j, const char *key, bool value)
{
	put_key(j, key);
	buf_puts(j->out, value ? "true" : "false");
}

void jw_null(struct jw *j, const char *key)
{
	put_key(j, key);
	buf_puts(j->out, "null");
}
