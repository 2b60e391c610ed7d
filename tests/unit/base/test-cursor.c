/* SPDX-License-Identifier: Apache-2.0 */
/* The byte cursor: both byte orders, and its end. */
#include "base/cursor.h"

#include "test.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

TEST(cursor_integers)
{
	struct cursor c = cursor_of("x", test_guard(bytes, 15), 15);

	CHECK_EQ_U64(cursor_u8(&c), 1);
	CHECK_EQ_U64(cursor_u16(&c), 0x0302);
	CHECK_EQ_U64(cursor_u32(&c), 0x07060504);
	CHECK_EQ_U64(cursor_u64(&c), 0x0f0e0d0c0b0a0908);
	CHECK(!c.failed && !cursor_left(&c));
	CHECK_EQ_U64(cursor_offset(&c), 15);
	c = cursor_of("x", bytes, 15);
	c.swap = true;
	CHECK_EQ_U64(cursor_u8(&c), 1);
	CHECK_EQ_U64(cursor_u16(&c), 0x0203);
	CHECK_EQ_U64(cursor_u32(&c), 0x04050607);
	CHECK_EQ_U64(cursor_u64(&c), 0x08090a0b0c0d0e0f);
}

/* A read that reaches past the end gives zero and so does every one after it. */
TEST(cursor_fails_for_good)
{
	for (size_t len = 0; len < 8; len++) {
		struct cursor c = cursor_of("x", test_guard(bytes, len), len);

		CHECK_EQ_U64(cursor_u64(&c), 0);
		CHECK(c.failed);
		CHECK_EQ_U64(cursor_left(&c), 0);
		CHECK_EQ_U64(cursor_u8(&c), 0);
		CHECK(!cursor_bytes(&c, 0));
	}
}

TEST(cursor_huge_lengths)
{
	static const uint64_t lens[] = { 16, 1ull << 32, INT64_MAX, UINT64_MAX };

	for (size_t i = 0; i < 4; i++) {
		struct cursor c = cursor_of("x", test_guard(bytes, 15), 15), sub;

		cursor_u8(&c);
		sub = cursor_sub(&c, lens[i]);
		CHECK(c.failed && sub.failed && !cursor_left(&sub));
		c = cursor_of("x", bytes, 15);
		cursor_skip(&c, lens[i]);
		CHECK(c.failed);
		c = cursor_of("x", bytes, 15);
		CHECK_EQ_STR(cursor_fixed_str(&c, lens[i]), "");
		CHECK(c.failed);
	}
}

TEST(cursor_sub_keeps_place_and_order)
{
	struct cursor c = cursor_of("file", bytes, 15), sub;

	c.base = 1000;
	c.swap = true;
	cursor_skip(&c, 3);
	sub = cursor_sub(&c, 4);
	CHECK_EQ_U64(cursor_offset(&sub), 1003);
	CHECK_EQ_U64(cursor_u32(&sub), 0x04050607);
	CHECK_EQ_U64(cursor_u8(&sub), 0);
	CHECK(sub.failed && !c.failed);
	CHECK_EQ_U64(cursor_offset(&c), 1007);
	CHECK_EQ_STR(sub.name, "file");
}

TEST(cursor_fixed_strings)
{
	struct cursor c = cursor_of("x", test_guard("ab\0\0cdef", 8), 8);

	CHECK_EQ_STR(cursor_fixed_str(&c, 4), "ab");
	CHECK_EQ_U64(cursor_offset(&c), 4);
	CHECK_EQ_STR(cursor_fixed_str(&c, 4), "");
	CHECK(c.failed);
	c = cursor_of("x", bytes, 15);
	CHECK_EQ_STR(cursor_fixed_str(&c, 0), "");
	CHECK(c.failed);
}

TEST(cursor_of_nothing)
{
	struct cursor c = cursor_of("x", NULL, 0);

	CHECK(!cursor_left(&c) && !c.failed);
	CHECK(cursor_bytes(&c, 0) != NULL);
	CHECK_EQ_U64(cursor_u8(&c), 0);
	CHECK(c.failed);
}
