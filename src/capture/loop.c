/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loop of a running capture: rings, the host's words, signals, and what is due by the clock.
 * Early drains come close together, so that the images of short-lived programs are opened in time;
 * later ones are 0.1 s apart unless a ring is half full.
 */
#include "capture/session.h"

#include <errno.h>
#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/os.h"

static const uint64_t second_ns = 1000000000, later_drain_ns = 100000000;
static const uint64_t early_drain_ns[] = { 5000000, 20000000, 50000000, 100000000 };

enum { EARLY_DRAINS = sizeof(early_drain_ns) / sizeof(*early_drain_ns) };
enum { SLOT_WIRE, SLOT_SIGNAL, SLOT_EXEC, SLOT_PID, SLOT_RINGS };

static void drain(struct capture *c, uint64_t now)
{
	capture_drain(c);
	c->drains++;
	if (c->drains < EARLY_DRAINS)
		c->next_drain_ns = c->started_ns + early_drain_ns[c->drains];
	if (c->drains >= EARLY_DRAINS || c->next_drain_ns <= now)
		c->next_drain_ns = now + later_drain_ns;
}

static void take_stop(struct capture *c, struct str body)
{
	struct kv kv;

	kv_parse(&kv, body);
	end_stop(c, (int)(kv_u64(&kv, "signal", 0) & 0x7f), kv_u64(&kv, "grace_ns", 0));
	kv_done(&kv);
}

/* All frames that have come in whole. */
static void take_held(struct capture *c)
{
	struct wire_frame frame;
	struct err err;
	enum wire_got got = WIRE_GOT;

	while (got == WIRE_GOT && !c->host_gone && wire_pending(c->wire)) {
		got = wire_receive(c->wire, &frame, &err);
		if (got != WIRE_GOT)
			break;
		if (frame.type == WIRE_STOP)
			take_stop(c, frame.body);
		else if (frame.type == WIRE_IMAGE_GET && !capture_serve_image(c, frame.body, &err))
			c->host_gone = true;
		else if (frame.type == WIRE_BYE)
			got = WIRE_CLOSED;
	}
	if (got != WIRE_GOT)
		c->host_gone = true;
}

static void take_frames(struct capture *c)
{
	struct err err;

	if (wire_fill(c->wire, &err) == WIRE_GOT)
		take_held(c);
	else
		c->host_gone = true;
}

static void take_signals(struct capture *c)
{
	struct signalfd_siginfo info;

	while (read(c->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
		if (info.ssi_signo == SIGCHLD)
			continue;
		end_because(c, JOB_END_SIGNAL);
		end_raise(c);
	}
	launch_reap(c);
}

static void take_exec_result(struct capture *c)
{
	struct err err;

	if (launch_result(c, &err))
		return;
	capture_send_error(c, &err);
	end_because(c, JOB_END_FAILURE);
}

/* The host may leave its end of the pipe with somebody else and be gone all the same. */
static void check_parent(struct capture *c)
{
	if (getppid() != c->parent)
		c->host_gone = true;
}

static void each_second(struct capture *c, uint64_t now)
{
	c->second_ns = now + second_ns;
	capture_send_clock(c);
	overhead_check(c, now);
	check_parent(c);
	if (c->job->scope != JOB_PID)
		return;
	c->pid_cpu_last = attach_cpu_ns(c->job->pid, c->pid_cpu_last);
	if (c->pid_fd < 0 && !attach_alive(c->job->pid))
		end_because(c, JOB_END_EXIT);
}

static void check_clock(struct capture *c)
{
	uint64_t now = os_now_ns();

	if (now >= c->next_drain_ns)
		drain(c, now);
	if (now >= c->second_ns)
		each_second(c, now);
	if (c->job->for_ns && now - c->started_ns >= c->job->for_ns && !c->ending.decided) {
		rings_disable(&c->rings);
		end_by_force(c, JOB_END_TIME);
	}
	if (c->ending.deadline_ns && now >= c->ending.deadline_ns)
		end_raise(c);
	if (c->host_gone) {
		rings_disable(&c->rings);
		end_by_force(c, JOB_END_STOP);
	}
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Until the next thing that is due by the clock. */
static uint64_t time_left(const struct capture *c)
{
	uint64_t now = os_now_ns(), at = least(c->next_drain_ns, c->second_ns);

	if (c->job->for_ns && !c->ending.decided)
		at = least(at, c->started_ns + c->job->for_ns);
	if (c->ending.deadline_ns)
		at = least(at, c->ending.deadline_ns);
	return at > now ? at - now : 0;
}

static void fill_slots(const struct capture *c, struct pollfd *slots)
{
	const int fds[SLOT_RINGS] = { c->host_gone ? -1 : c->wire->in, c->signal_fd,
				      c->launched.exec_result, c->pid_fd };

	for (int i = 0; i < SLOT_RINGS; i++)
		slots[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	for (size_t i = 0; i < c->rings.list.len; i++) {
		size_t watched = c->rings.list.at[i].watched;

		slots[SLOT_RINGS + i] = (struct pollfd){ .fd = watched < c->rings.fds.len ?
								       c->rings.fds.at[watched] :
								       -1,
							 .events = POLLIN };
	}
}

/*
 * An event whose task has ended hangs up for good: the next thread's event of that CPU wakes us
 * then, and when there is none the ring is emptied by the clock alone.
 */
static bool rings_ready(struct capture *c, const struct pollfd *slots)
{
	bool ready = false;

	for (size_t i = 0; i < c->rings.list.len; i++) {
		ready |= slots[i].revents & POLLIN;
		if (slots[i].revents & (POLLHUP | POLLERR | POLLNVAL))
			c->rings.list.at[i].watched += c->rings.list.len;
	}
	return ready;
}

void loop_turn(struct capture *c, uint64_t timeout_ns)
{
	size_t count = SLOT_RINGS + c->rings.list.len;
	struct timespec ts = { (time_t)(timeout_ns / second_ns), (long)(timeout_ns % second_ns) };
	struct pollfd *slots;
	int ready;

	vec_clear(&c->slots);
	slots = vec_grow((void **)&c->slots.at, &c->slots.len, &c->slots.cap, sizeof(*slots),
			 count);
	fill_slots(c, slots);
	ready = ppoll(slots, count, &ts, NULL);
	c->counts.wakeups++;
	if (ready > 0) {
		if (rings_ready(c, slots + SLOT_RINGS))
			drain(c, os_now_ns());
		if (slots[SLOT_EXEC].revents)
			take_exec_result(c);
		if (slots[SLOT_SIGNAL].revents)
			take_signals(c);
		if (slots[SLOT_PID].revents) {
			os_close_fd(&c->pid_fd);
			end_because(c, JOB_END_EXIT);
		}
		if (slots[SLOT_WIRE].revents)
			take_frames(c);
	}
	if (c->launched.reaped)
		end_because(c, JOB_END_EXIT);
	check_clock(c);
}

void loop_run(struct capture *c)
{
	take_held(c); /* words that came together with the job */
	while (!end_reached(c))
		loop_turn(c, time_left(c));
}
