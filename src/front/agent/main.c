/* SPDX-License-Identifier: Apache-2.0 */
/* culprit-agent: the program on the target. Speaks frames on stdin and stdout with culprit. */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/os.h"
#include "base/str.h"
#include "front/agent/agent.h"
#include "target/target.h"

static void print_help(FILE *to)
{
	fputs("culprit-agent " CULPRIT_VERSION ": records on the target for culprit\n"
	      "\n"
	      "culprit starts it and speaks with it on stdin and stdout; by hand there is:\n"
	      "\n"
	      "  culprit-agent probe       what this machine is and allows\n"
	      "  culprit-agent --version\n"
	      "  culprit-agent --help\n",
	      to);
}

static int print_probe(void)
{
	const struct rootfs here = { "" };
	buf_auto text = { 0 };
	struct target target;
	struct err err;
	int status = 0;

	target_probe(&target, &here, NULL);
	target_encode(&target, &text);
	target_done(&target);
	if (!os_write_all(1, "standard output", text.at, text.len, &err)) {
		log_at(LOG_ERROR, "agent", "%s", err.text);
		status = 1;
	}
	return status;
}

/* "A,B,C" */
static bool parse_stdio(const char *text, int stdio[3])
{
	struct str rest = str_of(text), part;
	uint64_t fd;

	for (int i = 0; i < 3; i++) {
		if (!str_cut(&rest, ',', &part) || !str_u64(part, &fd) || fd > INT_MAX)
			return false;
		stdio[i] = (int)fd;
	}
	return !rest.len;
}

static int serve(const int stdio[3])
{
	if (isatty(0)) {
		fputs("culprit-agent: speaks with culprit, not with people; see --help\n", stderr);
		return 2;
	}
	return agent_serve(0, 1, stdio);
}

int main(int argc, char **argv)
{
	const char *word = argc > 1 ? argv[1] : "serve";
	int stdio[3] = { -1, -1, -1 };

	/* culprit's own way to start it: not for people, so not in the help. */
	if (argc == 4 && !strcmp(word, "serve") && !strcmp(argv[2], "--stdio") &&
	    parse_stdio(argv[3], stdio))
		return serve(stdio);
	if (argc > 2 || (strcmp(word, "serve") && strcmp(word, "probe") &&
			 strcmp(word, "--version") && strcmp(word, "--help"))) {
		fprintf(stderr, "culprit-agent: unknown argument '%s'\n", argv[argc > 2 ? 2 : 1]);
		print_help(stderr);
		return 2;
	}
	if (!strcmp(word, "--help")) {
		print_help(stdout);
		return 0;
	}
	if (!strcmp(word, "--version")) {
		puts("culprit-agent " CULPRIT_VERSION);
		return 0;
	}
	if (!strcmp(word, "probe"))
		return print_probe();
	return serve(stdio);
}
