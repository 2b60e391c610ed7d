/* SPDX-License-Identifier: Apache-2.0 */
/* Names of C++ and Rust functions, made shorter. */
#include "base/name.h"

#include "base/os.h"

#include "test.h"

static void check_bare(const char *name, const char *want)
{
	struct str bare = name_bare(str_of(name));

	CHECK_MSG(str_eq(bare, want), "%s: %.*s", name, (int)bare.len, bare.at);
}

TEST(name_without_parameters)
{
	check_bare("main", "main");
	check_bare("shop::bake(long)", "shop::bake");
	check_bare("operator new(unsigned long)", "operator new");
	check_bare("mill<int (*)(long)>::grind<3>(unsigned long) const",
		   "mill<int (*)(long)>::grind<3>");
	check_bare("shop::(anonymous namespace)::sieve(unsigned long)",
		   "shop::(anonymous namespace)::sieve");
	check_bare("(anonymous namespace)::x", "(anonymous namespace)::x");
	check_bare("f(long)::'lambda'(int)::operator()(int) const",
		   "f(long)::'lambda'(int)::operator()");
	check_bare("<T as core::fmt::Debug>::fmt", "<T as core::fmt::Debug>::fmt");
	check_bare("f(int) const (.constprop.0)", "f");
	check_bare("", "");
}

static void check_short(const char *name, size_t width, const char *want)
{
	buf_auto out = { 0 };

	name_shorten(&out, str_of(name), width, "..");
	CHECK_EQ_STR(buf_str(&out), want);
}

TEST(name_shortened_as_far_as_needed)
{
	static const char name[] = "mill<unsigned long>::grind<3>(unsigned long) const";

	check_short(name, 60, name);
	check_short(name, 40, "mill<unsigned long>::grind<3>(..) const");
	check_short(name, 30, "mill<..>::grind<3>(..) const");
	check_short(name, 5, "mill<..>::grind<3>(..) const");
	check_short("mix<int>(long) (.cold)", 20, "mix<int>(..) (.cold)");
	check_short("next<int>(node*) (inlined)", 23, "next<int>(..) (inlined)");
}
