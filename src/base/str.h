/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text: borrowed views, exact parsing of numbers, escaping for output, and the key-value text that
 * control messages, target snapshots and small files are made of.
 */
#ifndef CULPRIT_BASE_STR_H
#define CULPRIT_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"

/* A view of text that somebody else owns; not terminated. */
struct str {
	const char *at;
	size_t len;
};

static inline struct str str_of(const char *s)
{
	return (struct str){ s, strlen(s) };
}

bool str_eq(struct str a, const char *b);
bool str_starts(const char *s, const char *prefix);
bool str_ends(const char *s, const char *suffix);
struct str str_trim(struct str s); /* white space off both ends */
/* Cuts the part before the next sep (or all of it) off *rest. False when *rest is empty. */
bool str_cut(struct str *rest, char sep, struct str *part);
/* The next line without its newline. False at the end. */
bool str_line(struct str *rest, struct str *line);
/* The next word between blanks. False when there is none. */
bool str_word(struct str *rest, struct str *word);

/* The whole text must be a number that fits, else false. "0x" is taken as hexadecimal. */
bool str_u64(struct str s, uint64_t *out);
bool str_i64(struct str s, int64_t *out);
bool str_double(struct str s, double *out);
bool str_hex(struct str s, uint64_t *out); /* without 0x */
/* Exactly 2 * len digits as len bytes. */
bool str_hex_bytes(struct str hex, uint8_t *out, size_t len);

/* A duration such as "10", "1.5s", "250ms", "2m", "1h", as nanoseconds. */
bool str_duration_ns(struct str s, uint64_t *ns);

/*
 * Is the character at p, of n bytes as str_utf8_len gave them, one that a reader may obey and not
 * show: controls (C0, DEL, C1), separators of lines, and those that turn the direction of text, by
 * which it looks like other text.
 */
bool str_is_unsafe(const char *p, size_t n);
/*
 * Adds text so that such characters, invalid UTF-8 and backslashes are visible (\n, \t, \xff): for
 * names that come from a target and go to a terminal.
 */
void str_escape(struct buf *b, struct str s);
/* "20,113": with a comma between groups of three digits. */
void str_count(struct buf *b, uint64_t v);
void str_signed_count(struct buf *b, int64_t v);
/*
 * Adds text as JSON string contents without the quotes; always valid UTF-8 (bad bytes as U+FFFD),
 * unsafe characters as \uXXXX.
 */
void str_json(struct buf *b, struct str s);
/* Length of the valid UTF-8 sequence at s, or 0. */
size_t str_utf8_len(struct str s);
/* Columns on a terminal; invalid bytes count one. */
size_t str_columns(struct str s);

/*
 * Key-value text: lines "key value\n"; in values \ and newline are escaped. A key may come more
 * than once (a list). Order is kept.
 */
void kv_put(struct buf *b, const char *key, const char *value);
void kv_put_n(struct buf *b, const char *key, struct str value);
void kv_put_u64(struct buf *b, const char *key, uint64_t value);
void kv_printf(struct buf *b, const char *key, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

struct kv_item {
	const char *key, *value; /* terminated, in the arena */
	size_t value_len;
};
struct kv {
	VEC(struct kv_item) items; /* release with kv_done */
	struct arena arena;
};
/* Reads all of it; lines without a key are skipped. Never fails. */
void kv_parse(struct kv *kv, struct str text);
const char *kv_find(const struct kv *kv, const char *key); /* last of that key, or NULL */
const char *kv_get(const struct kv *kv, const char *key);  /* same, "" when missing */
uint64_t kv_u64(const struct kv *kv, const char *key, uint64_t otherwise);
/* The nth item (from 0) of that key, or NULL. */
const struct kv_item *kv_nth(const struct kv *kv, const char *key, size_t n);
void kv_done(struct kv *kv);

#endif
