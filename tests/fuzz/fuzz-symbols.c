/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Any bytes as an image with its symbols and DWARF, as kallsyms text, and as a mangled name. The
 * last byte chooses: 'K' kallsyms, 'N' a name, anything else an ELF file.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "symbol/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void locate(void *ctx, const struct model_image *image, struct arena *a, struct located *out)
{
	(void)ctx;
	(void)a;
	*out = (struct located){ .path = mem_strdup(image->path) };
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
