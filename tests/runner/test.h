/* SPDX-License-Identifier: Apache-2.0 */
/* The test runner: each TEST runs in a process of its own, results come out as TAP.
 *
 * A program that links with the runner has no main of its own:
 *
 *	#include "test.h"
 *
 *	TEST(adds)
 *	{
 *		CHECK_EQ_INT(1 + 1, 2);
 *	}
 *
 * A failed check prints both values with file and line and ends its test; the other tests run on.
 * A crash, a sanitizer's report, a leak, an exit by itself and a timeout are failures. What a test
 * prints is shown when it fails. Usage: test-X [-l] [-v] [-t SECONDS] [NAME-PART...].
 */
#ifndef TEST_H
#define TEST_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test {
	const char *name;
	const char *file;
	int line;
	void (*run)(void);
	unsigned int timeout_s; /* 0: the runner's default of 60 s */
};

#define TEST_TIMEOUT(name, seconds)                                                         \
	static void test_##name(void);                                                      \
	static const struct test test_of_##name = { #name, __FILE__, __LINE__, test_##name, \
						    (seconds) };                            \
	static const struct test *const test_at_##name                                      \
		__attribute__((used, section("tests"))) = &test_of_##name;                  \
	static void test_##name(void)

#define TEST(name) TEST_TIMEOUT(name, 0)

/* End the test as not run, with the reason. */
#define SKIP(...) test_skip(__VA_ARGS__)

#define FAIL(...) test_fail(__FILE__, __LINE__, __VA_ARGS__)

#define CHECK(cond) ((cond) ? (void)0 : test_fail(__FILE__, __LINE__, "%s", #cond))

/* CHECK with words of one's own, printf style, for what the condition does not show. */
#define CHECK_MSG(cond, ...) ((cond) ? (void)0 : test_fail(__FILE__, __LINE__, __VA_ARGS__))

#define CHECK_EQ_INT(a, b) test_eq_int(__FILE__, __LINE__, #a, #b, (intmax_t)(a), (intmax_t)(b))
#define CHECK_EQ_U64(a, b) test_eq_u64(__FILE__, __LINE__, #a, #b, (uint64_t)(a), (uint64_t)(b))
#define CHECK_EQ_STR(a, b) test_eq_str(__FILE__, __LINE__, #a, #b, (a), (b))
#define CHECK_EQ_MEM(a, b, size) test_eq_mem(__FILE__, __LINE__, #a, #b, (a), (b), (size))
#define CHECK_NEAR(a, b, most) test_near(__FILE__, __LINE__, #a, #b, (double)(a), (double)(b), most)
/* Both are strings; needle occurs in text. */
#define CHECK_HAS(text, needle) test_has(__FILE__, __LINE__, #text, (text), (needle))

/* A copy of size bytes whose last byte is followed by a page that can neither be read nor written:
 * one byte too far is a crash. With size 0 the pointer itself must not be read. Lives as long as
 * the test. */
uint8_t *test_guard(const void *bytes, size_t size);

/* An empty directory of this test, the same one at each call, removed with all in it when the test
 * has ended in whatever way. */
const char *test_tmpdir(void);

/* "<top of the source tree>/path", for data that tests read. Lives as long as the test. */
const char *test_source(const char *path);

_Noreturn void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
_Noreturn void test_skip(const char *format, ...) __attribute__((format(printf, 1, 2)));
void test_eq_int(const char *file, int line, const char *what_a, const char *what_b, intmax_t a,
		 intmax_t b);
void test_eq_u64(const char *file, int line, const char *what_a, const char *what_b, uint64_t a,
		 uint64_t b);
void test_eq_str(const char *file, int line, const char *what_a, const char *what_b, const char *a,
		 const char *b);
void test_eq_mem(const char *file, int line, const char *what_a, const char *what_b, const void *a,
		 const void *b, size_t size);
void test_near(const char *file, int line, const char *what_a, const char *what_b, double a,
	       double b, double most);
void test_has(const char *file, int line, const char *what, const char *text, const char *needle);

#endif
