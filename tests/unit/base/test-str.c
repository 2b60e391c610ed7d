/* SPDX-License-Identifier: Apache-2.0 */
/* Views, numbers at their limits, escaping, columns. */
#include "base/str.h"

#include <locale.h>

#include "base/os.h"
#include "test.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

TEST(str_parts)
{
	struct str rest = str_of(" a,b,,c "), part;

	rest = str_trim(rest);
	CHECK(str_eq(rest, "a,b,,c"));
	CHECK(str_cut(&rest, ',', &part) && str_eq(part, "a"));
	CHECK(str_cut(&rest, ',', &part) && str_eq(part, "b"));
	CHECK(str_cut(&rest, ',', &part) && str_eq(part, ""));
	CHECK(str_cut(&rest, ',', &part) && str_eq(part, "c"));
	CHECK(!str_cut(&rest, ',', &part));
	rest = str_of("one\n\ntwo");
	CHECK(str_line(&rest, &part) && str_eq(part, "one"));
	CHECK(str_line(&rest, &part) && str_eq(part, ""));
	CHECK(str_line(&rest, &part) && str_eq(part, "two"));
	CHECK(!str_line(&rest, &part));
	rest = str_of(" \t x\ty  z \n");
	CHECK(str_word(&rest, &part) && str_eq(part, "x"));
	CHECK(str_word(&rest, &part) && str_eq(part, "y"));
	CHECK(str_word(&rest, &part) && str_eq(part, "z"));
	CHECK(!str_word(&rest, &part));
	CHECK(str_trim(str_of(" \r\n\t ")).len == 0);
	CHECK(str_eq((struct str){ NULL, 0 }, ""));
	CHECK(!str_eq((struct str){ NULL, 0 }, "x"));
	CHECK(!str_eq(str_of("ab"), "abc") && !str_eq(str_of("abc"), "ab"));
}

TEST(str_ends_and_starts)
{
	CHECK(str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("ab", "abc"));
	CHECK(str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("bc", "abc"));
}

TEST(str_u64_limits)
{
	static const struct {
		const char *text;
		bool ok;
		uint64_t value;
	} all[] = {
		{ "0", true, 0 },
		{ "007", true, 7 },
		{ "18446744073709551615", true, UINT64_MAX },
		{ "18446744073709551616", false, 0 },
		{ "99999999999999999999", false, 0 },
		{ "0x10", true, 16 },
		{ "0Xff", true, 255 },
		{ "0xffffffffffffffff", true, UINT64_MAX },
		{ "0x10000000000000000", false, 0 },
		{ "0x", false, 0 },
		{ "", false, 0 },
		{ "-1", false, 0 },
		{ "+1", false, 0 },
		{ " 1", false, 0 },
		{ "1 ", false, 0 },
		{ "1k", false, 0 },
		{ "a", false, 0 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		uint64_t v = 42;

		CHECK_MSG(str_u64(str_of(all[i].text), &v) == all[i].ok, "%s", all[i].text);
		CHECK_EQ_U64(v, all[i].ok ? all[i].value : 42);
	}
}

TEST(str_i64_limits)
{
	static const struct {
		const char *text;
		bool ok;
		int64_t value;
	} all[] = {
		{ "-9223372036854775808", true, INT64_MIN },
		{ "-9223372036854775809", false, 0 },
		{ "9223372036854775807", true, INT64_MAX },
		{ "9223372036854775808", false, 0 },
		{ "-0", true, 0 },
		{ "-0x10", true, -16 },
		{ "-", false, 0 },
		{ "--1", false, 0 },
		{ "", false, 0 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		int64_t v = 42;

		CHECK_MSG(str_i64(str_of(all[i].text), &v) == all[i].ok, "%s", all[i].text);
		CHECK_EQ_INT(v, all[i].ok ? all[i].value : 42);
	}
}

TEST(str_hex_digits)
{
	uint64_t v = 42;

	CHECK(str_hex(str_of("fFfF"), &v) && v == 0xffff);
	CHECK(str_hex(str_of("ffffffffffffffff"), &v) && v == UINT64_MAX);
	CHECK(!str_hex(str_of("10000000000000000"), &v));
	CHECK(!str_hex(str_of("0x1"), &v) && !str_hex(str_of(""), &v) && !str_hex(str_of("g"), &v));
}

TEST(str_hex_as_bytes)
{
	uint8_t out[4] = { 1, 2, 3, 4 };

	CHECK(str_hex_bytes(str_of("00fF10aB"), out, 4));
	CHECK(!memcmp(out, "\x00\xff\x10\xab", 4));
	CHECK(str_hex_bytes(str_of("7f"), out, 1));
	CHECK(!memcmp(out, "\x7f\xff\x10\xab", 4));
	CHECK(str_hex_bytes(str_of(""), out, 0));
	/* Too few, too many, an odd one, no digits: nothing is written. */
	CHECK(!str_hex_bytes(str_of("00112"), out, 2) && !str_hex_bytes(str_of("001"), out, 2));
	CHECK(!str_hex_bytes(str_of("001122"), out, 4) && !str_hex_bytes(str_of("00"), out, 0));
	CHECK(!str_hex_bytes(str_of("0011223g"), out, 4));
	CHECK(!str_hex_bytes(str_of("0x112233"), out, 4) && !str_hex_bytes(str_of("+1-1"), out, 2));
	CHECK(!str_hex_bytes(str_of("1"), out, SIZE_MAX / 2 + 1));
	CHECK(!memcmp(out, "\x7f\xff\x10\xab", 4));
}

TEST(str_double_whole_text)
{
	static const char *const bad[] = { "",	    " 1", "1 ",	   "\v1", "nan",      "inf", "-inf",
					   "1.2.3", "x",  "1e999", "+-5", "infinity", "1,5", "--1" };
	double v = 42;

	CHECK(str_double(str_of("1.5"), &v) && v > 1.49 && v < 1.51);
	CHECK(str_double(str_of("-2e3"), &v) && v < -1999 && v > -2001);
	CHECK(str_double(str_of(".5"), &v) && v > 0.49 && v < 0.51);
	CHECK(str_double(str_of("+3"), &v) && v > 2.9 && v < 3.1);
	v = 42;
	for (size_t i = 0; i < LEN(bad); i++)
		CHECK_MSG(!str_double(str_of(bad[i]), &v), "%s", bad[i]);
	CHECK(!str_double((struct str){ "1\0002", 3 }, &v));
	CHECK_NEAR(v, 42, 0);
}

TEST(str_durations)
{
	static const struct {
		const char *text;
		uint64_t ns;
	} good[] = {
		{ "10", 10000000000 },
		{ "1.5s", 1500000000 },
		{ "250ms", 250000000 },
		{ "2m", 120000000000 },
		{ "2min", 120000000000 },
		{ "1h", 3600000000000 },
		{ "7us", 7000 },
		{ "9ns", 9 },
		{ "0", 0 },
		{ ".5s", 500000000 },
		{ "0.1s", 100000000 },
	};
	static const char *const bad[] = { "",	  "s",	 "-1s", "1.2.3s", "1 s",       "1e3s",
					   "10x", "1ss", "nan", "inf",	  "400000000h" };
	uint64_t ns = 42;

	for (size_t i = 0; i < LEN(bad); i++)
		CHECK_MSG(!str_duration_ns(str_of(bad[i]), &ns), "%s", bad[i]);
	CHECK_EQ_U64(ns, 42);
	for (size_t i = 0; i < LEN(good); i++) {
		CHECK_MSG(str_duration_ns(str_of(good[i].text), &ns), "%s", good[i].text);
		CHECK_EQ_U64(ns, good[i].ns);
	}
}

TEST(str_utf8_lengths)
{
	static const struct {
		const char *bytes;
		size_t len;
	} all[] = {
		{ "a", 1 },
		{ "\xc3\xa9", 2 },
		{ "\xe2\x82\xac", 3 },
		{ "\xf0\x9f\x98\x80", 4 },
		{ "\x7f", 1 },
		{ "\xc2\x80", 2 },
		{ "\xf4\x8f\xbf\xbf", 4 },
		{ "\xf4\x90\x80\x80", 0 },
		{ "\xed\xa0\x80", 0 },
		{ "\xed\x9f\xbf", 3 },
		{ "\xc0\x80", 0 },
		{ "\xc1\xbf", 0 },
		{ "\xe0\x9f\xbf", 0 },
		{ "\xf0\x8f\xbf\xbf", 0 },
		{ "\x80", 0 },
		{ "\xff", 0 },
		{ "\xc3", 0 },
		{ "\xe2\x82", 0 },
		{ "\xc3(", 0 },
		{ "\xf5\x80\x80\x80", 0 },
		{ "", 0 },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		size_t len = strlen(all[i].bytes);
		struct str s = { (const char *)test_guard(all[i].bytes, len), len };

		CHECK_MSG(str_utf8_len(s) == all[i].len, "case %zu", i);
	}
	CHECK_EQ_U64(str_utf8_len((struct str){ "\0", 1 }), 1);
}

static const char *escaped(struct buf *b, const char *text, size_t len)
{
	buf_clear(b);
	str_escape(b, (struct str){ text, len });
	return buf_str(b);
}

/* The neighbours of each range are text. */
TEST(str_unsafe_characters)
{
	static const struct {
		const char *first, *last, *before, *behind;
	} all[] = {
		{ "\x01", "\x1f", NULL, " " },
		{ "\x7f", "\xc2\x9f", "~", "\xc2\xa0" },
		{ "\xd8\x9c", "\xd8\x9c", "\xd8\x9b", "\xd8\x9d" },
		{ "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x80\x8d", "\xe2\x80\x90" },
		{ "\xe2\x80\xa8", "\xe2\x80\xae", "\xe2\x80\xa7", "\xe2\x80\xaf" },
		{ "\xe2\x81\xa6", "\xe2\x81\xa9", "\xe2\x81\xa5", "\xe2\x81\xaa" },
	};

	for (size_t i = 0; i < LEN(all); i++) {
		CHECK_MSG(str_is_unsafe(all[i].first, strlen(all[i].first)), "case %zu", i);
		CHECK_MSG(str_is_unsafe(all[i].last, strlen(all[i].last)), "case %zu", i);
		CHECK_MSG(!all[i].before || !str_is_unsafe(all[i].before, strlen(all[i].before)),
			  "case %zu", i);
		CHECK_MSG(!str_is_unsafe(all[i].behind, strlen(all[i].behind)), "case %zu", i);
	}
	CHECK(str_is_unsafe("", 1) && !str_is_unsafe("\xf0\x9f\x98\x80", 4));
}

TEST(str_escape_for_terminals)
{
	buf_auto b = { 0 };

	CHECK_EQ_STR(escaped(&b, "plain \xe2\x82\xac", 9), "plain \xe2\x82\xac");
	CHECK_EQ_STR(escaped(&b, "a\nb\tc\rd\\e", 9), "a\\nb\\tc\\rd\\\\e");
	CHECK_EQ_STR(escaped(&b, "\x1b[31m", 5), "\\x1b[31m");
	CHECK_EQ_STR(escaped(&b, "\0\x7f\xff", 3), "\\x00\\x7f\\xff");
	/* CSI as one character of the C1 set. */
	CHECK_EQ_STR(escaped(&b,
			     "\xc2\x9b"
			     "0m",
			     4),
		     "\\xc2\\x9b0m");
	CHECK_EQ_STR(escaped(&b, "\xe2\x82", 2), "\\xe2\\x82");
	/* U+202E turns what follows round. */
	CHECK_EQ_STR(escaped(&b, "a\xe2\x80\xae]", 5), "a\\xe2\\x80\\xae]");
	CHECK_EQ_STR(escaped(&b, "", 0), "");
}

static const char *json(struct buf *b, const char *text, size_t len)
{
	buf_clear(b);
	str_json(b, (struct str){ text, len });
	return buf_str(b);
}

TEST(str_json_is_always_valid)
{
	buf_auto b = { 0 };

	CHECK_EQ_STR(json(&b, "a\"b\\c", 5), "a\\\"b\\\\c");
	CHECK_EQ_STR(json(&b, "\n\t\r\x1f\x7f\0", 6), "\\n\\t\\u000d\\u001f\\u007f\\u0000");
	CHECK_EQ_STR(json(&b, "\xe2\x82\xac\xff", 4), "\xe2\x82\xac\xef\xbf\xbd");
	CHECK_EQ_STR(json(&b, "\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", 8),
		     "\\u0080\\u009b\\u009f\xc2\xa0");
	CHECK_EQ_STR(json(&b, "\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xae", 9), "\\u2028\\u2029\\u202e");
	CHECK_EQ_STR(json(&b, "\xed\xa0\x80", 3), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	/* Every byte alone and every pair: what comes out is UTF-8 without control bytes. */
	for (unsigned i = 0; i < 65536; i++) {
		char pair[2] = { (char)(i >> 8), (char)i };
		struct str s = { json(&b, pair, 2), b.len };

		s.len = b.len;
		while (s.len) {
			size_t n = str_utf8_len(s);

			CHECK(n > 0 && (unsigned char)s.at[0] >= 0x20);
			s.at += n, s.len -= n;
		}
	}
}

TEST(str_counts_in_groups_of_three)
{
	static const struct {
		int64_t v;
		const char *text;
	} cases[] = {
		{ 0, "0" },
		{ 999, "999" },
		{ 1000, "1,000" },
		{ 1000007, "1,000,007" },
		{ -999, "-999" },
		{ -20113, "-20,113" },
		{ INT64_MIN, "-9,223,372,036,854,775,808" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		buf_auto b = { 0 };

		str_signed_count(&b, cases[i].v);
		CHECK_EQ_STR(buf_str(&b), cases[i].text);
	}
	buf_auto most = { 0 };

	str_count(&most, UINT64_MAX);
	CHECK_EQ_STR(buf_str(&most), "18,446,744,073,709,551,615");
}

TEST(str_columns_of_wide_text)
{
	CHECK_EQ_U64(str_columns(str_of("abc")), 3);
	CHECK_EQ_U64(str_columns(str_of("")), 0);
	CHECK_EQ_U64(str_columns(str_of("\xff\xfe")), 2);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		SKIP("no locale C.UTF-8");
	CHECK_EQ_U64(str_columns(str_of("\xc3\xa9")), 1);
	CHECK_EQ_U64(str_columns(str_of("\xe6\xbc\xa2\xe5\xad\x97")), 4);
	CHECK_EQ_U64(str_columns(str_of("e\xcc\x81")), 1);
}
