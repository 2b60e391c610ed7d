/* SPDX-License-Identifier: Apache-2.0 */
/* Shell completion for bash, zsh and fish, made from the tables. */
#include "front/cli/cli.h"
#include "store/store.h"

static void put_recipes(struct buf *out)
{
	for (const char *const *n = recipe_names(); *n; n++)
		buf_printf(out, "%s%s", n == recipe_names() ? "" : " ", *n);
}

static void put_commands(struct buf *out)
{
	for (const struct command *c = cli_commands; c->name; c++)
		buf_printf(out, "%s%s", c == cli_commands ? "" : " ", c->name);
}

/* The words that an operand of this command can be; nothing for files. */
static void put_operands(struct buf *out, const struct command *c)
{
	struct str rest = str_of(c->operand_words), word;
	const char *blank = "";

	while (str_word(&rest, &word)) {
		if (str_eq(word, "file"))
			continue;
		buf_puts(out, blank);
		blank = " ";
		if (str_eq(word, "recipe"))
			put_recipes(out);
		else if (str_eq(word, "command"))
			put_commands(out);
		else if (str_eq(word, "run"))
			buf_puts(out, "last $(culprit runs 2>/dev/null | awk 'NR>1{print $1}')");
		else
			buf_add(out, word.at, word.len);
	}
}

static void put_bash(struct buf *out)
{
	buf_puts(out, "_culprit() {\n"
		      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} i\n"
		      "  for ((i = 2; i < COMP_CWORD; i++)); do\n"
		      "    if [[ ${COMP_WORDS[i]} == -- ]]; then\n"
		      "      COMPREPLY=($(compgen -c -f -- \"$cur\")); return\n"
		      "    fi\n"
		      "  done\n"
		      "  if ((COMP_CWORD == 1)); then\n    COMPREPLY=($(compgen -W \"");
	put_commands(out);
	buf_puts(out, "\" -- \"$cur\")); return\n  fi\n  case $prev in\n");
	for (int i = 0; i < OPT_COUNT; i++) {
		const struct cli_option_info *o = &cli_options[i];

		if (!o->value)
			continue;
		buf_printf(out, "  --%s", o->name);
		if (o->letter)
			buf_printf(out, "|-%c", o->letter);
		if (!strcmp(o->words, "file"))
			buf_puts(out, ") COMPREPLY=($(compgen -f -- \"$cur\")); return;;\n");
		else if (!strcmp(o->words, "dir"))
			buf_puts(out, ") COMPREPLY=($(compgen -d -- \"$cur\")); return;;\n");
		else
			buf_printf(out,
				   ") COMPREPLY=($(compgen -W \"%s\" -- \"$cur\")); return;;\n",
				   o->words);
	}
	buf_puts(out, "  esac\n  case ${COMP_WORDS[1]} in\n");
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_printf(out, "  %s) COMPREPLY=($(compgen ", c->name);
		if (!strcmp(c->operand_words, "file"))
			buf_puts(out, "-f ");
		buf_puts(out, "-W \"");
		for (int i = 0; i < OPT_COUNT; i++)
			if (c->options & OPTION_BIT(i))
				buf_printf(out, "--%s ", cli_options[i].name);
		put_operands(out, c);
		buf_puts(out, "\" -- \"$cur\"));;\n");
	}
	buf_puts(out, "  esac\n}\ncomplete -o default -F _culprit culprit\n");
}

/* Inside single quotes; zsh and fish both take a quote as one that ends, is escaped, begins. */
static void put_quoted(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\'')
			buf_puts(out, "'\\''");
		else
			buf_u8(out, (uint8_t)*text);
}

static void put_zsh(struct buf *out)
{
	buf_puts(out, "#compdef culprit\n_culprit() {\n  local -a words_here\n"
		      "  if ((CURRENT == 2)); then\n    words_here=(");
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_printf(out, "'%s:", c->name);
		put_quoted(out, c->summary);
		buf_puts(out, "' ");
	}
	buf_puts(out, ")\n    _describe command words_here; return\n  fi\n"
		      "  case $words[2] in\n");
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_printf(out, "  %s) _arguments -s", c->name);
		for (int i = 0; i < OPT_COUNT; i++) {
			const struct cli_option_info *o = &cli_options[i];

			if (!(c->options & OPTION_BIT(i)))
				continue;
			buf_printf(out, " '--%s[", o->name);
			for (const char *p = cli_option_help(c, (enum cli_option)i); *p; p++)
				if (!strchr("[]':", *p))
					buf_u8(out, (uint8_t)*p);
			buf_puts(out, "]");
			if (o->value)
				buf_printf(out, ":%s:%s", o->value,
					   !strcmp(o->words, "file") ? "_files" :
					   !strcmp(o->words, "dir")  ? "_files -/" :
								       "");
			if (o->value && *o->words && strcmp(o->words, "file") &&
			    strcmp(o->words, "dir"))
				buf_printf(out, "(%s)", o->words);
			buf_puts(out, "'");
		}
		if (c->takes_command)
			buf_puts(out, " '*::command:_normal'");
		buf_puts(out, " '1:word:(");
		put_operands(out, c);
		buf_puts(out, ")';;\n");
	}
	buf_puts(out, "  esac\n}\n_culprit \"$@\"\n");
}

static void put_fish(struct buf *out)
{
	buf_puts(out, "complete -c culprit -f\n");
	for (const struct command *c = cli_commands; c->name; c++) {
		buf_printf(out, "complete -c culprit -n __fish_use_subcommand -a %s -d '", c->name);
		put_quoted(out, c->summary);
		buf_puts(out, "'\n");
		if (*c->operand_words) {
			buf_printf(out,
				   "complete -c culprit -n '__fish_seen_subcommand_from %s' -%s \"",
				   c->name, strcmp(c->operand_words, "file") ? "a" : "F -a");
			put_operands(out, c);
			buf_puts(out, "\"\n");
		}
		for (int i = 0; i < OPT_COUNT; i++) {
			const struct cli_option_info *o = &cli_options[i];

			if (!(c->options & OPTION_BIT(i)))
				continue;
			buf_printf(out,
				   "complete -c culprit -n '__fish_seen_subcommand_from %s' -l %s",
				   c->name, o->name);
			if (o->letter)
				buf_printf(out, " -s %c", o->letter);
			if (o->value)
				buf_puts(out, *o->words ? " -r" : " -x");
			if (o->value && *o->words && strcmp(o->words, "file") &&
			    strcmp(o->words, "dir"))
				buf_printf(out, " -a '%s'", o->words);
			buf_puts(out, " -d '");
			put_quoted(out, cli_option_help(c, (enum cli_option)i));
			buf_puts(out, "'\n");
		}
	}
}

bool cli_put_completion(struct buf *out, const char *shell)
{
	if (!strcmp(shell, "bash"))
		put_bash(out);
	else if (!strcmp(shell, "zsh"))
		put_zsh(out);
	else if (!strcmp(shell, "fish"))
		put_fish(out);
	else
		return false;
	return true;
}
