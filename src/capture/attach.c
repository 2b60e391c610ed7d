/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follows a process that runs already: events for each of its threads, which those born later
 * inherit. Threads born while we look are told apart by the FORK record that an inherited event
 * leaves behind, so that no thread is counted twice.
 */
#include "capture/session.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

enum { PASSES_MOST = 50 };

static bool read_status(uint32_t pid, struct buf *text)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%u/status", pid);

	return rootfs_read(&here, path, text);
}

static bool status_field(struct buf *status, const char *key, struct str *value)
{
	struct str text = { buf_str(status), status->len }, line, name;

	while (str_line(&text, &line)) {
		if (!str_cut(&line, ':', &name) || !str_eq(name, key))
			continue;
		*value = str_trim(line);
		return true;
	}
	return false;
}

static bool not_found(uint64_t pid, struct err *err)
{
	err_set(err, ERR_NOT_FOUND, "no process %llu", (unsigned long long)pid);
	snprintf(err->id, sizeof(err->id), "PID_NOT_FOUND");
	return err_hint(err, "ps -e lists the processes");
}

/* It must be a process, not a thread of one, and alive. */
static bool check_process(uint64_t pid, struct err *err)
{
	buf_auto status = { 0 };
	struct str value;
	uint64_t leader;

	if (!read_status((uint32_t)pid, &status))
		return not_found(pid, err);
	if (status_field(&status, "Tgid", &value) && str_u64(value, &leader) && leader != pid) {
		err_set(err, ERR_USAGE, "%llu is a thread of process %llu",
			(unsigned long long)pid, (unsigned long long)leader);
		return err_hint(err, "attach to %llu", (unsigned long long)leader);
	}
	if (status_field(&status, "State", &value) && value.len &&
	    (value.at[0] == 'Z' || value.at[0] == 'X')) {
		err_set(err, ERR_NOT_FOUND, "process %llu has ended already (a zombie)",
			(unsigned long long)pid);
		snprintf(err->id, sizeof(err->id), "PID_NOT_FOUND");
		return false;
	}
	return true;
}

/* Whose process it is decides whether the refusal is about it or about us. */
static bool explain(struct capture *c, int errnum, struct err *err)
{
	char_auto path = mem_printf("/proc/%llu", (unsigned long long)c->job->pid);
	struct stat st;

	if (errnum == ESRCH)
		return not_found(c->job->pid, err);
	if ((errnum == EACCES || errnum == EPERM) && !c->target->can_ptrace && !stat(path, &st) &&
	    st.st_uid != c->target->euid) {
		err_refuse(err, "PID_NOT_OURS", "process %llu belongs to another user (uid %u)",
			   (unsigned long long)c->job->pid, st.st_uid);
		err->sys_errno = errnum;
		return err_hint(err, "run as that user or as root");
	}
	return target_explain_open(c->target, c->plan.name, false, !c->plan.attr.exclude_kernel,
				   errnum, err);
}

static void list_tids(uint64_t pid, struct cpu_list *tids)
{
	char_auto path = mem_printf("/proc/%llu/task", (unsigned long long)pid);
	DIR *dir = opendir(path);
	uint64_t tid;

	vec_clear(&tids->ids);
	for (struct dirent *d; dir && (d = readdir(dir));)
		if (str_u64(str_of(d->d_name), &tid) && tid <= INT32_MAX)
			vec_add(&tids->ids, (int)tid);
	if (dir)
		closedir(dir);
}

/* Events for one thread, counting from now on. The first one brings the rings. */
static bool open_thread(struct capture *c, int tid, struct err *err)
{
	size_t first = c->rings.fds.len;
	struct ring_size size;

	switch (rings_open_task(&c->rings, &c->plan, tid, &c->opener, &c->notes, err)) {
	case RINGS_TASK_GONE:
		return true;
	case RINGS_FAILED:
		return explain(c, err->sys_errno, err);
	case RINGS_OPENED:
		break;
	}
	if (!c->rings.mapped) {
		size = plan_ring_size(&c->plan, c->job, c->target, c->rings.page_bytes,
				      c->rings.cpus.ids.len);
		if (!rings_map(&c->rings, size, c->target, &c->notes, err))
			return false;
	}
	rings_enable_from(&c->rings, first);
	return true;
}

/* One look at the task list. *news: threads were opened that nobody had seen before. */
static bool pass(struct capture *c, struct map *known, bool *news, struct err *err)
{
	struct cpu_list tids = { 0 };
	struct map born = { 0 };
	bool ok = true, peeked = !c->rings.mapped;

	*news = false;
	list_tids(c->job->pid, &tids);
	for (size_t i = 0; ok && i < tids.ids.len; i++) {
		uint64_t tid = (uint64_t)tids.ids.at[i];

		if (map_find(known, tid))
			continue;
		if (!peeked) {
			/* A thread shows in the list a moment before its record is written. */
			usleep(1000);
			capture_peek_forks(c, &born);
			peeked = true;
		}
		*map_put(known, tid, NULL) = 1;
		if (map_find(&born, tid))
			continue;
		ok = open_thread(c, (int)tid, err);
		*news = true;
	}
	vec_done(&tids.ids);
	map_done(&born);
	return ok;
}

bool attach_open(struct capture *c, struct err *err)
{
	struct map known = { 0 };
	bool ok = check_process(c->job->pid, err), news = true;

	for (int i = 0; ok && news && i < PASSES_MOST; i++)
		ok = pass(c, &known, &news, err);
	map_done(&known);
	if (ok && !c->rings.mapped)
		return not_found(c->job->pid, err);
	if (!ok)
		return false;
	c->pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)c->job->pid, 0);
	if (c->pid_fd < 0 && errno == ESRCH)
		return not_found(c->job->pid, err);
	return true;
}

bool attach_alive(uint64_t pid)
{
	struct err err;

	return check_process(pid, &err);
}

uint64_t attach_cpu_ns(uint64_t pid, uint64_t otherwise)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%llu/stat", (unsigned long long)pid);
	buf_auto text = { 0 };
	struct str comm, rest, word;
	uint64_t ticks = 0, v, hz = (uint64_t)sysconf(_SC_CLK_TCK);

	if (!rootfs_read(&here, path, &text) ||
	    !maps_stat_comm((struct str){ buf_str(&text), text.len }, &comm, &rest))
		return otherwise;
	/* proc(5): state is field 3; utime and stime are 14 and 15. */
	for (int field = 3; field <= 15; field++) {
		if (!str_word(&rest, &word))
			return otherwise;
		if (field < 14)
			continue;
		if (!str_u64(word, &v))
			return otherwise;
		ticks += v;
	}
	return ticks * (1000000000u / (hz ? hz : 100));
}
