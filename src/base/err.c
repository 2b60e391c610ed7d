/* SPDX-License-Identifier: Apache-2.0 */
/* Fills, wraps and names error values. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A cut text ends in "..." so that it never looks whole. */
static void put(char *to, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(to, size, fmt, ap);

	if (n >= 0 && (size_t)n >= size)
		memcpy(to + size - 4, "...", 4);
}

bool err_set(struct err *err, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	*err = (struct err){ .kind = kind };
	va_start(ap, fmt);
	put(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return false;
}

bool err_sys(struct err *err, int errnum, const char *fmt, ...)
{
	va_list ap;
	size_t len;
	char reason[96];

	*err = (struct err){ .kind = ERR_SYSTEM, .sys_errno = errnum };
	va_start(ap, fmt);
	put(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s",
		 strerror_r(errnum, reason, sizeof(reason)));
	return false;
}

bool err_refuse(struct err *err, const char *id, const char *fmt, ...)
{
	va_list ap;

	*err = (struct err){ .kind = ERR_REFUSED };
	snprintf(err->id, sizeof(err->id), "%s", id);
	va_start(ap, fmt);
	put(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	return false;
}

bool err_wrap(struct err *err, const char *fmt, ...)
{
	char old[sizeof(err->text)];
	va_list ap;
	size_t len;

	memcpy(old, err->text, sizeof(old));
	va_start(ap, fmt);
	put(err->text, sizeof(err->text), fmt, ap);
	va_end(ap);
	len = strlen(err->text);
	snprintf(err->text + len, sizeof(err->text) - len, ": %s", old);
	return false;
}

bool err_hint(struct err *err, const char *fmt, ...)
{
	va_list ap;

	if (err->hint[0])
		return false;
	va_start(ap, fmt);
	put(err->hint, sizeof(err->hint), fmt, ap);
	va_end(ap);
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
