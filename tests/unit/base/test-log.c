/* SPDX-License-Identifier: Apache-2.0 */
/* The log: levels by domain, one line each, never more than fits. */
#include "base/log.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"

static const char *logged(struct buf *out, const char *spec, enum log_level level,
			  const char *domain, const char *text)
{
	char_auto path = mem_printf("%s/log", test_tmpdir());
	fd_auto fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct err err;

	log_setup(spec);
	log_to(fd);
	log_at(level, domain, "%s", text);
	log_to(2);
	log_setup(NULL);
	buf_clear(out);
	CHECK(os_load_file(path, 10000, out, &err));
	return buf_str(out);
}

TEST(log_levels)
{
	buf_auto b = { 0 };

	CHECK_EQ_STR(logged(&b, NULL, LOG_WARN, "x", "m"), "culprit[x]: m\n");
	CHECK_EQ_STR(logged(&b, NULL, LOG_INFO, "x", "m"), "");
	CHECK_EQ_STR(logged(&b, "debug", LOG_DEBUG, "x", "m"), "culprit[x]: m\n");
	CHECK_EQ_STR(logged(&b, "error", LOG_WARN, "x", "m"), "");
	CHECK_EQ_STR(logged(&b, "x=debug", LOG_DEBUG, "x", "m"), "culprit[x]: m\n");
	CHECK_EQ_STR(logged(&b, "x=debug", LOG_DEBUG, "xy", "m"), "");
	CHECK_EQ_STR(logged(&b, "xy=debug,x=error", LOG_WARN, "x", "m"), "");
	CHECK_EQ_STR(logged(&b, "info,y=debug", LOG_INFO, "x", "m"), "culprit[x]: m\n");
	CHECK_EQ_STR(logged(&b, "nonsense,,=,x=", LOG_WARN, "x", "m"), "culprit[x]: m\n");
}

TEST(log_long_lines_are_cut)
{
	buf_auto b = { 0 }, text = { 0 };

	memset(buf_room(&text, 5000), 'x', 5000);
	logged(&b, NULL, LOG_ERROR, "x", buf_str(&text));
	CHECK_EQ_U64(b.len, 1023);
	CHECK_EQ_INT(b.at[b.len - 1], '\n');
}
