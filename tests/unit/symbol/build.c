/* SPDX-License-Identifier: Apache-2.0 */
/* See build.h. */
#include "build.h"

#include <gelf.h>
#include <stdlib.h>

/* Each test is a process of its own: what it was given lives until it ends. */
static struct arena kept;

const char *build_keep(const char *format, ...)
{
	struct buf b = { 0 };
	const char *text;
	va_list ap;

	va_start(ap, format);
	buf_vprintf(&b, format, ap);
	va_end(ap);
	text = arena_strdup(&kept, buf_str(&b));
	buf_done(&b);
	return text;
}

const char *build_path(const char *name)
{
	return build_keep("%s/%s", test_tmpdir(), name);
}

void build_needs(const char *tool)
{
	char_auto command = mem_printf("command -v %s >/dev/null 2>&1", tool);

	if (system(command) != 0)
		SKIP("no %s here", tool);
}

const char *build_file(const char *name, const char *text)
{
	const char *path = build_path(name);
	struct err err;

	if (!os_save_file(path, text, strlen(text), &err))
		FAIL("%s", err.text);
	return path;
}

void build_run(const char *format, ...)
{
	buf_auto command = { 0 };
	va_list ap;

	buf_printf(&command, "cd %s && exec 2>&1; ", test_tmpdir());
	va_start(ap, format);
	buf_vprintf(&command, format, ap);
	va_end(ap);
	CHECK_MSG(system(buf_str(&command)) == 0, "failed: %s", buf_str(&command));
}

const char *build_ask(const char *format, ...)
{
	char *line = arena_alloc(&kept, 65536);
	buf_auto command = { 0 };
	va_list ap;
	FILE *f;

	buf_printf(&command, "cd %s && ", test_tmpdir());
	va_start(ap, format);
	buf_vprintf(&command, format, ap);
	va_end(ap);
	f = popen(buf_str(&command), "r");
	CHECK(f);
	if (!fgets(line, 65536, f))
		line[0] = 0;
	pclose(f);
	line[strcspn(line, "\n")] = 0;
	return line;
}

uint64_t build_symbol(const char *path, const char *name)
{
	const char *line = build_ask("{ nm %s; nm -D %s; } 2>/dev/null | grep -E ' [a-zA-Z] %s$'",
				     path, path, name);
	uint64_t address;

	CHECK_MSG(str_hex((struct str){ line, strcspn(line, " ") }, &address), "nm %s: no %s", path,
		  name);
	return address;
}

uint64_t build_offset(const char *path, uint64_t address)
{
	struct elf_file e;
	struct err err;
	uint64_t offset = UINT64_MAX;

	CHECK_MSG(elf_file_open(&e, path, ELF_MAP, &err), "%s", err.text);
	vec_each(s, &e.segments)
		if (s->exec && address >= s->address && address - s->address < s->file_size)
			offset = address - s->address + s->offset;
	if (!e.segments.len)
		offset = address;
	elf_file_close(&e);
	CHECK_MSG(offset != UINT64_MAX, "%s: no segment holds 0x%" PRIx64, path, address);
	return offset;
}

void ask_init(struct ask *a, const char *path)
{
	*a = (struct ask){ 0 };
	vec_add(&a->model.images, ((struct model_image){
					  .kind = MODEL_IMAGE_FILE,
					  .path = path,
					  .key = path,
				  }));
	a->options.debug_dir = "/nonexistent";
}

static uint32_t add(struct ask *a, uint64_t address, bool is_return)
{
	uint64_t offset = build_offset(a->model.images.at[0].path, address);

	vec_add(&a->model.addrs,
		((struct model_addr){ .is_return = is_return, .address = offset }));
	return (uint32_t)a->model.addrs.len - 1;
}

uint32_t ask_address(struct ask *a, uint64_t address)
{
	return add(a, address, false);
}

uint32_t ask_return(struct ask *a, uint64_t address)
{
	return add(a, address, true);
}

void locate_as_named(void *ctx, const struct model_image *image, struct arena *a,
		     struct located *out)
{
	(void)ctx;
	(void)a;
	*out = (struct located){ .path = mem_strdup(image->path) };
}

void ask_resolve(struct ask *a)
{
	struct err err;

	CHECK(symbols_resolve_from(&a->symbols, &a->model, locate_as_named, NULL, &a->options,
				   &err));
	for (size_t i = 0; i < a->symbols->addr_count; i++)
		CHECK(a->symbols->addrs[i].count > 0);
}

void ask_done(struct ask *a)
{
	symbols_free(a->symbols);
	vec_done(&a->model.images);
	vec_done(&a->model.addrs);
}

const struct symbol_frame *ask_frame(const struct ask *a, uint32_t id, uint32_t n)
{
	struct symbol_span s = a->symbols->addrs[id];

	return n < s.count ? &a->symbols->frames.at[s.first + n] : NULL;
}

const struct symbol_function *ask_function(const struct ask *a, uint32_t id, uint32_t n)
{
	const struct symbol_frame *f = ask_frame(a, id, n);

	return f ? &a->symbols->functions.at[f->function.i] : NULL;
}

const char *ask_name(const struct ask *a, uint32_t id)
{
	const struct symbol_function *f = ask_function(a, id, a->symbols->addrs[id].count - 1);

	return f ? f->name : "";
}

const char *ask_chain(const struct ask *a, uint32_t id)
{
	buf_auto b = { 0 };
	const struct symbol_frame *f;

	for (uint32_t n = 0; (f = ask_frame(a, id, n)); n++) {
		const char *path = f->file == MODEL_NONE ? "?" :
							   a->symbols->files.names.at[f->file];
		const char *slash = strrchr(path, '/');

		buf_printf(&b, "%s%s (%s:%u)", n ? " < " : "",
			   a->symbols->functions.at[f->function.i].name, slash ? slash + 1 : path,
			   f->line);
	}
	return build_keep("%s", buf_str(&b));
}
