/* SPDX-License-Identifier: Apache-2.0 */
/* Builds small ELF files with notes in them. */
#include "make-elf.h"

#include <elf.h>

#include "base/os.h"
#include "make-perfdata.h"

static void word(struct buf *b, struct make_elf k, uint64_t v)
{
	if (k.is_64)
		make_u64(b, k.swap, v);
	else
		make_u32(b, k.swap, (uint32_t)v);
}

void make_elf_note(struct buf *b, struct make_elf k, uint32_t type, const char *name,
		   const uint8_t *bytes, uint32_t len)
{
	make_u32(b, k.swap, (uint32_t)strlen(name) + 1);
	make_u32(b, k.swap, len);
	make_u32(b, k.swap, type);
	buf_add(b, name, strlen(name) + 1);
	buf_align(b, k.align);
	buf_add(b, bytes, len);
	buf_align(b, k.align);
}

static void put_header(struct buf *b, struct make_elf k)
{
	static const uint8_t ident[16] = { 0x7f, 'E', 'L', 'F', 0, 0, 1 };
	uint64_t table = k.is_64 ? 64 : 52;

	buf_add(b, ident, 16);
	b->at[EI_CLASS] = k.is_64 ? ELFCLASS64 : ELFCLASS32;
	b->at[EI_DATA] = k.swap ? ELFDATA2MSB : ELFDATA2LSB;
	make_u16(b, k.swap, ET_DYN);
	make_u16(b, k.swap, EM_AARCH64);
	make_u32(b, k.swap, 1);
	word(b, k, 0x1000);
	word(b, k, k.by_section ? 0 : table);
	word(b, k, k.by_section ? table : 0);
	make_u32(b, k.swap, 0);
	make_u16(b, k.swap, (uint16_t)table);
	make_u16(b, k.swap, k.is_64 ? 56 : 32);
	make_u16(b, k.swap, k.by_section ? 0 : 2);
	make_u16(b, k.swap, k.is_64 ? 64 : 40);
	make_u16(b, k.swap, k.by_section ? 2 : 0);
	make_u16(b, k.swap, 0);
}

static void put_segment(struct buf *b, struct make_elf k, uint32_t type, uint64_t offset,
			uint64_t len)
{
	make_u32(b, k.swap, type);
	if (k.is_64)
		make_u32(b, k.swap, 4);
	word(b, k, offset);
	word(b, k, offset + 0x400000);
	word(b, k, offset + 0x400000);
	word(b, k, len);
	word(b, k, len);
	if (!k.is_64)
		make_u32(b, k.swap, 4);
	word(b, k, k.align);
}

static void put_section(struct buf *b, struct make_elf k, uint32_t type, uint64_t offset,
			uint64_t len)
{
	make_u32(b, k.swap, 1);
	make_u32(b, k.swap, type);
	word(b, k, 2);
	word(b, k, offset + 0x400000);
	word(b, k, offset);
	word(b, k, len);
	make_u32(b, k.swap, 0);
	make_u32(b, k.swap, 0);
	word(b, k, k.align);
	word(b, k, 0);
}

void make_elf_file(struct buf *b, struct make_elf k, const uint8_t *id, uint32_t id_len)
{
	buf_auto notes = { 0 };
	uint64_t at;

	make_elf_note(&notes, k, NT_GNU_PROPERTY_TYPE_0, "GNU", (const uint8_t *)"0123456789a", 11);
	make_elf_note(&notes, k, NT_GNU_BUILD_ID, "GNU", id, id_len);
	put_header(b, k);
	at = b->len + 2 * (k.by_section ? (k.is_64 ? 64u : 40u) : (k.is_64 ? 56u : 32u));
	if (k.by_section) {
		put_section(b, k, SHT_NULL, 0, 0);
		put_section(b, k, SHT_NOTE, at, notes.len);
	} else {
		put_segment(b, k, PT_LOAD, 0, 0x1000);
		put_segment(b, k, PT_NOTE, at, notes.len);
	}
	buf_add(b, notes.at, notes.len);
}
