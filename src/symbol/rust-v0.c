/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's v0 mangling to text, with ceilings on depth, steps and output: back references let a short
 * name print as gigabytes. Source: Rust RFC 2603 and the rustc book, "v0 Symbol Format".
 */
#include "symbol/rust-v0.h"

bool v0_fail(struct v0 *v)
{
	v->failed = true;
	v->at = v->in.len;
	return false;
}

static char v0_peek(const struct v0 *v)
{
	return v->at < v->in.len ? v->in.at[v->at] : 0;
}

char v0_next(struct v0 *v)
{
	if (v->at < v->in.len)
		return v->in.at[v->at++];
	v0_fail(v);
	return 0;
}

bool v0_take(struct v0 *v, char c)
{
	if (v0_peek(v) != c || !c)
		return false;
	v->at++;
	return true;
}

void v0_put_n(struct v0 *v, struct str s)
{
	if (v->silent || v->failed)
		return;
	if (v->out->len + s.len > V0_MAX_OUTPUT)
		v0_fail(v);
	else
		buf_add(v->out, s.at, s.len);
}

void v0_put(struct v0 *v, const char *s)
{
	v0_put_n(v, str_of(s));
}

void v0_put_u64(struct v0 *v, uint64_t n)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);

	v0_put_n(v, (struct str){ text, (size_t)len });
}

/* "_" is 0, "0_" is 1, and so on. */
uint64_t v0_base62(struct v0 *v)
{
	uint64_t n = 0;

	if (v0_take(v, '_'))
		return 0;
	for (;;) {
		char c = v0_next(v);
		uint64_t digit;

		if (c == '_')
			return n + 1;
		if (c >= '0' && c <= '9')
			digit = (uint64_t)(c - '0');
		else if (c >= 'a' && c <= 'z')
			digit = (uint64_t)(c - 'a') + 10;
		else if (c >= 'A' && c <= 'Z')
			digit = (uint64_t)(c - 'A') + 36;
		else
			return v0_fail(v);
		if (__builtin_mul_overflow(n, 62, &n) || __builtin_add_overflow(n, digit, &n) ||
		    n == UINT64_MAX)
			return v0_fail(v);
	}
}

static uint64_t optional62(struct v0 *v, char tag)
{
	return v0_take(v, tag) ? v0_base62(v) + 1 : 0;
}

struct str v0_identifier(struct v0 *v, bool *punycode)
{
	struct str name;
	size_t len = 0;

	*punycode = v0_take(v, 'u');
	if (v0_peek(v) < '0' || v0_peek(v) > '9') {
		v0_fail(v);
		return (struct str){ "", 0 };
	}
	if (!v0_take(v, '0'))
		while (v0_peek(v) >= '0' && v0_peek(v) <= '9' && len <= v->in.len)
			len = len * 10 + (size_t)(v0_next(v) - '0');
	v0_take(v, '_');
	if (len > v->in.len - v->at) {
		v0_fail(v);
		return (struct str){ "", 0 };
	}
	name = (struct str){ v->in.at + v->at, len };
	v->at += len;
	return name;
}

void v0_put_identifier(struct v0 *v, struct str name, bool punycode)
{
	if (punycode)
		v0_put(v, "punycode{");
	v0_put_n(v, name);
	if (punycode)
		v0_put(v, "}");
}

/* Enters one level of nesting; each must be left again. */
bool v0_enter(struct v0 *v)
{
	v->depth++;
	if (v->depth > V0_MAX_DEPTH || ++v->steps > V0_MAX_STEPS)
		v0_fail(v);
	return !v->failed;
}

/* The position a back reference names, or the present one where nothing is printed. */
bool v0_follow(struct v0 *v, size_t *back)
{
	size_t start = v->at - 1;
	uint64_t to = v0_base62(v);

	if (v->failed || to >= start)
		return v0_fail(v);
	if (v->silent)
		return false;
	*back = v->at;
	v->at = (size_t)to;
	return true;
}

void v0_print_lifetime(struct v0 *v, uint64_t index)
{
	uint64_t depth;
	char text[2] = { 0 };

	if (!index) {
		v0_put(v, "'_");
		return;
	}
	if (index > v->lifetimes) {
		v0_fail(v);
		return;
	}
	depth = v->lifetimes - index;
	v0_put(v, "'");
	if (depth < 26) {
		text[0] = (char)('a' + (int)depth);
		v0_put(v, text);
	} else {
		v0_put(v, "z");
		v0_put_u64(v, depth - 26 + 1);
	}
}

/* Prints for<'a, 'b> and says how many lifetimes to unbind later. */
uint64_t v0_print_binder(struct v0 *v)
{
	uint64_t bound = optional62(v, 'G');

	if (!bound)
		return 0;
	if (bound >= V0_MAX_STEPS - v->lifetimes) {
		v0_fail(v);
		return 0;
	}
	v0_put(v, "for<");
	for (uint64_t i = 0; i < bound; i++) {
		v->lifetimes++;
		v0_put(v, i ? ", " : "");
		v0_print_lifetime(v, 1);
	}
	v0_put(v, "> ");
	return bound;
}

void v0_print_generic(struct v0 *v)
{
	if (v0_take(v, 'L'))
		v0_print_lifetime(v, v0_base62(v));
	else if (v0_take(v, 'K'))
		v0_print_const(v);
	else
		v0_print_type(v);
}

void v0_print_list(struct v0 *v, void (*item)(struct v0 *))
{
	for (bool first = true; !v->failed && !v0_take(v, 'E'); first = false) {
		v0_put(v, first ? "" : ", ");
		item(v);
	}
}

/* The impl's own path only tells impls apart. */
static void skip_impl_path(struct v0 *v)
{
	v->silent++;
	(void)optional62(v, 's');
	v0_print_path(v, V0_VALUE);
	v->silent--;
}

static void print_nested(struct v0 *v, enum v0_place place)
{
	char space = v0_next(v);
	uint64_t number;
	bool punycode;
	struct str name;

	v0_print_path(v, place);
	number = optional62(v, 's');
	name = v0_identifier(v, &punycode);
	if (space >= 'A' && space <= 'Z') {
		v0_put(v, "::{");
		if (space == 'C')
			v0_put(v, "closure");
		else if (space == 'S')
			v0_put(v, "shim");
		else
			v0_put_n(v, (struct str){ &space, 1 });
		v0_put(v, name.len ? ":" : "");
		v0_put_identifier(v, name, punycode);
		v0_put(v, "#");
		v0_put_u64(v, number);
		v0_put(v, "}");
	} else if (name.len) {
		v0_put(v, "::");
		v0_put_identifier(v, name, punycode);
	}
}

void v0_print_path(struct v0 *v, enum v0_place place)
{
	bool punycode;
	struct str name;
	size_t back;

	if (!v0_enter(v)) {
		v->depth--;
		return;
	}
	switch (v0_next(v)) {
	case 'C':
		(void)optional62(v, 's');
		name = v0_identifier(v, &punycode);
		v0_put_identifier(v, name, punycode);
		break;
	case 'N':
		print_nested(v, place);
		break;
	case 'M':
		skip_impl_path(v);
		v0_put(v, "<");
		v0_print_type(v);
		v0_put(v, ">");
		break;
	case 'X':
		skip_impl_path(v);
		__attribute__((fallthrough));
	case 'Y':
		v0_put(v, "<");
		v0_print_type(v);
		v0_put(v, " as ");
		v0_print_path(v, V0_TYPE);
		v0_put(v, ">");
		break;
	case 'I':
		v0_print_path(v, place);
		v0_put(v, place == V0_VALUE ? "::<" : "<");
		v0_print_list(v, v0_print_generic);
		v0_put(v, ">");
		break;
	case 'B':
		if (v0_follow(v, &back)) {
			v0_print_path(v, place);
			v->at = v->failed ? v->at : back;
		}
		break;
	default:
		v0_fail(v);
	}
	v->depth--;
}

bool demangle_rust_v0(struct str raw, struct buf *out)
{
	struct v0 v = { .out = out };
	const char *suffix;

	if (raw.len < 3 || memcmp(raw.at, "_R", 2) != 0 || raw.at[2] < 'A' || raw.at[2] > 'Z')
		return false;
	suffix = memchr(raw.at, '.', raw.len);
	v.in = (struct str){ raw.at + 2, (suffix ? (size_t)(suffix - raw.at) : raw.len) - 2 };
	v0_print_path(&v, V0_VALUE);
	if (!v.failed && v.at < v.in.len) {
		/* The crate that asked for this instance. */
		v.silent = 1;
		v0_print_path(&v, V0_VALUE);
	}
	if (v.failed || v.at < v.in.len)
		return false;
	v.silent = 0;
	if (suffix) {
		v0_put(&v, " (");
		v0_put_n(&v, (struct str){ suffix, (size_t)(raw.at + raw.len - suffix) });
		v0_put(&v, ")");
	}
	return !v.failed;
}
