/* SPDX-License-Identifier: Apache-2.0 */
/* Fills, wraps and names error values. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * Puts text at to + at, in size bytes in total. A cut text ends in "..." so that it never looks
 * whole, and no character of several bytes is cut in half.
 */
static __attribute__((format(printf, 4, 0))) void put(char *to, size_t size, size_t at,
						      const char *fmt, va_list ap)
{
	int n = vsnprintf(to + at, size - at, fmt, ap);
	size_t end = size - 4;

	if (n < 0)
		to[at] = 0;
	if (n < 0 || (size_t)n < size - at)
		return;
	while (end > 0 && (to[end] & 0xc0) == 0x80)
		end--;
	memcpy(to + end, "...", 4);
}

static ERR_PRINTF(3, 4) void add(char *to, size_t size, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	put(to, size, strlen(to), fmt, ap);
	va_end(ap);
}

/* Arguments may point into the old error, so the new one is made beside it. */
bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	struct err e = { .kind = kind };
	va_list ap;

	va_start(ap, fmt);
	put(e.text, sizeof(e.text), 0, fmt, ap);
	va_end(ap);
	*err = e;
	return false;
}

bool err_sys(struct err *err, int errnum, const char *fmt, ...)
{
	struct err e = { .kind = ERR_SYSTEM, .sys_errno = errnum };
	char reason[96];
	va_list ap;

	va_start(ap, fmt);
	put(e.text, sizeof(e.text), 0, fmt, ap);
	va_end(ap);
	add(e.text, sizeof(e.text), ": %s", strerror_r(errnum, reason, sizeof(reason)));
	*err = e;
	return false;
}

bool err_refuse(struct err *err, const char *id, const char *fmt, ...)
{
	struct err e = { .kind = ERR_REFUSED };
	va_list ap;

	snprintf(e.id, sizeof(e.id), "%s", id);
	va_start(ap, fmt);
	put(e.text, sizeof(e.text), 0, fmt, ap);
	va_end(ap);
	*err = e;
	return false;
}

bool err_wrap(struct err *err, const char *fmt, ...)
{
	char text[sizeof(err->text)];
	va_list ap;

	va_start(ap, fmt);
	put(text, sizeof(text), 0, fmt, ap);
	va_end(ap);
	add(text, sizeof(text), ": %s", err->text);
	memcpy(err->text, text, sizeof(text));
	return false;
}

bool err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;

	if (err->hint[0])
		return false;
	va_start(ap, fmt);
	put(err->hint, sizeof(err->hint), 0, fmt, ap);
	va_end(ap);
	return false;
}

bool err_rehint(struct err *err, const char *fmt, ...)
{
	char hint[sizeof(err->hint)];
	va_list ap;

	va_start(ap, fmt);
	put(hint, sizeof(hint), 0, fmt, ap);
	va_end(ap);
	memcpy(err->hint, hint, sizeof(hint));
	return false;
}

const char *err_id(const struct err *err)
{
	static const char *const names[] = {
		[ERR_NONE] = "NONE",
		[ERR_USAGE] = "USAGE",
		[ERR_NOT_FOUND] = "NOT_FOUND",
		[ERR_REFUSED] = "REFUSED",
		[ERR_UNSUPPORTED] = "UNSUPPORTED",
		[ERR_FORMAT] = "FORMAT",
		[ERR_SYSTEM] = "SYSTEM",
		[ERR_LIMIT] = "LIMIT",
		[ERR_INTERNAL] = "INTERNAL",
	};

	return err->id[0] ? err->id : names[err->kind];
}
