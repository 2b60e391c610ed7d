/* SPDX-License-Identifier: Apache-2.0 */
/* Whether, and how, the words of a user name a function. */
#include "store/store-db.h"

static bool is_opening(char c)
{
	return c == '(' || c == '<' || c == '[' || c == '{';
}

static bool is_closing(char c)
{
	return c == ')' || c == '>' || c == ']' || c == '}';
}

/*
 * Nothing behind the name, or its parameters. In f(long)::'lambda'(int) the first brackets are not
 * those of the function itself.
 */
static bool ends_as_bare(const char *rest)
{
	int depth = 0;

	if (*rest && *rest != '(')
		return false;
	for (; *rest; rest++) {
		if (is_opening(*rest))
			depth++;
		else if (is_closing(*rest) && !--depth)
			return rest[1] != ':';
	}
	return true;
}

/* The same, behind template arguments. */
static bool ends_as_template(const char *rest)
{
	int depth = 0;

	if (*rest != '<')
		return false;
	for (; *rest; rest++) {
		if (is_opening(*rest))
			depth++;
		else if (is_closing(*rest) && !--depth)
			return ends_as_bare(rest + 1);
	}
	return false;
}

/*
 * Is words the name without parameters, and without the return type that names of templates have?
 * The return type ends in a blank that is in no bracket.
 */
static bool is_bare(const char *name, struct str words, bool ends_well(const char *rest))
{
	const char *start = name;
	int depth = 0;

	/* The brackets of shop::(anonymous namespace)::sieve() are no parameters. */
	if (!words.len || words.at[words.len - 1] == ':')
		return false;
	for (const char *at = name;; at++) {
		if (at == start && !strncmp(at, words.at, words.len) && ends_well(at + words.len))
			return true;
		if (!*at)
			return false;
		if (is_opening(*at))
			depth++;
		else if (is_closing(*at) && depth)
			depth--;
		else if (*at == ' ' && !depth)
			start = at + 1;
	}
}

/* Bytes of the gap that reports put for what they leave out; 0 when there is none at the start. */
static size_t gap_bytes(struct str s)
{
	size_t dots = 0;

	if (s.len >= 3 && !memcmp(s.at, "\xe2\x80\xa6", 3))
		return 3;
	while (dots < s.len && s.at[dots] == '.')
		dots++;
	return dots > 1 ? dots : 0;
}

/* The bracket that closes what is open at this place, or NULL. */
static const char *find_closing(const char *at)
{
	int depth = 1;

	for (; *at; at++) {
		if (is_opening(*at))
			depth++;
		else if (is_closing(*at) && !--depth)
			return at;
	}
	return NULL;
}

/* Bytes in front of the next gap; all of s when there is none. */
static size_t piece_bytes(struct str s)
{
	size_t len = 0;

	while (len < s.len && !gap_bytes((struct str){ s.at + len, s.len - len }))
		len++;
	return len;
}

/* Is what stands behind a place of a name words, up to their end? */
static bool ends_with(const char *name, struct str words, bool anchored)
{
	const char *at = name;

	if (anchored)
		return !strncmp(at, words.at, words.len) && ends_as_bare(at + words.len);
	if (!words.len)
		return true;
	for (; (at = memmem(at, strlen(at), words.at, words.len)); at++)
		if (ends_as_bare(at + words.len))
			return true;
	return false;
}

/* Is this the name, or all of it but parameters, with gaps: "mill<..>::grind(..)"? */
static bool fits_gaps(const char *name, struct str words)
{
	bool anchored = true;

	for (;;) {
		size_t len = piece_bytes(words);
		const char *at = name;

		if (len == words.len)
			return ends_with(name, words, anchored);
		if (!anchored)
			at = memmem(name, strlen(name), words.at, len);
		else if (strncmp(name, words.at, len) != 0)
			return false;
		if (!at)
			return false;
		name = at + len;
		/* What stands for the inside of brackets goes to the one that closes them. */
		anchored = len && is_opening(words.at[len - 1]);
		if (anchored && !(name = find_closing(name)))
			return false;
		len += gap_bytes((struct str){ words.at + len, words.len - len });
		words = (struct str){ words.at + len, words.len - len };
	}
}

/* Are words the name as reports shorten it, with or without its return type? */
static bool is_short(const char *name, struct str words)
{
	enum { LEAST = 3 }; /* in front of the first gap; less begins too many names */
	int depth = 0;

	if (piece_bytes(words) < LEAST || piece_bytes(words) == words.len)
		return false;
	if (fits_gaps(name, words))
		return true;
	for (; *name; name++) {
		if (is_opening(*name))
			depth++;
		else if (is_closing(*name) && depth)
			depth--;
		else if (*name == ' ' && !depth && fits_gaps(name + 1, words))
			return true;
	}
	return false;
}

static bool read_address(struct str words, uint64_t *out)
{
	return words.len > 2 && !memcmp(words.at, "0x", 2) && str_u64(words, out);
}

static bool is_near_samples(const struct store_functions *all, const struct store_function *f,
			    uint64_t address)
{
	vec_each(p, &all->unnamed)
		if (p->function == f->id &&
		    (p->address > address ? p->address - address : address - p->address) <=
			    STORE_AROUND_BYTES)
			return true;
	return false;
}

static enum store_match match_address(const struct store_functions *all,
				      const struct store_function *f, uint64_t address)
{
	if (!strcmp(f->kind, "unknown"))
		return is_near_samples(all, f, address) ? STORE_MATCH_NEAR : STORE_MATCH_NONE;
	if (strcmp(f->kind, "function") != 0 || address < f->address)
		return STORE_MATCH_NONE;
	/* Symbols of assembler code may have no size. */
	return address - f->address < (f->size ? f->size : 1) ? STORE_MATCH_ADDRESS :
								STORE_MATCH_NONE;
}

static enum store_match match_words(const struct store_functions *all,
				    const struct store_function *f, struct str words)
{
	uint64_t address;

	if (str_eq(words, f->name))
		return STORE_MATCH_NAME;
	if (is_bare(f->name, words, ends_as_bare))
		return STORE_MATCH_BARE;
	if (str_eq(words, f->raw_name))
		return STORE_MATCH_RAW;
	if (is_bare(f->name, words, ends_as_template))
		return STORE_MATCH_TEMPLATE;
	if (is_short(f->name, words))
		return STORE_MATCH_SHORT;
	if (read_address(words, &address))
		return match_address(all, f, address);
	return words.len && memmem(f->name, strlen(f->name), words.at, words.len) ?
		       STORE_MATCH_PART :
		       STORE_MATCH_NONE;
}

/* Is place this path, or its last parts? */
static bool is_tail(const char *path, struct str place)
{
	size_t len = strlen(path);

	if (!place.len || place.len > len ||
	    memcmp(path + len - place.len, place.at, place.len) != 0)
		return false;
	return place.len == len || place.at[0] == '/' || path[len - place.len - 1] == '/';
}

/* Is place a file and line, "grind.h:12"? */
static bool is_line(const struct store_function *f, struct str place)
{
	const char *colon = memrchr(place.at, ':', place.len);
	size_t len = colon ? (size_t)(colon - place.at) : 0;
	uint64_t line;

	return colon && str_u64((struct str){ colon + 1, place.len - len - 1 }, &line) &&
	       line == f->line && is_tail(f->file, (struct str){ place.at, len });
}

/* The next colon that may end a place: no half of a "::". NULL when there is none. */
static const char *next_colon(const char *at)
{
	while ((at = strchr(at, ':')) && at[1] == ':')
		at += 2;
	return at;
}

enum store_match store_function_match(const struct store_functions *all,
				      const struct store_function *f, const char *words)
{
	enum store_match best = match_words(all, f, str_of(words));

	for (const char *at = next_colon(words); at; at = next_colon(at + 1)) {
		struct str place = { words, (size_t)(at - words) };
		enum store_match m;

		if (!is_tail(f->image_path, place) && !is_tail(f->file, place) &&
		    !is_line(f, place))
			continue;
		m = match_words(all, f, str_of(at + 1));
		if (m < best)
			best = m;
	}
	return best;
}

bool store_words_address(const char *words, uint64_t *address)
{
	const char *colon = strrchr(words, ':');

	return read_address(str_of(colon ? colon + 1 : words), address);
}
