/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: parsing, jobs made from it, and what is made from the tables. */
#include "front/cli/job-args.h"
#include "front/cli/pipeline.h"

#include "test.h"

static struct args parse(const char *command, const char *const *words)
{
	struct args args;
	struct err err;
	size_t n = 0;

	while (words[n])
		n++;
	CHECK_MSG(cli_parse(cli_command_find(command), (int)n, (char **)(uintptr_t)words, &args,
			    &err),
		  "%s", err.text);
	return args;
}

static void refuse(const char *command, const char *const *words, const char *text,
		   const char *hint)
{
	struct args args;
	struct err err;
	size_t n = 0;

	while (words[n])
		n++;
	CHECK(!cli_parse(cli_command_find(command), (int)n, (char **)(uintptr_t)words, &args,
			 &err));
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_HAS(err.text, text);
	CHECK_HAS(err.hint, hint);
	cli_args_done(&args);
}

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

TEST(forms_of_options)
{
	struct args args = parse("run", WORDS("code_hotspots", "-F", "99", "-c5", "--for=10s", "-o",
					      "a=1", "--option=b=2", "--json", "--", "ls", "-l"));

	CHECK_EQ_INT(args.operands.len, 1);
	CHECK_EQ_STR(args.operands.at[0], "code_hotspots");
	CHECK_EQ_STR(args.value[OPT_FREQUENCY], "99");
	CHECK_EQ_STR(args.value[OPT_PERIOD], "5");
	CHECK_EQ_STR(args.value[OPT_FOR], "10s");
	CHECK_EQ_INT(args.settings.len, 2);
	CHECK_EQ_STR(args.settings.at[1], "b=2");
	CHECK(args.value[OPT_JSON] != NULL);
	CHECK(args.value[OPT_CSV] == NULL);
	CHECK_EQ_STR(args.rest[0], "ls");
	CHECK_EQ_STR(args.rest[1], "-l");
	CHECK(args.rest[2] == NULL);
	cli_args_done(&args);
}

TEST(the_workload_begins_at_the_second_word)
{
	struct args args = parse("run", WORDS("-F99", "code_hotspots", "--quiet", "ls", "--json"));

	CHECK_EQ_STR(args.rest[0], "ls");
	CHECK_EQ_STR(args.rest[1], "--json");
	CHECK(args.value[OPT_JSON] == NULL);
	CHECK(args.value[OPT_QUIET] != NULL);
	cli_args_done(&args);
}

TEST(wrong_words_are_named)
{
	refuse("run", WORDS("x", "--frequenzy", "9"), "--frequenzy", "--frequency");
	refuse("run", WORDS("x", "-Z"), "-Z", "--help");
	refuse("runs", WORDS("--pid", "1"), "no option --pid", "--help");
	refuse("run", WORDS("x", "-F"), "-F wants a value", "");
	refuse("run", WORDS("x", "--json=yes"), "takes no value", "");
	refuse("check", WORDS("--output", ""), "--output is empty", "");
	refuse("check", WORDS("--output="), "--output is empty", "");
	refuse("check", WORDS("-i", ""), "-i is empty", "");
	refuse("check", WORDS("--root", ""), "--root is empty", "");
}

static struct job job_of(const char *const *words, struct args *args, struct arena *a)
{
	struct job job;
	struct err err;

	*args = parse("run", words);
	CHECK_MSG(job_from_args(&job, args, a, &err), "%s", err.text);
	return job;
}

TEST(jobs_from_options)
{
	arena_auto a = { 0 };
	struct args args;
	struct job job = job_of(WORDS("r", "--", "ls"), &args, &a);

	CHECK_EQ_INT(job.scope, JOB_LAUNCH);
	CHECK_EQ_STR(job.argv[0], "ls");
	CHECK_EQ_STR(job.event, "auto");
	CHECK_EQ_U64(job.frequency_hz, 3997);
	CHECK_EQ_U64(job.period, 0);
	CHECK_EQ_INT(job.chain, JOB_CHAIN_FP);
	CHECK_EQ_INT(job.rings, JOB_RINGS_ALL);
	CHECK_EQ_U64(job.ring_total_bytes, 64u << 20);
	CHECK_EQ_U64(job.max_overhead_permille, 10);
	cli_args_done(&args);

	job = job_of(WORDS("r", "--pid", "12", "-e", "cycles:u", "-c", "1000000", "--for", "1.5s",
			   "--call-graph", "dwarf,4096", "--max-overhead", "2.5"),
		     &args, &a);
	CHECK_EQ_INT(job.scope, JOB_PID);
	CHECK_EQ_U64(job.pid, 12);
	CHECK_EQ_STR(job.event, "cycles");
	CHECK_EQ_INT(job.rings, JOB_RINGS_USER);
	CHECK_EQ_U64(job.frequency_hz, 0);
	CHECK_EQ_U64(job.period, 1000000);
	CHECK_EQ_U64(job.for_ns, 1500000000u);
	CHECK_EQ_INT(job.chain, JOB_CHAIN_DWARF);
	CHECK_EQ_INT(job.stack_bytes, 4096);
	CHECK_EQ_U64(job.max_overhead_permille, 25);
	cli_args_done(&args);

	job = job_of(WORDS("r", "-a", "-e", "r1A:k", "--call-graph=none"), &args, &a);
	CHECK_EQ_INT(job.scope, JOB_SYSTEM);
	CHECK_EQ_STR(job.event, "r1A");
	CHECK_EQ_INT(job.rings, JOB_RINGS_KERNEL);
	CHECK_EQ_INT(job.chain, JOB_CHAIN_NONE);
	cli_args_done(&args);
}

static void refuse_job(const char *const *words, const char *text)
{
	struct args args = parse("run", words);
	arena_auto a = { 0 };
	struct job job;
	struct err err;

	CHECK_MSG(!job_from_args(&job, &args, &a, &err), "taken: %s", text);
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_HAS(err.text, text);
	cli_args_done(&args);
}

TEST(jobs_that_cannot_be)
{
	refuse_job(WORDS("r"), "nothing to record");
	refuse_job(WORDS("r", "--"), "nothing to record");
	refuse_job(WORDS("r", "-a", "-p", "1"), "cannot go together");
	refuse_job(WORDS("r", "-a", "--", "ls"), "cannot go together");
	refuse_job(WORDS("r", "-p", "0"), "--pid wants");
	refuse_job(WORDS("r", "-p", "12x"), "--pid wants");
	refuse_job(WORDS("r", "-p", "99999999999999999999"), "--pid wants");
	refuse_job(WORDS("r", "-F", "0", "--", "ls"), "--frequency wants");
	refuse_job(WORDS("r", "-F", "-3", "--", "ls"), "--frequency wants");
	refuse_job(WORDS("r", "-F", "9", "-c", "9", "--", "ls"), "-F and -c");
	refuse_job(WORDS("r", "-a", "--for", "soon"), "--for wants");
	refuse_job(WORDS("r", "-a", "--for", "0"), "--for wants");
	refuse_job(WORDS("r", "-e", "cycle", "--", "ls"), "no event cycle");
	refuse_job(WORDS("r", "-e", "cycles:x", "--", "ls"), "only :u and :k");
	refuse_job(WORDS("r", "-e", "rXYZ", "--", "ls"), "no event rXYZ");
	refuse_job(WORDS("r", "--call-graph", "lbr", "--", "ls"), "--call-graph wants");
	refuse_job(WORDS("r", "--call-graph", "dwarf,70000", "--", "ls"), "multiple of 8");
	refuse_job(WORDS("r", "--call-graph", "dwarf,1001", "--", "ls"), "multiple of 8");
	refuse_job(WORDS("r", "--max-overhead", "0", "--", "ls"), "--max-overhead wants");
}

TEST(near_words)
{
	const char *const words[] = { "report", "run", "runs", NULL };

	CHECK_EQ_STR(cli_nearest("reprot", words), "report");
	CHECK_EQ_STR(cli_nearest("rep", words), "report");
	CHECK(cli_nearest("elephant", words) == NULL);
	/* A part of a word, in its middle too, if it says enough. */
	CHECK_EQ_STR(cli_nearest("hotspots", recipe_names()), "code_hotspots");
	CHECK_EQ_STR(cli_nearest("code-hotspots", recipe_names()), "code_hotspots");
	CHECK_EQ_STR(cli_nearest("microarchitecture", recipe_names()), "cpu_microarchitecture");
	CHECK(cli_nearest("ace", recipe_names()) == NULL);
}

static bool near_recipe(const char *name, enum err_kind kind, struct err *err)
{
	err_set(err, kind, "no recipe is called %s", name);
	err_hint(err, "there are others");
	return cli_recipe_near(name, err);
}

TEST(near_recipes)
{
	struct err err;

	CHECK(!near_recipe("hotspots", ERR_NOT_FOUND, &err));
	CHECK_EQ_STR(err.hint, "did you mean code_hotspots? there are others");
	CHECK(!near_recipe("elephant", ERR_NOT_FOUND, &err));
	CHECK_EQ_STR(err.hint, "there are others");
	/* A file that is not there, and a recipe that is and has a fault. */
	CHECK(!near_recipe("./hotspots", ERR_NOT_FOUND, &err));
	CHECK_EQ_STR(err.hint, "there are others");
	CHECK(!near_recipe("hotspots.recipe", ERR_NOT_FOUND, &err));
	CHECK_EQ_STR(err.hint, "there are others");
	CHECK(!near_recipe("hotspots", ERR_FORMAT, &err));
	CHECK_EQ_STR(err.hint, "there are others");
}

/* -i is a machine for check and a recording for all others, in help, man page and completion. */
TEST(options_mean_what_the_command_means)
{
	buf_auto check = { 0 }, report = { 0 }, man = { 0 }, zsh = { 0 }, fish = { 0 };

	cli_put_help(&check, cli_command_find("check"));
	cli_put_help(&report, cli_command_find("report"));
	cli_put_man(&man, cli_command_find("check"));
	CHECK_HAS(buf_str(&check), "judge the machine on which culprit-agent");
	CHECK(!strstr(buf_str(&check), "perf.data"));
	CHECK_HAS(buf_str(&check), "{recipe, would_be, rung}");
	CHECK_HAS(buf_str(&report), "read this perf.data file");
	CHECK(!strstr(buf_str(&report), "probe"));
	CHECK_HAS(buf_str(&man), "judge the machine on which culprit\\-agent probe");
	CHECK(cli_put_completion(&zsh, "zsh") && cli_put_completion(&fish, "fish"));
	CHECK_HAS(buf_str(&zsh), "'--input[judge the machine on which culprit-agent probe");
	CHECK_HAS(buf_str(&zsh), "'--input[read this perf.data file");
	CHECK_HAS(buf_str(&fish), "from check' -l input -s i -r -d 'judge the machine");
	CHECK_HAS(buf_str(&fish), "from report' -l input -s i -r -d 'read this perf.data");
	/* A quote inside quotes, and operands of more than one kind. */
	CHECK_HAS(buf_str(&zsh), "annotate:show a function'\\''s source");
	CHECK_HAS(buf_str(&fish), "-a annotate -d 'show a function'\\''s source");
	CHECK_HAS(buf_str(&fish), "-a \"list show check code_hotspots ");
}

/* Every option of a command stands in its help and man page; every command in the overview. */
TEST(help_and_man_come_from_the_tables)
{
	buf_auto overview = { 0 };

	cli_put_overview(&overview);
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_auto help = { 0 };
		buf_auto man = { 0 };

		cli_put_help(&help, c);
		cli_put_man(&man, c);
		CHECK_HAS(buf_str(&overview), c->name);
		CHECK_HAS(buf_str(&help), "Examples:\n  ");
		CHECK_HAS(buf_str(&man), ".SH EXAMPLES");
		for (int i = 0; i < OPT_COUNT; i++) {
			char_auto plain = mem_printf("--%s", cli_options[i].name);

			if (!(c->options & OPTION_BIT(i)))
				continue;
			CHECK_HAS(buf_str(&help), plain);
		}
		for (char *p = (char *)help.at, *line = p; *p; p++)
			if (*p == '\n') {
				CHECK_MSG(p - line <= 100, "%.*s", (int)(p - line), line);
				line = p + 1;
			}
	}
}
