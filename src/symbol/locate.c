/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file of an image on this machine, and only the very file that was mapped. */
#include "symbol/parts.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

static bool is_same_inode(const struct model_image *image, const struct stat *st)
{
	return st->st_ino == image->inode && major(st->st_dev) == image->device_major &&
	       minor(st->st_dev) == image->device_minor;
}

void symbol_locate_here(void *ctx, const struct model_image *image, struct arena *a,
			struct located *out)
{
	struct stat st;

	(void)ctx;
	*out = (struct located){ .foreign_writer = true, .check_build_id = true };
	if (image->kind != MODEL_IMAGE_FILE) {
		out->why = "only a run holds it";
		return;
	}
	if (!image->build_id[0] && (image->deleted || !image->inode)) {
		out->why = image->deleted ? "deleted, and recorded without a build id" :
					    "recorded without build id and inode";
		return;
	}
	if (stat(image->path, &st)) {
		out->why = arena_printf(a, "%s: %s", image->path, strerror(errno));
		return;
	}
	if (!S_ISREG(st.st_mode)) {
		out->why = arena_printf(a, "%s is not a regular file", image->path);
		return;
	}
	if (!image->build_id[0]) {
		if (!is_same_inode(image, &st)) {
			out->why = arena_printf(a, "%s is another file now", image->path);
			return;
		}
		out->check_build_id = false;
	}
	out->path = mem_strdup(image->path);
}

char *symbol_file_here(const struct model_image *image, struct arena *a, const char **why)
{
	struct image_source from = { .debug_dir = "", .build_id = image->build_id };
	struct image_files files;
	struct located at;
	struct err err;
	bool good;

	symbol_locate_here(NULL, image, a, &at);
	*why = at.why;
	if (!at.path || !at.check_build_id)
		return at.path;
	from.path = at.path;
	good = image_files_open(&files, &from, &err);
	image_files_close(&files);
	if (good)
		return at.path;
	*why = arena_strdup(a, err.text);
	free(at.path);
	return NULL;
}
