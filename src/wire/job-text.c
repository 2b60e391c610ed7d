/* SPDX-License-Identifier: Apache-2.0 */
/* Checked fields of the key-value bodies of job.h. */
#include "wire/job-text.h"

bool job_text_u64(uint64_t *out, const struct kv *kv, const char *what, const char *key,
		  uint64_t most, struct err *err)
{
	const char *text = kv_find(kv, key);
	uint64_t v;

	if (!text)
		return err_set(err, ERR_FORMAT, "%s: no %s", what, key);
	if (!str_u64(str_of(text), &v) || v > most)
		return err_set(err, ERR_FORMAT, "%s: %s is '%.40s', not a number up to %llu", what,
			       key, text, (unsigned long long)most);
	*out = v;
	return true;
}

bool job_text_word(uint64_t *out, const struct kv *kv, const char *what, const char *key,
		   const char *const *words, size_t count, struct err *err)
{
	const char *text = kv_get(kv, key);

	for (size_t i = 0; i < count; i++) {
		if (!strcmp(text, words[i])) {
			*out = i;
			return true;
		}
	}
	return err_set(err, ERR_FORMAT, "%s: %s is '%.40s', which is unknown", what, key, text);
}

void job_text_put_hex(struct buf *out, const char *key, const void *bytes, size_t len)
{
	const uint8_t *p = bytes;

	buf_printf(out, "%s ", key);
	for (size_t i = 0; i < len; i++)
		buf_printf(out, "%02x", p[i]);
	buf_puts(out, "\n");
}

bool job_text_hex(struct buf *out, struct str text)
{
	size_t before = out->len, len = text.len / 2;

	if (str_hex_bytes(text, buf_room(out, len), len))
		return true;
	out->len = before;
	return false;
}
