/* SPDX-License-Identifier: Apache-2.0 */
/* A heap of records by time. */
#include "model/sideband.h"

static bool is_before(const struct sideband_item *a, const struct sideband_item *b)
{
	return a->t != b->t ? a->t < b->t : a->rec.offset < b->rec.offset;
}

void sideband_push(struct sideband *sb, uint64_t t, const struct perfdata_record *rec)
{
	struct sideband_item item = { t, *rec };
	size_t i = sb->heap.len;

	(void)vec_push(&sb->heap);
	while (i && is_before(&item, &sb->heap.at[(i - 1) / 2])) {
		sb->heap.at[i] = sb->heap.at[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	sb->heap.at[i] = item;
}

bool sideband_pop(struct sideband *sb, uint64_t t, struct sideband_item *out)
{
	struct sideband_item last;
	size_t i = 0, child, len = sb->heap.len;

	if (!len || sb->heap.at[0].t > t)
		return false;
	*out = sb->heap.at[0];
	last = sb->heap.at[--len];
	sb->heap.len = len;
	while ((child = 2 * i + 1) < len) {
		if (child + 1 < len && is_before(&sb->heap.at[child + 1], &sb->heap.at[child]))
			child++;
		if (!is_before(&sb->heap.at[child], &last))
			break;
		sb->heap.at[i] = sb->heap.at[child];
		i = child;
	}
	if (len)
		sb->heap.at[i] = last;
	return true;
}

void sideband_done(struct sideband *sb)
{
	vec_done(&sb->heap);
}
