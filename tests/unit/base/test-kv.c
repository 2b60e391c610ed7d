/* SPDX-License-Identifier: Apache-2.0 */
/* Key-value text: every value comes back as it went in. */
#include <stdlib.h>

#include "base/os.h"
#include "base/str.h"
#include "test.h"

TEST(kv_round_trip)
{
	static const char *const values[] = {
		"",	    " ",	  "plain",    "with blanks  ", "\n",	 "a\nb\n\nc",
		"\\",	    "\\n",	  "\\\\n",    "ends in \\",    "\r\n\t", "\xff\x01\x7f",
		"k v\nk v", "\\\n\\\\\n", "\xc3\xa9", "=,;\"'#",
	};
	enum { COUNT = sizeof(values) / sizeof(values[0]) };
	buf_auto text = { 0 };
	struct kv kv;

	for (size_t i = 0; i < COUNT; i++)
		kv_put(&text, "key", values[i]);
	kv_parse(&kv, (struct str){ buf_str(&text), text.len });
	CHECK_EQ_U64(kv.items.len, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		CHECK_EQ_STR(kv_nth(&kv, "key", i)->value, values[i]);
		CHECK_EQ_U64(kv_nth(&kv, "key", i)->value_len, strlen(values[i]));
	}
	CHECK(!kv_nth(&kv, "key", COUNT));
	kv_done(&kv);
}

TEST(kv_every_byte)
{
	buf_auto text = { 0 };
	char all[256];
	struct kv kv;

	for (int i = 0; i < 256; i++)
		all[i] = (char)i;
	kv_put_n(&text, "bytes", (struct str){ all, sizeof(all) });
	kv_put(&text, "after", "x");
	kv_parse(&kv, (struct str){ buf_str(&text), text.len });
	CHECK_EQ_U64(kv.items.at[0].value_len, 256);
	CHECK_EQ_MEM(kv.items.at[0].value, all, 256);
	CHECK_EQ_STR(kv_get(&kv, "after"), "x");
	kv_done(&kv);
}

TEST(kv_lookups)
{
	buf_auto text = { 0 };
	struct kv kv;

	kv_put(&text, "a", "1");
	kv_put_u64(&text, "n", UINT64_MAX);
	kv_printf(&text, "f", "%d\n%s", 5, "x");
	kv_put(&text, "a", "2");
	kv_parse(&kv, (struct str){ buf_str(&text), text.len });
	CHECK_EQ_STR(kv_find(&kv, "a"), "2");
	CHECK_EQ_STR(kv_nth(&kv, "a", 0)->value, "1");
	CHECK_EQ_STR(kv_nth(&kv, "a", 1)->value, "2");
	CHECK_EQ_STR(kv_get(&kv, "f"), "5\nx");
	CHECK_EQ_U64(kv_u64(&kv, "n", 1), UINT64_MAX);
	CHECK_EQ_U64(kv_u64(&kv, "f", 7), 7);
	CHECK_EQ_U64(kv_u64(&kv, "none", 8), 8);
	CHECK(!kv_find(&kv, "none"));
	CHECK_EQ_STR(kv_get(&kv, "none"), "");
	kv_done(&kv);
}

TEST(kv_text_of_others)
{
	struct kv kv;

	kv_parse(&kv, str_of("alone\n\n no key\nk v\\q\\\nlast no newline"));
	CHECK_EQ_U64(kv.items.len, 3);
	CHECK_EQ_STR(kv_find(&kv, "alone"), "");
	CHECK_EQ_STR(kv_find(&kv, "k"), "vq\\");
	CHECK_EQ_STR(kv_find(&kv, "last"), "no newline");
	kv_done(&kv);
	kv_parse(&kv, (struct str){ NULL, 0 });
	CHECK_EQ_U64(kv.items.len, 0);
	kv_done(&kv);
}

TEST(kv_cut_at_every_length)
{
	static const char text[] = "a b\\nc\nkey \\\\value\n";

	for (size_t len = 0; len < sizeof(text); len++) {
		struct kv kv;

		kv_parse(&kv, (struct str){ (const char *)test_guard(text, len), len });
		CHECK(kv.items.len <= 3);
		kv_done(&kv);
	}
}
