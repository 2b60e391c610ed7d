/* SPDX-License-Identifier: Apache-2.0 */
/* A small host for tests: runs a capture in a child process and keeps all that it sends. */
#ifndef TEST_CAPTURE_HOST_H
#define TEST_CAPTURE_HOST_H

#include <sys/types.h>

#include "base/os.h"
#include "capture/capture.h"
#include "decode/decode.h"

struct host {
	pid_t agent;
	struct wire wire;
	bool has_started, has_finished, has_error;
	struct job_started started;
	struct job_finished finished;
	struct err error;
	struct buf data;  /* of all DATA frames */
	struct buf notes; /* kv: id text */
	unsigned clocks, frames;
	uint64_t job_sent_ns, started_ns, finished_ns;
	uint64_t image_mtime_ns; /* of the last image */
};

struct host_setup {
	int stdio[3];
	sigset_t ignored;
	uid_t uid; /* 0: as we are */
	target_open_fn *open;
	void *open_ctx;
};

/* Memory that lives as long as the test. */
struct arena *host_arena(void);
/* A job that launches argv at 1000 Hz of cpu-clock. */
struct job host_job(char **argv);
/* argv out of words that end with NULL; lives as long as the test. */
char **host_argv(const char *first, ...);
/* Starts the agent and sends the job. setup may be NULL. */
void host_start(struct host *h, const struct job *job, const struct host_setup *setup);
/* Takes frames until STARTED or ERROR came. */
void host_until_started(struct host *h);
/* Takes frames for so long. */
void host_for(struct host *h, unsigned ms);
/* Takes frames until FINISHED, an ERROR instead of STARTED, or the end of the stream. */
void host_until_end(struct host *h);
void host_stop(struct host *h, int signal, uint64_t grace_ms);
/* The image's bytes into out; false with the agent's reason. */
bool host_image(struct host *h, const struct job_image *want, struct buf *out, char *build_id,
		struct err *err);
/* Closes what is open and frees what was kept, whatever became of the agent. */
void host_drop(struct host *h);
/* BYE, and the agent must end well; then host_drop. */
void host_end(struct host *h);
/* All of the above for a job that ends by itself. */
void host_run(struct host *h, const struct job *job, const struct host_setup *setup);

/* The capture as a perf.data file in memory. */
void host_file(struct host *h, struct buf *out);
struct host_tally {
	uint64_t samples, lost, mmaps, comms, forks, exits, rounds, chains;
	uint64_t first_ns, last_ns;
};
/* Walks the file with the decoder; every record must decode. */
struct host_tally host_count(struct host *h);
/* Samples of one process or thread. */
uint64_t host_samples_of(struct host *h, uint32_t pid, uint32_t tid);

/* Path of a program of tests/programs; the test is skipped when it was not built. */
const char *host_program(const char *name);
/* Skips the test where perf_event_open does not work for us. */
void host_needs_perf(void);
/* True when no such process is there, or only a zombie. */
bool host_is_gone(pid_t pid);
/* The text of a note, or NULL. Lives as long as the test. */
const char *host_note(struct host *h, const char *id);

#endif
