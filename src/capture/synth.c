/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records for what was there before the events were opened: the kernel, and processes with their
 * names, threads and executable mappings. They carry time 0, before everything else.
 */
#include "capture/session.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

enum { MODE_KERNEL = 1, MODE_USER_CODE = 2, MISC_FORK_EXEC = 1 << 13 };

/* "[kernel.kallsyms]" with the name of the symbol that start is the address of, as perf has it. */
static void put_kernel_map(struct capture *c, struct buf *out, uint64_t start, uint64_t len,
			   uint64_t pgoff, const char *path)
{
	struct perfdata_mmap m = { .pid = UINT32_MAX,
				   .start = start,
				   .len = len,
				   .pgoff = pgoff,
				   .prot = PROT_EXEC,
				   .path = path };
	size_t hex = strlen(c->target->kernel_build_id);

	/* Modules have build ids of their own. */
	if (pgoff && hex && hex <= 2 * sizeof(m.build_id)) {
		if (!str_hex_bytes((struct str){ c->target->kernel_build_id, hex }, m.build_id,
				   hex / 2))
			return;
		m.build_id_len = (uint8_t)(hex / 2);
		m.has_build_id = true;
	}
	perfdata_put_mmap2(out, &c->style, MODE_KERNEL, &m, 0);
}

/* _text stands near the top; what comes before it on some kernels are per-CPU offsets. */
static bool kernel_start(uint64_t *start, const char **symbol)
{
	enum { LOOK_BYTES = 1 << 20, STEP = 1 << 14 };
	const struct rootfs here = { "" };
	fd_auto fd = rootfs_open(&here, "/proc/kallsyms");
	buf_auto text = { 0 };
	uint64_t stext = 0;

	while (fd >= 0 && text.len < LOOK_BYTES) {
		size_t before = text.len;
		ssize_t n = read(fd, buf_room(&text, STEP), STEP);
		struct str rest, line;
		struct kallsyms_line l;

		text.len = before + (n > 0 ? (size_t)n : 0);
		rest = (struct str){ (const char *)text.at, text.len };
		while (str_line(&rest, &line)) {
			if (!kallsyms_parse(line, &l) || l.module.len)
				continue;
			if (str_eq(l.name, "_text")) {
				/* 0 where kptr_restrict hides them all: no need to look on. */
				*start = l.address;
				*symbol = "_text";
				return l.address != 0;
			}
			if (str_eq(l.name, "_stext"))
				stext = l.address;
		}
		if (n <= 0 || stext)
			break;
	}
	*start = stext;
	*symbol = "_stext";
	return stext != 0;
}

/* From /proc/iomem, which tells it to the privileged; else all there is above start. */
static uint64_t kernel_len(uint64_t start)
{
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct str rest, line, low, high;
	uint64_t from, to;

	if (rootfs_read(&here, "/proc/iomem", &text)) {
		rest = (struct str){ buf_str(&text), text.len };
		while (str_line(&rest, &line)) {
			if (!memmem(line.at, line.len, "Kernel code", 11))
				continue;
			line = str_trim(line);
			if (str_cut(&line, '-', &low) && str_word(&line, &high) &&
			    str_hex(low, &from) && str_hex(high, &to) && to > from)
				return to - from + 1;
		}
	}
	return UINT64_MAX - start;
}

/* "name size uses deps state address" */
static void synth_modules(struct capture *c, struct buf *out)
{
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct str rest, line;

	if (!rootfs_read(&here, "/proc/modules", &text))
		return;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		struct str name, size_word, word;
		uint64_t size, address = 0;
		char path[80];

		if (!str_word(&line, &name) || !str_word(&line, &size_word) ||
		    !str_u64(size_word, &size))
			continue;
		for (int i = 0; i < 4; i++)
			if (!str_word(&line, &word))
				word = (struct str){ 0 };
		if (!str_u64(word, &address) || !address)
			continue;
		snprintf(path, sizeof(path), "[%.*s]", (int)(name.len < 64 ? name.len : 64),
			 name.at);
		put_kernel_map(c, out, address, size, 0, path);
	}
}

void synth_kernel(struct capture *c, struct buf *out)
{
	const char *symbol;
	uint64_t start;
	char path[64];

	if (c->plan.attr.exclude_kernel || !kernel_start(&start, &symbol))
		return;
	snprintf(path, sizeof(path), "[kernel.kallsyms]%s", symbol);
	put_kernel_map(c, out, start, kernel_len(start), start, path);
	synth_modules(c, out);
}

/* A thread's name without the newline that ends the file; it may hold any other byte. */
static void read_comm(uint32_t pid, uint32_t tid, char comm[64])
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%u/task/%u/comm", pid, tid);
	fd_auto fd = rootfs_open(&here, path);
	ssize_t n = fd < 0 ? -1 : read(fd, comm, 63);

	if (n > 0 && comm[n - 1] == '\n')
		n--;
	comm[n > 0 ? n : 0] = 0;
}

/* Marked as not handing on the parent's mappings: the process's own follow. */
static void put_fork(struct capture *c, struct buf *out, uint32_t pid, uint32_t ppid, uint32_t tid,
		     uint32_t ptid)
{
	size_t start = out->len;

	perfdata_put_fork(out, &c->style, pid, ppid, tid, ptid, 0);
	out->at[start + 4] = MISC_FORK_EXEC & 0xff;
	out->at[start + 5] = MISC_FORK_EXEC >> 8;
}

/* The kernel writes a newline in a path as \012 here and as itself in records. */
static char *plain_path(struct arena *a, struct str path)
{
	char *to = arena_alloc(a, path.len + 1);
	size_t n = 0;

	for (size_t i = 0; i < path.len; i++) {
		if (path.len - i >= 4 && !memcmp(path.at + i, "\\012", 4)) {
			to[n++] = '\n';
			i += 3;
		} else {
			to[n++] = path.at[i];
		}
	}
	return to;
}

static void put_map(struct capture *c, struct buf *out, uint32_t pid, const struct maps_line *l,
		    const char *path)
{
	struct image_name name = { .pid = pid,
				   .start = l->start,
				   .len = l->end - l->start,
				   .device_major = l->device_major,
				   .device_minor = l->device_minor,
				   .inode = l->inode,
				   .path = path };
	struct perfdata_mmap m = { .pid = pid,
				   .tid = pid,
				   .start = l->start,
				   .len = l->end - l->start,
				   .pgoff = l->offset,
				   .device_major = l->device_major,
				   .device_minor = l->device_minor,
				   .inode = l->inode,
				   .prot = (l->read ? PROT_READ : 0u) |
					   (l->write ? PROT_WRITE : 0u) | PROT_EXEC,
				   .flags = l->shared ? MAP_SHARED : MAP_PRIVATE,
				   .path = *path ? path : "//anon" };
	const struct image *image = l->inode ? images_see(&c->images, &name) : NULL;

	if (image && image->build_id_len) {
		m.has_build_id = true;
		m.build_id_len = image->build_id_len;
		memcpy(m.build_id, image->build_id, sizeof(m.build_id));
	}
	perfdata_put_mmap2(out, &c->style, MODE_USER_CODE, &m, 0);
}

static void put_maps(struct capture *c, struct buf *out, uint32_t pid)
{
	const struct rootfs here = { "" };
	char_auto file = mem_printf("/proc/%u/maps", pid);
	arena_auto paths = { 0 };
	buf_auto text = { 0 };
	struct str rest, line;
	struct maps_line l;

	if (!rootfs_read(&here, file, &text))
		return;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line))
		if (maps_parse(line, &l) && l.exec)
			put_map(c, out, pid, &l, plain_path(&paths, l.path));
}

void synth_process(struct capture *c, uint32_t pid, struct buf *out)
{
	const struct rootfs here = { "" };
	char_auto dir = mem_printf("/proc/%u/task", pid);
	arena_auto names = { 0 };
	const char **tids = rootfs_list(&here, dir, &names);
	struct process_stat st;
	char comm[64];

	if (!*tids || !process_read(pid, &st))
		return;
	put_fork(c, out, pid, st.parent, pid, st.parent);
	read_comm(pid, pid, comm);
	perfdata_put_comm(out, &c->style, pid, pid, comm, false, 0);
	put_maps(c, out, pid);
	for (; *tids; tids++) {
		uint64_t tid;

		if (!str_u64(str_of(*tids), &tid) || tid > INT32_MAX || tid == pid)
			continue;
		put_fork(c, out, pid, pid, (uint32_t)tid, pid);
		read_comm(pid, (uint32_t)tid, comm);
		perfdata_put_comm(out, &c->style, pid, (uint32_t)tid, comm, false, 0);
	}
}

void synth_pids(struct cpu_list *pids)
{
	const struct rootfs here = { "" };
	arena_auto names = { 0 };
	uint64_t pid;

	vec_clear(&pids->ids);
	for (const char **name = rootfs_list(&here, "/proc", &names); *name; name++)
		if (str_u64(str_of(*name), &pid) && pid <= INT32_MAX)
			vec_add(&pids->ids, (int)pid);
}
