/* SPDX-License-Identifier: Apache-2.0 */
/* Names that an image has for its code beside those that are shown: aliases. */
#include "symbol/parts.h"

struct alias {
	const char *name;
	uint64_t address;
	bool found;
};

static void visit(void *ctx, const struct select_symbol *s)
{
	struct alias *a = ctx;

	if (a->found || !s->name || strcmp(s->name, a->name) != 0)
		return;
	a->address = s->address;
	a->found = true;
}

bool symbol_find_name(const char *path, const char *debug_dir, const char *name, uint64_t *address)
{
	struct image_source from = { .path = path,
				     .access = ELF_COPY,
				     .debug_dir = debug_dir ? debug_dir : "/usr/lib/debug" };
	struct alias a = { .name = name };
	struct image_files files;
	struct err ignored;

	if (image_files_open(&files, &from, &ignored))
		elf_each_symbol(files.names, visit, &a);
	image_files_close(&files);
	if (a.found)
		*address = a.address;
	return a.found;
}
