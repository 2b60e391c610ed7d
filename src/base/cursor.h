/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The only way to read untrusted bytes. Reads after the end give zero and set failed, once and for
 * all; a caller reads a whole record and tests failed once. Lengths are compared with what is left
 * before they are believed. Integers are little endian unless swap is set.
 */
#ifndef CULPRIT_BASE_CURSOR_H
#define CULPRIT_BASE_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct cursor {
	const char *name;     /* what is read, for messages; not owned */
	const uint8_t *start; /* first byte; the bytes are not owned */
	const uint8_t *at, *end;
	uint64_t base; /* offset of start in the whole file or stream, for messages */
	bool failed, swap;
};

static inline struct cursor cursor_of(const char *name, const void *bytes, size_t len)
{
	/* No bytes may have no address, and NULL + 0 is not defined. */
	const uint8_t *p = bytes ? bytes : (const void *)"";

	return (struct cursor){ .name = name, .start = p, .at = p, .end = p + len };
}

static inline size_t cursor_left(const struct cursor *c)
{
	return (size_t)(c->end - c->at);
}

/* Offset of the next byte in the whole file. */
static inline uint64_t cursor_offset(const struct cursor *c)
{
	return c->base + (uint64_t)(c->at - c->start);
}

/* len bytes in place, or NULL with failed set. */
static inline const uint8_t *cursor_bytes(struct cursor *c, uint64_t len)
{
	const uint8_t *p = c->at;

	if (c->failed || len > (uint64_t)(c->end - c->at)) {
		c->failed = true;
		c->at = c->end;
		return NULL;
	}
	c->at += len;
	return p;
}

static inline void cursor_skip(struct cursor *c, uint64_t len)
{
	(void)cursor_bytes(c, len);
}

static inline uint8_t cursor_u8(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 1);

	return p ? *p : 0;
}

static inline uint16_t cursor_u16(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 2);
	uint16_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap16(v) : v;
}

static inline uint32_t cursor_u32(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 4);
	uint32_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap32(v) : v;
}

static inline uint64_t cursor_u64(struct cursor *c)
{
	const uint8_t *p = cursor_bytes(c, 8);
	uint64_t v = 0;

	if (p)
		memcpy(&v, p, sizeof(v));
	return c->swap ? __builtin_bswap64(v) : v;
}

/* A cursor over the next len bytes, which are skipped here. Failed when they are not there. */
static inline struct cursor cursor_sub(struct cursor *c, uint64_t len)
{
	uint64_t base = cursor_offset(c);
	const uint8_t *p = cursor_bytes(c, len);
	struct cursor sub = cursor_of(c->name, p ? p : c->end, p ? (size_t)len : 0);

	sub.base = base;
	sub.swap = c->swap;
	sub.failed = !p;
	return sub;
}

/* A zero-terminated string in at most max bytes, of which all max are skipped; "" when none. */
static inline const char *cursor_fixed_str(struct cursor *c, uint64_t max)
{
	const uint8_t *p = cursor_bytes(c, max);

	if (p && memchr(p, 0, (size_t)max))
		return (const char *)p;
	c->failed = true;
	return "";
}

#endif
