/* SPDX-License-Identifier: Apache-2.0 */
/* One capture from its job to its last word. */
#include "capture/capture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/os.h"
#include "capture/session.h"

struct capture *capture_new(struct wire *wire, const struct target *target,
			    const struct capture_setup *setup)
{
	struct capture *c = mem_alloc(sizeof(*c));

	c->wire = wire;
	c->target = target;
	c->opener =
		(struct opener){ setup->open ? setup->open : target_open_real, setup->open_ctx };
	memcpy(c->stdio, setup->stdio, sizeof(c->stdio));
	c->ignored = setup->ignored;
	c->signal_fd = c->pid_fd = -1;
	images_init(&c->images, &c->files_before);
	return c;
}

void capture_free(struct capture *c)
{
	if (!c)
		return;
	images_done(&c->images);
	vec_done(&c->slots);
	buf_done(&c->scratch);
	free(c);
}

/*
 * What the terminal sends to the whole group is for the workload and the host to judge; what is
 * sent to the agent itself, and the end of children, comes through a descriptor. A blocked signal
 * comes through it even when it is ignored, so what nohup and its like took away is left out.
 */
static bool take_signals(struct capture *c, struct err *err)
{
	static const int ignored[] = { SIGINT, SIGQUIT, SIGPIPE, SIGTTIN, SIGTTOU };
	static const int taken[] = { SIGTERM, SIGHUP };
	sigset_t mask;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	sigemptyset(&mask);
	sigaddset(&mask, SIGCHLD);
	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (!sigismember(&c->ignored, taken[i]))
			sigaddset(&mask, taken[i]);
	sigprocmask(SIG_BLOCK, &mask, &c->old_mask);
	c->signal_fd = signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK);
	if (c->signal_fd < 0)
		return err_sys(err, errno, "cannot make a signal descriptor");
	return true;
}

static void give_signals_back(struct capture *c)
{
	os_close_fd(&c->signal_fd);
	sigprocmask(SIG_SETMASK, &c->old_mask, NULL);
}

bool capture_map_rings(struct capture *c, struct err *err)
{
	struct ring_size size = plan_ring_size(&c->plan, c->job, c->target, c->rings.page_bytes,
					       c->rings.cpus.ids.len);

	return rings_map(&c->rings, size, c->target, &c->notes, err);
}

/* All CPUs for one task, or for everyone; the rings with them. */
static bool open_for(struct capture *c, int tid, struct err *err)
{
	enum rings_opened opened =
		rings_open_task(&c->rings, &c->plan, tid, &c->opener, &c->notes, err);

	if (opened == RINGS_OPENED)
		return capture_map_rings(c, err);
	return target_explain_open(c->target, c->plan.name, tid == RINGS_EVERYONE,
				   !c->plan.attr.exclude_kernel, err->sys_errno, err);
}

static bool open_events(struct capture *c, struct err *err)
{
	switch (c->job->scope) {
	case JOB_LAUNCH:
		return launch_start(c, err) && open_for(c, c->launched.pid, err);
	case JOB_PID:
		return attach_open(c, err);
	case JOB_SYSTEM:
		return open_for(c, RINGS_EVERYONE, err);
	}
	return err_set(err, ERR_INTERNAL, "job with scope %d", (int)c->job->scope);
}

static uint64_t workload_pid(const struct capture *c)
{
	if (c->job->scope == JOB_LAUNCH)
		return (uint64_t)c->launched.pid;
	return c->job->scope == JOB_PID ? c->job->pid : 0;
}

static void send_started(struct capture *c)
{
	struct job_started s = { .pid = workload_pid(c),
				 .monotonic_ns = os_now_ns(),
				 .realtime_ns = os_clock_ns(CLOCK_REALTIME),
				 .clockid = "monotonic",
				 .ring_bytes = c->rings.ring_bytes,
				 .rings = (uint32_t)c->rings.list.len };
	struct job_event *e = vec_push(&s.events);
	buf_auto body = { 0 };

	s.perf_ns = s.monotonic_ns;
	snprintf(e->name, sizeof(e->name), "%s", c->plan.name);
	buf_add(&e->attr, &c->plan.attr, sizeof(c->plan.attr));
	for (size_t i = 0; i < c->rings.ids.len; i++)
		vec_add(&e->ids, c->rings.ids.at[i]);
	job_started_encode(&s, &body);
	capture_send(c, WIRE_STARTED, &body);
	job_started_done(&s);
}

/* Tells what ran before; the rings are emptied in between, as this may take a while. */
static void tell_past(struct capture *c)
{
	struct cpu_list pids = { 0 };
	buf_auto out = { 0 };

	synth_kernel(c, &out);
	capture_send_records(c, &out);
	if (c->job->scope == JOB_PID)
		vec_add(&pids.ids, (int)c->job->pid);
	else if (c->job->scope == JOB_SYSTEM)
		synth_pids(&pids);
	for (size_t i = 0; i < pids.ids.len && !c->host_gone && !end_reached(c); i++) {
		synth_process(c, (uint32_t)pids.ids.at[i], &out);
		if (out.len > 256 * 1024)
			capture_send_records(c, &out);
		if (i % 64 == 63)
			loop_turn(c, 0);
	}
	capture_send_records(c, &out);
	vec_done(&pids.ids);
}

static void start(struct capture *c)
{
	c->parent = getppid();
	c->style = (struct perfdata_style){ .sample_type = c->plan.attr.sample_type,
					    .sample_id_all = true,
					    .id = c->rings.ids.len ? c->rings.ids.at[0] : 0 };
	send_started(c);
	capture_send_notes(c);
	c->started_ns = c->second_start_ns = os_now_ns();
	c->second_cpu_ns = os_self_cpu_ns();
	c->second_ns = c->started_ns + 1000000000;
	c->next_drain_ns = c->started_ns + 5000000;
	if (c->job->scope == JOB_PID)
		c->pid_cpu_start = c->pid_cpu_last = attach_cpu_ns(c->job->pid, 0);
	if (c->job->scope == JOB_SYSTEM)
		rings_enable(&c->rings);
	tell_past(c);
	c->rounds = true;
	if (c->job->scope == JOB_LAUNCH)
		launch_release(c);
}

static void finish(struct capture *c)
{
	struct job_finished f = { .end = c->ending.why,
				  .has_status = c->launched.reaped,
				  .wait_status = c->launched.status,
				  .workload_cpu_ns = c->launched.cpu_ns,
				  .final_frequency_hz = c->plan.frequency_hz };
	buf_auto body = { 0 };
	uint64_t lost;

	rings_disable(&c->rings);
	capture_drain(c);
	lost = rings_lost(&c->rings, &c->plan);
	if (lost > c->counts.lost)
		capture_tell_lost(c, lost - c->counts.lost);
	capture_send_notes(c);
	capture_send_clock(c);
	if (c->job->scope == JOB_PID)
		f.workload_cpu_ns = attach_cpu_ns(c->job->pid, c->pid_cpu_last) - c->pid_cpu_start;
	f.wall_ns = os_now_ns() - c->started_ns;
	f.agent_cpu_ns = os_self_cpu_ns();
	f.lost = c->counts.lost;
	f.throttled = c->counts.throttled;
	f.data_bytes = c->counts.data_bytes;
	f.wakeups = c->counts.wakeups;
	job_finished_encode(&f, &body);
	capture_send(c, WIRE_FINISHED, &body);
}

/* Everything of the job; images stay. */
static void clear(struct capture *c)
{
	launch_abandon(c);
	free(c->launched.path);
	os_close_fd(&c->pid_fd);
	rings_done(&c->rings);
	notes_done(&c->notes);
	c->notes = (struct notes){ 0 };
	c->launched = (struct launched){ 0 };
	c->ending = (struct ending){ 0 };
	c->counts = (struct counts){ 0 };
	c->muted = (struct muted){ 0 };
	c->rounds = false;
	c->drains = 0;
	c->job = NULL;
}

enum capture_result capture_run(struct capture *c, const struct job *job, struct err *err)
{
	bool ok;

	c->job = job;
	c->launched.go = c->launched.exec_result = -1;
	ok = take_signals(c, err) && rings_init(&c->rings, err) &&
	     plan_make(&c->plan, job, c->target, &c->opener, &c->notes, err) && open_events(c, err);
	if (ok) {
		start(c);
		loop_run(c);
		finish(c);
	}
	clear(c);
	give_signals_back(c);
	if (!ok)
		return CAPTURE_REFUSED;
	if (!c->host_gone)
		return CAPTURE_DONE;
	err_set(err, ERR_SYSTEM, "the host is gone");
	return CAPTURE_HOST_GONE;
}
