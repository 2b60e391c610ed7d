/* SPDX-License-Identifier: Apache-2.0 */
/* Frames: what is sent is received, and what is damaged is refused. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"
#include "wire/wire.h"

struct pair {
	struct wire a, b;
};

static void pair_open(struct pair *p)
{
	int fds[2];

	signal(SIGPIPE, SIG_IGN);
	CHECK(!socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds));
	*p = (struct pair){ .a = { .in = fds[0], .out = fds[0] },
			    .b = { .in = fds[1], .out = fds[1] } };
}

static void pair_close(struct pair *p)
{
	if (p->a.in >= 0)
		close(p->a.in);
	close(p->b.in);
	wire_done(&p->a);
	wire_done(&p->b);
}

TEST(frame_round_trip)
{
	struct pair p;
	struct wire_frame f;
	struct err err;

	pair_open(&p);
	CHECK(wire_send(&p.a, WIRE_HELLO, str_of("version 1\n"), &err));
	CHECK(wire_send(&p.a, WIRE_BYE, (struct str){ 0 }, &err));
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_GOT);
	CHECK_EQ_INT(f.type, WIRE_HELLO);
	CHECK(str_eq(f.body, "version 1\n"));
	CHECK(wire_pending(&p.b));
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_GOT);
	CHECK_EQ_INT(f.type, WIRE_BYE);
	CHECK_EQ_INT(f.body.len, 0);
	CHECK(!wire_pending(&p.b));
	CHECK_EQ_INT(p.a.sent_bytes, 2 * WIRE_HEADER_BYTES + 10);
	CHECK_EQ_INT(p.b.received_bytes, p.a.sent_bytes);
	close(p.a.in);
	p.a.in = -1;
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_CLOSED);
	pair_close(&p);
}

/* The header as the contract draws it, byte for byte. */
TEST(frame_layout)
{
	static const uint8_t want[] = { 'C', 'P', 'F', '1', 6, 0, 0,   0,   3,	0,
					0,   0,	  3,   0,   0, 0, 'a', 'b', 'c' };
	struct iovec parts[] = { { (char[]){ "ab" }, 2 }, { NULL, 0 }, { (char[]){ "c" }, 1 } };
	uint8_t got[sizeof(want)];
	struct pair p;
	struct err err;

	pair_open(&p);
	CHECK(wire_send_parts(&p.a, WIRE_DATA, parts, 3, &err));
	CHECK_EQ_INT(read(p.b.in, got, sizeof(got)), sizeof(got));
	CHECK_EQ_MEM(got, want, sizeof(want));
	pair_close(&p);
}

static size_t make_stream(uint8_t *to, size_t room)
{
	int fds[2];
	struct wire w = { 0 };
	struct err err;
	char text[3000];
	ssize_t n;

	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = (char)('a' + i % 7);
	CHECK(!pipe2(fds, O_CLOEXEC));
	w.out = fds[1];
	w.compress = true;
	CHECK(wire_send(&w, WIRE_NOTE, str_of("id X\n"), &err));
	CHECK(wire_send(&w, WIRE_DATA, (struct str){ text, sizeof(text) }, &err));
	close(fds[1]);
	n = read(fds[0], to, room);
	close(fds[0]);
	wire_done(&w);
	CHECK(n > 0);
	return (size_t)n;
}

/* Feeds bytes and counts whole frames until the end. */
static enum wire_got feed(const uint8_t *bytes, size_t len, int *frames, struct err *err)
{
	struct wire w = { 0 };
	struct wire_frame f;
	enum wire_got got;
	int fds[2];

	CHECK(!pipe2(fds, O_CLOEXEC));
	CHECK_EQ_INT(write(fds[1], bytes, len), len);
	close(fds[1]);
	w.in = fds[0];
	*frames = 0;
	while ((got = wire_receive(&w, &f, err)) == WIRE_GOT)
		(*frames)++;
	close(fds[0]);
	wire_done(&w);
	return got;
}

TEST(frame_cut_at_every_byte)
{
	uint8_t bytes[8192];
	size_t len = make_stream(bytes, sizeof(bytes)), first = WIRE_HEADER_BYTES + 5;
	struct err err;
	int frames;

	CHECK_EQ_INT(feed(bytes, len, &frames, &err), WIRE_CLOSED);
	CHECK_EQ_INT(frames, 2);
	for (size_t cut = 0; cut < len; cut++) {
		enum wire_got want = cut == 0 || cut == first ? WIRE_CLOSED : WIRE_FAILED;

		CHECK_EQ_INT(feed(bytes, cut, &frames, &err), want);
		CHECK_EQ_INT(frames, cut >= first);
		if (want == WIRE_FAILED)
			CHECK_HAS(err.text, "within a frame");
	}
}

TEST(frame_every_bit_flipped)
{
	uint8_t bytes[8192];
	size_t len = make_stream(bytes, sizeof(bytes));
	struct err err;
	int frames;

	/* Whatever is hit: an end, never a crash or more frames than there are. */
	for (size_t bit = 0; bit < len * 8; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		feed(bytes, len, &frames, &err);
		CHECK(frames <= 2);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

TEST(frame_lz4_shrinks_and_comes_back)
{
	enum { LEN = 1 << 20 };
	char *text = malloc(LEN);
	struct pair p;
	struct wire_frame f;
	struct err err;
	pid_t pid;

	for (size_t i = 0; i < LEN; i++)
		text[i] = (char)(i / 64);
	pair_open(&p);
	p.a.compress = true;
	pid = fork();
	if (!pid) {
		struct iovec parts[] = { { text, 1000 }, { text + 1000, LEN - 1000 } };

		_exit(!(wire_send_parts(&p.a, WIRE_DATA, parts, 2, &err) &&
			p.a.sent_bytes < LEN / 4));
	}
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_GOT);
	CHECK_EQ_INT(f.body.len, LEN);
	CHECK_EQ_MEM(f.body.at, text, LEN);
	CHECK(p.b.received_bytes < LEN / 4);
	pair_close(&p);
	free(text);
}

TEST(frame_lz4_leaves_noise_alone)
{
	uint8_t noise[2048];
	uint64_t x = 1;
	struct pair p;
	struct wire_frame f;
	struct err err;

	for (size_t i = 0; i < sizeof(noise); i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		noise[i] = (uint8_t)(x >> 56);
	}
	pair_open(&p);
	p.a.compress = true;
	CHECK(wire_send(&p.a, WIRE_IMAGE, (struct str){ (char *)noise, sizeof(noise) }, &err));
	CHECK_EQ_INT(p.a.sent_bytes, WIRE_HEADER_BYTES + sizeof(noise));
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_GOT);
	CHECK_EQ_MEM(f.body.at, noise, sizeof(noise));
	pair_close(&p);
}

static void refused(uint16_t type, uint16_t flags, uint32_t stored, uint32_t raw, const char *why)
{
	uint8_t bytes[64] = "CPF1";
	struct err err = { 0 };
	int frames;

	memcpy(bytes + 4, &type, 2);
	memcpy(bytes + 6, &flags, 2);
	memcpy(bytes + 8, &stored, 4);
	memcpy(bytes + 12, &raw, 4);
	CHECK_EQ_INT(feed(bytes, sizeof(bytes), &frames, &err), WIRE_FAILED);
	CHECK_EQ_INT(frames, 0);
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.text, why);
	CHECK_HAS(err.text, "byte 0");
}

TEST(frame_hostile_headers)
{
	refused(WIRE_DATA, 0, 0xffffffff, 0xffffffff, "claims 4294967295 bytes");
	refused(WIRE_DATA, 0, WIRE_MAX + 1, WIRE_MAX + 1, "more than");
	refused(WIRE_DATA, 1, 16, 0xffffffff, "more than");
	refused(WIRE_DATA, 0, 16, 17, "not compressed");
	refused(WIRE_DATA, 2, 16, 16, "flags 2");
	refused(0, 0, 16, 16, "type 0");
	refused(99, 0, 16, 16, "type 99");
	/* Sizes that are allowed, over a block that says something else. */
	refused(WIRE_DATA, 1, 16, WIRE_MAX, "LZ4 block is damaged");
	refused(WIRE_DATA, 1, 0, 100, "LZ4 block is damaged");
}

TEST(frame_bad_magic_is_pending)
{
	struct pair p;
	struct wire_frame f;
	struct err err;

	pair_open(&p);
	CHECK_EQ_INT(write(p.a.out, "Welcome to host!", 16), 16);
	CHECK_EQ_INT(wire_fill(&p.b, &err), WIRE_GOT);
	CHECK(wire_pending(&p.b));
	CHECK_EQ_INT(wire_receive(&p.b, &f, &err), WIRE_FAILED);
	CHECK_HAS(err.text, "no frame at byte 0");
	pair_close(&p);
}

TEST(frame_too_large_to_send)
{
	static char big[1 << 20];
	struct iovec parts[5];
	struct pair p;
	struct err err;

	for (size_t i = 0; i < 5; i++)
		parts[i] = (struct iovec){ big, sizeof(big) };
	pair_open(&p);
	CHECK(!wire_send_parts(&p.a, WIRE_DATA, parts, 5, &err));
	CHECK_EQ_INT(err.kind, ERR_INTERNAL);
	CHECK_EQ_INT(p.a.sent_bytes, 0);
	pair_close(&p);
}

TEST(frame_peer_gone)
{
	struct pair p;
	struct err err;

	pair_open(&p);
	close(p.a.in);
	p.a.in = -1;
	CHECK(!wire_send(&p.b, WIRE_BYE, (struct str){ 0 }, &err));
	CHECK_EQ_INT(err.sys_errno, EPIPE);
	pair_close(&p);
}

TEST(frame_through_a_nonblocking_pipe)
{
	enum { FRAMES = 50, LEN = 100000 };
	int fds[2];
	struct wire w = { 0 };
	struct wire_frame f;
	struct err err;
	pid_t pid;

	CHECK(!pipe2(fds, O_CLOEXEC | O_NONBLOCK));
	pid = fork();
	if (!pid) {
		static char body[LEN];

		close(fds[0]);
		w.out = fds[1];
		for (int i = 0; i < FRAMES; i++) {
			memset(body, i, sizeof(body));
			if (!wire_send(&w, WIRE_DATA, (struct str){ body, LEN }, &err))
				_exit(1);
		}
		_exit(0);
	}
	close(fds[1]);
	w.in = fds[0];
	for (int i = 0; i < FRAMES; i++) {
		CHECK_EQ_INT(wire_receive(&w, &f, &err), WIRE_GOT);
		CHECK_EQ_INT(f.body.len, LEN);
		CHECK(f.body.at[0] == (char)i && f.body.at[LEN - 1] == (char)i);
	}
	CHECK_EQ_INT(wire_receive(&w, &f, &err), WIRE_CLOSED);
	close(fds[0]);
	wire_done(&w);
}
