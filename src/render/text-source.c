/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source code for the terminal. */
#include "render/listing.h"
#include "render/text.h"

enum { TAB = 8 };

/* Characters that turn the direction of text: they make code look like other code. */
static bool turns_text(const char *p, size_t n)
{
	const unsigned char *c = (const unsigned char *)p;

	if (n == 2)
		return c[0] == 0xd8 && c[1] == 0x9c;
	if (n != 3 || c[0] != 0xe2)
		return false;
	return (c[1] == 0x80 && (c[2] == 0x8e || c[2] == 0x8f || (c[2] >= 0xaa && c[2] <= 0xae))) ||
	       (c[1] == 0x81 && c[2] >= 0xa6 && c[2] <= 0xa9);
}

static bool is_plain(const char *p, size_t n)
{
	unsigned char c = (unsigned char)p[0];

	if (n == 1)
		return c >= 0x20 && c != 0x7f;
	return n && !(n == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0) && !turns_text(p, n);
}

void text_source(struct buf *out, struct str s)
{
	size_t column = 0;

	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		size_t from = out->len;

		if (s.at[i] == '\t') {
			text_spaces(out, TAB - column % TAB);
			n = 1;
		} else if (is_plain(s.at + i, n)) {
			buf_add(out, s.at + i, n);
		} else {
			n = n ? n : 1;
			for (size_t k = 0; k < n; k++)
				buf_printf(out, "\\x%02x", (unsigned char)s.at[i + k]);
		}
		column += str_columns((struct str){ buf_str(out) + from, out->len - from });
		i += n;
	}
}
