/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The reader of Rust's v0 names: one state, printed to while it is parsed. All of these do nothing
 * once failed is set, which every caller tests at its end.
 */
#ifndef CULPRIT_SYMBOL_RUST_V0_H
#define CULPRIT_SYMBOL_RUST_V0_H

#include "symbol/parts.h"

enum { V0_MAX_DEPTH = 200, V0_MAX_STEPS = 1 << 16, V0_MAX_OUTPUT = 64 << 10 };

struct v0 {
	struct str in; /* behind "_R"; back references count from here */
	size_t at;
	struct buf *out;
	unsigned depth, steps;
	unsigned silent;    /* > 0: parse without printing */
	uint64_t lifetimes; /* bound by the binders around */
	bool failed;
};

enum v0_place { V0_VALUE, V0_TYPE }; /* generics are ::<> in the one and <> in the other */

/* rust-v0.c: characters, numbers, names, paths */
bool v0_fail(struct v0 *v);	    /* false */
char v0_next(struct v0 *v);	    /* 0 at the end, which is a failure */
bool v0_take(struct v0 *v, char c); /* true and past it when c comes next */
void v0_put(struct v0 *v, const char *s);
void v0_put_n(struct v0 *v, struct str s);
void v0_put_u64(struct v0 *v, uint64_t n);
/* "_" is 0, "0_" is 1, and so on. */
uint64_t v0_base62(struct v0 *v);
struct str v0_identifier(struct v0 *v, bool *punycode);
void v0_put_identifier(struct v0 *v, struct str name, bool punycode);
/* Enters one level of nesting; depth-- leaves it, also when this was false. */
bool v0_enter(struct v0 *v);
/*
 * Goes to the place that a back reference names; *back is where to go on. False when it leads
 * nowhere, or when nothing is printed and there is no need to go.
 */
bool v0_follow(struct v0 *v, size_t *back);
void v0_print_lifetime(struct v0 *v, uint64_t index);
/* Prints for<'a, 'b> and says how many lifetimes to unbind later. */
uint64_t v0_print_binder(struct v0 *v);
void v0_print_generic(struct v0 *v);
void v0_print_list(struct v0 *v, void (*item)(struct v0 *));
void v0_print_path(struct v0 *v, enum v0_place place);

/* rust-v0-types.c */
void v0_print_type(struct v0 *v);
void v0_print_const(struct v0 *v);

#endif
