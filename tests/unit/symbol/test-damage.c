/* SPDX-License-Identifier: Apache-2.0 */
/* ELF and DWARF that are cut, bent or not what they claim: a state and a reason, never a crash. */
#include "build.h"

#include <stdlib.h>

static const char source[] =
	"static volatile int t;\n"
	"static inline __attribute__((always_inline)) void in(int n)\n"
	"{ t += n; }\n"
	"__attribute__((noinline)) int one(int n) { in(n); in(3); return t; }\n"
	"int main(int argc, char **argv) { return one(argc) + !argv; }\n";

/* Resolves a few addresses of bytes given as a file; the state of the image. */
static enum symbol_image_state resolve_bytes(const uint8_t *bytes, size_t len, uint64_t offset)
{
	const char *path = build_path("damaged");
	enum symbol_image_state state;
	struct err err;
	struct ask a;

	CHECK(os_save_file(path, bytes, len, &err));
	ask_init(&a, path);
	for (uint64_t i = 0; i < 12; i++)
		vec_add(&a.model.addrs, ((struct model_addr){ .address = offset + i * 4 }));
	vec_add(&a.model.addrs, ((struct model_addr){ .address = UINT64_MAX }));
	vec_add(&a.model.addrs, ((struct model_addr){ .is_return = true }));
	ask_resolve(&a);
	state = a.symbols->images[0].state;
	if (state == SYMBOL_IMAGE_UNREADABLE)
		CHECK(a.symbols->images[0].why[0]);
	ask_done(&a);
	return state;
}

static void make(struct buf *image, uint64_t *offset)
{
	const char *path = build_path("whole");
	struct err err;

	build_needs("gcc");
	build_file("w.c", source);
	build_run("gcc -O1 -g w.c -o whole");
	CHECK(os_load_file(path, 1 << 24, image, &err));
	*offset = build_offset(path, build_symbol(path, "one"));
}

TEST_TIMEOUT(cut_at_many_lengths, 300)
{
	buf_auto image = { 0 };
	uint64_t offset;

	make(&image, &offset);
	CHECK_EQ_INT(resolve_bytes(image.at, image.len, offset), SYMBOL_IMAGE_FULL);
	for (size_t len = 0; len < image.len; len += len < 1024 ? 13 : 101)
		CHECK_EQ_INT(resolve_bytes(image.at, len, offset), SYMBOL_IMAGE_UNREADABLE);
	CHECK_EQ_INT(resolve_bytes(image.at, image.len - 1, offset), SYMBOL_IMAGE_UNREADABLE);
}

TEST_TIMEOUT(bent_bytes, 300)
{
	buf_auto image = { 0 };
	uint64_t offset;
	uint64_t seed = 99;

	make(&image, &offset);
	for (int round = 0; round < 600; round++) {
		uint8_t saved[8];
		size_t at[8];

		for (int i = 0; i < 8; i++) {
			seed = hash_u64(seed + (uint64_t)i + 1);
			/* The second half of the rounds goes for headers and section headers. */
			at[i] = (size_t)(seed % image.len);
			if (round > 300)
				at[i] = round & 1 ? (size_t)(seed % 1024) :
						    image.len - 1 - (size_t)(seed % 2600);
			saved[i] = image.at[at[i]];
			image.at[at[i]] = (uint8_t)(seed >> 32);
		}
		(void)resolve_bytes(image.at, image.len, offset);
		for (int i = 8; i-- > 0;)
			image.at[at[i]] = saved[i];
	}
}

/* Every byte of the debug sections in turn becomes 0xff, 0x80 and 0. */
TEST_TIMEOUT(bent_dwarf, 300)
{
	static const char *const names[] = { ".debug_info", ".debug_abbrev", ".debug_line",
					     ".debug_rnglists", ".symtab" };
	static const uint8_t values[] = { 0xff, 0x80, 0x00 };
	buf_auto image = { 0 };
	uint64_t offset;
	struct elf_file e;
	struct err err;

	make(&image, &offset);
	CHECK(elf_file_open(&e, build_path("whole"), ELF_MAP, &err));
	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++) {
		const struct elf_section *s = elf_find_section(&e, names[n]);
		size_t step = n == 4 ? 7 : 3;

		for (uint64_t i = 0; s && i < s->size; i += step) {
			uint8_t *byte = image.at + s->offset + i;
			uint8_t saved = *byte;

			*byte = values[i % 3];
			(void)resolve_bytes(image.at, image.len, offset);
			*byte = saved;
		}
	}
	elf_file_close(&e);
}

TEST(not_an_elf_file)
{
	static const uint8_t text[] = "#!/bin/sh\necho this is a script that somebody mapped\n";

	CHECK_EQ_INT(resolve_bytes(text, sizeof(text), 4), SYMBOL_IMAGE_UNREADABLE);
	CHECK_EQ_INT(resolve_bytes(text, 0, 4), SYMBOL_IMAGE_UNREADABLE);
}

TEST(a_fifo_and_a_directory_do_not_block)
{
	struct ask a;

	build_run("mkfifo pipe");
	ask_init(&a, build_path("pipe"));
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x1000 }));
	ask_resolve(&a);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_UNREADABLE);
	CHECK_HAS(a.symbols->images[0].why, "is not a regular file");
	ask_done(&a);
	ask_init(&a, test_tmpdir());
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x1000 }));
	ask_resolve(&a);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_UNREADABLE);
	ask_done(&a);
}

/* A million functions that all cover everything must end soon, with an error. */
TEST(symbols_that_overlap_without_end)
{
	enum { ADDRESSES = 5000, SYMBOLS = 1000000 };
	uint64_t *at = mem_alloc(ADDRESSES * sizeof(at[0]));
	uint64_t begin = os_now_ns();
	struct select s;

	for (uint64_t i = 0; i < ADDRESSES; i++)
		at[i] = 0x100000 + i;
	select_init(&s, (struct wanted){ at, ADDRESSES });
	for (uint64_t i = 0; i < SYMBOLS && !s.overflow; i++)
		select_add(&s, &(struct select_symbol){ "f", i, 1 << 24, UINT64_MAX, 0, 4 });
	CHECK(s.overflow);
	select_done(&s);
	free(at);
	CHECK(os_now_ns() - begin < 10000000000ull);
}

static void put_header(struct buf *file, uint16_t type, uint16_t segments, uint16_t sections)
{
	Elf64_Ehdr h = {
		.e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = type,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_phoff = segments ? sizeof(Elf64_Ehdr) : 0,
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = segments,
		.e_shoff = sections ? sizeof(Elf64_Ehdr) : 0,
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = sections,
	};

	buf_add(file, &h, sizeof(h));
}

/* A file of that many loaded segments, and other headers that do not count. */
static enum symbol_image_state resolve_segments(unsigned loaded, unsigned others, const char **why)
{
	buf_auto file = { 0 };
	enum symbol_image_state state;
	struct err err;
	struct ask a;

	put_header(&file, ET_DYN, (uint16_t)(loaded + others), 0);
	for (unsigned i = 0; i < loaded + others; i++) {
		Elf64_Phdr p = {
			.p_type = i < others ? PT_NULL : PT_LOAD,
			.p_offset = i,
			.p_filesz = 1,
			.p_align = 1,
		};

		buf_add(&file, &p, sizeof(p));
	}
	CHECK(os_save_file(build_path("segments"), file.at, file.len, &err));
	ask_init(&a, build_path("segments"));
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x1000 }));
	ask_resolve(&a);
	state = a.symbols->images[0].state;
	*why = build_keep("%s", a.symbols->images[0].why);
	ask_done(&a);
	return state;
}

/* Every address is compared with every segment. */
TEST(segments_without_end)
{
	const char *why;

	CHECK_EQ_INT(resolve_segments(3, 65000, &why), SYMBOL_IMAGE_NONE);
	CHECK_EQ_INT(resolve_segments(256, 0, &why), SYMBOL_IMAGE_NONE);
	CHECK_EQ_STR(why, "");
	CHECK_EQ_INT(resolve_segments(257, 1000, &why), SYMBOL_IMAGE_UNREADABLE);
	CHECK_HAS(why, "segments has more than 256 loaded segments");
	CHECK_EQ_INT(resolve_segments(65000, 0, &why), SYMBOL_IMAGE_UNREADABLE);
}

/* An object with as many sections as a header can count, all asked for. */
TEST_TIMEOUT(sections_without_end, 20)
{
	enum { SECTIONS = 60000, SIZE = 16, TEXT = 64 + (SECTIONS + 2) * 64 };
	buf_auto file = { 0 };
	const struct elf_section *s;
	struct elf_file e;
	struct err err;
	uint64_t address;

	/* From last to first; the last header overlaps two sections and goes on behind them. */
	put_header(&file, ET_REL, 0, SECTIONS + 2);
	for (uint64_t i = 0; i < SECTIONS + 2; i++) {
		Elf64_Shdr h = {
			.sh_type = i ? SHT_PROGBITS : SHT_NULL,
			.sh_flags = i ? SHF_ALLOC | SHF_EXECINSTR : 0,
			.sh_offset = TEXT + (SECTIONS - i) * SIZE,
			.sh_size = i ? SIZE - 1 : 0,
		};

		if (i > SECTIONS) {
			h.sh_offset = TEXT + 4;
			h.sh_size = 2 * SIZE;
		}
		buf_add(&file, &h, sizeof(h));
	}
	memset(buf_room(&file, SECTIONS * SIZE), 0, SECTIONS * SIZE);
	CHECK(os_save_file(build_path("sections"), file.at, file.len, &err));
	CHECK_MSG(elf_file_open(&e, build_path("sections"), ELF_MAP, &err), "%s", err.text);
	for (uint64_t at = TEXT; at < TEXT + SECTIONS * SIZE; at++) {
		bool gap = (at - TEXT) % SIZE == SIZE - 1;

		s = elf_code_at(&e, at);
		address = 0;
		CHECK(elf_file_address(&e, at, &address) == !gap);
		CHECK_EQ_U64(address, gap ? 0 : at);
		if (gap)
			CHECK(!s);
		else
			CHECK(s == &e.sections.at[SECTIONS - (at - TEXT) / SIZE]);
	}
	CHECK(!elf_code_at(&e, TEXT - 1) && !elf_code_at(&e, UINT64_MAX));
	CHECK(!elf_file_address(&e, TEXT + SECTIONS * SIZE, &address));
	elf_file_close(&e);
}
