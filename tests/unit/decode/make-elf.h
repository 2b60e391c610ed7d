/* SPDX-License-Identifier: Apache-2.0 */
/* Builds small ELF files with notes in them, of each class and byte order. */
#ifndef MAKE_ELF_H
#define MAKE_ELF_H

#include "base/mem.h"

struct make_elf {
	bool is_64, swap;
	bool by_section; /* notes are found by a section, else by a segment */
	uint64_t align;	 /* of notes: 4 or 8 */
};

void make_elf_note(struct buf *b, struct make_elf k, uint32_t type, const char *name,
		   const uint8_t *bytes, uint32_t len);
/* Header, a table of two entries, a block of two notes, the build id being the second. */
void make_elf_file(struct buf *b, struct make_elf k, const uint8_t *id, uint32_t id_len);

#endif
