/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that end in each way a test can end; tests/self/test_runner.py knows which must fail. */
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(pass_all_checks)
{
	CHECK(1 + 1 == 2);
	CHECK_MSG(true, "not shown");
	CHECK_EQ_INT(-1, -1);
	CHECK_EQ_U64(UINT64_MAX, UINT64_MAX);
	CHECK_EQ_STR("a", "a");
	CHECK_EQ_MEM("ab", "ab", 2);
	CHECK_NEAR(1.0, 1.05, 0.1);
	CHECK_HAS("needle in hay", "in");
}

TEST(pass_guard)
{
	const uint8_t *at = test_guard("abc", 3);

	CHECK_EQ_MEM(at, "abc", 3);
}

TEST(pass_tmpdir)
{
	char path[300];
	int fd;

	snprintf(path, sizeof(path), "%s/file", test_tmpdir());
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	CHECK(fd >= 0);
	close(fd);
	printf("tmpdir=%s\n", test_tmpdir());
}

TEST(pass_source)
{
	CHECK(access(test_source("tests/runner/test.h"), R_OK) == 0);
}

TEST(skip_with_reason)
{
	SKIP("no %s here", "unicorn");
}

TEST(fail_check)
{
	CHECK(1 + 1 == 3);
}

TEST(fail_eq_int)
{
	CHECK_EQ_INT(7, -7);
}

TEST(fail_eq_u64)
{
	CHECK_EQ_U64(255, 256);
}

TEST(fail_eq_str)
{
	CHECK_EQ_STR("left", "right");
}

TEST(fail_eq_mem)
{
	CHECK_EQ_MEM("abc", "abd", 3);
}

TEST(fail_near_nan)
{
	CHECK_NEAR(__builtin_nan(""), 1.0, 10.0);
}

TEST(fail_has)
{
	CHECK_HAS("hay", "needle");
}

TEST(fail_guard)
{
	const volatile uint8_t *at = test_guard("abc", 3);

	CHECK_EQ_INT(at[3], 0);
}

TEST(fail_crash)
{
	raise(SIGABRT);
}

TEST(fail_exit_zero)
{
	exit(0);
}

TEST_TIMEOUT(fail_timeout, 1)
{
	for (;;)
		pause();
}
