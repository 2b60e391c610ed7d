/* SPDX-License-Identifier: Apache-2.0 */
/* Images of a run and the cache that runs share them through, by hard link. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "session/parts.h"

/* A key becomes a file name; nothing that could leave the folder is one. */
static bool is_key(const char *key)
{
	return *key && *key != '.' && strlen(key) < 128 && !strchr(key, '/');
}

char *session_image_path(const struct session *s, const char *key)
{
	char *path;

	if (!is_key(key))
		return NULL;
	path = mem_printf("%s/images/%s", s->dir, key);
	if (!access(path, R_OK))
		return path;
	free(path);
	return NULL;
}

/* The copy of a program is as old as the program; that it could not be told so is no trouble. */
static bool keep_mtime(int from, const char *to)
{
	struct stat st;

	if (!fstat(from, &st)) {
		const struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, st.st_mtim };

		if (utimensat(AT_FDCWD, to, times, 0))
			errno = 0;
	}
	return true;
}

/* A hard link where the file system allows it, else a copy. */
static bool link_or_copy(const char *from, const char *to)
{
	struct err err;

	if (!link(from, to) || errno == EEXIST)
		return true;
	if (errno == EXDEV || errno == EPERM || errno == EMLINK) {
		fd_auto fd = open(from, O_RDONLY | O_CLOEXEC);

		return fd >= 0 && os_copy_file(fd, to, &err) && keep_mtime(fd, to);
	}
	return false;
}

bool session_image_link(const struct session *s, const char *key, const char *cache_key)
{
	char_auto from = NULL;
	char_auto to = NULL;

	if (!is_key(key) || !is_key(cache_key))
		return false;
	from = mem_printf("%s/%s", s->cache, cache_key);
	to = mem_printf("%s/images/%s", s->dir, key);
	return link_or_copy(from, to);
}

bool session_image_create(const struct session *s, struct session_image *img, struct err *err)
{
	char *path = mem_printf("%s/images/.new-XXXXXX", s->dir);
	int fd = mkostemp(path, O_CLOEXEC);

	if (fd < 0) {
		err_sys(err, errno, "cannot create %s", path);
		free(path);
		return false;
	}
	img->fd = fd;
	img->path = path;
	return true;
}

bool session_image_commit(const struct session *s, struct session_image *img, const char *key,
			  const char *cache_key, struct err *err)
{
	char_auto to = mem_printf("%s/images/%s", s->dir, key);

	if (!is_key(key)) {
		session_image_discard(img);
		return err_set(err, ERR_INTERNAL, "not a key for an image: %s", key);
	}
	if (rename(img->path, to)) {
		err_sys(err, errno, "cannot name %s", to);
		session_image_discard(img);
		return false;
	}
	if (cache_key && is_key(cache_key)) {
		char_auto cached = mem_printf("%s/%s", s->cache, cache_key);

		/* Without a cache everything still works, only slower. */
		if (!link_or_copy(to, cached))
			errno = 0;
	}
	free(img->path);
	img->path = NULL;
	os_close_fd(&img->fd);
	return true;
}

void session_image_discard(struct session_image *img)
{
	if (img->path)
		unlink(img->path);
	free(img->path);
	img->path = NULL;
	os_close_fd(&img->fd);
}
