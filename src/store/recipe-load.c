/* SPDX-License-Identifier: Apache-2.0 */
/* Finds a recipe: built in by name, or the user's file. */
#include "base/os.h"
#include "store/recipe.h"

static bool is_path(const char *name)
{
	return strchr(name, '/') || str_ends(name, ".recipe");
}

static bool load_file(struct recipe **out, const char *path, struct err *err)
{
	buf_auto text = {0};

	if (!os_load_file(path, 1 << 20, &text, err))
		return err_wrap(err, "reading a recipe");
	return recipe_parse(out, path, (struct str){buf_str(&text), text.len}, err);
}

bool recipe_load(struct recipe **out, const char *name, struct err *err)
{
	buf_auto known = {0};

	if (is_path(name))
		return load_file(out, name, err);
	for (const struct recipe_builtin *b = recipe_builtins; b->name; b++)
		if (!strcmp(b->name, name)) {
			if (!recipe_parse(out, name, str_of(b->text), err))
				return false;
			(*out)->source = "built-in";
			return true;
		}
	for (const struct recipe_builtin *b = recipe_builtins; b->name; b++)
		buf_printf(&known, "%s%s", b == recipe_builtins ? "" : ", ", b->name);
	err_set(err, ERR_NOT_FOUND, "no recipe is called %s", name);
	return err_hint(err, "there are: %s; a file of your own needs a / or .recipe in its name",
			buf_str(&known));
}
