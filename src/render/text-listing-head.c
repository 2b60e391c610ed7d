/* SPDX-License-Identifier: Apache-2.0 */
/* What stands above and below the rows of a listing: the function, its samples, its hottest places. */
#include <stdio.h>
#include <stdlib.h>

#include "base/name.h"
#include "base/os.h"
#include "render/listing.h"
#include "render/text.h"

enum {
	LABEL = 10,
	MNEMONIC = 7,
	SHARE = 8, /* "100.00 %" */
	GAP = 2,
	TARGET_MOST = 40, /* of a name, before template arguments give way */
	PLACE_MOST = 28,  /* of "file.c:12" */
	TEXT_LEAST = 8,
	HOTTEST_MOST = 5,
	HOTTEST_FROM = 60, /* of longer functions the hottest are told first */
};

/* What a branch goes to: "<malloc@plt>", and "<+0x10>" within the function. */
static void put_target(struct buf *out, const struct listing *l, const char *target,
		       const struct render_options *o)
{
	size_t len = strlen(l->function);
	bool own = str_starts(target, l->function) && target[len] == '+';
	const char *end = target + strlen(target), *plus = strrchr(target, '+');
	struct str bare;

	const char *gap = o->unicode ? "\xe2\x80\xa6" : "..";
	buf_auto name = { 0 };

	buf_puts(out, " <");
	if (own) {
		str_escape(out, str_of(target + len));
		buf_u8(out, '>');
		return;
	}
	/* The name, then what is said of it: "operator new(unsigned long)@plt", "mix(long)+0x10". */
	if (plus && str_starts(plus, "+0x"))
		end = plus;
	if (end - target > 4 && !memcmp(end - 4, "@plt", 4))
		end -= 4;
	bare = name_bare((struct str){ target, (size_t)(end - target) });
	name_shorten(&name, bare, TARGET_MOST, gap);
	str_escape(out, (struct str){ buf_str(&name), name.len });
	str_escape(out, str_of(end));
	buf_u8(out, '>');
}

void text_instruction(struct buf *out, const struct listing *l, const struct listing_row *row,
		      const struct render_options *o)
{
	const char *tab = strchr(row->text, '\t');
	size_t len = tab ? (size_t)(tab - row->text) : strlen(row->text);

	text_source(out, (struct str){ row->text, len });
	if (tab) {
		text_spaces(out, len < MNEMONIC ? MNEMONIC - len + 1 : 1);
		text_source(out, str_of(tab + 1));
	}
	if (row->target)
		put_target(out, l, row->target, o);
}

static void put_label(struct buf *out, const struct render_options *o, const char *label)
{
	text_style(out, o, STYLE_DIM);
	buf_puts(out, label);
	text_plain(out, o);
	text_spaces(out, LABEL - strlen(label));
}

static void put_labelled(struct buf *out, const struct render_options *o, const char *label,
			 const char *text)
{
	buf_auto safe = { 0 };

	put_label(out, o, label);
	str_escape(&safe, str_of(text));
	text_wrap(out, o, LABEL, (struct str){ buf_str(&safe), safe.len });
	buf_u8(out, '\n');
}

void text_listing_samples(struct buf *out, const struct listing *l)
{
	str_count(out, l->samples);
	buf_printf(out, ", %.2f %% of all time", l->pct);
	if (l->self_samples < l->samples && l->self_samples)
		buf_printf(out, ": %.2f %% its own, %.2f %% code inlined into it", l->self_pct,
			   l->pct - l->self_pct);
	else if (l->self_samples < l->samples)
		buf_puts(out, ": all of it code inlined into it");
}

/* The hottest instructions, by index in rows. */
struct hottest {
	const struct listing_row *at[HOTTEST_MOST];
	size_t count, instructions;
};

static void find_hottest(struct hottest *h, const struct listing *l)
{
	*h = (struct hottest){ .count = 0 };
	vec_each(row, &l->rows) {
		size_t i = h->count;

		if (row->kind != LISTING_INSTRUCTION)
			continue;
		h->instructions++;
		if (!row->samples)
			continue;
		if (i == HOTTEST_MOST && h->at[i - 1]->function_pct >= row->function_pct)
			continue;
		if (i < HOTTEST_MOST)
			h->count++;
		else
			i--;
		for (; i && h->at[i - 1]->function_pct < row->function_pct; i--)
			h->at[i] = h->at[i - 1];
		h->at[i] = row;
	}
}

/* "memlat.c:81", or "" where the line is not known. */
static void put_place(struct buf *out, const struct listing_row *row, bool unicode)
{
	const char *slash = row->file ? strrchr(row->file, '/') : NULL;
	buf_auto place = { 0 };

	if (!row->file || !row->line)
		return;
	str_escape(&place, str_of(slash ? slash + 1 : row->file));
	buf_printf(&place, ":%u", row->line);
	text_fit(out, (struct str){ buf_str(&place), place.len }, PLACE_MOST, CUT_LEFT, unicode);
}

static size_t columns_of(struct buf *b)
{
	return str_columns((struct str){ buf_str(b), b->len });
}

/* How wide each column must be for all of these rows. */
struct widths {
	size_t address, samples, place;
};

static struct widths measure(const struct hottest *h, const struct render_options *o)
{
	struct widths w = { 0 };

	for (size_t i = 0; i < h->count; i++) {
		buf_auto b = { 0 };

		buf_printf(&b, "%llx", (unsigned long long)h->at[i]->address);
		w.address = b.len > w.address ? b.len : w.address;
		buf_clear(&b);
		str_count(&b, h->at[i]->samples);
		w.samples = b.len > w.samples ? b.len : w.samples;
		buf_clear(&b);
		put_place(&b, h->at[i], o->unicode);
		w.place = columns_of(&b) > w.place ? columns_of(&b) : w.place;
	}
	return w;
}

/* The line, cut at the terminal's edge: what comes last says least. */
static void put_hot(struct buf *out, const struct listing *l, const struct listing_row *row,
		    const struct widths *w, const struct render_options *o)
{
	size_t room = o->columns > LABEL + TEXT_LEAST ? o->columns - LABEL : TEXT_LEAST;
	buf_auto line = { 0 };
	buf_auto samples = { 0 };
	buf_auto place = { 0 };

	str_count(&samples, row->samples);
	put_place(&place, row, o->unicode);
	buf_printf(&line, "%*llx  %6.2f %%  %*s", (int)w->address, (unsigned long long)row->address,
		   row->function_pct, (int)w->samples, buf_str(&samples));
	if (w->place) {
		text_spaces(&line, GAP);
		buf_add(&line, place.at, place.len);
		if (row->text)
			text_spaces(&line, w->place - columns_of(&place));
	}
	if (row->text) {
		text_spaces(&line, GAP);
		text_instruction(&line, l, row, o);
	}
	if (o->columns)
		text_fit(out, (struct str){ buf_str(&line), line.len }, room, CUT_RIGHT,
			 o->unicode);
	else
		buf_add(out, line.at, line.len);
	buf_u8(out, '\n');
}

static void put_hottest(struct buf *out, const struct listing *l, const struct render_options *o)
{
	struct hottest h;
	struct widths w;

	find_hottest(&h, l);
	if (h.instructions <= HOTTEST_FROM)
		return;
	w = measure(&h, o);
	for (size_t i = 0; i < h.count; i++) {
		if (i)
			text_spaces(out, LABEL);
		else
			put_label(out, o, "hottest");
		put_hot(out, l, h.at[i], &w, o);
	}
}

void text_listing_head(struct buf *out, const struct listing *l, const struct render_options *o)
{
	buf_auto text = { 0 };

	buf_printf(&text, "%s in %s", l->function, l->image[0] ? l->image : "no known image");
	if (l->size)
		buf_printf(&text, ", 0x%llx, %llu bytes", (unsigned long long)l->address,
			   (unsigned long long)l->size);
	if (l->syntax[0])
		buf_printf(&text, ", %s", l->syntax);
	put_labelled(out, o, "function", buf_str(&text));
	buf_clear(&text);
	text_listing_samples(&text, l);
	put_labelled(out, o, "samples", buf_str(&text));
	put_labelled(out, o, "counts", l->caution);
	put_hottest(out, l, o);
}

/* Is there a line that its text stands above? */
static bool shows_source(const struct listing *l)
{
	vec_each(row, &l->rows)
		if (row->kind == LISTING_SOURCE && row->text)
			return true;
	return false;
}

void text_listing_legend(struct buf *out, const struct listing *l, const struct render_options *o)
{
	buf_auto text = { 0 };

	buf_puts(&text, "* the hottest, and every one with a tenth of the function or more, where "
			"there are 10 samples at least. Shares are of the function's samples");
	if (shows_source(l))
		buf_puts(&text, "; a source line has the sum of the instructions under it");
	buf_u8(&text, '.');
	buf_u8(out, '\n');
	text_style(out, o, STYLE_DIM);
	text_wrap(out, o, 0, (struct str){ buf_str(&text), text.len });
	text_plain(out, o);
	buf_u8(out, '\n');
}
