/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings made in memory, record by record, and what a model says of them as text. Times are in
 * nanoseconds; mappings have inodes, not build ids, unless said otherwise.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "model/model.h"

enum { REC_KERNEL = 1, REC_USER = 2, REC_HYPERVISOR = 3, REC_GUEST_KERNEL = 4 };
enum { MISC_EXEC = 1 << 13 }; /* of COMM and of FORK */

#define MARK_KERNEL ((uint64_t)-128)
#define MARK_USER ((uint64_t)-512)

struct recording {
	struct buf data;
	uint64_t sample_type; /* 0: IP, TID, TIME, PERIOD and CALLCHAIN */
	bool no_stamps;	      /* side-band records without times */
	const char *arch;     /* feature; NULL: x86_64 */
	/* BUILD_ID feature. */
	struct perfdata_build_id build_ids[4];
	size_t build_id_count;
	size_t events; /* 0 is 1; ids are 1, 2, ... and sample_type then has IDENTIFIER */
	uint64_t period;
	uint64_t flags; /* more bits of the attribute: 1 << 4 excludes user, 1 << 5 kernel code */
};

/* A chain of ips ends at the first 0; NULL is a sample without chain entries. */
void rec_sample(struct recording *r, uint16_t misc, uint32_t pid, uint32_t tid, uint64_t t,
		uint64_t ip, const uint64_t *chain);
/* The same, of the event with this id. */
void rec_sample_of(struct recording *r, uint64_t id, uint32_t pid, uint64_t t, uint64_t ip);
void rec_mmap(struct recording *r, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
	      uint64_t inode, const char *path, uint64_t t);
void rec_mmap_id(struct recording *r, uint32_t pid, uint64_t start, uint64_t len, uint64_t pgoff,
		 uint8_t id_byte, const char *path, uint64_t t);
void rec_comm(struct recording *r, uint16_t misc, uint32_t pid, uint32_t tid, const char *comm,
	      uint64_t t);
void rec_fork(struct recording *r, uint16_t misc, uint32_t pid, uint32_t ppid, uint32_t tid,
	      uint32_t ptid, uint64_t t);
void rec_exit(struct recording *r, uint32_t pid, uint32_t tid, uint64_t t);
void rec_lost(struct recording *r, uint32_t type, uint64_t lost, uint64_t t);
void rec_round(struct recording *r);
void rec_empty(struct recording *r, uint32_t type, uint64_t t); /* a body of 24 zero bytes */

/* A whole file of it, to be opened; bytes are the caller's. */
void rec_file(const struct recording *r, struct buf *file);
/* Loads the file, less cut bytes off its end; fails the test when that fails. Releases r. */
struct model *rec_load(struct recording *r, const struct model_options *options);
struct model *rec_load_cut(struct recording *r, size_t cut);

/*
 * One line for each pair of thread and stack, in the order of the model's weights:
 * "comm(process) pid/tid samples: frame<frame". A frame is image+hex, with '-' behind it when it is
 * a return address; the image is the last part of its path.
 */
const char *rec_dump(struct model *m);
/* The image whose path ends so; fails the test when there is not exactly one. */
const struct model_image *rec_image(const struct model *m, const char *path_end);

#endif
