/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps the files behind executable mappings open, by identity. */
#include "capture/images.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/os.h"
#include "decode/decode.h"

enum {
	MISSES_MOST = 3,	/* after that a file is not asked for again */
	DESCRIPTORS_SPARE = 32, /* for /proc, the wire and the workload */
	IMAGES_MOST = 1 << 20,
};

void images_init(struct images *i, struct rlimit *before)
{
	struct rlimit files;

	*i = (struct images){ .most = 256 };
	*before = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	if (getrlimit(RLIMIT_NOFILE, &files))
		return;
	*before = files;
	if (files.rlim_cur < files.rlim_max) {
		files.rlim_cur = files.rlim_max;
		if (setrlimit(RLIMIT_NOFILE, &files))
			(void)getrlimit(RLIMIT_NOFILE, &files);
	}
	i->most = files.rlim_cur > 64 ? (size_t)(files.rlim_cur - DESCRIPTORS_SPARE) / 4 * 3 : 16;
}

static uint64_t id_key(const uint8_t *id, size_t len)
{
	return hash_bytes(id, len);
}

static uint64_t inode_key(uint64_t major, uint64_t minor, uint64_t inode)
{
	return hash_u64(hash_u64(major << 32 | minor) ^ inode);
}

static bool is_zero(const uint8_t *id, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (id[i])
			return false;
	return true;
}

static bool has_id(const struct image_name *n)
{
	return n->build_id_len && !is_zero(n->build_id, n->build_id_len);
}

static uint64_t name_key(const struct image_name *n)
{
	if (has_id(n))
		return id_key(n->build_id, n->build_id_len);
	if (n->inode)
		return inode_key(n->device_major, n->device_minor, n->inode);
	return hash_bytes(n->path, strlen(n->path)) ^ n->pid;
}

static bool id_equals(const struct image *im, const struct image_name *n)
{
	return im->build_id_len == n->build_id_len &&
	       !memcmp(im->build_id, n->build_id, n->build_id_len);
}

static long read_at(void *ctx, void *to, size_t len, uint64_t offset)
{
	return pread(*(int *)ctx, to, len, (off_t)offset);
}

/* Identity of an open regular file; false for anything else. */
static bool identify(struct image *im, int fd)
{
	struct stat st;
	struct elf_id id;
	struct err err;

	if (fstat(fd, &st) || !S_ISREG(st.st_mode))
		return false;
	*im = (struct image){ .fd = fd,
			      .device_major = major(st.st_dev),
			      .device_minor = minor(st.st_dev),
			      .inode = st.st_ino };
	if (elf_id_read(&id, "image", read_at, &fd, &err)) {
		memcpy(im->build_id, id.build_id, sizeof(im->build_id));
		im->build_id_len = id.build_id_len;
	}
	return true;
}

/* Is this the file that the mapping speaks of? */
static bool matches(const struct image *im, const struct image_name *n, bool by_mapping)
{
	if (has_id(n))
		return id_equals(im, n);
	if (!n->inode)
		return true;
	if (im->inode != n->inode)
		return false;
	/* Overlays show another device by fstat than in the mapping; a map_files link cannot err. */
	return by_mapping ||
	       (im->device_major == n->device_major && im->device_minor == n->device_minor);
}

/* Opens a file, never a FIFO or a device, and keeps it only when it is the right one. */
static bool try_path(struct image *out, const char *path, const struct image_name *n,
		     bool by_mapping)
{
	struct stat st;
	int fd;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return false;
	if (identify(out, fd) && matches(out, n, by_mapping))
		return true;
	close(fd);
	return false;
}

static bool try_all(struct images *i, struct image *out, const struct image_name *n)
{
	if (n->pid && n->len && !i->no_map_files) {
		char_auto path = mem_printf("/proc/%u/map_files/%llx-%llx", n->pid,
					    (unsigned long long)n->start,
					    (unsigned long long)(n->start + n->len));

		errno = 0;
		if (try_path(out, path, n, true))
			return true;
		i->no_map_files = errno == EPERM || errno == EACCES;
	}
	if (n->pid) {
		char_auto exe = mem_printf("/proc/%u/exe", n->pid);
		char_auto root = mem_printf("/proc/%u/root%s", n->pid, n->path);

		if (try_path(out, exe, n, false) ||
		    (n->path[0] == '/' && try_path(out, root, n, false)))
			return true;
	}
	return n->path[0] == '/' && try_path(out, n->path, n, false);
}

static void point_at(struct images *i, uint64_t key, size_t index)
{
	*map_put(&i->by_key, key, NULL) = index + 1;
}

/* One descriptor less: that of the image seen longest ago. */
static void give_up_oldest(struct images *i)
{
	for (size_t turn = 0; turn < i->list.len; turn++) {
		struct image *im = &i->list.at[i->oldest];

		i->oldest = (i->oldest + 1) % i->list.len;
		if (im->fd >= 0) {
			os_close_fd(&im->fd);
			im->misses = 0;
			i->open--;
			return;
		}
	}
}

/* Puts an opened image in place at index and makes it known by all its identities. */
static void put(struct images *i, size_t index, const struct image *found, uint32_t pid,
		const char *path)
{
	struct image *im = &i->list.at[index];

	/* Only for one that is there: a failed look costs no image. */
	if (i->open >= i->most)
		give_up_oldest(i);
	free(im->path);
	*im = *found;
	im->pid = pid;
	im->path = mem_strdup(path);
	i->open++;
	if (im->build_id_len)
		point_at(i, id_key(im->build_id, im->build_id_len), index);
	point_at(i, inode_key(im->device_major, im->device_minor, im->inode), index);
}

/* The index of the entry for this name, made when it is new; false at the ceiling. */
static bool entry_of(struct images *i, const struct image_name *n, size_t *index)
{
	uint64_t *at = map_find(&i->by_key, name_key(n));

	if (at) {
		*index = *at - 1;
		return true;
	}
	if (i->list.len >= IMAGES_MOST)
		return false;
	*index = i->list.len;
	vec_push(&i->list)->fd = -1;
	point_at(i, name_key(n), *index);
	return true;
}

static bool is_no_file(const char *path)
{
	return path[0] != '/' || str_starts(path, "//anon") || str_starts(path, "/dev/zero") ||
	       str_starts(path, "/SYSV");
}

const struct image *images_see(struct images *i, const struct image_name *name)
{
	struct image found;
	size_t index;

	if (is_no_file(name->path) || !entry_of(i, name, &index))
		return NULL;
	if (i->list.at[index].fd >= 0)
		return &i->list.at[index];
	if (i->list.at[index].misses >= MISSES_MOST)
		return NULL;
	if (!try_all(i, &found, name)) {
		i->list.at[index].misses++;
		return NULL;
	}
	put(i, index, &found, name->pid, name->path);
	return &i->list.at[index];
}

void images_take(struct images *i, int fd, uint32_t pid, const char *path)
{
	struct image found;
	struct image_name name = { 0 };
	size_t index;

	if (!identify(&found, fd)) {
		close(fd);
		return;
	}
	name.build_id_len = found.build_id_len;
	memcpy(name.build_id, found.build_id, sizeof(name.build_id));
	name.device_major = found.device_major;
	name.device_minor = found.device_minor;
	name.inode = found.inode;
	name.path = path;
	if (!entry_of(i, &name, &index) || i->list.at[index].fd >= 0) {
		close(fd);
		return;
	}
	put(i, index, &found, pid, path);
}

const struct image *images_find(struct images *i, const struct image_name *name)
{
	uint64_t *at = map_find(&i->by_key, name_key(name));

	if (at && i->list.at[*at - 1].fd >= 0 && matches(&i->list.at[*at - 1], name, true))
		return &i->list.at[*at - 1];
	if (at)
		i->list.at[*at - 1].misses = 0;
	return images_see(i, name);
}

void images_done(struct images *i)
{
	for (size_t n = 0; n < i->list.len; n++) {
		os_close_fd(&i->list.at[n].fd);
		free(i->list.at[n].path);
	}
	vec_done(&i->list);
	map_done(&i->by_key);
}
