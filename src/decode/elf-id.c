/* SPDX-License-Identifier: Apache-2.0 */
/* Finds machine, type and build id of an ELF file with few small reads. */
#include "decode/elf-id.h"

#include <elf.h>
#include <errno.h>

#include "base/mem.h"
#include "base/os.h"

enum {
	BATCH = 64,		   /* table entries per read */
	ENTRIES_MAX = 65535,	   /* e_phnum and e_shnum have 16 bits */
	NOTES_MAX_BYTES = 1 << 20, /* build ids lie in blocks of a few dozen bytes */
	NOTES_ALL_BYTES = 8 << 20,
};

struct elf_file {
	const char *name;
	elf_read_fn *read;
	void *ctx;
	bool is_64, swap;
	uint64_t ph_offset, sh_offset;
	uint16_t ph_size, ph_count, sh_size, sh_count;
	uint64_t notes_left; /* bytes of notes that may still be read */
};

static struct cursor elf_cursor(const struct elf_file *f, const void *bytes, size_t len,
				uint64_t offset)
{
	struct cursor c = cursor_of(f->name, bytes, len);

	c.base = offset;
	c.swap = f->swap;
	return c;
}

static uint64_t elf_word(const struct elf_file *f, struct cursor *c)
{
	return f->is_64 ? cursor_u64(c) : cursor_u32(c);
}

static bool header_read(struct elf_file *f, struct elf_id *id, struct err *err)
{
	uint8_t bytes[64];
	struct cursor c;
	long n;

	errno = 0;
	n = f->read(f->ctx, bytes, sizeof(bytes), 0);
	if (n < 0)
		return err_sys(err, errno ? errno : EIO, "cannot read %s", f->name);
	if (n < 6 || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return err_set(err, ERR_FORMAT, "%s is no ELF file", f->name);
	if ((bytes[EI_CLASS] != ELFCLASS32 && bytes[EI_CLASS] != ELFCLASS64) ||
	    (bytes[EI_DATA] != ELFDATA2LSB && bytes[EI_DATA] != ELFDATA2MSB))
		return err_set(err, ERR_FORMAT, "%s: unknown ELF class %u or byte order %u",
			       f->name, bytes[EI_CLASS], bytes[EI_DATA]);
	f->is_64 = bytes[EI_CLASS] == ELFCLASS64;
	f->swap = bytes[EI_DATA] == ELFDATA2MSB;
	c = elf_cursor(f, bytes, (size_t)n < sizeof(bytes) ? (size_t)n : sizeof(bytes), 0);
	cursor_skip(&c, EI_NIDENT);
	id->type = cursor_u16(&c);
	id->machine = cursor_u16(&c);
	cursor_skip(&c, f->is_64 ? 12 : 8); /* version and entry point */
	f->ph_offset = elf_word(f, &c);
	f->sh_offset = elf_word(f, &c);
	cursor_skip(&c, 6); /* flags and the header's own size */
	f->ph_size = cursor_u16(&c);
	f->ph_count = cursor_u16(&c);
	f->sh_size = cursor_u16(&c);
	f->sh_count = cursor_u16(&c);
	if (c.failed)
		return err_set(err, ERR_FORMAT, "%s: ELF header cut after %ld bytes", f->name, n);
	id->is_64 = f->is_64;
	return true;
}

static bool note_block(struct elf_file *f, uint64_t offset, uint64_t len, uint64_t align,
		       struct elf_id *id)
{
	buf_auto bytes = { 0 };
	struct cursor c;
	long n;

	if (len > NOTES_MAX_BYTES)
		len = NOTES_MAX_BYTES;
	if (!len || len > f->notes_left)
		return false;
	f->notes_left -= len;
	n = f->read(f->ctx, buf_room(&bytes, (size_t)len), (size_t)len, offset);
	if (n <= 0)
		return false;
	c = elf_cursor(f, bytes.at, (uint64_t)n < len ? (size_t)n : (size_t)len, offset);
	return elf_id_notes(&c, align, id->build_id, &id->build_id_len);
}

static bool segment_notes(struct elf_file *f, struct cursor *c, struct elf_id *id)
{
	uint32_t type = cursor_u32(c);
	uint64_t offset, len, align;

	if (type != PT_NOTE)
		return false;
	if (f->is_64)
		cursor_skip(c, 4); /* flags */
	offset = elf_word(f, c);
	cursor_skip(c, f->is_64 ? 16 : 8); /* the two addresses */
	len = elf_word(f, c);
	cursor_skip(c, 8); /* size in memory; on 32 bits size and flags */
	align = elf_word(f, c);
	return !c->failed && note_block(f, offset, len, align, id);
}

static bool section_notes(struct elf_file *f, struct cursor *c, struct elf_id *id)
{
	uint64_t offset, len, align;

	cursor_skip(c, 4); /* name */
	if (cursor_u32(c) != SHT_NOTE)
		return false;
	cursor_skip(c, f->is_64 ? 16 : 8); /* flags and address */
	offset = elf_word(f, c);
	len = elf_word(f, c);
	cursor_skip(c, 8); /* link and info */
	align = elf_word(f, c);
	return !c->failed && note_block(f, offset, len, align, id);
}

typedef bool entry_fn(struct elf_file *f, struct cursor *c, struct elf_id *id);

/* Goes through a header table in batches until visit is content or the table or file ends. */
static bool table_visit(struct elf_file *f, uint64_t offset, uint32_t size, uint32_t count,
			entry_fn *visit, struct elf_id *id)
{
	uint8_t bytes[BATCH * 64];
	uint32_t per_read;

	if (!size || size > sizeof(bytes) || !offset)
		return false;
	per_read = (uint32_t)sizeof(bytes) / size;
	for (uint32_t i = 0; i < count;) {
		uint32_t want = count - i < per_read ? count - i : per_read;
		uint64_t at;
		long n;

		if (__builtin_add_overflow(offset, (uint64_t)i * size, &at) || at > INT64_MAX)
			return false;
		n = f->read(f->ctx, bytes, (size_t)want * size, at);
		if (n < (long)size)
			return false;
		for (uint32_t k = 0; k < want && (long)(k + 1) * size <= n; k++, i++) {
			struct cursor c = elf_cursor(f, bytes + (size_t)k * size, size,
						     at + (uint64_t)k * size);

			if (visit(f, &c, id))
				return true;
		}
		if (n < (long)want * size)
			return false;
	}
	return false;
}

/* With 65,280 sections or more e_shnum is 0 and the count is the size of section 0. */
static uint32_t section_count(const struct elf_file *f)
{
	uint8_t bytes[64];
	struct cursor c;
	uint64_t count;

	if (f->sh_count || !f->sh_offset)
		return f->sh_count;
	if (f->read(f->ctx, bytes, sizeof(bytes), f->sh_offset) < (long)sizeof(bytes))
		return 0;
	c = elf_cursor(f, bytes, sizeof(bytes), f->sh_offset);
	cursor_skip(&c, f->is_64 ? 32 : 20);
	count = elf_word(f, &c);
	return count < ENTRIES_MAX ? (uint32_t)count : ENTRIES_MAX;
}

bool elf_id_read(struct elf_id *out, const char *name, elf_read_fn *read, void *ctx,
		 struct err *err)
{
	struct elf_file f = {
		.name = name, .read = read, .ctx = ctx, .notes_left = NOTES_ALL_BYTES
	};
	struct elf_id id = { 0 };

	if (!header_read(&f, &id, err))
		return false;
	if (!table_visit(&f, f.ph_offset, f.ph_size, f.ph_count, segment_notes, &id))
		table_visit(&f, f.sh_offset, f.sh_size, section_count(&f), section_notes, &id);
	*out = id;
	return true;
}

static uint64_t padded(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

bool elf_id_notes(struct cursor *notes, uint64_t align, uint8_t id[20], uint8_t *id_len)
{
	/* Whatever p_align says, notes are padded to 4 bytes unless it is 8. */
	align = align == 8 ? 8 : 4;
	while (!notes->failed && cursor_left(notes) >= 12) {
		uint64_t start = cursor_offset(notes);
		uint32_t name_len = cursor_u32(notes), len = cursor_u32(notes);
		uint32_t type = cursor_u32(notes);
		const uint8_t *name = cursor_bytes(notes, name_len);
		const uint8_t *bytes;
		uint64_t used = cursor_offset(notes) - start;

		cursor_skip(notes, padded(used, align) - used);
		bytes = cursor_bytes(notes, len);
		if (!name || !bytes)
			return false;
		if (type == NT_GNU_BUILD_ID && name_len == 4 && !memcmp(name, "GNU", 4) && len) {
			size_t n = len < 20 ? len : 20;

			if (mem_is_zero(bytes, n))
				return false;
			memset(id, 0, 20);
			memcpy(id, bytes, n);
			*id_len = (uint8_t)n;
			return true;
		}
		/* The padding behind the last note may be missing. */
		used = padded(len, align) - len;
		cursor_skip(notes, used < cursor_left(notes) ? used : cursor_left(notes));
	}
	return false;
}

void elf_id_hex(const uint8_t *id, size_t len, char *hex)
{
	static const char digits[] = "0123456789abcdef";

	for (size_t i = 0; i < len; i++) {
		hex[2 * i] = digits[id[i] >> 4];
		hex[2 * i + 1] = digits[id[i] & 15];
	}
	hex[2 * len] = 0;
}
