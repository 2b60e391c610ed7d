/* SPDX-License-Identifier: Apache-2.0 */
/* A findings tree: what is added to it later, and its release. */
#include "store/findings.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/os.h"

void findings_free(struct findings *f)
{
	if (!f)
		return;
	for (size_t i = 0; i < f->tables.len; i++)
		vec_done(&f->tables.at[i].cells);
	vec_done(&f->target);
	vec_done(&f->evidence);
	vec_done(&f->levels);
	vec_done(&f->tables);
	vec_done(&f->findings);
	vec_done(&f->notes);
	vec_done(&f->cost);
	vec_done(&f->workload);
	if (f->listing) {
		vec_done(&f->listing->rows);
		vec_done(&f->listing->lines);
	}
	arena_done(&f->arena);
	free(f);
}

void findings_note(struct findings *f, const char *id, const char *fmt, ...)
{
	buf_auto text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	vec_add(&f->notes, ((struct note){ arena_strdup(&f->arena, id),
					   arena_strndup(&f->arena, buf_str(&text), text.len) }));
}
