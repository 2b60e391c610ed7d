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

bool maps_parse(struct str line, struct maps_line *out)
{
	struct str range, perms, offset, device, inode;
	struct maps_line m = { 0 };
	uint64_t major, minor;

	if (!str_word(&line, &range) || !str_word(&line, &perms) || !str_word(&line, &offset) ||
	    !str_word(&line, &device) || !str_word(&line, &inode))
		return false;
	if (!hex_pair(range, '-', &m.start, &m.end) || m.end < m.start || !permissions(perms, &m) ||
	    !str_hex(offset, &m.offset) || !hex_pair(device, ':', &major, &minor) ||
	    major > UINT32_MAX || minor > UINT32_MAX || !str_u64(inode, &m.inode))
		return false;
	m.device_major = (uint32_t)major;
	m.device_minor = (uint32_t)minor;
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
	const char *first = memchr(stat.at, '(', stat.len);
	const char *last = memrchr(stat.at, ')', stat.len);

	if (!first || !last || last < first)
		return false;
	*comm = (struct str){ first + 1, (size_t)(last - first - 1) };
	*rest = (struct str){ last + 1, stat.len - (size_t)(last + 1 - stat.at) };
	return true;
}
