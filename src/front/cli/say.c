/* SPDX-License-Identifier: Apache-2.0 */
/* All that goes to the terminal: results to stdout or a file, remarks and errors to stderr. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "render/render.h"

/* The id by which cli_fail knows that FILE is no place for the error either. */
static const char not_written[] = "OUTPUT_NOT_WRITTEN";

static char *folder_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? mem_printf("%.*s", (int)(slash - path + 1), path) : mem_strdup(".");
}

/* Where the file is that can be replaced as a whole, NULL when what is there must be written to. */
static char *file_to_replace(const char *path)
{
	char_auto file = NULL;
	char_auto folder = NULL;
	struct stat st;
	bool link;

	if (lstat(path, &st))
		return mem_strdup(path);
	link = S_ISLNK(st.st_mode);
	/* /dev/stdout leads to what the shell has open, and it means that descriptor. */
	if (link && (str_starts(path, "/dev/") || str_starts(path, "/proc/")))
		return NULL;
	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return NULL;
	file = realpath(path, NULL);
	folder = file ? folder_of(file) : NULL;
	return folder && !access(folder, W_OK | X_OK) ? mem_strdup(file) : NULL;
}

/* A new or regular file, also behind a link, appears whole or stays as it was. */
static bool write_file(const char *path, const struct buf *text, struct err *err)
{
	char_auto file = file_to_replace(path);
	fd_auto fd = -1;

	if (file)
		return os_save_file(file, text->at, text->len, err);
	fd = open(path, O_WRONLY | O_TRUNC | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, errno, "cannot write %s", path);
	return os_write_all(fd, path, text->at, text->len, err);
}

/* The hint of writing speaks of the run store, which may be on another disk. */
static bool output_failed(const char *path, struct err *err)
{
	int errnum = err->sys_errno;

	snprintf(err->id, sizeof(err->id), "%s", not_written);
	if (errnum == ENOSPC || errnum == EDQUOT)
		err_rehint(err,
			   "free some space on the disk of %s, or name a file on another disk with "
			   "--output",
			   path);
	else if (errnum == EFBIG)
		err_rehint(err, "raise the limit for the size of files (ulimit -f)");
	else
		err_rehint(err, "name a file that can be written with --output");
	return false;
}

bool cli_check_output(const struct args *args, struct err *err)
{
	const char *path = args->value[OPT_OUTPUT];
	char_auto folder = NULL;
	struct stat st;

	if (!path || !strcmp(path, "-"))
		return true;
	folder = folder_of(path);
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		errno = EISDIR;
	else if (!access(path, W_OK) || !access(folder, W_OK | X_OK))
		return true;
	err_sys(err, errno, "--output %s cannot be written", path);
	return output_failed(path, err);
}

bool cli_write_result(const struct args *args, const struct buf *text, struct err *err)
{
	const char *path = args->value[OPT_OUTPUT];

	if (path && strcmp(path, "-"))
		return write_file(path, text, err) || output_failed(path, err);
	if (os_write_all(1, "the standard output", text->at, text->len, err))
		return true;
	/* The reader of our pipe has seen enough (head, less): no trouble. */
	if (err->sys_errno == EPIPE)
		return true;
	err->hint[0] = 0; /* it speaks of the run store */
	return false;
}

void cli_say(const struct args *args, const char *fmt, ...)
{
	buf_auto line = { 0 };
	buf_auto text = { 0 };
	struct err err;
	va_list ap;

	if (args->value[OPT_QUIET])
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	buf_puts(&line, "culprit: ");
	/* Names in it may come from a target. */
	str_escape(&line, (struct str){ buf_str(&text), text.len });
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

void cli_gap(const struct args *args)
{
	struct err err;

	if (args->value[OPT_QUIET] || !isatty(1) || !isatty(2))
		return;
	if (!os_write_all(2, "stderr", "\n", 1, &err))
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
		if ((!strcmp(err->id, not_written) || !cli_write_result(args, &json, &trouble)) &&
		    !os_write_all(1, "the standard output", json.at, json.len, &trouble))
			errno = 0;
	}
	return exit_of(err);
}
