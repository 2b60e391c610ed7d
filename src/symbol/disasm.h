/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Machine code to text, for x86-64 and AArch64 on either host. LLVM's MC disassembler stands behind
 * this one file; every feature that it knows is on, so Armv9 with SVE2 and SME2 decodes.
 */
#ifndef CULPRIT_SYMBOL_DISASM_H
#define CULPRIT_SYMBOL_DISASM_H

#include "base/err.h"
#include "base/mem.h"

enum disasm_arch { DISASM_AARCH64, DISASM_X86_64 };
enum disasm_syntax { DISASM_ATT, DISASM_INTEL }; /* of x86 */

struct disasm;
/* ERR_UNSUPPORTED when LLVM was built without that architecture. Not for two threads at once. */
ERR_CHECKED bool disasm_new(struct disasm **out, enum disasm_arch arch, enum disasm_syntax syntax,
			    struct err *err);
void disasm_free(struct disasm *d);

struct disasm_insn {
	uint32_t size;	 /* bytes; never 0 when bytes are left */
	bool known;	 /* false: text is ".inst 0x..." or ".byte 0x..." */
	bool has_target; /* target is the address that a direct branch or call goes to */
	uint64_t target;
};
/*
 * The instruction at the start of bytes, which lie at address. Its text goes to the end of text:
 * the mnemonic, a tab, the operands; targets of branches and PC-relative operands as 0x addresses.
 */
struct disasm_insn disasm_next(struct disasm *d, const uint8_t *bytes, size_t len, uint64_t address,
			       struct buf *text);

#endif
