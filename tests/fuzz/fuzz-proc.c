/* SPDX-License-Identifier: Apache-2.0 */
/* Any text as lines of /proc/PID/maps, /proc/PID/stat and /proc/kallsyms. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What a parser gives must lie in what it was given. */
static void inside(struct str part, struct str whole)
{
	if (part.at < whole.at || part.at + part.len > whole.at + whole.len)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct str text = { (const char *)data, size }, line, comm, rest;

	if (size && maps_stat_comm(text, &comm, &rest)) {
		inside(comm, text);
		inside(rest, text);
	}
	while (str_line(&text, &line)) {
		struct kallsyms_line k;
		struct maps_line m;

		if (maps_parse(line, &m)) {
			inside(m.path, line);
			if (m.end < m.start)
				abort();
		}
		if (kallsyms_parse(line, &k)) {
			inside(k.name, line);
			inside(k.module, line);
			kallsyms_is_code(&k);
		}
	}
	return 0;
}
