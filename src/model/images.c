/* SPDX-License-Identifier: Apache-2.0 */
/* What is mapped, told apart by identity and never by path alone. */
#include "model/images.h"

#include <inttypes.h>

enum { NO_PROCESS = MODEL_NONE };
static const char kernel_path[] = "[kernel.kallsyms]";
#define VDSO32_END ((uint64_t)1 << 32)

/* An image as a mapping record describes it, before it is known whether it is new. */
struct wanted {
	enum model_image_kind kind;
	struct str path;
	bool deleted;
	char build_id[41];
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
	uint32_t process, pid, hint;
};

static uint32_t image_add(struct images *im, const struct wanted *w)
{
	struct model *m = im->m;
	struct model_image *image = vec_push(&m->images);

	*image = (struct model_image){
		.kind = w->kind,
		.path = arena_strndup(&m->arena, w->path.at, w->path.len),
		.key = "",
		.deleted = w->deleted,
		.device_major = w->device_major,
		.device_minor = w->device_minor,
		.inode = w->inode,
		.inode_generation = w->inode_generation,
		.pid = w->pid,
	};
	memcpy(image->build_id, w->build_id, sizeof(image->build_id));
	*vec_push(&im->extra) = (struct image_extra){
		.process = w->process,
		.hint = w->hint,
	};
	return (uint32_t)(m->images.len - 1);
}

static uint64_t wanted_hash(const struct wanted *w)
{
	uint64_t h;

	if (w->build_id[0])
		return hash_bytes(w->build_id, strlen(w->build_id));
	h = hash_bytes(w->path.at, w->path.len);
	h = hash_u64(h ^ w->inode) + w->inode_generation;
	h = hash_u64(h ^ ((uint64_t)w->device_major << 32 | w->device_minor));
	return hash_u64(h ^ ((uint64_t)w->process << 32 | (uint32_t)w->kind));
}

static bool is_same(const struct images *im, uint32_t i, const struct wanted *w)
{
	const struct model_image *image = &im->m->images.at[i];

	if (image->kind != w->kind || im->extra.at[i].process != w->process)
		return false;
	if (w->build_id[0] || image->build_id[0])
		return !strcmp(image->build_id, w->build_id);
	return image->inode == w->inode && image->inode_generation == w->inode_generation &&
	       image->device_major == w->device_major && image->device_minor == w->device_minor &&
	       str_eq(w->path, image->path);
}

static uint32_t image_get(struct images *im, const struct wanted *w)
{
	uint64_t hash = wanted_hash(w);
	struct index_probe p = index_start(&im->index, hash);
	uint32_t i;

	while ((i = index_next(&im->index, &p)) != MODEL_NONE)
		if (is_same(im, i, w))
			return i;
	i = image_add(im, w);
	index_put(&im->index, hash, i);
	return i;
}

/* Names the kernel gives to memory that has no file of its own. */
static bool is_anon_name(const char *path)
{
	static const char *const prefixes[] = {
		"//", "[", "anon_inode:", "/dev/zero", "/SYSV", "/anon_hugepage",
	};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (str_starts(path, prefixes[i]))
			return true;
	return !*path;
}

/* The other names that uname -m has; what is not known to be one is taken as a 64-bit machine. */
static bool is_32_bit(const char *arch)
{
	size_t len = strlen(arch);

	return str_starts(arch, "armv") || !strcmp(arch, "arm") ||
	       (len == 4 && arch[0] == 'i' && str_ends(arch, "86"));
}

/*
 * A 32-bit process on a 64-bit machine has a vdso of its own kind, which the run does not hold, and
 * it lies below 4 GiB, where no kernel puts that of a 64-bit process.
 */
static bool is_vdso32(const struct images *im, const struct perfdata_mmap *map)
{
	return map->start < VDSO32_END && map->len <= VDSO32_END - map->start &&
	       !is_32_bit(im->m->arch);
}

static void classify(struct wanted *w, const char *path)
{
	static const char gone[] = " (deleted)";

	w->process = NO_PROCESS;
	w->path = str_of(path);
	if (str_ends(path, gone)) {
		w->path.len -= sizeof(gone) - 1;
		w->deleted = true;
	}
	if (!strcmp(path, "[vdso]"))
		w->kind = MODEL_IMAGE_VDSO;
	else if (!strcmp(path, "[vsyscall]"))
		w->kind = MODEL_IMAGE_UNKNOWN;
	else
		w->kind = is_anon_name(path) ? MODEL_IMAGE_ANON : MODEL_IMAGE_FILE;
}

/*
 * The feature was written after the recording, from the file that was then at the path. It is
 * believed as long as only one file was ever mapped under that path.
 */
static void take_hint(struct images *im, struct wanted *w)
{
	uint32_t i = intern_find(&im->hint_paths, w->path);
	struct image_hint *hint;

	if (i == MODEL_NONE || w->deleted)
		return;
	hint = &im->hints.at[i];
	if (!hint->build_id[0])
		return;
	if (!hint->claimed) {
		hint->claimed = true;
		hint->device_major = w->device_major;
		hint->device_minor = w->device_minor;
		hint->inode = w->inode;
		hint->inode_generation = w->inode_generation;
	} else if (hint->inode != w->inode || hint->inode_generation != w->inode_generation ||
		   hint->device_major != w->device_major || hint->device_minor != w->device_minor) {
		hint->ambiguous = true;
		return;
	}
	memcpy(w->build_id, hint->build_id, sizeof(w->build_id));
	w->hint = i;
}

static bool has_id(const struct perfdata_mmap *map)
{
	return map->has_build_id && map->build_id_len <= 20 &&
	       !mem_is_zero(map->build_id, map->build_id_len);
}

static void identify_file(struct images *im, struct wanted *w, const struct perfdata_mmap *map)
{
	if (has_id(map)) {
		elf_id_hex(map->build_id, map->build_id_len, w->build_id);
		return;
	}
	w->device_major = map->device_major;
	w->device_minor = map->device_minor;
	w->inode = map->inode;
	w->inode_generation = map->inode_generation;
	take_hint(im, w);
}

uint32_t images_mapped(struct images *im, const struct perfdata_mmap *map, uint32_t process,
		       uint64_t *shift)
{
	struct wanted w = { .pid = map->pid, .hint = MODEL_NONE };

	classify(&w, map->path);
	*shift = 0;
	switch (w.kind) {
	case MODEL_IMAGE_FILE:
		identify_file(im, &w, map);
		*shift = map->pgoff - map->start;
		break;
	case MODEL_IMAGE_VDSO:
		if (is_vdso32(im, map)) {
			w.kind = MODEL_IMAGE_UNKNOWN;
			w.path = str_of("[vdso32]");
			w.process = process;
		} else {
			*shift = 0 - map->start;
		}
		break;
	case MODEL_IMAGE_ANON:
		w.process = process;
		w.deleted = false;
		break;
	case MODEL_IMAGE_UNKNOWN:
	case MODEL_IMAGE_KERNEL:
		w.pid = 0;
		break;
	}
	return image_get(im, &w);
}

static uint32_t special(struct images *im, uint32_t *id, enum model_image_kind kind,
			const char *path)
{
	struct wanted w = {
		.kind = kind, .path = str_of(path), .process = NO_PROCESS, .hint = MODEL_NONE
	};

	if (*id == MODEL_NONE)
		*id = image_get(im, &w);
	return *id;
}

uint32_t images_kernel(struct images *im)
{
	return special(im, &im->kernel, MODEL_IMAGE_KERNEL, "[kernel]");
}

void images_kernel_mapped(struct images *im, const struct perfdata_mmap *map)
{
	struct model *m = im->m;

	if (!str_starts(map->path, kernel_path))
		return;
	if (!m->kernel_text)
		m->kernel_text = map->pgoff ? map->pgoff : map->start;
	if (!im->kernel_build_id[0] && has_id(map))
		elf_id_hex(map->build_id, map->build_id_len, im->kernel_build_id);
}

uint32_t images_guest(struct images *im)
{
	return special(im, &im->guest, MODEL_IMAGE_UNKNOWN, "[guest]");
}

uint32_t images_hypervisor(struct images *im)
{
	return special(im, &im->hypervisor, MODEL_IMAGE_UNKNOWN, "[hypervisor]");
}

uint32_t images_unknown(struct images *im, uint32_t process, uint32_t pid)
{
	struct wanted w = {
		.kind = MODEL_IMAGE_UNKNOWN,
		.path = str_of("[unknown]"),
		.process = process,
		.pid = pid,
		.hint = MODEL_NONE,
	};

	return image_get(im, &w);
}

static void read_hint(struct images *im, const struct perfdata_build_id *b)
{
	struct image_hint hint = { 0 };
	uint32_t i;

	if (!b->id_len || b->id_len > 20 || mem_is_zero(b->id, b->id_len))
		return;
	elf_id_hex(b->id, b->id_len, hint.build_id);
	if (str_starts(b->path, "[kernel")) {
		memcpy(im->kernel_build_id, hint.build_id, sizeof(hint.build_id));
		return;
	}
	i = intern_put(&im->hint_paths, str_of(b->path));
	if (i == im->hints.len)
		vec_add(&im->hints, hint);
	else if (strcmp(im->hints.at[i].build_id, hint.build_id))
		im->hints.at[i].build_id[0] = 0;
}

void images_init(struct images *im, struct model *m, struct perfdata *pd)
{
	struct perfdata_build_id b;
	uint64_t at = 0;

	*im = (struct images){
		.m = m,
		.kernel = MODEL_NONE,
		.guest = MODEL_NONE,
		.hypervisor = MODEL_NONE,
	};
	while (perfdata_next_build_id(pd, &at, &b))
		read_hint(im, &b);
}

static const char *file_key(struct model *m, const struct model_image *image)
{
	struct buf b = { 0 };
	uint64_t hash;

	buf_printf(&b, "%u:%u:%" PRIu64 ":%" PRIu64 ":%s", image->device_major, image->device_minor,
		   image->inode, image->inode_generation, image->path);
	hash = hash_bytes(b.at, b.len);
	buf_done(&b);
	return arena_printf(&m->arena, "f-%016" PRIx64 "", hash);
}

/* What the feature said is taken back from an image when another file had the same path. */
static void settle(struct images *im, struct model_image *image, const struct image_extra *x)
{
	if (x->hint == MODEL_NONE || !im->hints.at[x->hint].ambiguous)
		return;
	image->build_id[0] = 0;
}

void images_finish(struct images *im)
{
	struct model *m = im->m;

	m->kernel_build_id = arena_strdup(&m->arena, im->kernel_build_id);
	for (uint32_t i = 0; i < m->images.len; i++) {
		struct model_image *image = &m->images.at[i];

		settle(im, image, &im->extra.at[i]);
		if (image->kind == MODEL_IMAGE_KERNEL) {
			image->key = "kernel";
			memcpy(image->build_id, im->kernel_build_id, sizeof(image->build_id));
		} else if (image->kind == MODEL_IMAGE_VDSO) {
			image->key = "vdso";
		} else if (image->kind == MODEL_IMAGE_FILE && image->build_id[0]) {
			image->key = arena_strdup(&m->arena, image->build_id);
		} else if (image->kind == MODEL_IMAGE_FILE) {
			image->key = file_key(m, image);
		}
	}
}

void images_done(struct images *im)
{
	index_done(&im->index);
	vec_done(&im->extra);
	intern_done(&im->hint_paths);
	vec_done(&im->hints);
	*im = (struct images){ 0 };
}
