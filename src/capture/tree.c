/* SPDX-License-Identifier: Apache-2.0 */
/* Finds all descendants of a process, to follow them or to leave none of them behind. */
#include "capture/session.h"

#include <unistd.h>

#include "base/os.h"

void tree_pids(int root, struct cpu_list *out)
{
	struct cpu_list pids = { 0 };
	struct map family = { 0 };
	VEC(uint32_t) parents = { 0 };
	bool grown = true;

	vec_clear(&out->ids);
	synth_pids(&pids);
	for (size_t i = 0; i < pids.ids.len; i++) {
		struct process_stat st;

		/* A zombie takes no signal and holds nothing up but its parent's wait. */
		vec_add(&parents,
			process_read((uint64_t)pids.ids.at[i], &st) && !st.ended ? st.parent : 0);
	}
	*map_put(&family, (uint64_t)root, NULL) = 1;
	/* Children may have lower numbers than their parents, so until nothing is added. */
	while (grown) {
		grown = false;
		for (size_t i = 0; i < pids.ids.len; i++) {
			bool is_new = false;

			if (!parents.at[i] || !map_find(&family, parents.at[i]))
				continue;
			map_put(&family, (uint64_t)pids.ids.at[i], &is_new);
			if (is_new)
				vec_add(&out->ids, pids.ids.at[i]);
			grown |= is_new;
		}
	}
	vec_done(&pids.ids);
	vec_done(&parents);
	map_done(&family);
}

size_t tree_signal(int signal)
{
	struct cpu_list pids = { 0 };
	size_t count;

	tree_pids(getpid(), &pids);
	count = pids.ids.len;
	for (size_t i = 0; signal && i < count; i++) {
		kill(pids.ids.at[i], signal);
		/* One that is stopped gets it only when it goes on. */
		kill(pids.ids.at[i], SIGCONT);
	}
	vec_done(&pids.ids);
	return count;
}
