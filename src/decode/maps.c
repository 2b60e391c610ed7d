/* SPDX-License-Identifier: Apache-2.0 */
/* Reads lines of /proc/PID/maps and the command name out of /proc/PID/stat. */
#include "decode/maps.h"

static bool hex_pair(struct str s, char sep, uint64_t *low, uint64_t *high)
{
	struct str first;

	return str_cut(&s, sep, &first) && str_hex(first, low) && str_hex(s, high);
}

static bool flag(char c, char yes, char no, bool *out)
{
	*out = c == yes;
	return c == yes || c == no;
}

static bool permissions(struct str s, struct maps_line *m)
{
	return s.len == 4 && flag(s.at[0], 'r', '-', &m->read) &&
	       flag(s.at[1], 'w', '-', &m->write) && flag(s.at[2], 'x', '-', &m->exec) &&
	       flag(s.at[3], 's', 'p', &m->shared);
}

static bool device(struct str s, struct maps_line *m)
{
	uint64_t major, minor;

	if (!hex_pair(s, ':', &major, &minor) || major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	m->device_major = (uint32_t)major;
	m->device_minor = (uint32_t)minor;
	return true;
}

bool maps_parse(struct str line, struct maps_line *out)
{
	enum { RANGE, PERMS, OFFSET, DEVICE, INODE, WORDS };
	struct maps_line m = { 0 };
	struct str w[WORDS];

	for (int i = 0; i < WORDS; i++)
		if (!str_word(&line, &w[i]))
			return false;
	if (!hex_pair(w[RANGE], '-', &m.start, &m.end) || m.end < m.start ||
	    !permissions(w[PERMS], &m) || !str_hex(w[OFFSET], &m.offset) ||
	    !device(w[DEVICE], &m) || !str_u64(w[INODE], &m.inode))
		return false;
	/* Blanks in front are the kernel's padding; blanks at the end belong to the name. */
	while (line.len && line.at[0] == ' ')
		line.at++, line.len--;
	if (line.len && line.at[line.len - 1] == '\n')
		line.len--;
	m.path = line;
	*out = m;
	return true;
}

bool maps_stat_comm(struct str stat, struct str *comm, struct str *rest)
{
	const char *first = stat.len ? memchr(stat.at, '(', stat.len) : NULL;
	const char *last = stat.len ? memrchr(stat.at, ')', stat.len) : NULL;

	if (!first || !last || last < first)
		return false;
	*comm = (struct str){ first + 1, (size_t)(last - first - 1) };
	*rest = (struct str){ last + 1, stat.len - (size_t)(last + 1 - stat.at) };
	return true;
}
