/* SPDX-License-Identifier: Apache-2.0 */
/* Raw names to what users see: C++ and Rust demangled, what compilers and linkers added taken off. */
#include "symbol/parts.h"

#include <stdlib.h>

enum {
	DEMANGLE_MAX_INPUT = 16 << 10,
	DEMANGLE_MAX_OUTPUT = 64 << 10,
	RUST_HASH_DIGITS = 16,
};

/* Rust's old mangling is Itanium with a hash as the last part: "::h" and 16 digits. */
static bool has_rust_hash(struct str s)
{
	const char *hash = s.at + s.len - RUST_HASH_DIGITS;

	if (s.len < RUST_HASH_DIGITS + 4 || memcmp(hash - 3, "::h", 3) != 0)
		return false;
	for (int i = 0; i < RUST_HASH_DIGITS; i++)
		if (!(hash[i] >= '0' && hash[i] <= '9') && !(hash[i] >= 'a' && hash[i] <= 'f'))
			return false;
	return true;
}

/* One "$...$" escape at the start of s; its length, or 0 when it is none. */
static size_t rust_escape(struct str s, struct buf *out)
{
	static const struct {
		const char *code;
		char text;
	} escapes[] = {
		{ "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
		{ "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' },
	};
	const char *end;
	uint64_t code;

	for (size_t i = 0; i < sizeof(escapes) / sizeof(escapes[0]); i++) {
		size_t len = strlen(escapes[i].code);

		if (s.len >= len && !memcmp(s.at, escapes[i].code, len)) {
			buf_add(out, &escapes[i].text, 1);
			return len;
		}
	}
	end = s.len > 3 && s.at[1] == 'u' ? memchr(s.at + 2, '$', s.len - 2) : NULL;
	if (!end || !str_hex((struct str){ s.at + 2, (size_t)(end - s.at) - 2 }, &code) ||
	    code < 0x20 || code > 0x7e)
		return 0;
	buf_add(out, &(char){ (char)code }, 1);
	return (size_t)(end - s.at) + 1;
}

/* Names of parts may not start with '$', so rustc puts '_' before; ".." stands for "::". */
static void rust_legacy(struct str s, struct buf *out)
{
	for (size_t i = 0; i < s.len;) {
		struct str rest = { s.at + i, s.len - i };
		size_t used = 0;

		if (rest.len > 1 && rest.at[0] == '_' && rest.at[1] == '$' &&
		    (i == 0 || s.at[i - 1] == ':')) {
			i++;
			continue;
		}
		if (rest.at[0] == '$')
			used = rust_escape(rest, out);
		if (!used && rest.len > 1 && rest.at[0] == '.' && rest.at[1] == '.') {
			buf_puts(out, "::");
			used = 2;
		}
		if (!used) {
			buf_add(out, rest.at, 1);
			used = 1;
		}
		i += used;
	}
}

/* ThinLTO gives locals that it had to export a suffix: ".llvm." and a number. */
static size_t without_llvm_suffix(struct str s)
{
	size_t i = s.len;

	while (i && s.at[i - 1] >= '0' && s.at[i - 1] <= '9')
		i--;
	if (i < s.len && i > 6 && !memcmp(s.at + i - 6, ".llvm.", 6))
		return i - 6;
	return s.len;
}

static const char *demangle_cxx(struct arena *a, const char *raw, size_t len)
{
	char *text = demangle_itanium(raw, len);
	struct str s = str_of(text ? text : "");
	const char *out = NULL;
	buf_auto legacy = { 0 };

	if (text && s.len && s.len <= DEMANGLE_MAX_OUTPUT) {
		if (has_rust_hash(s)) {
			s.len -= RUST_HASH_DIGITS + 3;
			rust_legacy(s, &legacy);
			s = (struct str){ buf_str(&legacy), legacy.len };
		}
		out = arena_strndup(a, s.at, s.len);
	}
	free(text);
	return out;
}

const char *symbol_demangle(struct arena *a, const char *raw)
{
	size_t len = strlen(raw);
	buf_auto text = { 0 };
	const char *out = NULL;
	char_auto copy = NULL;

	/* Only what is mangled by its prefix: "f" alone would come out as float. */
	if (len > DEMANGLE_MAX_INPUT || raw[0] != '_' || len < 3)
		return NULL;
	len = without_llvm_suffix((struct str){ raw, len });
	if (raw[1] == 'R')
		return demangle_rust_v0((struct str){ raw, len }, &text) ?
			       arena_strndup(a, buf_str(&text), text.len) :
			       NULL;
	if (!str_starts(raw, "_Z") && !str_starts(raw, "__Z"))
		return NULL;
	copy = mem_alloc(len + 1);
	memcpy(copy, raw, len);
	out = demangle_cxx(a, copy, len);
	return out;
}

const char *symbol_display_name(struct arena *a, const char *raw)
{
	const char *version = strchr(raw, '@');
	size_t len = version && version != raw ? (size_t)(version - raw) : strlen(raw);
	const char *base;
	const char *name;

	/* "name@@VERSION" in a symbol table; the stub names "name@plt" are ours and are made later. */
	if (len > DEMANGLE_MAX_OUTPUT)
		len = DEMANGLE_MAX_OUTPUT;
	len = without_llvm_suffix((struct str){ raw, len });
	base = arena_strndup(a, raw, len);
	name = symbol_demangle(a, base);
	return name ? name : base;
}
