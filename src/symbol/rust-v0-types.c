/* SPDX-License-Identifier: Apache-2.0 */
/* Types and constants of Rust's v0 mangling. Source: Rust RFC 2603. */
#include "symbol/rust-v0.h"

static const char *basic_type(char c)
{
	static const struct {
		char code;
		const char *name;
	} types[] = {
		{ 'a', "i8" },	{ 'b', "bool" }, { 'c', "char" },  { 'd', "f64" },   { 'e', "str" },
		{ 'f', "f32" }, { 'h', "u8" },	 { 'i', "isize" }, { 'j', "usize" }, { 'l', "i32" },
		{ 'm', "u32" }, { 'n', "i128" }, { 'o', "u128" },  { 'p', "_" },     { 's', "i16" },
		{ 't', "u16" }, { 'u', "()" },	 { 'v', "..." },   { 'x', "i64" },   { 'y', "u64" },
		{ 'z', "!" },
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].code == c)
			return types[i].name;
	return NULL;
}

static void print_reference(struct v0 *v, const char *mutable)
{
	v0_put(v, "&");
	if (v0_take(v, 'L')) {
		uint64_t lifetime = v0_base62(v);

		if (lifetime) {
			v0_print_lifetime(v, lifetime);
			v0_put(v, " ");
		}
	}
	v0_put(v, mutable);
	v0_print_type(v);
}

static void print_function(struct v0 *v)
{
	uint64_t bound = v0_print_binder(v);

	if (v0_take(v, 'U'))
		v0_put(v, "unsafe ");
	if (v0_take(v, 'K')) {
		bool punycode = false;
		struct str abi = { "C", 1 };

		if (!v0_take(v, 'C'))
			abi = v0_identifier(v, &punycode);
		v0_put(v, "extern \"");
		for (size_t i = 0; i < abi.len; i++)
			v0_put_n(v, (struct str){ abi.at[i] == '_' ? "-" : abi.at + i, 1 });
		v0_put(v, "\" ");
	}
	v0_put(v, "fn(");
	v0_print_list(v, v0_print_type);
	v0_put(v, ")");
	if (!v0_take(v, 'u')) {
		v0_put(v, " -> ");
		v0_print_type(v);
	}
	v->lifetimes -= bound;
}

/* A path whose generics stay open, so that associated types can join them. */
static bool print_open_path(struct v0 *v)
{
	bool open = false;
	size_t back;

	if (!v0_enter(v)) {
		v->depth--;
		return false;
	}
	if (v0_take(v, 'B')) {
		if (v0_follow(v, &back)) {
			open = print_open_path(v);
			v->at = v->failed ? v->at : back;
		}
	} else if (v0_take(v, 'I')) {
		v0_print_path(v, V0_TYPE);
		v0_put(v, "<");
		v0_print_list(v, v0_print_generic);
		open = true;
	} else {
		v0_print_path(v, V0_TYPE);
	}
	v->depth--;
	return open;
}

static void print_dyn_trait(struct v0 *v)
{
	bool open = print_open_path(v);

	while (v0_take(v, 'p')) {
		bool punycode;
		struct str name = v0_identifier(v, &punycode);

		v0_put(v, open ? ", " : "<");
		open = true;
		v0_put_identifier(v, name, punycode);
		v0_put(v, " = ");
		v0_print_type(v);
	}
	v0_put(v, open ? ">" : "");
}

static void print_dyn(struct v0 *v)
{
	uint64_t bound;
	uint64_t lifetime;

	v0_put(v, "dyn ");
	bound = v0_print_binder(v);
	for (bool first = true; !v->failed && !v0_take(v, 'E'); first = false) {
		v0_put(v, first ? "" : " + ");
		print_dyn_trait(v);
	}
	v->lifetimes -= bound;
	if (!v0_take(v, 'L')) {
		v0_fail(v);
		return;
	}
	lifetime = v0_base62(v);
	if (lifetime) {
		v0_put(v, " + ");
		v0_print_lifetime(v, lifetime);
	}
}

static void print_tuple(struct v0 *v)
{
	size_t count = 0;

	v0_put(v, "(");
	for (; !v->failed && !v0_take(v, 'E'); count++) {
		v0_put(v, count ? ", " : "");
		v0_print_type(v);
	}
	v0_put(v, count == 1 ? ",)" : ")");
}

static void print_back_type(struct v0 *v)
{
	size_t back;

	if (v0_follow(v, &back)) {
		v0_print_type(v);
		v->at = v->failed ? v->at : back;
	}
}

/* The types that are built of others; false when c starts none of them. */
static bool print_compound(struct v0 *v, char c)
{
	switch (c) {
	case 'A':
	case 'S':
		v0_put(v, "[");
		v0_print_type(v);
		if (c == 'A') {
			v0_put(v, "; ");
			v0_print_const(v);
		}
		v0_put(v, "]");
		return true;
	case 'T':
		print_tuple(v);
		return true;
	case 'R':
	case 'Q':
		print_reference(v, c == 'Q' ? "mut " : "");
		return true;
	case 'P':
	case 'O':
		v0_put(v, c == 'P' ? "*const " : "*mut ");
		v0_print_type(v);
		return true;
	case 'F':
		print_function(v);
		return true;
	case 'D':
		print_dyn(v);
		return true;
	case 'B':
		print_back_type(v);
		return true;
	default:
		return false;
	}
}

void v0_print_type(struct v0 *v)
{
	const char *basic;
	char c;

	if (v0_enter(v)) {
		c = v0_next(v);
		basic = basic_type(c);
		if (basic) {
			v0_put(v, basic);
		} else if (!print_compound(v, c)) {
			v->at -= v->failed ? 0 : 1;
			v0_print_path(v, V0_TYPE);
		}
	}
	v->depth--;
}

/* Hex digits up to '_'. False in *fits when they are more than 64 bits. */
static uint64_t hex_digits(struct v0 *v, struct str *digits, bool *fits)
{
	uint64_t n = 0;
	char c;

	digits->at = v->in.at + v->at;
	while ((c = v0_next(v)) != '_' && !v->failed) {
		if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
			return v0_fail(v);
		n = n << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	}
	digits->len = v->failed ? 0 : (size_t)(v->in.at + v->at - 1 - digits->at);
	*fits = digits->len <= 16;
	return n;
}

static void print_char(struct v0 *v, uint64_t n)
{
	char text[16];
	int len;

	if (n >= 0x20 && n < 0x7f)
		len = snprintf(text, sizeof(text), n == '\'' || n == '\\' ? "'\\%c'" : "'%c'",
			       (int)n);
	else
		len = snprintf(text, sizeof(text), "'\\u{%llx}'", (unsigned long long)n);
	v0_put_n(v, (struct str){ text, (size_t)len });
}

static void print_const_value(struct v0 *v, char type)
{
	struct str digits = { "", 0 };
	bool fits = true;
	bool negative = strchr("axsnli", type) && v0_take(v, 'n');
	uint64_t n = hex_digits(v, &digits, &fits);

	if (v->failed)
		return;
	if (type == 'b') {
		v0_put(v, n ? "true" : "false");
	} else if (type == 'c') {
		print_char(v, n & 0xffffffff);
	} else {
		v0_put(v, negative ? "-" : "");
		if (fits) {
			v0_put_u64(v, n);
		} else {
			v0_put(v, "0x");
			v0_put_n(v, digits);
		}
	}
}

void v0_print_const(struct v0 *v)
{
	size_t back;
	char c;

	if (v0_enter(v)) {
		c = v0_next(v);
		if (c == 'p') {
			v0_put(v, "_");
		} else if (c == 'B') {
			if (v0_follow(v, &back)) {
				v0_print_const(v);
				v->at = v->failed ? v->at : back;
			}
		} else if (c && strchr("abchijlmnostxy", c)) {
			print_const_value(v, c);
		} else {
			v0_fail(v);
		}
	}
	v->depth--;
}
