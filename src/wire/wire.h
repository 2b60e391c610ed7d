/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The framed protocol between host and agent, the same over a local pipe and over ssh.
 *
 * A frame is a 16-byte header and a payload, all little endian:
 *   u32 magic "CPF1" | u16 type | u16 flags | u32 stored bytes | u32 bytes after decompression
 * Flag 1: the payload is one LZ4 block. A payload has at most WIRE_MAX bytes, stored or raw.
 * Control payloads are key-value text (base/str.h); WIRE_DATA and WIRE_IMAGE carry bytes.
 *
 * A talk, host on the left:
 *   HELLO{version}             ->
 *                              <- HELLO{version, arch, pid}
 *   PROBE                      ->
 *                              <- TARGET{...}            target/target.h
 *   JOB{...}                   ->                        wire/job.h
 *                              <- STARTED{...}           attributes, ids, clocks; then the workload
 *                                                        runs. Or ERROR{...} and no capture.
 *                              <- DATA, NOTE, CLOCK ...  whole perf records, in rounds
 *   STOP{signal}               ->                        any time
 *                              <- FINISHED{...}          the last word of the capture, always sent
 *   IMAGE_GET{...}             ->                        the agent still holds images it saw open
 *                              <- IMAGE ... IMAGE_END{}  bytes, then how it went
 *   BYE or end of file         ->                        the agent ends
 * When the host's side closes early, the agent stops the capture, ends a workload that it started
 * and exits.
 */
#ifndef CULPRIT_WIRE_WIRE_H
#define CULPRIT_WIRE_WIRE_H

#include <sys/uio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"

enum { WIRE_VERSION = 1, WIRE_MAX = 4 << 20, WIRE_HEADER_BYTES = 16 };

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_PROBE,
	WIRE_TARGET,
	WIRE_JOB,
	WIRE_STARTED,
	WIRE_DATA,
	WIRE_NOTE,  /* {id, text}: something the user must know about the capture */
	WIRE_CLOCK, /* {perf, monotonic, realtime} in ns, read as one triple */
	WIRE_STOP,
	WIRE_FINISHED,
	WIRE_IMAGE_GET,
	WIRE_IMAGE,
	WIRE_IMAGE_END,
	WIRE_ERROR, /* {kind, id, errno, text, hint} */
	WIRE_BYE,
};

/* One direction pair of descriptors, not owned; may be the same descriptor. */
struct wire {
	int in, out;
	bool compress;	 /* LZ4 on payloads of 512 bytes and more that shrink */
	struct buf held; /* bytes received, not yet taken */
	size_t held_at;	 /* start of the next frame in held */
	struct buf raw;	 /* the decompressed payload that a frame points to */
	struct buf squeezed;
	uint64_t sent_bytes, received_bytes;
};

struct wire_frame {
	enum wire_type type;
	struct str body; /* valid until the next wire_receive or wire_fill */
};

enum wire_got { WIRE_GOT, WIRE_CLOSED, WIRE_FAILED };

/*
 * Blocks until all is written. EPIPE is an error like others (SIGPIPE must be ignored).
 * ERR_INTERNAL: it is no frame, nothing was written and the talk goes on.
 */
ERR_CHECKED bool wire_send(struct wire *w, enum wire_type type, struct str body, struct err *err);
/* The payload in parts, written without copying when not compressed. */
ERR_CHECKED bool wire_send_parts(struct wire *w, enum wire_type type, const struct iovec *parts,
				 size_t count, struct err *err);
/* Blocks for one whole frame. CLOSED only between frames; a cut frame is FAILED. */
enum wire_got wire_receive(struct wire *w, struct wire_frame *frame, struct err *err);
/* True when a whole frame is held already, so that a poll loop must not wait. */
bool wire_pending(const struct wire *w);
/* One read() worth of bytes into held; for poll loops. CLOSED at end of file. */
enum wire_got wire_fill(struct wire *w, struct err *err);
void wire_done(struct wire *w);

/* The error as a WIRE_ERROR body, and back. */
void wire_put_err(struct buf *b, const struct err *err);
void wire_get_err(struct str body, struct err *err);

#include "wire/job.h"

#endif
