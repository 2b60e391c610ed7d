/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source code for the terminal. */
#include "render/listing.h"
#include "render/text.h"

enum { TAB = 8 };

void text_source(struct buf *out, struct str s)
{
	size_t column = 0;

	for (size_t i = 0; i < s.len;) {
		size_t n = str_utf8_len((struct str){ s.at + i, s.len - i });
		size_t from = out->len;

		if (s.at[i] == '\t') {
			text_spaces(out, TAB - column % TAB);
			n = 1;
		} else if (n && !str_is_unsafe(s.at + i, n)) {
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
