/* SPDX-License-Identifier: Apache-2.0 */
/* A function's machine code with lines, inlined names and targets; pieces; files that are not whole. */
#include "build.h"

#include "symbol/code.h"

#include <stdlib.h>
#include <sys/stat.h>

static struct code *read_code(const char *path, uint64_t address, uint64_t size,
			      const uint64_t *sampled, size_t count)
{
	struct code_request r = {
		.path = path,
		.debug_dir = build_path("debug"),
		.address = address,
		.size = size,
		.sampled = sampled,
		.sampled_count = count,
	};
	struct code *c;
	struct err err;

	CHECK_MSG(code_read(&c, &r, &err), "%s", err.text);
	return c;
}

/* The error of a request that cannot be met. */
static struct err refused(const char *path, uint64_t address, uint64_t size)
{
	struct code_request r = { .path = path, .debug_dir = "/none", .address = address };
	struct code *c;
	struct err err = { 0 };

	r.size = size;
	CHECK(!code_read(&c, &r, &err));
	return err;
}

/* Every byte of every piece belongs to one instruction, in order. */
static void check_whole(const struct code *c)
{
	size_t i = 0;

	for (uint32_t p = 0; p < c->pieces.len; p++) {
		uint64_t at = c->pieces.at[p].address;

		for (; i < c->insns.len && c->insns.at[i].piece == p; i++) {
			CHECK_EQ_U64(c->insns.at[i].address, at);
			CHECK(c->insns.at[i].text[0]);
			at += c->insns.at[i].size;
		}
		CHECK_EQ_U64(at, c->pieces.at[p].address + c->pieces.at[p].size);
	}
	CHECK_EQ_INT(i, c->insns.len);
}

static const struct code_insn *with_target(const struct code *c, const char *name)
{
	vec_each(i, &c->insns)
		if (i->target_text && !strcmp(i->target_text, name))
			return i;
	FAIL("nothing goes to %s", name);
	return NULL;
}

static uint64_t size_of(const char *path, const char *name)
{
	const char *line = build_ask("nm -S %s | grep -E ' [tT] %s$'", path, name);
	uint64_t size;

	CHECK(strlen(line) > 33);
	CHECK(str_hex((struct str){ line + 17, 16 }, &size));
	return size;
}

static const char source[] = "#include <stdio.h>\n"
			     "static volatile int t;\n"
			     "static inline __attribute__((always_inline)) void deep(int n)\n"
			     "{\n"
			     "	t += n * 3;\n"
			     "}\n"
			     "static inline __attribute__((always_inline)) void mid(int n)\n"
			     "{\n"
			     "	deep(n); t ^= 1;\n"
			     "}\n"
			     "__attribute__((noinline)) int other(int n) { return n + t; }\n"
			     "__attribute__((noinline)) int one(int n)\n"
			     "{\n"
			     "	while (n-- > 0)\n"
			     "		mid(n);\n"
			     "	puts(\"x\");\n"
			     "	return other(n) + 1;\n"
			     "}\n"
			     "int main(int argc, char **argv) { return one(argc) + !argv; }\n";

static const char *make(const char *flags)
{
	build_needs("gcc");
	build_file("w.c", source);
	build_run("gcc -O1 -g %s w.c -o w", flags);
	return build_path("w");
}

/* Which of the functions an instruction of one() was written in; its line must be there. */
enum writer { DEEP, MID, OWN, NOBODY };

static enum writer writer_of(const struct code *c, const struct code_insn *i)
{
	const char *file = i->file == MODEL_NONE ? "" : c->files.names.at[i->file];

	CHECK(i->known && !i->is_data);
	if (!i->line)
		return NOBODY;
	CHECK_MSG(file[0] == '/' && str_ends(file, "/w.c"), "%s", file);
	if (!i->inlined) {
		CHECK(i->line >= 12 && i->line <= 18);
		return OWN;
	}
	if (!strcmp(i->inlined, "deep")) {
		CHECK_EQ_INT(i->line, 5);
		return DEEP;
	}
	CHECK_EQ_STR(i->inlined, "mid");
	CHECK_EQ_INT(i->line, 9);
	return MID;
}

TEST(lines_inlined_names_and_targets)
{
	const char *path = make("");
	uint64_t start = build_symbol(path, "one");
	struct code *c = read_code(path, start, size_of(path, "one"), NULL, 0);
	unsigned count[NOBODY + 1] = { 0 };
	unsigned inside = 0;
	struct stat st;

	check_whole(c);
	CHECK_EQ_INT(c->pieces.len, 1);
	CHECK_EQ_STR(c->pieces.at[0].name, "one");
	CHECK_EQ_U64(c->unknown, 0);
	CHECK(!c->lines_why);
	CHECK(!stat(path, &st));
	CHECK_EQ_U64(c->built_ns,
		     (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec);
	vec_each(i, &c->insns) {
		count[writer_of(c, i)]++;
		if (!i->target_text || !str_starts(i->target_text, "one+0x"))
			continue;
		CHECK_EQ_STR(i->target_text, build_keep("one+0x%" PRIx64, i->target - start));
		inside++;
	}
	CHECK(count[DEEP] >= 2 && count[MID] >= 2 && count[OWN] >= 5 && inside >= 1);
	CHECK_EQ_U64(with_target(c, "other")->target, build_symbol(path, "other"));
	CHECK_EQ_INT(with_target(c, "other")->line, 17);
	CHECK_EQ_INT(with_target(c, "puts@plt")->line, 16);
	code_free(c);
}

TEST(size_zero_reaches_to_the_next_symbol)
{
	const char *path = make("");
	uint64_t start = build_symbol(path, "other");
	struct code *c = read_code(path, start, 0, NULL, 0);

	CHECK_EQ_U64(c->pieces.at[0].size, size_of(path, "other"));
	code_free(c);

	/* In the midst of a function it is no symbol's; what follows ends it. */
	c = read_code(path, start + 4, 0, NULL, 0);
	CHECK_EQ_U64(c->pieces.at[0].address, start + 4);
	CHECK(c->pieces.at[0].size >= size_of(path, "other") - 4);
	CHECK(start + 4 + c->pieces.at[0].size <= build_symbol(path, "one"));
	code_free(c);
}

static const char cold_source[] =
	"#include <stdlib.h>\n"
	"#include <stdio.h>\n"
	"__attribute__((cold, noinline)) static void moan(const char *s)\n"
	"{ fputs(s, stderr); }\n"
	"__attribute__((noinline)) int work(int n)\n"
	"{\n"
	"	if (n > 100) { moan(\"a\"); moan(\"b\"); abort(); }\n"
	"	return n * 3;\n"
	"}\n"
	"__attribute__((noinline)) int beside(int n) { return n * 5; }\n"
	"int main(int argc, char **argv) { return work(argc) + beside(argc) + !argv; }\n";

TEST(samples_bring_in_the_cold_part_and_others)
{
	build_needs("gcc");
	build_file("c.c", cold_source);
	build_run("gcc -O2 -g c.c -o c");
	if (!*build_ask("nm c | grep 'work\\.cold'"))
		SKIP("this gcc makes no cold part");

	const char *path = build_path("c");
	uint64_t work = build_symbol(path, "work");
	uint64_t cold = build_symbol(path, "work.cold");
	uint64_t beside = build_symbol(path, "beside");
	uint64_t sampled[] = { work, cold + 1, beside, 0x7fff00000000, cold, work + 2 };
	struct code *c = read_code(path, work, size_of(path, "work"), NULL, 0);

	CHECK_EQ_INT(c->pieces.len, 1);
	CHECK(with_target(c, "work.cold")->target == cold);
	code_free(c);

	/* The entry first, then by address; an address in no file adds nothing. */
	c = read_code(path, work, size_of(path, "work"), sampled, 6);
	check_whole(c);
	CHECK_EQ_INT(c->pieces.len, 3);
	CHECK_EQ_STR(c->pieces.at[0].name, "work");
	CHECK_EQ_STR(c->pieces.at[1].name, "work.cold");
	CHECK_EQ_U64(c->pieces.at[1].address, cold);
	CHECK_EQ_U64(c->pieces.at[1].size, size_of(path, "work.cold"));
	CHECK_EQ_STR(c->pieces.at[2].name, "beside");
	CHECK_EQ_U64(c->pieces.at[2].size, size_of(path, "beside"));
	vec_each(i, &c->insns) {
		if (i->piece == 1 && i->line)
			CHECK(i->line == 6 || i->line == 7);
		if (i->piece == 2 && i->line)
			CHECK_EQ_INT(i->line, 10);
	}
	CHECK_EQ_INT(with_target(c, "abort@plt")->piece, 1);
	code_free(c);
}

static const char mangled_source[] = "#include <cstdlib>\n"
				     "__attribute__((noinline)) long *work(long n)\n"
				     "{\n"
				     "	if (n > 100) abort();\n"
				     "	return new long(n);\n"
				     "}\n"
				     "int main(int argc, char **) { return *work(argc) == 7; }\n";

/* Pieces and stubs have the names that users see. */
TEST(names_of_cplusplus_code)
{
	build_needs("g++");
	build_file("m.cc", mangled_source);
	build_run("g++ -O2 -g m.cc -o m");
	{
		const char *path = build_path("m");
		uint64_t cold = *build_ask("nm m | grep '_Z4workl\\.cold'") ?
					build_symbol(path, "_Z4workl.cold") :
					0;
		uint64_t work = build_symbol(path, "_Z4workl");
		struct code *c = read_code(path, work, size_of(path, "_Z4workl"), &cold, cold != 0);

		CHECK_EQ_STR(c->pieces.at[0].name, "work(long)");
		(void)with_target(c, "operator new(unsigned long)@plt");
		if (cold)
			CHECK_EQ_STR(c->pieces.at[1].name, "work(long) (.cold)");
		code_free(c);
	}
}

TEST(debug_file_by_build_id)
{
	const char *full;
	const char *path;
	struct code *c;

	build_needs("objcopy");
	full = make("-Wl,--build-id=0x00112233445566778899aabbccddeeff00112233");
	build_run("mkdir -p debug/.build-id/00 && objcopy --only-keep-debug w "
		  "debug/.build-id/00/112233445566778899aabbccddeeff00112233.debug && "
		  "strip w -o bare");
	path = build_path("bare");
	c = read_code(path, build_symbol(full, "one"), size_of(full, "one"), NULL, 0);
	CHECK(!c->lines_why);
	CHECK_EQ_STR(c->pieces.at[0].name, "one");
	CHECK_EQ_INT(with_target(c, "other")->line, 17);
	CHECK_EQ_INT(with_target(c, "puts@plt")->line, 16);
	code_free(c);

	/* The debug file itself names everything and holds nothing. */
	struct err err = refused(
		build_path("debug/.build-id/00/112233445566778899aabbccddeeff00112233.debug"),
		build_symbol(full, "one"), 16);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, "is a debug file");
	CHECK_HAS(err.text, ".text");
}

TEST(without_symbols_and_lines)
{
	const char *path = make("-Wl,--build-id=none");
	uint64_t start = build_symbol(path, "one");
	uint64_t size = size_of(path, "one");
	uint64_t sampled[] = { start, build_symbol(path, "main"), build_symbol(path, "main") + 4 };
	struct code *c;

	build_run("strip w -o bare");
	path = build_path("bare");
	c = read_code(path, start, size, sampled, 3);
	check_whole(c);
	CHECK_HAS(c->lines_why, "no line tables, and no build id");
	CHECK_EQ_INT(c->pieces.len, 2);
	CHECK_EQ_STR(c->pieces.at[0].name, "");
	CHECK_EQ_STR(c->pieces.at[1].name, "");
	CHECK(c->pieces.at[1].address <= sampled[1]);
	CHECK(c->pieces.at[1].address + c->pieces.at[1].size > sampled[2]);
	CHECK(c->pieces.at[1].size <= 4 + 2 * 64 + 64);
	(void)with_target(c, "puts@plt");
	vec_each(i, &c->insns)
		if (i->piece == 0 && i->has_target)
			CHECK(!i->target_text || str_ends(i->target_text, "@plt"));
	code_free(c);

	/* With a build id the reason says which file would help. */
	path = make("-Wl,--build-id=0xaabbccdd");
	build_run("strip w -o bare");
	c = read_code(build_path("bare"), start, 8, NULL, 0);
	CHECK_HAS(c->lines_why, "no debug file of build id aabbccdd");
	code_free(c);
}

/* An assembler file has a line for each instruction, and comments that say what it is. */
TEST(isa_program_line_by_line)
{
	const char *cc = build_ask("uname -m")[0] == 'a' ? "gcc" : "aarch64-linux-gnu-gcc";
	const char *file = test_source("tests/programs/isa-aarch64.S");
	const char *path = build_path("isa");
	unsigned matched = 0;
	struct code *c;

	build_needs(cc);
	build_run("%s -g -static -nostdlib -Wl,--build-id -o isa %s", cc, file);
	c = read_code(path, build_symbol(path, "isa"), size_of(path, "isa"), NULL, 0);
	check_whole(c);
	CHECK_EQ_INT(c->arch, DISASM_AARCH64);
	CHECK_EQ_U64(c->unknown, 0);
	CHECK_EQ_INT(c->insns.len, 119);
	vec_each(i, &c->insns) {
		const char *line = build_ask("sed -n '%up' %s", i->line, file);
		const char *expected = strstr(line, "// ");
		char_auto text = mem_strdup(i->text);

		CHECK(i->known && !i->is_data && i->line);
		CHECK_EQ_STR(c->files.names.at[i->file], file);
		text[strcspn(text, "\t")] = i->text[strcspn(i->text, "\t")] ? ' ' : 0;
		if (expected) {
			CHECK_EQ_STR(text, expected + 3);
			matched++;
		} else {
			CHECK_EQ_STR(text, "ret");
		}
	}
	CHECK_EQ_INT(matched, 118);
	code_free(c);
}

static const char pool_source[] = "	.text\n"
				  "	.global f\n	.type f, %function\n"
				  "f:	ldr x0, pool\n"
				  "	bl g\n"
				  "	b.ne f\n"
				  "	adrp x1, f\n"
				  "	ret\n"
				  "	.p2align 3\n"
				  "pool:	.quad 0x1122334455667788\n"
				  "	.byte 0xab, 0xcd, 0, 0\n"
				  "after:	nop\n"
				  "	.inst 0x1e00ffff\n"
				  "	b after\n"
				  "	.size f, . - f\n"
				  "	.global g\n	.type g, %function\n"
				  "g:	ret\n	.size g, . - g\n"
				  "	.global _start\n"
				  "_start:	bl f\n";

TEST(literal_pools_are_data)
{
	const char *cc = build_ask("uname -m")[0] == 'a' ? "gcc" : "aarch64-linux-gnu-gcc";
	const char *path = build_path("pool");
	struct code *c;
	uint64_t f;

	build_needs(cc);
	build_file("pool.s", pool_source);
	build_run("%s -static -nostdlib -o pool pool.s", cc);
	f = build_symbol(path, "f");
	c = read_code(path, f, build_symbol(path, "g") - f, NULL, 0);
	check_whole(c);

	static const char *const data[] = { ".word\t0x55667788", ".word\t0x11223344",
					    ".word\t0x0000cdab" };
	unsigned found = 0;

	vec_each(i, &c->insns) {
		if (!i->is_data)
			continue;
		CHECK(i->known && !i->has_target);
		if (strcmp(i->text, ".word\t0x00000000") != 0) { /* what aligns the pool */
			CHECK(found < 3);
			CHECK_EQ_STR(i->text, data[found]);
			found++;
		}
	}
	CHECK_EQ_INT(found, 3);
	/* The one word that is none; a pool is not counted. */
	CHECK_EQ_U64(c->unknown, 1);
	CHECK_EQ_STR(c->insns.at[0].text,
		     build_keep("ldr\tx0, 0x%" PRIx64, build_symbol(path, "pool")));
	CHECK_EQ_U64(with_target(c, "g")->target, build_symbol(path, "g"));
	CHECK_EQ_STR(with_target(c, "f")->text, build_keep("b.ne\t0x%" PRIx64, f));
	CHECK_EQ_STR(c->insns.at[3].text, build_keep("adrp\tx1, 0x%" PRIx64, f & ~(uint64_t)0xfff));
	CHECK_HAS(c->lines_why, "no line tables");
	CHECK_EQ_STR(
		with_target(c, build_keep("f+0x%" PRIx64, build_symbol(path, "after") - f))->text,
		build_keep("b\t0x%" PRIx64, build_symbol(path, "after")));
	code_free(c);
}

TEST(intel_syntax)
{
	struct code_request r = { .debug_dir = "/none", .syntax = DISASM_INTEL };
	struct code *c;
	struct err err;
	bool found = false;

	if (build_ask("uname -m")[0] != 'x')
		SKIP("no x86 compiler here");
	r.path = make("");
	r.address = build_symbol(r.path, "other");
	r.size = size_of(r.path, "other");
	CHECK(code_read(&c, &r, &err));
	vec_each(i, &c->insns)
		found = found || strstr(i->text, "dword ptr [rip");
	CHECK(found);
	code_free(c);
}

TEST(requests_that_cannot_be_met)
{
	const char *path = make("");
	uint64_t one = build_symbol(path, "one");
	struct err err;

	err = refused(path, 0x7fff00000000, 16);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, "no code at 0x7fff00000000");
	err = refused(path, UINT64_MAX, 16);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	/* Loaded, but nobody may run it. */
	err = refused(path, build_symbol(path, "t"), 4);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	err = refused(build_path("nothing"), one, 16);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	err = refused(build_path("w.c"), one, 16);
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	build_run("gcc -c w.c -o w.o");
	err = refused(build_path("w.o"), 0, 16);
	CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
	CHECK_HAS(err.text, "was not linked");
}

/* A symbol that claims more than there is: what is there is worth more than its size. */
TEST(size_beyond_the_end_is_cut)
{
	static const uint64_t sizes[] = { 1 << 20, 1ull << 40, UINT64_MAX };
	const char *path = make("");
	uint64_t one = build_symbol(path, "one");

	for (size_t i = 0; i < 3; i++) {
		struct code *c = read_code(path, one, sizes[i], NULL, 0);
		uint64_t end = one + sizes[i] < one ? UINT64_MAX : one + sizes[i];

		check_whole(c);
		CHECK_EQ_STR(c->pieces.at[0].name, "one");
		CHECK(c->pieces.at[0].size >= size_of(path, "one") && c->pieces.at[0].size < 8192);
		CHECK_EQ_U64(c->size_cut, end - one - c->pieces.at[0].size);
		(void)with_target(c, "other");
		code_free(c);
	}
}

/* The same file says it is of another machine: byte 18 of the header. */
TEST(other_architectures)
{
	const char *path = make("");
	uint64_t one = build_symbol(path, "one");
	buf_auto image = { 0 };
	struct err err;

	CHECK(os_load_file(path, 1 << 24, &image, &err));
	image.at[18] = 243; /* RISC-V */
	image.at[19] = 0;
	CHECK(os_save_file(build_path("riscv"), image.at, image.len, &err));
	err = refused(build_path("riscv"), one, 16);
	CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
	CHECK_HAS(err.text, "ELF machine 243");
}

static void try(const char *path, uint64_t address, uint64_t size)
{
	uint64_t sampled[] = { address + 3, address + 0x40, address - 0x200, 0, UINT64_MAX };
	struct code_request r = { .path = path, .debug_dir = "/none", .address = address };
	struct code *c;
	struct err err = { 0 };

	r.size = size;
	r.sampled = sampled;
	r.sampled_count = 5;
	if (code_read(&c, &r, &err)) {
		check_whole(c);
		code_free(c);
	} else {
		CHECK(err.kind != ERR_NONE && err.text[0]);
	}
}

TEST_TIMEOUT(cut_at_every_64_bytes, 300)
{
	const char *path = make("");
	const char *cut = build_path("cut");
	uint64_t one = build_symbol(path, "one");
	uint64_t size = size_of(path, "one");
	buf_auto image = { 0 };
	struct err err;

	CHECK(os_load_file(path, 1 << 24, &image, &err));
	for (size_t len = 0; len < image.len; len += 64) {
		CHECK(os_save_file(cut, image.at, len, &err));
		CHECK_EQ_INT(refused(cut, one, size).kind, ERR_FORMAT);
	}
}

/* Without section headers a cut file can still be read up to where it ends. */
TEST(cut_code_without_sections)
{
	const char *path = make("-static");
	const char *cut = build_path("cut");
	uint64_t one = build_symbol(path, "one");
	uint64_t offset = build_offset(path, one);
	buf_auto image = { 0 };
	struct code *c;
	struct err err;

	CHECK(os_load_file(path, 1 << 24, &image, &err));
	memset(image.at + 0x28, 0, 8); /* e_shoff */
	memset(image.at + 0x3c, 0, 4); /* e_shnum, e_shstrndx */
	CHECK(os_save_file(cut, image.at, offset + 8, &err));
	c = read_code(cut, one, 8, NULL, 0);
	check_whole(c);
	CHECK_EQ_STR(c->pieces.at[0].name, "");
	CHECK_EQ_U64(c->size_cut, 0);
	code_free(c);
	c = read_code(cut, one, 12, NULL, 0);
	check_whole(c);
	CHECK_EQ_U64(c->pieces.at[0].size, 8);
	CHECK_EQ_U64(c->size_cut, 4);
	code_free(c);
	CHECK_EQ_INT(refused(cut, one + 8, 4).kind, ERR_FORMAT);
	CHECK_HAS(refused(cut, one + 8, 4).text, "is cut");
}

TEST_TIMEOUT(bent_files, 300)
{
	const char *path = make("");
	const char *bent = build_path("bent");
	uint64_t one = build_symbol(path, "one");
	uint64_t size = size_of(path, "one");
	buf_auto image = { 0 };
	struct err err;

	CHECK(os_load_file(path, 1 << 24, &image, &err));
	for (uint64_t round = 0; round < 500; round++) {
		uint8_t saved[6];
		size_t at[6];

		for (uint64_t i = 0; i < 6; i++) {
			uint64_t noise = hash_u64(round * 6 + i + 1);

			/* Headers at both ends, and everything. */
			at[i] = round % 3 == 0 ? noise % image.len :
				round % 3 == 1 ? noise % 1024 :
						 image.len - 1 - noise % 2600;
			saved[i] = image.at[at[i]];
			image.at[at[i]] = (uint8_t)(noise >> 32);
		}
		CHECK(os_save_file(bent, image.at, image.len, &err));
		try(bent, one, round & 8 ? 0 : size);
		for (size_t i = 6; i-- > 0;)
			image.at[at[i]] = saved[i];
	}
}
