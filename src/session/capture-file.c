/* SPDX-License-Identifier: Apache-2.0 */
/* capture/perf.data while it is written, and capture files that come from elsewhere. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "session/parts.h"

char *session_capture_path(const struct session *s)
{
	return mem_printf("%s/capture/perf.data", s->dir);
}

char *session_db_path(const struct session *s)
{
	return mem_printf("%s/run.db", s->dir);
}

char *session_recipe_path(const struct session *s)
{
	return mem_printf("%s/own.recipe", s->dir);
}

bool session_capture_open(const struct session *s, struct session_capture *c,
			  const struct perfdata_new_event *events, size_t count, struct err *err)
{
	char *path = session_capture_path(s);
	static const uint64_t no_features[4];
	buf_auto head = { 0 };
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	if (fd < 0) {
		err_sys(err, errno, "cannot create %s", path);
		free(path);
		return false;
	}
	*c = (struct session_capture){
		.fd = fd, .path = path, .events = events, .event_count = count
	};
	perfdata_put_header(&head, events, count, 0, no_features);
	c->data_start = head.len;
	return os_write_all(fd, path, head.at, head.len, err);
}

bool session_capture_add(struct session_capture *c, struct str records, struct err *err)
{
	if (!os_pwrite_all(c->fd, c->path, records.at, records.len, c->data_start + c->data_bytes,
			   err))
		return false;
	c->data_bytes += records.len;
	return true;
}

static bool put_header(struct session_capture *c, const uint64_t bits[4], struct err *err)
{
	buf_auto head = { 0 };

	perfdata_put_header(&head, c->events, c->event_count, c->data_bytes, bits);
	return os_pwrite_all(c->fd, c->path, head.at, head.len, 0, err);
}

bool session_capture_seal(struct session_capture *c, struct err *err)
{
	static const uint64_t no_features[4];

	/* A write that failed half way (disk full) may have left a piece of a record behind. */
	if (ftruncate(c->fd, (off_t)(c->data_start + c->data_bytes)))
		return err_sys(err, errno, "cannot cut %s", c->path);
	return put_header(c, no_features, err);
}

bool session_capture_finish(struct session_capture *c, const struct perfdata_features *f,
			    struct err *err)
{
	buf_auto tail = { 0 };
	uint64_t end = c->data_start + c->data_bytes;

	perfdata_put_features(&tail, f, end);
	return os_pwrite_all(c->fd, c->path, tail.at, tail.len, end, err) &&
	       put_header(c, f->bits, err);
}

void session_capture_close(struct session_capture *c)
{
	if (c->path)
		os_close_fd(&c->fd);
	free(c->path);
	c->path = NULL;
}

bool session_capture_adopt(const struct session *s, const char *path, struct err *err)
{
	char_auto to = session_capture_path(s);
	fd_auto fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_sys(err, errno, "cannot open %s", path);
	return os_copy_file(fd, to, err);
}
