/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command line: one table of commands, one table of options. Help, man pages, completion and
 * parsing all come from these two (commands.c, options.c). A new command is a file with its
 * function and a row in commands.c.
 */
#ifndef CULPRIT_FRONT_CLI_CLI_H
#define CULPRIT_FRONT_CLI_CLI_H

#include <stdio.h>

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"

/* DESIGN: what the exit status says. */
enum cli_exit {
	CLI_SOLID = 0,
	CLI_FAILED = 1,
	CLI_USAGE = 2,
	CLI_WEAK = 3, /* weak or partial, Ctrl-C too */
	CLI_REFUSED = 4,
	CLI_UNUSABLE = 5,
};

enum cli_option {
	OPT_PID,
	OPT_SYSTEM,
	OPT_FOR,
	OPT_FREQUENCY,
	OPT_PERIOD,
	OPT_EVENT,
	OPT_CALL_GRAPH,
	OPT_SETTING, /* -o KEY=VALUE, repeatable */
	OPT_MAX_OVERHEAD,
	OPT_PASS_STATUS,
	OPT_INPUT,
	OPT_ROOT,
	OPT_SOURCE_DIR,
	OPT_INTEL,
	OPT_ALL,
	OPT_JSON,
	OPT_CSV,
	OPT_OUTPUT,
	OPT_DEBUG_DIR,
	OPT_NO_INLINES,
	OPT_QUIET,
	OPT_LOG,
	OPT_MAN,
	OPT_HELP,
	OPT_COUNT,
};

struct cli_option_info {
	const char *name;  /* long, without dashes */
	char letter;	   /* 0: none */
	const char *value; /* placeholder, NULL for a switch */
	const char *words; /* completion: "file", "dir", or words between blanks; "" for none */
	const char *help;
};
extern const struct cli_option_info cli_options[OPT_COUNT];

struct args {
	const char *value[OPT_COUNT]; /* "" for a switch that is set, NULL when not given */
	VEC(const char *) settings;   /* of -o */
	VEC(const char *) operands;
	char **rest; /* the workload's command, NULL-terminated, or NULL */
};

/* What an option means to one command alone. */
struct command_option {
	enum cli_option option;
	const char *help; /* NULL: no such entry */
};

struct command {
	const char *name;
	const char *usage;	   /* what stands behind the name */
	const char *summary;	   /* one line */
	const char *details;	   /* paragraphs for --help and the man page */
	const char *examples;	   /* lines "command\n" */
	const char *operand_words; /* completion of operands: words, of which "recipe", "run",
				      "command" and "file" stand for what there is; "" for none */
	bool takes_command; /* everything behind the first operand or "--" is the workload's */
	uint64_t options;   /* bit per enum cli_option */
	struct command_option own; /* an option whose help is not that of the table */
	int (*run)(struct args *args);
};
/* Ended by a NULL name. */
extern const struct command cli_commands[];
const struct command *cli_command_find(const char *name);
/* The help of an option, as this command means it. */
const char *cli_option_help(const struct command *c, enum cli_option option);
/* The nearest known word, or NULL when nothing is near. words ends with NULL. */
const char *cli_nearest(const char *word, const char *const *words);

#define OPTION_BIT(o) (1ull << (o))

/* ERR_USAGE names the word and what is allowed. */
ERR_CHECKED bool cli_parse(const struct command *c, int argc, char **argv, struct args *args,
			   struct err *err);
void cli_args_done(struct args *args);

/* help.c */
void cli_put_overview(struct buf *out);
void cli_put_help(struct buf *out, const struct command *c);
void cli_put_man(struct buf *out, const struct command *c); /* NULL: culprit(1) itself */
/* complete.c: false for an unknown shell. */
bool cli_put_completion(struct buf *out, const char *shell);

/* say.c: all that goes to the terminal. */
/* The result: to --output FILE, else stdout. FILE is whole, or as it was before (no pipe or device). */
ERR_CHECKED bool cli_write_result(const struct args *args, const struct buf *text, struct err *err);
/* Can --output be written? Better known now than after an hour of recording. */
ERR_CHECKED bool cli_check_output(const struct args *args, struct err *err);
/* Progress and remarks, to stderr; nothing with --quiet. */
void cli_say(const struct args *args, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A live line on a terminal, replaced by the next; "" takes it away. */
void cli_live(const struct args *args, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* On one screen, keeps the workload's last line and the report's first apart. */
void cli_gap(const struct args *args);
/*
 * Prints the error, as JSON too where --json was asked, and gives the exit code for it. The JSON
 * goes where the result would have gone; to stdout when FILE is what could not be written.
 */
int cli_fail(const struct args *args, const struct err *err, const char *run);

int cli_check(struct args *args);
int cli_run(struct args *args);
int cli_report(struct args *args);
int cli_annotate(struct args *args);
int cli_runs(struct args *args);
int cli_show(struct args *args);
int cli_rm(struct args *args);
int cli_query(struct args *args);
int cli_import(struct args *args);
int cli_recipe(struct args *args);
int cli_completion(struct args *args);
int cli_help(struct args *args);

#endif
