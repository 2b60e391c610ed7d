/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Embeds recipes into a C file: gen-recipes OUT.c RECIPE... . Each is parsed and its SQL compiled
 * first, by the code that runs it later; a fault ends the build with file and line.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"
#include "store/recipe.h"

static void put_text(struct buf *out, const struct buf *text)
{
	buf_puts(out, "\t\"");
	for (size_t i = 0; i < text->len; i++) {
		unsigned char c = text->at[i];

		if (c == '\n')
			buf_puts(out, i + 1 < text->len ? "\\n\"\n\t\"" : "\\n");
		else if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			buf_printf(out, "\\%03o", c);
		else
			buf_u8(out, c);
	}
	buf_puts(out, "\"");
}

static bool put_recipe(struct buf *out, struct buf *names, const char *path, struct err *err)
{
	buf_auto text = { 0 };
	struct recipe *r;
	bool ok;

	if (!os_load_file(path, 1 << 20, &text, err))
		return false;
	if (!recipe_parse(&r, path, (struct str){ buf_str(&text), text.len }, err))
		return false;
	ok = recipe_check(r, err);
	if (ok) {
		buf_printf(names, "\t\"%s\",\n", r->name);
		buf_printf(out, "\t{\"%s\",\n", r->name);
		put_text(out, &text);
		buf_puts(out, "},\n");
	}
	recipe_free(r);
	return ok;
}

int main(int argc, char **argv)
{
	buf_auto out = { 0 };
	buf_auto names = { 0 };
	struct err err = { 0 };

	buf_puts(&out, "/* Made by tools/gen-recipes. */\n#include \"store/recipe.h\"\n\n"
		       "const struct recipe_builtin recipe_builtins[] = {\n");
	for (int i = 2; i < argc; i++)
		if (!put_recipe(&out, &names, argv[i], &err))
			goto failed;
	buf_printf(&out,
		   "\t{NULL, NULL},\n};\n\nstatic const char *const names[] = {\n%s\tNULL,\n};\n\n"
		   "const char *const *recipe_names(void)\n{\n\treturn names;\n}\n",
		   buf_str(&names));
	if (argc > 2 && os_save_file(argv[1], out.at, out.len, &err))
		return 0;
failed:
	fprintf(stderr, "%s\n", err.kind ? err.text : "usage: gen-recipes OUT.c RECIPE...");
	return 1;
}
