/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open events and the ring of each CPU they write to. The first event of a CPU owns its ring;
 * events of further threads are redirected into it. Private to capture/.
 */
#ifndef CULPRIT_CAPTURE_RINGS_H
#define CULPRIT_CAPTURE_RINGS_H

#include "capture/plan.h"

struct ring {
	int cpu;
	int owner_fd; /* one of the events' descriptors */
	struct perf_event_mmap_page *page;
	uint8_t *data;
	uint64_t tail;	/* up to here everything was taken */
	size_t watched; /* index in fds of the event that wakes us; past the end: none is left */
};

struct rings {
	VEC(struct ring) list;
	VEC(int) fds;	      /* of all events; closed by rings_done */
	VEC(uint64_t) ids;    /* of all events, PERF_EVENT_IOC_ID */
	struct cpu_list cpus; /* those that are recorded */
	uint64_t page_bytes, ring_bytes;
	bool mapped;
};

/* Who is recorded by one set of events, one per CPU. */
enum rings_task { RINGS_EVERYONE = -1 };

/* Learns page size and online CPUs. */
ERR_CHECKED bool rings_init(struct rings *r, struct err *err);
enum rings_opened { RINGS_OPENED, RINGS_TASK_GONE, RINGS_FAILED };
/*
 * Opens the event on every CPU for tid, which may be RINGS_EVERYONE. Before rings_map a CPU that is
 * offline is dropped with a note. sys_errno is set on failure; the caller knows the words.
 */
enum rings_opened rings_open_task(struct rings *r, const struct plan *p, int tid,
				  const struct opener *o, struct notes *notes, struct err *err);
/* Maps the rings of the first set of events, smaller ones when the system gives no more. */
ERR_CHECKED bool rings_map(struct rings *r, struct ring_size size, const struct target *t,
			   struct notes *notes, struct err *err);
void rings_enable(const struct rings *r);
/* Those that were opened from fds[first] on. */
void rings_enable_from(const struct rings *r, size_t first);
void rings_disable(const struct rings *r);
/* The first count of them, with all that was inherited from them. */
void rings_disable_to(const struct rings *r, size_t count);
void rings_close_from(struct rings *r, size_t first);
/* Samples that the kernel could not write, over all events; 0 on kernels that do not tell. */
uint64_t rings_lost(const struct rings *r, const struct plan *p);
void rings_done(struct rings *r);

#endif
