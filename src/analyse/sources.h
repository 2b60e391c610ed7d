/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of source files of this machine, found by the paths that debug information has. */
#ifndef CULPRIT_ANALYSE_SOURCES_H
#define CULPRIT_ANALYSE_SOURCES_H

#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

enum { SOURCES_MAX_BYTES = 16 << 20 };

enum source_state {
	SOURCE_FOUND,
	SOURCE_MISSING,
	SOURCE_UNREADABLE, /* no regular file, too big, or not allowed */
};
struct source_file {
	const char *name; /* as asked for */
	char *path;	  /* where it was found; NULL when it was not */
	enum source_state state;
	bool newer; /* changed after the program was built, or too short for a line */
	struct buf text;
	VEC(size_t) starts; /* of lines in text */
};
struct sources {
	/* Searched first, with leading parts of the path taken off one after another; or NULL. */
	const char *dir;
	uint64_t built_ns; /* the program is not younger than this; 0 unknown */
	VEC(struct source_file) files;
	struct map by_id; /* id of names -> index in files */
	struct intern names;
};

/*
 * The line, without its newline, or false when it is not there. *text lives as long as s. Reads the
 * file at its first line; blocks. Only whole regular files of at most SOURCES_MAX_BYTES are read.
 */
bool sources_line(struct sources *s, const char *file, uint32_t line, struct str *text);
void sources_done(struct sources *s);

#endif
