/* SPDX-License-Identifier: Apache-2.0 */
/* Programs made at test time, and models made by hand that ask about their addresses. */
#ifndef TEST_SYMBOL_BUILD_H
#define TEST_SYMBOL_BUILD_H

#include "symbol/parts.h"
#include "test.h"

/* Skips the test when the tool isn't in PATH. */
void build_needs(const char *tool);
/* Text that lives as long as the test. */
const char *build_keep(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* Writes text to test_tmpdir()/name; the path lives as long as the test. */
const char *build_file(const char *name, const char *text);
const char *build_path(const char *name);
/* Runs a shell command in test_tmpdir(); fails the test when it fails. */
void build_run(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The first line of what a command prints, "" when none. Lives as long as the test. */
const char *build_ask(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* st_value of a symbol by nm, which may be another architecture's. */
uint64_t build_symbol(const char *path, const char *name);
/* File offset of an address, by the program headers. */
uint64_t build_offset(const char *path, uint64_t address);

/* One image, many addresses. */
struct ask {
	struct model model;
	struct symbols *symbols;
	struct symbol_options options;
};
void ask_init(struct ask *a, const char *path);
/* An address as the linker gave it; its addr_id. */
uint32_t ask_address(struct ask *a, uint64_t address);
uint32_t ask_return(struct ask *a, uint64_t address);
void ask_resolve(struct ask *a);
void ask_done(struct ask *a);

/* Frame n of an address, innermost first; NULL behind the last. */
const struct symbol_frame *ask_frame(const struct ask *a, uint32_t id, uint32_t n);
const struct symbol_function *ask_function(const struct ask *a, uint32_t id, uint32_t n);
/* Name of the outermost (physical) function. */
const char *ask_name(const struct ask *a, uint32_t id);
/* "inner (file.c:3) < outer (file.c:9)", with base names of files. */
const char *ask_chain(const struct ask *a, uint32_t id);

/* Gives image->path, whatever it is. */
void locate_as_named(void *ctx, const struct model_image *image, struct arena *a,
		     struct located *out);

#endif
