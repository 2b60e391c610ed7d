/* SPDX-License-Identifier: Apache-2.0 */
/* Help texts and man pages, made from the tables of commands and options. */
#include "front/cli/cli.h"

enum { HELP_COLUMNS = 78 };

/* Adds text broken between words at HELP_COLUMNS, every line indented. */
static void put_wrapped(struct buf *out, const char *text, size_t indent)
{
	struct str rest = str_of(text), line, word;

	while (str_line(&rest, &line)) {
		size_t at = 0;

		while (str_word(&line, &word)) {
			if (at && at + 1 + word.len > HELP_COLUMNS - indent) {
				buf_u8(out, '\n');
				at = 0;
			}
			if (at)
				buf_u8(out, ' ');
			else
				buf_printf(out, "%*s", (int)indent, "");
			buf_add(out, word.at, word.len);
			at += word.len + (at ? 1 : 0);
		}
		buf_u8(out, '\n');
	}
}

void cli_put_overview(struct buf *out)
{
	buf_puts(out,
		 "culprit names the instruction, the function and the machine limit that cost a\n"
		 "program its time, and says how sure it is.\n\n"
		 "Usage: culprit COMMAND [OPTIONS]\n\nCommands:\n");
	for (const struct command *c = cli_commands; c->name; c++)
		buf_printf(out, "  %-11s %s\n", c->name, c->summary);
	buf_puts(out, "\nExamples:\n"
		      "  culprit run code_hotspots -- ./server --bench\n"
		      "  culprit run code_hotspots --pid 4711 --for 10s\n"
		      "  culprit report\n\n"
		      "culprit COMMAND --help says more. Runs are kept in $CULPRIT_HOME, else\n"
		      "~/.local/share/culprit.\n");
}

static void put_option_head(struct buf *out, const struct cli_option_info *o)
{
	if (o->letter)
		buf_printf(out, "-%c, ", o->letter);
	buf_printf(out, "--%s", o->name);
	if (o->value)
		buf_printf(out, " %s", o->value);
}

void cli_put_help(struct buf *out, const struct command *c)
{
	struct str rest = str_of(c->usage), line;
	bool first = true;

	buf_printf(out, "culprit %s: %s\n\n", c->name, c->summary);
	do {
		if (!str_line(&rest, &line))
			line = str_of("");
		buf_printf(out, "%s culprit %s %.*s\n", first ? "Usage:" : "      ", c->name,
			   (int)line.len, line.at);
		first = false;
	} while (rest.len);
	buf_u8(out, '\n');
	put_wrapped(out, c->details, 0);
	buf_puts(out, "\nOptions:\n");
	for (int i = 0; i < OPT_COUNT; i++) {
		const char *help = cli_option_help(c, (enum cli_option)i);
		buf_auto head = { 0 };

		if (!(c->options & OPTION_BIT(i)))
			continue;
		if (!cli_options[i].letter)
			buf_puts(&head, "    ");
		put_option_head(&head, &cli_options[i]);
		if (head.len <= 24) {
			buf_auto text = { 0 };

			put_wrapped(&text, help, 28);
			buf_printf(out, "  %-26s%s", buf_str(&head), buf_str(&text) + 28);
		} else {
			buf_printf(out, "  %s\n", buf_str(&head));
			put_wrapped(out, help, 28);
		}
	}
	buf_puts(out, "\nExamples:\n");
	rest = str_of(c->examples);
	while (str_line(&rest, &line))
		buf_printf(out, "  %.*s\n", (int)line.len, line.at);
}

/* Text for troff: backslashes and leading dots made harmless, hyphens kept as typed. */
static void put_roff(struct buf *out, const char *text)
{
	bool line_start = true;

	for (const char *p = text; *p; p++) {
		if (line_start && (*p == '.' || *p == '\''))
			buf_puts(out, "\\&");
		if (*p == '\\')
			buf_puts(out, "\\e");
		else if (*p == '-')
			buf_puts(out, "\\-");
		else if (*p == '\n' && p[1] == '\n')
			buf_puts(out, "\n.PP"), p++, buf_u8(out, '\n');
		else
			buf_u8(out, (uint8_t)*p);
		line_start = *p == '\n';
	}
}

static void put_man_overview(struct buf *out)
{
	buf_puts(out,
		 ".TH CULPRIT 1\n.SH NAME\nculprit \\- say why a program is slow, with evidence\n"
		 ".SH SYNOPSIS\n.B culprit\nCOMMAND [OPTIONS]\n.SH COMMANDS\n");
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_printf(out, ".TP\n.BR culprit\\-%s (1)\n", c->name);
		put_roff(out, c->summary);
		buf_u8(out, '\n');
	}
	buf_puts(out, ".SH FILES\n.TP\n$CULPRIT_HOME, else $XDG_DATA_HOME/culprit, else "
		      "~/.local/share/culprit\nruns and the image cache\n");
}

void cli_put_man(struct buf *out, const struct command *c)
{
	struct str rest, line;

	if (!c) {
		put_man_overview(out);
		return;
	}
	buf_printf(out, ".TH CULPRIT\\-%s 1\n.SH NAME\nculprit\\-%s \\- ", c->name, c->name);
	put_roff(out, c->summary);
	buf_puts(out, "\n.SH SYNOPSIS\n");
	rest = str_of(c->usage);
	do {
		if (!str_line(&rest, &line))
			line = str_of("");
		buf_printf(out, ".B culprit %s\n", c->name);
		buf_auto text = { 0 };
		buf_add(&text, line.at, line.len);
		put_roff(out, buf_str(&text));
		buf_puts(out, "\n.br\n");
	} while (rest.len);
	buf_puts(out, ".SH DESCRIPTION\n");
	put_roff(out, c->details);
	buf_puts(out, "\n.SH OPTIONS\n");
	for (int i = 0; i < OPT_COUNT; i++) {
		buf_auto head = { 0 };

		if (!(c->options & OPTION_BIT(i)))
			continue;
		put_option_head(&head, &cli_options[i]);
		buf_puts(out, ".TP\n.B ");
		put_roff(out, buf_str(&head));
		buf_u8(out, '\n');
		put_roff(out, cli_option_help(c, (enum cli_option)i));
		buf_u8(out, '\n');
	}
	buf_puts(out, ".SH EXAMPLES\n.nf\n");
	put_roff(out, c->examples);
	buf_puts(out, ".fi\n.SH SEE ALSO\n.BR culprit (1)\n");
}
