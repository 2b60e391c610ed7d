/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LLVM's MC disassembler behind our calls. LLVM prints PC-relative operands as distances; here they
 * become addresses. Encodings of A64: Arm ARM C4.1, of PC-relative loads and ADR(P) C6.2.
 */
#include "symbol/disasm.h"

#include "base/cursor.h"
#include "base/str.h"

#include <llvm-c/Disassembler.h>
#include <llvm-c/Target.h>
#include <pthread.h>
#include <stdlib.h>

enum {
	DISASM_MAX_TEXT = 256, /* SME lists are about 80 */
	DISASM_MAX_X86 = 15,
	DISASM_A64 = 4,
};

/* What LLVM says of an x86 instruction's operands while it decodes. */
struct reference {
	bool has_branch, has_data;
	uint64_t branch, data;
};

struct disasm {
	LLVMDisasmContextRef llvm;
	enum disasm_arch arch;
	struct reference seen;
};

static void init_aarch64(void)
{
	LLVMInitializeAArch64TargetInfo();
	LLVMInitializeAArch64TargetMC();
	LLVMInitializeAArch64Disassembler();
}

static void init_x86(void)
{
	LLVMInitializeX86TargetInfo();
	LLVMInitializeX86TargetMC();
	LLVMInitializeX86Disassembler();
}

/* LLVM's table of targets is the process's: each goes in once, whichever thread is first. */
static void register_target(enum disasm_arch arch)
{
	static pthread_once_t aarch64_once = PTHREAD_ONCE_INIT;
	static pthread_once_t x86_once = PTHREAD_ONCE_INIT;

	if (arch == DISASM_AARCH64)
		pthread_once(&aarch64_once, init_aarch64);
	else
		pthread_once(&x86_once, init_x86);
}

/* LLVM asks for symbols: none are given, but what it asks with are addresses. */
static const char *note_reference(void *ctx, uint64_t value, uint64_t *type, uint64_t pc,
				  const char **name)
{
	struct reference *seen = ctx;

	(void)pc;
	if (*type == LLVMDisassembler_ReferenceType_In_Branch) {
		seen->has_branch = true;
		seen->branch = value;
	} else if (*type == LLVMDisassembler_ReferenceType_In_PCrel_Load) {
		seen->has_data = true;
		seen->data = value;
	}
	*type = LLVMDisassembler_ReferenceType_InOut_None;
	*name = NULL;
	return NULL;
}

bool disasm_new(struct disasm **out, enum disasm_arch arch, enum disasm_syntax syntax,
		struct err *err)
{
	bool is_x86 = arch == DISASM_X86_64;
	struct disasm *d = mem_alloc(sizeof(*d));

	register_target(arch);
	d->arch = arch;
	/* The x86 decoder knows everything by itself; A64's takes only what its features name. */
	d->llvm = LLVMCreateDisasmCPUFeatures(is_x86 ? "x86_64-linux-gnu" : "aarch64-linux-gnu",
					      "generic", is_x86 ? "" : "+all", &d->seen, 0, NULL,
					      is_x86 ? note_reference : NULL);
	if (!d->llvm) {
		free(d);
		return err_set(err, ERR_UNSUPPORTED,
			       "the LLVM that this program was built with cannot disassemble %s",
			       is_x86 ? "x86-64" : "AArch64");
	}
	/* One by one: the other syntax is another printer, which forgets what was set before. */
	if (is_x86 && syntax == DISASM_INTEL)
		LLVMSetDisasmOptions(d->llvm, LLVMDisassembler_Option_AsmPrinterVariant);
	/* As people see it elsewhere: objdump has hexadecimal for x86, Arm writes decimal. */
	if (is_x86)
		LLVMSetDisasmOptions(d->llvm, LLVMDisassembler_Option_PrintImmHex);
	*out = d;
	return true;
}

void disasm_free(struct disasm *d)
{
	if (!d)
		return;
	LLVMDisasmDispose(d->llvm);
	free(d);
}

static size_t decode(struct disasm *d, const uint8_t *bytes, size_t len, uint64_t address,
		     char text[DISASM_MAX_TEXT])
{
	d->seen = (struct reference){ 0 };
	text[0] = 0;
	/* LLVM reads only, but its call wants a pointer to bytes that may be written. */
	return LLVMDisasmInstruction(d->llvm, (uint8_t *)(uintptr_t)bytes, len, address, text,
				     DISASM_MAX_TEXT);
}

static struct disasm_insn unknown(const uint8_t *bytes, uint32_t size, struct buf *text)
{
	struct cursor c = cursor_of("code", bytes, size);

	if (size == DISASM_A64)
		buf_printf(text, ".inst\t0x%08x", cursor_u32(&c));
	else
		buf_printf(text, ".byte\t0x%02x", bytes[0]);
	return (struct disasm_insn){ .size = size };
}

/* A64 */

enum label_kind { LABEL_NONE, LABEL_DATA, LABEL_BRANCH };

static uint64_t bits(uint32_t word, unsigned from, unsigned count)
{
	return word >> from & ((1u << count) - 1);
}

static uint64_t sign_extend(uint64_t value, unsigned count)
{
	return (uint64_t)((int64_t)(value << (64 - count)) >> (64 - count));
}

/* The distance, in units of 4 bytes, that is at bits from and up. */
static uint64_t label_at(uint32_t word, uint64_t address, unsigned from, unsigned count)
{
	return address + sign_extend(bits(word, from, count), count) * 4;
}

/* Where the instruction's PC-relative operand points; in A64 it is always the last one. */
static enum label_kind a64_label(uint32_t word, uint64_t address, uint64_t *label)
{
	static const struct {
		uint32_t mask, value;
		uint8_t from, count;
		enum label_kind kind;
	} forms[] = {
		{ 0x7c000000, 0x14000000, 0, 26, LABEL_BRANCH }, /* b, bl */
		{ 0xff000000, 0x54000000, 5, 19, LABEL_BRANCH }, /* b.cond, bc.cond */
		{ 0x7e000000, 0x34000000, 5, 19, LABEL_BRANCH }, /* cbz, cbnz */
		{ 0x7e000000, 0x36000000, 5, 14, LABEL_BRANCH }, /* tbz, tbnz */
		{ 0x7e000000, 0x74000000, 5, 9, LABEL_BRANCH },	 /* cb<cc> of FEAT_CMPBR */
		{ 0x3b000000, 0x18000000, 5, 19, LABEL_DATA },	 /* ldr, ldrsw, prfm (literal) */
	};
	uint64_t distance;

	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
		if ((word & forms[i].mask) == forms[i].value) {
			*label = label_at(word, address, forms[i].from, forms[i].count);
			return forms[i].kind;
		}
	/* retaasppc, autiasppc and theirs of key B look back at the instruction that signed. */
	if ((word & 0xffc0001f) == 0x5500001f || (word & 0xffc0001f) == 0xf380001f) {
		*label = address - bits(word, 5, 16) * 4;
		return LABEL_DATA;
	}
	if ((word & 0x1f000000) != 0x10000000)
		return LABEL_NONE;
	distance = sign_extend(bits(word, 5, 19) << 2 | bits(word, 29, 2), 21);
	*label = word & 1u << 31 ? (address & ~(uint64_t)0xfff) + (distance << 12) :
				   address + distance;
	return LABEL_DATA;
}

/* The mnemonic, a tab, the operands; without the tab that LLVM puts in front. */
static void put_a64(struct buf *out, const char *text, bool has_label, uint64_t label)
{
	const char *last;

	text += strspn(text, "\t ");
	last = strrchr(text, '#');
	if (!has_label || !last || strpbrk(last, " ,]")) {
		buf_puts(out, text);
		return;
	}
	buf_add(out, text, (size_t)(last - text));
	buf_printf(out, "0x%llx", (unsigned long long)label);
}

static struct disasm_insn next_a64(struct disasm *d, const uint8_t *bytes, size_t len,
				   uint64_t address, struct buf *out)
{
	struct disasm_insn insn = { .size = DISASM_A64, .known = true };
	struct cursor c = cursor_of("code", bytes, DISASM_A64);
	char text[DISASM_MAX_TEXT];
	enum label_kind kind;
	uint64_t label = 0;

	if (len < DISASM_A64)
		return unknown(bytes, 1, out);
	if (decode(d, bytes, DISASM_A64, address, text) != DISASM_A64)
		return unknown(bytes, DISASM_A64, out);
	kind = a64_label(cursor_u32(&c), address, &label);
	put_a64(out, text, kind != LABEL_NONE, label);
	insn.has_target = kind == LABEL_BRANCH;
	insn.target = insn.has_target ? label : 0;
	return insn;
}

/* x86-64 */

/* Does the field name something that stands in front of a mnemonic? */
static bool is_prefix(struct str field)
{
	static const char *const prefixes[] = { "lock",	    "rep",	"repe",	  "repne",
						"xacquire", "xrelease", "data16", "addr32",
						"rex64",    "notrack",	"bnd" };

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (str_eq(field, prefixes[i]))
			return true;
	return false;
}

/* LLVM sets off prefixes with tabs as it does operands; "rep movsb" is one mnemonic. */
static void put_x86(struct buf *out, const char *text)
{
	struct str rest = str_of(text);
	struct str field;
	const char *gap = "";

	while (str_cut(&rest, '\t', &field)) {
		field = str_trim(field);
		if (!field.len)
			continue;
		buf_puts(out, gap);
		buf_add(out, field.at, field.len);
		gap = is_prefix(field) ? " " : "\t";
	}
}

static struct disasm_insn next_x86(struct disasm *d, const uint8_t *bytes, size_t len,
				   uint64_t address, struct buf *out)
{
	size_t most = len < DISASM_MAX_X86 ? len : DISASM_MAX_X86;
	char text[DISASM_MAX_TEXT];
	size_t prefix = 0;
	size_t size = decode(d, bytes, most, address, text);

	/* LLVM takes a lock for an instruction of its own. */
	if (size == 1 && bytes[0] == 0xf0 && most > 1) {
		prefix = 1;
		size = decode(d, bytes + 1, most - 1, address + 1, text);
	}
	if (!size || size > most - prefix)
		return unknown(bytes, 1, out);
	if (prefix)
		buf_puts(out, "lock ");
	put_x86(out, text);
	/* As objdump has it: the operand as encoded, and where that is. */
	if (d->seen.has_data)
		buf_printf(out, "  # 0x%llx", (unsigned long long)d->seen.data);
	return (struct disasm_insn){
		.size = (uint32_t)(prefix + size),
		.known = true,
		.has_target = d->seen.has_branch,
		.target = d->seen.branch,
	};
}

struct disasm_insn disasm_next(struct disasm *d, const uint8_t *bytes, size_t len, uint64_t address,
			       struct buf *text)
{
	if (!len)
		return (struct disasm_insn){ 0 };
	if (d->arch == DISASM_AARCH64)
		return next_a64(d, bytes, len, address, text);
	return next_x86(d, bytes, len, address, text);
}
