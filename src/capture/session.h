/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of capture/ share while a job runs. */
#ifndef CULPRIT_CAPTURE_SESSION_H
#define CULPRIT_CAPTURE_SESSION_H

#include <poll.h>
#include <signal.h>
#include <sys/types.h>

#include "capture/capture.h"
#include "capture/images.h"
#include "capture/rings.h"
#include "decode/decode.h"

/* A command between fork and exec, and after. */
struct launched {
	pid_t pid;	 /* 0: none, or reaped */
	int go;		 /* a byte here lets it exec; -1 when done */
	int exec_result; /* its errno comes here when exec fails; closes on success; -1 when told */
	char *path;	 /* that is executed */
	bool is_elf;
	bool reaped;
	int status;
	uint64_t cpu_ns; /* with all its reaped descendants */
};

/* How far the end has come. Levels only rise. */
enum end_level {
	END_NONE,  /* running */
	END_ASKED, /* the host's signal was sent; the workload has its grace time */
	END_TERM,  /* SIGTERM was sent to all of the workload */
	END_KILL,  /* SIGKILL was */
};

struct ending {
	bool decided; /* why is set: the first cause counts */
	enum job_end why;
	enum end_level level;
	uint64_t deadline_ns; /* when the level rises by itself; 0: never */
	uint64_t give_up_ns;  /* END_KILL: when not to wait any longer */
};

struct counts {
	uint64_t lost, throttled, data_bytes, wakeups;
};

/* Samples of events above an id are dropped when they are older than this. */
struct muted {
	uint64_t id_above, before_ns; /* 0: none */
};

struct capture {
	/* For all jobs. */
	struct wire *wire;
	const struct target *target;
	struct opener opener;
	int stdio[3];
	sigset_t ignored; /* as the workload is to have them */
	struct images images;
	struct rlimit files_before; /* RLIMIT_NOFILE as the workload is to have it */
	bool host_gone;

	/* Of the job that runs. */
	const struct job *job;
	struct plan plan;
	struct rings rings;
	struct notes notes;
	struct launched launched;
	struct ending ending;
	struct counts counts;
	struct muted muted;
	struct perfdata_style style;
	sigset_t old_mask;
	int signal_fd;
	int pid_fd;   /* JOB_PID: readable when the process has ended; -1 */
	pid_t parent; /* whose end means that the host is gone */
	bool rounds;  /* drains end with FINISHED_ROUND: not while the past is told */
	uint64_t started_ns;
	uint64_t second_ns;			 /* next once-a-second work */
	uint64_t second_start_ns, second_cpu_ns; /* the last one, for the agent's own cost */
	uint64_t next_drain_ns;
	unsigned drains;
	uint64_t attached_boot_ns;	      /* JOB_PID: when, in ns since boot */
	uint64_t pid_cpu_start, pid_cpu_last; /* JOB_PID, ns */
	VEC(struct pollfd) slots;	      /* of the loop */
	struct buf scratch;		      /* a record that wraps around the end of its ring */
};

/* send.c: frames to the host. All set host_gone when it cannot be reached, and then do nothing. */
void capture_send(struct capture *c, enum wire_type type, const struct buf *body);
void capture_send_error(struct capture *c, const struct err *err);
void capture_send_notes(struct capture *c); /* those that were not sent yet */
void capture_send_clock(struct capture *c);
/* Records that the agent made itself. */
void capture_send_records(struct capture *c, struct buf *records);

/* drain.c */
/* Takes everything that lies in the rings and sends it. True when there was anything. */
bool capture_drain(struct capture *c);
/* A LOST_SAMPLES record for what the kernel lost but could not say. */
void capture_tell_lost(struct capture *c, uint64_t lost);
/* Adds the thread ids of FORK records of events above an id that still lie in the rings. */
void capture_peek_forks(struct capture *c, uint64_t id_above, struct map *tids);

/* launch.c */
/* Finds and forks the command; it waits before exec. */
ERR_CHECKED bool launch_start(struct capture *c, struct err *err);
void launch_release(struct capture *c);
/* exec_result is readable: false with the reason when exec failed. */
ERR_CHECKED bool launch_result(struct capture *c, struct err *err);
/* Reaps whatever child has ended. */
void launch_reap(struct capture *c);
/* Kills a command that was never released. */
void launch_abandon(struct capture *c);

/* process.c */
struct process_stat {
	bool ended; /* all of its threads: a zombie that waits for its parent to ask */
	uint32_t parent;
	uint64_t cpu_ns;   /* of all threads and those that ended */
	uint64_t start_ns; /* since boot; both are as coarse as the kernel's ticks */
};
/* False when there is no such process. */
bool process_read(uint64_t pid, struct process_stat *out);

/* tree.c */
/* All descendants of a process but zombies. */
void tree_pids(int root, struct cpu_list *out);
/* Sends a signal to all descendants of this process; how many there are. Signal 0 only counts. */
size_t tree_signal(int signal);

/* capture.c */
ERR_CHECKED bool capture_map_rings(struct capture *c, struct err *err);

/* follow.c */
/*
 * Opens events for all threads of these processes and lets them count; maps the rings when there
 * are none yet. id_above: the largest event id that was given out before. On failure err has the
 * errno; the caller knows the words.
 */
ERR_CHECKED bool follow_open(struct capture *c, const struct cpu_list *pids, uint64_t id_above,
			     struct err *err);

/* attach.c */
/* Opens events for all threads of the job's process. */
ERR_CHECKED bool attach_open(struct capture *c, struct err *err);
/* False once it has ended, as a zombie too. */
bool attach_alive(uint64_t pid);
/* CPU time of the process so far, in ns; otherwise when it cannot be read. */
uint64_t attach_cpu_ns(uint64_t pid, uint64_t otherwise);

/* synth.c */
/* Describes the kernel's text and modules. */
void synth_kernel(struct capture *c, struct buf *out);
/* Describes one process as it is now: names, threads, executable mappings. */
void synth_process(struct capture *c, uint32_t pid, struct buf *out);
/* All processes, in ascending order of pid. */
void synth_pids(struct cpu_list *pids);

/* end.c */
/* The first cause is kept. Scopes without a workload of ours end at once. */
void end_because(struct capture *c, enum job_end why);
/* And a workload of ours is ended: for when nobody can be told of it or wants to wait for it. */
void end_by_force(struct capture *c, enum job_end why);
/* STOP of the host: signal (0: none), then the workload has grace_ns. */
void end_stop(struct capture *c, int signal, uint64_t grace_ns);
/* One level further, with its signal and its deadline. */
void end_raise(struct capture *c);
/* True when there is nothing left to wait for. */
bool end_reached(const struct capture *c);

/* loop.c */
/* Waits up to timeout_ns for something to do and does it. */
void loop_turn(struct capture *c, uint64_t timeout_ns);
/* Until the end of the capture. */
void loop_run(struct capture *c);

/* overhead.c */
/* Once a second: the agent's own cost, and half the rate when it is too much. */
void overhead_check(struct capture *c, uint64_t now_ns);

#endif
