/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel addresses by saved kallsyms, and what is said when there is none. */
#include "build.h"

#include <stdlib.h>

static const char kallsyms[] = "0000000000000000 A fixed_percpu_data\n"
			       "ffffffff81000000 T _stext\n"
			       "ffffffff81000000 T _text\n"
			       "ffffffff81000040 t helper\n"
			       "ffffffff81000040 t __pfx_helper\n"
			       "ffffffff81000100 T do_work\n"
			       "ffffffff81000100 W weak_work\n"
			       "ffffffff81000180 t $x.4\n"
			       "ffffffff81000200 T last_one\n"
			       "ffffffff81000300 R data_behind\n"
			       "ffffffff81000400 T _etext_not\n"
			       "ffffffffc0001000 t mod_first\t[nice]\n"
			       "ffffffffc0001080 t mod_second\t[nice]\n";

static void ask_kernel(struct ask *a, const char *path, const uint64_t *addresses, size_t count)
{
	ask_init(a, path);
	a->model.images.at[0].kind = MODEL_IMAGE_KERNEL;
	a->model.images.at[0].key = "kernel";
	for (size_t i = 0; i < count; i++)
		vec_add(&a->model.addrs, ((struct model_addr){ .address = addresses[i] }));
}

TEST(kallsyms_names)
{
	static const uint64_t addresses[] = {
		0xffffffff81000000,
		0xffffffff81000050,
		0xffffffff81000100,
		0xffffffff810001ff,
		0xffffffff81000210,
		0xffffffff81000310,
		0xffffffffc0001000,
		0xffffffffc00010ff,
		0xffffffffc0100000,
		0xffffffff80ffffff,
		0x10,
	};
	static const char *const names[] = {
		"_text",     "helper",	   "do_work",	"do_work",   "last_one",  "[unknown]",
		"mod_first", "mod_second", "[unknown]", "[unknown]", "[unknown]",
	};
	const size_t count = sizeof(addresses) / sizeof(addresses[0]);
	struct ask a;

	ask_kernel(&a, build_file("kallsyms", kallsyms), addresses, count);
	vec_add(&a.model.addrs,
		((struct model_addr){ .is_return = true, .address = 0xffffffff81000100 }));
	ask_resolve(&a);
	for (uint32_t i = 0; i < count; i++)
		CHECK_EQ_STR(ask_name(&a, i), names[i]);
	CHECK_EQ_STR(ask_name(&a, (uint32_t)count), "helper");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_NO_LINES);
	CHECK_EQ_U64(a.symbols->unknown_addrs, 4);
	CHECK_EQ_U64(ask_function(&a, 2, 0)->address, 0xffffffff81000100);
	CHECK_EQ_U64(ask_function(&a, 2, 0)->size, 0x100);
	CHECK_EQ_INT(ask_frame(&a, 2, 0)->function.i, ask_frame(&a, 3, 0)->function.i);
	ask_done(&a);
}

TEST(kallsyms_of_zeros_is_one_hidden_bucket)
{
	static const uint64_t addresses[] = { 0xffffffff81000000, 0xffffffff81234567, 0 };
	struct ask a;

	ask_kernel(&a,
		   build_file("kallsyms", "0000000000000000 T _stext\n"
					  "0000000000000000 T do_work\n"),
		   addresses, 3);
	a.options.kptr_restrict = 1;
	ask_resolve(&a);
	for (uint32_t i = 0; i < 3; i++)
		CHECK_EQ_STR(ask_name(&a, i), "[kernel] (symbols hidden: kptr_restrict=1)");
	CHECK_EQ_INT(ask_function(&a, 0, 0)->kind, SYMBOL_KERNEL_HIDDEN);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_HIDDEN);
	CHECK_EQ_U64(a.symbols->functions.len, 1);
	CHECK_EQ_U64(a.symbols->unknown_addrs, 0);
	ask_done(&a);
}

TEST(kernel_without_a_run)
{
	static const uint64_t addresses[] = { 0xffffffff81000000 };
	struct err err;
	struct ask a;

	ask_kernel(&a, "[kernel]", addresses, 1);
	CHECK(symbols_resolve_from(&a.symbols, &a.model, symbol_locate_here, NULL, &a.options,
				   &err));
	CHECK_EQ_STR(ask_name(&a, 0), "[kernel]");
	CHECK_EQ_INT(ask_function(&a, 0, 0)->kind, SYMBOL_UNKNOWN);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_MISSING);
	symbols_free(a.symbols);
	a.options.kptr_restrict = 2;
	CHECK(symbols_resolve_from(&a.symbols, &a.model, symbol_locate_here, NULL, &a.options,
				   &err));
	CHECK_EQ_STR(ask_name(&a, 0), "[kernel] (symbols hidden: kptr_restrict=2)");
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_HIDDEN);
	ask_done(&a);
}

TEST(damaged_kallsyms)
{
	static const uint64_t addresses[] = { 0xffffffff81000105, 0xffffffff81000045 };
	struct ask a;

	ask_kernel(&a,
		   build_file("kallsyms", "garbage\n\n \nffffffff81000040 t helper\n"
					  "ffffffff81000100\nffffffff81000100 T \n"
					  "ffffffff81000102 Tx name\nffffffff81000104 T good"),
		   addresses, 2);
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "good");
	CHECK_EQ_STR(ask_name(&a, 1), "helper");
	ask_done(&a);
}

TEST(anonymous_and_unmapped_memory)
{
	struct ask a;

	ask_init(&a, "//anon");
	a.model.images.at[0].kind = MODEL_IMAGE_ANON;
	vec_add(&a.model.images,
		((struct model_image){ .kind = MODEL_IMAGE_UNKNOWN, .path = "", .key = "" }));
	vec_add(&a.model.images,
		((struct model_image){ .kind = MODEL_IMAGE_FILE, .path = "/nowhere", .key = "" }));
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x7f0000000000 }));
	vec_add(&a.model.addrs, ((struct model_addr){ .image = { 1 }, .address = 4 }));
	vec_add(&a.model.addrs, ((struct model_addr){ .address = 0x7f0000000100 }));
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "[unknown]");
	CHECK_EQ_STR(ask_name(&a, 1), "[unknown]");
	/* One bucket for each image. */
	CHECK(ask_frame(&a, 0, 0)->function.i != ask_frame(&a, 1, 0)->function.i);
	CHECK_EQ_INT(ask_frame(&a, 0, 0)->function.i, ask_frame(&a, 2, 0)->function.i);
	CHECK_EQ_INT(ask_function(&a, 1, 0)->image.i, 1);
	CHECK_EQ_U64(a.symbols->addr_values[0], 0x7f0000000000);
	CHECK_EQ_INT(a.symbols->images[0].state, SYMBOL_IMAGE_NONE);
	CHECK_EQ_INT(a.symbols->images[2].state, SYMBOL_IMAGE_UNUSED);
	CHECK_EQ_STR(symbol_image_state_name(a.symbols->images[2].state), "unused");
	CHECK_EQ_U64(a.symbols->unknown_addrs, 3);
	ask_done(&a);
}
