/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a recipe: built in by name, or the user's file. */
#include "base/os.h"
#include "store/recipe.h"

static bool is_path(const char *name)
{
	return strchr(name, '/') || str_ends(name, ".recipe");
}

static bool err_unknown(const char *name, struct err *err)
{
	buf_auto known = { 0 };

	for (const struct recipe_builtin *b = recipe_builtins; b->name; b++)
		buf_printf(&known, "%s%s", b == recipe_builtins ? "" : ", ", b->name);
	err_set(err, ERR_NOT_FOUND, "no recipe is called %s", name);
	return err_hint(err, "there are: %s; a file of your own needs a / or .recipe in its name",
			buf_str(&known));
}

bool recipe_text(const char *name, struct buf *out, struct err *err)
{
	if (is_path(name))
		return os_load_input(name, 1 << 20, out, err) ? true :
								err_wrap(err, "reading a recipe");
	for (const struct recipe_builtin *b = recipe_builtins; b->name; b++)
		if (!strcmp(b->name, name)) {
			buf_puts(out, b->text);
			return true;
		}
	if (!*name)
		return err_set(err, ERR_USAGE, "the name of the recipe is empty");
	return err_unknown(name, err);
}

bool recipe_load(struct recipe **out, const char *name, struct err *err)
{
	buf_auto text = { 0 };

	if (!recipe_text(name, &text, err) ||
	    !recipe_parse(out, name, (struct str){ buf_str(&text), text.len }, err))
		return false;
	if (!is_path(name))
		(*out)->source = "built-in";
	return true;
}
