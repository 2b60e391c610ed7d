/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes the bytes of a perf.data file and of the records that a recorder invents itself. Nothing is
 * written here; the caller puts the bytes where they belong. Layout of the file:
 *   header 104 | attributes with their id sections | ids | data ... | feature table | features
 */
#ifndef CULPRIT_DECODE_PERFDATA_WRITE_H
#define CULPRIT_DECODE_PERFDATA_WRITE_H

#include "base/mem.h"
#include "base/str.h"
#include "decode/perfdata.h"

struct perfdata_new_event {
	const char *name;
	struct str attr; /* struct perf_event_attr as the kernel took it */
	const uint64_t *ids;
	size_t id_count;
};

/*
 * Header, attributes and ids for these events, with a data size of data_bytes (0 while recording)
 * and the feature bits set. The result always has the same length for the same events, so that it
 * can be written again over the first one when the data is complete.
 */
void perfdata_put_header(struct buf *out, const struct perfdata_new_event *events, size_t count,
			 uint64_t data_bytes, const uint64_t feature_bits[4]);

/* Collects features in order, then gives the table and the sections as one block. */
struct perfdata_features {
	uint64_t bits[4];
	struct {
		uint64_t start, len;
	} sections[PERFDATA_F_COUNT];
	struct buf bytes;
};
/* Features must be added in rising order. */
void perfdata_add_text(struct perfdata_features *f, enum perfdata_feature which, const char *text);
void perfdata_add_nrcpus(struct perfdata_features *f, uint32_t available, uint32_t online);
void perfdata_add_u64(struct perfdata_features *f, enum perfdata_feature which, uint64_t value);
void perfdata_add_cmdline(struct perfdata_features *f, char *const *argv);
void perfdata_add_event_desc(struct perfdata_features *f, const struct perfdata_new_event *events,
			     size_t count);
void perfdata_add_sample_time(struct perfdata_features *f, uint64_t first_ns, uint64_t last_ns);
void perfdata_add_build_ids(struct perfdata_features *f, const struct perfdata_build_id *ids,
			    size_t count);
/* The table and sections, to be written at file_offset, right behind the data. */
void perfdata_put_features(struct buf *out, const struct perfdata_features *f,
			   uint64_t file_offset);
void perfdata_features_done(struct perfdata_features *f);

/* Synthesised records. The stamp is added in the layout of sample_type when sample_id_all. */
struct perfdata_style {
	uint64_t sample_type;
	bool sample_id_all;
	uint64_t id; /* for IDENTIFIER and ID */
};
void perfdata_put_comm(struct buf *out, const struct perfdata_style *st, uint32_t pid, uint32_t tid,
		       const char *comm, bool exec, uint64_t time_ns);
void perfdata_put_fork(struct buf *out, const struct perfdata_style *st, uint32_t pid,
		       uint32_t ppid, uint32_t tid, uint32_t ptid, uint64_t time_ns);
/* MMAP2; misc is the cpumode (1 kernel, 2 user); the build-id form when has_build_id. */
void perfdata_put_mmap2(struct buf *out, const struct perfdata_style *st, uint16_t cpumode,
			const struct perfdata_mmap *m, uint64_t time_ns);
void perfdata_put_finished_round(struct buf *out);
void perfdata_put_finished_init(struct buf *out);

#endif
