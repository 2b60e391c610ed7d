/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an image with its symbols, DWARF and code, as kallsyms text, and as a mangled name. The
 * last byte chooses: 'K' kallsyms, 'N' a name, anything else an ELF file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/code.h"
#include "symbol/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void locate(void *ctx, const struct model_image *image, struct arena *a, struct located *out)
{
	(void)ctx;
	(void)a;
	*out = (struct located){ .path = mem_strdup(image->path) };
}

/* The first section of code as one function, with samples in all the others. */
static void read_code(const char *path)
{
	struct code_request request = { .path = path, .debug_dir = "/nonexistent" };
	VEC(uint64_t) sampled = { 0 };
	struct code *code;
	struct elf_file e;
	struct err err;

	if (elf_file_open(&e, path, ELF_MAP, &err)) {
		vec_each(s, &e.by_address.at)
			if (sampled.len < 16)
				vec_add(&sampled, s->start + 4);
		request.address = sampled.len ? sampled.at[0] - 4 : e.text_start;
	}
	request.sampled = sampled.at;
	request.sampled_count = sampled.len;
	if (code_read(&code, &request, &err)) {
		vec_each(insn, &code->insns)
			if (!insn->size || insn->piece >= code->pieces.len || !insn->text[0])
				abort();
		code_free(code);
	}
	elf_file_close(&e);
	vec_done(&sampled);
}

/* Every 16th byte of the file as an address, as far as that goes. */
static void resolve(enum model_image_kind kind, const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct symbol_options options = { .debug_dir = "/nonexistent" };
	struct model model = { 0 };
	struct symbols *symbols;
	char path[64];
	struct err err;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	vec_add(&model.images, ((struct model_image){ .kind = kind, .path = path, .key = "" }));
	for (uint64_t i = 0; i < size && i < 4096; i += 16)
		vec_add(&model.addrs, ((struct model_addr){ .address = i, .is_return = i & 16 }));
	for (uint64_t i = 0; i < 64; i++)
		vec_add(&model.addrs,
			((struct model_addr){ .address = 0xffffffff81000000 + i * 64 }));
	if (!symbols_resolve_from(&symbols, &model, locate, NULL, &options, &err))
		abort();
	for (size_t i = 0; i < symbols->addr_count; i++)
		if (!symbols->addrs[i].count ||
		    symbols->addrs[i].first + symbols->addrs[i].count > symbols->frames.len)
			abort();
	symbols_free(symbols);
	if (kind == MODEL_IMAGE_FILE)
		read_code(path);
	vec_done(&model.images);
	vec_done(&model.addrs);
	close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	arena_auto names = { 0 };
	uint8_t kind = size ? data[size - 1] : 0;

	if (kind == 'N') {
		const char *raw = arena_strndup(&names, (const char *)data, size - 1);

		if (strlen(symbol_display_name(&names, raw)) > 64 << 10)
			abort();
	} else {
		resolve(kind == 'K' ? MODEL_IMAGE_KERNEL : MODEL_IMAGE_FILE, data, size);
	}
	return 0;
}
