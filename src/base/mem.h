/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory: checked allocation, arenas, growing byte buffers, vectors. When the system has no memory
 * left the program says so once and exits (the agent's jobs run in child processes, so the agent
 * survives). Sizes that come from input must be checked by the caller against a ceiling first.
 */
#ifndef CULPRIT_BASE_MEM_H
#define CULPRIT_BASE_MEM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t size);		/* zeroed; never NULL */
void *mem_resize(void *p, size_t size); /* grown part not zeroed; never NULL */
void *mem_copy(const void *p, size_t size);
bool mem_is_zero(const void *p, size_t size); /* true when size is 0 */
char *mem_strdup(const char *s);
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* An arena: everything in it is released together. Zero-initialised is valid and empty. */
struct arena {
	struct arena_block *top;
	size_t used_bytes; /* given out in total */
};

void *arena_alloc(struct arena *a, size_t size); /* zeroed, aligned to 16 */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t len); /* terminated copy */
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_done(struct arena *a);

/* A growing byte buffer, always followed by a zero byte once anything was added. */
struct buf {
	uint8_t *at;
	size_t len, cap;
};

void buf_add(struct buf *b, const void *bytes, size_t len);
void buf_puts(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
	__attribute__((format(printf, 2, 0), nonnull(2)));
void *buf_room(struct buf *b, size_t len); /* len uninitialised bytes at the end; len is added */
void buf_u8(struct buf *b, uint8_t v);
void buf_u16(struct buf *b, uint16_t v); /* little endian, as all of these */
void buf_u32(struct buf *b, uint32_t v);
void buf_u64(struct buf *b, uint64_t v);
void buf_align(struct buf *b, size_t align); /* zero bytes up to a multiple of align */
const char *buf_str(struct buf *b);	     /* as a C string; "" when empty */
void buf_clear(struct buf *b);		     /* keeps the memory */
void buf_done(struct buf *b);

/*
 * A vector of T: struct { T *at; size_t len, cap; }. VEC(T) declares it in place; the calls are
 * macros over one function. Zero-initialised is valid and empty.
 */
#define VEC(T)                   \
	struct {                 \
		T *at;           \
		size_t len, cap; \
	}
/* Adds one zeroed element and gives its address (valid until the next push). */
#define vec_push(v)                                                                               \
	((__typeof__((v)->at))vec_grow((void **)&(v)->at, &(v)->len, &(v)->cap, sizeof(*(v)->at), \
				       1))
#define vec_add(v, value) (*vec_push(v) = (value))
#define vec_clear(v) ((v)->len = 0)
#define vec_done(v) vec_free((void **)&(v)->at, &(v)->len, &(v)->cap)
#define vec_each(p, v) \
	for (__typeof__(*(v)->at) *p = (v)->at; (v)->len && p < (v)->at + (v)->len; p++)
void *vec_grow(void **at, size_t *len, size_t *cap, size_t size, size_t more);
void vec_free(void **at, size_t *len, size_t *cap);

#endif
