/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ and Rust, what is taken off them, and hostile ones. */
#include "build.h"

#include <stdlib.h>

static const char *shown(const char *raw)
{
	arena_auto a = { 0 };

	return build_keep("%s", symbol_display_name(&a, raw));
}

TEST(itanium)
{
	CHECK_EQ_STR(shown("main"), "main");
	CHECK_EQ_STR(shown("_start"), "_start");
	CHECK_EQ_STR(shown("f"), "f");
	CHECK_EQ_STR(shown("_"), "_");
	CHECK_EQ_STR(shown(""), "");
	CHECK_EQ_STR(shown("_Z"), "_Z");
	CHECK_EQ_STR(shown("_Z4workv"), "work()");
	CHECK_EQ_STR(shown("_ZN3foo3barERKi"), "foo::bar(int const&)");
	CHECK_EQ_STR(shown("_ZNSt6vectorIiSaIiEE9push_backEOi"),
		     "std::vector<int, std::allocator<int>>::push_back(int&&)");
	CHECK_EQ_STR(shown("_Z4workv.part.0"), "work() (.part.0)");
	CHECK_EQ_STR(shown("_Z4workv.llvm.1234567"), "work()");
	CHECK_EQ_STR(shown("local.llvm.99"), "local");
	CHECK_EQ_STR(shown("_Zgarbage"), "_Zgarbage");
	CHECK_EQ_STR(shown("pthread_create@@GLIBC_2.34"), "pthread_create");
	CHECK_EQ_STR(shown("_Z4workv@VERS_1"), "work()");
	CHECK_EQ_STR(shown("@odd"), "@odd");
}

TEST(go_and_swift_names_stay)
{
	CHECK_EQ_STR(shown("runtime.mallocgc"), "runtime.mallocgc");
	CHECK_EQ_STR(shown("$s4main3fooyyF"), "$s4main3fooyyF");
	CHECK_EQ_STR(shown("_D3foo3barFZv"), "_D3foo3barFZv");
}

TEST(rust_legacy)
{
	CHECK_EQ_STR(shown("_ZN4core3ptr13drop_in_place17h0123456789abcdefE"),
		     "core::ptr::drop_in_place");
	CHECK_EQ_STR(shown("_ZN45_$LT$T$u20$as$u20$alloc..string..ToString$GT$9to_string"
			   "17h00112233445566aaE"),
		     "<T as alloc::string::ToString>::to_string");
	CHECK_EQ_STR(shown("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test"
			   "$GT$$GT$3bar17h930b740aa94f1d3aE"),
		     "<Test + 'static as foo::Bar<Test>>::bar");
	/* Not a hash: one digit short. */
	CHECK_EQ_STR(shown("_ZN3foo16h0123456789abcdeE"), "foo::h0123456789abcde");
}

TEST(rust_v0)
{
	CHECK_EQ_STR(shown("_RNvC6_123foo3bar"), "123foo::bar");
	CHECK_EQ_STR(shown("_RNvNtCs1234_7mycrate3foo3bar"), "mycrate::foo::bar");
	CHECK_EQ_STR(shown("_RINvCs1_1a3fooReE"), "a::foo::<&str>");
	CHECK_EQ_STR(shown("_RNCNvCs1_1a4main0"), "a::main::{closure#0}");
	CHECK_EQ_STR(shown("_RNCNvCs1_1a4mains_0"), "a::main::{closure#1}");
	CHECK_EQ_STR(shown("_RNvMCs1_1aNtB2_3Foo3bar"), "<a::Foo>::bar");
	CHECK_EQ_STR(shown("_RNvXCs1_1aNtB2_3FooNtB2_5Trait3bar"), "<a::Foo as a::Trait>::bar");
	CHECK_EQ_STR(shown("_RINvC1a1bTlyEKj10_E"), "a::b::<(i32, u64), 16>");
	CHECK_EQ_STR(shown("_RINvC1a1bFUKCmEuE"), "a::b::<unsafe extern \"C\" fn(u32)>");
	CHECK_EQ_STR(shown("_RINvC1a1bAhj4_E"), "a::b::<[u8; 4]>");
	CHECK_EQ_STR(shown("_RINvC1a1bKb1_Kc61_Klna_E"), "a::b::<true, 'a', -10>");
	CHECK_EQ_STR(shown("_RINvC1a1bDNtB2_1TEL_E"), "a::b::<dyn a::T>");
	CHECK_EQ_STR(shown("_RNvC1a1b.llvm.77"), "a::b");
	CHECK_EQ_STR(shown("_RNvC1a1b.cold"), "a::b (.cold)");
	CHECK_EQ_STR(shown("_RNvC1a"), "_RNvC1a");
	CHECK_EQ_STR(shown("_RNvC1a9bcd"), "_RNvC1a9bcd");
	CHECK_EQ_STR(shown("_RNvC1a1bB99_"), "_RNvC1a1bB99_");
}

/* What LLVM's tool says of every Rust symbol of a program, in both manglings. */
static void compare_rust(const char *tool, const char *flags)
{
	buf_auto raw = { 0 };
	buf_auto theirs = { 0 };
	struct str a;
	struct str b;
	struct str raw_line;
	struct str their_line;
	struct err err;
	int compared = 0;

	build_run("rustc -O %s r.rs -o r && nm r | awk '{print $NF}' | grep '^_R' | sort -u >raw "
		  "&& %s <raw >theirs",
		  flags, tool);
	CHECK(os_load_file(build_path("raw"), 1 << 26, &raw, &err));
	CHECK(os_load_file(build_path("theirs"), 1 << 26, &theirs, &err));
	a = (struct str){ buf_str(&raw), raw.len };
	b = (struct str){ buf_str(&theirs), theirs.len };
	while (str_line(&a, &raw_line) && str_line(&b, &their_line)) {
		arena_auto names = { 0 };
		const char *name = build_keep("%.*s", (int)raw_line.len, raw_line.at);
		const char *suffix =
			strstr(build_keep("%.*s", (int)their_line.len, their_line.at), " (.llvm.");
		const char *expected;

		/* What ThinLTO adds says nothing to users: we leave it out. */
		if (suffix)
			their_line.len -= strlen(suffix);
		expected = build_keep("%.*s", (int)their_line.len, their_line.at);
		CHECK_EQ_STR(symbol_display_name(&names, name), expected);
		compared++;
	}
	CHECK_MSG(compared > 20, "only %d names", compared);
}

static const char rust_source[] =
	"use std::collections::BTreeMap;\n"
	"use std::fmt::{Debug, Display};\n"
	"trait Shape { fn area(&self) -> f64; fn name(&self) -> String { \"s\".to_string() } }\n"
	"struct Sq<const N: usize, T>(T);\n"
	"impl<const N: usize, T: Into<f64> + Copy + 'static> Shape for Sq<N, T> {\n"
	"    #[inline(never)] fn area(&self) -> f64 { let x: f64 = self.0.into(); x * N as f64 }\n"
	"}\n"
	"#[inline(never)] fn total(v: &[Box<dyn Shape + Send>]) -> f64\n"
	"{ v.iter().map(|s| s.area()).sum() }\n"
	"#[inline(never)] fn show<'a, T: Debug + ?Sized, F>(t: &'a T, f: F) -> String\n"
	"where F: for<'b> Fn(&'b T, char) -> String { f(t, 'x') }\n"
	"#[inline(never)] fn apply(f: fn(i32, (u8, [u16; 3])) -> i32) -> i32\n"
	"{ f(3, (1, [1, 2, 3])) }\n"
	"#[inline(never)] fn add(a: i32, b: (u8, [u16; 3])) -> i32 { a + b.0 as i32 }\n"
	"#[inline(never)] fn pr<T: Display>(t: T) where T: Send { println!(\"{}\", t) }\n"
	"unsafe impl<const N: usize, T> Send for Sq<N, T> {}\n"
	"fn main() {\n"
	"    let v: Vec<Box<dyn Shape + Send>> = vec![Box::new(Sq::<3, f32>(1.5)),\n"
	"        Box::new(Sq::<4, i32>(2))];\n"
	"    let mut m = BTreeMap::new();\n"
	"    for a in std::env::args() { *m.entry(a).or_insert(0u64) += 1; }\n"
	"    pr(total(&v)); pr(v[0].name()); pr(apply(add));\n"
	"    pr(show(&m, |t, c| format!(\"{:?}{}\", t, c)));\n"
	"    pr(show(\"str\", |t: &str, c| format!(\"{}{}\", t, c)));\n"
	"    std::thread::spawn(move || pr(m.len())).join().unwrap();\n"
	"}\n";

TEST_TIMEOUT(rust_v0_agrees_with_llvm, 120)
{
	const char *tool = build_ask("command -v llvm-cxxfilt-22 llvm-cxxfilt-14 | head -1");

	build_needs("rustc");
	if (!tool[0])
		SKIP("no llvm-cxxfilt here");
	build_file("r.rs", rust_source);
	compare_rust(tool, "-C symbol-mangling-version=v0");
	compare_rust(tool, "-g -C opt-level=0 -C symbol-mangling-version=v0");
}

TEST_TIMEOUT(rust_programs, 120)
{
	static const char *const versions[] = { "v0", "legacy" };

	build_needs("rustc");
	build_file("r.rs", rust_source);
	for (int i = 0; i < 2; i++) {
		const char *path = build_path("r");
		const char *raw;
		struct ask a;

		build_run("rustc -g -O -C symbol-mangling-version=%s %s r.rs -o r", versions[i],
			  i ? "-Z unstable-options 2>/dev/null || rustc -g -O" : "");
		raw = build_ask("nm r | awk '{print $NF}' | grep -E '(^_RNv.*|^_ZN.*)1r5total' | "
				"head -1");
		CHECK(raw[0]);
		ask_init(&a, path);
		ask_address(&a, build_symbol(path, raw) + 1);
		ask_resolve(&a);
		CHECK_EQ_STR(ask_name(&a, 0), "r::total");
		CHECK_HAS(ask_chain(&a, 0), "r::total (r.rs:");
		ask_done(&a);
	}
}

/* Names that would print as gigabytes, or nest without end: raw, and soon. */
TEST(hostile_names_end_soon)
{
	static const char *const deep[] = { "P", "N1aI", "1aI", "F", "T_", "Dp", "A1_", "R", "X" };
	static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
	uint64_t begin = os_now_ns();
	buf_auto b = { 0 };

	/* Each type holds the one before twice: 2^40 words. */
	buf_puts(&b, "_Z1f1AIiiE");
	for (int i = 0; i < 40; i++) {
		char high[2] = { digits[2 * i / 36], 0 };
		char low = digits[2 * i % 36];

		buf_printf(&b, "1AIS%s%c_S%s%c_E", i < 18 ? "" : high, low, i < 18 ? "" : high,
			   low);
	}
	CHECK_EQ_STR(shown(buf_str(&b)), buf_str(&b));
	for (size_t n = 0; n < sizeof(deep) / sizeof(deep[0]); n++) {
		buf_clear(&b);
		buf_puts(&b, "_Z1f");
		while (b.len < 16000)
			buf_puts(&b, deep[n]);
		buf_puts(&b, "i");
		(void)shown(buf_str(&b));
	}
	buf_clear(&b);
	buf_puts(&b, "_Z");
	while (b.len < 1 << 20)
		buf_puts(&b, "1a");
	CHECK_EQ_U64(strlen(shown(buf_str(&b))), 64 << 10);
	buf_clear(&b);
	buf_puts(&b, "_RINvC1a1b");
	for (int i = 0; i < 60; i++)
		buf_puts(&b, "TB8_B8_B8_E");
	buf_puts(&b, "E");
	(void)shown(buf_str(&b));
	buf_clear(&b);
	buf_puts(&b, "_RINvC1a1b");
	while (b.len < 16000)
		buf_puts(&b, "R");
	buf_puts(&b, "lE");
	CHECK_EQ_STR(shown(buf_str(&b)), buf_str(&b));
	CHECK(os_now_ns() - begin < 5000000000ull);
}

TEST(rust_back_references_cannot_explode)
{
	buf_auto b = { 0 };
	uint64_t begin = os_now_ns();
	char last[8] = "l";

	/* Tuples of two references to the tuple before: doubles with each level. */
	buf_puts(&b, "_RINvC1a1b");
	for (int i = 0; i < 40; i++) {
		size_t at = b.len - 2;

		buf_printf(&b, "T%s%sE", last, last);
		snprintf(last, sizeof(last), "B%c%c_",
			 "0123456789abcdefghijklmnopqrstuvwxyzABCDE"
			 "FGHIJKLMNOPQRSTUVWXYZ"[(at - 1) / 62],
			 "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"[(at - 1) %
											  62]);
	}
	buf_puts(&b, "E");
	CHECK_EQ_STR(shown(buf_str(&b)), buf_str(&b));
	CHECK(os_now_ns() - begin < 1000000000ull);
}

TEST(names_at_a_guard_page)
{
	static const char *const names[] = {
		"_ZN4core3fmt17h0123456789abcdefE", "_RNvC1a1b", "_Z4workv",
		"_ZN50_$LT$T$u20$as$u20$",	    "_R",	 "_Z"
	};

	for (size_t n = 0; n < sizeof(names) / sizeof(names[0]); n++)
		for (size_t len = 0; len <= strlen(names[n]); len++) {
			char_auto cut = mem_alloc(len + 1);

			memcpy(cut, names[n], len);
			(void)shown((const char *)test_guard(cut, len + 1));
		}
}
