/* SPDX-License-Identifier: Apache-2.0 */
/* Errors: filled, wrapped, cut with a mark, named. */
#include "base/err.h"

#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "base/str.h"
#include "test.h"

TEST(err_set_and_name)
{
	struct err err = { .hint = "old", .id = "OLD", .sys_errno = 3 };

	CHECK(!err_set(&err, ERR_FORMAT, "%s at offset %d", "x.data", 12));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, "x.data at offset 12");
	CHECK_EQ_STR(err.hint, "");
	CHECK_EQ_INT(err.sys_errno, 0);
	CHECK_EQ_STR(err_id(&err), "FORMAT");
	CHECK(!err_refuse(&err, "NO_PMU", "this machine has no counters"));
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_EQ_STR(err_id(&err), "NO_PMU");
}

TEST(err_names_of_all_kinds)
{
	static const char *const names[] = { "NONE",	"USAGE",       "NOT_FOUND",
					     "REFUSED", "UNSUPPORTED", "FORMAT",
					     "SYSTEM",	"LIMIT",       "INTERNAL" };
	struct err err;

	for (int kind = ERR_NONE; kind <= ERR_INTERNAL; kind++) {
		err_set(&err, (enum err_kind)kind, "x");
		CHECK_EQ_STR(err_id(&err), names[kind]);
	}
}

TEST(err_wrap_keeps_the_cause)
{
	struct err err;

	CHECK(!err_sys(&err, ENOENT, "cannot open %s", "/x"));
	CHECK_EQ_STR(err.text, "cannot open /x: No such file or directory");
	CHECK(!err_hint(&err, "first"));
	CHECK(!err_hint(&err, "second"));
	CHECK(!err_wrap(&err, "reading run %d", 7));
	CHECK(!err_wrap(&err, "report"));
	CHECK_EQ_STR(err.text, "report: reading run 7: cannot open /x: No such file or directory");
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, ENOENT);
	CHECK_EQ_STR(err.hint, "first");
}

TEST(err_may_use_its_own_text)
{
	struct err err;

	err_set(&err, ERR_FORMAT, "cause");
	err_set(&err, ERR_LIMIT, "again: %s", err.text);
	CHECK_EQ_STR(err.text, "again: cause");
	err_sys(&err, EIO, "%s", err.text);
	CHECK_EQ_STR(err.text, "again: cause: Input/output error");
	err_refuse(&err, "X", "no: %s", err.text);
	CHECK_EQ_STR(err.text, "no: again: cause: Input/output error");
	err_wrap(&err, "%.2s", err.text);
	CHECK_EQ_STR(err.text, "no: no: again: cause: Input/output error");
}

/* Whatever is cut says so, and stays valid UTF-8. */
static void check_cut(const struct err *err, size_t size)
{
	struct str s = str_of(err->text);

	CHECK(s.len < size && s.len > size - 8);
	CHECK_EQ_STR(err->text + s.len - 3, "...");
	while (s.len) {
		size_t n = str_utf8_len(s);

		CHECK(n > 0);
		s.at += n, s.len -= n;
	}
}

TEST(err_cut_texts_are_marked)
{
	for (size_t more = 0; more < 4; more++) {
		buf_auto big = { 0 };
		struct err err;

		for (size_t i = 0; i < more; i++)
			buf_u8(&big, 'x');
		for (int i = 0; i < 500; i++)
			buf_puts(&big, "\xe2\x82\xac");
		err_set(&err, ERR_FORMAT, "%s", buf_str(&big));
		check_cut(&err, sizeof(err.text));
		err_sys(&err, ENOENT, "%s", buf_str(&big));
		check_cut(&err, sizeof(err.text));
		err_set(&err, ERR_FORMAT, "cause");
		err_wrap(&err, "%s", buf_str(&big));
		check_cut(&err, sizeof(err.text));
		err_hint(&err, "%s", buf_str(&big));
		CHECK(str_ends(err.hint, "..."));
		CHECK(strlen(err.hint) < sizeof(err.hint));
	}
}

TEST(err_text_that_just_fits)
{
	struct err err;
	char text[sizeof(err.text)];

	memset(text, 'a', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	err_set(&err, ERR_FORMAT, "%s", text);
	CHECK_EQ_STR(err.text, text);
	err_set(&err, ERR_FORMAT, "%sb", text);
	CHECK_EQ_STR(err.text + sizeof(text) - 5, "a...");
	/* The reason of a long sentence is cut with a mark too. */
	text[sizeof(text) - 8] = 0;
	err_sys(&err, ENOENT, "%s", text);
	CHECK(str_ends(err.text, "a: No..."));
}

TEST(err_rehint_may_quote_the_old_one)
{
	struct err err = { .hint = "wait" };

	CHECK(!err_rehint(&err, "do this; or %s", err.hint));
	CHECK_EQ_STR(err.hint, "do this; or wait");
	CHECK(!err_rehint(&err, "another"));
	CHECK_EQ_STR(err.hint, "another");
}
