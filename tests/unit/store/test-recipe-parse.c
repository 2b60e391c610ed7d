/* SPDX-License-Identifier: Apache-2.0 */
/* Recipe files: what is read, and which line a fault is on. */
#include "base/os.h"
#include "fixture.h"
#include "test.h"

#define HEAD "recipe r\nquestion Why?\n"
#define TABLE "table t\n title T\n column a count A\n sql\n  SELECT 1 AS a\n end\n"

static struct recipe *parse(const char *text)
{
	struct recipe *r;
	struct err err;

	if (!recipe_parse(&r, "x.recipe", str_of(text), &err))
		FAIL("%s", err.text);
	return r;
}

static void check_fault(const char *text, const char *want)
{
	struct recipe *r;
	struct err err;

	if (recipe_parse(&r, "x.recipe", str_of(text), &err))
		FAIL("parsed: %s", text);
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, want);
}

/* Parses, but its SQL does not fit. */
static void check_check(const char *text, const char *want)
{
	struct recipe *r = parse(text);
	struct err err;

	if (recipe_check(r, &err))
		FAIL("passed: %s", text);
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, want);
	recipe_free(r);
}

TEST(parse_everything)
{
	struct recipe *r = parse("# comment\n"
				 "recipe all\n"
				 "question  What is it? \n"
				 "summary one\n"
				 "summary two\n"
				 "option cut pct 0.5 least share\n"
				 "option name text - a name\n"
				 "rung best needs spe  counters:6\n"
				 "  text the best\n"
				 "  text there is\n"
				 "rung plain\n"
				 "  text anywhere\n"
				 "\n"
				 "table t\n"
				 "  title The title\n"
				 "  empty nothing\n"
				 "  require rows\n"
				 "  hidden\n"
				 "  column a count Label of a\n"
				 "  column b tree\n"
				 "  cut a cut\n"
				 "  share a\n"
				 "  sql\n"
				 "    SELECT 1 AS a,\n"
				 "    # gone\n"
				 "    'x' AS b\n"
				 "  end\n"
				 "  more\n"
				 "    SELECT 0, NULL\n"
				 "  end\n"
				 "finding f\n"
				 "  severity warning\n"
				 "  sql\n"
				 "    SELECT 5 AS n\n"
				 "  end\n"
				 "  text it is {n:count}\n"
				 "  text indeed\n"
				 "  basis {n}\n"
				 "stop NO_IT refused\n"
				 "  sql\n"
				 "    SELECT 1 AS n WHERE 0\n"
				 "  end\n"
				 "  text none\n"
				 "  remedy get {n}");
	struct err err;

	CHECK_EQ_STR(r->name, "all");
	CHECK_EQ_STR(r->question, "What is it?");
	CHECK_EQ_STR(r->summary, "one two");
	CHECK(!r->planned);
	CHECK_EQ_U64(r->rung_count, 2);
	CHECK_EQ_STR(r->rungs[0].name, "best");
	CHECK_EQ_STR(r->rungs[0].text, "the best there is");
	CHECK_EQ_U64(r->rungs[0].need_count, 2);
	CHECK_EQ_STR(r->rungs[0].needs[0], "spe");
	CHECK_EQ_STR(r->rungs[0].needs[1], "counters:6");
	CHECK_EQ_INT(r->rungs[0].line, 8);
	CHECK_EQ_STR(r->rungs[1].name, "plain");
	CHECK_EQ_U64(r->rungs[1].need_count, 0);
	CHECK_EQ_U64(r->option_count, 2);
	CHECK_EQ_STR(r->options[0].value, "0.5");
	CHECK_EQ_STR(r->options[0].help, "least share");
	CHECK_EQ_STR(r->options[1].value, "");
	CHECK_EQ_U64(r->table_count, 1);
	CHECK(r->tables[0].required && r->tables[0].hidden);
	CHECK_EQ_STR(r->tables[0].columns[0].label, "Label of a");
	CHECK_EQ_STR(r->tables[0].columns[1].label, "b");
	CHECK_EQ_INT(r->tables[0].columns[1].kind, COLUMN_TREE);
	CHECK_EQ_INT(r->tables[0].rows.line, 24);
	CHECK_EQ_STR(r->tables[0].rows.text, "    SELECT 1 AS a,\n\n    'x' AS b\n");
	CHECK_EQ_STR(r->findings[0].text, "it is {n:count} indeed");
	CHECK_EQ_INT(r->stops[0].kind, ERR_REFUSED);
	CHECK(recipe_check(r, &err));
	recipe_free(r);
}

TEST(parse_faults_name_the_line)
{
	check_fault("", "x.recipe:0: the recipe has no name");
	check_fault("recipe r\n", "x.recipe:1: the recipe has no question");
	check_fault(HEAD, "x.recipe:2: recipe r has no table");
	check_fault("recipe r\nrecipe r\n", "x.recipe:2: recipe comes twice");
	check_fault("recipe Big\n",
		    "x.recipe:1: recipe: \"Big\" is no name (small letters, digits, "
		    "_)");
	check_fault("recipe\n", "x.recipe:1: recipe: \"\" is no name (small letters, digits, _)");
	check_fault(HEAD "frobnicate\n", "x.recipe:3: unknown word \"frobnicate\"");
	check_fault(HEAD "title x\n", "x.recipe:3: title does not belong here");
	check_fault(HEAD "question again\n", "x.recipe:3: question comes twice");
	check_fault(HEAD TABLE "option a count 1 late\n",
		    "x.recipe:9: option does not belong here");
	check_fault(HEAD "option a count x help\n", "x.recipe:3: option a: \"x\" is no count");
	check_fault(HEAD "option a pct 101 help\n", "x.recipe:3: option a: \"101\" is no pct");
	check_fault(HEAD "option a number nan help\n",
		    "x.recipe:3: option a: \"nan\" is no number");
	check_fault(HEAD "option a colour 1 help\n",
		    "x.recipe:3: option a: kind \"colour\" is none of text, count, pct, number");
	check_fault(HEAD "option a count 1\n", "x.recipe:3: help of an option has no text");
	check_fault(HEAD "option a count\n", "x.recipe:3: option a needs: NAME KIND DEFAULT HELP");
	check_fault(HEAD "table t\n\n title T\n", "x.recipe:3: table t has no column");
	check_fault(HEAD "table t\n title T\n column a count\n column a count\n",
		    "x.recipe:6: column a comes twice");
	check_fault(HEAD "table t\n column a colour\n",
		    "x.recipe:4: column a: unknown kind \"colour\"");
	check_fault(HEAD "table t\n sql\n SELECT 1\n", "x.recipe:4: sql has no end");
	check_fault(HEAD "table t\n sql\n end\n", "x.recipe:5: sql is empty");
	check_fault(HEAD TABLE TABLE, "x.recipe:9: table t comes twice");
	check_fault(HEAD "table t\n title T\n column a count\n cut b c\n sql\n SELECT 1\n end\n",
		    "x.recipe:3: table t: cut or share names no column of it");
	check_fault(HEAD "table t\n title T\n column a count\n cut a c\n sql\n SELECT 1\n end\n",
		    "x.recipe:3: table t: cut or top names no option");
	check_fault(HEAD TABLE "finding f\n text x\n", "x.recipe:9: finding f has no sql");
	check_fault(HEAD TABLE "finding f\n severity loud\n",
		    "x.recipe:10: severity is info, warning or problem");
	check_fault(HEAD TABLE "finding f\n text a {b\n",
		    "x.recipe:10: text has an open { without }");
	check_fault(HEAD TABLE "finding f\n text a {b:loud}\n",
		    "x.recipe:10: text has an unknown form; known are count, pct and ms");
	check_fault(HEAD TABLE "finding f\n text {}\n",
		    "x.recipe:10: text has a {name} without a name");
	check_fault(HEAD TABLE "stop no refused\n",
		    "x.recipe:9: stop: \"no\" is no name (capitals, digits, _)");
	check_fault(HEAD TABLE "stop NO loud\n",
		    "x.recipe:9: stop NO: kind \"loud\" is none of refused, usage, not_found");
}

TEST(parse_refuses_zero_bytes_and_size)
{
	static const char zero[] = "recipe r\0\nquestion x\n";
	struct recipe *r;
	struct err err;
	char *big = mem_alloc((1 << 20) + 2);

	CHECK(!recipe_parse(&r, "z", (struct str){ zero, sizeof(zero) - 1 }, &err));
	CHECK_HAS(err.text, "zero byte");
	memset(big, '\n', (1 << 20) + 1);
	CHECK(!recipe_parse(&r, "z", str_of(big), &err));
	CHECK_EQ_INT(err.kind, ERR_LIMIT);
	os_free_ptr(&big);
}

#define RUNG "rung a needs timer\n text by time\n"

TEST(parse_planned)
{
	struct recipe *r = parse(HEAD "planned\nsummary s\n" RUNG "rung b\n text else\n");
	struct err err;

	CHECK(r->planned);
	CHECK_EQ_U64(r->rung_count, 2);
	CHECK_EQ_STR(r->rungs[0].needs[0], "timer");
	CHECK(recipe_check(r, &err));
	recipe_free(r);
	check_fault(HEAD "planned\n", "x.recipe:3: recipe r has no rung");
	check_fault(HEAD "planned now\n" RUNG, "x.recipe:3: planned takes no words");
	check_fault(HEAD "planned\n" RUNG TABLE,
		    "x.recipe:11: recipe r is planned: it has a question, a summary and rungs, and "
		    "nothing else");
	check_fault(HEAD "planned\noption a text - b\n" RUNG,
		    "x.recipe:6: recipe r is planned: it has a question, a summary and rungs, and "
		    "nothing else");
	/* Rungs alone do not make a recipe. */
	check_fault(HEAD RUNG, "x.recipe:4: recipe r has no table");
}

TEST(parse_rung_faults)
{
	check_fault(HEAD "rung\n", "x.recipe:3: rung wants: NAME [needs WORD ...]");
	check_fault(HEAD "rung All\n", "x.recipe:3: rung wants: NAME [needs WORD ...]");
	check_fault(HEAD "rung a wants spe\n",
		    "x.recipe:3: rung a: only needs may stand behind the name");
	check_fault(HEAD "rung a needs\n", "x.recipe:3: rung a: needs names nothing; leave it out");
	check_fault(HEAD "rung a needs spe Spe\n",
		    "x.recipe:3: rung a: \"Spe\" is no need (small letters, digits, -, :)");
	check_fault(HEAD "rung a needs spe\n" TABLE, "x.recipe:3: rung a has no text");
	check_fault(HEAD RUNG "rung a\n text x\n", "x.recipe:5: rung a comes twice");
	check_fault(HEAD TABLE RUNG, "x.recipe:9: rungs come before tables, findings and stops");
	check_fault(HEAD RUNG " title T\n", "x.recipe:5: title does not belong here");
	check_fault(HEAD "ladder cycles\n", "x.recipe:3: unknown word \"ladder\"");
}

/* Cut anywhere, the built-in recipe is read or refused, and nothing else happens. */
TEST(parse_cut_anywhere)
{
	struct recipe *r;
	struct err err;

	for (const struct recipe_builtin *b = recipe_builtins; b->name; b++)
		for (size_t len = 0; len <= strlen(b->text); len += 3) {
			const uint8_t *text = test_guard(b->text, len);

			if (recipe_parse(&r, "cut", (struct str){ (const char *)text, len }, &err))
				recipe_free(r);
			else
				CHECK_EQ_INT(err.kind, ERR_FORMAT);
			if (len > 3000)
				len += 60;
		}
}

TEST(check_names_the_line_of_sql)
{
	check_check(HEAD "table t\n title T\n column a count\n sql\n SELECT 1 AS a,\n nix\n end\n",
		    "x.recipe:8: no such column: nix");
	check_check(HEAD "table t\n title T\n column a count\n sql\n\n SELECT 1 AS b\n end\n",
		    "x.recipe:7: table t does not select a");
	check_check(HEAD "table t\n title T\n column a count\n sql\n SELECT 1 AS a, 2 AS c\n end\n",
		    "x.recipe:7: table t selects c, which is no column of it");
	check_check(HEAD "table t\n title T\n column a count\n sql\n SELECT :x AS a\n end\n",
		    "x.recipe:7: parameter :x is no option");
	check_check(HEAD "table t\n title T\n column a count\n sql\n SELECT 1 AS a;\n SELECT 2\n"
			 " end\n",
		    "x.recipe:7: the SQL must be one statement");
	check_check(HEAD "table t\n title T\n column a count\n sql\n SELECT self AS a FROM "
			 "t_functions\n end\n",
		    "x.recipe:7: table t_functions is private, only the v1_ views are public");
	check_check(HEAD TABLE "finding f\n sql\n SELECT 1 AS n\n end\n text {m}\n",
		    "x.recipe:11: {m} is not selected");
}

TEST(check_why_columns_are_known)
{
	struct recipe *r = parse(HEAD
				 "table t\n title T\n column a count\n sql\n SELECT NULL AS a, "
				 "'dark' AS a_why\n end\n");
	struct err err;

	CHECK(recipe_check(r, &err));
	recipe_free(r);
}

TEST(builtin_recipes_are_sound)
{
	const char *const *names = recipe_names();

	CHECK_EQ_STR(names[0], "code_hotspots");
	for (; *names; names++) {
		struct recipe *r;
		struct err err;

		if (!recipe_load(&r, *names, &err) || !recipe_check(r, &err))
			FAIL("%s", err.text);
		CHECK_EQ_STR(r->name, *names);
		CHECK_EQ_STR(r->source, "built-in");
		CHECK(r->rung_count >= 1);
		CHECK_EQ_INT(r->planned, strcmp(*names, "code_hotspots") != 0);
		recipe_free(r);
	}
}

TEST(load_errors)
{
	char_auto missing = mem_printf("%s/none.recipe", test_tmpdir());
	char_auto path = mem_printf("%s/mine.recipe", test_tmpdir());
	buf_auto text = { 0 };
	struct recipe *r;
	struct err err;

	CHECK(!recipe_load(&r, "code_hotspot", &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.hint, "code_hotspots");
	CHECK(!recipe_load(&r, missing, &err));
	CHECK_HAS(err.text, missing);
	CHECK(os_save_file(path, HEAD TABLE, strlen(HEAD TABLE), &err));
	CHECK(recipe_load(&r, path, &err));
	CHECK_EQ_STR(r->source, path);
	recipe_free(r);
	CHECK(recipe_text(path, &text, &err));
	CHECK_EQ_STR(buf_str(&text), HEAD TABLE);
	CHECK(!recipe_text("nix", &text, &err));
}
