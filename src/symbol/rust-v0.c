/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rust's v0 mangling to text, with ceilings on depth, steps and output: back references let a short
 * name print as gigabytes. Source: Rust RFC 2603 and the rustc book, "v0 Symbol Format".
 */
#include "symbol/parts.h"

enum { V0_MAX_DEPTH = 200, V0_MAX_STEPS = 1 << 16, V0_MAX_OUTPUT = 64 << 10 };

struct v0 {
	struct str in; /* behind "_R"; back references count from here */
	size_t at;
	struct buf *out;
	unsigned depth, steps;
	unsigned silent; /* > 0: parse without printing */
	uint64_t lifetimes; /* bound by the binders around */
	bool failed;
};

enum v0_place { V0_VALUE, V0_TYPE }; /* generics are ::<> in the one and <> in the other */

static void print_type(struct v0 *v);
static void print_path(struct v0 *v, enum v0_place place);
static void print_const(struct v0 *v);

static bool fail(struct v0 *v)
{
	v->failed = true;
	v->at = v->in.len;
	return false;
}

static char peek(const struct v0 *v)
{
	return v->at < v->in.len ? v->in.at[v->at] : 0;
}

static char next(struct v0 *v)
{
	if (v->at < v->in.len)
		return v->in.at[v->at++];
	fail(v);
	return 0;
}

static bool take(struct v0 *v, char c)
{
	if (peek(v) != c || !c)
		return false;
	v->at++;
	return true;
}

static void put_n(struct v0 *v, struct str s)
{
	if (v->silent || v->failed)
		return;
	if (v->out->len + s.len > V0_MAX_OUTPUT)
		fail(v);
	else
		buf_add(v->out, s.at, s.len);
}

static void put(struct v0 *v, const char *s)
{
	put_n(v, str_of(s));
}

static void put_u64(struct v0 *v, uint64_t n)
{
	char text[24];
	int len = snprintf(text, sizeof(text), "%llu", (unsigned long long)n);

	put_n(v, (struct str){text, (size_t)len});
}

/* "_" is 0, "0_" is 1, and so on. */
static uint64_t base62(struct v0 *v)
{
	uint64_t n = 0;

	if (take(v, '_'))
		return 0;
	for (;;) {
		char c = next(v);
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
			return fail(v);
		if (__builtin_mul_overflow(n, 62, &n) || __builtin_add_overflow(n, digit, &n) ||
		    n == UINT64_MAX)
			return fail(v);
	}
}

static uint64_t optional62(struct v0 *v, char tag)
{
	return take(v, tag) ? base62(v) + 1 : 0;
}

static struct str identifier(struct v0 *v, bool *punycode)
{
	struct str name;
	size_t len = 0;

	*punycode = take(v, 'u');
	if (peek(v) < '0' || peek(v) > '9') {
		fail(v);
		return (struct str){"", 0};
	}
	if (!take(v, '0'))
		while (peek(v) >= '0' && peek(v) <= '9' && len <= v->in.len)
			len = len * 10 + (size_t)(next(v) - '0');
	take(v, '_');
	if (len > v->in.len - v->at) {
		fail(v);
		return (struct str){"", 0};
	}
	name = (struct str){v->in.at + v->at, len};
	v->at += len;
	return name;
}

static void put_identifier(struct v0 *v, struct str name, bool punycode)
{
	if (punycode)
		put(v, "punycode{");
	put_n(v, name);
	if (punycode)
		put(v, "}");
}

/* Enters one level of nesting; each must be left again. */
static bool enter(struct v0 *v)
{
	v->depth++;
	if (v->depth > V0_MAX_DEPTH || ++v->steps > V0_MAX_STEPS)
		fail(v);
	return !v->failed;
}

/* The position a back reference names, or the present one where nothing is printed. */
static bool follow(struct v0 *v, size_t *back)
{
	size_t start = v->at - 1;
	uint64_t to = base62(v);

	if (v->failed || to >= start)
		return fail(v);
	if (v->silent)
		return false;
	*back = v->at;
	v->at = (size_t)to;
	return true;
}

static void print_lifetime(struct v0 *v, uint64_t index)
{
	uint64_t depth;
	char text[2] = {0};

	if (!index) {
		put(v, "'_");
		return;
	}
	if (index > v->lifetimes) {
		fail(v);
		return;
	}
	depth = v->lifetimes - index;
	put(v, "'");
	if (depth < 26) {
		text[0] = (char)('a' + (int)depth);
		put(v, text);
	} else {
		put(v, "z");
		put_u64(v, depth - 26 + 1);
	}
}

/* Prints for<'a, 'b> and says how many lifetimes to unbind later. */
static uint64_t print_binder(struct v0 *v)
{
	uint64_t bound = optional62(v, 'G');

	if (!bound)
		return 0;
	if (bound >= V0_MAX_STEPS - v->lifetimes) {
		fail(v);
		return 0;
	}
	put(v, "for<");
	for (uint64_t i = 0; i < bound; i++) {
		v->lifetimes++;
		put(v, i ? ", " : "");
		print_lifetime(v, 1);
	}
	put(v, "> ");
	return bound;
}

static void print_generic(struct v0 *v)
{
	if (take(v, 'L'))
		print_lifetime(v, base62(v));
	else if (take(v, 'K'))
		print_const(v);
	else
		print_type(v);
}

static void print_list(struct v0 *v, void (*item)(struct v0 *))
{
	for (bool first = true; !v->failed && !take(v, 'E'); first = false) {
		put(v, first ? "" : ", ");
		item(v);
	}
}

/* The impl's own path only tells impls apart. */
static void skip_impl_path(struct v0 *v)
{
	v->silent++;
	(void)optional62(v, 's');
	print_path(v, V0_VALUE);
	v->silent--;
}

static void print_nested(struct v0 *v, enum v0_place place)
{
	char space = next(v);
	uint64_t number;
	bool punycode;
	struct str name;

	print_path(v, place);
	number = optional62(v, 's');
	name = identifier(v, &punycode);
	if (space >= 'A' && space <= 'Z') {
		put(v, "::{");
		if (space == 'C')
			put(v, "closure");
		else if (space == 'S')
			put(v, "shim");
		else
			put_n(v, (struct str){&space, 1});
		put(v, name.len ? ":" : "");
		put_identifier(v, name, punycode);
		put(v, "#");
		put_u64(v, number);
		put(v, "}");
	} else if (name.len) {
		put(v, "::");
		put_identifier(v, name, punycode);
	}
}

static void print_path(struct v0 *v, enum v0_place place)
{
	bool punycode;
	struct str name;
	size_t back;

	if (!enter(v)) {
		v->depth--;
		return;
	}
	switch (next(v)) {
	case 'C':
		(void)optional62(v, 's');
		name = identifier(v, &punycode);
		put_identifier(v, name, punycode);
		break;
	case 'N':
		print_nested(v, place);
		break;
	case 'M':
		skip_impl_path(v);
		put(v, "<");
		print_type(v);
		put(v, ">");
		break;
	case 'X':
		skip_impl_path(v);
		/* fall through */
	case 'Y':
		put(v, "<");
		print_type(v);
		put(v, " as ");
		print_path(v, V0_TYPE);
		put(v, ">");
		break;
	case 'I':
		print_path(v, place);
		put(v, place == V0_VALUE ? "::<" : "<");
		print_list(v, print_generic);
		put(v, ">");
		break;
	case 'B':
		if (follow(v, &back)) {
			print_path(v, place);
			v->at = v->failed ? v->at : back;
		}
		break;
	default:
		fail(v);
	}
	v->depth--;
}

static const char *basic_type(char c)
{
	static const struct {
		char code;
		const char *name;
	} types[] = {
		{'a', "i8"},   {'b', "bool"}, {'c', "char"}, {'d', "f64"},   {'e', "str"},
		{'f', "f32"},  {'h', "u8"},   {'i', "isize"}, {'j', "usize"}, {'l', "i32"},
		{'m', "u32"},  {'n', "i128"}, {'o', "u128"}, {'p', "_"},     {'s', "i16"},
		{'t', "u16"},  {'u', "()"},   {'v', "..."},  {'x', "i64"},   {'y', "u64"},
		{'z', "!"},
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (types[i].code == c)
			return types[i].name;
	return NULL;
}

static void print_reference(struct v0 *v, const char *mutable)
{
	put(v, "&");
	if (take(v, 'L')) {
		uint64_t lifetime = base62(v);

		if (lifetime) {
			print_lifetime(v, lifetime);
			put(v, " ");
		}
	}
	put(v, mutable);
	print_type(v);
}

static void print_function(struct v0 *v)
{
	uint64_t bound = print_binder(v);

	if (take(v, 'U'))
		put(v, "unsafe ");
	if (take(v, 'K')) {
		bool punycode = false;
		struct str abi = {"C", 1};

		if (!take(v, 'C'))
			abi = identifier(v, &punycode);
		put(v, "extern \"");
		for (size_t i = 0; i < abi.len; i++)
			put_n(v, (struct str){abi.at[i] == '_' ? "-" : abi.at + i, 1});
		put(v, "\" ");
	}
	put(v, "fn(");
	print_list(v, print_type);
	put(v, ")");
	if (!take(v, 'u')) {
		put(v, " -> ");
		print_type(v);
	}
	v->lifetimes -= bound;
}

/* A path whose generics stay open, so that associated types can join them. */
static bool print_open_path(struct v0 *v)
{
	bool open = false;
	size_t back;

	if (!enter(v)) {
		v->depth--;
		return false;
	}
	if (take(v, 'B')) {
		if (follow(v, &back)) {
			open = print_open_path(v);
			v->at = v->failed ? v->at : back;
		}
	} else if (take(v, 'I')) {
		print_path(v, V0_TYPE);
		put(v, "<");
		print_list(v, print_generic);
		open = true;
	} else {
		print_path(v, V0_TYPE);
	}
	v->depth--;
	return open;
}

static void print_dyn_trait(struct v0 *v)
{
	bool open = print_open_path(v);

	while (take(v, 'p')) {
		bool punycode;
		struct str name = identifier(v, &punycode);

		put(v, open ? ", " : "<");
		open = true;
		put_identifier(v, name, punycode);
		put(v, " = ");
		print_type(v);
	}
	put(v, open ? ">" : "");
}

static void print_dyn(struct v0 *v)
{
	uint64_t bound;
	uint64_t lifetime;

	put(v, "dyn ");
	bound = print_binder(v);
	for (bool first = true; !v->failed && !take(v, 'E'); first = false) {
		put(v, first ? "" : " + ");
		print_dyn_trait(v);
	}
	v->lifetimes -= bound;
	if (!take(v, 'L')) {
		fail(v);
		return;
	}
	lifetime = base62(v);
	if (lifetime) {
		put(v, " + ");
		print_lifetime(v, lifetime);
	}
}

static void print_tuple(struct v0 *v)
{
	size_t count = 0;

	put(v, "(");
	for (; !v->failed && !take(v, 'E'); count++) {
		put(v, count ? ", " : "");
		print_type(v);
	}
	put(v, count == 1 ? ",)" : ")");
}

static void print_back_type(struct v0 *v)
{
	size_t back;

	if (follow(v, &back)) {
		print_type(v);
		v->at = v->failed ? v->at : back;
	}
}

/* The types that are built of others; false when c starts none of them. */
static bool print_compound(struct v0 *v, char c)
{
	switch (c) {
	case 'A':
	case 'S':
		put(v, "[");
		print_type(v);
		if (c == 'A') {
			put(v, "; ");
			print_const(v);
		}
		put(v, "]");
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
		put(v, c == 'P' ? "*const " : "*mut ");
		print_type(v);
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

static void print_type(struct v0 *v)
{
	const char *basic;
	char c;

	if (enter(v)) {
		c = next(v);
		basic = basic_type(c);
		if (basic) {
			put(v, basic);
		} else if (!print_compound(v, c)) {
			v->at -= v->failed ? 0 : 1;
			print_path(v, V0_TYPE);
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
	while ((c = next(v)) != '_' && !v->failed) {
		if ((c < '0' || c > '9') && (c < 'a' || c > 'f'))
			return fail(v);
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
	put_n(v, (struct str){text, (size_t)len});
}

static void print_const_value(struct v0 *v, char type)
{
	struct str digits = {"", 0};
	bool fits = true;
	bool negative = strchr("axsnli", type) && take(v, 'n');
	uint64_t n = hex_digits(v, &digits, &fits);

	if (v->failed)
		return;
	if (type == 'b') {
		put(v, n ? "true" : "false");
	} else if (type == 'c') {
		print_char(v, n & 0xffffffff);
	} else {
		put(v, negative ? "-" : "");
		if (fits) {
			put_u64(v, n);
		} else {
			put(v, "0x");
			put_n(v, digits);
		}
	}
}

static void print_const(struct v0 *v)
{
	size_t back;
	char c;

	if (enter(v)) {
		c = next(v);
		if (c == 'p') {
			put(v, "_");
		} else if (c == 'B') {
			if (follow(v, &back)) {
				print_const(v);
				v->at = v->failed ? v->at : back;
			}
		} else if (c && strchr("abchijlmnostxy", c)) {
			print_const_value(v, c);
		} else {
			fail(v);
		}
	}
	v->depth--;
}

bool demangle_rust_v0(struct str raw, struct buf *out)
{
	struct v0 v = {.out = out};
	const char *suffix;

	if (raw.len < 3 || memcmp(raw.at, "_R", 2) != 0 || raw.at[2] < 'A' || raw.at[2] > 'Z')
		return false;
	suffix = memchr(raw.at, '.', raw.len);
	v.in = (struct str){raw.at + 2, (suffix ? (size_t)(suffix - raw.at) : raw.len) - 2};
	print_path(&v, V0_VALUE);
	if (!v.failed && v.at < v.in.len) {
		/* The crate that asked for this instance. */
		v.silent = 1;
		print_path(&v, V0_VALUE);
	}
	if (v.failed || v.at < v.in.len)
		return false;
	v.silent = 0;
	if (suffix) {
		put(&v, " (");
		put_n(&v, (struct str){suffix, (size_t)(raw.at + raw.len - suffix)});
		put(&v, ")");
	}
	return !v.failed;
}
