/* SPDX-License-Identifier: Apache-2.0 */
/* A listing as JSON keys of the report's object (docs/json.md). */
#include <stdio.h>

#include "base/os.h"
#include "render/listing.h"

enum { PCT_DECIMALS = 4 };

static const char no_symbol[] = "no symbol says where the function begins";

static void put_address(struct jw *j, const char *key, uint64_t address)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)address);
	jw_string(j, key, text);
}

/* "mov\trax, 1" with a blank for the tab. */
static void put_text(struct jw *j, const struct listing_row *row, const char *why)
{
	buf_auto text = { 0 };

	if (!row->text) {
		jw_null(j, "text");
		jw_string(j, "text_why", why ? why : "no code is known at this address");
		return;
	}
	buf_puts(&text, row->text);
	for (size_t i = 0; i < text.len; i++)
		if (text.at[i] == '\t')
			text.at[i] = ' ';
	jw_text(j, "text", (struct str){ buf_str(&text), text.len });
}

static void put_place(struct jw *j, const struct listing *l, const struct listing_row *row)
{
	if (!row->file || !row->line) {
		jw_null(j, "source");
		jw_string(j, "source_why",
			  l->lines_why ? l->lines_why : "the line table has no line for it");
		jw_null(j, "file");
		jw_null(j, "line");
		return;
	}
	{
		char_auto place = mem_printf("%s:%u", row->file, row->line);

		jw_string(j, "source", place);
	}
	jw_string(j, "file", row->file);
	jw_integer(j, "line", row->line);
}

static void put_shares(struct jw *j, uint64_t samples, double pct, double function_pct)
{
	jw_integer(j, "samples", (int64_t)samples);
	jw_real(j, "pct", pct, PCT_DECIMALS);
	jw_real(j, "function_pct", function_pct, PCT_DECIMALS);
}

static void put_instruction(struct jw *j, const struct listing *l, const struct listing_row *row)
{
	jw_open(j, NULL, '{', JSON_FLAT);
	put_address(j, "address", row->address);
	if (l->size) {
		jw_integer(j, "offset", row->offset);
	} else {
		jw_null(j, "offset");
		jw_string(j, "offset_why", no_symbol);
	}
	put_text(j, row, l->code_why);
	put_place(j, l, row);
	jw_string(j, "inlined", row->inlined);
	jw_string(j, "target", row->target);
	put_shares(j, row->samples, row->pct, row->function_pct);
	jw_close(j, '}');
}

static void put_line(struct jw *j, const struct listing_line *line)
{
	jw_open(j, NULL, '{', JSON_FLAT);
	jw_string(j, "file", line->file);
	jw_integer(j, "line", line->line);
	jw_string(j, "text", line->text);
	if (!line->text)
		jw_string(j, "text_why", "the source is not here");
	put_shares(j, line->samples, line->pct, line->function_pct);
	jw_close(j, '}');
}

void json_listing(struct jw *j, const struct listing *l)
{
	jw_string(j, "function", l->function);
	jw_string(j, "raw_name", l->raw_name);
	jw_string(j, "image", l->image);
	jw_string(j, "image_path", l->image_path);
	if (l->size) {
		put_address(j, "address", l->address);
	} else {
		jw_null(j, "address");
		jw_string(j, "address_why", no_symbol);
	}
	jw_integer(j, "size", (int64_t)l->size);
	jw_integer(j, "samples", (int64_t)l->samples);
	jw_real(j, "pct", l->pct, PCT_DECIMALS);
	jw_integer(j, "self_samples", (int64_t)l->self_samples);
	jw_real(j, "self_pct", l->self_pct, PCT_DECIMALS);
	jw_boolean(j, "observed", true);
	jw_string(j, "caution", l->caution);
	jw_string(j, "source_event", l->source);
	jw_string(j, "syntax", l->syntax && l->syntax[0] ? l->syntax : NULL);
	if (l->code_why)
		jw_string(j, "syntax_why", l->code_why);
	jw_open(j, "instructions", '[', JSON_LINES);
	vec_each(row, &l->rows)
		if (row->kind == LISTING_INSTRUCTION)
			put_instruction(j, l, row);
	jw_close(j, ']');
	jw_open(j, "source", '[', JSON_LINES);
	vec_each(line, &l->lines)
		put_line(j, line);
	jw_close(j, ']');
}
