/* SPDX-License-Identifier: Apache-2.0 */
/* Finds, reads and indexes source files. The paths come from a recording and may name anything. */
#include "analyse/sources.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"

static void index_lines(struct source_file *f)
{
	const char *text = (const char *)f->text.at, *newline;

	for (size_t at = 0; at < f->text.len;) {
		vec_add(&f->starts, at);
		newline = memchr(text + at, '\n', f->text.len - at);
		at = newline ? (size_t)(newline - text) + 1 : f->text.len;
	}
}

/* False when there is nothing of that name; else state says how it went. */
static bool read_file(struct source_file *f, const char *path, uint64_t built_ns)
{
	fd_auto fd = -1;
	struct stat st;
	struct err err;

	if (stat(path, &st))
		return false;
	f->state = SOURCE_UNREADABLE;
	f->path = mem_strdup(path);
	/* To open a device or a pipe may do something; it may have come since, so do not wait. */
	if (S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > SOURCES_MAX_BYTES)
		return true;
	if (!os_read_fd(fd, path, SOURCES_MAX_BYTES, &f->text, &err)) {
		buf_clear(&f->text);
		return true;
	}
	f->state = SOURCE_FOUND;
	f->newer = built_ns && os_mtime_ns(&st) > built_ns;
	index_lines(f);
	return true;
}

/* dir/a/b/c.c, then dir/b/c.c, then dir/c.c. */
static bool find_under(struct source_file *f, const char *dir, uint64_t built_ns)
{
	for (const char *rest = f->name; rest; rest = strchr(rest, '/')) {
		char_auto path = NULL;

		rest += strspn(rest, "/");
		if (!*rest)
			break;
		path = mem_printf("%s/%s", dir, rest);
		if (read_file(f, path, built_ns))
			return true;
	}
	return false;
}

static void find_file(struct source_file *f, const struct sources *s)
{
	f->state = SOURCE_MISSING;
	if (s->dir && find_under(f, s->dir, s->built_ns))
		return;
	if (f->name[0] == '/' && read_file(f, f->name, s->built_ns))
		return;
}

static struct source_file *file_named(struct sources *s, const char *name)
{
	uint32_t id = intern_put(&s->names, str_of(name));
	bool is_new;
	uint64_t *at = map_put(&s->by_id, id, &is_new);
	struct source_file *f;

	if (!is_new)
		return &s->files.at[*at];
	*at = s->files.len;
	f = vec_push(&s->files);
	f->name = s->names.names.at[id];
	find_file(f, s);
	return f;
}

bool sources_line(struct sources *s, const char *file, uint32_t line, struct str *text)
{
	struct source_file *f = file_named(s, file);
	size_t start, end;

	if (f->state != SOURCE_FOUND || !line)
		return false;
	if (line > f->starts.len) {
		f->newer = true;
		return false;
	}
	start = f->starts.at[line - 1];
	end = line < f->starts.len ? f->starts.at[line] : f->text.len;
	while (end > start && (f->text.at[end - 1] == '\n' || f->text.at[end - 1] == '\r'))
		end--;
	*text = (struct str){ (const char *)f->text.at + start, end - start };
	return true;
}

void sources_done(struct sources *s)
{
	vec_each(f, &s->files) {
		free(f->path);
		buf_done(&f->text);
		vec_done(&f->starts);
	}
	vec_done(&s->files);
	map_done(&s->by_id);
	intern_done(&s->names);
}
