/* SPDX-License-Identifier: Apache-2.0 */
/* Opens an image and, where it adds something, the separate debug file of the same build. */
#include "symbol/parts.h"

#include <stdlib.h>

/* Build ids of one kind of file differ in length where a recorder padded them with zeros. */
static bool is_same_id(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return !a[strspn(a, "0")] && !b[strspn(b, "0")];
}

static void open_debug(struct image_files *f, const char *debug_dir, struct arena *scratch)
{
	const char *id = f->build_id;
	struct err ignored;

	if (strlen(id) < 4)
		return;
	f->debug_path = mem_printf("%s/.build-id/%.2s/%s.debug", debug_dir, id, id + 2);
	if (!elf_file_open(&f->debug, f->debug_path, ELF_MAP, &ignored) ||
	    !is_same_id(elf_file_build_id(&f->debug, scratch), id)) {
		elf_file_close(&f->debug);
		free(f->debug_path);
		f->debug_path = NULL;
	}
}

bool image_files_open(struct image_files *f, const struct image_source *from, struct err *err)
{
	arena_auto scratch = { 0 };
	const struct elf_file *image = &f->image;

	*f = (struct image_files){ 0 };
	if (!elf_file_open(&f->image, from->path, from->access, err))
		return false;
	f->build_id = mem_strdup(elf_file_build_id(image, &scratch));
	if (from->build_id && !is_same_id(f->build_id, from->build_id))
		return err_set(err, ERR_NOT_FOUND, "%s is another build: id %s, recorded %s",
			       from->path, f->build_id[0] ? f->build_id : "none", from->build_id);
	if (elf_table_kind(image) != ELF_TABLE_FULL || !dwarf_has(image))
		open_debug(f, from->debug_dir, &scratch);
	f->names = image;
	if (f->debug_path && elf_table_kind(image) != ELF_TABLE_FULL &&
	    elf_table_kind(&f->debug) == ELF_TABLE_FULL)
		f->names = &f->debug;
	if (dwarf_has(image))
		f->lines = image;
	else if (f->debug_path && dwarf_has(&f->debug))
		f->lines = &f->debug;
	return true;
}

void image_files_close(struct image_files *f)
{
	elf_file_close(&f->debug);
	elf_file_close(&f->image);
	free(f->debug_path);
	free(f->build_id);
	*f = (struct image_files){ 0 };
}
