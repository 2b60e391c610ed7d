/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a run by name, and the samples in their code. Strings are raw bytes of the target. */
#ifndef CULPRIT_STORE_FUNCTIONS_H
#define CULPRIT_STORE_FUNCTIONS_H

#include "analyse/analyse.h"
#include "base/err.h"
#include "base/mem.h"

struct store;

struct store_function {
	uint32_t id;
	const char *kind;	     /* "function", "inline", "unknown", "hidden" */
	const char *name, *raw_name; /* raw_name: "" when there is none */
	const char *file;	     /* where it is declared, "" unknown */
	uint32_t line;		     /* 0 unknown */
	/* "" and MODEL_NONE where the address is in no image. image: the last part of the path. */
	uint32_t image_id;
	const char *image, *image_path, *image_kind, *image_key, *image_why;
	const char *image_build_id;
	uint64_t address, size;
	struct hot_count self, total; /* as v1_functions has them */
	/* In its machine code, or in its inlined copies; with all that is inlined there. */
	struct hot_count code;
};
struct store_functions {
	VEC(struct store_function) list; /* hottest first */
	uint64_t weight;		 /* of all samples: the denominator of shares */
	const char *report; /* the command that shows them all, for errors; the caller may set it */
	VEC(struct store_place {
		uint32_t function; /* id */
		uint64_t address;
	}) unnamed; /* the sampled addresses of functions of kind "unknown" */
	struct arena arena;
};
ERR_CHECKED bool store_functions_load(struct store_functions *out, struct store *s,
				      struct err *err);
void store_functions_done(struct store_functions *f);

/* What a function's samples are worth: of its code or, where that is more, of itself. */
struct hot_count store_function_count(const struct store_function *f);
/* Percent of all; 0 when nothing has weight. */
double store_function_pct(const struct store_functions *all, uint64_t weight);

/* How far around an address that no function covers its samples are taken, either way. */
enum { STORE_AROUND_BYTES = 256 };
struct store_found {
	const struct store_function *function;
	bool is_part;	  /* no function is called so; it is the only one that contains the words */
	bool has_address; /* it is the unnamed code around the address */
	uint64_t address;
};
/*
 * The function that words name: its name, that without parameters and return type, its raw name, its
 * name without template arguments, or as reports shorten it, an address in it or, where no function is, near its samples (0x...),
 * or a part of a single name. Where names are not enough IMAGE:NAME, FILE:NAME or FILE:LINE:NAME,
 * with paths or their last parts. ERR_NOT_FOUND with id NO_SUCH_FUNCTION or NO_OWN_SAMPLES, ERR_USAGE
 * with id AMBIGUOUS_FUNCTION; all say what there is instead, and each spelling that
 * AMBIGUOUS_FUNCTION offers leads to its function.
 */
ERR_CHECKED bool store_function_find(const struct store_functions *all, const char *words,
				     struct store_found *out, struct err *err);
/*
 * The physical functions that hold the inlined copies of a function, with what is inlined into
 * those, heaviest first.
 */
struct store_host {
	uint32_t function; /* id */
	struct hot_count count;
};
struct store_hosts {
	VEC(struct store_host) list;
};
ERR_CHECKED bool store_function_hosts(struct store_hosts *out, struct store *s, uint32_t function,
				      struct err *err);

/* Samples of a function's code by address, rising; strings in the arena. */
struct store_samples {
	VEC(struct annotate_sample) list;
	struct arena arena;
};
ERR_CHECKED bool store_function_samples(struct store_samples *out, struct store *s,
					uint32_t function, struct err *err);
void store_samples_done(struct store_samples *c);

#endif
