/* SPDX-License-Identifier: Apache-2.0 */
/* Hash tables: growth, odd keys, texts with odd bytes. */
#include "base/map.h"

#include <stdio.h>

#include "base/os.h"
#include "test.h"

TEST(map_grows)
{
	enum { COUNT = 100000 };
	struct map m = { 0 };
	bool is_new;

	CHECK(!map_find(&m, 0));
	for (uint64_t i = 0; i < COUNT; i++) {
		uint64_t *v = map_put(&m, i * 0x1000, &is_new);

		CHECK(is_new && *v == 0);
		*v = i + 1;
	}
	CHECK_EQ_U64(m.len, COUNT);
	CHECK(m.cap >= COUNT && m.cap <= COUNT * 4);
	for (uint64_t i = 0; i < COUNT; i++) {
		CHECK_EQ_U64(*map_find(&m, i * 0x1000), i + 1);
		CHECK(!map_find(&m, i * 0x1000 + 1));
	}
	CHECK_EQ_U64(*map_put(&m, 0x2000, &is_new), 3);
	CHECK(!is_new);
	CHECK_EQ_U64(*map_put(&m, 0x3000, NULL), 4);
	CHECK_EQ_U64(m.len, COUNT);
	map_done(&m);
	CHECK(!m.slots && !m.len && !m.cap);
}

TEST(map_odd_keys)
{
	static const uint64_t keys[] = { 0, UINT64_MAX, 1, 1ull << 63, 0 - 0x9e3779b97f4a7c15ull };
	struct map m = { 0 };

	for (size_t i = 0; i < 5; i++)
		*map_put(&m, keys[i], NULL) = i;
	CHECK_EQ_U64(m.len, 5);
	for (size_t i = 0; i < 5; i++)
		CHECK_EQ_U64(*map_find(&m, keys[i]), i);
	map_done(&m);
}

TEST(hash_of_bytes)
{
	/* The end of a text counts, its place in memory does not. */
	CHECK(hash_bytes("abcdefgh", 8) != hash_bytes("abcdefgh", 7));
	CHECK(hash_bytes("a\0", 2) != hash_bytes("a", 1));
	CHECK_EQ_U64(hash_bytes(&"xabcdefghi"[1], 9), hash_bytes("abcdefghi", 9));
	CHECK_EQ_U64(hash_bytes(NULL, 0), hash_bytes("", 0));
}

TEST(intern_ids_are_dense_and_stay)
{
	enum { COUNT = 20000 };
	struct intern t = { 0 };
	const char *first;
	char text[32];

	CHECK_EQ_U64(intern_find(&t, str_of("x")), UINT32_MAX);
	CHECK_EQ_U64(intern_put(&t, str_of("")), 0);
	first = t.names.at[0];
	for (uint32_t i = 1; i < COUNT; i++) {
		snprintf(text, sizeof(text), "name-%u", i);
		CHECK_EQ_U64(intern_put(&t, str_of(text)), i);
	}
	for (uint32_t i = 1; i < COUNT; i++) {
		snprintf(text, sizeof(text), "name-%u", i);
		CHECK_EQ_U64(intern_put(&t, str_of(text)), i);
		CHECK_EQ_U64(intern_find(&t, str_of(text)), i);
		CHECK_EQ_STR(t.names.at[i], text);
	}
	CHECK_EQ_U64(t.names.len, COUNT);
	CHECK(t.names.at[0] == first);
	CHECK_EQ_U64(intern_find(&t, str_of("name-0")), UINT32_MAX);
	intern_done(&t);
}

TEST(intern_texts_with_zero_bytes)
{
	struct intern t = { 0 };
	struct str cut = { "ab\0cd", 5 }, none = { NULL, 0 };

	CHECK_EQ_U64(intern_put(&t, cut), 0);
	CHECK_EQ_STR(t.names.at[0], "ab");
	CHECK_EQ_U64(intern_put(&t, str_of("ab")), 0);
	CHECK_EQ_U64(intern_find(&t, cut), 0);
	CHECK_EQ_U64(intern_find(&t, none), UINT32_MAX);
	CHECK_EQ_U64(intern_put(&t, none), 1);
	CHECK_EQ_U64(intern_put(&t, str_of("")), 1);
	CHECK_EQ_U64(intern_find(&t, none), 1);
	intern_done(&t);
}
