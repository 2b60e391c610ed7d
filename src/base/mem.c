/* SPDX-License-Identifier: Apache-2.0 */
/* Checked allocation, arenas, byte buffers and vectors. */
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"

void *mem_alloc(size_t size)
{
	void *p = calloc(1, size ? size : 1);

	if (!p)
		log_no_memory(size);
	return p;
}

void *mem_resize(void *p, size_t size)
{
	void *q = realloc(p, size ? size : 1);

	if (!q)
		log_no_memory(size);
	return q;
}

void *mem_copy(const void *p, size_t size)
{
	void *q = mem_alloc(size);

	if (size)
		memcpy(q, p, size);
	return q;
}

bool mem_is_zero(const void *p, size_t size)
{
	const uint8_t *bytes = p;

	for (size_t i = 0; i < size; i++)
		if (bytes[i])
			return false;
	return true;
}

char *mem_strdup(const char *s)
{
	return mem_copy(s, strlen(s) + 1);
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;
	struct buf b = { 0 };

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	return b.at ? (char *)b.at : mem_strdup("");
}

struct arena_block {
	struct arena_block *below;
	size_t used, size;
	_Alignas(16) uint8_t bytes[];
};

enum { ARENA_BLOCK = 64 * 1024 };

void *arena_alloc(struct arena *a, size_t size)
{
	size_t want = (size + 15) & ~(size_t)15;
	struct arena_block *b = a->top;
	void *p;

	if (want < size)
		log_no_memory(size);
	if (!b || b->size - b->used < want) {
		size_t room = want > ARENA_BLOCK / 4 ? want : ARENA_BLOCK;

		if (room > SIZE_MAX - sizeof(*b))
			log_no_memory(size);
		b = mem_alloc(sizeof(*b) + room);
		b->size = room;
		/* A block made for one large object goes below, so that the open one stays open. */
		if (want > ARENA_BLOCK / 4 && a->top) {
			b->below = a->top->below;
			a->top->below = b;
		} else {
			b->below = a->top;
			a->top = b;
		}
	}
	p = b->bytes + b->used;
	b->used += want;
	a->used_bytes += want;
	return p;
}

char *arena_strndup(struct arena *a, const char *s, size_t len)
{
	char *p = arena_alloc(a, len + 1);

	if (len)
		memcpy(p, s, len);
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return arena_strndup(a, s, strlen(s));
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap;
	struct buf b = { 0 };
	char *p;

	va_start(ap, fmt);
	buf_vprintf(&b, fmt, ap);
	va_end(ap);
	p = arena_strndup(a, (const char *)b.at, b.len);
	buf_done(&b);
	return p;
}

void arena_done(struct arena *a)
{
	while (a->top) {
		struct arena_block *below = a->top->below;

		free(a->top);
		a->top = below;
	}
	a->used_bytes = 0;
}

void *buf_room(struct buf *b, size_t len)
{
	if (b->cap - b->len <= len) {
		size_t cap = b->cap ? b->cap * 2 : 128;

		if (len >= SIZE_MAX - b->len)
			log_no_memory(len);
		if (cap - b->len <= len)
			cap = b->len + len + 1;
		b->at = mem_resize(b->at, cap);
		b->cap = cap;
	}
	b->len += len;
	b->at[b->len] = 0;
	return b->at + b->len - len;
}

void buf_add(struct buf *b, const void *bytes, size_t len)
{
	void *to = buf_room(b, len);

	if (len)
		memcpy(to, bytes, len);
}

void buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;
	int n;

	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, again);
	va_end(again);
	if (n > 0)
		vsnprintf(buf_room(b, (size_t)n), (size_t)n + 1, fmt, ap);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_u8(struct buf *b, uint8_t v)
{
	buf_add(b, &v, 1);
}

void buf_u16(struct buf *b, uint16_t v)
{
	uint8_t le[2] = { (uint8_t)v, (uint8_t)(v >> 8) };

	buf_add(b, le, sizeof(le));
}

void buf_u32(struct buf *b, uint32_t v)
{
	buf_u16(b, (uint16_t)v);
	buf_u16(b, (uint16_t)(v >> 16));
}

void buf_u64(struct buf *b, uint64_t v)
{
	buf_u32(b, (uint32_t)v);
	buf_u32(b, (uint32_t)(v >> 32));
}

void buf_align(struct buf *b, size_t align)
{
	while (b->len % align)
		buf_u8(b, 0);
}

const char *buf_str(struct buf *b)
{
	return b->at ? (const char *)b->at : "";
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	if (b->at)
		b->at[0] = 0;
}

void buf_done(struct buf *b)
{
	free(b->at);
	*b = (struct buf){ 0 };
}

void *vec_grow(void **at, size_t *len, size_t *cap, size_t size, size_t more)
{
	uint8_t *first;

	if (*cap - *len < more) {
		size_t want = *cap ? *cap * 2 : 8;
		size_t bytes;

		if (want - *len < more)
			want = *len + more;
		if (__builtin_mul_overflow(want, size, &bytes))
			log_no_memory(SIZE_MAX);
		*at = mem_resize(*at, bytes);
		*cap = want;
	}
	first = (uint8_t *)*at + *len * size;
	memset(first, 0, more * size);
	*len += more;
	return first;
}

void vec_free(void **at, size_t *len, size_t *cap)
{
	free(*at);
	*at = NULL;
	*len = *cap = 0;
}
