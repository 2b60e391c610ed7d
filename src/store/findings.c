/* SPDX-License-Identifier: Apache-2.0 */
/* Releases a findings tree. */
#include "store/findings.h"

#include <stdlib.h>

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
