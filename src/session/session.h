/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A run on disk: names, folders, manifest, capture file, images. The only reader and writer of that
 * layout (docs/run-layout.md):
 *   $CULPRIT_HOME/runs/<id>/{manifest.json, capture/perf.data, images/, run.db}
 *   $CULPRIT_HOME/cache/images/<key>   shared by hard link with the runs that use it
 * <id> is YYYYMMDD-HHMMSS-<recipe>[-n], local time. Everything is private (0700, 0600).
 */
#ifndef CULPRIT_SESSION_SESSION_H
#define CULPRIT_SESSION_SESSION_H

#include "base/err.h"
#include "base/mem.h"
#include "base/os.h"
#include "base/str.h"
#include "decode/decode.h"

enum { SESSION_FORMAT = 1 };

enum session_state {
	SESSION_RECORDING, /* never closed: the host died, or it is still going on */
	SESSION_COMPLETE,
	SESSION_PARTIAL, /* ended early; what was recorded is there */
	SESSION_FAILED,
};

/* An open run. Strings belong to it. */
struct session {
	char *id, *dir;
	char *cache; /* the image cache folder */
	enum session_state state;
	char *state_why; /* for PARTIAL and FAILED, else "" */
	char *recipe;
	struct buf options;  /* kv: what the user asked for ("event", "frequency", "o.KEY" ...) */
	struct buf target;   /* kv: target_encode's text */
	struct buf finished; /* kv: job_finished_encode's text, empty while recording */
	struct buf notes;    /* kv: id -> text, in order */
	struct buf stages;   /* kv: stage -> nanoseconds */
	struct buf missing_images; /* kv: image key -> why it could not be had */
	char **argv;		   /* NULL-terminated, empty when no command */
	uint64_t created_realtime_ns;
	uint64_t pid; /* of the workload */
};

/* The home folder as the rules say; made when missing. Caller frees. */
ERR_CHECKED bool session_home(char **home, struct err *err);
ERR_CHECKED bool session_create(struct session **out, const char *recipe, struct err *err);
const char *session_state_name(enum session_state s); /* "recording", "complete", ... */
/* name: an id, a unique part of one, "last" or NULL for the newest, or a path with a '/'. */
ERR_CHECKED bool session_open(struct session **out, const char *name, struct err *err);
/* Writes manifest.json (whole or not at all). */
ERR_CHECKED bool session_save(struct session *s, struct err *err);
void session_close(struct session *s);
/* The command as a shell would take it, or what was watched instead ("label" of the options). */
void session_put_command(const struct session *s, struct buf *out);

struct session_entry {
	const char *id, *recipe, *command, *state;
	uint64_t created_realtime_ns, bytes;
};
struct session_list {
	VEC(struct session_entry) entries; /* newest first */
	struct arena arena;
};
ERR_CHECKED bool session_list(struct session_list *list, struct err *err);
void session_list_done(struct session_list *list);
/* name: a whole id or "last", never a part of one. *id: what was removed; caller frees. */
ERR_CHECKED bool session_remove(const char *name, char **id, struct err *err);

/* Paths inside the run. Caller frees. */
char *session_capture_path(const struct session *s);
char *session_db_path(const struct session *s);
/* Where the user's own recipe is kept; there is no file for a built-in one. */
char *session_recipe_path(const struct session *s);

/*
 * Images by key: "<build id hex>", "f-<16 hex>" without a build id, "vdso", "kernel" (text in
 * the format of /proc/kallsyms), with the time of change of the program. session_image_path gives NULL when the run has none; caller frees.
 */
char *session_image_path(const struct session *s, const char *key);
/*
 * Links an image from the cache into the run; false when the cache has none. cache_key names the
 * content for good: a build id, or kernel build id and boot id for "kernel".
 */
bool session_image_link(const struct session *s, const char *key, const char *cache_key);
/* A new image: bytes go to fd, then commit names it (and adds it to the cache). */
struct session_image {
	int fd;
	char *path;
};
ERR_CHECKED bool session_image_create(const struct session *s, struct session_image *img,
				      struct err *err);
/* cache_key NULL: not cached, because nothing names the content. */
ERR_CHECKED bool session_image_commit(const struct session *s, struct session_image *img,
				      const char *key, const char *cache_key, struct err *err);
void session_image_discard(struct session_image *img);

/*
 * The capture file while it is written: header first with a data size of 0 (which readers take as
 * "cut"), then data as it comes, at last the features and the real header.
 */
struct session_capture {
	int fd;
	char *path;
	const struct perfdata_new_event *events; /* borrowed until finish */
	size_t event_count;
	uint64_t data_start, data_bytes;
};
ERR_CHECKED bool session_capture_open(const struct session *s, struct session_capture *c,
				      const struct perfdata_new_event *events, size_t count,
				      struct err *err);
ERR_CHECKED bool session_capture_add(struct session_capture *c, struct str records,
				     struct err *err);
/* Makes the header true for the data so far; the file is whole then, without features. */
ERR_CHECKED bool session_capture_seal(struct session_capture *c, struct err *err);
ERR_CHECKED bool session_capture_finish(struct session_capture *c,
					const struct perfdata_features *f, struct err *err);
void session_capture_close(struct session_capture *c);
/* Puts an existing file in the run's place for the capture: a reflink, hard link or copy of it. */
ERR_CHECKED bool session_capture_adopt(const struct session *s, const char *path, struct err *err);

#endif
