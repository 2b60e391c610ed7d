/* SPDX-License-Identifier: Apache-2.0 */
/* The run store: naming, manifest, images, capture file, damage. */
#include "session/session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test.h"

static void use_home(void)
{
	setenv("CULPRIT_HOME", test_tmpdir(), 1);
}

static struct session *make(const char *recipe)
{
	struct session *s;
	struct err err;

	CHECK_MSG(session_create(&s, recipe, &err), "%s", err.text);
	return s;
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	CHECK_MSG(!stat(path, &st), "no %s", path);
	return st.st_mode & 0777;
}

TEST(home_rules)
{
	char_auto home = NULL;
	char_auto own = mem_printf("%s/a/b", test_tmpdir());
	struct err err;

	setenv("CULPRIT_HOME", own, 1);
	CHECK(session_home(&home, &err));
	CHECK_EQ_STR(home, own);
	CHECK_EQ_INT(mode_of(own), 0700);
	os_free_ptr(&home);
	unsetenv("CULPRIT_HOME");
	setenv("XDG_DATA_HOME", test_tmpdir(), 1);
	CHECK(session_home(&home, &err));
	CHECK(str_ends(home, "/culprit"));
	os_free_ptr(&home);
	unsetenv("XDG_DATA_HOME");
	setenv("HOME", test_tmpdir(), 1);
	CHECK(session_home(&home, &err));
	CHECK(str_ends(home, "/.local/share/culprit"));
	os_free_ptr(&home);
	unsetenv("HOME");
	CHECK(!session_home(&home, &err));
	CHECK_EQ_INT(err.kind, ERR_USAGE);
}

TEST(home_that_is_a_file)
{
	char_auto file = mem_printf("%s/file", test_tmpdir());
	struct session *s;
	struct err err;

	CHECK(os_save_file(file, "x", 1, &err));
	setenv("CULPRIT_HOME", file, 1);
	CHECK(!session_create(&s, "code_hotspots", &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_HAS(err.text, file);
	CHECK_HAS(err.hint, "CULPRIT_HOME");
}

TEST(manifest_keeps_everything)
{
	static char word[] = "two words", bad[] = "caf\xe9 \xff", line[] = "a\nb";
	struct session *s, *back;
	struct err err;
	struct kv kv;

	use_home();
	s = make("code_hotspots");
	CHECK_EQ_INT(mode_of(s->dir), 0700);
	s->argv = mem_resize(s->argv, 4 * sizeof(*s->argv));
	s->argv[0] = mem_strdup(word);
	s->argv[1] = mem_strdup(bad);
	s->argv[2] = mem_strdup(line);
	s->argv[3] = NULL;
	s->pid = 4711;
	s->state = SESSION_PARTIAL;
	free(s->state_why);
	s->state_why = mem_strdup("disk full");
	kv_put(&s->target, "hostname", "host");
	kv_put(&s->target, "pmu", "cpu 4");
	kv_put(&s->target, "pmu", "software 1");
	kv_put(&s->notes, "RATE_LOWERED", "multi\nline \\ text");
	CHECK_MSG(session_save(s, &err), "%s", err.text);

	CHECK_MSG(session_open(&back, s->id, &err), "%s", err.text);
	CHECK_EQ_STR(back->id, s->id);
	CHECK_EQ_STR(back->recipe, "code_hotspots");
	CHECK_EQ_INT(back->state, SESSION_PARTIAL);
	CHECK_EQ_STR(back->state_why, "disk full");
	CHECK_EQ_U64(back->pid, 4711);
	CHECK_EQ_U64(back->created_realtime_ns, s->created_realtime_ns);
	CHECK_EQ_STR(back->argv[0], word);
	CHECK_EQ_STR(back->argv[1], bad);
	CHECK_EQ_STR(back->argv[2], line);
	CHECK(!back->argv[3]);
	CHECK_EQ_STR(buf_str(&back->target), buf_str(&s->target));
	kv_parse(&kv, (struct str){ buf_str(&back->notes), back->notes.len });
	CHECK_EQ_STR(kv_get(&kv, "RATE_LOWERED"), "multi\nline \\ text");
	kv_done(&kv);
	session_close(back);
	session_close(s);
}

TEST(runs_are_found_by_name_and_part)
{
	struct session *a, *b, *got;
	struct session_list list;
	char_auto id = NULL;
	char_auto odd = NULL;
	bool b_first = false;
	struct err err;

	use_home();
	CHECK(!session_open(&got, NULL, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.hint, "culprit run");
	a = make("alpha");
	b = make("beta");
	/* A folder that is no run is not the last one. */
	odd = mem_printf("%s/runs/99991231-235959-x", test_tmpdir());
	CHECK(os_make_dirs(odd, &err));
	CHECK(session_open(&got, "last", &err));
	CHECK_EQ_STR(got->id, b->id);
	session_close(got);
	CHECK(session_open(&got, "alpha", &err));
	CHECK_EQ_STR(got->id, a->id);
	session_close(got);
	CHECK(session_open(&got, a->dir, &err));
	CHECK_EQ_STR(got->id, a->id);
	session_close(got);
	CHECK(!session_open(&got, "a", &err)); /* in both */
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	CHECK(!session_open(&got, "gamma", &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);

	CHECK(session_list(&list, &err));
	CHECK_EQ_INT(list.entries.len, 3);
	vec_each(e, &list.entries) {
		bool is_odd = str_ends(e->id, "-x");

		CHECK_EQ_STR(e->state, is_odd ? "unreadable" : "recording");
		CHECK(is_odd || e->bytes > 0);
		b_first = b_first || !strcmp(e->id, b->id);
		CHECK(strcmp(e->id, a->id) != 0 || b_first); /* the newer one before the older */
	}
	session_list_done(&list);

	/* Only whole names are removed, and never by an empty variable. */
	CHECK(!session_remove("alpha", &id, &err));
	CHECK(!session_remove("", &id, &err));
	CHECK(!access(a->dir, F_OK));
	CHECK(session_remove(a->id, &id, &err));
	CHECK_EQ_STR(id, a->id);
	CHECK(access(a->dir, F_OK) != 0);
	CHECK(!access(b->dir, F_OK));
	CHECK(!session_remove("../..", &id, &err));
	CHECK_EQ_INT(err.kind, ERR_USAGE);
	session_close(a);
	session_close(b);
}

TEST(two_runs_in_one_second_differ)
{
	struct session *a, *b;

	use_home();
	a = make("same");
	b = make("same");
	CHECK(strcmp(a->id, b->id) != 0);
	CHECK(strcmp(a->dir, b->dir) != 0);
	session_close(a);
	session_close(b);
}

static void spoil_manifest(const struct session *s, const char *text)
{
	char_auto path = mem_printf("%s/manifest.json", s->dir);
	struct err err;

	CHECK(os_save_file(path, text, strlen(text), &err));
}

TEST(damaged_manifests_are_refused_by_name)
{
	struct session *s, *got;
	struct session_list list;
	struct err err;

	use_home();
	s = make("x");
	spoil_manifest(s, "{\"format\": 1, \"recipe\"");
	CHECK(!session_open(&got, s->id, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_HAS(err.text, "manifest.json");
	CHECK(session_list(&list, &err));
	CHECK_EQ_STR(list.entries.at[0].state, "unreadable");
	session_list_done(&list);
	spoil_manifest(s, "[1, 2]");
	CHECK(!session_open(&got, s->id, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	spoil_manifest(s, "");
	CHECK(!session_open(&got, s->id, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	spoil_manifest(s, "{\"format\": 2}");
	CHECK(!session_open(&got, s->id, &err));
	CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
	CHECK_HAS(err.text, "newer version");
	/* Wrong types are taken as absent. */
	spoil_manifest(
		s, "{\"format\": 1, \"argv\": 3, \"recipe\": [], \"notes\": \"x\", \"pid\": -1}");
	CHECK_MSG(session_open(&got, s->id, &err), "%s", err.text);
	CHECK_EQ_STR(got->recipe, "");
	CHECK_EQ_U64(got->pid, 0);
	CHECK(!got->argv[0]);
	session_close(got);
	session_close(s);
}

static void put_image(const struct session *s, const char *key, const char *cache_key,
		      const char *text)
{
	struct session_image img;
	struct err err;

	CHECK_MSG(session_image_create(s, &img, &err), "%s", err.text);
	CHECK(os_write_all(img.fd, "image", text, strlen(text), &err));
	CHECK_MSG(session_image_commit(s, &img, key, cache_key, &err), "%s", err.text);
}

static void check_image(const struct session *s, const char *key, const char *text)
{
	char_auto path = session_image_path(s, key);
	buf_auto bytes = { 0 };
	struct err err;

	CHECK_MSG(path != NULL, "no image %s", key);
	CHECK(os_load_file(path, 1000, &bytes, &err));
	CHECK_EQ_STR(buf_str(&bytes), text);
}

TEST(images_are_shared_through_the_cache)
{
	struct session *a, *b;
	struct session_image img;
	char_auto cached = NULL;
	char_auto id = NULL;
	struct err err;

	use_home();
	a = make("a");
	b = make("b");
	CHECK(!session_image_path(a, "abcd"));
	CHECK(!session_image_link(a, "abcd", "abcd"));
	put_image(a, "abcd", "abcd", "one");
	put_image(a, "f-1", NULL, "uncached");
	check_image(a, "abcd", "one");
	CHECK(session_image_link(b, "abcd", "abcd"));
	check_image(b, "abcd", "one");
	CHECK(!session_image_link(b, "f-1", "f-1"));
	put_image(a, "kernel", "kallsyms-1-2", "syms");
	CHECK(session_image_link(b, "kernel", "kallsyms-1-2"));
	check_image(b, "kernel", "syms");
	/* The other run's images stay when one run goes; what only that one had leaves the cache. */
	put_image(a, "only", "only", "mine");
	cached = mem_printf("%s/only", a->cache);
	CHECK(!access(cached, F_OK));
	CHECK(session_remove(a->id, &id, &err));
	check_image(b, "abcd", "one");
	CHECK(session_image_link(b, "again", "abcd"));
	CHECK(access(cached, F_OK) != 0);

	CHECK(session_image_create(b, &img, &err));
	CHECK(!session_image_commit(b, &img, "../escape", NULL, &err));
	CHECK(!session_image_path(b, "../manifest.json"));
	CHECK(!session_image_path(b, ".."));
	session_close(a);
	session_close(b);
}

TEST(capture_file_is_whole_at_each_step)
{
	static const uint64_t ids[] = { 11, 12 };
	uint8_t attr[136] = { 1 };
	struct perfdata_new_event event = { .name = "cpu-clock",
					    .attr = { (const char *)attr, sizeof(attr) },
					    .ids = ids,
					    .id_count = 2 };
	struct perfdata_features features = { 0 };
	struct session_capture capture;
	struct perfdata_record rec;
	struct perfdata pd;
	struct os_map map;
	buf_auto round = { 0 };
	struct session *s;
	struct err err;
	uint64_t at;
	char_auto path = NULL;

	attr[4] = 136; /* attr.size */
	use_home();
	s = make("x");
	path = session_capture_path(s);
	CHECK_MSG(session_capture_open(s, &capture, &event, 1, &err), "%s", err.text);
	perfdata_put_finished_round(&round);
	CHECK(session_capture_add(&capture, (struct str){ buf_str(&round), round.len }, &err));

	/* As the host's death would leave it: readable, marked as cut. */
	CHECK(os_map_file(path, &map, &err));
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK(pd.cut);
	at = pd.data_start;
	CHECK_EQ_INT(perfdata_next(&pd, &at, &rec), PERFDATA_RECORD);
	CHECK_EQ_INT(rec.type, PERFDATA_FINISHED_ROUND);
	perfdata_close(&pd);
	os_unmap(&map);

	/* A piece of a record that a full disk left behind is cut off. */
	CHECK(os_pwrite_all(capture.fd, path, "junk", 4, capture.data_start + round.len, &err));
	CHECK_MSG(session_capture_seal(&capture, &err), "%s", err.text);
	perfdata_add_text(&features, PERFDATA_F_HOSTNAME, "somewhere");
	CHECK_MSG(session_capture_finish(&capture, &features, &err), "%s", err.text);
	perfdata_features_done(&features);
	session_capture_close(&capture);

	CHECK(os_map_file(path, &map, &err));
	CHECK_MSG(perfdata_open(&pd, path, map.bytes, map.len, &err), "%s", err.text);
	CHECK(!pd.cut);
	CHECK_EQ_INT(pd.attr_count, 1);
	CHECK_EQ_INT(pd.attrs[0].id_count, 2);
	CHECK_EQ_U64(pd.attrs[0].ids[1], 12);
	CHECK_EQ_STR(perfdata_feature_text(&pd, PERFDATA_F_HOSTNAME), "somewhere");
	at = pd.data_start;
	CHECK_EQ_INT(perfdata_next(&pd, &at, &rec), PERFDATA_RECORD);
	CHECK_EQ_INT(perfdata_next(&pd, &at, &rec), PERFDATA_END);
	perfdata_close(&pd);
	os_unmap(&map);
	session_close(s);
}
