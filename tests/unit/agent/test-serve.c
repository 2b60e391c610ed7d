/* SPDX-License-Identifier: Apache-2.0 */
/* The agent's side of the talk, frame by frame. */
#include <fcntl.h>
#include <linux/close_range.h>
#include <signal.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "front/agent/agent.h"
#include "target/target.h"
#include "test.h"
#include "wire/wire.h"

struct talk {
	pid_t agent;
	struct wire wire;
};

static void start_with(struct talk *t, const int stdio[3])
{
	int down[2], up[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(!pipe2(down, O_CLOEXEC) && !pipe2(up, O_CLOEXEC));
	t->agent = fork();
	CHECK(t->agent >= 0);
	if (!t->agent) {
		close(down[1]);
		close(up[0]);
		_exit(agent_serve(down[0], up[1], stdio));
	}
	close(down[0]);
	close(up[1]);
	t->wire = (struct wire){ .in = up[0], .out = down[1] };
}

static void start(struct talk *t)
{
	static const int none[3] = { -1, -1, -1 };

	start_with(t, none);
}

/* The exit status of the agent. */
static int end(struct talk *t)
{
	int status;

	os_close_fd(&t->wire.out);
	CHECK_EQ_INT(waitpid(t->agent, &status, 0), t->agent);
	CHECK(WIFEXITED(status));
	os_close_fd(&t->wire.in);
	wire_done(&t->wire);
	return WEXITSTATUS(status);
}

static struct wire_frame ask(struct talk *t, enum wire_type type, const char *body)
{
	struct wire_frame frame;
	struct err err;

	CHECK_MSG(wire_send(&t->wire, type, str_of(body), &err), "%s", err.text);
	CHECK_EQ_INT(wire_receive(&t->wire, &frame, &err), WIRE_GOT);
	return frame;
}

static void refused(struct talk *t, enum wire_type type, const char *body, const char *why)
{
	struct wire_frame f = ask(t, type, body);
	struct err err;

	CHECK_EQ_INT(f.type, WIRE_ERROR);
	wire_get_err(f.body, &err);
	CHECK_HAS(err.text, why);
}

TEST(serve_hello_and_probe)
{
	struct talk t;
	struct wire_frame f;
	struct utsname u;
	struct target target;
	struct kv kv;

	start(&t);
	f = ask(&t, WIRE_HELLO, "version 1\n");
	CHECK_EQ_INT(f.type, WIRE_HELLO);
	kv_parse(&kv, f.body);
	CHECK(!uname(&u));
	CHECK_EQ_U64(kv_u64(&kv, "version", 0), WIRE_VERSION);
	CHECK_EQ_U64(kv_u64(&kv, "pid", 0), (uint64_t)t.agent);
	CHECK_EQ_STR(kv_get(&kv, "arch"), u.machine);
	kv_done(&kv);
	f = ask(&t, WIRE_PROBE, "");
	CHECK_EQ_INT(f.type, WIRE_TARGET);
	target_decode(&target, f.body);
	CHECK_EQ_STR(target.hostname, u.nodename);
	CHECK_EQ_INT(target.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	target_done(&target);
	CHECK_EQ_INT(end(&t), 0);
}

TEST(serve_says_bye)
{
	struct talk t;
	struct err err;
	int status;

	start(&t);
	CHECK(wire_send(&t.wire, WIRE_BYE, (struct str){ 0 }, &err));
	CHECK_EQ_INT(waitpid(t.agent, &status, 0), t.agent);
	CHECK_EQ_INT(status, 0);
	os_close_fd(&t.wire.in);
	os_close_fd(&t.wire.out);
}

/* A refused question leaves the talk going. */
TEST(serve_refuses_and_goes_on)
{
	struct talk t;

	start(&t);
	refused(&t, WIRE_JOB, "", "job: ");
	refused(&t, WIRE_JOB, "scope launch\n", "job: ");
	refused(&t, WIRE_TARGET, "", "frame of type 3");
	refused(&t, WIRE_JOB,
		"scope launch\narg no-such-command-here\npid 0\nevent nonsense\n"
		"frequency_hz 99\nperiod 0\nrings all\nchain none\nstack_bytes 0\nfor_ns 0\n"
		"ring_total_bytes 1000000\nmax_overhead_permille 10\ncompress 0\nstdio 0\n",
		"unknown event 'nonsense'");
	CHECK_EQ_INT(ask(&t, WIRE_HELLO, "").type, WIRE_HELLO);
	CHECK_EQ_INT(end(&t), 0);
}

TEST(serve_images_without_a_job)
{
	struct talk t;
	struct wire_frame f;
	struct err err;

	start(&t);
	f = ask(&t, WIRE_IMAGE_GET,
		"kind file\ndevice_major 0\ndevice_minor 0\ninode 1\ninode_generation 0\npid 0\n"
		"path /no/such\n");
	CHECK_EQ_INT(f.type, WIRE_IMAGE_END);
	wire_get_err(f.body, &err);
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, "/no/such");
	CHECK_EQ_INT(end(&t), 0);
}

TEST(serve_garbage_ends_it)
{
	struct talk t;

	start(&t);
	CHECK_EQ_INT(write(t.wire.out, "GET / HTTP/1.1\r\n\r\n", 18), 18);
	CHECK_EQ_INT(end(&t), 1);
}

/* All that a command writes to its standard output, run as a job of the agent. */
static void output_of(const char *script, int out, int from, char *text, size_t room)
{
	const int stdio[3] = { -1, out, -1 };
	buf_auto body = { 0 };
	struct wire_frame f;
	struct talk t;
	struct err err;
	ssize_t n;

	start_with(&t, stdio);
	kv_put(&body, "scope", "launch");
	kv_put(&body, "arg", "sh");
	kv_put(&body, "arg", "-c");
	kv_put(&body, "arg", script);
	buf_puts(&body, "pid 0\nevent cpu-clock\nfrequency_hz 99\nperiod 0\nrings all\nchain none\n"
			"stack_bytes 0\nfor_ns 0\nring_total_bytes 1000000\n"
			"max_overhead_permille 10\ncompress 0\nstdio 1\n");
	f = ask(&t, WIRE_JOB, buf_str(&body));
	if (f.type == WIRE_ERROR) {
		wire_get_err(f.body, &err);
		SKIP("%s", err.text);
	}
	while (f.type != WIRE_FINISHED)
		CHECK_EQ_INT(wire_receive(&t.wire, &f, &err), WIRE_GOT);
	n = read(from, text, room - 1);
	CHECK(n > 0);
	text[n] = 0;
	CHECK_EQ_INT(end(&t), 0);
}

/* 3 and up are the user's; the agent's own do not show. */
TEST(serve_hands_on_the_users_descriptors)
{
	char text[512];
	int fds[2], high;

	CHECK(!close_range(3, ~0u, CLOSE_RANGE_CLOEXEC));
	CHECK(!pipe2(fds, O_CLOEXEC));
	/* What the host names is not close-on-exec, as it has to outlive the agent's exec. */
	high = fcntl(fds[1], F_DUPFD, 100);
	CHECK_EQ_INT(dup2(fds[1], 7), 7);
	output_of("echo hello >&7; ls /proc/self/fd", high, fds[0], text, sizeof(text));
	/* 3 is the folder that ls reads. */
	CHECK_EQ_STR(text, "hello\n0\n1\n2\n3\n7\n");
}

/* SIGINT is ignored by the agent for itself: the workload gets what the agent was started with. */
TEST(serve_gives_signals_back)
{
	static const char script[] = "sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/self/status";
	char text[512];
	uint64_t ignored, ours = 1u << (SIGINT - 1) | 1u << (SIGQUIT - 1) | 1u << (SIGHUP - 1);
	int fds[2];

	CHECK(!pipe2(fds, O_CLOEXEC));
	for (int with = 0; with < 2; with++) {
		signal(SIGINT, with ? SIG_IGN : SIG_DFL);
		signal(SIGQUIT, with ? SIG_IGN : SIG_DFL);
		signal(SIGHUP, with ? SIG_IGN : SIG_DFL);
		output_of(script, fds[1], fds[0], text, sizeof(text));
		CHECK(str_hex(str_trim(str_of(text)), &ignored));
		CHECK_EQ_U64(ignored & ours, with ? ours : 0);
	}
}
