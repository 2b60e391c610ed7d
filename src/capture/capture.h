/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a capture job on the target: opens the events, starts or follows the workload, sends what
 * the rings hold as frames, and afterwards serves the images it saw. One job at a time, one thread;
 * the process must belong to it (it handles SIGCHLD, SIGTERM and SIGHUP while a job runs; of the last
 * two not those that were ignored before).
 */
#ifndef CULPRIT_CAPTURE_CAPTURE_H
#define CULPRIT_CAPTURE_CAPTURE_H

#include <signal.h>

#include "base/err.h"
#include "base/rootfs.h"
#include "target/target.h"
#include "wire/wire.h"

struct capture_setup {
	target_open_fn *open; /* NULL: the real system call */
	void *open_ctx;
	int stdio[3];	  /* the workload's descriptors; -1: /dev/null, and the agent's stderr */
	sigset_t ignored; /* what was ignored when the agent began; the workload gets it so */
};

struct capture;

/* wire and target are borrowed until capture_free. */
struct capture *capture_new(struct wire *wire, const struct target *target,
			    const struct capture_setup *setup);

enum capture_result {
	CAPTURE_DONE,	   /* FINISHED was sent */
	CAPTURE_REFUSED,   /* nothing started, nothing sent: err says why */
	CAPTURE_HOST_GONE, /* the host's side closed; all is stopped */
};
/* Blocks until the capture has ended and FINISHED is sent. */
enum capture_result capture_run(struct capture *c, const struct job *job, struct err *err);

/*
 * Answers one IMAGE_GET with IMAGE frames and IMAGE_END, which says too when there is no such
 * image. False only when the host cannot be reached.
 */
ERR_CHECKED bool capture_serve_image(struct capture *c, struct str body, struct err *err);
/* NULL is fine. */
void capture_free(struct capture *c);

#endif
