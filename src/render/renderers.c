/* SPDX-License-Identifier: Apache-2.0 */
/* The table of renderers. */
#include "render/render.h"

const struct renderer renderers[] = {
	{ "text", ".txt", render_text },
	{ "json", ".json", render_json },
	{ "csv", ".csv", render_csv },
	{ NULL, NULL, NULL },
};
