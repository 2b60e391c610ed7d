/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is mapped, told apart by identity: build id when the record has one, else device, inode,
 * generation and path, else path. Two mappings of one file are one image.
 */
#ifndef CULPRIT_MODEL_IMAGES_H
#define CULPRIT_MODEL_IMAGES_H

#include "base/map.h"
#include "model/index.h"
#include "model/model.h"

/* What the BUILD_ID feature says of one path. */
struct image_hint {
	char build_id[41];
	bool claimed;	/* by the file below */
	bool ambiguous; /* two files had this path: nobody knows which one it is about */
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
};

struct images {
	struct model *m;
	struct index index;
	/* By image: which process an ANON or UNKNOWN image belongs to, and its row in hints. */
	VEC(struct image_extra {
		uint32_t process;
		uint32_t hint;
	}) extra;
	struct intern hint_paths;
	VEC(struct image_hint) hints;
	char kernel_build_id[41];
	uint32_t kernel; /* image ids, MODEL_NONE until needed */
	uint32_t guest, hypervisor;
};

/* Reads the BUILD_ID feature; must come before any other call. */
void images_init(struct images *im, struct model *m, struct perfdata *pd);
/* The image of a user mapping of process (an index), and what to add to an ip inside it. */
uint32_t images_mapped(struct images *im, const struct perfdata_mmap *map, uint32_t process,
		       uint64_t *shift);
/* The kernel's own mapping record, or any of its modules'. */
void images_kernel_mapped(struct images *im, const struct perfdata_mmap *map);
uint32_t images_kernel(struct images *im);
/* Addresses that no mapping covers. */
uint32_t images_unknown(struct images *im, uint32_t process, uint32_t pid);
uint32_t images_guest(struct images *im);
uint32_t images_hypervisor(struct images *im);
/* Settles the kernel's build id and those that turned out ambiguous; gives every image its key. */
void images_finish(struct images *im);
void images_done(struct images *im);

#endif
