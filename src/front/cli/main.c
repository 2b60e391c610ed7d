/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command that was meant and hands over. */
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <unistd.h>

#include "base/log.h"
#include "front/cli/cli.h"

static int print(const struct buf *text)
{
	struct args none = { 0 };
	struct err err;

	if (!cli_write_result(&none, text, &err))
		return cli_fail(NULL, &err, NULL);
	return CLI_SOLID;
}

static int unknown_command(const char *word)
{
	const char *names[32] = { 0 };
	const char *near;
	struct err err;
	size_t n = 0;

	for (const struct command *c = cli_commands; c->name && n < 31; c++)
		names[n++] = c->name;
	near = cli_nearest(word, names);
	err_set(&err, ERR_USAGE, "there is no command %s", word);
	if (near)
		err_hint(&err, "did you mean culprit %s? culprit help lists all", near);
	else
		err_hint(&err, "culprit help lists the commands");
	return cli_fail(NULL, &err, NULL);
}

static int run_command(const struct command *c, int argc, char **argv)
{
	struct args args;
	struct err err;
	int status;

	if (!cli_parse(c, argc, argv, &args, &err)) {
		status = cli_fail(&args, &err, NULL);
	} else if (args.value[OPT_HELP]) {
		buf_auto text = { 0 };

		cli_put_help(&text, c);
		status = print(&text);
	} else if (args.value[OPT_JSON] && args.value[OPT_CSV]) {
		err_set(&err, ERR_USAGE, "--json and --csv cannot go together");
		status = cli_fail(&args, &err, NULL);
	} else {
		log_setup(args.value[OPT_LOG]);
		status = c->run(&args);
	}
	cli_args_done(&args);
	return status;
}

/*
 * A closed standard descriptor would be taken by the next file that is opened, and what is meant
 * for a person would be written into it. stdout and stderr become something that cannot be written.
 */
static bool hold_standard_descriptors(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			return false;
	return true;
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "";
	const struct command *c = cli_command_find(word);
	buf_auto text = { 0 };

	if (!hold_standard_descriptors())
		return CLI_FAILED;
	setlocale(LC_CTYPE, "");
	/* A closed pipe and a file-size limit are errors of write(), with their own handling. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	if (c)
		return run_command(c, argc - 2, argv + 2);
	if (!strcmp(word, "--version") || !strcmp(word, "-V") || !strcmp(word, "version")) {
		buf_puts(&text, "culprit " CULPRIT_VERSION "\n");
		return print(&text);
	}
	if (!*word || !strcmp(word, "--help") || !strcmp(word, "-h")) {
		cli_put_overview(&text);
		print(&text);
		return *word ? CLI_SOLID : CLI_USAGE;
	}
	return unknown_command(word);
}
