/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON renderer, read back with another library. */
#include <jansson.h>
#include <math.h>

#include "base/os.h"
#include "base/json-writer.h"
#include "sample.h"
#include "test.h"

static json_t *parse(struct buf *text)
{
	json_error_t error;
	json_t *j = json_loadb(buf_str(text), text->len, JSON_REJECT_DUPLICATES, &error);

	if (!j)
		FAIL("line %d: %s", error.line, error.text);
	return j;
}

static json_t *rendered(struct findings *f)
{
	buf_auto out = { 0 };
	json_t *j;

	render_json(&out, f, NULL);
	CHECK_EQ_INT(out.at[out.len - 1], '\n');
	j = parse(&out);
	findings_free(f);
	return j;
}

/* "a.b.0.c" from the top. */
static json_t *at(json_t *j, const char *path)
{
	struct str rest = str_of(path), part;

	while (j && str_cut(&rest, '.', &part)) {
		char_auto key = mem_printf("%.*s", (int)part.len, part.at);
		uint64_t n;

		j = str_u64(part, &n) ? json_array_get(j, (size_t)n) : json_object_get(j, key);
	}
	CHECK_MSG(j, "no %s", path);
	return j;
}

static const char *string_at(json_t *j, const char *path)
{
	const char *s = json_string_value(at(j, path));

	CHECK_MSG(s, "%s is no string", path);
	return s;
}

TEST(golden_json)
{
	struct findings *f = sample_full();
	buf_auto out = { 0 };

	render_json(&out, f, NULL);
	check_golden(&out, "full.json");
	findings_free(f);
}

TEST(json_contract)
{
	json_t *j = rendered(sample_full());

	CHECK_EQ_INT(json_integer_value(at(j, "format")), 1);
	CHECK_EQ_STR(string_at(j, "recipe"), "code_hotspots");
	CHECK_EQ_STR(string_at(j, "run"), "20260102-030405-code_hotspots");
	CHECK_EQ_STR(string_at(j, "target.hostname"), "box");
	CHECK(json_is_null(at(j, "target.cloud")));
	CHECK_EQ_STR(string_at(j, "target.cloud_why"), "not recorded");
	CHECK_EQ_STR(string_at(j, "evidence.verdict"), "weak");
	CHECK_EQ_INT(json_integer_value(at(j, "evidence.samples")), 20113);
	CHECK_EQ_INT(json_integer_value(at(j, "evidence.lost")), 12);
	CHECK_EQ_STR(string_at(j, "evidence.source"), "cpu-clock");
	CHECK(json_is_true(at(j, "evidence.partial")));
	CHECK_EQ_STR(string_at(j, "evidence.levels.2.why"), "skid is not corrected");
	CHECK_EQ_STR(string_at(j, "tables.functions.0.function"), "chase");
	CHECK_EQ_STR(string_at(j, "tables.functions.0.image"), "memlat");
	CHECK_NEAR(json_number_value(at(j, "tables.functions.0.self_pct")), 93.8123, 1e-9);
	CHECK_NEAR(json_number_value(at(j, "tables.functions.1.total_pct")), 100, 1e-9);
	CHECK_EQ_INT(json_integer_value(at(j, "tables.functions.0.samples")), 18869);
	CHECK(json_is_null(at(j, "tables.functions.2.image")));
	CHECK_EQ_STR(string_at(j, "tables.functions.2.image_why"),
		     "the address is in no known image");
	CHECK_EQ_STR(string_at(j, "tables.calltree.4.id"), "5");
	CHECK_EQ_STR(string_at(j, "tables.calltree.4.parent"), "4");
	CHECK_EQ_INT(json_integer_value(at(j, "tables.calltree.4.inlined")), 1);
	CHECK_EQ_STR(string_at(j, "tables.numbers.0.at"), "0xffffffff81000004");
	CHECK_EQ_INT(json_integer_value(at(j, "tables.numbers.0.n")), INT64_MAX);
	CHECK(json_real_value(at(j, "tables.numbers.1.n")) == 0.1);
	CHECK(json_real_value(at(j, "tables.numbers.2.n")) == -1e300);
	CHECK_EQ_U64(json_array_size(at(j, "tables.callers")), 0);
	CHECK_EQ_INT(json_integer_value(at(j, "more.functions.rows")), 1234);
	CHECK_NEAR(json_number_value(at(j, "more.functions.pct")), 0.6876, 1e-9);
	CHECK(json_is_null(at(j, "more.lines.pct")));
	CHECK_EQ_STR(string_at(j, "findings.1.severity"), "warning");
	CHECK_EQ_STR(string_at(j, "findings.2.text"), "an evil\x1b[2J name");
	CHECK_EQ_STR(string_at(j, "notes.0.id"), "PARANOID");
	CHECK_NEAR(json_number_value(at(j, "cost.agent_cpu_ms")), 12.3456, 1e-9);
	CHECK_EQ_INT(json_integer_value(at(j, "workload.signal")), 11);
	json_decref(j);
}

TEST(json_names)
{
	json_t *j = rendered(sample_names());

	CHECK_EQ_U64(json_array_size(at(j, "tables.threads")), HOSTILE_NAMES);
	for (size_t i = 0; i < HOSTILE_NAMES; i++) {
		char_auto path = mem_printf("tables.threads.%zu.thread", i);
		/* Only the one with invalid UTF-8 is not kept exactly. */
		const char *want = i == 6 ? "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbdzz" :
					    hostile_names[i];

		CHECK_EQ_STR(string_at(j, path), want);
	}
	json_decref(j);
}

TEST(json_without_run)
{
	struct findings *f = sample_names();
	json_t *j;

	f->run = NULL;
	j = rendered(f);
	CHECK(json_is_null(at(j, "run")));
	json_decref(j);
}

TEST(json_error)
{
	struct err err;
	buf_auto out = { 0 };
	json_t *j;

	err_refuse(&err, "PERF_EVENT_PARANOID", "not \"allowed\"\n");
	err_hint(&err, "set it to 1");
	render_json_error(&out, &err, NULL);
	j = parse(&out);
	CHECK_EQ_STR(string_at(j, "error.id"), "PERF_EVENT_PARANOID");
	CHECK_EQ_STR(string_at(j, "error.message"), "not \"allowed\"\n");
	CHECK_EQ_STR(string_at(j, "error.remedy"), "set it to 1");
	CHECK_EQ_INT(json_integer_value(at(j, "format")), 1);
	json_decref(j);
	buf_clear(&out);
	err_set(&err, ERR_FORMAT, "bad");
	render_json_error(&out, &err, "some-run");
	j = parse(&out);
	CHECK_EQ_STR(string_at(j, "error.id"), "FORMAT");
	CHECK_EQ_STR(string_at(j, "run"), "some-run");
	CHECK(json_is_null(at(j, "error.remedy")));
	json_decref(j);
}

static void check_real(double v, int decimals, const char *want)
{
	char text[400];

	jw_format_real(text, sizeof(text), v, decimals);
	CHECK_EQ_STR(text, want);
}

TEST(json_reals)
{
	check_real(0.1, -1, "0.1");
	check_real(1.0 / 3, -1, "0.33333333333333331");
	check_real(93.81, 4, "93.81");
	check_real(100, 4, "100");
	check_real(99.99999, 4, "100");
	check_real(0.00001, 4, "0");
	check_real(-0.00001, 4, "0");
	check_real(1e300, -1, "1e+300");
	check_real((double)INFINITY, -1, "");
	check_real((double)NAN, 4, "");
}

TEST(json_empty_containers)
{
	buf_auto out = { 0 };
	struct jw j = { .out = &out };

	jw_open(&j, NULL, '{', JSON_LINES);
	jw_open(&j, "a", '{', JSON_LINES);
	jw_close(&j, '}');
	jw_open(&j, "b", '[', JSON_FLAT);
	jw_integer(&j, NULL, 1);
	jw_open(&j, NULL, '[', JSON_LINES);
	jw_close(&j, ']');
	jw_real(&j, NULL, (double)NAN, -1);
	jw_close(&j, ']');
	jw_close(&j, '}');
	CHECK_EQ_STR(buf_str(&out), "{\n  \"a\": {},\n  \"b\": [1, [], null]\n}");
}
