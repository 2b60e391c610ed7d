/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as machine code. The first one chooses: bit 0 x86-64, bit 1 Intel's syntax. */
#include <stdlib.h>

#include "symbol/disasm.h"

enum { MOST_TEXT = 300 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const struct buf *text)
{
	if (!text->len || text->len > MOST_TEXT || text->at[0] == '\t')
		abort();
	for (size_t i = 0; i < text->len; i++)
		if (text->at[i] != '\t' && (text->at[i] < ' ' || text->at[i] > '~'))
			abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint8_t kind = size ? data[0] : 0;
	struct disasm *d;
	struct buf text = { 0 };
	struct err err;

	if (!disasm_new(&d, kind & 1 ? DISASM_X86_64 : DISASM_AARCH64,
			kind & 2 ? DISASM_INTEL : DISASM_ATT, &err))
		abort();
	for (size_t at = 1; at < size;) {
		struct disasm_insn insn;

		buf_clear(&text);
		insn = disasm_next(d, data + at, size - at, UINT64_MAX - 64 + at, &text);
		if (!insn.size || insn.size > size - at || (insn.has_target && !insn.known))
			abort();
		check_text(&text);
		at += insn.size;
	}
	buf_done(&text);
	disasm_free(d);
	return 0;
}
