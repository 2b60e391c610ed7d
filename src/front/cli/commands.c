/* SPDX-License-Identifier: Apache-2.0 */
/* The one table of commands. */
#include "front/cli/cli.h"

enum {
	SHARED = 1 << OPT_HELP | 1 << OPT_LOG,
	RESULT = 1 << OPT_JSON | 1 << OPT_CSV | 1 << OPT_OUTPUT,
	ANALYSIS = 1 << OPT_DEBUG_DIR | 1 << OPT_NO_INLINES | 1 << OPT_QUIET,
	CAPTURE = 1 << OPT_PID | 1 << OPT_SYSTEM | 1 << OPT_FOR | 1 << OPT_FREQUENCY |
		  1 << OPT_PERIOD | 1 << OPT_EVENT | 1 << OPT_CALL_GRAPH | 1 << OPT_MAX_OVERHEAD |
		  1 << OPT_PASS_STATUS,
};

const struct command cli_commands[] = {
	{
		.name = "check",
		.usage = "[--json]\n-i FILE\n--root DIR",
		.summary = "what this machine can do, recipe by recipe, and what would help",
		.details =
			"Looks at the machine and tries what recipes need: counters, sampling, SPE, "
			"tracepoints, BPF. For each recipe it says whether it is ready, on which weaker "
			"source it would stand, or what blocks it, and then what would help on this very "
			"machine, cloud and distribution.\n\n"
			"-i reads what culprit-agent probe printed on another machine (- for standard "
			"input). --root judges a machine that was recorded as a folder of its /proc and "
			"/sys (docs/check.md).\n\n"
			"Exit status: 0 for any machine, because it is a report; 1 or 2 when there is "
			"none.",
		.examples = "culprit check\n"
			    "culprit check --json | jq '.recipes[] | {recipe, would_be, rung}'\n"
			    "ssh server culprit-agent probe | culprit check -i -\n"
			    "culprit check --root ./recorded-machine\n",
		.operand_words = "",
		.options = SHARED | 1 << OPT_JSON | 1 << OPT_OUTPUT | 1 << OPT_INPUT |
			   1 << OPT_ROOT,
		.own = { OPT_INPUT, "judge the machine on which culprit-agent probe printed this "
				    "(- for standard input)" },
		.run = cli_check,
	},
	{
		.name = "run",
		.usage = "RECIPE [OPTIONS] -- COMMAND [ARGUMENTS]\n"
			 "RECIPE [OPTIONS] --pid PID\n"
			 "RECIPE [OPTIONS] --system --for TIME",
		.summary = "record what a recipe needs and report what it finds",
		.details =
			"Starts COMMAND (or attaches to a process, or watches the whole machine), "
			"records, and prints the recipe's report. The run is kept: culprit report "
			"shows it again, culprit query asks it more.\n\n"
			"The workload keeps your stdin, stdout, stderr and terminal. With --json or "
			"--csv and no --output its stdout goes to stderr, so that the result on stdout "
			"can be piped. A text report follows the workload's own output on stdout: with a "
			"workload that writes to a file or pipe, give the report one of its own with "
			"--output.\n\n"
			"Ctrl-C goes to the workload, and recording goes on until it ends; Ctrl-C "
			"again ends it. What was recorded is kept and reported either way.\n\n"
			"Exit status: 0 solid, 1 failed, 2 wrong usage, 3 weak or partial, 4 refused "
			"because the machine cannot, 5 too little to say anything.",
		.examples =
			"culprit run code_hotspots -- ./server --bench\n"
			"culprit run code_hotspots --pid $(pidof nginx) --for 10s\n"
			"culprit run code_hotspots --system --for 5s --json --output hot.json\n"
			"culprit run code_hotspots -F 997 -e cpu-clock:u -o top=10 -- make -j8\n",
		.operand_words = "recipe",
		.takes_command = true,
		.options = SHARED | RESULT | ANALYSIS | CAPTURE | 1 << OPT_SETTING,
		.run = cli_run,
	},
	{
		.name = "report",
		.usage = "[RUN]\n-i FILE",
		.summary = "show the findings of a run again, or of a perf.data file",
		.details =
			"RUN is the name of a run, a unique part of it, last for the newest, or a "
			"folder; the newest run when it is left out. -i reads a perf.data file and makes no run of it. "
			"Other recipe options than those of the run can be given with -o; culprit recipe "
			"show NAME lists them.",
		.examples = "culprit report\n"
			    "culprit report -o function=chase\n"
			    "culprit report 20261130-1412 --csv --output hot.csv\n"
			    "culprit report -i perf.data\n",
		.operand_words = "run",
		.options = SHARED | RESULT | ANALYSIS | 1 << OPT_SETTING | 1 << OPT_INPUT,
		.run = cli_report,
	},
	{
		.name = "annotate",
		.usage = "[RUN] FUNCTION\n-i FILE FUNCTION",
		.summary = "show a function's source and machine code with the samples on each",
		.details =
			"FUNCTION is a name as the report shows it, with or without its parameters, a "
			"part of one that no other function has, or an address in it. Where several "
			"have the name, IMAGE:NAME or FILE:NAME says which (libz.so.1:deflate), with "
			"as much of the path as it takes. RUN as for culprit report; the newest run "
			"when it is left out.\n\n"
			"Each source line stands above the instructions that were made of it, with "
			"their share of the function's samples; * marks the hottest, and a tenth or "
			"more. A sample often names an instruction shortly behind the one that cost "
			"the time (docs/annotate.md). In functions of more than 200 instructions what has no "
			"samples is folded; --all, --json and --csv show it all.\n\n"
			"Source is looked for where the debug information says, --source-dir DIR first "
			"where it is given. x86 instructions are in AT&T syntax, or in Intel's with "
			"--intel.\n\n"
			"Exit status: as for culprit report, by the samples of this function.",
		.examples =
			"culprit annotate chase\n"
			"culprit annotate last libz.so.1:deflate --intel\n"
			"culprit annotate -i perf.data 'shop::bake(long)' --source-dir ~/src/shop\n"
			"culprit annotate chase --json | jq '.instructions[] | "
			"select(.samples > 0)'\n",
		.operand_words = "run",
		.options = SHARED | RESULT | 1 << OPT_DEBUG_DIR | 1 << OPT_QUIET | 1 << OPT_INPUT |
			   1 << OPT_SOURCE_DIR | 1 << OPT_INTEL | 1 << OPT_ALL,
		.run = cli_annotate,
	},
	{
		.name = "runs",
		.usage = "",
		.summary = "list the runs that are kept",
		.details = "Newest first, with recipe, state, size on disk and command.",
		.examples = "culprit runs\nculprit runs --json | jq '.runs[0].id'\n",
		.operand_words = "",
		.options = SHARED | 1 << OPT_JSON | 1 << OPT_OUTPUT,
		.run = cli_runs,
	},
	{
		.name = "show",
		.usage = "[RUN]",
		.summary = "show what a run is: command, target, settings, notes, files",
		.details = "The facts of a run without its findings. RUN as for culprit report.",
		.examples = "culprit show\nculprit show last --json\n",
		.operand_words = "run",
		.options = SHARED | 1 << OPT_JSON | 1 << OPT_OUTPUT,
		.run = cli_show,
	},
	{
		.name = "rm",
		.usage = "RUN...",
		.summary = "remove runs",
		.details =
			"Removes runs with all their files, and images that no other run has. RUN is a whole "
			"name, or last for the newest.",
		.examples = "culprit rm 20261130-141233-code_hotspots\nculprit rm last\n",
		.operand_words = "run",
		.options = SHARED | 1 << OPT_QUIET,
		.run = cli_rm,
	},
	{
		.name = "query",
		.usage = "RUN \"SELECT ...\"",
		.summary = "ask a run in SQL (read-only)",
		.details =
			"One SELECT over the views v1_functions, v1_lines, v1_threads, v1_images, "
			"v1_calltree, ... of run.db (docs/run-db.md). Nothing can be written.",
		.examples = "culprit query last \"SELECT name, self FROM v1_functions LIMIT 5\"\n"
			    "culprit query last \"SELECT thread, samples FROM v1_threads\" --csv\n",
		.operand_words = "run",
		.options = SHARED | RESULT,
		.run = cli_query,
	},
	{
		.name = "import",
		.usage = "FILE",
		.summary = "make a run of a perf.data file",
		.details =
			"The file is copied (shared with the original where the file system can), "
			"and the program images of this machine that it names are added when they "
			"are the very same.",
		.examples = "culprit import perf.data\n",
		.operand_words = "file",
		.options = SHARED | RESULT | ANALYSIS | 1 << OPT_SETTING,
		.run = cli_import,
	},
	{
		.name = "recipe",
		.usage = "list\nshow NAME\ncheck FILE",
		.summary = "list the recipes, show one, check your own",
		.details =
			"A recipe is a text file: what it asks, what it needs, its tables and "
			"findings as SQL (docs/recipes.md). check reads one and runs it on an empty "
			"run and on the newest recorded one.",
		.examples = "culprit recipe list\n"
			    "culprit recipe show code_hotspots > mine.recipe\n"
			    "culprit recipe check mine.recipe\n",
		.operand_words = "list show check recipe",
		.options = SHARED | 1 << OPT_JSON | 1 << OPT_OUTPUT,
		.run = cli_recipe,
	},
	{
		.name = "completion",
		.usage = "bash|zsh|fish",
		.summary = "print shell completion",
		.details = "For bash: source <(culprit completion bash). make install puts it in "
			   "place for all three shells.",
		.examples = "source <(culprit completion bash)\n",
		.operand_words = "bash zsh fish",
		.options = SHARED,
		.run = cli_completion,
	},
	{
		.name = "help",
		.usage = "[COMMAND]\n--man [COMMAND]",
		.summary = "help on a command",
		.details = "The same as culprit COMMAND --help.",
		.examples = "culprit help run\n",
		.operand_words = "command",
		.options = SHARED | 1 << OPT_MAN,
		.run = cli_help,
	},
	{ 0 },
};

const char *cli_option_help(const struct command *c, enum cli_option option)
{
	return c->own.help && c->own.option == option ? c->own.help : cli_options[option].help;
}

const struct command *cli_command_find(const char *name)
{
	for (const struct command *c = cli_commands; c->name; c++)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}
