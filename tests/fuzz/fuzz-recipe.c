/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a recipe: read, and when that works, its SQL compiled against an empty run.db. */
#include <stddef.h>
#include <stdint.h>

#include "store/store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recipe *r;
	struct err err;

	if (!recipe_parse(&r, "fuzz.recipe", (struct str){ (const char *)data, size }, &err))
		return 0;
	if (!recipe_check(r, &err) && err.kind == ERR_NONE)
		__builtin_trap();
	recipe_free(r);
	return 0;
}
