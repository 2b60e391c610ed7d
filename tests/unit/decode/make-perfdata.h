/* SPDX-License-Identifier: Apache-2.0 */
/* Builds perf.data files byte by byte, in either byte order, independently of the writer. */
#ifndef MAKE_PERFDATA_H
#define MAKE_PERFDATA_H

#include "decode/perfdata.h"

enum { MAKE_EVENTS = 3, MAKE_IDS = 4, MAKE_FEATURES = 10 };

/* Flags of struct perf_event_attr by bit number. */
enum {
	MAKE_INHERIT = 1,
	MAKE_EXCLUDE_KERNEL = 5,
	MAKE_FREQ = 10,
	MAKE_SAMPLE_ID_ALL = 18,
	MAKE_USE_CLOCKID = 25,
	MAKE_BUILD_ID = 34,
};

struct make_event {
	uint32_t type;
	uint64_t config, period, sample_type, read_format, flags;
	uint64_t branch, regs_user, regs_intr;
	uint32_t stack_user, clockid;
	uint32_t attr_bytes; /* 0: 128 */
	uint8_t last_byte;   /* of the attribute */
	uint64_t ids[MAKE_IDS];
	size_t id_count;
};

struct make {
	bool swap;
	struct make_event events[MAKE_EVENTS];
	size_t event_count;
	struct buf data;
	struct {
		unsigned bit;
		struct buf bytes;
	} features[MAKE_FEATURES]; /* in rising order */
	size_t feature_count;
};

/* Places of header fields, for tests that damage them. */
enum {
	MAKE_AT_SIZE = 8,
	MAKE_AT_ATTR_SIZE = 16,
	MAKE_AT_ATTRS_OFFSET = 24,
	MAKE_AT_ATTRS_SIZE = 32,
	MAKE_AT_DATA_OFFSET = 40,
	MAKE_AT_DATA_SIZE = 48,
	MAKE_AT_BITS = 72,
};

void make_u16(struct buf *b, bool swap, uint16_t v);
void make_u32(struct buf *b, bool swap, uint32_t v);
void make_u64(struct buf *b, bool swap, uint64_t v);
void make_set_u32(struct buf *b, bool swap, size_t at, uint32_t v);
void make_set_u64(struct buf *b, bool swap, size_t at, uint64_t v);

/* A record in m->data; what is added to m->data between the two calls is its body. */
size_t make_begin(struct make *m, uint32_t type, uint16_t misc);
void make_end(struct make *m, size_t start);
void make_text(struct make *m, const char *text); /* padded to 8 */

/* The bytes of a new feature section. */
struct buf *make_feature(struct make *m, unsigned bit);
void make_string(struct buf *b, bool swap, const char *text); /* as features hold it */

/* Header, attributes, ids, data, feature table, features. */
void make_file(const struct make *m, struct buf *out);
void make_done(struct make *m);

/* Opens the file from a copy that ends at a guard page; fails the test when it cannot. */
void make_open(const struct make *m, struct perfdata *pd);

#endif
