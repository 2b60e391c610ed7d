/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an ELF file with its headers checked, and turns offsets into addresses. */
#include "symbol/parts.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Above this a file that others may write to is mapped all the same. */
enum { ELF_MAX_COPY = 8 << 20 };
/* Linkers make a handful; each address is compared with all of them. */
enum { ELF_MAX_SEGMENTS = 256 };

static bool load_bytes(struct elf_file *e, enum elf_access access, struct err *err)
{
	fd_auto fd = -1;
	struct stat st;

	if (!os_map_file(e->path, &e->map, err))
		return false;
	if (!e->map.len)
		return true;
	if (access == ELF_MAP || e->map.len > ELF_MAX_COPY) {
		/* Unpacking a compressed section, libelf edits its header, in our private copy. */
		if (mprotect((void *)(uintptr_t)e->map.bytes, e->map.len, PROT_READ | PROT_WRITE))
			return err_sys(err, errno, "cannot map %s", e->path);
		return true;
	}
	os_unmap(&e->map);
	fd = open(e->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0 || fstat(fd, &st))
		return err_sys(err, errno, "cannot open %s", e->path);
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_FORMAT, "%s is not a regular file", e->path);
	return os_read_fd(fd, e->path, ELF_MAX_COPY, &e->copy, err);
}

static struct cursor file_bytes(const struct elf_file *e)
{
	if (e->map.bytes)
		return cursor_of(e->path, e->map.bytes, e->map.len);
	return cursor_of(e->path, e->copy.at, e->copy.len);
}

/* Header tables must lie in the file: a cut file loses the end, where sections are. */
static bool check_tables(const struct elf_file *e, const GElf_Ehdr *eh, uint64_t len,
			 struct err *err)
{
	uint64_t end;

	if (eh->e_shoff &&
	    (__builtin_add_overflow(eh->e_shoff, (uint64_t)eh->e_shnum * eh->e_shentsize, &end) ||
	     eh->e_shoff >= len || end > len))
		return err_set(err, ERR_FORMAT,
			       "%s is cut: section headers at offset 0x%llx, file of 0x%llx bytes",
			       e->path, (unsigned long long)eh->e_shoff, (unsigned long long)len);
	if (eh->e_phoff &&
	    (__builtin_add_overflow(eh->e_phoff, (uint64_t)eh->e_phnum * eh->e_phentsize, &end) ||
	     end > len))
		return err_set(err, ERR_FORMAT,
			       "%s is cut: program headers at offset 0x%llx, file of 0x%llx bytes",
			       e->path, (unsigned long long)eh->e_phoff, (unsigned long long)len);
	return true;
}

static bool load_segments(struct elf_file *e, struct err *err)
{
	size_t count = 0;

	if (elf_getphdrnum(e->elf, &count))
		return err_set(err, ERR_FORMAT, "%s: program headers: %s", e->path, elf_errmsg(-1));
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr ph;

		if (!gelf_getphdr(e->elf, (int)i, &ph))
			return err_set(err, ERR_FORMAT, "%s: program header %zu: %s", e->path, i,
				       elf_errmsg(-1));
		if (ph.p_type != PT_LOAD)
			continue;
		if (e->segments.len == ELF_MAX_SEGMENTS)
			return err_set(err, ERR_LIMIT, "%s has more than %d loaded segments",
				       e->path, ELF_MAX_SEGMENTS);
		vec_add(&e->segments, ((struct elf_segment){
					      .offset = ph.p_offset,
					      .file_size = ph.p_filesz,
					      .address = ph.p_vaddr,
					      .align = ph.p_align,
					      .exec = ph.p_flags & PF_X,
				      }));
	}
	return true;
}

static bool load_sections(struct elf_file *e, struct err *err)
{
	size_t names = 0;
	Elf_Scn *scn = NULL;

	if (elf_getshdrstrndx(e->elf, &names))
		names = 0;
	/* Index 0 is the null section, which elf_nextscn leaves out. */
	vec_push(&e->sections)->name = "";
	while ((scn = elf_nextscn(e->elf, scn))) {
		struct elf_section *s = vec_push(&e->sections);
		GElf_Shdr sh;
		const char *name;

		if (!gelf_getshdr(scn, &sh))
			return err_set(err, ERR_FORMAT, "%s: section header %zu: %s", e->path,
				       elf_ndxscn(scn), elf_errmsg(-1));
		name = names ? elf_strptr(e->elf, names, sh.sh_name) : NULL;
		*s = (struct elf_section){
			.scn = scn,
			.name = name ? name : "",
			/* Sections of an object have no address yet: their offset serves as one. */
			.address = e->type == ET_REL ? sh.sh_offset : sh.sh_addr,
			.offset = sh.sh_offset,
			.size = sh.sh_size,
			.entry_size = sh.sh_entsize,
			.type = sh.sh_type,
			.link = sh.sh_link,
			.info = sh.sh_info,
			.exec = (sh.sh_flags & SHF_EXECINSTR) && (sh.sh_flags & SHF_ALLOC),
		};
	}
	return true;
}

static int compare_span(const void *a, const void *b)
{
	const struct elf_span *x = a;
	const struct elf_span *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->section > y->section) - (x->section < y->section);
}

static void add_span(struct elf_spans *spans, uint64_t start, uint64_t size, size_t section)
{
	struct elf_span span = { .start = start, .section = (uint32_t)section };

	if (__builtin_add_overflow(start, size, &span.end))
		span.end = UINT64_MAX;
	vec_add(&spans->at, span);
}

/* Objects may have a hundred thousand sections: they are searched by halves. */
static void sort_spans(struct elf_spans *spans)
{
	size_t kept = 0;

	if (spans->at.len)
		qsort(spans->at.at, spans->at.len, sizeof(spans->at.at[0]), compare_span);
	vec_each(s, &spans->at)
		if (!kept || s->start >= spans->at.at[kept - 1].end)
			spans->at.at[kept++] = *s;
	spans->at.len = kept;
}

static void index_code(struct elf_file *e)
{
	for (size_t i = 0; i < e->sections.len; i++) {
		const struct elf_section *s = &e->sections.at[i];

		if (!s->exec || !s->size)
			continue;
		add_span(&e->by_address, s->address, s->size, i);
		if (s->type != SHT_NOBITS)
			add_span(&e->by_offset, s->offset, s->size, i);
	}
	sort_spans(&e->by_address);
	sort_spans(&e->by_offset);
}

/* The section that holds the value, or NULL. */
static const struct elf_section *span_find(const struct elf_file *e, const struct elf_spans *spans,
					   uint64_t value)
{
	const struct elf_span *s;
	size_t low = 0;
	size_t high = spans->at.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (spans->at.at[mid].start <= value)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	s = &spans->at.at[low - 1];
	return value < s->end ? &e->sections.at[s->section] : NULL;
}

static void find_text_start(struct elf_file *e)
{
	uint64_t low = UINT64_MAX;

	vec_each(s, &e->sections)
		if (s->exec && s->address < low)
			low = s->address;
	e->text_start = low == UINT64_MAX ? 0 : low;
}

bool elf_file_open(struct elf_file *e, const char *path, enum elf_access access, struct err *err)
{
	struct cursor file;
	size_t len;
	GElf_Ehdr eh;

	*e = (struct elf_file){ .path = path };
	if (elf_version(EV_CURRENT) == EV_NONE)
		return err_set(err, ERR_INTERNAL, "libelf is of another version");
	if (!load_bytes(e, access, err))
		return false;
	file = file_bytes(e);
	len = cursor_left(&file);
	if (len < EI_NIDENT || memcmp(file.at, ELFMAG, SELFMAG))
		return err_set(err, ERR_FORMAT, "%s is not an ELF file", path);
	/* libelf reads only, but its call wants a pointer to bytes that may be written. */
	e->elf = elf_memory((char *)(uintptr_t)file.at, len);
	if (!e->elf || !gelf_getehdr(e->elf, &eh))
		return err_set(err, ERR_FORMAT, "%s: ELF header: %s", path, elf_errmsg(-1));
	e->type = eh.e_type;
	e->machine = eh.e_machine;
	e->is_64 = eh.e_ident[EI_CLASS] == ELFCLASS64;
	e->big_endian = eh.e_ident[EI_DATA] == ELFDATA2MSB;
	if (!check_tables(e, &eh, len, err) || !load_segments(e, err) || !load_sections(e, err))
		return false;
	find_text_start(e);
	index_code(e);
	return true;
}

void elf_file_close(struct elf_file *e)
{
	if (e->elf)
		elf_end(e->elf);
	vec_done(&e->sections);
	vec_done(&e->segments);
	vec_done(&e->by_address.at);
	vec_done(&e->by_offset.at);
	os_unmap(&e->map);
	buf_done(&e->copy);
	*e = (struct elf_file){ 0 };
}

const char *elf_file_build_id(const struct elf_file *e, struct arena *a)
{
	const void *note = NULL;
	ssize_t len = dwelf_elf_gnu_build_id(e->elf, &note);
	const uint8_t *id = note;
	buf_auto hex = { 0 };

	for (ssize_t i = 0; i < len && i < 64; i++)
		buf_printf(&hex, "%02x", id[i]);
	return arena_strdup(a, buf_str(&hex));
}

static uint64_t page_of(const struct elf_segment *s)
{
	uint64_t align = s->align;

	/* 64 KiB is the largest base page of Linux; a segment aligned to more is still mapped so. */
	if (align & (align - 1) || align < 4096)
		return 4096;
	return align > 65536 ? 65536 : align;
}

static bool segment_covers(const struct elf_segment *s, uint64_t offset, bool rounded)
{
	uint64_t page = rounded ? page_of(s) : 1;
	uint64_t start = s->offset & ~(page - 1);
	uint64_t end;

	if (!s->file_size || __builtin_add_overflow(s->offset, s->file_size, &end) ||
	    __builtin_add_overflow(end, page - 1, &end))
		return false;
	return offset >= start && offset < (end & ~(page - 1));
}

/* An object has no segments yet. */
static bool section_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	const struct elf_section *s = span_find(e, &e->by_offset, offset);

	if (s)
		*address = offset - s->offset + s->address;
	return s;
}

bool elf_file_address(const struct elf_file *e, uint64_t offset, uint64_t *address)
{
	if (!e->segments.len)
		return section_address(e, offset, address);
	/*
	 * Mappings are made of whole pages, so the ends of a segment hold bytes of its neighbours.
	 * What ran was mapped executable: such a segment comes first, even for those bytes.
	 */
	for (int pass = 0; pass < 4; pass++)
		vec_each(s, &e->segments)
			if (s->exec == (pass < 2) && segment_covers(s, offset, pass & 1)) {
				*address = offset - s->offset + s->address;
				return true;
			}
	return false;
}

static const struct elf_segment *code_segment(const struct elf_file *e, uint64_t address)
{
	vec_each(s, &e->segments)
		if (s->exec && address >= s->address && address - s->address < s->file_size)
			return s;
	return NULL;
}

bool elf_file_code(const struct elf_file *e, uint64_t address, struct cursor *code, struct err *err)
{
	const struct elf_section *section = elf_code_at(e, address);
	const struct elf_segment *segment = code_segment(e, address);
	struct cursor file = file_bytes(e);
	uint64_t skip;
	uint64_t left;

	/* Debug files keep the program headers of what they were cut from, but not the bytes. */
	if (section && section->type == SHT_NOBITS)
		return err_set(err, ERR_NOT_FOUND,
			       "%s is a debug file: it names section %s but has no code in it",
			       e->path, section->name);
	if (!segment)
		return err_set(err, ERR_NOT_FOUND, "%s has no code at 0x%llx", e->path,
			       (unsigned long long)address);
	skip = address - segment->address;
	left = segment->file_size - skip;
	if (__builtin_add_overflow(skip, segment->offset, &skip) || skip >= cursor_left(&file))
		return err_set(err, ERR_FORMAT, "%s is cut: code of 0x%llx is beyond its end",
			       e->path, (unsigned long long)address);
	cursor_skip(&file, skip);
	*code = cursor_sub(&file, left < cursor_left(&file) ? left : cursor_left(&file));
	return true;
}

const struct elf_section *elf_find_section(const struct elf_file *e, const char *name)
{
	vec_each(s, &e->sections)
		if (!strcmp(s->name, name))
			return s;
	return NULL;
}

const struct elf_section *elf_code_at(const struct elf_file *e, uint64_t address)
{
	return span_find(e, &e->by_address, address);
}
