/* SPDX-License-Identifier: Apache-2.0 */
/* What side-band records do to processes, threads and mappings. */
#include "model/pass.h"

/* header.misc of a FORK that a recorder made up for a process that has long exec'ed. */
enum { MISC_FORK_EXEC = 1 << 13 };

static bool apply_mmap(struct pass *p, const struct sideband_item *item)
{
	unsigned int mode = item->rec.misc & STACK_MODE_MASK;
	struct perfdata_mmap map;
	struct piece piece;
	uint32_t process;

	if (!perfdata_mmap(p->pd, &item->rec, &map))
		return false;
	if (mode == STACK_KERNEL || map.pid == UINT32_MAX)
		images_kernel_mapped(&p->images, &map);
	/* The kernel and its modules need no mappings here, and guests are not looked into. */
	if (mode == STACK_KERNEL || mode == STACK_GUEST_KERNEL || mode == STACK_GUEST_USER ||
	    map.pid == UINT32_MAX || !map.len)
		return true;
	process = processes_at(&p->processes, map.pid, item->t);
	piece.start = map.start;
	if (__builtin_add_overflow(map.start, map.len, &piece.end))
		piece.end = UINT64_MAX;
	piece.image = images_mapped(&p->images, &map, process, &piece.shift);
	processes_map(&p->processes, process, item->t, &piece);
	return true;
}

static bool apply_comm(struct pass *p, const struct sideband_item *item)
{
	struct perfdata_comm comm;
	uint32_t process;

	if (!perfdata_comm(p->pd, &item->rec, &comm))
		return false;
	if (comm.exec)
		process = processes_exec(&p->processes, comm.pid, item->t);
	else
		process = processes_at(&p->processes, comm.pid, item->t);
	threads_comm(&p->threads, process, comm.tid, comm.comm, item->t);
	return true;
}

static bool apply_fork(struct pass *p, const struct sideband_item *item)
{
	struct perfdata_task task;
	uint32_t parent, process;

	if (!perfdata_task(p->pd, &item->rec, &task))
		return false;
	parent = process = processes_at(&p->processes, task.ppid, item->t);
	if (task.pid != task.ppid) {
		process = processes_fork(&p->processes, task.pid, task.ppid, item->t,
					 item->rec.misc & MISC_FORK_EXEC ?
						 PROCESS_FORK_EMPTY_SPACE :
						 PROCESS_FORK_COPIES_SPACE);
		if (process == MODEL_NONE)
			return true;
	}
	threads_fork(&p->threads, process, task.tid, parent, task.ptid, item->t);
	return true;
}

static bool apply_exit(struct pass *p, const struct sideband_item *item)
{
	struct perfdata_task task;

	if (!perfdata_task(p->pd, &item->rec, &task))
		return false;
	threads_exit(&p->threads, processes_at(&p->processes, task.pid, item->t), task.tid,
		     item->t);
	if (task.pid == task.tid)
		processes_exit(&p->processes, task.pid, item->t);
	return true;
}

void pass_apply(struct pass *p, const struct sideband_item *item)
{
	bool ok = true;

	if (item->rec.type == PERFDATA_MMAP || item->rec.type == PERFDATA_MMAP2)
		ok = apply_mmap(p, item);
	else if (item->rec.type == PERFDATA_COMM)
		ok = apply_comm(p, item);
	else if (item->rec.type == PERFDATA_FORK)
		ok = apply_fork(p, item);
	else if (item->rec.type == PERFDATA_EXIT)
		ok = apply_exit(p, item);
	if (!ok)
		p->m->bad_records++;
}
