/* SPDX-License-Identifier: Apache-2.0 */
/* Findings to bytes. Nothing is printed here; front/ writes the buffer. */
#ifndef CULPRIT_RENDER_RENDER_H
#define CULPRIT_RENDER_RENDER_H

#include "base/err.h"
#include "base/mem.h"
#include "store/findings.h"

struct render_options {
	uint32_t columns; /* of the terminal; 0: no terminal, lines are not cut */
	bool color;
	bool unicode; /* bars and tree lines as UTF-8, else ASCII */
	bool whole;   /* long listings are not folded */
};

typedef void render_fn(struct buf *out, const struct findings *f, const struct render_options *o);

render_fn render_text;
/* One object, "format": 1 (docs/json.md). Always valid UTF-8 JSON, ends with a newline. */
render_fn render_json;
/* RFC 4180; every table as its own block behind a "# table ID" line, evidence in "# " lines. */
render_fn render_csv;

struct renderer {
	const char *name, *suffix;
	render_fn *render;
};
/* All of them, ended by a NULL name. */
extern const struct renderer renderers[];

/* What pages that are no findings are written with, so that all text looks alike. */
enum text_style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GREEN, STYLE_YELLOW, STYLE_RED };

/* Begins and ends a style; nothing without colour. */
void text_style(struct buf *out, const struct render_options *o, enum text_style style);
void text_plain(struct buf *out, const struct render_options *o);
void text_spaces(struct buf *out, size_t count);
/* Words of s over lines of o->columns; lines after the first begin with indent spaces. */
void text_wrap(struct buf *out, const struct render_options *o, size_t indent, struct str s);

/* {"format":1,"error":{"id","message","remedy"}} and a newline. run may be NULL. */
void render_json_error(struct buf *out, const struct err *err, const char *run);

#endif
