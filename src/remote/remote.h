/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Agents: starts one for a target and speaks with it. The local machine is a target like any other;
 * its agent hangs on a pair of pipes and gets the user's own descriptors for the workload.
 */
#ifndef CULPRIT_REMOTE_REMOTE_H
#define CULPRIT_REMOTE_REMOTE_H

#include "base/err.h"
#include "base/mem.h"
#include "session/session.h"
#include "wire/wire.h"

struct remote; /* a started agent */

struct remote_options {
	int stdio[3];	   /* the workload's descriptors, -1: none (/dev/null) */
	bool keep_signals; /* the caller has blocked signals: the agent starts with *mask instead */
	const void *mask;  /* sigset_t */
};

/* Starts the agent of this machine and exchanges HELLO. */
ERR_CHECKED bool remote_start_local(struct remote **out, const struct remote_options *options,
				    struct err *err);
/* What the target is, as target_encode's text. */
ERR_CHECKED bool remote_probe(struct remote *r, struct buf *target, struct err *err);
/* Sends the job; false with the agent's own error when it refuses. */
ERR_CHECKED bool remote_job(struct remote *r, const struct job *job, struct job_started *started,
			    struct err *err);
/* For poll loops. */
int remote_fd(const struct remote *r);
bool remote_pending(const struct remote *r);
/* Blocks for one frame. CLOSED means that the agent died: the error then says how. */
enum wire_got remote_receive(struct remote *r, struct wire_frame *frame, struct err *err);
/* False once the talk has broken. */
bool remote_alive(const struct remote *r);
/* One STOP; signal 0: none is sent to the workload. */
ERR_CHECKED bool remote_stop(struct remote *r, int signal, uint64_t grace_ns, struct err *err);
/*
 * After FINISHED: the bytes of an image into fd, which gets the time of change of the image's file,
 * where it has one. build_id (41 bytes) is what the agent read.
 */
ERR_CHECKED bool remote_fetch_image(struct remote *r, const struct job_image *want, int fd,
				    const char *name, char *build_id, struct err *err);
/* Says BYE and waits for the agent to end (killed when it does not). NULL is fine. */
void remote_close(struct remote *r);

#endif
