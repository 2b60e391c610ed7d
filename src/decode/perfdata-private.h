/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the files that read perf.data; nobody outside decode/ includes it. */
#ifndef CULPRIT_DECODE_PERFDATA_PRIVATE_H
#define CULPRIT_DECODE_PERFDATA_PRIVATE_H

#include "decode/perfdata.h"

/* Notes for the user; all land in the arena. */
void perfdata_note(struct perfdata *pd, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* True when [offset, offset + size) lies in the file. */
static inline bool perfdata_inside(const struct perfdata *pd, uint64_t offset, uint64_t size)
{
	return offset <= pd->len && size <= pd->len - offset;
}

/* A cursor over bytes that perfdata_inside has found to be there. */
static inline struct cursor perfdata_cursor(const struct perfdata *pd, uint64_t offset,
					    uint64_t size)
{
	struct cursor c = cursor_of(pd->name, pd->bytes + offset, (size_t)size);

	c.base = offset;
	c.swap = pd->swap;
	return c;
}

/* Steps of perfdata_open, in this order. */
ERR_CHECKED bool perfdata_read_attrs(struct perfdata *pd, uint64_t entry_bytes, uint64_t offset,
				     uint64_t size, struct err *err);
void perfdata_plan_layouts(struct perfdata *pd);
void perfdata_check_features(struct perfdata *pd); /* drops what cannot be read, with notes */
void perfdata_name_events(struct perfdata *pd);

/*
 * The hot path reads records in place. Every caller has compared the offset with the body's length
 * before, once for all fields of fixed place, which a cursor would do for each.
 */
static inline uint64_t perfdata_get64(const struct perfdata *pd, const uint8_t *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return pd->swap ? __builtin_bswap64(v) : v;
}

static inline uint32_t perfdata_get32(const struct perfdata *pd, const uint8_t *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return pd->swap ? __builtin_bswap32(v) : v;
}

static inline uint16_t perfdata_get16(const struct perfdata *pd, const uint8_t *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return pd->swap ? __builtin_bswap16(v) : v;
}

/* The attribute with this id; NULL when there is none. Id 0 is the first one's, as perf has it. */
static inline const struct perfdata_attr *perfdata_attr_of(const struct perfdata *pd, uint64_t id)
{
	const uint64_t *index = map_find(&pd->ids, id);

	if (index)
		return &pd->attrs[*index];
	return id ? NULL : pd->attrs;
}

#endif
