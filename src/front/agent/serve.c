/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the talk that wire/wire.h draws. */
#include "front/agent/agent.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "capture/capture.h"

struct agent {
	struct wire wire;
	struct target target;
	bool probed;
	struct capture_setup setup; /* of a job with stdio */
	struct capture *capture;
	bool captured; /* a job has run; its images are still served */
};

/* The workload gets these in place of 0 to 2 and nowhere else. */
static void take_stdio(struct agent *a, const int stdio[3])
{
	for (int i = 0; i < 3; i++)
		a->setup.stdio[i] =
			stdio[i] < 0 || fcntl(stdio[i], F_SETFD, FD_CLOEXEC) < 0 ? -1 : stdio[i];
}

/* What was ignored before we ignore some ourselves: exec leaves nothing else behind. */
static void take_ignored(struct agent *a)
{
	sigemptyset(&a->setup.ignored);
	for (int s = 1; s < NSIG; s++) {
		struct sigaction old;

		if (!sigaction(s, NULL, &old) && old.sa_handler == SIG_IGN)
			sigaddset(&a->setup.ignored, s);
	}
}

static const struct target *probe(struct agent *a)
{
	const struct rootfs here = { "" };

	if (!a->probed)
		target_probe(&a->target, &here, NULL);
	a->probed = true;
	return &a->target;
}

static bool send_buf(struct agent *a, enum wire_type type, struct buf *body, struct err *err)
{
	return wire_send(&a->wire, type, (struct str){ buf_str(body), body->len }, err);
}

static bool send_error(struct agent *a, const struct err *why, struct err *err)
{
	buf_auto body = { 0 };

	wire_put_err(&body, why);
	return send_buf(a, WIRE_ERROR, &body, err);
}

static bool answer_hello(struct agent *a, struct err *err)
{
	buf_auto body = { 0 };
	struct utsname u;

	kv_put_u64(&body, "version", WIRE_VERSION);
	kv_put(&body, "arch", uname(&u) ? "" : u.machine);
	kv_put_u64(&body, "pid", (uint64_t)getpid());
	return send_buf(a, WIRE_HELLO, &body, err);
}

static bool answer_probe(struct agent *a, struct err *err)
{
	buf_auto body = { 0 };

	target_encode(probe(a), &body);
	return send_buf(a, WIRE_TARGET, &body, err);
}

static bool run_job(struct agent *a, struct str body, struct err *err)
{
	struct capture_setup setup = a->setup;
	arena_auto arena = { 0 };
	struct job job;
	struct err why;

	if (!job_decode(&job, body, &arena, &why))
		return send_error(a, &why, err);
	if (a->captured) {
		err_set(&why, ERR_UNSUPPORTED, "an agent runs one job; start another agent");
		return send_error(a, &why, err);
	}
	for (int i = 0; i < 3 && !job.stdio; i++)
		setup.stdio[i] = -1;
	a->wire.compress = job.compress;
	capture_free(a->capture);
	a->capture = capture_new(&a->wire, probe(a), &setup);
	switch (capture_run(a->capture, &job, &why)) {
	case CAPTURE_DONE:
		a->captured = true;
		return true;
	case CAPTURE_HOST_GONE:
		*err = why;
		return false;
	case CAPTURE_REFUSED:
		break;
	}
	/* Nothing began, so the host may ask for something else. */
	capture_free(a->capture);
	a->capture = NULL;
	return send_error(a, &why, err);
}

static bool serve_image(struct agent *a, struct str body, struct err *err)
{
	static const struct capture_setup no_stdio = { .stdio = { -1, -1, -1 } };

	if (!a->capture)
		a->capture = capture_new(&a->wire, probe(a), &no_stdio);
	return capture_serve_image(a->capture, body, err);
}

/* False when the talk is over; err.kind is ERR_NONE when it ended as it should. */
static bool answer(struct agent *a, const struct wire_frame *frame, struct err *err)
{
	struct err why;

	/* Frames that only an agent sends are no questions. */
	switch ((int)frame->type) {
	case WIRE_HELLO:
		return answer_hello(a, err);
	case WIRE_PROBE:
		return answer_probe(a, err);
	case WIRE_JOB:
		return run_job(a, frame->body, err);
	case WIRE_IMAGE_GET:
		return serve_image(a, frame->body, err);
	case WIRE_STOP:
		return true; /* it crossed the end of the capture */
	case WIRE_BYE:
		return false;
	default:
		err_set(&why, ERR_FORMAT, "a frame of type %d from the host", (int)frame->type);
		return send_error(a, &why, err);
	}
}

int agent_serve(int in, int out, const int stdio[3])
{
	struct agent a = { .wire = { .in = in, .out = out } };
	struct wire_frame frame;
	struct err err = { 0 };
	enum wire_got got;

	take_ignored(&a);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	take_stdio(&a, stdio);
	/* Larger than the default, so that a burst does not make the recorder wait. */
	(void)fcntl(out, F_SETPIPE_SZ, 1 << 20);
	while ((got = wire_receive(&a.wire, &frame, &err)) == WIRE_GOT)
		if (!answer(&a, &frame, &err))
			break;
	if (got == WIRE_FAILED)
		log_at(LOG_ERROR, "agent", "%s", err.text);
	capture_free(a.capture);
	if (a.probed)
		target_done(&a.target);
	wire_done(&a.wire);
	return got == WIRE_FAILED;
}
