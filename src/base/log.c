/* SPDX-License-Identifier: Apache-2.0 */
/* The log, and the one exit for lack of memory. */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char log_spec[128];
static int log_fd = 2;

static const char *const level_names[] = { "error", "warn", "info", "debug" };

void log_setup(const char *spec)
{
	snprintf(log_spec, sizeof(log_spec), "%s", spec ? spec : "");
}

void log_to(int fd)
{
	log_fd = fd;
}

static enum log_level level_named(const char *name, size_t len)
{
	for (int i = LOG_ERROR; i <= LOG_DEBUG; i++)
		if (strlen(level_names[i]) == len && !memcmp(level_names[i], name, len))
			return (enum log_level)i;
	return LOG_WARN;
}

static enum log_level level_of(const char *domain)
{
	enum log_level level = LOG_WARN;

	for (const char *p = log_spec; *p;) {
		size_t len = strcspn(p, ",");
		const char *eq = memchr(p, '=', len);

		if (!eq)
			level = level_named(p, len);
		else if (strlen(domain) == (size_t)(eq - p) && !memcmp(domain, p, (size_t)(eq - p)))
			return level_named(eq + 1, len - (size_t)(eq + 1 - p));
		p += len + (p[len] == ',');
	}
	return level;
}

void log_at(enum log_level level, const char *domain, const char *fmt, ...)
{
	char line[1024];
	va_list ap;
	int head, n;

	if (level > level_of(domain))
		return;
	head = snprintf(line, sizeof(line), "culprit[%s]: ", domain);
	va_start(ap, fmt);
	n = vsnprintf(line + head, sizeof(line) - (size_t)head - 1, fmt, ap);
	va_end(ap);
	if (n < 0)
		return;
	n = (int)strlen(line);
	line[n++] = '\n';
	if (write(log_fd, line, (size_t)n) < 0)
		return;
}

void log_no_memory(size_t size)
{
	char line[96];
	int n = snprintf(line, sizeof(line), "culprit: out of memory (%zu bytes wanted)\n", size);

	if (write(2, line, (size_t)n) < 0)
		_exit(1);
	_exit(1);
}
