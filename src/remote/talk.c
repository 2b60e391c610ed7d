/* SPDX-License-Identifier: Apache-2.0 */
/* The host's side of the talk with an agent (wire/wire.h shows the order of frames). */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "remote/parts.h"

int remote_fd(const struct remote *r)
{
	return r->up;
}

bool remote_pending(const struct remote *r)
{
	return wire_pending(&r->wire);
}

enum wire_got remote_receive(struct remote *r, struct wire_frame *frame, struct err *err)
{
	enum wire_got got = wire_receive(&r->wire, frame, err);

	if (got == WIRE_CLOSED)
		remote_explain_death(r, err);
	if (got != WIRE_GOT)
		r->dead = true;
	return got;
}

bool remote_alive(const struct remote *r)
{
	return !r->dead;
}

/* The next frame must be of this type; an ERROR frame becomes the error. */
static bool expect(struct remote *r, enum wire_type type, struct wire_frame *frame, struct err *err)
{
	if (remote_receive(r, frame, err) != WIRE_GOT)
		return false;
	if (frame->type == type)
		return true;
	if (frame->type == WIRE_ERROR) {
		wire_get_err(frame->body, err);
		return false;
	}
	return err_set(err, ERR_FORMAT, "the agent answered with a frame of type %d instead of %d",
		       (int)frame->type, (int)type);
}

bool remote_hello(struct remote *r, struct err *err)
{
	struct wire_frame frame;
	buf_auto hello = { 0 };
	struct kv kv;
	uint64_t version;

	kv_put_u64(&hello, "version", WIRE_VERSION);
	if (!wire_send(&r->wire, WIRE_HELLO, (struct str){ buf_str(&hello), hello.len }, err)) {
		remote_explain_death(r, err);
		return false;
	}
	if (!expect(r, WIRE_HELLO, &frame, err))
		return false;
	kv_parse(&kv, frame.body);
	version = kv_u64(&kv, "version", 0);
	kv_done(&kv);
	if (version == WIRE_VERSION)
		return true;
	return err_set(err, ERR_UNSUPPORTED,
		       "the agent speaks version %llu of the protocol, this program %d",
		       (unsigned long long)version, WIRE_VERSION);
}

bool remote_probe(struct remote *r, struct buf *target, struct err *err)
{
	struct wire_frame frame;

	if (!wire_send(&r->wire, WIRE_PROBE, str_of(""), err) ||
	    !expect(r, WIRE_TARGET, &frame, err))
		return false;
	buf_clear(target);
	buf_add(target, frame.body.at, frame.body.len);
	return true;
}

bool remote_job(struct remote *r, const struct job *job, struct job_started *started,
		struct err *err)
{
	struct wire_frame frame;
	buf_auto body = { 0 };

	job_encode(job, &body);
	return wire_send(&r->wire, WIRE_JOB, (struct str){ buf_str(&body), body.len }, err) &&
	       expect(r, WIRE_STARTED, &frame, err) && job_started_decode(started, frame.body, err);
}

bool remote_stop(struct remote *r, int signal, uint64_t grace_ns, struct err *err)
{
	buf_auto body = { 0 };

	kv_put_u64(&body, "signal", (uint64_t)signal);
	kv_put_u64(&body, "grace_ns", grace_ns);
	return wire_send(&r->wire, WIRE_STOP, (struct str){ buf_str(&body), body.len }, err);
}

/* The body of IMAGE_END: {ok 1, build_id, mtime_ns}, or an error. */
static bool image_end(struct str body, char *build_id, uint64_t *mtime_ns, struct err *err)
{
	struct kv kv;
	bool ok;

	kv_parse(&kv, body);
	ok = kv_u64(&kv, "ok", 0) == 1;
	if (ok) {
		strncpy(build_id, kv_get(&kv, "build_id"), 40);
		build_id[40] = 0;
		*mtime_ns = kv_u64(&kv, "mtime_ns", 0);
	}
	kv_done(&kv);
	if (!ok)
		wire_get_err(body, err);
	return ok;
}

/* Source files are compared with it; without it the copy is as old as it is. */
static void set_mtime(int fd, uint64_t mtime_ns)
{
	const struct timespec times[2] = {
		{ .tv_nsec = UTIME_OMIT },
		{ (time_t)(mtime_ns / 1000000000u), (long)(mtime_ns % 1000000000u) },
	};

	if (mtime_ns && futimens(fd, times))
		errno = 0;
}

bool remote_fetch_image(struct remote *r, const struct job_image *want, int fd, const char *name,
			char *build_id, struct err *err)
{
	struct wire_frame frame;
	buf_auto body = { 0 };
	struct err trouble;
	bool written = true;
	uint64_t mtime_ns = 0;

	job_image_encode(want, &body);
	if (!wire_send(&r->wire, WIRE_IMAGE_GET, (struct str){ buf_str(&body), body.len }, err)) {
		r->dead = true;
		return false;
	}
	/* After a failed write the frames are still taken, so that the talk stays in step. */
	for (;;) {
		if (remote_receive(r, &frame, err) != WIRE_GOT)
			return false;
		if (frame.type == WIRE_IMAGE_END)
			break;
		if (frame.type == WIRE_ERROR) {
			wire_get_err(frame.body, err);
			return false;
		}
		if (frame.type == WIRE_IMAGE && written)
			written = os_write_all(fd, name, frame.body.at, frame.body.len, &trouble);
	}
	if (!image_end(frame.body, build_id, &mtime_ns, err))
		return false;
	if (written)
		set_mtime(fd, mtime_ns);
	else
		*err = trouble;
	return written;
}
