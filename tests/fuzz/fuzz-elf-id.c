/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as an ELF file and as a block of notes. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "decode/elf-id.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	const uint8_t *bytes;
	size_t len;
};

static long input_read(void *ctx, void *to, size_t len, uint64_t offset)
{
	const struct input *in = ctx;
	size_t left = offset < in->len ? in->len - (size_t)offset : 0;
	size_t n = len < left ? len : left;

	if (n)
		memcpy(to, in->bytes + offset, n);
	return (long)n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct cursor notes = cursor_of("notes", data, size);
	uint8_t bytes[20], len = 0;
	struct elf_id id;
	char hex[41];
	struct err err;

	if (elf_id_read(&id, "fuzz", input_read, &in, &err)) {
		if (id.build_id_len > 20)
			abort();
		elf_id_hex(id.build_id, id.build_id_len, hex);
	}
	elf_id_notes(&notes, 4, bytes, &len);
	notes = cursor_of("notes", data, size);
	elf_id_notes(&notes, 8, bytes, &len);
	return 0;
}
