/* SPDX-License-Identifier: Apache-2.0 */
/* Frames over a pair of descriptors: header, payload, compression, partial reads and writes. */
#include <errno.h>
#include <poll.h>
#include <unistd.h>

#include "base/cursor.h"
#include "wire/lz4-block.h"
#include "wire/wire.h"

enum {
	FRAME_MAGIC = 0x31465043, /* "CPF1" */
	FRAME_LZ4 = 1,
	FRAME_PARTS = 512,	 /* parts of a payload at most, below IOV_MAX */
	COMPRESS_FROM = 512,	 /* bytes; below that the block costs more than it saves */
	FILL_BYTES = 256 * 1024, /* what one read asks for */
};

struct header {
	uint32_t stored, raw;
	uint16_t type, flags;
};

static void put_header(uint8_t out[WIRE_HEADER_BYTES], struct header h)
{
	const uint32_t magic = FRAME_MAGIC;

	memcpy(out, &magic, 4);
	memcpy(out + 4, &h.type, 2);
	memcpy(out + 6, &h.flags, 2);
	memcpy(out + 8, &h.stored, 4);
	memcpy(out + 12, &h.raw, 4);
}

/* False with the reason; offset is where the frame starts in the stream. */
static bool read_header(struct header *h, const uint8_t *bytes, uint64_t offset, struct err *err)
{
	struct cursor c = cursor_of("frame", bytes, WIRE_HEADER_BYTES);
	uint32_t magic = cursor_u32(&c);

	h->type = cursor_u16(&c);
	h->flags = cursor_u16(&c);
	h->stored = cursor_u32(&c);
	h->raw = cursor_u32(&c);
	if (magic != FRAME_MAGIC)
		return err_set(err, ERR_FORMAT,
			       "no frame at byte %llu of the stream: it starts with %08x",
			       (unsigned long long)offset, magic);
	if (h->type < WIRE_HELLO || h->type > WIRE_BYE || h->flags & ~FRAME_LZ4)
		return err_set(err, ERR_FORMAT,
			       "frame at byte %llu of the stream has unknown type %u, flags %u",
			       (unsigned long long)offset, h->type, h->flags);
	if (h->stored > WIRE_MAX || h->raw > WIRE_MAX)
		return err_set(
			err, ERR_FORMAT,
			"frame at byte %llu of the stream claims %u bytes (%u stored), more than %d",
			(unsigned long long)offset, h->raw, h->stored, WIRE_MAX);
	if (!(h->flags & FRAME_LZ4) && h->stored != h->raw)
		return err_set(
			err, ERR_FORMAT,
			"frame at byte %llu of the stream is not compressed, yet %u bytes become %u",
			(unsigned long long)offset, h->stored, h->raw);
	return true;
}

static void wait_for(int fd, short events)
{
	struct pollfd p = { .fd = fd, .events = events };

	(void)poll(&p, 1, -1);
}

/* Writes all parts; they are used up on the way. */
static bool write_parts(struct wire *w, struct iovec *parts, size_t count, struct err *err)
{
	while (count) {
		ssize_t n = writev(w->out, parts, (int)count);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN) {
			wait_for(w->out, POLLOUT);
			continue;
		}
		if (n < 0)
			return err_sys(err, errno, "cannot write to the other side");
		w->sent_bytes += (uint64_t)n;
		while (count && (size_t)n >= parts->iov_len) {
			n -= (ssize_t)parts->iov_len;
			parts++;
			count--;
		}
		if (count) {
			parts->iov_base = (uint8_t *)parts->iov_base + n;
			parts->iov_len -= (size_t)n;
		}
	}
	return true;
}

/* Puts the compressed payload into w->squeezed and gives its size; 0 when it does not shrink. */
static size_t squeeze(struct wire *w, const struct iovec *parts, size_t count, size_t total,
		      const uint8_t **at)
{
	const uint8_t *from;
	uint8_t *to;

	if (!w->compress || total < COMPRESS_FROM)
		return 0;
	buf_clear(&w->squeezed);
	to = buf_room(&w->squeezed, 2 * total);
	from = parts[0].iov_base;
	if (count > 1) {
		uint8_t *p = to + total;

		from = p;
		for (size_t i = 0; i < count; i++) {
			if (parts[i].iov_len)
				memcpy(p, parts[i].iov_base, parts[i].iov_len);
			p += parts[i].iov_len;
		}
	}
	*at = to;
	return lz4_block_pack(to, from, total);
}

bool wire_send_parts(struct wire *w, enum wire_type type, const struct iovec *parts, size_t count,
		     struct err *err)
{
	uint8_t header[WIRE_HEADER_BYTES];
	struct iovec all[FRAME_PARTS + 1];
	const uint8_t *packed = NULL;
	size_t total = 0, n;

	if (count > FRAME_PARTS)
		return err_set(err, ERR_INTERNAL, "a frame of %zu parts", count);
	for (size_t i = 0; i < count; i++)
		if (__builtin_add_overflow(total, parts[i].iov_len, &total) || total > WIRE_MAX)
			return err_set(err, ERR_INTERNAL, "a frame of more than %d bytes",
				       WIRE_MAX);
	n = squeeze(w, parts, count, total, &packed);
	put_header(header, (struct header){ .stored = (uint32_t)(n ? n : total),
					    .raw = (uint32_t)total,
					    .type = (uint16_t)type,
					    .flags = n ? FRAME_LZ4 : 0 });
	all[0] = (struct iovec){ header, sizeof(header) };
	if (n) {
		all[1] = (struct iovec){ w->squeezed.at, n };
		return write_parts(w, all, 2, err);
	}
	if (count)
		memcpy(&all[1], parts, count * sizeof(*parts));
	return write_parts(w, all, count + 1, err);
}

bool wire_send(struct wire *w, enum wire_type type, struct str body, struct err *err)
{
	/* writev takes what it only reads through a plain pointer. */
	struct iovec part = { .iov_len = body.len };

	memcpy(&part.iov_base, &body.at, sizeof(body.at));
	return wire_send_parts(w, type, &part, 1, err);
}

static size_t held_left(const struct wire *w)
{
	return w->held.len - w->held_at;
}

static uint64_t held_offset(const struct wire *w)
{
	return w->received_bytes - held_left(w);
}

bool wire_pending(const struct wire *w)
{
	struct header h;
	struct err err;

	if (held_left(w) < WIRE_HEADER_BYTES)
		return false;
	/* A bad header is something to take too: wire_receive says what is wrong with it. */
	if (!read_header(&h, w->held.at + w->held_at, 0, &err))
		return true;
	return held_left(w) - WIRE_HEADER_BYTES >= h.stored;
}

enum wire_got wire_fill(struct wire *w, struct err *err)
{
	size_t before;
	ssize_t n;

	if (w->held_at) {
		if (held_left(w))
			memmove(w->held.at, w->held.at + w->held_at, held_left(w));
		w->held.len -= w->held_at;
		w->held_at = 0;
	}
	before = w->held.len;
	buf_room(&w->held, FILL_BYTES);
	w->held.len = before;
	for (;;) {
		n = read(w->in, w->held.at + before, FILL_BYTES);
		if (n >= 0 || (errno != EINTR && errno != EAGAIN))
			break;
		if (errno == EAGAIN)
			wait_for(w->in, POLLIN);
	}
	if (n < 0) {
		err_sys(err, errno, "cannot read from the other side");
		return WIRE_FAILED;
	}
	w->held.len += (size_t)n;
	w->received_bytes += (uint64_t)n;
	return n ? WIRE_GOT : WIRE_CLOSED;
}

/* Reads on until want bytes are held. */
static enum wire_got need(struct wire *w, size_t want, struct err *err)
{
	while (held_left(w) < want) {
		enum wire_got got = wire_fill(w, err);

		if (got == WIRE_CLOSED && held_left(w)) {
			err_set(err, ERR_FORMAT,
				"the stream ends within a frame: %zu of %zu bytes at byte %llu",
				held_left(w), want, (unsigned long long)held_offset(w));
			return WIRE_FAILED;
		}
		if (got != WIRE_GOT)
			return got;
	}
	return WIRE_GOT;
}

enum wire_got wire_receive(struct wire *w, struct wire_frame *frame, struct err *err)
{
	struct header h;
	const uint8_t *payload;
	uint64_t offset;
	enum wire_got got = need(w, WIRE_HEADER_BYTES, err);

	if (got != WIRE_GOT)
		return got;
	offset = held_offset(w);
	if (!read_header(&h, w->held.at + w->held_at, offset, err))
		return WIRE_FAILED;
	got = need(w, (size_t)WIRE_HEADER_BYTES + h.stored, err);
	if (got != WIRE_GOT)
		return got;
	payload = w->held.at + w->held_at + WIRE_HEADER_BYTES;
	if (h.flags & FRAME_LZ4) {
		buf_clear(&w->raw);
		buf_room(&w->raw, (size_t)h.raw + 1);
		if (!lz4_block_unpack(w->raw.at, h.raw, payload, h.stored)) {
			err_set(err, ERR_FORMAT,
				"frame at byte %llu of the stream: its LZ4 block is damaged",
				(unsigned long long)offset);
			return WIRE_FAILED;
		}
		payload = w->raw.at;
	}
	w->held_at += (size_t)WIRE_HEADER_BYTES + h.stored;
	frame->type = (enum wire_type)h.type;
	frame->body = (struct str){ (const char *)payload, h.raw };
	return WIRE_GOT;
}

void wire_done(struct wire *w)
{
	buf_done(&w->held);
	buf_done(&w->raw);
	buf_done(&w->squeezed);
	w->held_at = 0;
}
