/* SPDX-License-Identifier: Apache-2.0 */
/* Frames to the host; a host that is gone is noted once and then left alone. */
#include "capture/session.h"

#include "base/log.h"
#include "base/os.h"

void capture_send(struct capture *c, enum wire_type type, const struct buf *body)
{
	struct err err;

	if (c->host_gone)
		return;
	if (wire_send(c->wire, type, (struct str){ (const char *)body->at, body->len }, &err))
		return;
	log_debug("capture", "%s", err.text);
	if (err.kind != ERR_INTERNAL || type == WIRE_ERROR) {
		c->host_gone = true;
		return;
	}
	/* The host is there and must hear why nothing comes. */
	(void)err_wrap(&err, "cannot send frame %d", (int)type);
	capture_send_error(c, &err);
	end_by_force(c, JOB_END_FAILURE);
}

void capture_send_error(struct capture *c, const struct err *err)
{
	buf_auto body = { 0 };

	wire_put_err(&body, err);
	capture_send(c, WIRE_ERROR, &body);
}

void capture_send_notes(struct capture *c)
{
	for (size_t i = 0; i < c->notes.list.len; i++) {
		buf_auto body = { 0 };

		kv_put(&body, "id", c->notes.list.at[i].id);
		kv_put(&body, "text", c->notes.list.at[i].text);
		capture_send(c, WIRE_NOTE, &body);
	}
	notes_done(&c->notes);
	c->notes = (struct notes){ 0 };
}

void capture_send_clock(struct capture *c)
{
	uint64_t monotonic = os_now_ns(), realtime = os_clock_ns(CLOCK_REALTIME);
	buf_auto body = { 0 };

	/* Samples carry CLOCK_MONOTONIC: the two are one. */
	kv_put_u64(&body, "perf", monotonic);
	kv_put_u64(&body, "monotonic", monotonic);
	kv_put_u64(&body, "realtime", realtime);
	capture_send(c, WIRE_CLOCK, &body);
}

/* Whole records of at most 64 KiB each; frames end between two of them. */
void capture_send_records(struct capture *c, struct buf *records)
{
	enum { FRAME_MOST = 1 << 20 };
	size_t start = 0, at = 0;

	while (at < records->len) {
		struct cursor head = cursor_of("records", records->at + at, records->len - at);
		uint16_t size;

		cursor_skip(&head, 6);
		size = cursor_u16(&head);
		if (at + size - start > FRAME_MOST) {
			struct buf part = { .at = records->at + start, .len = at - start };

			capture_send(c, WIRE_DATA, &part);
			start = at;
		}
		at += size;
	}
	if (at > start) {
		struct buf part = { .at = records->at + start, .len = at - start };

		capture_send(c, WIRE_DATA, &part);
	}
	c->counts.data_bytes += records->len;
	buf_clear(records);
}
