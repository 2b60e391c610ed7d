/* SPDX-License-Identifier: Apache-2.0 */
/* Attaches to a process that runs already, and says whose fault it is when that fails. */
#include "capture/session.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/os.h"

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

bool attach_alive(uint64_t pid)
{
	struct process_stat st;

	return process_read(pid, &st) && !st.ended;
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
		err_set(err, ERR_USAGE, "%llu is a thread of process %llu", (unsigned long long)pid,
			(unsigned long long)leader);
		return err_hint(err, "attach to %llu", (unsigned long long)leader);
	}
	if (!attach_alive(pid)) {
		err_set(err, ERR_NOT_FOUND, "process %llu has ended already (a zombie)",
			(unsigned long long)pid);
		snprintf(err->id, sizeof(err->id), "PID_NOT_FOUND");
		return false;
	}
	return true;
}

/* Whose process it is decides whether the refusal is about it or about us. */
static bool explain(struct capture *c, struct err *err)
{
	int errnum = err->sys_errno;
	char_auto path = mem_printf("/proc/%llu", (unsigned long long)c->job->pid);
	struct stat st;

	/* Rings explain themselves. */
	if (c->rings.fds.len && !c->rings.mapped)
		return false;
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

bool attach_open(struct capture *c, struct err *err)
{
	struct cpu_list pids = { 0 };
	bool ok;

	if (!check_process(c->job->pid, err))
		return false;
	c->attached_boot_ns = os_clock_ns(CLOCK_BOOTTIME);
	vec_add(&pids.ids, (int)c->job->pid);
	ok = follow_open(c, &pids, 0, err);
	vec_done(&pids.ids);
	if (!ok)
		return explain(c, err);
	if (!c->rings.mapped)
		return not_found(c->job->pid, err);
	c->pid_fd = (int)syscall(SYS_pidfd_open, (pid_t)c->job->pid, 0);
	if (c->pid_fd < 0 && errno == ESRCH)
		return not_found(c->job->pid, err);
	return true;
}

uint64_t attach_cpu_ns(uint64_t pid, uint64_t otherwise)
{
	struct process_stat st;

	return process_read(pid, &st) ? st.cpu_ns : otherwise;
}
