/* SPDX-License-Identifier: Apache-2.0 */
/* Where runs live, how they are named, found, listed and removed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "session/parts.h"

enum { STAMP_LEN = 15 }; /* YYYYMMDD-HHMMSS */

bool session_home(char **home, struct err *err)
{
	const char *own = getenv("CULPRIT_HOME"), *xdg = getenv("XDG_DATA_HOME");
	const char *user = getenv("HOME");
	char_auto path = NULL;

	if (own && *own)
		path = mem_strdup(own);
	else if (xdg && *xdg)
		path = mem_printf("%s/culprit", xdg);
	else if (user && *user)
		path = mem_printf("%s/.local/share/culprit", user);
	else
		return err_set(err, ERR_USAGE, "no folder for runs: HOME is not set"),
		       err_hint(err, "set CULPRIT_HOME to a folder");
	if (path[0] != '/') {
		char_auto here = getcwd(NULL, 0);
		char *full = mem_printf("%s/%s", here ? here : ".", path);

		free(path);
		path = full;
	}
	if (!os_make_dirs(path, err)) {
		err_hint(err, "set CULPRIT_HOME to a folder that you can write to");
		return false;
	}
	*home = path;
	path = NULL;
	return true;
}

struct session *session_new(const char *home, const char *id, const char *dir)
{
	struct session *s = mem_alloc(sizeof(*s));

	s->id = mem_strdup(id);
	s->dir = mem_strdup(dir);
	s->cache = mem_printf("%s/cache/images", home);
	s->state_why = mem_strdup("");
	s->recipe = mem_strdup("");
	s->argv = mem_alloc(sizeof(*s->argv));
	return s;
}

/* Makes runs/<stamp>-<recipe>[-n] and its folders; the name is ours because mkdir made it. */
static bool make_run_dir(const char *home, const char *recipe, struct session **out,
			 struct err *err)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32];

	localtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", &tm);
	for (int n = 1; n < 10000; n++) {
		char_auto id = n == 1 ? mem_printf("%s-%s", stamp, recipe) :
					mem_printf("%s-%s-%d", stamp, recipe, n);
		char_auto dir = mem_printf("%s/runs/%s", home, id);

		if (!mkdir(dir, 0700)) {
			*out = session_new(home, id, dir);
			return true;
		}
		if (errno != EEXIST)
			return err_sys(err, errno, "cannot make the run folder %s", dir);
	}
	return err_set(err, ERR_LIMIT, "too many runs started in one second under %s", home);
}

bool session_create(struct session **out, const char *recipe, struct err *err)
{
	char_auto home = NULL;
	char_auto runs = NULL;
	struct session *s = NULL;
	struct err trouble;

	if (!session_home(&home, err))
		return false;
	runs = mem_printf("%s/runs", home);
	if (!os_make_dirs(runs, err) || !make_run_dir(home, recipe, &s, err) || !s) {
		err_hint(err, "set CULPRIT_HOME to a folder that you can write to");
		return false;
	}
	free(s->recipe);
	s->recipe = mem_strdup(recipe);
	s->created_realtime_ns = os_clock_ns(CLOCK_REALTIME);
	for (size_t i = 0; i < 2; i++) {
		char_auto sub = mem_printf("%s/%s", s->dir, i ? "images" : "capture");

		if (!os_make_dirs(sub, err))
			goto fail;
	}
	if (!os_make_dirs(s->cache, err) || !session_save(s, err))
		goto fail;
	*out = s;
	return true;
fail:
	/* A folder that is no run must not be the newest one. */
	if (!os_remove_tree(s->dir, &trouble))
		trouble.kind = ERR_NONE;
	session_close(s);
	return false;
}

static bool is_run(const char *dir)
{
	char_auto manifest = mem_printf("%s/manifest.json", dir);

	return !access(manifest, F_OK);
}

/* Names of the folders in runs/, newest first. Names begin with a time stamp and a counter. */
static int newest_first(const void *a, const void *b)
{
	const struct session_entry *x = a, *y = b;

	if (x->created_realtime_ns != y->created_realtime_ns)
		return x->created_realtime_ns < y->created_realtime_ns ? 1 : -1;
	return -strverscmp(x->id, y->id);
}

static uint64_t folder_bytes(const char *path)
{
	DIR *dir = opendir(path);
	uint64_t bytes = 0;
	struct stat st;

	for (struct dirent *d; dir && (d = readdir(dir));) {
		char_auto full = mem_printf("%s/%s", path, d->d_name);

		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") || lstat(full, &st))
			continue;
		if (S_ISDIR(st.st_mode))
			bytes += folder_bytes(full);
		else
			bytes += (uint64_t)st.st_blocks * 512;
	}
	if (dir)
		closedir(dir);
	return bytes;
}

static void list_one(struct session_list *list, const char *home, const char *id)
{
	char_auto dir = mem_printf("%s/runs/%s", home, id);
	struct session *s = session_new(home, id, dir);
	struct session_entry *e;
	struct err err;
	struct stat st;

	if (stat(dir, &st) || !S_ISDIR(st.st_mode)) {
		session_close(s);
		return;
	}
	e = vec_push(&list->entries);
	e->id = arena_strdup(&list->arena, id);
	e->recipe = e->command = "";
	e->bytes = folder_bytes(dir);
	e->created_realtime_ns = os_mtime_ns(&st);
	if (!session_load(s, &err)) {
		e->state = "unreadable";
	} else {
		struct buf cmd = { 0 };

		session_put_command(s, &cmd);
		e->recipe = arena_strdup(&list->arena, s->recipe);
		e->command = arena_strdup(&list->arena, buf_str(&cmd));
		e->state = arena_strdup(&list->arena, session_state_name(s->state));
		e->created_realtime_ns = s->created_realtime_ns;
		buf_done(&cmd);
	}
	session_close(s);
}

/* Newest first by the stamp that names begin with; a run of the same second by its manifest. */
static int later_stamp_first(const void *a, const void *b)
{
	return -strncmp(*(char *const *)a, *(char *const *)b, STAMP_LEN);
}

static bool run_names(const char *home, char ***names, size_t *count, struct arena *a,
		      struct err *err)
{
	char_auto runs = mem_printf("%s/runs", home);
	DIR *dir = opendir(runs);
	VEC(char *) list = { 0 };

	if (!dir && errno != ENOENT)
		return err_sys(err, errno, "cannot read %s", runs);
	for (struct dirent *d; dir && (d = readdir(dir));)
		if (d->d_name[0] != '.')
			vec_add(&list, arena_strdup(a, d->d_name));
	if (dir)
		closedir(dir);
	if (list.len)
		qsort(list.at, list.len, sizeof(*list.at), later_stamp_first);
	*names = list.at;
	*count = list.len;
	return true;
}

bool session_list(struct session_list *list, struct err *err)
{
	char_auto home = NULL;
	arena_auto a = { 0 };
	char **names;
	size_t count;

	*list = (struct session_list){ 0 };
	if (!session_home(&home, err) || !run_names(home, &names, &count, &a, err))
		return false;
	for (size_t i = 0; i < count; i++)
		list_one(list, home, names[i]);
	free(names);
	if (list->entries.len)
		qsort(list->entries.at, list->entries.len, sizeof(*list->entries.at), newest_first);
	return true;
}

void session_list_done(struct session_list *list)
{
	vec_done(&list->entries);
	arena_done(&list->arena);
}

static bool has_manifest(const char *home, const char *id)
{
	char_auto dir = mem_printf("%s/runs/%s", home, id);

	return is_run(dir);
}

static uint64_t created_ns(const char *home, const char *id)
{
	char_auto dir = mem_printf("%s/runs/%s", home, id);
	struct session *s = session_new(home, id, dir);
	struct err err;
	uint64_t ns = session_load(s, &err) ? s->created_realtime_ns : 0;

	session_close(s);
	return ns;
}

/* The newest of names that is a run, or NULL. Reads manifests of one second only. */
static const char *newest_of(const char *home, char **names, size_t count)
{
	const char *best = NULL;
	uint64_t best_ns = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t ns;

		if (best && strncmp(best, names[i], STAMP_LEN) != 0)
			break;
		if (!has_manifest(home, names[i]))
			continue;
		ns = created_ns(home, names[i]);
		if (!best || ns > best_ns) {
			best = names[i];
			best_ns = ns;
		}
	}
	return best;
}

/* A part of a name must fit one run only. */
static const char *only_match(const char *home, char **names, size_t count, const char *part,
			      struct err *err)
{
	const char *found = NULL;
	size_t hits = 0;

	for (size_t i = 0; i < count; i++) {
		if (!strstr(names[i], part) || !has_manifest(home, names[i]))
			continue;
		found = found ? found : names[i];
		hits++;
	}
	if (hits == 1)
		return found;
	if (!hits)
		err_set(err, ERR_NOT_FOUND, "no run is named %s", part),
			err_hint(err, "culprit runs lists them");
	else
		err_set(err, ERR_USAGE, "%zu runs match %s, the newest is %s", hits, part, found),
			err_hint(err, "give more of the name");
	return NULL;
}

/* The run that name means, as a folder under runs/. part: a unique part of a name will do. */
static bool find_run(const char *home, const char *name, bool part, char **id, struct err *err)
{
	bool newest = !name || !strcmp(name, "last");
	const char *found = NULL;
	arena_auto a = { 0 };
	char **names;
	size_t count;

	if (!newest && *name && has_manifest(home, name)) {
		*id = mem_strdup(name);
		return true;
	}
	if (!newest && (!part || !*name)) {
		err_set(err, ERR_NOT_FOUND, "no run is named '%s'", name);
		return err_hint(err, "culprit runs lists them");
	}
	if (!run_names(home, &names, &count, &a, err))
		return false;
	if (newest) {
		found = newest_of(home, names, count);
		if (!found)
			err_set(err, ERR_NOT_FOUND, "there is no run yet under %s/runs", home),
				err_hint(err, "make one: culprit run code_hotspots -- COMMAND");
	} else {
		found = only_match(home, names, count, name, err);
	}
	if (found)
		*id = mem_strdup(found);
	free(names);
	return found;
}

bool session_open(struct session **out, const char *name, struct err *err)
{
	char_auto home = NULL;
	char_auto id = NULL;
	char_auto dir = NULL;
	struct session *s;

	if (!session_home(&home, err))
		return false;
	if (name && strchr(name, '/')) {
		dir = mem_strdup(name);
		while (strlen(dir) > 1 && str_ends(dir, "/"))
			dir[strlen(dir) - 1] = 0;
		id = mem_strdup(strrchr(dir, '/') ? strrchr(dir, '/') + 1 : dir);
		if (!is_run(dir))
			return err_set(err, ERR_NOT_FOUND, "%s is not a run: no manifest.json",
				       dir);
	} else {
		if (!find_run(home, name, true, &id, err))
			return false;
		dir = mem_printf("%s/runs/%s", home, id);
	}
	s = session_new(home, id, dir);
	if (!session_load(s, err)) {
		session_close(s);
		return err_wrap(err, "run %s", id);
	}
	*out = s;
	return true;
}

/* Images that no run has any more. */
static void prune_cache(const char *home)
{
	char_auto cache = mem_printf("%s/cache/images", home);
	DIR *dir = opendir(cache);
	struct stat st;

	for (struct dirent *d; dir && (d = readdir(dir));)
		if (d->d_name[0] != '.' &&
		    !fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode) && st.st_nlink == 1)
			(void)!unlinkat(dirfd(dir), d->d_name, 0);
	if (dir)
		closedir(dir);
}

bool session_remove(const char *name, char **id, struct err *err)
{
	char_auto home = NULL;
	char_auto found = NULL;
	char_auto dir = NULL;

	if (!session_home(&home, err))
		return false;
	if (strchr(name, '/') || name[0] == '.')
		return err_set(err, ERR_USAGE, "rm takes the name of a run, not a path: %s", name);
	if (!find_run(home, name, false, &found, err))
		return false;
	dir = mem_printf("%s/runs/%s", home, found);
	if (!os_remove_tree(dir, err))
		return false;
	prune_cache(home);
	*id = found;
	found = NULL;
	return true;
}

void session_close(struct session *s)
{
	if (!s)
		return;
	for (char **a = s->argv; a && *a; a++)
		free(*a);
	free(s->argv);
	free(s->id);
	free(s->dir);
	free(s->cache);
	free(s->state_why);
	free(s->recipe);
	buf_done(&s->options);
	buf_done(&s->target);
	buf_done(&s->finished);
	buf_done(&s->notes);
	buf_done(&s->stages);
	buf_done(&s->missing_images);
	free(s);
}
