/* SPDX-License-Identifier: Apache-2.0 */
/* A small host for tests: runs a capture in a child process and keeps all that it sends. */
#include "host.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test.h"

struct arena *host_arena(void)
{
	static struct arena arena;

	return &arena;
}

char **host_argv(const char *first, ...)
{
	char **argv = arena_alloc(host_arena(), 32 * sizeof(*argv));
	size_t n = 0;
	va_list ap;

	va_start(ap, first);
	for (const char *word = first; word && n < 31; word = va_arg(ap, const char *))
		argv[n++] = arena_strdup(host_arena(), word);
	va_end(ap);
	return argv;
}

struct job host_job(char **argv)
{
	return (struct job){ .scope = JOB_LAUNCH,
			     .argv = argv,
			     .event = "cpu-clock",
			     .frequency_hz = 1000,
			     .chain = JOB_CHAIN_FP,
			     .ring_total_bytes = 64u << 20,
			     .max_overhead_permille = 0 };
}

/* The agent without its front: one job, then images until the host closes. */
static _Noreturn void agent_main(int in, int out, const struct job *job,
				 const struct host_setup *setup)
{
	const struct rootfs here = { "" };
	struct capture_setup cs = { .open = setup->open, .open_ctx = setup->open_ctx };
	struct target_perf perf = target_perf_real;
	struct wire wire = { .in = in, .out = out, .compress = job->compress };
	struct wire_frame frame;
	struct target target;
	struct capture *c;
	struct err err;

	memcpy(cs.stdio, setup->stdio, sizeof(cs.stdio));
	cs.ignored = setup->ignored;
	/* A change of user makes a process a stranger to its own user until the next exec. */
	if (setup->uid && (setgid(setup->uid) || setuid(setup->uid) || prctl(PR_SET_DUMPABLE, 1)))
		_exit(9);
	if (setup->open) {
		perf.open = setup->open;
		perf.ctx = setup->open_ctx;
	}
	target_probe(&target, &here, &perf);
	c = capture_new(&wire, &target, &cs);
	switch (capture_run(c, job, &err)) {
	case CAPTURE_REFUSED: {
		buf_auto body = { 0 };

		wire_put_err(&body, &err);
		if (!wire_send(&wire, WIRE_ERROR, (struct str){ buf_str(&body), body.len }, &err))
			_exit(8);
		break;
	}
	case CAPTURE_HOST_GONE:
		_exit(7);
	case CAPTURE_DONE:
		break;
	}
	while (wire_receive(&wire, &frame, &err) == WIRE_GOT && frame.type != WIRE_BYE)
		if (frame.type == WIRE_IMAGE_GET && !capture_serve_image(c, frame.body, &err))
			_exit(6);
	capture_free(c);
	target_done(&target);
	wire_done(&wire);
	exit(0);
}

void host_start(struct host *h, const struct job *job, const struct host_setup *setup)
{
	static const struct host_setup plain = { .stdio = { -1, -1, -1 } };
	int down[2], up[2];

	*h = (struct host){ 0 };
	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe2(down, O_CLOEXEC) && !pipe2(up, O_CLOEXEC));
	h->job_sent_ns = os_now_ns();
	h->agent = fork();
	CHECK(h->agent >= 0);
	if (!h->agent) {
		close(down[1]);
		close(up[0]);
		agent_main(down[0], up[1], job, setup ? setup : &plain);
	}
	close(down[0]);
	close(up[1]);
	h->wire.in = up[0];
	h->wire.out = down[1];
}

static void take(struct host *h, const struct wire_frame *f)
{
	struct err err;
	struct kv kv;

	h->frames++;
	switch ((int)f->type) {
	case WIRE_STARTED:
		CHECK_MSG(job_started_decode(&h->started, f->body, &err), "%s", err.text);
		h->has_started = true;
		h->started_ns = os_now_ns();
		break;
	case WIRE_DATA:
		CHECK(h->has_started);
		buf_add(&h->data, f->body.at, f->body.len);
		break;
	case WIRE_NOTE:
		kv_parse(&kv, f->body);
		kv_put(&h->notes, kv_get(&kv, "id"), kv_get(&kv, "text"));
		kv_done(&kv);
		break;
	case WIRE_CLOCK:
		h->clocks++;
		break;
	case WIRE_ERROR:
		wire_get_err(f->body, &h->error);
		h->has_error = true;
		break;
	case WIRE_FINISHED:
		CHECK_MSG(job_finished_decode(&h->finished, f->body, &err), "%s", err.text);
		h->has_finished = true;
		h->finished_ns = os_now_ns();
		break;
	default:
		FAIL("unexpected frame %d", (int)f->type);
	}
}

static bool ended(const struct host *h)
{
	return h->has_finished || (h->has_error && !h->has_started);
}

static bool take_one(struct host *h)
{
	struct wire_frame frame;
	struct err err;
	enum wire_got got = wire_receive(&h->wire, &frame, &err);

	CHECK_MSG(got != WIRE_FAILED, "%s", err.text);
	if (got == WIRE_GOT)
		take(h, &frame);
	return got == WIRE_GOT;
}

void host_until_started(struct host *h)
{
	while (!h->has_started && !h->has_error)
		CHECK_MSG(take_one(h), "the agent closed before STARTED");
}

void host_until_end(struct host *h)
{
	while (!ended(h) && take_one(h))
		;
}

void host_for(struct host *h, unsigned ms)
{
	uint64_t end = os_now_ns() + ms * 1000000ull;

	for (uint64_t now; (now = os_now_ns()) < end && !ended(h);) {
		struct pollfd p = { .fd = h->wire.in, .events = POLLIN };

		if (wire_pending(&h->wire) || poll(&p, 1, (int)((end - now) / 1000000) + 1) > 0)
			if (!take_one(h))
				return;
	}
}

void host_stop(struct host *h, int signum, uint64_t grace_ms)
{
	buf_auto body = { 0 };
	struct err err;

	kv_put_u64(&body, "signal", (uint64_t)signum);
	kv_put_u64(&body, "grace_ns", grace_ms * 1000000);
	CHECK(wire_send(&h->wire, WIRE_STOP, (struct str){ buf_str(&body), body.len }, &err));
}

bool host_image(struct host *h, const struct job_image *want, struct buf *out, char *build_id,
		struct err *err)
{
	buf_auto body = { 0 };
	struct wire_frame f;
	struct kv kv;
	bool ok;

	job_image_encode(want, &body);
	CHECK(wire_send(&h->wire, WIRE_IMAGE_GET, (struct str){ buf_str(&body), body.len }, err));
	for (;;) {
		CHECK_EQ_INT(wire_receive(&h->wire, &f, err), WIRE_GOT);
		if (f.type == WIRE_IMAGE_END)
			break;
		CHECK_EQ_INT(f.type, WIRE_IMAGE);
		CHECK(f.body.len <= 1 << 20);
		buf_add(out, f.body.at, f.body.len);
	}
	kv_parse(&kv, f.body);
	h->image_mtime_ns = kv_u64(&kv, "mtime_ns", 0);
	ok = kv_u64(&kv, "ok", 0) == 1;
	if (ok)
		snprintf(build_id, 41, "%s", kv_get(&kv, "build_id"));
	else
		wire_get_err(f.body, err);
	kv_done(&kv);
	return ok;
}

void host_end(struct host *h)
{
	struct err err;
	int status;

	CHECK(wire_send(&h->wire, WIRE_BYE, (struct str){ 0 }, &err));
	CHECK_EQ_INT(waitpid(h->agent, &status, 0), h->agent);
	CHECK_EQ_INT(status, 0);
	host_drop(h);
}

void host_drop(struct host *h)
{
	os_close_fd(&h->wire.in);
	os_close_fd(&h->wire.out);
	wire_done(&h->wire);
	job_started_done(&h->started);
	buf_done(&h->data);
	buf_done(&h->notes);
}

void host_run(struct host *h, const struct job *job, const struct host_setup *setup)
{
	host_start(h, job, setup);
	host_until_end(h);
	CHECK_MSG(!h->has_error, "%s", h->error.text);
	CHECK(h->has_finished);
}

void host_file(struct host *h, struct buf *out)
{
	const struct job_event *e = &h->started.events.at[0];
	const struct perfdata_new_event event = { .name = e->name,
						  .attr = { (const char *)e->attr.at, e->attr.len },
						  .ids = e->ids.at,
						  .id_count = e->ids.len };
	struct perfdata_features features = { 0 };

	perfdata_add_event_desc(&features, &event, 1);
	perfdata_put_header(out, &event, 1, h->data.len, features.bits);
	buf_add(out, h->data.at, h->data.len);
	perfdata_put_features(out, &features, out->len);
	perfdata_features_done(&features);
}

static void tally(struct host_tally *t, const struct perfdata *pd, const struct perfdata_record *r)
{
	struct perfdata_sample s;
	struct perfdata_mmap m;
	struct perfdata_comm comm;
	struct perfdata_task task;
	struct perfdata_lost lost;

	switch (r->type) {
	case PERFDATA_SAMPLE:
		CHECK(perfdata_sample(pd, r, &s));
		t->samples++;
		t->chains += s.chain_len;
		if (!t->first_ns || s.time_ns < t->first_ns)
			t->first_ns = s.time_ns;
		if (s.time_ns > t->last_ns)
			t->last_ns = s.time_ns;
		break;
	case PERFDATA_MMAP2:
		CHECK(perfdata_mmap(pd, r, &m));
		t->mmaps++;
		break;
	case PERFDATA_COMM:
		CHECK(perfdata_comm(pd, r, &comm));
		t->comms++;
		break;
	case PERFDATA_FORK:
	case PERFDATA_EXIT:
		CHECK(perfdata_task(pd, r, &task));
		t->forks += r->type == PERFDATA_FORK;
		t->exits += r->type == PERFDATA_EXIT;
		break;
	case PERFDATA_LOST:
	case PERFDATA_LOST_SAMPLES:
		CHECK(perfdata_lost(pd, r, &lost));
		t->lost += lost.lost;
		break;
	case PERFDATA_FINISHED_ROUND:
		t->rounds++;
		break;
	case PERFDATA_THROTTLE:
	case PERFDATA_UNTHROTTLE:
		break;
	default:
		FAIL("record of type %u", r->type);
	}
}

static void open_file(struct host *h, struct buf *file, struct perfdata *pd)
{
	struct err err;

	host_file(h, file);
	CHECK_MSG(perfdata_open(pd, "capture", file->at, file->len, &err), "%s", err.text);
	CHECK(!pd->cut);
}

struct host_tally host_count(struct host *h)
{
	struct host_tally t = { 0 };
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	enum perfdata_step step;
	uint64_t at;

	open_file(h, &file, &pd);
	at = pd.data_start;
	while ((step = perfdata_next(&pd, &at, &r)) == PERFDATA_RECORD)
		tally(&t, &pd, &r);
	CHECK_EQ_INT(step, PERFDATA_END);
	perfdata_close(&pd);
	return t;
}

uint64_t host_samples_of(struct host *h, uint32_t pid, uint32_t tid)
{
	buf_auto file = { 0 };
	struct perfdata pd;
	struct perfdata_record r;
	struct perfdata_sample s;
	uint64_t at, n = 0;

	open_file(h, &file, &pd);
	at = pd.data_start;
	while (perfdata_next(&pd, &at, &r) == PERFDATA_RECORD)
		if (r.type == PERFDATA_SAMPLE && perfdata_sample(&pd, &r, &s))
			n += (!pid || s.pid == pid) && (!tid || s.tid == tid);
	perfdata_close(&pd);
	return n;
}

const char *host_program(const char *name)
{
	static char path[PATH_MAX];
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	CHECK(n > 0);
	self[n] = 0;
	*strrchr(self, '/') = 0;
	CHECK(snprintf(path, sizeof(path), "%s/programs/%s", self, name) < (int)sizeof(path));
	if (access(path, X_OK))
		SKIP("%s is not built", path);
	return path;
}

void host_needs_perf(void)
{
	const struct rootfs here = { "" };
	struct target t;
	int errnum;

	target_probe(&t, &here, NULL);
	errnum = t.trials.cpu_clock;
	target_done(&t);
	if (errnum)
		SKIP("perf_event_open: %s", strerror(errnum));
}

bool host_is_gone(pid_t pid)
{
	char_auto path = mem_printf("/proc/%d/stat", (int)pid);
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct str comm, rest;

	if (!rootfs_read(&here, path, &text))
		return true;
	return maps_stat_comm(str_of(buf_str(&text)), &comm, &rest) && str_trim(rest).at[0] == 'Z';
}

const char *host_note(struct host *h, const char *id)
{
	struct kv kv;
	const char *text;

	kv_parse(&kv, (struct str){ buf_str(&h->notes), h->notes.len });
	text = kv_find(&kv, id);
	text = text ? arena_strdup(host_arena(), text) : NULL;
	kv_done(&kv);
	return text;
}
