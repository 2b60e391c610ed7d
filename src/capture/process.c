/* SPDX-License-Identifier: Apache-2.0 */
/* What /proc/PID/stat says of a process. */
#include "capture/session.h"

#include <unistd.h>

#include "base/os.h"

static bool take_number(struct str *rest, uint64_t *out)
{
	struct str word;

	return str_word(rest, &word) && str_u64(word, out);
}

static bool skip(struct str *rest, int fields)
{
	struct str word;

	for (int i = 0; i < fields; i++)
		if (!str_word(rest, &word))
			return false;
	return true;
}

/* A first thread that has ended shows as a zombie while the others go on. */
static bool has_other_threads(uint64_t pid)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%llu/task", (unsigned long long)pid);
	arena_auto names = { 0 };
	const char **tids = rootfs_list(&here, path, &names);

	return tids[0] && tids[1];
}

bool process_read(uint64_t pid, struct process_stat *out)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%llu/stat", (unsigned long long)pid);
	long hz = sysconf(_SC_CLK_TCK);
	uint64_t tick_ns = 1000000000u / (uint64_t)(hz > 0 ? hz : 100);
	uint64_t parent, user, system, start;
	struct str comm, rest, state;
	buf_auto text = { 0 };

	/* Fields by proc(5): state is 3, ppid 4, utime 14, stime 15, starttime 22. */
	if (!rootfs_read(&here, path, &text) ||
	    !maps_stat_comm((struct str){ buf_str(&text), text.len }, &comm, &rest) ||
	    !str_word(&rest, &state) || !take_number(&rest, &parent) || parent > INT32_MAX ||
	    !skip(&rest, 9) || !take_number(&rest, &user) || !take_number(&rest, &system) ||
	    !skip(&rest, 6) || !take_number(&rest, &start))
		return false;
	*out = (struct process_stat){ .ended = (state.at[0] == 'Z' || state.at[0] == 'X') &&
					       !has_other_threads(pid),
				      .parent = (uint32_t)parent,
				      .cpu_ns = (user + system) * tick_ns,
				      .start_ns = start * tick_ns };
	return true;
}
