/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of /proc/kallsyms. */
#include "decode/kallsyms.h"

bool kallsyms_parse(struct str line, struct kallsyms_line *out)
{
	struct kallsyms_line l = { 0 };
	struct str address, type, module;

	if (!str_word(&line, &address) || !str_hex(address, &l.address) ||
	    !str_word(&line, &type) || type.len != 1 || !str_word(&line, &l.name))
		return false;
	l.type = type.at[0];
	l.module = (struct str){ l.name.at + l.name.len, 0 };
	if (str_word(&line, &module)) {
		if (module.len < 2 || module.at[0] != '[' || module.at[module.len - 1] != ']')
			return false;
		l.module = (struct str){ module.at + 1, module.len - 2 };
	}
	*out = l;
	return true;
}

/* AAELF64 section 5.5.5: $x and $d, also with .anything behind; $a and $t on 32 bits. */
static bool is_mapping_symbol(struct str name)
{
	return name.len >= 2 && name.at[0] == '$' && name.at[1] && strchr("xdat", name.at[1]) &&
	       (name.len == 2 || name.at[2] == '.');
}

bool kallsyms_is_code(const struct kallsyms_line *l)
{
	return l->type && strchr("tTwWi", l->type) && !is_mapping_symbol(l->name);
}
