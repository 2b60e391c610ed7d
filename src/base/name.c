/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of C++ and Rust functions for narrow columns: "(…)" for the parameters, then "<…>" for
 * template arguments, so that the function's own name is what stays.
 */
#include "base/name.h"

#include <string.h>

#include "base/os.h"

static bool is_word(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* Length of "operator<<", "operator()" and the like at i: their brackets open and close nothing. */
static size_t operator_bytes(struct str s, size_t i)
{
	static const char word[] = "operator";
	size_t len = sizeof(word) - 1, end = i + len;

	if (s.len - i < len || memcmp(s.at + i, word, len) != 0 || (i && is_word(s.at[i - 1])))
		return 0;
	if (s.len - end >= 2 && (!memcmp(s.at + end, "()", 2) || !memcmp(s.at + end, "[]", 2)))
		return len + 2;
	/* operator< <int> has a blank, operator<<int> is not written. */
	while (end < s.len && strchr("<>=-*", s.at[end]))
		end++;
	return end - i;
}

/* A bracketed part that is in no other: from its opening to behind its closing bracket. */
struct part {
	size_t from, to;
};

/* The next such part that begins with this bracket, at or behind *at. */
static bool next_part(struct str s, char bracket, size_t *at, struct part *part)
{
	size_t depth = 0, from = 0;

	for (size_t i = 0; i < s.len; i++) {
		size_t skip = operator_bytes(s, i);
		bool arrow = s.at[i] == '>' && i && s.at[i - 1] == '-';

		if (skip) {
			i += skip - 1;
		} else if (strchr("(<{[", s.at[i])) {
			if (!depth++)
				from = i;
		} else if (strchr(")>}]", s.at[i]) && !arrow && depth && !--depth &&
			   s.at[from] == bracket && from >= *at) {
			*part = (struct part){ from, i + 1 };
			*at = i + 1;
			return true;
		}
	}
	return false;
}

/* What b holds, with the inside of the part replaced by the gap. */
static void hollow(struct buf *b, struct part part, const char *gap)
{
	buf_auto old = { 0 };

	buf_add(&old, b->at, b->len);
	buf_clear(b);
	buf_add(b, old.at, part.from + 1);
	buf_puts(b, gap);
	buf_add(b, old.at + part.to - 1, old.len - part.to + 1);
}

static struct str view(struct buf *b)
{
	return (struct str){ buf_str(b), b->len };
}

/*
 * The parameters: the last part in round brackets, with nothing but words such as const behind it.
 * (anonymous namespace) comes before a name, and the (.cold) of a clone behind all.
 */
static bool find_parameters(struct str s, struct part *out)
{
	struct part part, last = { 0, 0 };
	size_t at = 0;

	while (next_part(s, '(', &at, &part))
		if (s.at[part.from + 1] != '.')
			last = part;
	if (!last.from || (last.to < s.len && s.at[last.to] == ':'))
		return false;
	*out = last;
	return true;
}

static void drop_parameters(struct buf *b, const char *gap)
{
	struct part part;

	if (find_parameters(view(b), &part) && part.to - part.from > 2 + str_columns(str_of(gap)))
		hollow(b, part, gap);
}

struct str name_bare(struct str s)
{
	struct part part;

	return find_parameters(s, &part) ? (struct str){ s.at, part.from } : s;
}

void name_shorten(struct buf *out, struct str s, size_t width, const char *gap)
{
	static const char inlined[] = " (inlined)";
	size_t tail = sizeof(inlined) - 1, room, at = 0;
	buf_auto name = { 0 };
	struct part part;

	if (s.len <= tail || memcmp(s.at + s.len - tail, inlined, tail) != 0)
		tail = 0;
	room = width > tail ? width - tail : 0;
	buf_add(&name, s.at, s.len - tail);
	if (str_columns(view(&name)) > room)
		drop_parameters(&name, gap);
	while (str_columns(view(&name)) > room && next_part(view(&name), '<', &at, &part)) {
		if (part.to - part.from <= 2 + str_columns(str_of(gap)))
			continue;
		hollow(&name, part, gap);
		at = part.from + 1;
	}
	buf_add(out, name.at, name.len);
	buf_add(out, s.at + s.len - tail, tail);
}
