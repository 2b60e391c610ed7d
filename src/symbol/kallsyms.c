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

struct place {
	uint64_t address;
	const char *line;
};
struct places {
	VEC(struct place) at;
};

/* AArch64's $x and $d end nothing: they stand in the midst of code. */
static bool is_mark(const char *behind_address, const char *end)
{
	return end - behind_address > 4 && behind_address[3] == '$';
}

static void find_places(struct str text, struct select *s, struct places *places)
{
	const char *at = text.at;
	const char *end = text.at + text.len;

	while (at < end) {
		const char *newline = memchr(at, '\n', (size_t)(end - at));
		const char *stop = newline ? newline : end;
		uint64_t address;
		const char *behind = read_address(at, stop, &address);

		if (address && !is_mark(behind, stop)) {
			vec_add(&places->at, ((struct place){ address, at }));
			select_bound(s, address, 0);
		}
		at = stop + 1;
	}
}

static uint8_t rank_of(char type)
{
	if (type == 'T' || type == 'i')
		return SELECT_FUNCTION + SELECT_GLOBAL;
	if (type == 'W' || type == 'w')
		return SELECT_FUNCTION + SELECT_WEAK;
	return SELECT_FUNCTION + SELECT_LOCAL;
}

static void feed(struct select *s, struct str rest, struct arena *names)
{
	struct kallsyms_line l;
	struct str line;

	if (!str_line(&rest, &line) || !kallsyms_parse(line, &l) || !kallsyms_is_code(&l))
		return;
	select_add(s, &(struct select_symbol){
			      .name = arena_strndup(names, l.name.at, l.name.len),
			      .address = l.address,
			      .limit = l.address + KALLSYMS_MAX_FUNCTION,
			      .rank = rank_of(l.type),
		      });
}

enum kallsyms_found kallsyms_select(struct str text, struct select *s, struct arena *names)
{
	const char *end = text.at + text.len;
	struct places places = { 0 };
	bool any;

	/* Lines come in rising order, so each would look better than the last: find starts first. */
	find_places(text, s, &places);
	any = places.at.len > 0;
	vec_each(p, &places.at)
		if (select_is_nearest(s, p->address))
			feed(s, (struct str){ p->line, (size_t)(end - p->line) }, names);
	vec_done(&places.at);
	return any ? KALLSYMS_OK : KALLSYMS_HIDDEN;
}
