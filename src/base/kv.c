/* SPDX-License-Identifier: Apache-2.0 */
/* Key-value text: lines of "key value" with \ and newline escaped in the value. */
#include <stdlib.h>

#include "base/str.h"

void kv_put_n(struct buf *b, const char *key, struct str value)
{
	buf_puts(b, key);
	buf_u8(b, ' ');
	for (size_t i = 0; i < value.len; i++) {
		if (value.at[i] == '\n')
			buf_puts(b, "\\n");
		else if (value.at[i] == '\\')
			buf_puts(b, "\\\\");
		else
			buf_u8(b, (uint8_t)value.at[i]);
	}
	buf_u8(b, '\n');
}

void kv_put(struct buf *b, const char *key, const char *value)
{
	kv_put_n(b, key, str_of(value));
}

void kv_put_u64(struct buf *b, const char *key, uint64_t value)
{
	buf_printf(b, "%s %llu\n", key, (unsigned long long)value);
}

void kv_printf(struct buf *b, const char *key, const char *fmt, ...)
{
	struct buf text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	kv_put_n(b, key, (struct str){ buf_str(&text), text.len });
	buf_done(&text);
}

static const char *unescape(struct arena *a, struct str s, size_t *len)
{
	char *to = arena_alloc(a, s.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++) {
		if (s.at[i] == '\\' && i + 1 < s.len) {
			i++;
			to[n++] = s.at[i] == 'n' ? '\n' : s.at[i];
		} else {
			to[n++] = s.at[i];
		}
	}
	*len = n;
	return to;
}

void kv_parse(struct kv *kv, struct str text)
{
	struct str line, key;

	*kv = (struct kv){ 0 };
	while (str_line(&text, &line)) {
		struct kv_item *item;

		if (!str_cut(&line, ' ', &key) || !key.len)
			continue;
		item = vec_push(&kv->items);
		item->key = arena_strndup(&kv->arena, key.at, key.len);
		item->value = unescape(&kv->arena, line, &item->value_len);
	}
}

const char *kv_find(const struct kv *kv, const char *key)
{
	for (size_t i = kv->items.len; i-- > 0;)
		if (!strcmp(kv->items.at[i].key, key))
			return kv->items.at[i].value;
	return NULL;
}

const char *kv_get(const struct kv *kv, const char *key)
{
	const char *v = kv_find(kv, key);

	return v ? v : "";
}

uint64_t kv_u64(const struct kv *kv, const char *key, uint64_t otherwise)
{
	uint64_t v;

	return str_u64(str_of(kv_get(kv, key)), &v) ? v : otherwise;
}

const struct kv_item *kv_nth(const struct kv *kv, const char *key, size_t n)
{
	for (size_t i = 0; i < kv->items.len; i++)
		if (!strcmp(kv->items.at[i].key, key) && n-- == 0)
			return &kv->items.at[i];
	return NULL;
}

void kv_done(struct kv *kv)
{
	vec_done(&kv->items);
	arena_done(&kv->arena);
}
