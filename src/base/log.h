/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The log: to stderr or a file, never stdout. Library code logs at debug at most and never per
 * sample; only front/ uses the other levels. The level and the domains are the one piece of mutable
 * state that belongs to the process (STYLE rule 11).
 */
#ifndef CULPRIT_BASE_LOG_H
#define CULPRIT_BASE_LOG_H

#include <stddef.h>

enum log_level { LOG_ERROR, LOG_WARN, LOG_INFO, LOG_DEBUG };

/* spec: "debug", or "domain=debug,other=info". Unknown words are ignored. */
void log_setup(const char *spec);
/* Messages go to this descriptor from now on; 2 at start. */
void log_to(int fd);
/* domain is the folder ("capture", "symbol", ...). One line, no newline at the end. */
void log_at(enum log_level level, const char *domain, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
#define log_debug(domain, ...) log_at(LOG_DEBUG, domain, __VA_ARGS__)

/* The one exit for lack of memory. */
_Noreturn void log_no_memory(size_t size);

#endif
