/* SPDX-License-Identifier: Apache-2.0 */
/* Answers IMAGE_GET: files from the descriptors that were kept, the vdso, the kernel's symbols. */
#include "capture/session.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

enum { CHUNK_BYTES = 1 << 20 };

/* How serving went: told to the host, and apart from that whether it can be told. */
enum served { SERVED, NOT_SERVED, HOST_GONE };

static enum served send_chunk(struct capture *c, const void *bytes, size_t len, struct err *err)
{
	return wire_send(c->wire, WIRE_IMAGE, (struct str){ bytes, len }, err) ? SERVED : HOST_GONE;
}

static void take_hex(struct image_name *n, const char *hex)
{
	size_t len = strlen(hex) / 2;

	if (len <= sizeof(n->build_id) && str_hex_bytes(str_of(hex), n->build_id, len))
		n->build_id_len = (uint8_t)len;
}

static enum served send_descriptor(struct capture *c, int fd, const char *path, struct err *err)
{
	uint8_t *chunk = mem_alloc(CHUNK_BYTES);
	enum served served = SERVED;
	uint64_t at = 0;

	while (served == SERVED) {
		ssize_t n = pread(fd, chunk, CHUNK_BYTES, (off_t)at);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			err_sys(err, errno, "cannot read image %s at byte %llu", path,
				(unsigned long long)at);
			served = NOT_SERVED;
		}
		if (n <= 0)
			break;
		served = send_chunk(c, chunk, (size_t)n, err);
		at += (uint64_t)n;
	}
	os_free_ptr(&chunk);
	return served;
}

/* What is told of an image behind its bytes. */
struct served_image {
	char build_id[41];
	uint64_t mtime_ns; /* of its file; 0: it has none */
};

static uint64_t mtime_ns(int fd)
{
	struct stat st;

	if (fstat(fd, &st) || st.st_mtim.tv_sec <= 0)
		return 0;
	return os_mtime_ns(&st);
}

static enum served serve_file(struct capture *c, const struct job_image *want,
			      struct served_image *out, struct err *err)
{
	struct image_name name = { .pid = (uint32_t)want->pid,
				   .device_major = want->device_major,
				   .device_minor = want->device_minor,
				   .inode = want->inode,
				   .inode_generation = want->inode_generation,
				   .path = want->path };
	const struct image *image;

	take_hex(&name, want->build_id);
	image = images_find(&c->images, &name);
	if (!image) {
		err_set(err, ERR_NOT_FOUND,
			"image %s: the file that was mapped is gone, or is another one now",
			want->path);
		return NOT_SERVED;
	}
	elf_id_hex(image->build_id, image->build_id_len, out->build_id);
	out->mtime_ns = mtime_ns(image->fd);
	return send_descriptor(c, image->fd, want->path, err);
}

/* The end of the mapping that holds an address of ours; 0 when there is none. */
static uint64_t mapping_end(uint64_t address)
{
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct str rest, line;
	struct maps_line l;

	if (!rootfs_read(&here, "/proc/self/maps", &text))
		return 0;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line))
		if (maps_parse(line, &l) && l.start <= address && address < l.end)
			return l.end;
	return 0;
}

struct memory {
	const uint8_t *at;
	size_t len;
};

static long read_memory(void *ctx, void *to, size_t len, uint64_t offset)
{
	const struct memory *m = ctx;

	if (offset >= m->len)
		return 0;
	if (len > m->len - offset)
		len = (size_t)(m->len - offset);
	memcpy(to, m->at + offset, len);
	return (long)len;
}

/* Up to the end of the section table, which closes the file that the kernel maps. */
static size_t vdso_len(const struct memory *m)
{
	struct cursor c = cursor_of("vdso", m->at, m->len);
	uint64_t offset, size, count;

	/* Elf64_Ehdr: e_shoff at 40, e_shentsize at 58, e_shnum at 60. */
	cursor_skip(&c, 40);
	offset = cursor_u64(&c);
	cursor_skip(&c, 10);
	size = cursor_u16(&c);
	count = cursor_u16(&c);
	if (c.failed || !count || offset > m->len || size * count > m->len - offset)
		return m->len;
	return (size_t)(offset + size * count);
}

/* All processes of a machine share the vdso of their word size. */
static enum served serve_vdso(struct capture *c, char hex[41], struct err *err)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);
	uint64_t end = address ? mapping_end(address) : 0;
	struct memory m;
	struct elf_id id;
	struct err none;

	if (!end) {
		err_set(err, ERR_NOT_FOUND, "image [vdso]: this kernel gives programs none");
		return NOT_SERVED;
	}
	memcpy(&m.at, &address, sizeof(m.at));
	m.len = (size_t)(end - address);
	m.len = vdso_len(&m);
	if (elf_id_read(&id, "vdso", read_memory, &m, &none))
		elf_id_hex(id.build_id, id.build_id_len, hex);
	return send_chunk(c, m.at, m.len, err);
}

/* Lines of the text that can name code go to out. *hidden: none of them has an address so far. */
static void filter_symbols(struct str text, struct buf *out, bool *hidden)
{
	struct kallsyms_line l;
	struct str line;

	while (str_line(&text, &line)) {
		if (!kallsyms_parse(line, &l) || !kallsyms_is_code(&l))
			continue;
		*hidden &= !l.address;
		buf_add(out, line.at, line.len);
		buf_u8(out, '\n');
	}
}

static enum served hidden_symbols(const struct capture *c, struct err *err)
{
	err_refuse(err, "KPTR_RESTRICT",
		   "the kernel hides its symbols from this user: kernel.kptr_restrict is %lld",
		   (long long)c->target->kptr_restrict);
	err_hint(
		err,
		c->target->kptr_restrict >= 2 ?
			"sudo sysctl kernel.kptr_restrict=1 and record as root" :
			"record as root, or: sudo sysctl kernel.kptr_restrict=0 kernel.perf_event_paranoid=1");
	return NOT_SERVED;
}

static enum served serve_kallsyms(struct capture *c, char hex[41], struct err *err)
{
	static const char path[] = "/proc/kallsyms";
	const struct rootfs here = { "" };
	fd_auto fd = rootfs_open(&here, path);
	buf_auto in = { 0 }, out = { 0 };
	enum served served = SERVED;
	bool hidden = true;
	ssize_t n = fd < 0 ? -1 : 1;

	while (n > 0 && served == SERVED) {
		size_t before = in.len, whole;

		n = read(fd, buf_room(&in, CHUNK_BYTES / 4), CHUNK_BYTES / 4);
		in.len = before + (n > 0 ? (size_t)n : 0);
		for (whole = in.len; n > 0 && whole && in.at[whole - 1] != '\n'; whole--)
			;
		filter_symbols((struct str){ (const char *)in.at, whole }, &out, &hidden);
		memmove(in.at, in.at + whole, in.len - whole);
		in.len -= whole;
		if (!hidden && (out.len >= CHUNK_BYTES / 2 || (n == 0 && out.len))) {
			served = send_chunk(c, out.at, out.len, err);
			buf_clear(&out);
		}
	}
	if (n < 0) {
		err_sys(err, errno, "cannot read %s", path);
		return NOT_SERVED;
	}
	if (served == SERVED && hidden)
		return hidden_symbols(c, err);
	memcpy(hex, c->target->kernel_build_id, sizeof(c->target->kernel_build_id));
	return served;
}

static enum served serve(struct capture *c, const struct job_image *want, struct served_image *out,
			 struct err *err)
{
	switch (want->kind) {
	case JOB_IMAGE_FILE:
		return serve_file(c, want, out, err);
	case JOB_IMAGE_VDSO:
		return serve_vdso(c, out->build_id, err);
	case JOB_IMAGE_KALLSYMS:
		return serve_kallsyms(c, out->build_id, err);
	}
	return NOT_SERVED;
}

bool capture_serve_image(struct capture *c, struct str body, struct err *err)
{
	arena_auto arena = { 0 };
	buf_auto end = { 0 };
	struct job_image want;
	struct served_image image = { 0 };
	struct err why;
	enum served served = NOT_SERVED;

	if (job_image_decode(&want, body, &arena, &why))
		served = serve(c, &want, &image, &why);
	if (served == HOST_GONE) {
		*err = why;
		return false;
	}
	if (served == SERVED) {
		kv_put_u64(&end, "ok", 1);
		kv_put(&end, "build_id", image.build_id);
		if (image.mtime_ns)
			kv_put_u64(&end, "mtime_ns", image.mtime_ns);
	} else {
		wire_put_err(&end, &why);
	}
	return wire_send(c->wire, WIRE_IMAGE_END, (struct str){ buf_str(&end), end.len }, err);
}
