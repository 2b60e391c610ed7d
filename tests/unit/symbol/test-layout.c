/* SPDX-License-Identifier: Apache-2.0 */
/* Offsets become the right addresses whatever the linker's layout, and names follow. */
#include "build.h"

#include <gelf.h>

static const char layout_source[] =
	"#include <stdio.h>\n"
	"static volatile unsigned long total;\n"
	"static const char bulk[30000] = {7};\n"
	"__attribute__((noinline)) void before(void)\n"
	"{ total += 3; puts(\"x\"); }\n"
	"__attribute__((noinline)) void spin(unsigned long n)\n"
	"{\n"
	"	for (unsigned long i = 0; i < n; i++)\n"
	"		total += i ^ total;\n"
	"}\n"
	"__attribute__((noinline)) void after(void)\n"
	"{ total -= 5; puts(\"y\"); }\n"
	"int main(int argc, char **argv)\n"
	"{ before(); spin(argc); after(); return bulk[argc] + !argv; }\n";

static void check_layout(const char *compiler, const char *flags)
{
	const char *path = build_path("layout");
	uint64_t spin;
	uint64_t after;
	struct ask a;

	build_file("layout.c", layout_source);
	build_run("%s -O1 -g %s layout.c -o layout", compiler, flags);
	spin = build_symbol(path, "spin");
	after = build_symbol(path, "after");
	ask_init(&a, path);
	ask_address(&a, spin);
	ask_address(&a, spin + 7);
	ask_address(&a, after);
	ask_address(&a, build_symbol(path, "main"));
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "spin");
	CHECK_EQ_STR(ask_name(&a, 1), "spin");
	CHECK_EQ_STR(ask_name(&a, 2), "after");
	CHECK_EQ_STR(ask_name(&a, 3), "main");
	CHECK_EQ_U64(a.symbols->addr_values[1], spin + 7);
	CHECK_EQ_U64(ask_function(&a, 1, 0)->address, spin);
	CHECK_EQ_STR(ask_chain(&a, 2), "after (layout.c:12)");
	CHECK_EQ_INT(ask_function(&a, 0, 0)->line, 6);
	CHECK_EQ_INT(ask_frame(&a, 0, 0)->function.i, ask_frame(&a, 1, 0)->function.i);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_FULL);
	CHECK_EQ_STR(a.symbols->images[0].debug, "image");
	CHECK_EQ_U64(a.symbols->unknown_addrs, 0);
	ask_done(&a);
}

TEST(bfd_pie)
{
	build_needs("gcc");
	check_layout("gcc", "-pie -fPIE");
}

TEST(bfd_no_pie)
{
	build_needs("gcc");
	check_layout("gcc", "-no-pie -fno-pie");
}

TEST(lld_pie_has_other_offsets_than_addresses)
{
	build_needs("clang");
	build_needs("ld.lld");
	check_layout("clang", "-pie -fPIE -fuse-ld=lld");
}

TEST(lld_no_pie_has_other_offsets_than_addresses)
{
	build_needs("clang");
	build_needs("ld.lld");
	check_layout("clang", "-no-pie -fno-pie -fuse-ld=lld");
}

TEST(dwarf_4_and_compressed_sections)
{
	build_needs("gcc");
	check_layout("gcc", "-gdwarf-4 -gz");
	check_layout("gcc", "-gdwarf-2 -gstrict-dwarf");
	check_layout("gcc", "-gdwarf-5 -gz=zlib");
}

TEST(split_dwarf_keeps_lines)
{
	build_needs("gcc");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g -gsplit-dwarf layout.c -o layout");

	const char *path = build_path("layout");
	struct ask a;

	ask_init(&a, path);
	ask_address(&a, build_symbol(path, "spin"));
	ask_resolve(&a);
	CHECK_HAS(ask_chain(&a, 0), "spin (layout.c:");
	CHECK(ask_frame(&a, 0, 0)->line >= 7);
	ask_done(&a);
}

TEST(offset_in_the_page_before_the_text_belongs_to_it)
{
	struct elf_segment segments[] = {
		{ .offset = 0, .file_size = 0x53c, .address = 0, .align = 0x1000 },
		{ .offset = 0x540,
		  .file_size = 0x1a0,
		  .address = 0x1540,
		  .align = 0x1000,
		  .exec = true },
		{ .offset = 0x6e0, .file_size = 0x100, .address = 0x26e0, .align = 0x1000 },
	};
	struct elf_file e = { .type = ET_DYN };
	uint64_t address;

	for (int i = 0; i < 3; i++)
		vec_add(&e.segments, segments[i]);
	CHECK(elf_file_address(&e, 0x540, &address));
	CHECK_EQ_U64(address, 0x1540);
	CHECK(elf_file_address(&e, 0x6df, &address));
	CHECK_EQ_U64(address, 0x16df);
	/* Mapped with the text's pages, though the headers give these bytes to others. */
	CHECK(elf_file_address(&e, 0x530, &address));
	CHECK_EQ_U64(address, 0x1530);
	CHECK(elf_file_address(&e, 0x6f0, &address));
	CHECK_EQ_U64(address, 0x16f0);
	CHECK(!elf_file_address(&e, 0x1000, &address));
	CHECK(!elf_file_address(&e, UINT64_MAX, &address));
	vec_done(&e.segments);
}

TEST(object_without_program_headers)
{
	build_needs("gcc");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g -ffunction-sections -c layout.c -o layout");

	const char *path = build_path("layout");
	struct elf_file e;
	struct err err;
	struct ask a;

	CHECK(elf_file_open(&e, path, ELF_MAP, &err));
	ask_init(&a, path);
	ask_address(&a, elf_find_section(&e, ".text.spin")->offset + 1);
	ask_address(&a, elf_find_section(&e, ".text.after")->offset);
	elf_file_close(&e);
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "spin");
	CHECK_EQ_STR(ask_name(&a, 1), "after");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_NO_LINES);
	ask_done(&a);
}

TEST(stripped_has_dynamic_symbols_only)
{
	build_needs("gcc");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g -rdynamic layout.c -o full");
	build_run("strip full -o layout");

	const char *full = build_path("full");
	struct ask a;

	ask_init(&a, build_path("layout"));
	ask_address(&a, build_symbol(full, "spin"));
	ask_address(&a, build_symbol(full, "frame_dummy"));
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "spin");
	CHECK_EQ_STR(ask_name(&a, 1), "[unknown]");
	CHECK_EQ_INT(ask_function(&a, 1, 0)->kind, SYMBOL_UNKNOWN);
	CHECK_EQ_STR(ask_function(&a, 1, 0)->raw_name, "");
	CHECK_EQ_U64(a.symbols->unknown_addrs, 1);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_DYNAMIC);
	CHECK_EQ_STR(a.symbols->images[0].debug, "");
	ask_done(&a);
}

TEST(debug_file_by_build_id)
{
	build_needs("gcc");
	build_needs("objcopy");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g -Wl,--build-id=0x00112233445566778899aabbccddeeff00112233 layout.c "
		  "-o full && mkdir -p debug/.build-id/00 && objcopy --only-keep-debug full "
		  "debug/.build-id/00/112233445566778899aabbccddeeff00112233.debug && "
		  "strip full -o layout");

	const char *full = build_path("full");
	struct ask a;

	ask_init(&a, build_path("layout"));
	ask_address(&a, build_symbol(full, "after"));
	a.options.debug_dir = build_path("debug");
	ask_resolve(&a);
	CHECK_EQ_STR(ask_chain(&a, 0), "after (layout.c:12)");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_FULL);
	CHECK_HAS(a.symbols->images[0].debug, "debug/.build-id/00/1122");
	ask_done(&a);
}

TEST(debug_file_of_another_build_is_not_used)
{
	build_needs("gcc");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g -Wl,--build-id=0x00112233 layout.c -o full && "
		  "gcc -O2 -g -Wl,--build-id=0x00112244 layout.c -o other && "
		  "mkdir -p debug/.build-id/00 && cp other debug/.build-id/00/112233.debug && "
		  "strip full -o layout");

	struct ask a;

	ask_init(&a, build_path("layout"));
	ask_address(&a, build_symbol(build_path("full"), "after"));
	a.options.debug_dir = build_path("debug");
	ask_resolve(&a);
	CHECK_EQ_STR(ask_chain(&a, 0), "[unknown] (?:0)");
	CHECK_EQ_STR(a.symbols->images[0].debug, "");
	ask_done(&a);
}

TEST(options_leave_out_lines_and_inlines)
{
	build_needs("gcc");
	build_file("layout.c", layout_source);
	build_run("gcc -O1 -g layout.c -o layout");

	const char *path = build_path("layout");
	struct ask a;

	ask_init(&a, path);
	ask_address(&a, build_symbol(path, "after"));
	a.options.no_lines = true;
	ask_resolve(&a);
	CHECK_EQ_STR(ask_chain(&a, 0), "after (?:0)");
	symbols_free(a.symbols);
	a.options.no_inlines = true;
	ask_resolve(&a);
	CHECK_EQ_STR(ask_chain(&a, 0), "after (?:0)");
	symbols_free(a.symbols);
	a.options.no_lines = false;
	ask_resolve(&a);
	CHECK_EQ_STR(ask_chain(&a, 0), "after (layout.c:12)");
	ask_done(&a);
}
