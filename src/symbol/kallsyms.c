/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kernel symbols out of saved /proc/kallsyms text. */
#include "symbol/parts.h"

/*
 * The text gives no sizes. Behind the last symbol of a module there may be nothing for a long way,
 * and no kernel function comes near this length.
 */
enum { KALLSYMS_MAX_FUNCTION = 64 << 10 };

/* The address that starts a line, without the care of kallsyms_parse: every line passes here. */
static const char *read_address(const char *at, const char *end, uint64_t *address)
{
	uint64_t value = 0;

	for (; at < end; at++) {
		unsigned digit = (unsigned char)*at - (unsigned)'0';

		if (digit > 9) {
			digit = ((unsigned char)*at | 0x20u) - (unsigned)'a';
			if (digit > 5)
				break;
			digit += 10;
		}
		value = value << 4 | digit;
	}
	*address = value;
	return at;
}

static void feed(struct select *s, struct str line, struct arena *names)
{
	struct kallsyms_line l;

	if (!kallsyms_parse(line, &l))
		return;
	if (!kallsyms_is_code(&l)) {
		/* Marks inside code end nothing; data behind the code does. */
		if (l.name.len && l.name.at[0] != '$')
			select_bound(s, l.address);
		return;
	}
	select_add(s, &(struct select_symbol){
			      .name = arena_strndup(names, l.name.at, l.name.len),
			      .address = l.address,
			      .limit = l.address + KALLSYMS_MAX_FUNCTION,
			      .rank = SELECT_FUNCTION |
				      (l.type == 'T' || l.type == 'i' ? SELECT_GLOBAL :
				       l.type == 'W' || l.type == 'w' ? SELECT_WEAK :
									SELECT_LOCAL),
		      });
}

enum kallsyms_found kallsyms_select(struct str text, struct select *s, struct arena *names)
{
	const char *at = text.at;
	const char *end = text.at + text.len;
	bool any = false;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		uint64_t address;

		read_address(at, stop, &address);
		if (address) {
			any = true;
			if (select_matters(s, address, 0))
				feed(s, (struct str){at, (size_t)(stop - at)}, names);
		}
		at = stop + 1;
	}
	return any ? KALLSYMS_OK : KALLSYMS_HIDDEN;
}
