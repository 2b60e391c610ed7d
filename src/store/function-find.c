/* SPDX-License-Identifier: Apache-2.0 */
/* From the words of a user to one function, or to an error that says which ones there are. */
#include "store/store-db.h"

#include <stdio.h>
#include <strings.h>

#include "base/name.h"
#include "base/os.h"

enum {
	LIST_BYTES = 330,
	NAME_COLUMNS = 60, /* of a name in a message */
	PLACE_PARTS = 6,   /* of a path, at most, to tell files apart */
	NEAR_MOST = 3,
	UNNAMED_PCT = 20, /* where so much has no name, the one that is wanted may be there */
};

struct candidates {
	VEC(const struct store_function *) with, without; /* samples of their own */
	enum store_match match;
};

static void candidates_done(struct candidates *c)
{
	vec_done(&c->with);
	vec_done(&c->without);
}

static void collect(struct candidates *c, const struct store_functions *all, const char *words)
{
	*c = (struct candidates){ .match = STORE_MATCH_NONE };
	vec_each(f, &all->list) {
		enum store_match m = store_function_match(all, f, words);

		if (m == STORE_MATCH_NONE || m > c->match)
			continue;
		if (m < c->match) {
			vec_clear(&c->with);
			vec_clear(&c->without);
			c->match = m;
		}
		if (store_function_count(f).samples)
			vec_add(&c->with, f);
		else
			vec_add(&c->without, f);
	}
}

static bool is_same_place(const struct store_function *a, const struct store_function *b)
{
	return a->image_id == b->image_id;
}

/* A function and its own inlined copies are no choice: the hotter one is meant. */
static bool are_copies(const struct candidates *c)
{
	for (size_t i = 1; i < c->with.len; i++) {
		const struct store_function *f = c->with.at[i], *first = c->with.at[0];

		if (strcmp(f->name, first->name) != 0 || !is_same_place(f, first) ||
		    !strcmp(f->kind, first->kind) || strcmp(f->file, first->file) != 0)
			return false;
	}
	return true;
}

/* The one that is meant, or NULL. */
static const struct store_function *only_one(const struct candidates *c)
{
	return c->with.len == 1 || (c->with.len == 2 && are_copies(c)) ? c->with.at[0] : NULL;
}

static bool is_named(const struct store_function *f)
{
	return strcmp(f->kind, "unknown") != 0 && strcmp(f->kind, "hidden") != 0;
}

/* "[kernel] (symbols hidden)" has no parameters. */
static struct str bare_name(const struct store_function *f)
{
	struct str name = str_of(f->name);

	return is_named(f) ? name_bare(name) : name;
}

/* The name, at most so wide; what went is "...". */
static void put_name(struct buf *b, const struct store_function *f, size_t width)
{
	struct str bare = bare_name(f);
	buf_auto name = { 0 };

	name_shorten(&name, bare, width, "...");
	if (str_columns((struct str){ buf_str(&name), name.len }) <= width) {
		buf_add(b, name.at, name.len);
		return;
	}
	while (name.len && str_columns((struct str){ buf_str(&name), name.len }) > width - 3) {
		/* Not in the middle of a character. */
		while (name.len > 1 && ((unsigned char)name.at[name.len - 1] & 0xc0) == 0x80)
			name.len--;
		name.len--;
	}
	buf_add(b, name.at, name.len);
	buf_puts(b, "...");
}

/* Spellings of a function, tried until one names it alone. */
struct spelling {
	const struct store_functions *all;
	const struct store_function *f;
	const char *words;
	struct buf *out;
	bool is_address;
};

static bool is_alone(const struct spelling *s, const char *words)
{
	struct candidates c;
	bool good;

	collect(&c, s->all, words);
	good = only_one(&c) == s->f && c.match != STORE_MATCH_PART;
	candidates_done(&c);
	return good;
}

/* "place:name", or the name alone where place is NULL. */
static bool try_spelling(struct spelling *s, struct str place, struct str name)
{
	buf_auto b = { 0 };

	if (place.len) {
		buf_add(&b, place.at, place.len);
		buf_u8(&b, ':');
	}
	buf_add(&b, name.at, name.len);
	if (!is_alone(s, buf_str(&b)))
		return false;
	buf_clear(s->out);
	buf_add(s->out, b.at, b.len);
	return true;
}

/* The last parts of a path; empty when it has no more of them. */
static struct str tail_of(const char *path, size_t parts)
{
	const char *at = path + strlen(path);

	while (parts && at > path) {
		at--;
		if (at == path || (at[-1] == '/' && at[0] != '/'))
			parts--;
	}
	return parts ? (struct str){ "", 0 } : str_of(at);
}

static bool try_places(struct spelling *s, const char *path, size_t from, struct str name)
{
	for (size_t parts = from; parts <= PLACE_PARTS; parts++) {
		struct str place = tail_of(path, parts);

		if (!place.len)
			return false;
		if (try_spelling(s, place, name))
			return true;
	}
	return false;
}

static bool try_alone(struct spelling *s, struct str name)
{
	return try_spelling(s, (struct str){ "", 0 }, name);
}

static bool try_placed(struct spelling *s, struct str name)
{
	return try_spelling(s, tail_of(s->f->image_path, 1), name) ||
	       try_places(s, s->f->file, 1, name) || try_places(s, s->f->image_path, 2, name);
}

static bool try_address(struct spelling *s)
{
	uint64_t address = s->f->address;
	char text[32];
	int len;

	/* What has no name is meant as the user said it. */
	if (!is_named(s->f) && !store_words_address(s->words, &address))
		return false;
	len = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	s->is_address = try_places(s, s->f->image_path, 1, (struct str){ text, (size_t)len });
	return s->is_address;
}

static bool try_line(struct spelling *s, struct str name)
{
	char_auto place = s->f->line ? mem_printf("%s:%u", s->f->file, s->f->line) : NULL;

	return place && try_places(s, place, 1, name);
}

/* The shortest spelling that names it alone, as far as there is one. */
static bool find_spelling(struct spelling *s)
{
	struct str whole = str_of(s->f->name), bare = bare_name(s->f);
	bool fits = str_columns(whole) <= NAME_COLUMNS;
	buf_auto text = { 0 };
	struct str brief;

	/* Its gaps are understood, too. */
	name_shorten(&text, bare, NAME_COLUMNS, "...");
	brief = (struct str){ buf_str(&text), text.len };
	if (try_alone(s, brief) || (fits && try_alone(s, whole)) || try_placed(s, brief) ||
	    (fits && try_placed(s, whole)))
		return true;
	return try_address(s) || try_line(s, brief) || try_alone(s, whole) || try_placed(s, whole);
}

/* "app:0x6000 (step at mix.h:1, 5.00 %)": what tells the address is what it is the address of. */
static bool put_candidate(struct buf *b, const struct store_functions *all, const char *words,
			  const struct store_function *f)
{
	buf_auto text = { 0 };
	struct spelling s = { all, f, words, &text, false };
	struct str file = tail_of(f->file, 1);

	if (!find_spelling(&s))
		return false;
	buf_add(b, text.at, text.len);
	buf_puts(b, " (");
	if (s.is_address)
		put_name(b, f, NAME_COLUMNS / 2);
	if (s.is_address && file.len && f->line)
		buf_printf(b, " at %.*s:%u", (int)file.len, file.at, f->line);
	buf_printf(b, "%s%s%.2f %%)", s.is_address ? "" : f->image,
		   s.is_address || f->image[0] ? ", " : "",
		   store_function_pct(all, store_function_count(f).weight));
	return true;
}

static bool set_id(struct err *err, const char *id)
{
	snprintf(err->id, sizeof(err->id), "%s", id);
	return false;
}

static bool ambiguous(const struct store_functions *all, const struct candidates *c,
		      const char *words, struct err *err)
{
	buf_auto list = { 0 };
	size_t told = 0;

	vec_each(f, &c->with) {
		buf_auto one = { 0 };

		buf_puts(&one, told ? ", " : "");
		if (!put_candidate(&one, all, words, *f))
			continue;
		if (told && list.len + one.len > LIST_BYTES)
			break;
		buf_add(&list, one.at, one.len);
		told++;
	}
	if (told < c->with.len)
		buf_printf(&list, " and %zu more", c->with.len - told);
	if (c->match == STORE_MATCH_PART)
		err_set(err, ERR_USAGE, "no function is called %s, %zu have it in their name: %s",
			words, c->with.len, buf_str(&list));
	else
		err_set(err, ERR_USAGE, "%s fits %zu functions: %s", words, c->with.len,
			buf_str(&list));
	err_hint(err, "give one of these names; IMAGE:NAME, FILE:NAME and IMAGE:0xADDRESS tell "
		      "functions of one name apart");
	return set_id(err, "AMBIGUOUS_FUNCTION");
}

/* Names that have words in them in any case or, with NULL, those that have samples. */
static size_t put_near(struct buf *b, const struct store_functions *all, const char *words)
{
	size_t told = 0;

	for (size_t i = 0; i < all->list.len && told < NEAR_MOST; i++) {
		const struct store_function *f = &all->list.at[i];
		buf_auto name = { 0 };

		if (!is_named(f) || !(words ? strcasestr(f->name, words) != NULL :
					      store_function_count(f).samples > 0))
			continue;
		put_name(&name, f, NAME_COLUMNS);
		/* Of many templates the shortened names are the same. */
		if (b->len && strstr(buf_str(b), buf_str(&name)))
			continue;
		buf_printf(b, "%s%s", told++ ? "; " : "", buf_str(&name));
	}
	return told;
}

/* Where the time is that has no name, when it is much, and what can be seen of it. */
static void put_unnamed(struct buf *b, const struct store_functions *all)
{
	const struct store_function *most = NULL;
	uint64_t unnamed = 0;
	double pct;

	vec_each(f, &all->list) {
		uint64_t weight = is_named(f) ? 0 : store_function_count(f).weight;

		unnamed += weight;
		if (weight && (!most || weight > store_function_count(most).weight))
			most = f;
	}
	pct = store_function_pct(all, unnamed);
	if (!most || pct < UNNAMED_PCT)
		return;
	buf_printf(b, "%s%.1f %% of the time has no function name", b->len ? "; " : "", pct);
	pct = store_function_pct(all, store_function_count(most).weight);
	if (most->image_path[0])
		buf_printf(b, ", %.1f %% is in %s", pct, most->image_path);
	if (most->image_why[0]) {
		if (most->image_build_id[0])
			buf_printf(b, " (build id %s)", most->image_build_id);
		buf_printf(b, ", which is not here: %s", most->image_why);
	} else if (most->image[0] && !strcmp(most->kind, "unknown")) {
		buf_printf(b, ": annotate '%s:%s' shows its code", most->image, most->name);
	}
	buf_printf(b, "; %s says what would give names to it", all->report);
}

static bool no_such(const struct store_functions *all, const char *words, struct err *err)
{
	buf_auto names = { 0 };
	buf_auto unnamed = { 0 };
	bool is_near = put_near(&names, all, words);

	put_unnamed(&unnamed, all);
	err_set(err, ERR_NOT_FOUND, "no sample has a function called %s", words);
	if (is_near)
		err_hint(err, "names like it: %s%s%s", buf_str(&names), unnamed.len ? "; " : "",
			 buf_str(&unnamed));
	else if (unnamed.len)
		err_hint(err, "%s", buf_str(&unnamed));
	else if (put_near(&names, all, NULL))
		err_hint(err, "the hottest ones: %s", buf_str(&names));
	return set_id(err, "NO_SUCH_FUNCTION");
}

static bool no_own(const struct store_functions *all, const struct store_function *f,
		   struct err *err)
{
	buf_auto name = { 0 };

	put_name(&name, f, NAME_COLUMNS);
	err_set(err, ERR_NOT_FOUND,
		"%s has no samples of its own: the %llu samples (%.2f %%) with it in their stack are "
		"in what it calls",
		buf_str(&name), (unsigned long long)f->total.samples,
		store_function_pct(all, f->total.weight));
	err_hint(err, "%s shows in its call tree what %s calls; annotate that", all->report,
		 buf_str(&name));
	return set_id(err, "NO_OWN_SAMPLES");
}

bool store_function_find(const struct store_functions *all, const char *words,
			 struct store_found *out, struct err *err)
{
	const struct store_function *one;
	struct candidates c;

	collect(&c, all, words);
	one = only_one(&c);
	if (one) {
		*out = (struct store_found){ .function = one,
					     .is_part = c.match == STORE_MATCH_PART,
					     .has_address = c.match == STORE_MATCH_NEAR };
		if (out->has_address && !store_words_address(words, &out->address))
			out->has_address = false;
	} else if (c.with.len) {
		ambiguous(all, &c, words, err);
	} else if (c.without.len && c.match != STORE_MATCH_PART) {
		no_own(all, c.without.at[0], err);
	} else {
		no_such(all, words, err);
	}
	candidates_done(&c);
	return one != NULL;
}
