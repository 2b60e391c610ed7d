/* SPDX-License-Identifier: Apache-2.0 */
/* What cannot be sent is told apart from a host that is gone. */
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/os.h"
#include "capture/session.h"
#include "test.h"

static struct capture *new_capture(struct wire *wire, const struct job *job)
{
	static const struct capture_setup setup = { .stdio = { -1, -1, -1 } };
	static const struct target target;
	struct capture *c = capture_new(wire, &target, &setup);

	c->job = job;
	return c;
}

TEST(send_what_is_no_frame)
{
	static const struct job job = { .scope = JOB_SYSTEM };
	int fds[2];
	struct wire wire = { 0 }, host = { 0 };
	struct wire_frame frame;
	struct capture *c;
	buf_auto body = { 0 };
	struct err err;

	CHECK(!pipe2(fds, O_CLOEXEC));
	wire.out = fds[1];
	host.in = fds[0];
	c = new_capture(&wire, &job);
	memset(buf_room(&body, WIRE_MAX + 1), 'x', WIRE_MAX + 1);
	capture_send(c, WIRE_STARTED, &body);
	CHECK(!c->host_gone);
	CHECK(c->ending.decided);
	CHECK_EQ_INT(c->ending.why, JOB_END_FAILURE);
	CHECK_EQ_INT(wire_receive(&host, &frame, &err), WIRE_GOT);
	CHECK_EQ_INT(frame.type, WIRE_ERROR);
	wire_get_err(frame.body, &err);
	CHECK_EQ_INT(err.kind, ERR_INTERNAL);
	CHECK_HAS(err.text, "cannot send frame 5: a frame of more than");
	capture_free(c);
	wire_done(&wire);
	wire_done(&host);
	close(fds[0]);
	close(fds[1]);
}

TEST(send_to_nobody)
{
	static const struct job job = { .scope = JOB_SYSTEM };
	int fds[2];
	struct wire wire = { 0 };
	struct capture *c;
	buf_auto body = { 0 };

	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe2(fds, O_CLOEXEC));
	close(fds[0]);
	wire.out = fds[1];
	c = new_capture(&wire, &job);
	buf_puts(&body, "pid 1\n");
	capture_send(c, WIRE_STARTED, &body);
	CHECK(c->host_gone);
	CHECK(!c->ending.decided);
	capture_free(c);
	wire_done(&wire);
	close(fds[1]);
}
