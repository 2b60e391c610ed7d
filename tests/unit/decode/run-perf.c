/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the perf of this machine as a second opinion. */
#include "run-perf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/str.h"
#include "test.h"

static const char perf_path[] = "/usr/bin/perf";

void perf_needed(void)
{
	if (access(perf_path, X_OK))
		SKIP("no %s to compare with", perf_path);
	/* perf keeps build ids in the home folder and may read a configuration there. */
	CHECK(!setenv("HOME", test_tmpdir(), 1));
}

void perf_run(struct buf *out, const char *fmt, ...)
{
	char_auto command = NULL;
	char_auto errors = mem_printf("%s/perf.err", test_tmpdir());
	buf_auto args = { 0 }, text = { 0 };
	struct err err;
	va_list ap;
	FILE *f;
	int status;

	va_start(ap, fmt);
	buf_vprintf(&args, fmt, ap);
	va_end(ap);
	command = mem_printf("%s %s 2>%s </dev/null", perf_path, buf_str(&args), errors);
	f = popen(command, "re");
	CHECK(f != NULL);
	CHECK_MSG(os_read_fd(fileno(f), "perf", 256u << 20, out, &err), "%s", err.text);
	status = pclose(f);
	CHECK_MSG(os_load_file(errors, 1 << 20, &text, &err), "%s", err.text);
	/* It may trip over the build id of whatever else runs on this machine. */
	if (status && str_starts(buf_str(&args), "record") &&
	    strstr(buf_str(&text), "assertion failed at util/"))
		SKIP("%s fails by itself: %.60s", perf_path, buf_str(&text));
	CHECK_MSG(status == 0, "%s: status %d, %s", command, status, buf_str(&text));
	CHECK_MSG(!text.len, "%s says: %s", command, buf_str(&text));
}

size_t count_of(const char *text, const char *needle)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, needle)); p++)
		n++;
	return n;
}
