/* SPDX-License-Identifier: Apache-2.0 */
/* All that goes to the terminal: results to stdout or a file, remarks and errors to stderr. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "render/render.h"

bool cli_write_result(const struct args *args, const struct buf *text, struct err *err)
{
	const char *path = args->value[OPT_OUTPUT];

	if (path && strcmp(path, "-"))
		return os_save_file(path, text->at, text->len, err);
	if (os_write_all(1, "the standard output", text->at, text->len, err))
		return true;
	/* The reader of our pipe has seen enough (head, less): no trouble. */
	if (err->sys_errno == EPIPE)
		return true;
	return false;
}

void cli_say(const struct args *args, const char *fmt, ...)
{
	buf_auto line = { 0 };
	struct err err;
	va_list ap;

	if (args->value[OPT_QUIET])
		return;
	buf_puts(&line, "culprit: ");
	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	buf_u8(&line, '\n');
	if (!os_write_all(2, "stderr", line.at, line.len, &err))
		return;
}

void cli_live(const struct args *args, const char *fmt, ...)
{
	buf_auto line = { 0 };
	struct err err;
	va_list ap;

	if (args->value[OPT_QUIET] || !isatty(2))
		return;
	buf_puts(&line, "\r\x1b[K");
	va_start(ap, fmt);
	buf_vprintf(&line, fmt, ap);
	va_end(ap);
	if (!os_write_all(2, "stderr", line.at, line.len, &err))
		return;
}

static int exit_of(const struct err *err)
{
	switch (err->kind) {
	case ERR_USAGE:
		return CLI_USAGE;
	case ERR_REFUSED:
		return CLI_REFUSED;
	case ERR_NONE:
	case ERR_NOT_FOUND:
	case ERR_UNSUPPORTED:
	case ERR_FORMAT:
	case ERR_SYSTEM:
	case ERR_LIMIT:
	case ERR_INTERNAL:
		break;
	}
	return CLI_FAILED;
}

int cli_fail(const struct args *args, const struct err *err, const char *run)
{
	buf_auto line = { 0 };
	struct err trouble;

	buf_puts(&line, "culprit: ");
	str_escape(&line, str_of(err->text));
	if (err->id[0])
		buf_printf(&line, " [%s]", err->id);
	buf_u8(&line, '\n');
	if (err->hint[0]) {
		buf_puts(&line, "  try: ");
		str_escape(&line, str_of(err->hint));
		buf_u8(&line, '\n');
	}
	if (!os_write_all(2, "stderr", line.at, line.len, &trouble))
		errno = 0;
	if (args && args->value[OPT_JSON]) {
		buf_auto json = { 0 };

		render_json_error(&json, err, run);
		if (!cli_write_result(args, &json, &trouble))
			errno = 0;
	}
	return exit_of(err);
}
