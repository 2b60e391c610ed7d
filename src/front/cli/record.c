/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a capture job: takes frames until the agent has finished, through signals and full disks. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "front/cli/pipeline.h"

enum { GRACE_S = 3, LIVE_MS = 250, CLOCKS_KEPT = 256 };
static const int caught[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { CAUGHT = sizeof(caught) / sizeof(caught[0]) };

struct pump {
	const struct args *args;
	struct remote *remote;
	const struct job *job;
	struct session *session;
	struct session_capture *capture;
	struct recording *rec;
	int signals;
	uint64_t start_ns, live_ns;
	int interrupts;
	bool has_sample;   /* a sample has come */
	bool agent_failed; /* the agent said ERROR */
	struct clocks {
		struct buf kept[CLOCKS_KEPT];
		size_t len;
		uint64_t seen, step;
	} clocks;
	bool live; /* a live line may be drawn: the terminal is not the workload's */
};

/*
 * What ends a recording. A hangup or termination that is ignored (nohup) stays so. An ignored
 * SIGINT does not: shells without job control ignore it for what they start in the background, and
 * kill -INT must still end a recording that runs there.
 */
static sigset_t caught_signals(void)
{
	struct sigaction old;
	sigset_t set;

	sigemptyset(&set);
	for (size_t i = 0; i < CAUGHT; i++)
		if (caught[i] == SIGINT || caught[i] == SIGQUIT ||
		    sigaction(caught[i], NULL, &old) || old.sa_handler != SIG_IGN)
			sigaddset(&set, caught[i]);
	return set;
}

void record_block_signals(sigset_t *old_mask)
{
	sigset_t set = caught_signals();

	sigprocmask(SIG_BLOCK, &set, old_mask);
	/* The workload's shell may hold the terminal when we write. */
	signal(SIGTTOU, SIG_IGN);
}

void record_unblock_signals(const sigset_t *old_mask, struct recording *rec)
{
	static const struct timespec now = { 0, 0 };
	sigset_t set = caught_signals();

	/* What came too late to be read was meant for the recording, not for its report. */
	while (sigtimedwait(&set, NULL, &now) > 0)
		rec->interrupted = true;
	sigprocmask(SIG_SETMASK, old_mask, NULL);
}

/*
 * A signal that the terminal sent went to the workload as well, so the first one is left to it; one
 * that was sent to us alone is passed on and ends the recording.
 */
static bool on_signal(struct pump *p, struct err *err)
{
	struct signalfd_siginfo info;
	bool from_terminal;

	if (read(p->signals, &info, sizeof(info)) != (ssize_t)sizeof(info))
		return true;
	p->rec->interrupted = true;
	p->interrupts++;
	from_terminal = info.ssi_code == SI_KERNEL &&
			(info.ssi_signo == SIGINT || info.ssi_signo == SIGQUIT);
	if (p->job->scope == JOB_LAUNCH && from_terminal) {
		if (p->interrupts == 1) {
			cli_say(p->args, "Ctrl-C: the workload got it too; recording until it ends "
					 "(Ctrl-C again to end it)");
			return true;
		}
		return remote_stop(p->remote, SIGTERM, 1000000000ull, err);
	}
	if (p->job->scope != JOB_LAUNCH)
		return remote_stop(p->remote, 0, 0, err);
	return remote_stop(p->remote, (int)info.ssi_signo, GRACE_S * 1000000000ull, err);
}

static bool has_sample(struct str records)
{
	struct cursor c = cursor_of("records", records.at, records.len);

	while (cursor_left(&c) >= 8) {
		uint32_t type = cursor_u32(&c);
		uint16_t size;

		cursor_skip(&c, 2);
		size = cursor_u16(&c);
		if (type == PERFDATA_SAMPLE)
			return true;
		cursor_skip(&c, size < 8 ? cursor_left(&c) : (uint64_t)size - 8);
	}
	return false;
}

static bool on_data(struct pump *p, struct str body, struct err *err)
{
	p->has_sample = p->has_sample || has_sample(body);
	if (p->rec->write_failed)
		return true;
	if (session_capture_add(p->capture, body, &p->rec->write_err))
		return true;
	/* Keep what is on the disk, end the workload as for a signal. */
	p->rec->write_failed = true;
	cli_say(p->args, "%s: recording stops here", p->rec->write_err.text);
	return remote_stop(p->remote, SIGTERM, GRACE_S * 1000000000ull, err);
}

static void on_note(struct pump *p, struct str body)
{
	struct kv kv;

	kv_parse(&kv, body);
	kv_put(&p->session->notes, kv_get(&kv, "id"), kv_get(&kv, "text"));
	/* What was sampled on stands in the evidence line. */
	if (strcmp(kv_get(&kv, "id"), "EVENT_SOURCE") != 0)
		cli_say(p->args, "%s", kv_get(&kv, "text"));
	kv_done(&kv);
}

/* Keeps triples from the whole recording, however long: every second one goes when all are full. */
static void on_clock(struct clocks *c, struct str body)
{
	c->step = c->step ? c->step : 1;
	if (c->seen++ % c->step)
		return;
	if (c->len == CLOCKS_KEPT) {
		for (size_t i = 0; i < CLOCKS_KEPT; i++) {
			if (i % 2)
				buf_done(&c->kept[i]);
			else
				c->kept[i / 2] = c->kept[i];
		}
		for (size_t i = CLOCKS_KEPT / 2; i < CLOCKS_KEPT; i++)
			c->kept[i] = (struct buf){ 0 };
		c->len = CLOCKS_KEPT / 2;
		c->step *= 2;
	}
	buf_add(&c->kept[c->len++], body.at, body.len);
}

static void put_clocks(struct clocks *c, struct buf *out)
{
	for (size_t i = 0; i < c->len; i++) {
		kv_put_n(out, "clock", (struct str){ buf_str(&c->kept[i]), c->kept[i].len });
		buf_done(&c->kept[i]);
	}
}

static void show_live(struct pump *p)
{
	uint64_t now = os_now_ns();
	double seconds = (double)(now - p->start_ns) / 1e9;
	double mb = (double)p->capture->data_bytes / 1e6;

	if (!p->live || now - p->live_ns < LIVE_MS * 1000000ull)
		return;
	p->live_ns = now;
	if (p->job->for_ns) {
		double whole = (double)p->job->for_ns / 1e9;
		int part = (int)(20.0 * (seconds < whole ? seconds / whole : 1.0));

		cli_live(p->args, "recording [%.*s%.*s] %.1f of %.1f s, %.1f MB", part,
			 "####################", 20 - part, "....................", seconds, whole,
			 mb);
	} else {
		cli_live(p->args, "recording %.1f s, %.1f MB (Ctrl-C ends it)", seconds, mb);
	}
}

/* One frame. *done at FINISHED. */
static bool on_frame(struct pump *p, const struct wire_frame *frame, bool *done, struct err *err)
{
	switch (frame->type) {
	case WIRE_DATA:
		return on_data(p, frame->body, err);
	case WIRE_NOTE:
		on_note(p, frame->body);
		return true;
	case WIRE_FINISHED:
		*done = true;
		p->rec->has_finished = true;
		buf_add(&p->session->finished, frame->body.at, frame->body.len);
		return job_finished_decode(&p->rec->finished, frame->body, err);
	case WIRE_ERROR:
		wire_get_err(frame->body, err);
		p->agent_failed = true;
		return false;
	case WIRE_CLOCK:
		on_clock(&p->clocks, frame->body);
		return true;
	case WIRE_HELLO:
	case WIRE_PROBE:
	case WIRE_TARGET:
	case WIRE_JOB:
	case WIRE_STARTED:
	case WIRE_STOP:
	case WIRE_IMAGE_GET:
	case WIRE_IMAGE:
	case WIRE_IMAGE_END:
	case WIRE_BYE:
		break;
	}
	return err_set(err, ERR_FORMAT, "the agent sent a frame of type %d while recording",
		       (int)frame->type);
}

static bool pump_all(struct pump *p, struct err *err)
{
	bool done = false;

	while (!done) {
		struct pollfd fds[2] = { { .fd = remote_fd(p->remote), .events = POLLIN },
					 { .fd = p->signals, .events = POLLIN } };
		struct wire_frame frame;

		show_live(p);
		if (!remote_pending(p->remote)) {
			int n = poll(fds, 2, p->live ? LIVE_MS : -1);

			if (n < 0 && errno != EINTR)
				return err_sys(err, errno, "cannot wait for the agent");
			if ((fds[1].revents & POLLIN) && !on_signal(p, err))
				return false;
			if (n <= 0 || !fds[0].revents)
				continue;
		}
		if (remote_receive(p->remote, &frame, err) != WIRE_GOT)
			return false;
		if (!on_frame(p, &frame, &done, err))
			return false;
	}
	return true;
}

static bool start(struct remote *r, const struct job *job, struct session *s,
		  struct session_capture *capture, struct recording *rec,
		  struct perfdata_new_event **events, struct err *err)
{
	struct job_started *started = &rec->started;

	if (!remote_job(r, job, started, err))
		return false;
	s->pid = started->pid;
	*events = mem_alloc(started->events.len * sizeof(**events));
	for (size_t i = 0; i < started->events.len; i++) {
		struct job_event *e = &started->events.at[i];

		(*events)[i] = (struct perfdata_new_event){
			.name = e->name,
			.attr = { (const char *)e->attr.at, e->attr.len },
			.ids = e->ids.at,
			.id_count = e->ids.len,
		};
		kv_put(&s->options, "opened", e->name);
	}
	kv_put_u64(&s->options, "ring_bytes", started->ring_bytes);
	kv_put_u64(&s->options, "rings", started->rings);
	return session_capture_open(s, capture, *events, started->events.len, err);
}

bool record_run(const struct args *args, struct remote *r, const struct job *job, struct session *s,
		struct session_capture *capture, struct recording *rec, struct err *err)
{
	struct pump p = { .args = args,
			  .remote = r,
			  .job = job,
			  .session = s,
			  .capture = capture,
			  .rec = rec,
			  .live = job->scope != JOB_LAUNCH && isatty(2) };
	struct perfdata_new_event *events = NULL;
	sigset_t set = caught_signals();
	bool ok;

	if (!start(r, job, s, capture, rec, &events, err))
		return false;
	p.signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	p.start_ns = os_now_ns();
	ok = pump_all(&p, err);
	if (p.live)
		cli_live(args, "%s", "");
	os_close_fd(&p.signals);
	put_clocks(&p.clocks, &s->options);
	/* A command that cannot be executed fails after the events were opened. */
	if (!ok && p.has_sample) {
		/* What came before the trouble is kept and marked. */
		kv_printf(&s->notes, "CAPTURE_BROKE_OFF", "recording broke off: %s", err->text);
		cli_say(args, "recording broke off: %s", err->text);
		ok = true;
	}
	return ok && session_capture_seal(capture, err);
}
