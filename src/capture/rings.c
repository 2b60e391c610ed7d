/* SPDX-License-Identifier: Apache-2.0 */
/* Opens events on every CPU and maps the rings they write to. */
#include "capture/rings.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/os.h"

bool rings_init(struct rings *r, struct err *err)
{
	static const char path[] = "/sys/devices/system/cpu/online";
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	long cpus;

	*r = (struct rings){ .page_bytes = (uint64_t)sysconf(_SC_PAGESIZE) };
	if (rootfs_read(&here, path, &text)) {
		if (!cpu_list_parse(&r->cpus, buf_str(&text)) || !r->cpus.ids.len)
			return err_set(err, ERR_FORMAT, "%s: '%.60s' is no list of CPUs", path,
				       buf_str(&text));
		return true;
	}
	cpus = sysconf(_SC_NPROCESSORS_ONLN);
	for (int i = 0; i < cpus; i++)
		vec_add(&r->cpus.ids, i);
	return true;
}

static void drop_cpu(struct rings *r, size_t i, struct notes *notes)
{
	notes_add(notes, "CPU_OFFLINE", "CPU %d went offline and is not recorded",
		  r->cpus.ids.at[i]);
	r->cpus.ids.len--;
	for (; i < r->cpus.ids.len; i++)
		r->cpus.ids.at[i] = r->cpus.ids.at[i + 1];
}

/* The set just opened, from fds[first] on, sends its records where those of the first set go. */
static bool redirect(struct rings *r, size_t first, struct err *err)
{
	for (size_t i = first; i < r->fds.len; i++)
		if (ioctl(r->fds.at[i], PERF_EVENT_IOC_SET_OUTPUT, r->list.at[i - first].owner_fd) <
		    0)
			return err_sys(err, errno,
				       "cannot join a thread's event to the ring of CPU %d",
				       r->list.at[i - first].cpu);
	return true;
}

void rings_close_from(struct rings *r, size_t first)
{
	while (r->fds.len > first)
		close(r->fds.at[--r->fds.len]);
	if (r->ids.len > first)
		r->ids.len = first;
}

enum rings_opened rings_open_task(struct rings *r, const struct plan *p, int tid,
				  const struct opener *o, struct notes *notes, struct err *err)
{
	size_t first = r->fds.len;

	for (size_t i = 0; i < r->cpus.ids.len;) {
		int fd = o->open(o->ctx, &p->attr, tid, r->cpus.ids.at[i], -1, 0);
		uint64_t id = 0;

		if (fd == -ENODEV && !r->mapped && r->cpus.ids.len > 1 && !first) {
			drop_cpu(r, i, notes);
			continue;
		}
		if (fd < 0) {
			rings_close_from(r, first);
			err_sys(err, -fd, "cannot open %s on CPU %d", p->name, r->cpus.ids.at[i]);
			return fd == -ESRCH ? RINGS_TASK_GONE : RINGS_FAILED;
		}
		if (ioctl(fd, PERF_EVENT_IOC_ID, &id) < 0)
			id = 0;
		vec_add(&r->fds, fd);
		vec_add(&r->ids, id);
		i++;
	}
	if (r->mapped && !redirect(r, first, err)) {
		rings_close_from(r, first);
		return RINGS_FAILED;
	}
	return RINGS_OPENED;
}

static void unmap_all(struct rings *r)
{
	for (size_t i = 0; i < r->list.len; i++)
		munmap(r->list.at[i].page, r->page_bytes + r->ring_bytes);
	vec_clear(&r->list);
}

/* 0, or the errno of the first ring that could not be had; then none is mapped. */
static int map_all(struct rings *r, uint64_t bytes)
{
	r->ring_bytes = bytes;
	for (size_t i = 0; i < r->cpus.ids.len; i++) {
		void *at = mmap(NULL, r->page_bytes + bytes, PROT_READ | PROT_WRITE, MAP_SHARED,
				r->fds.at[i], 0);
		int errnum = errno;

		if (at == MAP_FAILED) {
			unmap_all(r);
			return errnum;
		}
		vec_add(&r->list, ((struct ring){ .cpu = r->cpus.ids.at[i],
						  .owner_fd = r->fds.at[i],
						  .watched = i,
						  .page = at,
						  .data = (uint8_t *)at + r->page_bytes }));
	}
	return 0;
}

bool rings_map(struct rings *r, struct ring_size size, const struct target *t, struct notes *notes,
	       struct err *err)
{
	uint64_t bytes = size.bytes;
	int errnum, failed = 0;

	for (;;) {
		errnum = map_all(r, bytes);
		if (!errnum)
			break;
		if ((errnum != EPERM && errnum != ENOMEM) || bytes / 2 < size.bytes_least ||
		    bytes / 2 < r->page_bytes)
			return target_explain_ring(t, bytes, errnum, err);
		failed = errnum;
		bytes /= 2;
	}
	if (bytes < size.bytes)
		notes_add(
			notes, "RINGS_SMALLER",
			"rings of %llu KiB per CPU instead of %llu KiB: the system gave no more (%s)",
			(unsigned long long)(bytes / 1024), (unsigned long long)(size.bytes / 1024),
			strerror(failed));
	r->mapped = true;
	return true;
}

void rings_enable(const struct rings *r)
{
	rings_enable_from(r, 0);
}

void rings_enable_from(const struct rings *r, size_t first)
{
	for (size_t i = first; i < r->fds.len; i++)
		(void)ioctl(r->fds.at[i], PERF_EVENT_IOC_ENABLE, 0);
}

void rings_disable(const struct rings *r)
{
	rings_disable_to(r, r->fds.len);
}

void rings_disable_to(const struct rings *r, size_t count)
{
	for (size_t i = 0; i < count; i++)
		(void)ioctl(r->fds.at[i], PERF_EVENT_IOC_DISABLE, 0);
}

uint64_t rings_lost(const struct rings *r, const struct plan *p)
{
	uint64_t lost = 0;

	if (!p->attr.read_format)
		return 0;
	for (size_t i = 0; i < r->fds.len; i++) {
		uint64_t value_lost[2];

		if (read(r->fds.at[i], value_lost, sizeof(value_lost)) ==
		    (ssize_t)sizeof(value_lost))
			lost += value_lost[1];
	}
	return lost;
}

void rings_done(struct rings *r)
{
	unmap_all(r);
	for (size_t i = 0; i < r->fds.len; i++)
		close(r->fds.at[i]);
	vec_done(&r->list);
	vec_done(&r->fds);
	vec_done(&r->ids);
	vec_done(&r->cpus.ids);
	*r = (struct rings){ 0 };
}
