/* SPDX-License-Identifier: Apache-2.0 */
/* Opens what make-perfdata.c has built. */
#include "base/os.h"
#include "make-perfdata.h"
#include "test.h"

void make_open(const struct make *m, struct perfdata *pd)
{
	buf_auto file = { 0 };
	struct err err;

	make_file(m, &file);
	CHECK_MSG(perfdata_open(pd, "made.data", test_guard(file.at, file.len), file.len, &err),
		  "%s", err.text);
}
