/* SPDX-License-Identifier: Apache-2.0 */
/* What the host asks an agent to capture, and what the agent answers. Included by wire.h. */
#ifndef CULPRIT_WIRE_JOB_H
#define CULPRIT_WIRE_JOB_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum job_scope { JOB_LAUNCH, JOB_PID, JOB_SYSTEM };
enum job_chain { JOB_CHAIN_NONE, JOB_CHAIN_FP, JOB_CHAIN_DWARF };
enum job_rings { JOB_RINGS_ALL, JOB_RINGS_USER, JOB_RINGS_KERNEL }; /* privilege levels sampled */

struct job {
	enum job_scope scope;
	char **argv;  /* JOB_LAUNCH: NULL-terminated; looked up in PATH by the agent */
	uint64_t pid; /* JOB_PID */
	/*
	 * "auto" (cycles where a PMU answers, else cpu-clock), "cycles", "cpu-clock",
	 * "task-clock", or "rNNNN" (raw, hexadecimal).
	 */
	const char *event;
	uint64_t frequency_hz; /* one of these two is not 0 */
	uint64_t period;
	enum job_rings rings;
	enum job_chain chain;
	uint32_t stack_bytes;		/* user stack dump for JOB_CHAIN_DWARF; multiple of 8 */
	uint64_t for_ns;		/* 0: until the workload or the host ends it */
	uint64_t ring_total_bytes;	/* ceiling over all CPUs */
	uint32_t max_overhead_permille; /* of the whole machine; the rate is lowered above it */
	bool compress;
	bool stdio; /* the workload gets the stdin, stdout, stderr that the agent was started with */
};

void job_encode(const struct job *job, struct buf *out);
/* Strings lie in the arena. ERR_FORMAT when a field is missing or out of range. */
ERR_CHECKED bool job_decode(struct job *job, struct str body, struct arena *a, struct err *err);

enum { JOB_IDS_SENT = 4096 };

/* One event as opened. */
struct job_event {
	char name[64];	 /* as shown: "cycles", "cpu-clock", "cpu-clock:u" */
	struct buf attr; /* the struct perf_event_attr that was accepted */
	/*
	 * PERF_EVENT_IOC_ID of each descriptor. With one event the first JOB_IDS_SENT are enough:
	 * readers take every sample for the only event's, whatever its id.
	 */
	VEC(uint64_t) ids;
};

/* WIRE_STARTED */
struct job_started {
	uint64_t pid; /* of the workload, 0 for JOB_SYSTEM */
	VEC(struct job_event) events;
	uint64_t perf_ns, monotonic_ns, realtime_ns; /* one clock triple */
	char clockid[24];			     /* "perf" unless attr.use_clockid */
	uint64_t ring_bytes;			     /* of each ring */
	uint32_t rings;
};
void job_started_encode(const struct job_started *s, struct buf *out);
ERR_CHECKED bool job_started_decode(struct job_started *s, struct str body, struct err *err);
void job_started_done(struct job_started *s);

enum job_end {
	JOB_END_EXIT,	 /* the workload or all attached threads ended */
	JOB_END_TIME,	 /* for_ns passed */
	JOB_END_STOP,	 /* the host said stop */
	JOB_END_SIGNAL,	 /* the agent itself was told to end */
	JOB_END_FAILURE, /* see the ERROR that came before */
};

/* WIRE_FINISHED */
struct job_finished {
	enum job_end end;
	bool has_status; /* JOB_LAUNCH and the workload was reaped */
	int wait_status; /* as waitpid gives it */
	uint64_t wall_ns, agent_cpu_ns, workload_cpu_ns; /* of the capture */
	uint64_t lost, throttled; /* LOST + LOST_SAMPLES records' counts; THROTTLE records */
	uint64_t data_bytes, wakeups;
	uint64_t final_frequency_hz; /* differs from the job's when the overhead limit lowered it */
};
void job_finished_encode(const struct job_finished *f, struct buf *out);
ERR_CHECKED bool job_finished_decode(struct job_finished *f, struct str body, struct err *err);

/*
 * WIRE_IMAGE_GET names an image as the capture saw it. The agent matches, in this order: build id;
 * device, inode and generation; path with pid. An image that the agent opened while the process
 * lived is served from that descriptor, even when the file is gone from the disk.
 */
enum job_image_kind { JOB_IMAGE_FILE, JOB_IMAGE_VDSO, JOB_IMAGE_KALLSYMS };
struct job_image {
	enum job_image_kind kind;
	char build_id[41]; /* lower-case hex, "" when unknown */
	uint64_t device_major, device_minor, inode, inode_generation;
	uint64_t pid;
	const char *path;
};
void job_image_encode(const struct job_image *i, struct buf *out);
ERR_CHECKED bool job_image_decode(struct job_image *i, struct str body, struct arena *a,
				  struct err *err);
/* WIRE_IMAGE_END: {ok 1, build_id, mtime_ns of a file} or an error as wire_put_err writes it. */

#endif
