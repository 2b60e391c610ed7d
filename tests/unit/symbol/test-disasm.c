/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to text for both architectures: every extension decodes, addresses are absolute. */
#include "build.h"

#include "symbol/disasm.h"

static struct disasm *open_for(enum disasm_arch arch, enum disasm_syntax syntax)
{
	struct disasm *d;
	struct err err;

	CHECK_MSG(disasm_new(&d, arch, syntax, &err), "%s", err.text);
	return d;
}

static const char *text_of(struct disasm *d, const void *bytes, size_t len, uint64_t address,
			   struct disasm_insn *insn)
{
	buf_auto text = { 0 };

	*insn = disasm_next(d, test_guard(bytes, len), len, address, &text);
	return build_keep("%s", buf_str(&text));
}

/* Every line ".inst 0xWORD // text" of the program that tests share. */
TEST(aarch64_extensions_decode_to_the_text_beside_them)
{
	struct disasm *d = open_for(DISASM_AARCH64, DISASM_ATT);
	struct str line;
	struct str rest;
	buf_auto file = { 0 };
	unsigned words = 0;
	struct err err;

	CHECK(os_load_file(test_source("tests/programs/isa-aarch64.S"), 1 << 20, &file, &err));
	rest = (struct str){ buf_str(&file), file.len };
	while (str_line(&rest, &line)) {
		const char *expected = "\t.inst\t0x00000000 // ";
		struct disasm_insn insn;
		const char *text;
		uint64_t word;

		if (!str_starts(line.at, "\t.inst\t0x"))
			continue;
		CHECK(line.len > strlen(expected));
		CHECK(str_hex((struct str){ line.at + 9, 8 }, &word));
		expected = build_keep("%.*s", (int)(line.len - strlen(expected)),
				      line.at + strlen(expected));
		text = text_of(d, &word, 4, 0x1000, &insn);
		/* In the comment the mnemonic ends at a blank. */
		CHECK_EQ_STR(build_keep("%.*s%s%s", (int)strcspn(text, "\t"), text,
					strchr(text, '\t') ? " " : "",
					text + strcspn(text, "\t") + (strchr(text, '\t') != NULL)),
			     expected);
		CHECK_EQ_INT(strchr(text, '\t') != NULL, strchr(expected, ' ') != NULL);
		CHECK(insn.known && !insn.has_target);
		CHECK_EQ_INT(insn.size, 4);
		words++;
	}
	CHECK_EQ_INT(words, 118);
	disasm_free(d);
}

TEST(aarch64_addresses_are_absolute)
{
	static const struct {
		uint32_t word;
		const char *text;
		uint64_t target; /* 0: none */
	} cases[] = {
		{ 0x14000004, "b\t0x402000", 0x402000 },
		{ 0x97fffffc, "bl\t0x401fe0", 0x401fe0 },
		{ 0x54000080, "b.eq\t0x402000", 0x402000 },
		{ 0x54000091, "bc.ne\t0x402000", 0x402000 },
		{ 0x34000081, "cbz\tw1, 0x402000", 0x402000 },
		{ 0xb5ffff81, "cbnz\tx1, 0x401fe0", 0x401fe0 },
		{ 0x36000020, "tbz\tw0, #0, 0x401ff4", 0x401ff4 },
		{ 0xb7f80020, "tbnz\tx0, #63, 0x401ff4", 0x401ff4 },
		{ 0xb0000020, "adrp\tx0, 0x406000", 0 },
		{ 0x90fffff0, "adrp\tx16, 0x3fd000", 0 },
		{ 0x10000020, "adr\tx0, 0x401ff4", 0 },
		{ 0x30000020, "adr\tx0, 0x401ff5", 0 },
		{ 0x58000040, "ldr\tx0, 0x401ff8", 0 },
		{ 0x18ffffc0, "ldr\tw0, 0x401fe8", 0 },
		{ 0x98000040, "ldrsw\tx0, 0x401ff8", 0 },
		{ 0x9c000040, "ldr\tq0, 0x401ff8", 0 },
		{ 0xd8000040, "prfm\tpldl1keep, 0x401ff8", 0 },
		{ 0x5500003f, "retaasppc\t0x401fec", 0 },
		{ 0xf38001ff, "autiasppc\t0x401fb4", 0 },
		/* Close to those, and without an address. */
		{ 0xd61f0000, "br\tx0", 0 },
		{ 0xd63f0220, "blr\tx17", 0 },
		{ 0xd65f03c0, "ret", 0 },
		{ 0x91004000, "add\tx0, x0, #16", 0 },
		{ 0xf9400c41, "ldr\tx1, [x2, #24]", 0 },
		{ 0xf8408401, "ldr\tx1, [x0], #8", 0 },
		{ 0x92401c00, "and\tx0, x0, #0xff", 0 },
		{ 0x00000000, "udf\t#0", 0 },
		{ 0xd503201f, "nop", 0 },
	};
	struct disasm *d = open_for(DISASM_AARCH64, DISASM_INTEL);

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct disasm_insn insn;

		CHECK_EQ_STR(text_of(d, &cases[i].word, 4, 0x401ff0, &insn), cases[i].text);
		CHECK(insn.known);
		CHECK_EQ_INT(insn.has_target, cases[i].target != 0);
		CHECK_EQ_U64(insn.target, cases[i].target);
	}
	disasm_free(d);
}

/* LLVM before 20 does not know FEAT_CMPBR: then it is a word, and no branch either. */
TEST(aarch64_compare_and_branch_of_2024)
{
	struct disasm *d = open_for(DISASM_AARCH64, DISASM_ATT);
	uint32_t word = 0x74020040;
	struct disasm_insn insn;
	const char *text = text_of(d, &word, 4, 0x401ff0, &insn);

	if (insn.known)
		CHECK_EQ_STR(text, "cbgt\tw0, w2, 0x401ff8");
	else
		CHECK_EQ_STR(text, ".inst\t0x74020040");
	CHECK_EQ_U64(insn.target, insn.known ? 0x401ff8 : 0);
	CHECK_EQ_INT(insn.has_target, insn.known);
	disasm_free(d);
}

TEST(aarch64_unknown_words_and_a_cut_end)
{
	struct disasm *d = open_for(DISASM_AARCH64, DISASM_ATT);
	static const uint8_t bytes[] = { 0xff, 0xff, 0x00, 0x1e, 0xc0, 0x03 };
	struct disasm_insn insn;

	CHECK_EQ_STR(text_of(d, bytes, 6, 0, &insn), ".inst\t0x1e00ffff");
	CHECK_EQ_INT(insn.size, 4);
	CHECK(!insn.known && !insn.has_target);
	for (size_t len = 1; len < 4; len++) {
		CHECK_EQ_STR(text_of(d, bytes + 4, len < 2 ? len : 2, 4, &insn), ".byte\t0xc0");
		CHECK_EQ_INT(insn.size, 1);
		CHECK(!insn.known);
	}
	CHECK_EQ_STR(text_of(d, bytes, 0, 0, &insn), "");
	CHECK_EQ_INT(insn.size, 0);
	disasm_free(d);
}

/* Two zeros at the top of the address space meet nobody; the sums just go round. */
TEST(addresses_wrap)
{
	static const uint8_t call[] = { 0xe8, 0x10, 0, 0, 0 };
	struct disasm *a64 = open_for(DISASM_AARCH64, DISASM_ATT);
	struct disasm *x86 = open_for(DISASM_X86_64, DISASM_ATT);
	uint32_t word = 0x14000004;
	struct disasm_insn insn;

	CHECK_EQ_STR(text_of(a64, &word, 4, UINT64_MAX - 3, &insn), "b\t0xc");
	CHECK_EQ_U64(insn.target, 0xc);
	CHECK_EQ_STR(text_of(x86, call, 5, UINT64_MAX - 4, &insn), "callq\t0x10");
	CHECK_EQ_U64(insn.target, 0x10);
	disasm_free(a64);
	disasm_free(x86);
}

static const struct x86_case {
	const char *hex, *att, *intel;
	uint64_t target;
} x86_cases[] = {
	{ "f0ff00", "lock incl\t(%rax)", "lock inc\tdword ptr [rax]", 0 },
	{ "f0480fb10f", "lock cmpxchgq\t%rcx, (%rdi)", "lock cmpxchg\tqword ptr [rdi], rcx", 0 },
	{ "f3a4", "rep movsb\t(%rsi), %es:(%rdi)", "rep movsb\tbyte ptr es:[rdi], byte ptr [rsi]",
	  0 },
	{ "f348ab", "rep stosq\t%rax, %es:(%rdi)", "rep stosq\tqword ptr es:[rdi], rax", 0 },
	{ "f2c3", "repne retq", "repne ret", 0 },
	{ "e810000000", "callq\t0x401015", "call\t0x401015", 0x401015 },
	{ "e8f0ffffff", "callq\t0x400ff5", "call\t0x400ff5", 0x400ff5 },
	{ "eb10", "jmp\t0x401012", "jmp\t0x401012", 0x401012 },
	{ "e9f0efffff", "jmp\t0x3ffff5", "jmp\t0x3ffff5", 0x3ffff5 },
	{ "0f8510000000", "jne\t0x401016", "jne\t0x401016", 0x401016 },
	{ "e3fe", "jrcxz\t0x401000", "jrcxz\t0x401000", 0x401000 },
	{ "e2fe", "loop\t0x401000", "loop\t0x401000", 0x401000 },
	{ "ffd0", "callq\t*%rax", "call\trax", 0 },
	{ "ff2514000000", "jmpq\t*0x14(%rip)  # 0x40101a",
	  "jmp\tqword ptr [rip + 0x14]  # 0x40101a", 0 },
	{ "488b05142f0000", "movq\t0x2f14(%rip), %rax  # 0x403f1b",
	  "mov\trax, qword ptr [rip + 0x2f14]  # 0x403f1b", 0 },
	{ "833df0ffffff05", "cmpl\t$0x5, -0x10(%rip)  # 0x400ff7",
	  "cmp\tdword ptr [rip - 0x10], 0x5  # 0x400ff7", 0 },
	{ "f30f1efa", "endbr64", "endbr64", 0 },
	{ "c3", "retq", "ret", 0 },
	{ "90", "nop", "nop", 0 },
	{ "0f1f840000000000", "nopl\t(%rax,%rax)", "nop\tdword ptr [rax + rax]", 0 },
	{ "6666662e0f1f840000000000", "nopw\t%cs:(%rax,%rax)", "nop\tword ptr cs:[rax + rax]", 0 },
	{ "48c7c010000000", "movq\t$0x10, %rax", "mov\trax, 0x10", 0 },
	{ "48896c24f8", "movq\t%rbp, -0x8(%rsp)", "mov\tqword ptr [rsp - 0x8], rbp", 0 },
	{ "64488b042528000000", "movq\t%fs:0x28, %rax", "mov\trax, qword ptr fs:[0x28]", 0 },
	{ "48a1efcdab8967452301", "movabsq\t0x123456789abcdef, %rax",
	  "movabs\trax, qword ptr [0x123456789abcdef]", 0 },
	{ "f20f10c1", "movsd\t%xmm1, %xmm0", "movsd\txmm0, xmm1", 0 },
	{ "660f3a0fc108", "palignr\t$0x8, %xmm1, %xmm0", "palignr\txmm0, xmm1, 0x8", 0 },
	{ "c5fdfec1", "vpaddd\t%ymm1, %ymm0, %ymm0", "vpaddd\tymm0, ymm0, ymm1", 0 },
	{ "c4e2fdb8c1", "vfmadd231pd\t%ymm1, %ymm0, %ymm0", "vfmadd231pd\tymm0, ymm0, ymm1", 0 },
	{ "c4e27d1801", "vbroadcastss\t(%rcx), %ymm0", "vbroadcastss\tymm0, dword ptr [rcx]", 0 },
	{ "62f17c4858c1", "vaddps\t%zmm1, %zmm0, %zmm0", "vaddps\tzmm0, zmm0, zmm1", 0 },
	{ "62f1fec96f4701", "vmovdqu64\t0x40(%rdi), %zmm0 {%k1} {z}",
	  "vmovdqu64\tzmm0 {k1} {z}, zmmword ptr [rdi + 0x40]", 0 },
	{ "62f1fd48280504000000", "vmovapd\t0x4(%rip), %zmm0  # 0x40100e",
	  "vmovapd\tzmm0, zmmword ptr [rip + 0x4]  # 0x40100e", 0 },
	{ "0f05", "syscall", "syscall", 0 },
	/* No instruction in 64-bit code, a cut one, a prefix at the end. */
	{ "06", ".byte\t0x06", ".byte\t0x06", 0 },
	{ "62f17c4858", ".byte\t0x62", ".byte\t0x62", 0 },
	{ "f0", "lock", "lock", 0 },
	{ "f006", ".byte\t0xf0", ".byte\t0xf0", 0 },
};

static void check_x86(enum disasm_syntax syntax)
{
	struct disasm *d = open_for(DISASM_X86_64, syntax);

	for (size_t i = 0; i < sizeof(x86_cases) / sizeof(x86_cases[0]); i++) {
		const struct x86_case *c = &x86_cases[i];
		const char *expected = syntax == DISASM_INTEL ? c->intel : c->att;
		size_t len = strlen(c->hex) / 2;
		struct disasm_insn insn;
		uint8_t bytes[16];

		CHECK(str_hex_bytes(str_of(c->hex), bytes, len));
		CHECK_EQ_STR(text_of(d, bytes, len, 0x401000, &insn), expected);
		CHECK_EQ_INT(insn.known, expected[0] != '.');
		CHECK_EQ_INT(insn.size, insn.known ? len : 1);
		CHECK_EQ_INT(insn.has_target, c->target != 0);
		CHECK_EQ_U64(insn.target, c->target);
	}
	disasm_free(d);
}

TEST(x86_att)
{
	check_x86(DISASM_ATT);
}

TEST(x86_intel)
{
	check_x86(DISASM_INTEL);
}

/* The next call starts where this one ended, whatever bytes follow. */
TEST(x86_stops_at_its_own_end)
{
	static const uint8_t bytes[] = { 0x90, 0xe8, 0, 0, 0, 0, 0xc3, 0x06, 0x0f };
	static const uint32_t sizes[] = { 1, 5, 1, 1, 1 };
	struct disasm *d = open_for(DISASM_X86_64, DISASM_ATT);
	size_t at = 0;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct disasm_insn insn;

		(void)text_of(d, bytes + at, sizeof(bytes) - at, at, &insn);
		CHECK_EQ_INT(insn.size, sizes[i]);
		at += insn.size;
	}
	CHECK_EQ_INT(at, sizeof(bytes));
	disasm_free(d);
}

TEST(text_goes_to_the_end_of_the_buffer)
{
	struct disasm *d = open_for(DISASM_X86_64, DISASM_ATT);
	buf_auto text = { 0 };

	buf_puts(&text, "> ");
	(void)disasm_next(d, (const uint8_t *)"\xc3", 1, 0, &text);
	(void)disasm_next(d, (const uint8_t *)"\x06", 1, 1, &text);
	CHECK_EQ_STR(buf_str(&text), "> retq.byte\t0x06");
	disasm_free(d);
}

/* Both at once, and a second one of a kind: LLVM's targets are registered once. */
TEST(several_at_a_time)
{
	struct disasm *d[4];
	uint32_t word = 0xd503201f;
	struct disasm_insn insn;

	for (int i = 0; i < 4; i++)
		d[i] = open_for(i & 1 ? DISASM_AARCH64 : DISASM_X86_64, DISASM_ATT);
	for (int i = 0; i < 4; i++)
		CHECK_EQ_STR(text_of(d[i], i & 1 ? (void *)&word : "\x90", i & 1 ? 4 : 1, 0, &insn),
			     "nop");
	for (int i = 0; i < 4; i++)
		disasm_free(d[i]);
	disasm_free(NULL);
}

static void check_noise(enum disasm_arch arch, enum disasm_syntax syntax)
{
	struct disasm *d = open_for(arch, syntax);
	buf_auto text = { 0 };
	uint8_t noise[64];

	for (uint64_t round = 0; round < 20000; round++) {
		size_t len = round % sizeof(noise) + 1;
		struct disasm_insn insn;

		for (size_t i = 0; i < len; i++)
			noise[i] = (uint8_t)hash_u64(round * sizeof(noise) + i + 1);
		buf_clear(&text);
		insn = disasm_next(d, noise, len, round << 20, &text);
		CHECK(insn.size >= 1 && insn.size <= len);
		CHECK(text.len > 0 && text.len < 300);
		for (size_t i = 0; i < text.len; i++)
			CHECK((text.at[i] >= ' ' && text.at[i] < 0x7f) || text.at[i] == '\t');
		CHECK(text.at[0] != '\t' && text.at[0] != ' ');
	}
	disasm_free(d);
}

TEST(noise_moves_on_and_stays_printable)
{
	check_noise(DISASM_AARCH64, DISASM_ATT);
	check_noise(DISASM_X86_64, DISASM_ATT);
	check_noise(DISASM_X86_64, DISASM_INTEL);
}
