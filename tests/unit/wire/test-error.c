/* SPDX-License-Identifier: Apache-2.0 */
/* The error value survives the trip, whatever is in it. */
#include <errno.h>

#include "base/os.h"
#include "test.h"
#include "wire/wire.h"

TEST(error_round_trip)
{
	buf_auto body = { 0 };
	struct err err, back;

	err_sys(&err, ENOENT, "cannot open %s", "a\nb\\c");
	err_hint(&err, "try %s", "again");
	wire_put_err(&body, &err);
	wire_get_err((struct str){ buf_str(&body), body.len }, &back);
	CHECK_EQ_INT(back.kind, ERR_SYSTEM);
	CHECK_EQ_INT(back.sys_errno, ENOENT);
	CHECK_EQ_STR(back.text, err.text);
	CHECK_EQ_STR(back.hint, "try again");
}

TEST(error_refusal_keeps_its_id)
{
	buf_auto body = { 0 };
	struct err err, back;

	err_refuse(&err, "NO_PMU", "no counters");
	wire_put_err(&body, &err);
	wire_get_err((struct str){ buf_str(&body), body.len }, &back);
	CHECK_EQ_INT(back.kind, ERR_REFUSED);
	CHECK_EQ_STR(back.id, "NO_PMU");
	CHECK_EQ_STR(back.hint, "");
}

TEST(error_from_nonsense)
{
	struct err back;
	buf_auto body = { 0 };

	wire_get_err(str_of("kind 99\nerrno 99999999999999\n"), &back);
	CHECK_EQ_INT(back.kind, ERR_INTERNAL);
	CHECK_HAS(back.text, "no reason");
	buf_puts(&body, "text ");
	for (int i = 0; i < 5000; i++)
		buf_puts(&body, "x");
	wire_get_err((struct str){ buf_str(&body), body.len }, &back);
	CHECK_EQ_INT(strlen(back.text), sizeof(back.text) - 1);
}
