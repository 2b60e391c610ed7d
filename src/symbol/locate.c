/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the file of an image on this machine, and only the very file that was mapped. */
#include "symbol/parts.h"

#include <errno.h>
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
