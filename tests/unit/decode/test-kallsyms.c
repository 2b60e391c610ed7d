/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of /proc/kallsyms. */
#include "decode/kallsyms.h"

#include "base/os.h"
#include "base/rootfs.h"
#include "test.h"

TEST(kallsyms_kernel_and_module)
{
	struct kallsyms_line l;

	CHECK(kallsyms_parse(str_of("ffffffff81000000 T _text"), &l));
	CHECK_EQ_U64(l.address, 0xffffffff81000000);
	CHECK_EQ_INT(l.type, 'T');
	CHECK(str_eq(l.name, "_text"));
	CHECK_EQ_U64(l.module.len, 0);
	CHECK(kallsyms_is_code(&l));
	CHECK(kallsyms_parse(str_of("ffffffffc0a01010 t nf_hook.isra.0\t[nf_tables]\n"), &l));
	CHECK(str_eq(l.name, "nf_hook.isra.0"));
	CHECK(str_eq(l.module, "nf_tables"));
	CHECK(kallsyms_parse(str_of("0000000000000000 A fixed_percpu_data"), &l));
	CHECK_EQ_U64(l.address, 0);
	CHECK(!kallsyms_is_code(&l));
	/* 32 bits. */
	CHECK(kallsyms_parse(str_of("c0008000 T stext"), &l));
	CHECK_EQ_U64(l.address, 0xc0008000);
}

TEST(kallsyms_code)
{
	static const struct {
		const char *line;
		bool code;
	} all[] = {
		{ "1 t f", true },    { "1 T f", true },     { "1 w f", true },
		{ "1 W f", true },    { "1 i f", true },     { "1 d v", false },
		{ "1 D v", false },   { "1 r v", false },    { "1 b v", false },
		{ "1 V v", false },   { "1 t $x", false },   { "1 t $d.12", false },
		{ "1 t $t", false },  { "1 t $a.7", false }, { "1 t $", true },
		{ "1 t $xyz", true }, { "1 t $x_1", true },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		struct kallsyms_line l;

		CHECK(kallsyms_parse(str_of(all[i].line), &l));
		CHECK_MSG(kallsyms_is_code(&l) == all[i].code, "%s", all[i].line);
	}
}

TEST(kallsyms_no_line)
{
	static const char *const bad[] = {
		"",
		"ffffffff81000000",
		"ffffffff81000000 T",
		"xyz T f",
		"1 TT f",
		"1 T f module",
		"1 T f [module",
		"1 T f [",
		"0x1 T f",
		" ",
		"10000000000000000 T f",
		"-1 T f",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct kallsyms_line l = { .address = 42 };

		CHECK_MSG(!kallsyms_parse(str_of(bad[i]), &l), "%s", bad[i]);
		CHECK_EQ_U64(l.address, 42);
	}
}

TEST(kallsyms_cut_at_every_length)
{
	static const char line[] = "ffffffffc0a01010 t hook\t[nf]";

	for (size_t len = 0; len <= strlen(line); len++) {
		struct str s = { (const char *)test_guard(line, len), len };
		struct kallsyms_line l;
		bool name = len > 19 && len <= 24, whole = len == strlen(line);

		CHECK_EQ_INT(kallsyms_parse(s, &l), name || whole);
	}
}

TEST(kallsyms_of_this_kernel)
{
	static const struct rootfs here = { "" };
	size_t lines = 0, code = 0;
	buf_auto text = { 0 };
	struct str rest, line;

	if (!rootfs_read(&here, "/proc/kallsyms", &text) || !text.len)
		SKIP("no /proc/kallsyms");
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		struct kallsyms_line l;

		CHECK_MSG(kallsyms_parse(line, &l), "%.*s", (int)line.len, line.at);
		lines++;
		code += kallsyms_is_code(&l);
	}
	CHECK(lines > 1000);
	CHECK(code > 500 && code <= lines);
}
