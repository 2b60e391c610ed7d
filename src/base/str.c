/* SPDX-License-Identifier: Apache-2.0 */
/* Views, numbers and escaping of text. */
#include "base/str.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <wchar.h>

bool str_eq(struct str a, const char *b)
{
	return strlen(b) == a.len && (!a.len || !memcmp(a.at, b, a.len));
}

bool str_starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool str_ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n >= m && !memcmp(s + n - m, suffix, m);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct str str_trim(struct str s)
{
	while (s.len && is_blank(s.at[0]))
		s.at++, s.len--;
	while (s.len && is_blank(s.at[s.len - 1]))
		s.len--;
	return s;
}

bool str_cut(struct str *rest, char sep, struct str *part)
{
	const char *p;

	if (!rest->len)
		return false;
	p = memchr(rest->at, sep, rest->len);
	part->at = rest->at;
	part->len = p ? (size_t)(p - rest->at) : rest->len;
	rest->at += part->len + (p ? 1 : 0);
	rest->len -= part->len + (p ? 1 : 0);
	return true;
}

bool str_line(struct str *rest, struct str *line)
{
	return str_cut(rest, '\n', line);
}

bool str_word(struct str *rest, struct str *word)
{
	while (rest->len && is_blank(rest->at[0]))
		rest->at++, rest->len--;
	if (!rest->len)
		return false;
	word->at = rest->at;
	while (rest->len && !is_blank(rest->at[0]))
		rest->at++, rest->len--;
	word->len = (size_t)(rest->at - word->at);
	return true;
}

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static bool number(struct str s, unsigned base, uint64_t *out)
{
	uint64_t v = 0;

	if (!s.len)
		return false;
	for (size_t i = 0; i < s.len; i++) {
		unsigned d = (unsigned)digit_of(s.at[i]);

		if (d >= base || __builtin_mul_overflow(v, base, &v) ||
		    __builtin_add_overflow(v, d, &v))
			return false;
	}
	*out = v;
	return true;
}

bool str_hex(struct str s, uint64_t *out)
{
	return number(s, 16, out);
}

bool str_hex_bytes(struct str hex, uint8_t *out, size_t len)
{
	if (hex.len / 2 != len || hex.len % 2)
		return false;
	for (size_t i = 0; i < hex.len; i++)
		if (digit_of(hex.at[i]) > 15)
			return false;
	for (size_t i = 0; i < len; i++)
		out[i] = (uint8_t)(digit_of(hex.at[2 * i]) << 4 | digit_of(hex.at[2 * i + 1]));
	return true;
}

bool str_u64(struct str s, uint64_t *out)
{
	if (s.len > 2 && s.at[0] == '0' && (s.at[1] | 0x20) == 'x')
		return number((struct str){ s.at + 2, s.len - 2 }, 16, out);
	return number(s, 10, out);
}

bool str_i64(struct str s, int64_t *out)
{
	bool minus = s.len && s.at[0] == '-';
	uint64_t v;

	if (minus)
		s.at++, s.len--;
	if (!str_u64(s, &v) || v > (uint64_t)INT64_MAX + (minus ? 1 : 0))
		return false;
	*out = minus ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

bool str_double(struct str s, double *out)
{
	char text[64], *end, first;
	double v;

	if (!s.len || s.len >= sizeof(text))
		return false;
	memcpy(text, s.at, s.len);
	text[s.len] = 0;
	/* strtod would also skip blanks and take "nan" and "infinity". */
	first = text[strspn(text, "+-")];
	if (digit_of(first) > 9 && first != '.')
		return false;
	errno = 0;
	v = strtod(text, &end);
	if (end != text + s.len || errno)
		return false;
	*out = v;
	return true;
}

bool str_duration_ns(struct str s, uint64_t *ns)
{
	static const struct {
		const char *unit;
		double ns;
	} units[] = { { "", 1e9 },  { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },
		      { "s", 1e9 }, { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 } };
	size_t digits = 0;
	struct str unit;
	double v;

	while (digits < s.len && (digit_of(s.at[digits]) < 10 || s.at[digits] == '.'))
		digits++;
	unit = (struct str){ s.at + digits, s.len - digits };
	if (!str_double((struct str){ s.at, digits }, &v))
		return false;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (!str_eq(unit, units[i].unit))
			continue;
		v *= units[i].ns;
		if (!(v >= 0 && v < 1e18))
			return false;
		*ns = (uint64_t)(v + 0.5);
		return true;
	}
	return false;
}

/* Forms longer than needed, halves of UTF-16 pairs, and beyond Unicode. */
static bool is_forbidden(uint32_t c, size_t n)
{
	return (n == 3 && c < 0x800) || (n == 4 && c < 0x10000) || c > 0x10ffff ||
	       (c >= 0xd800 && c < 0xe000);
}

size_t str_utf8_len(struct str s)
{
	const unsigned char *p = (const unsigned char *)s.at;
	size_t n;
	uint32_t c;

	if (!s.len)
		return 0;
	if (p[0] < 0x80)
		return 1;
	n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || s.len < n)
		return 0;
	c = p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return is_forbidden(c, n) ? 0 : n;
}

static uint32_t utf8_char(const char *s, size_t n)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = n == 1 ? p[0] : p[0] & (0x7fu >> n);

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

bool str_is_unsafe(const char *p, size_t n)
{
	static const struct {
		uint32_t first, last;
	} all[] = {
		{ 0, 0x1f },				/* C0 */
		{ 0x7f, 0x9f },				/* DEL and C1 */
		{ 0x61c, 0x61c },   { 0x200e, 0x200f }, /* marks of direction */
		{ 0x2028, 0x2029 },			/* separators of lines and paragraphs */
		{ 0x202a, 0x202e }, { 0x2066, 0x2069 }, /* embeddings, overrides, isolates */
	};
	uint32_t c = utf8_char(p, n);

	for (size_t i = 0; i < sizeof(all) / sizeof(*all) && all[i].first <= c; i++)
		if (c <= all[i].last)
			return true;
	return false;
}

void str_escape(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		unsigned char c = (unsigned char)s.at[i];

		if (c == '\\' || c == '\n' || c == '\t' || c == '\r') {
			const char e[3] = { '\\',
					    c == '\n' ? 'n' :
					    c == '\t' ? 't' :
					    c == '\r' ? 'r' :
							'\\',
					    0 };

			buf_puts(b, e);
			i++;
		} else if (!n || str_is_unsafe(s.at + i, n)) {
			n = n ? n : 1;
			for (size_t k = 0; k < n; k++)
				buf_printf(b, "\\x%02x", (unsigned char)s.at[i + k]);
			i += n;
		} else {
			buf_add(b, s.at + i, n);
			i += n;
		}
	}
}

void str_json(struct buf *b, struct str s)
{
	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		unsigned char c = (unsigned char)s.at[i];

		if (!n) {
			buf_puts(b, "\xef\xbf\xbd");
			i++;
			continue;
		}
		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c == '\n')
			buf_puts(b, "\\n");
		else if (c == '\t')
			buf_puts(b, "\\t");
		else if (str_is_unsafe(s.at + i, n))
			buf_printf(b, "\\u%04x", utf8_char(s.at + i, n));
		else
			buf_add(b, s.at + i, n);
		i += n;
	}
}

void str_count(struct buf *b, uint64_t v)
{
	if (v >= 1000) {
		str_count(b, v / 1000);
		buf_printf(b, ",%03" PRIu64, v % 1000);
	} else {
		buf_printf(b, "%" PRIu64, v);
	}
}

void str_signed_count(struct buf *b, int64_t v)
{
	if (v < 0)
		buf_u8(b, '-');
	str_count(b, v < 0 ? -(uint64_t)v : (uint64_t)v);
}

size_t str_columns(struct str s)
{
	size_t cols = 0;

	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		int w;

		if (n <= 1) {
			cols++;
			i++;
			continue;
		}
		w = wcwidth((wchar_t)utf8_char(s.at + i, n));
		cols += w < 0 ? 1 : (size_t)w;
		i += n;
	}
	return cols;
}
