/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/kallsyms: "address type name [module]". */
#ifndef CULPRIT_DECODE_KALLSYMS_H
#define CULPRIT_DECODE_KALLSYMS_H

#include "base/str.h"

struct kallsyms_line {
	uint64_t address;
	char type;
	struct str name, module; /* module without brackets, empty for the kernel */
};
bool kallsyms_parse(struct str line, struct kallsyms_line *out);
/* True for types that can hold code (t T w W i), and not an AArch64 mapping symbol. */
bool kallsyms_is_code(const struct kallsyms_line *l);

#endif
