/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings of the perf of this machine: each sample's thread, name and the images along its whole
 * stack, as perf script says them and as the model says them. Threads and names must be the same for
 * each sample. Stacks may differ in one of a hundred: perf looks up what frame pointers lead to after
 * an exec in the old program's mappings too, and drops a whole stack for one broken entry.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../decode/run-perf.h"
#include "base/map.h"
#include "base/os.h"
#include "recording.h"
#include "test.h"

/* How often each text came, from both sides. */
struct tally {
	const char *only; /* what thread names begin with, NULL: whatever runs is compared */
	struct intern texts;
	VEC(uint64_t) perf;
	VEC(uint64_t) model;
};

static void tally_add(struct tally *t, struct buf *text, uint64_t perf, uint64_t model)
{
	uint32_t i;

	if (t->only && !str_starts(buf_str(text), t->only) &&
	    !str_starts(buf_str(text), "swapper ")) {
		buf_clear(text);
		return;
	}
	i = intern_put(&t->texts, str_of(buf_str(text)));
	if (i == t->perf.len) {
		vec_add(&t->perf, 0);
		vec_add(&t->model, 0);
	}
	t->perf.at[i] += perf;
	t->model.at[i] += model;
	buf_clear(text);
}

/* perf names kernel modules and trampolines; to the model all of it is the kernel. */
static void add_dso(struct buf *text, struct str dso)
{
	static const char *const own[] = { "[unknown]", "[vdso]", "[vsyscall]", "[heap]",
					   "[stack]" };
	bool is_kernel = dso.len && dso.at[0] == '[';

	for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++)
		is_kernel = is_kernel && !str_eq(dso, own[i]);
	if (is_kernel)
		buf_puts(text, "<[kernel]");
	else
		buf_printf(text, "<%.*s", (int)dso.len, dso.at);
}

/* "   7f0123 (/lib/x.so)": false when it is garbage that ends a stack. */
static bool add_frame(struct buf *text, struct str line)
{
	struct str word;
	uint64_t ip;

	CHECK(str_word(&line, &word) && str_hex(word, &ip));
	line = str_trim(line);
	CHECK(line.len > 2 && line.at[0] == '(');
	/* An ip inside a mapping is told as an offset, another one as it is. */
	if (ip < 4096 && str_eq(line, "([unknown])"))
		return false;
	add_dso(text, (struct str){ line.at + 1, line.len - 2 });
	return true;
}

static void read_perf(struct tally *t, struct str all)
{
	struct buf text = { 0 };
	struct str line;
	bool open = false;

	while (str_line(&all, &line)) {
		struct str trimmed = str_trim(line);
		size_t ids = trimmed.len;

		if (!trimmed.len) {
			if (text.len)
				tally_add(t, &text, 1, 0);
		} else if (!text.len) {
			/* "comm  pid/tid", blanks in comm included. */
			while (ids && trimmed.at[ids - 1] != ' ')
				ids--;
			line = str_trim((struct str){ trimmed.at, ids });
			buf_printf(&text, "%.*s %.*s ", (int)line.len, line.at,
				   (int)(trimmed.len - ids), trimmed.at + ids);
			open = true;
		} else if (open) {
			open = add_frame(&text, line);
		}
	}
	if (text.len)
		tally_add(t, &text, 1, 0);
	buf_done(&text);
}

static void read_model(struct tally *t, const struct model *m)
{
	struct buf text = { 0 };

	for (size_t i = 0; i < m->weights.len; i++) {
		const struct model_weight *w = &m->weights.at[i];
		const struct model_thread *k = &m->threads.at[w->thread.i];
		struct str comm = str_trim(str_of(k->comm));

		buf_printf(&text, "%.*s %d/%d ", (int)comm.len, comm.at, (int)k->pid, (int)k->tid);
		for (uint32_t n = w->node.i; n != MODEL_NONE; n = m->nodes.at[n].parent.i) {
			struct image_id id = m->addrs.at[m->nodes.at[n].addr.i].image;
			const struct model_image *image = &m->images.at[id.i];

			add_dso(&text, str_of(image->path));
			buf_puts(&text, image->deleted ? " (deleted)" : "");
		}
		tally_add(t, &text, 0, w->samples);
	}
	buf_done(&text);
}

/*
 * Off by how many samples in all, and the stack that is off most, which is t's; thread names are
 * the texts up to the first frame.
 */
static uint64_t count_differences(const struct tally *t, const char **worst)
{
	struct tally threads = { 0 };
	uint64_t off = 0, most = 0;

	for (size_t i = 0; i < t->texts.names.len; i++) {
		const char *text = t->texts.names.at[i];
		struct buf thread = { 0 };

		buf_add(&thread, text, strcspn(text, "<"));
		tally_add(&threads, &thread, t->perf.at[i], t->model.at[i]);
		buf_done(&thread);
		if (t->model.at[i] > t->perf.at[i])
			off += t->model.at[i] - t->perf.at[i];
		if (t->model.at[i] > t->perf.at[i] && t->model.at[i] - t->perf.at[i] > most) {
			most = t->model.at[i] - t->perf.at[i];
			*worst = text;
		}
	}
	for (size_t i = 0; i < threads.texts.names.len; i++)
		CHECK_MSG(threads.perf.at[i] == threads.model.at[i],
			  "%s: perf %" PRIu64 ", model %" PRIu64, threads.texts.names.at[i],
			  threads.perf.at[i], threads.model.at[i]);
	intern_done(&threads.texts);
	vec_done(&threads.perf);
	vec_done(&threads.model);
	return off;
}

static uint64_t sum(const struct tally *t)
{
	uint64_t samples = 0;

	for (size_t i = 0; i < t->model.len; i++)
		samples += t->model.at[i];
	return samples;
}

static void compare(const char *record, const char *only)
{
	char_auto path = mem_printf("%s/p.data", test_tmpdir());
	struct buf out = { 0 };
	struct os_map map = { 0 };
	struct perfdata pd = { 0 };
	struct model *m = NULL;
	struct err err = { 0 };
	struct tally t = { .only = only };
	const char *worst = "";
	uint64_t off, samples;

	perf_run(&out, "record -q -g -e cpu-clock -F 10000 -o %s %s", path, record);
	buf_clear(&out);
	perf_run(&out, "script -i %s -F comm,pid,tid,ip,dso", path);
	CHECK_MSG(os_map_file(path, &map, &err), "%s", err.text);
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK_MSG(model_load(&m, &pd, NULL, &err), "%s", err.text);
	read_perf(&t, str_of(buf_str(&out)));
	read_model(&t, m);
	samples = sum(&t);
	CHECK_MSG(samples > 100, "%" PRIu64 " of %" PRIu64 " samples", samples, m->samples);
	off = count_differences(&t, &worst);
	/* perf resolves some stacks of short-lived processes through mappings of the next program. */
	CHECK_MSG(off * 20 <= samples, "%" PRIu64 " of %" PRIu64 " stacks differ, such as %.400s",
		  off, samples, worst);
	CHECK_EQ_U64(m->bad_records, 0);
	CHECK_EQ_U64(m->unknown_records, 0);
	CHECK(!m->partial);
	model_free(m);
	perfdata_close(&pd);
	os_unmap(&map);
	intern_done(&t.texts);
	vec_done(&t.perf);
	vec_done(&t.model);
	buf_done(&out);
}

/* A shell with subshells that fork, exec, and end. */
TEST(processes_that_come_and_go)
{
	perf_needed();
	compare("-- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do ls -R /usr/share/doc >/dev/null; "
		"(for k in 1 2 3; do head -c 3000000 /dev/zero | gzip | wc -c >/dev/null; done); "
		"done'",
		NULL);
}

/* A name for the program that only processes of this test have. */
static char *own_program(const char *prefix, const char *name)
{
	static const char *const folders[] = { "/bin", "/usr/bin" };
	char *link = mem_printf("%s/%s%s", test_tmpdir(), prefix, name);

	for (size_t i = 0; i < 2; i++) {
		char_auto path = mem_printf("%s/%s", folders[i], name);

		if (!access(path, X_OK)) {
			CHECK(!symlink(path, link));
			return link;
		}
	}
	SKIP("no program %s", name);
}

/*
 * All CPUs and idle, among whatever else runs on the machine. Only what the test has started is
 * compared: perf and the model need not agree on code that others make as they go, nor on
 * processes that were about to end when the recording began.
 */
TEST(whole_machine)
{
	char_auto prefix = mem_printf("o%d-", (int)getpid());
	char_auto command = NULL;
	char_auto sh = NULL;
	char_auto ls = NULL;
	char_auto sort = NULL;
	char_auto sleep = NULL;

	perf_needed();
	if (geteuid())
		SKIP("not root");
	sh = own_program(prefix, "sh");
	ls = own_program(prefix, "ls");
	sort = own_program(prefix, "sort");
	sleep = own_program(prefix, "sleep");
	command =
		mem_printf("-a -- %s -c 'for i in 1 2 3; do %s -lR /usr/share/doc | %s >/dev/null; "
			   "%s 0.1; done'",
			   sh, ls, sort, sleep);
	compare(command, prefix);
}
