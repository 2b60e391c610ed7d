/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation, arenas, buffers, vectors. */
#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"

TEST(mem_basics)
{
	char *p = mem_alloc(100), *copy, *text;

	for (int i = 0; i < 100; i++)
		CHECK_EQ_INT(p[i], 0);
	memcpy(p, "hello", 6);
	p = mem_resize(p, 100000);
	CHECK_EQ_STR(p, "hello");
	copy = mem_copy(p, 6);
	text = mem_printf("%s-%d", copy, 5);
	CHECK_EQ_STR(text, "hello-5");
	free(text);
	text = mem_printf("%s", "");
	CHECK_EQ_STR(text, "");
	free(text);
	text = mem_strdup(copy);
	CHECK_EQ_STR(text, "hello");
	free(text);
	free(copy);
	free(p);
	free(mem_alloc(0));
	free(mem_copy(NULL, 0));
}

static int status_of(void (*run)(void))
{
	pid_t pid = fork();
	int status;

	CHECK(pid >= 0);
	if (!pid) {
		close(2);
		run();
		_exit(0);
	}
	CHECK_EQ_INT(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static volatile size_t huge = SIZE_MAX - 4;

static void huge_arena(void)
{
	struct arena a = { 0 };

	arena_alloc(&a, 10);
	arena_alloc(&a, huge - 20);
}

static void huge_arena_rounded(void)
{
	struct arena a = { 0 };

	arena_alloc(&a, huge);
}

static void huge_buf(void)
{
	struct buf b = { 0 };

	buf_u64(&b, 1);
	buf_room(&b, huge);
}

static void huge_vec(void)
{
	VEC(uint64_t) v = { 0 };

	vec_grow((void **)&v.at, &v.len, &v.cap, 8, huge / 4);
}

/* Sizes that no machine has end the program with a message, never with a small block. */
TEST(mem_zero_bytes)
{
	uint8_t bytes[9] = { [8] = 1 };

	CHECK(mem_is_zero(bytes, 8) && !mem_is_zero(bytes, 9));
	bytes[0] = 0x80;
	CHECK(!mem_is_zero(bytes, 1) && mem_is_zero(bytes + 1, 7));
	CHECK(mem_is_zero(bytes, 0) && mem_is_zero(NULL, 0));
}

TEST(mem_sizes_that_overflow)
{
	CHECK_EQ_INT(status_of(huge_arena), 1);
	CHECK_EQ_INT(status_of(huge_arena_rounded), 1);
	CHECK_EQ_INT(status_of(huge_buf), 1);
	CHECK_EQ_INT(status_of(huge_vec), 1);
}

TEST(arena_small_and_large)
{
	static const size_t sizes[] = { 1,     15,    16,    17,      1000, 16384,
					16385, 65536, 65537, 1 << 20, 0,    3 };
	arena_auto a = { 0 };
	uint8_t *all[12 * 20];
	size_t n = 0, used = 0;

	for (int round = 0; round < 20; round++) {
		for (size_t i = 0; i < 12; i++) {
			uint8_t *p = arena_alloc(&a, sizes[i]);

			CHECK_EQ_U64((uintptr_t)p % 16, 0);
			for (size_t k = 0; k < sizes[i]; k++)
				CHECK(p[k] == 0);
			memset(p, (int)(n & 0xff), sizes[i]);
			all[n++] = p;
			used += (sizes[i] + 15) / 16 * 16;
		}
	}
	CHECK_EQ_U64(a.used_bytes, used);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < sizes[i % 12]; k++)
			CHECK(all[i][k] == (i & 0xff));
	arena_done(&a);
	CHECK(!a.top && !a.used_bytes);
}

/* A large block does not close the block that small ones come from. */
TEST(arena_large_goes_below)
{
	arena_auto a = { 0 };
	char *first = arena_alloc(&a, 16), *second;

	arena_alloc(&a, 1 << 20);
	second = arena_alloc(&a, 16);
	CHECK(second == first + 16);
}

TEST(arena_texts)
{
	arena_auto a = { 0 };

	CHECK_EQ_STR(arena_strdup(&a, "abc"), "abc");
	CHECK_EQ_STR(arena_strndup(&a, "abcdef", 3), "abc");
	CHECK_EQ_STR(arena_strndup(&a, NULL, 0), "");
	CHECK_EQ_STR(arena_printf(&a, "%d,%s", 1, "x"), "1,x");
	CHECK_EQ_STR(arena_printf(&a, "%s", ""), "");
}

TEST(buf_grows_and_ends_in_zero)
{
	buf_auto b = { 0 };

	CHECK_EQ_STR(buf_str(&b), "");
	for (size_t i = 0; i < 3000; i++) {
		buf_u8(&b, (uint8_t)(i % 251 + 1));
		CHECK_EQ_U64(b.len, i + 1);
		CHECK(b.cap > b.len);
		CHECK_EQ_INT(b.at[b.len], 0);
	}
	for (size_t i = 0; i < 3000; i++)
		CHECK_EQ_INT(b.at[i], i % 251 + 1);
	memset(buf_room(&b, 100000), 7, 100000);
	CHECK_EQ_INT(b.at[b.len - 1], 7);
	CHECK_EQ_INT(b.at[b.len], 0);
	buf_clear(&b);
	CHECK_EQ_STR(buf_str(&b), "");
	CHECK_EQ_U64(b.len, 0);
	buf_printf(&b, "%s", "");
	CHECK_EQ_U64(b.len, 0);
	buf_printf(&b, "%0*d", 500, 5);
	CHECK_EQ_U64(b.len, 500);
	buf_add(&b, NULL, 0);
	CHECK_EQ_U64(b.len, 500);
	buf_done(&b);
	CHECK(!b.at && !b.len && !b.cap);
}

TEST(buf_integers_are_little_endian)
{
	static const uint8_t expect[] = { 1, 3, 2, 7, 6, 5, 4, 15, 14, 13, 12, 11, 10, 9, 8, 0 };
	buf_auto b = { 0 };

	buf_u8(&b, 1);
	buf_u16(&b, 0x0203);
	buf_u32(&b, 0x04050607);
	buf_u64(&b, 0x08090a0b0c0d0e0f);
	buf_align(&b, 8);
	CHECK_EQ_U64(b.len, sizeof(expect));
	CHECK_EQ_MEM(b.at, expect, sizeof(expect));
	buf_align(&b, 8);
	CHECK_EQ_U64(b.len, 16);
}

struct pair {
	uint32_t a;
	uint64_t b;
};

TEST(vec_of_structs)
{
	VEC(struct pair) v = { 0 };
	uint64_t sum = 0;

	for (uint32_t i = 0; i < 1000; i++) {
		struct pair *p = vec_push(&v);

		CHECK(!p->a && !p->b);
		*p = (struct pair){ i, i * 2 };
	}
	vec_each(p, &v)
		sum += p->a + p->b;
	CHECK_EQ_U64(sum, 3 * 999 * 1000 / 2);
	CHECK_EQ_U64(v.len, 1000);
	vec_clear(&v);
	CHECK(!vec_push(&v)->b);
	vec_done(&v);
	CHECK(!v.at && !v.len && !v.cap);
	vec_done(&v);
}

TEST(vec_each_of_nothing)
{
	VEC(int) empty = { 0 };
	int count = 0;

	/* Must not add to a null pointer: the undefined-behaviour sanitizer would stop here. */
	vec_each(p, &empty)
		count += *p;
	CHECK_EQ_INT(count, 0);
}
