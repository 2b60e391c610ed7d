/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by name, the samples of their code, and where inlined copies are. */
#include "store/functions.h"

#include <stdlib.h>

#include "base/os.h"
#include "fixture.h"
#include "test.h"

enum { CHASE, MIX, UNKNOWN, MAIN, SETUP, IDLE };

/* The instructions that the fixture leaves out. */
static void add_instructions(struct fixture *f)
{
	vec_add(&f->h.instructions,
		((struct hot_instruction){ { CHASE }, { 0 }, 0x1008, 0, 11, { 100, 1000 } }));
	vec_add(&f->h.instructions,
		((struct hot_instruction){ { SETUP }, { 0 }, 0x3008, 1, 5, { 60, 600 } }));
	vec_add(&f->h.instructions, ((struct hot_instruction){ { UNKNOWN },
							       { 1 },
							       UINT64_C(0xffffffff00000777),
							       MODEL_NONE,
							       0,
							       { 30, 300 } }));
	vec_add(&f->h.instructions,
		((struct hot_instruction){ { UNKNOWN }, { 1 }, 0x777, MODEL_NONE, 0, { 10, 100 } }));
}

/* A store of functions that differ in their names alone, each with this many samples itself. */
struct named {
	const char *name, *raw_name;
	uint32_t image;
	uint64_t samples;
	enum symbol_function_kind kind;
};

static struct store *store_of(struct fixture *f, const struct named *names, size_t count)
{
	fixture_init(f);
	vec_clear(&f->s.functions);
	vec_clear(&f->h.functions);
	vec_clear(&f->h.lines);
	vec_clear(&f->h.instructions);
	vec_clear(&f->h.edges);
	vec_clear(&f->h.tree);
	for (uint32_t i = 0; i < count; i++) {
		const struct named *n = &names[i];
		struct hot_count self = { n->samples, n->samples * 10 };

		vec_add(&f->s.functions,
			((struct symbol_function){ .kind = n->kind,
						   .name = n->name,
						   .raw_name = n->raw_name ? n->raw_name : n->name,
						   .image = { n->image },
						   .address = n->kind ? 0 : 0x1000 * (i + 1),
						   .size = n->kind ? 0 : 0x100,
						   .file = i % 2,
						   .line = 1 }));
		vec_add(&f->h.functions,
			((struct hot_function){
				{ i }, self, { n->samples + 5, self.weight + 50 } }));
		if (n->kind == SYMBOL_FUNCTION && n->samples)
			vec_add(&f->h.instructions,
				((struct hot_instruction){
					{ i }, { n->image }, 0x1000 * (i + 1), 0, 1, self }));
	}
	/* Stacks that name functions which are gone would not fit. */
	vec_clear(&f->m.weights);
	return fixture_store(f);
}

static const struct named names[] = {
	{ "unsigned long shop::mill<unsigned long>::grind<3>(unsigned long) const", "_Zgrind", 0,
	  100, SYMBOL_FUNCTION },
	{ "shop::bake(long)", "_Zbake", 0, 90, SYMBOL_FUNCTION },
	{ "deflate", NULL, 0, 80, SYMBOL_FUNCTION },
	{ "deflate", NULL, 1, 70, SYMBOL_FUNCTION },
	{ "deflate_slow", NULL, 1, 60, SYMBOL_FUNCTION },
	{ "step", NULL, 0, 50, SYMBOL_FUNCTION },
	{ "step", NULL, 0, 40, SYMBOL_FUNCTION },
	{ "outer", NULL, 0, 0, SYMBOL_FUNCTION },
	{ "outer_loop", NULL, 0, 30, SYMBOL_FUNCTION },
	{ "same", NULL, 0, 20, SYMBOL_FUNCTION },
	{ "same", NULL, 0, 0, SYMBOL_FUNCTION },
	{ "[unknown]", "", 1, 10, SYMBOL_UNKNOWN },
	{ "operator<<(std::ostream&, int)", "_Zls", 0, 9, SYMBOL_FUNCTION },
	{ "shop::bake(long)::'lambda'(unsigned long)::operator()(unsigned long) const", "_Zl", 0, 8,
	  SYMBOL_FUNCTION },
	{ "shop::(anonymous namespace)::sieve(unsigned long)", "_Zs", 0, 7, SYMBOL_FUNCTION },
};

static struct store_found find(const struct store_functions *all, const char *words)
{
	struct store_found found;
	struct err err;

	CHECK_MSG(store_function_find(all, words, &found, &err), "%s: %s", words, err.text);
	return found;
}

static void finds(const struct store_functions *all, const char *words, uint32_t id)
{
	struct store_found found = find(all, words);

	CHECK_MSG(found.function->id == id, "%s is %u %s", words, found.function->id,
		  found.function->name);
	CHECK(!found.has_address);
}

static struct err fails(const struct store_functions *all, const char *words, const char *id)
{
	struct store_found found;
	struct err err;

	CHECK_MSG(!store_function_find(all, words, &found, &err), "%s is found", words);
	CHECK_EQ_STR(err_id(&err), id);
	return err;
}

/* The message offers this spelling, and it leads to that function. */
static void offers(const struct store_functions *all, const struct err *err, const char *words,
		   uint32_t id)
{
	char_auto told = mem_printf("%s (", words);

	CHECK_HAS(err->text, told);
	finds(all, words, id);
}

TEST(functions_by_name)
{
	struct store_functions all;
	struct fixture f;
	struct store *s = store_of(&f, names, sizeof(names) / sizeof(names[0]));
	struct err err;

	CHECK(store_functions_load(&all, s, &err));
	CHECK_EQ_U64(all.list.len, 15);
	CHECK_EQ_U64(all.list.at[0].code.samples, 100);
	finds(&all, names[0].name, 0);
	finds(&all, "unsigned long shop::mill<unsigned long>::grind<3>", 0);
	finds(&all, "shop::mill<unsigned long>::grind<3>", 0);
	finds(&all, "_Zgrind", 0);
	finds(&all, "grind", 0);
	finds(&all, "shop::bake", 1);
	finds(&all, "app:shop::bake", 1);
	finds(&all, "/opt/app/bin/app:deflate", 2);
	finds(&all, "libz.so.1:deflate", 3);
	finds(&all, "deflate_slow", 4);
	finds(&all, "deflate_s", 4);
	finds(&all, "0x6010", 5);
	finds(&all, "mix.h:step", 5);
	finds(&all, "app:0x7000", 6);
	finds(&all, "operator<<", 12);
	finds(&all, "shop::bake(long)::'lambda'(unsigned long)::operator()", 13);
	finds(&all, "lambda", 13);
	finds(&all, "shop::(anonymous namespace)::sieve", 14);
	/* Of two with one name, only one has something to show. */
	finds(&all, "same", 9);
	finds(&all, "[unknown]", 11);
	/* As reports shorten names, with either gap. */
	finds(&all, "unsigned long shop::mill<..>::grind<3>(..) const", 0);
	finds(&all,
	      "unsigned long shop::mill<\xe2\x80\xa6>::grind<\xe2\x80\xa6>(\xe2\x80\xa6) const", 0);
	finds(&all, "shop::bake(..)", 1);
	finds(&all, "shop::mill<..>::grind<..>", 0);
	finds(&all, "unsigned..mill<..>::grind<3>(unsigned long) const", 0);
	/* What stands in brackets ends with them. */
	fails(&all, "shop::mill<..>", "NO_SUCH_FUNCTION");
	fails(&all, "mill<..>::grind<3>(..) const", "NO_SUCH_FUNCTION");
	fails(&all, "....", "NO_SUCH_FUNCTION");
	/* Parts of paths, from the end. */
	finds(&all, "bin/app:deflate", 2);
	finds(&all, "usr/lib/libz.so.1:deflate", 3);
	finds(&all, "src/mix.h:step", 5);
	finds(&all, "mix.h:1:step", 5);
	fails(&all, "ix.h:step", "NO_SUCH_FUNCTION");
	fails(&all, "mix.h:2:step", "NO_SUCH_FUNCTION");
	/* Template arguments may be left out. */
	finds(&all, "shop::mill<unsigned long>::grind", 0);
	fails(&all, "shop::mill::grind", "NO_SUCH_FUNCTION");
	CHECK(!find(&all, "shop::mill<unsigned long>::grind").is_part);
	CHECK(!find(&all, "deflate_slow").is_part);
	CHECK(find(&all, "deflate_s").is_part);
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

TEST(functions_that_cannot_be_found)
{
	struct store_functions all;
	struct fixture f;
	struct store *s = store_of(&f, names, sizeof(names) / sizeof(names[0]));
	struct err err;

	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "deflate", "AMBIGUOUS_FUNCTION");
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK_EQ_STR(err.text, "deflate fits 2 functions: app:deflate (app, 8.00 %), "
			       "libz.so.1:deflate (libz.so.1, 7.00 %)");
	err = fails(&all, "step", "AMBIGUOUS_FUNCTION");
	CHECK_EQ_STR(err.text, "step fits 2 functions: mix.h:step (app, 5.00 %), "
			       "app.c:step (app, 4.00 %)");
	offers(&all, &err, "mix.h:step", 5);
	offers(&all, &err, "app.c:step", 6);
	err = fails(&all, "shop::", "AMBIGUOUS_FUNCTION");
	CHECK_HAS(err.text, "no function is called shop::, 4 have it in their name: ");
	offers(&all, &err, "shop::bake", 1);
	err = fails(&all, "OUTER_LOO", "NO_SUCH_FUNCTION");
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_EQ_STR(err.text, "no sample has a function called OUTER_LOO");
	CHECK_EQ_STR(err.hint, "names like it: outer_loop");
	err = fails(&all, "libz.so.1:outer_loop", "NO_SUCH_FUNCTION");
	CHECK_EQ_STR(err.hint,
		     "the hottest ones: unsigned long shop::mill<unsigned long>::grind<3>; "
		     "shop::bake; deflate");
	err = fails(&all, "outer", "NO_OWN_SAMPLES");
	CHECK_EQ_STR(err.text, "outer has no samples of its own: the 5 samples (0.50 %) with it in "
			       "their stack are in what it calls");
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

TEST(functions_many_candidates_fit_the_message)
{
	struct named many[40];
	char *text[40];
	struct store_functions all;
	struct fixture f;
	struct store *s;
	struct err err;

	for (size_t i = 0; i < 40; i++) {
		text[i] = mem_printf("function_with_a_rather_long_name_%02zu", i);
		many[i] = (struct named){ text[i], NULL, 0, 100 - i, SYMBOL_FUNCTION };
	}
	s = store_of(&f, many, 40);
	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "function_with", "AMBIGUOUS_FUNCTION");
	CHECK_HAS(err.text, "no function is called function_with, 40 have it in their name: "
			    "function_with_a_rather_long_name_00 (app, 10.00 %), ");
	CHECK_HAS(err.text, " and 34 more");
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
	for (size_t i = 0; i < 40; i++)
		free(text[i]);
}

/* Each is told apart by what differs, and each spelling that is offered leads to its function. */
TEST(functions_of_one_name_are_told_apart)
{
	static const struct named twins[] = {
		{ "work", NULL, 0, 90, SYMBOL_FUNCTION },
		{ "work", NULL, 1, 80, SYMBOL_FUNCTION },
		{ "run::{closure#0}", "_R0", 0, 70, SYMBOL_FUNCTION },
		{ "gap", NULL, 0, 1, SYMBOL_FUNCTION },
		{ "run::{closure#0}", "_R0", 0, 60, SYMBOL_FUNCTION },
		{ "bake(long)", "_Zl", 0, 50, SYMBOL_FUNCTION },
		{ "bake(int)", "_Zi", 0, 40, SYMBOL_FUNCTION },
		{ "each::{closure}", "_R1", 0, 30, SYMBOL_INLINE },
		{ "gap", NULL, 0, 1, SYMBOL_FUNCTION },
		{ "each::{closure}", "_R1", 0, 20, SYMBOL_INLINE },
		{ "[kernel] (symbols hidden)", "", 1, 2, SYMBOL_KERNEL_HIDDEN },
		{ "kernel_work", NULL, 1, 1, SYMBOL_FUNCTION },
	};
	struct store_functions all;
	struct fixture f;
	struct store *s;
	struct err err;

	s = store_of(&f, twins, sizeof(twins) / sizeof(twins[0]));
	store_close(s);
	/* The same name of the library's file too, in another folder; and another line. */
	f.m.images.at[0].path = "/opt/d1/libw.so";
	f.m.images.at[1].path = "/opt/d2/libw.so";
	f.s.functions.at[9].line = 2;
	f.s.functions.at[1].file = f.s.functions.at[0].file;
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "work", "AMBIGUOUS_FUNCTION");
	offers(&all, &err, "d1/libw.so:work", 0);
	offers(&all, &err, "d2/libw.so:work", 1);
	err = fails(&all, "run::{closure#0}", "AMBIGUOUS_FUNCTION");
	CHECK_EQ_STR(err.text,
		     "run::{closure#0} fits 2 functions: libw.so:0x3000 (run::{closure#0} "
		     "at app.c:1, 7.00 %), libw.so:0x5000 (run::{closure#0} at app.c:1, "
		     "6.00 %)");
	finds(&all, "libw.so:0x3000", 2);
	finds(&all, "libw.so:0x5000", 4);
	err = fails(&all, "bake", "AMBIGUOUS_FUNCTION");
	offers(&all, &err, "bake(long)", 5);
	offers(&all, &err, "bake(int)", 6);
	err = fails(&all, "kernel", "AMBIGUOUS_FUNCTION");
	offers(&all, &err, "[kernel] (symbols hidden)", 10);
	/* Inlined copies have no address. */
	err = fails(&all, "each::{closure}", "AMBIGUOUS_FUNCTION");
	offers(&all, &err, "mix.h:1:each::{closure}", 7);
	offers(&all, &err, "mix.h:2:each::{closure}", 9);
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

/* Names that are too long for a message are replaced by addresses, and shortened beside them. */
TEST(functions_of_long_names)
{
	static const struct named few[] = {
		{ "std::unordered_map<std::string, std::vector<unsigned long, my::allocator>>::"
		  "find(std::string const&)",
		  "_Z1", 0, 90, SYMBOL_FUNCTION },
		{ "std::unordered_map<std::string, std::vector<unsigned char, my::allocator>>::"
		  "find(std::string const&)",
		  "_Z2", 0, 80, SYMBOL_FUNCTION },
	};
	struct store_functions all;
	struct fixture f;
	struct store *s = store_of(&f, few, 2);
	struct err err;

	store_close(s);
	f.s.functions.at[1].file = f.s.functions.at[0].file;
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "unordered", "AMBIGUOUS_FUNCTION");
	CHECK_HAS(err.text, "app:0x1000 (std::unordered_map<...>::find at app.c:1, 9.00 %)");
	finds(&all, "app:0x1000", 0);
	finds(&all, "app:0x2000", 1);
	offers(&all, &err, "app:0x2000", 1);
	err = fails(&all, "UNORDERED", "NO_SUCH_FUNCTION");
	CHECK_EQ_STR(err.hint, "names like it: std::unordered_map<...>::find");
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

/* A part of a name without samples of its own is a suggestion, no function that was meant. */
TEST(functions_whose_part_has_no_samples)
{
	static const struct named few[] = {
		{ "dl_main", NULL, 0, 0, SYMBOL_FUNCTION },
		{ "spin", NULL, 0, 900, SYMBOL_FUNCTION },
	};
	struct store_functions all;
	struct fixture f;
	struct store *s = store_of(&f, few, 2);
	struct err err;

	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "main", "NO_SUCH_FUNCTION");
	CHECK_EQ_STR(err.hint, "names like it: dl_main");
	err = fails(&all, "dl_main", "NO_OWN_SAMPLES");
	CHECK_EQ_STR(err.hint, "culprit report shows in its call tree what dl_main calls; annotate "
			       "that");
	all.report = "culprit report -i perf.data";
	err = fails(&all, "dl_main", "NO_OWN_SAMPLES");
	CHECK_HAS(err.hint, "culprit report -i perf.data shows");
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

/* When most of the time has no name, the function that is missed may be there. */
TEST(functions_without_names)
{
	static const struct named few[] = {
		{ "[unknown]", "", 1, 600, SYMBOL_UNKNOWN },
		{ "main", NULL, 0, 10, SYMBOL_FUNCTION },
	};
	struct store_functions all;
	struct fixture f;
	struct store *s = store_of(&f, few, 2);
	struct err err;

	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "chase", "NO_SUCH_FUNCTION");
	CHECK_EQ_STR(err.hint, "60.0 % of the time has no function name, 60.0 % is in "
			       "/usr/lib/libz.so.1: annotate 'libz.so.1:[unknown]' shows its code; "
			       "culprit report says what would give names to it");
	finds(&all, "libz.so.1:[unknown]", 0);
	store_functions_done(&all);
	store_close(s);
	/* Where the image itself is missing, it is named. */
	f.s.images[1].state = SYMBOL_IMAGE_MISSING;
	f.s.images[1].why = "/usr/lib/libz.so.1: No such file or directory";
	memcpy(f.m.images.at[1].build_id, "bb22", 5);
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	err = fails(&all, "chase", "NO_SUCH_FUNCTION");
	CHECK_HAS(err.hint, "60.0 % is in /usr/lib/libz.so.1 (build id bb22), which is not here: "
			    "/usr/lib/libz.so.1: No such file or directory; culprit report says");
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

TEST(function_around_an_address)
{
	struct store_functions all;
	struct store_found found;
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	add_instructions(&f);
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	found = find(&all, "libz.so.1:0x780");
	CHECK_EQ_U64(found.function->id, UNKNOWN);
	CHECK(found.has_address);
	CHECK_EQ_U64(found.address, 0x780);
	CHECK_EQ_U64(find(&all, "0x677").function->id, UNKNOWN);
	CHECK_EQ_U64(find(&all, "0xffffffff00000877").function->id, UNKNOWN);
	fails(&all, "0x676", "NO_SUCH_FUNCTION");
	fails(&all, "app:0x780", "NO_SUCH_FUNCTION");
	/* A function's own address is that function, whatever is near. */
	finds(&all, "0x1004", CHASE);
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

TEST(function_samples_by_address)
{
	struct store_samples samples;
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	add_instructions(&f);
	s = fixture_store(&f);
	CHECK(store_function_samples(&samples, s, CHASE, &err));
	CHECK_EQ_U64(samples.list.len, 2);
	CHECK_EQ_U64(samples.list.at[0].address, 0x1004);
	CHECK_EQ_U64(samples.list.at[0].count.samples, 800);
	CHECK_EQ_U64(samples.list.at[0].count.weight, 8000);
	CHECK_EQ_STR(samples.list.at[1].file, "/src/app.c");
	CHECK_EQ_U64(samples.list.at[1].line, 11);
	store_samples_done(&samples);
	/* Addresses above 63 bits come last, and have no line here. */
	CHECK(store_function_samples(&samples, s, UNKNOWN, &err));
	CHECK_EQ_U64(samples.list.len, 2);
	CHECK_EQ_U64(samples.list.at[0].address, 0x777);
	CHECK_EQ_U64(samples.list.at[1].address, UINT64_C(0xffffffff00000777));
	CHECK(!samples.list.at[0].file);
	store_samples_done(&samples);
	CHECK(store_function_samples(&samples, s, 12345, &err));
	CHECK_EQ_U64(samples.list.len, 0);
	store_samples_done(&samples);
	store_close(s);
	fixture_done(&f);
}

TEST(function_counts_of_code_and_of_itself)
{
	struct store_functions all;
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	add_instructions(&f);
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	CHECK_EQ_U64(all.list.len, 5);
	CHECK_EQ_STR(all.list.at[0].name, "chase");
	CHECK_EQ_U64(all.list.at[0].code.samples, 900);
	CHECK_EQ_STR(all.list.at[0].image_key, "aa11");
	CHECK_EQ_STR(all.list.at[0].image_kind, "file");
	vec_each(fn, &all.list) {
		if (!strcmp(fn->name, "setup")) {
			/* All of it is in what is inlined there. */
			CHECK_EQ_U64(fn->self.samples, 0);
			CHECK_EQ_U64(fn->code.samples, 60);
			CHECK_EQ_U64(store_function_count(fn).samples, 60);
		}
		if (!strcmp(fn->kind, "inline")) {
			CHECK_EQ_U64(fn->code.samples, 60);
			CHECK_EQ_U64(store_function_count(fn).samples, 60);
		}
	}
	CHECK_NEAR(store_function_pct(&all, 9000), 90, 1e-9);
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}

TEST(function_hosts_of_inlined_copies)
{
	struct store_hosts hosts;
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	s = fixture_store(&f);
	CHECK(store_function_hosts(&hosts, s, MIX, &err));
	CHECK_EQ_U64(hosts.list.len, 1);
	CHECK_EQ_U64(hosts.list.at[0].function, SETUP);
	CHECK_EQ_U64(hosts.list.at[0].count.samples, 60);
	CHECK_EQ_U64(hosts.list.at[0].count.weight, 600);
	vec_done(&hosts.list);
	CHECK(store_function_hosts(&hosts, s, MAIN, &err));
	CHECK_EQ_U64(hosts.list.len, 0);
	store_close(s);
	fixture_done(&f);
}

/* mix has another function inlined into it, which has all of its samples. */
TEST(function_hosts_of_nested_copies)
{
	struct store_functions all;
	struct store_hosts hosts;
	struct store_found found;
	struct fixture f;
	struct store *s;
	struct err err;

	fixture_init(&f);
	add_instructions(&f);
	vec_add(&f.s.functions, ((struct symbol_function){ .kind = SYMBOL_INLINE,
							   .name = "deep",
							   .raw_name = "deep",
							   .image = { 0 },
							   .file = 1,
							   .line = 40 }));
	vec_add(&f.h.functions, ((struct hot_function){ { 6 }, { 60, 600 }, { 60, 600 } }));
	f.h.functions.at[MIX].self = (struct hot_count){ 0, 0 };
	f.h.tree.at[4].self = (struct hot_count){ 0, 0 };
	vec_add(&f.h.tree, ((struct hot_node){ 4, { 6 }, true, 3, { 60, 600 }, { 60, 600 } }));
	s = fixture_store(&f);
	CHECK(store_functions_load(&all, s, &err));
	found = find(&all, "mix<int>");
	CHECK_EQ_U64(found.function->id, MIX);
	CHECK_EQ_U64(found.function->self.samples, 0);
	CHECK_EQ_U64(found.function->code.samples, 60);
	CHECK(store_function_hosts(&hosts, s, MIX, &err));
	CHECK_EQ_U64(hosts.list.len, 1);
	CHECK_EQ_U64(hosts.list.at[0].function, SETUP);
	CHECK_EQ_U64(hosts.list.at[0].count.samples, 60);
	vec_done(&hosts.list);
	store_functions_done(&all);
	store_close(s);
	fixture_done(&f);
}
