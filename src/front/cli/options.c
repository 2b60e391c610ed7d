/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of options, and the parser that reads it. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "front/cli/cli.h"

const struct cli_option_info cli_options[OPT_COUNT] = {
	[OPT_PID] = { "pid", 'p', "PID", "", "attach to a running process, all its threads" },
	[OPT_SYSTEM] = { "system", 'a', NULL, "", "the whole machine" },
	[OPT_FOR] = { "for", 0, "TIME", "", "stop after this time (10s, 500ms, 2m)" },
	[OPT_FREQUENCY] = { "frequency", 'F', "HZ", "", "samples a second and CPU (default 3997)" },
	[OPT_PERIOD] = { "count", 'c', "N", "", "one sample every N events instead of -F" },
	[OPT_EVENT] = { "event", 'e', "EVENT", "cycles cpu-clock task-clock",
			"what to sample on: cycles, cpu-clock, task-clock, rNNNN (raw); "
			":u or :k behind it for user or kernel only" },
	[OPT_CALL_GRAPH] = { "call-graph", 0, "HOW", "fp dwarf none",
			     "call chains by frame pointer (fp, default), none, or dwarf[,BYTES]: "
			     "registers and a copy of the stack" },
	[OPT_SETTING] = { "option", 'o', "KEY=VALUE", "", "an option of the recipe" },
	[OPT_MAX_OVERHEAD] = { "max-overhead", 0, "PCT", "",
			       "lower the rate when the agent uses more of the machine (default 1)" },
	[OPT_PASS_STATUS] = { "pass-status", 0, NULL, "", "exit with the workload's own status" },
	[OPT_INPUT] = { "input", 'i', "FILE", "file",
			"read this perf.data file, and make no run of it" },
	[OPT_ROOT] = { "root", 0, "DIR", "dir", "a recorded machine instead of this one" },
	[OPT_SOURCE_DIR] = { "source-dir", 0, "DIR", "dir",
			     "look for source files under DIR first" },
	[OPT_INTEL] = { "intel", 0, NULL, "", "x86 instructions in Intel syntax, not AT&T" },
	[OPT_ALL] = { "all", 0, NULL, "", "fold nothing: every instruction is shown" },
	[OPT_JSON] = { "json", 0, NULL, "", "the result as JSON" },
	[OPT_CSV] = { "csv", 0, NULL, "", "the result as CSV" },
	[OPT_OUTPUT] = { "output", 0, "FILE", "file", "write the result there" },
	[OPT_DEBUG_DIR] = { "debug-dir", 0, "DIR", "dir",
			    "separate debug files by build id (default /usr/lib/debug)" },
	[OPT_NO_INLINES] = { "no-inlines", 0, NULL, "", "do not show inlined functions" },
	[OPT_QUIET] = { "quiet", 'q', NULL, "", "no progress and no remarks" },
	[OPT_LOG] = { "log", 0, "SPEC", "", "what to log to stderr: debug, or symbol=debug,..." },
	[OPT_MAN] = { "man", 0, NULL, "", "as a man page (troff)" },
	[OPT_HELP] = { "help", 'h', NULL, "", "this help" },
};

static int option_named(const char *name, size_t len)
{
	for (int i = 0; i < OPT_COUNT; i++)
		if (str_eq((struct str){ name, len }, cli_options[i].name))
			return i;
	return -1;
}

static int option_lettered(char letter)
{
	for (int i = 0; i < OPT_COUNT; i++)
		if (cli_options[i].letter == letter)
			return i;
	return -1;
}

static bool unknown(const struct command *c, const char *word, struct err *err)
{
	const char *names[OPT_COUNT + 1] = { 0 };
	const char *near;
	size_t n = 0;

	for (int i = 0; i < OPT_COUNT; i++)
		if (c->options & OPTION_BIT(i))
			names[n++] = cli_options[i].name;
	near = str_starts(word, "--") ? cli_nearest(word + 2, names) : NULL;
	err_set(err, ERR_USAGE, "culprit %s has no option %s", c->name, word);
	if (near)
		return err_hint(err, "did you mean --%s? culprit %s --help lists all", near,
				c->name);
	return err_hint(err, "culprit %s --help lists its options", c->name);
}

/* Where nothing can be found is told at once, not by what is missing later. */
static bool check_folder(int which, const char *path, struct err *err)
{
	struct stat st;

	if (which != OPT_SOURCE_DIR && which != OPT_DEBUG_DIR)
		return true;
	errno = 0;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return true;
	return err_set(err, ERR_USAGE, "--%s %s: %s", cli_options[which].name, path,
		       errno ? strerror(errno) : "is no folder");
}

/* Takes one option word and its value off argv. */
static bool take(const struct command *c, char ***argv, struct args *args, struct err *err)
{
	const char *word = **argv, *value = NULL;
	const char *eq = strchr(word, '=');
	int which;

	if (word[1] == '-') {
		size_t len = eq ? (size_t)(eq - word - 2) : strlen(word) - 2;

		which = option_named(word + 2, len);
		value = eq ? eq + 1 : NULL;
	} else {
		which = option_lettered(word[1]);
		value = word[2] ? word + 2 : NULL;
	}
	if (which < 0 || !(c->options & OPTION_BIT(which)))
		return unknown(c, word, err);
	if (!cli_options[which].value) {
		if (value)
			return err_set(err, ERR_USAGE, "--%s takes no value: %s",
				       cli_options[which].name, word);
		args->value[which] = "";
		return true;
	}
	if (!value) {
		if (!(*argv)[1] || !strcmp((*argv)[1], "--"))
			return err_set(err, ERR_USAGE, "%s wants a value: %s", word,
				       cli_options[which].value);
		value = *++*argv;
	}
	if (!*value)
		return err_set(err, ERR_USAGE, "%.*s is empty",
			       (int)(word[1] == '-' ? strcspn(word, "=") : 2), word);
	if (which == OPT_SETTING)
		vec_add(&args->settings, value);
	args->value[which] = value;
	return check_folder(which, value, err);
}

bool cli_parse(const struct command *c, int argc, char **argv, struct args *args, struct err *err)
{
	(void)argc;
	*args = (struct args){ 0 };
	for (; *argv; argv++) {
		if (!strcmp(*argv, "--")) {
			if (c->takes_command) {
				args->rest = argv + 1;
				return true;
			}
			while (*++argv)
				vec_add(&args->operands, *argv);
			return true;
		}
		if ((*argv)[0] == '-' && (*argv)[1]) {
			if (!take(c, &argv, args, err))
				return false;
		} else if (c->takes_command && args->operands.len == 1) {
			args->rest = argv;
			return true;
		} else {
			vec_add(&args->operands, *argv);
		}
	}
	return true;
}

void cli_args_done(struct args *args)
{
	vec_done(&args->settings);
	vec_done(&args->operands);
}

/* Edit distance with a ceiling, on short words. */
static size_t distance(const char *a, const char *b)
{
	size_t n = strlen(a), m = strlen(b), row[64];

	if (n >= 63 || m >= 63)
		return 99;
	for (size_t j = 0; j <= m; j++)
		row[j] = j;
	for (size_t i = 1; i <= n; i++) {
		size_t corner = row[0];

		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			size_t up = row[j], best = corner + (a[i - 1] != b[j - 1]);

			best = up + 1 < best ? up + 1 : best;
			best = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
			corner = up;
			row[j] = best;
		}
	}
	return row[m];
}

const char *cli_nearest(const char *word, const char *const *words)
{
	const char *best = NULL;
	size_t least = strlen(word) / 3 + 2;

	for (; *words; words++) {
		size_t d = distance(word, *words);

		if (str_starts(*words, word) && *word)
			d = 0;
		else if (strlen(word) > 3 && strstr(*words, word))
			d = d < 1 ? d : 1;
		if (d < least) {
			least = d;
			best = *words;
		}
	}
	return best;
}
