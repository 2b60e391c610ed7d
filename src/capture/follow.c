/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Opens events for all threads of running processes; those born later inherit them. Threads born
 * while we look are told apart by the FORK record that an inherited event leaves behind, so that no
 * thread is counted twice.
 */
#include "capture/session.h"

#include <dirent.h>
#include <unistd.h>

#include "base/os.h"

enum { PASSES_MOST = 50 };

struct follow {
	const struct cpu_list *pids;
	uint64_t id_above; /* events of ours have larger ids */
	struct map known;  /* threads that have an event of ours */
	bool news;	   /* the last pass opened some */
};

static void list_tids(const struct cpu_list *pids, struct cpu_list *tids)
{
	uint64_t tid;

	vec_clear(&tids->ids);
	for (size_t i = 0; i < pids->ids.len; i++) {
		char_auto path = mem_printf("/proc/%d/task", pids->ids.at[i]);
		DIR *dir = opendir(path);

		for (struct dirent *d; dir && (d = readdir(dir));)
			if (str_u64(str_of(d->d_name), &tid) && tid <= INT32_MAX)
				vec_add(&tids->ids, (int)tid);
		if (dir)
			closedir(dir);
	}
}

/* Events for one thread, counting from now on. The first one brings the rings. */
static bool open_thread(struct capture *c, int tid, struct err *err)
{
	size_t first = c->rings.fds.len;

	switch (rings_open_task(&c->rings, &c->plan, tid, &c->opener, &c->notes, err)) {
	case RINGS_TASK_GONE:
		return true;
	case RINGS_FAILED:
		return false;
	case RINGS_OPENED:
		break;
	}
	if (!c->rings.mapped && !capture_map_rings(c, err))
		return false;
	rings_enable_from(&c->rings, first);
	return true;
}

/* One look at the task lists. */
static bool pass(struct capture *c, struct follow *f, struct err *err)
{
	struct cpu_list tids = { 0 };
	struct map born = { 0 };
	bool ok = true, peeked = !c->rings.mapped;

	f->news = false;
	list_tids(f->pids, &tids);
	for (size_t i = 0; ok && i < tids.ids.len; i++) {
		uint64_t tid = (uint64_t)tids.ids.at[i];

		if (map_find(&f->known, tid))
			continue;
		if (!peeked) {
			/* A thread shows in the list a moment before its record is written. */
			usleep(1000);
			capture_peek_forks(c, f->id_above, &born);
			peeked = true;
		}
		*map_put(&f->known, tid, NULL) = 1;
		if (map_find(&born, tid))
			continue;
		ok = open_thread(c, (int)tid, err);
		f->news = true;
	}
	vec_done(&tids.ids);
	map_done(&born);
	return ok;
}

bool follow_open(struct capture *c, const struct cpu_list *pids, uint64_t id_above, struct err *err)
{
	struct follow f = { .pids = pids, .id_above = id_above, .news = true };
	bool ok = true;

	for (int i = 0; ok && f.news && i < PASSES_MOST; i++)
		ok = pass(c, &f, err);
	map_done(&f.known);
	return ok;
}
