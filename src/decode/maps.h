/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/PID/maps. Source: Documentation/filesystems/proc.rst. */
#ifndef CULPRIT_DECODE_MAPS_H
#define CULPRIT_DECODE_MAPS_H

#include "base/str.h"

struct maps_line {
	uint64_t start, end, offset, inode;
	uint32_t device_major, device_minor;
	bool read, write, exec, shared;
	/* Not terminated. As the kernel prints it: " (deleted)" kept, \012 for a newline. */
	struct str path;
};
/* False for a line that is none. */
bool maps_parse(struct str line, struct maps_line *out);

/* The command name out of /proc/PID/stat (from the first '(' to the last ')') and fields after. */
bool maps_stat_comm(struct str stat, struct str *comm, struct str *rest);

#endif
