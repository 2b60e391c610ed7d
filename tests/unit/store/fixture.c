/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the model, symbols, hot spots and evidence that the tests of store/ share. */
#include "fixture.h"

#include <stdlib.h>

#include "test.h"

enum { CHASE, MIX, UNKNOWN, MAIN, SETUP, IDLE };
enum { FILE_APP, FILE_MIX };

/* Samples with a period of 10 each. */
#define N(samples)                    \
	{                             \
		samples, samples * 10 \
	}

static void add_image(struct fixture *f, enum model_image_kind kind, const char *path,
		      const char *build_id, enum symbol_image_state state, const char *why)
{
	struct model_image *image = vec_push(&f->m.images);

	*image = (struct model_image){ .kind = kind, .path = path, .key = build_id, .pid = 100 };
	memcpy(image->build_id, build_id, strlen(build_id) + 1);
	f->s.images = mem_resize(f->s.images, sizeof(*f->s.images) * (f->s.image_count + 1));
	f->s.images[f->s.image_count++] =
		(struct symbol_image){ .state = state, .why = why, .debug = "" };
}

static void add_function(struct fixture *f, enum symbol_function_kind kind, const char *name,
			 uint32_t image, uint64_t address, uint32_t file, uint32_t line)
{
	vec_add(&f->s.functions,
		((struct symbol_function){ .kind = kind,
					   .name = name,
					   .raw_name = kind == SYMBOL_UNKNOWN ? "" : name,
					   .image = { image },
					   .address = address,
					   .size = kind == SYMBOL_FUNCTION ? 0x40 : 0,
					   .file = file,
					   .line = line }));
}

static void add_addr(struct fixture *f, uint32_t image, uint64_t address)
{
	vec_add(&f->m.addrs, ((struct model_addr){ .image = { image }, .address = address }));
	f->s.addrs = mem_resize(f->s.addrs, sizeof(*f->s.addrs) * f->m.addrs.len);
	f->s.addrs[f->m.addrs.len - 1] = (struct symbol_span){ (uint32_t)f->s.frames.len, 0 };
	f->s.addr_count = f->m.addrs.len;
}

/* A frame of the address added last. */
static void add_frame(struct fixture *f, uint32_t function, uint32_t file, uint32_t line,
		      bool inlined)
{
	vec_add(&f->s.frames, ((struct symbol_frame){ { function }, file, line, inlined }));
	f->s.addrs[f->m.addrs.len - 1].count++;
}

static void fill_symbols(struct fixture *f)
{
	intern_put(&f->s.files, str_of("/src/app.c"));
	intern_put(&f->s.files, str_of("/src/mix.h"));
	add_image(f, MODEL_IMAGE_FILE, "/opt/app/bin/app", "aa11", SYMBOL_IMAGE_FULL, "");
	add_image(f, MODEL_IMAGE_FILE, "/usr/lib/libz.so.1", "", SYMBOL_IMAGE_DYNAMIC, "");
	add_image(f, MODEL_IMAGE_KERNEL, "[kernel]", "", SYMBOL_IMAGE_NO_LINES, "");
	add_function(f, SYMBOL_FUNCTION, "chase", 0, 0x1000, FILE_APP, 9);
	add_function(f, SYMBOL_INLINE, "mix<int>(a, b)", 0, 0, FILE_MIX, 4);
	add_function(f, SYMBOL_UNKNOWN, "[unknown]", 1, 0, MODEL_NONE, 0);
	add_function(f, SYMBOL_FUNCTION, "main", 0, 0x2000, FILE_APP, 28);
	add_function(f, SYMBOL_FUNCTION, "setup", 0, 0x3000, FILE_APP, 18);
	add_function(f, SYMBOL_FUNCTION, "default_idle", 2, UINT64_C(0xffffffff81000000),
		     MODEL_NONE, 0);
}

static void fill_stacks(struct fixture *f)
{
	static const struct model_node nodes[] = {
		{ { MODEL_NONE }, { 0 } }, { { 0 }, { 1 } },	      { { 0 }, { 2 } },
		{ { 0 }, { 3 } },	   { { MODEL_NONE }, { 4 } }, { { 0 }, { 5 } },
	};
	static const struct model_weight weights[] = {
		{ { 1 }, { 0 }, 0, 0, 500, 5000 }, { { 5 }, { 0 }, 0, 0, 100, 1000 },
		{ { 1 }, { 1 }, 0, 3, 300, 3000 }, { { 2 }, { 0 }, 0, 5, 60, 600 },
		{ { 3 }, { 0 }, 0, 999, 40, 400 }, { { 4 }, { 2 }, 0, 1, 500, 5000 },
	};

	add_addr(f, 0, 0x2010);
	add_frame(f, MAIN, FILE_APP, 30, false);
	add_addr(f, 0, 0x1004);
	add_frame(f, CHASE, FILE_APP, 10, false);
	add_addr(f, 0, 0x3008);
	add_frame(f, MIX, FILE_MIX, 5, true);
	add_frame(f, SETUP, FILE_APP, 20, false);
	add_addr(f, 1, 0x777);
	add_frame(f, UNKNOWN, MODEL_NONE, 0, false);
	add_addr(f, 2, UINT64_C(0xffffffff81000004));
	add_frame(f, IDLE, MODEL_NONE, 0, false);
	add_addr(f, 0, 0x1008);
	add_frame(f, CHASE, FILE_APP, 11, false);
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++)
		vec_add(&f->m.nodes, nodes[i]);
	for (size_t i = 0; i < sizeof(weights) / sizeof(weights[0]); i++)
		vec_add(&f->m.weights, weights[i]);
	vec_add(&f->m.threads, ((struct model_thread){ 100, 100, "app", "app", 700, 7000, false }));
	vec_add(&f->m.threads,
		((struct model_thread){ 100, 101, "nl\nhe\xff", "app", 300, 3000, false }));
	vec_add(&f->m.threads,
		((struct model_thread){ 0, 0, "swapper", "swapper", 500, 5000, true }));
	vec_add(&f->m.events, ((struct model_event){ .name = "cpu-clock",
						     .is_frequency = true,
						     .rate = 3997,
						     .samples = 1500,
						     .period = 15000 }));
}

static void fill_hotspots(struct fixture *f)
{
	static const struct hot_function functions[] = {
		{ { CHASE }, N(900), N(900) }, { { MIX }, N(60), N(60) },
		{ { UNKNOWN }, N(40), N(40) }, { { MAIN }, N(0), N(1000) },
		{ { SETUP }, N(0), N(60) },
	};
	static const struct hot_line lines[] = {
		{ { CHASE }, FILE_APP, 10, N(800), N(800) },
		{ { CHASE }, FILE_APP, 11, N(100), N(100) },
		{ { MIX }, FILE_MIX, 5, N(60), N(60) },
		{ { UNKNOWN }, MODEL_NONE, 0, N(40), N(40) },
		{ { MAIN }, FILE_APP, 30, N(0), N(1000) },
	};
	static const struct hot_node tree[] = {
		{ MODEL_NONE, { MAIN }, false, 0, N(0), N(1000) },
		{ 0, { CHASE }, false, 1, N(900), N(900) },
		{ 0, { SETUP }, false, 1, N(0), N(60) },
		{ 0, { UNKNOWN }, false, 1, N(40), N(40) },
		{ 2, { MIX }, true, 2, N(60), N(60) },
	};
	static const struct hot_edge edges[] = {
		{ { MAIN }, { CHASE }, N(900) },
		{ { MAIN }, { SETUP }, N(60) },
		{ { SETUP }, { MIX }, N(60) },
		{ { MAIN }, { UNKNOWN }, N(40) },
	};

	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		vec_add(&f->h.functions, functions[i]);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		vec_add(&f->h.lines, lines[i]);
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++)
		vec_add(&f->h.tree, tree[i]);
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++)
		vec_add(&f->h.edges, edges[i]);
	vec_add(&f->h.instructions,
		((struct hot_instruction){ { CHASE }, { 0 }, 0x1004, FILE_APP, 10, N(800) }));
	vec_add(&f->h.instructions,
		((struct hot_instruction){
			{ IDLE }, { 2 }, UINT64_C(0xffffffff81000004), MODEL_NONE, 0, N(3) }));
	vec_add(&f->h.threads, ((struct hot_count)N(700)));
	vec_add(&f->h.threads, ((struct hot_count)N(300)));
	vec_add(&f->h.threads, ((struct hot_count)N(500)));
	vec_add(&f->h.touched, 1000);
	vec_add(&f->h.touched, 40);
	vec_add(&f->h.touched, 0);
	f->h.all = (struct hot_count)N(1000);
	f->h.idle = (struct hot_count)N(500);
	f->h.unnamed = (struct hot_count)N(40);
	f->h.chain_samples = 1000;
	f->h.by_period = true;
}

static void fill_evidence(struct fixture *f)
{
	f->e = (struct evidence){
		.verdict = VERDICT_SOLID,
		.levels = { { "function", VERDICT_SOLID, "" },
			    { "line", VERDICT_WEAK, "4 % of samples have no line" },
			    { "instruction", VERDICT_WEAK, "skid is not corrected" },
			    { "call path", VERDICT_SOLID, "" } },
		.samples = 1000,
		.idle = 500,
		.unnamed = 40,
		.unnamed_pct = 4,
		.kernel = 10,
		.weight = 10000,
		.idle_weight = 5000,
		.unnamed_weight = 400,
		.kernel_weight = 100,
		.has_chains = true,
		.started = 1000,
		.started_weight = 10000,
		.source = "cpu-clock",
		.rings = "all",
		.is_frequency = true,
		.rate = 3997,
		.final_hz = 3997,
		.duration_ns = 2000000000,
		.line = "cpu-clock 3,997 Hz, 1,000 samples, 0 lost",
	};
}

static void fill_session(struct fixture *f)
{
	struct session *s = &f->session;

	*s = (struct session){ .id = mem_strdup("20260102-030405-code_hotspots"),
			       .state = SESSION_COMPLETE,
			       .recipe = mem_strdup("code_hotspots"),
			       .state_why = mem_strdup(""),
			       .pid = 100 };
	s->argv = mem_alloc(sizeof(*s->argv) * 4);
	s->argv[0] = mem_strdup("./app");
	s->argv[1] = mem_strdup("it's");
	s->argv[2] = mem_strdup("");
	kv_put(&s->target, "hostname", "box");
	kv_put(&s->target, "arch", "aarch64");
	kv_put(&s->target, "kernel", "6.1.0");
	kv_put(&s->target, "cpu", "Neoverse-N1");
	kv_put_u64(&s->target, "cpus_online", 4);
	kv_put_u64(&s->finished, "has_status", 1);
	kv_put_u64(&s->finished, "wait_status", 3 << 8);
	kv_put_u64(&s->finished, "wall_ns", 2000000000);
	kv_put_u64(&s->finished, "agent_cpu_ns", 12000000);
	kv_put_u64(&s->finished, "workload_cpu_ns", 1900000000);
	kv_put(&s->finished, "end", "exit");
	kv_put_u64(&s->finished, "final_frequency_hz", 3997);
	kv_put(&s->notes, "PARANOID", "kernel.perf_event_paranoid is 2");
	kv_put_u64(&s->stages, "load", 5000);
}

void fixture_init(struct fixture *f)
{
	*f = (struct fixture){ 0 };
	fill_symbols(f);
	fill_stacks(f);
	fill_hotspots(f);
	fill_evidence(f);
	fill_session(f);
	f->m.first_ns = 1000;
	f->m.last_ns = 2000001000;
	f->m.bucket_ns = 2000001;
	f->m.samples = 1500;
	f->m.chain_samples = 1000;
	f->m.chain_frames = 2560;
	vec_add(&f->m.notes, "3 records were skipped");
	f->in = (struct store_input){ .session = &f->session,
				      .model = &f->m,
				      .symbols = &f->s,
				      .hotspots = &f->h,
				      .evidence = &f->e,
				      .source_name = "perf.data" };
}

void fixture_done(struct fixture *f)
{
	vec_done(&f->m.images);
	vec_done(&f->m.threads);
	vec_done(&f->m.addrs);
	vec_done(&f->m.nodes);
	vec_done(&f->m.weights);
	vec_done(&f->m.events);
	vec_done(&f->m.notes);
	vec_done(&f->s.functions);
	vec_done(&f->s.frames);
	free(f->s.addrs);
	free(f->s.images);
	intern_done(&f->s.files);
	vec_done(&f->h.functions);
	vec_done(&f->h.lines);
	vec_done(&f->h.instructions);
	vec_done(&f->h.tree);
	vec_done(&f->h.edges);
	vec_done(&f->h.threads);
	vec_done(&f->h.touched);
	for (char **arg = f->session.argv; *arg; arg++)
		free(*arg);
	free(f->session.argv);
	free(f->session.id);
	free(f->session.recipe);
	free(f->session.state_why);
	buf_done(&f->session.options);
	buf_done(&f->session.target);
	buf_done(&f->session.finished);
	buf_done(&f->session.notes);
	buf_done(&f->session.stages);
}

struct store *fixture_store(struct fixture *f)
{
	struct store *s = NULL;
	struct err err;

	if (!store_build(&s, NULL, &f->in, &err))
		FAIL("store_build: %s", err.text);
	return s;
}

int64_t ask_number(struct store *s, const char *sql)
{
	char *text = ask_text(s, sql);
	int64_t v = INT64_MIN;

	CHECK_MSG(str_i64(str_of(text), &v), "%s gives \"%s\"", sql, text);
	free(text);
	return v;
}

char *ask_text(struct store *s, const char *sql)
{
	struct findings *f = NULL;
	const struct cell *c;
	struct err err;
	char *text;

	if (!store_query(&f, s, sql, &err))
		FAIL("%s: %s", sql, err.text);
	CHECK_EQ_U64(table_rows(&f->tables.at[0]), 1);
	c = table_cell(&f->tables.at[0], 0, 0);
	text = c->kind == CELL_TEXT    ? mem_strdup(c->text) :
	       c->kind == CELL_INTEGER ? mem_printf("%lld", (long long)c->integer) :
	       c->kind == CELL_REAL    ? mem_printf("%.6g", c->real) :
					 mem_strdup("NULL");
	findings_free(f);
	return text;
}

struct findings *run_hotspots(struct store *s, const char *const *settings)
{
	struct recipe_setting set[8];
	char *names[8];
	struct findings *f = NULL;
	struct recipe *r;
	size_t count = 0;
	struct err err;
	bool ok;

	for (; settings && settings[count]; count++) {
		const char *is = strchr(settings[count], '=');

		names[count] = mem_printf("%.*s", (int)(is - settings[count]), settings[count]);
		set[count] = (struct recipe_setting){ names[count], is + 1 };
	}
	if (!recipe_load(&r, "code_hotspots", &err))
		FAIL("%s", err.text);
	ok = recipe_run(&f, r, s, set, count, &err);
	recipe_free(r);
	while (count)
		free(names[--count]);
	if (!ok)
		FAIL("%s: %s", err_id(&err), err.text);
	return f;
}

const struct table *table_named(const struct findings *f, const char *id)
{
	for (size_t i = 0; i < f->tables.len; i++)
		if (!strcmp(f->tables.at[i].id, id))
			return &f->tables.at[i];
	FAIL("no table %s", id);
}

const struct cell *cell_named(const struct table *t, size_t row, const char *column)
{
	for (size_t i = 0; i < t->column_count; i++)
		if (!strcmp(t->columns[i].name, column) && row < table_rows(t))
			return table_cell(t, row, i);
	FAIL("table %s has no %s in row %zu", t->id, column, row);
}

const struct finding *finding_named(const struct findings *f, const char *id)
{
	for (size_t i = 0; i < f->findings.len; i++)
		if (!strcmp(f->findings.at[i].id, id))
			return &f->findings.at[i];
	return NULL;
}
