/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as an agent's description of its machine, and as a recorded kernel's answers. */
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "target/parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What was understood must say the same when it is said again. */
static void decode(struct str text)
{
	buf_auto once = { 0 }, twice = { 0 };
	struct target t;

	target_decode(&t, text);
	target_encode(&t, &once);
	target_done(&t);
	target_decode(&t, (struct str){ buf_str(&once), once.len });
	target_encode(&t, &twice);
	target_done(&t);
	if (once.len != twice.len || memcmp(once.at, twice.at, once.len))
		abort();
}

/* The whole probing against whatever such a kernel answers, on a machine without files. */
static void answer(struct str text)
{
	const struct rootfs nowhere = { "/nonexistent" };
	struct target_perf perf;
	struct target_recorded *r = target_recorded_new(&nowhere, &perf);
	struct target t;
	struct err err;

	if (target_recorded_parse(r, "fuzz", text, &err)) {
		target_probe(&t, &nowhere, &perf);
		target_done(&t);
	}
	target_recorded_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { size ? (const char *)data : "", size };

	decode(text);
	answer(text);
	return 0;
}
