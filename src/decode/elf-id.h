/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The little that the agent must know of an ELF file: that it is one, for which machine, its build
 * id. Both classes, both byte orders. Source: System V gABI, chapters 4 and 5; the note is
 * NT_GNU_BUILD_ID (type 3, name "GNU").
 */
#ifndef CULPRIT_DECODE_ELF_ID_H
#define CULPRIT_DECODE_ELF_ID_H

#include "base/cursor.h"
#include "base/err.h"

struct elf_id {
	uint16_t machine, type; /* EM_*, ET_* */
	bool is_64;
	uint8_t build_id[20];
	uint8_t build_id_len; /* 0 when there is none; an all-zero id counts as none */
};

/* Reads len bytes at offset into to; fewer when the file ends; negative on failure. */
typedef long elf_read_fn(void *ctx, void *to, size_t len, uint64_t offset);

/* Looks at program headers first, then sections. ERR_FORMAT when it is no ELF file. */
ERR_CHECKED bool elf_id_read(struct elf_id *out, const char *name, elf_read_fn *read, void *ctx,
			     struct err *err);
/* Finds the build-id note in a block of notes (also /sys/kernel/notes). */
bool elf_id_notes(struct cursor *notes, uint64_t align, uint8_t id[20], uint8_t *id_len);
/* Lower-case hex, terminated; hex has 2 * len + 1 bytes. */
void elf_id_hex(const uint8_t *id, size_t len, char *hex);

#endif
