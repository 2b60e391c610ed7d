/* SPDX-License-Identifier: Apache-2.0 */
/* culprit run: from a recipe and a workload to a kept run and its report. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "front/cli/check.h"
#include "front/cli/job-args.h"
#include "front/cli/pipeline.h"

/* One run on its way. */
struct run {
	struct args *args;
	struct recipe *recipe;
	struct session *session;
	struct remote *remote;
	struct job job;
	struct session_capture capture;
	struct recording rec;
	struct analysis analysis;
	struct arena arena;
	sigset_t old_mask;
};

static char **copy_argv(char **argv)
{
	size_t n = 0;
	char **copy;

	while (argv && argv[n])
		n++;
	copy = mem_alloc((n + 1) * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = mem_strdup(argv[i]);
	return copy;
}

/* The user's own recipe goes with the run, which can be reported again without the file. */
static bool keep_recipe(struct run *r, struct err *err)
{
	char_auto path = session_recipe_path(r->session);
	struct str text = r->recipe->text;

	if (!strcmp(r->recipe->source, "built-in"))
		return true;
	return os_save_file(path, text.at, text.len, err);
}

/* Why there is nothing to run. Always false. */
static bool refuse_planned(const struct recipe *recipe, struct err *err)
{
	struct target t;

	if (!check_probe_local(&t, err))
		return false;
	check_refuse_planned(recipe, &t, err);
	target_done(&t);
	return false;
}

/* What no source can do is said before the agent tries. -e chooses the source, and it may work. */
static bool check_possible(const struct run *r, struct err *err)
{
	struct target t;
	bool ok;

	if (r->args->value[OPT_EVENT])
		return true;
	target_decode(&t, (struct str){ buf_str(&r->session->target), r->session->target.len });
	ok = check_refuse_blocked(r->recipe, &t, err);
	target_done(&t);
	return ok;
}

static bool prepare(struct run *r, struct err *err)
{
	struct settings settings;

	if (r->args->operands.len != 1) {
		err_set(err, ERR_USAGE, "which recipe? culprit run RECIPE -- COMMAND");
		return err_hint(err, "culprit recipe list shows them");
	}
	if (!recipe_load(&r->recipe, r->args->operands.at[0], err))
		return cli_recipe_near(r->args->operands.at[0], err);
	if (!job_from_args(&r->job, r->args, &r->arena, err) ||
	    !settings_read(&settings, r->args, err))
		return false;
	settings_done(&settings);
	if (!cli_check_output(r->args, err) || !check_needs_known(r->recipe, err) ||
	    (strcmp(r->recipe->source, "built-in") != 0 && !recipe_check(r->recipe, err)))
		return false;
	if (r->recipe->planned)
		return refuse_planned(r->recipe, err);
	return session_create(&r->session, r->recipe->name, err) && keep_recipe(r, err);
}

/* What is watched where there is no command of ours. */
static void put_label(const struct job *job, struct buf *options)
{
	const struct rootfs here = { "" };
	char_auto path = mem_printf("/proc/%llu/cmdline", (unsigned long long)job->pid);
	buf_auto cmdline = { 0 };

	if (job->scope == JOB_SYSTEM)
		kv_put(options, "label", "the whole machine");
	if (job->scope != JOB_PID)
		return;
	if (!rootfs_read(&here, path, &cmdline))
		buf_clear(&cmdline);
	while (cmdline.len && !cmdline.at[cmdline.len - 1])
		cmdline.len--;
	for (size_t i = 0; i < cmdline.len; i++)
		if (!cmdline.at[i])
			cmdline.at[i] = ' ';
	kv_printf(options, "label", "process %llu%s%.*s", (unsigned long long)job->pid,
		  cmdline.len ? ": " : "", (int)cmdline.len, buf_str(&cmdline));
}

/* With the result on our stdout as JSON or CSV, the workload's goes to stderr. */
static bool connect_agent(struct run *r, struct err *err)
{
	bool machine = r->args->value[OPT_JSON] || r->args->value[OPT_CSV];
	bool to_stdout = !r->args->value[OPT_OUTPUT] || !strcmp(r->args->value[OPT_OUTPUT], "-");
	struct remote_options options = { .stdio = { 0, machine && to_stdout ? 2 : 1, 2 },
					  .keep_signals = true,
					  .mask = &r->old_mask };

	record_block_signals(&r->old_mask);
	free(r->session->argv);
	r->session->argv = copy_argv(r->job.argv);
	job_put_options(&r->job, r->args, &r->session->options);
	put_label(&r->job, &r->session->options);
	return remote_start_local(&r->remote, &options, err) &&
	       remote_probe(r->remote, &r->session->target, err) && check_possible(r, err) &&
	       session_save(r->session, err);
}

struct build_ids {
	VEC(struct perfdata_build_id) list;
};

static void add_build_id(struct build_ids *ids, const char *hex, uint16_t cpumode, const char *path)
{
	struct perfdata_build_id id = { .misc = cpumode, .pid = -1, .path = path };
	size_t len = strlen(hex) / 2;

	if (!len || len > sizeof(id.id) || !str_hex_bytes(str_of(hex), id.id, len))
		return;
	id.id_len = (uint8_t)len;
	vec_add(&ids->list, id);
}

/* The features that perf and others read, from what is known now. */
static void put_features(const struct run *r, struct perfdata_features *f)
{
	enum { CPUMODE_KERNEL = 1, CPUMODE_USER = 2 };
	const struct model *m = r->analysis.model;
	struct build_ids ids = { 0 };
	struct kv kv;

	kv_parse(&kv, (struct str){ buf_str(&r->session->target), r->session->target.len });
	add_build_id(&ids, kv_get(&kv, "kernel_build_id"), CPUMODE_KERNEL, "[kernel.kallsyms]");
	vec_each(img, &m->images) {
		if (img->kind == MODEL_IMAGE_FILE && img->touched)
			add_build_id(&ids, img->build_id, CPUMODE_USER, img->path);
	}
	if (ids.list.len)
		perfdata_add_build_ids(f, ids.list.at, ids.list.len);
	vec_done(&ids.list);
	perfdata_add_text(f, PERFDATA_F_HOSTNAME, kv_get(&kv, "hostname"));
	perfdata_add_text(f, PERFDATA_F_OSRELEASE, kv_get(&kv, "kernel"));
	perfdata_add_text(f, PERFDATA_F_VERSION, "culprit " CULPRIT_VERSION);
	perfdata_add_text(f, PERFDATA_F_ARCH, kv_get(&kv, "arch"));
	perfdata_add_nrcpus(f, (uint32_t)kv_u64(&kv, "cpus_present", 0),
			    (uint32_t)kv_u64(&kv, "cpus_online", 0));
	if (*kv_get(&kv, "cpu"))
		perfdata_add_text(f, PERFDATA_F_CPUDESC, kv_get(&kv, "cpu"));
	if (*kv_get(&kv, "cpuid"))
		perfdata_add_text(f, PERFDATA_F_CPUID, kv_get(&kv, "cpuid"));
	perfdata_add_u64(f, PERFDATA_F_TOTAL_MEM, kv_u64(&kv, "memory_bytes", 0) / 1024);
	perfdata_add_cmdline(f, r->session->argv);
	perfdata_add_event_desc(f, r->capture.events, r->capture.event_count);
	perfdata_add_sample_time(f, m->first_ns, m->last_ns);
	kv_done(&kv);
}

static void set_state(struct session *s, enum session_state state, const char *why)
{
	s->state = state;
	free(s->state_why);
	s->state_why = mem_strdup(why);
}

/* Why the recording is not all that was asked for, or "". */
static void judge(struct run *r)
{
	struct recording *rec = &r->rec;

	if (rec->write_failed)
		set_state(r->session, SESSION_PARTIAL, rec->write_err.text);
	else if (!rec->has_finished)
		set_state(r->session, SESSION_PARTIAL, "recording broke off");
	else if (rec->interrupted)
		set_state(r->session, SESSION_PARTIAL, "interrupted by a signal");
	else
		set_state(r->session, SESSION_COMPLETE, "");
	if (r->session->state == SESSION_PARTIAL)
		kv_put(&r->session->notes, "PARTIAL", r->session->state_why);
	if (r->job.chain == JOB_CHAIN_DWARF)
		kv_put(&r->session->notes, "STACKS_NOT_UNWOUND",
		       "the copies of user stacks are in the capture, where perf report unwinds "
		       "them; this report shows user code by its innermost frame");
}

/* Where the agent died, another one can still get the images that are on the disk. */
static void second_agent(struct run *r)
{
	struct remote_options options = { .stdio = { -1, -1, -1 } };
	struct err err;

	remote_close(r->remote);
	r->remote = NULL;
	if (!remote_start_local(&r->remote, &options, &err))
		cli_say(r->args, "program images cannot be fetched: %s", err.text);
}

/* Everything from the closed capture to run.db; r->remote is asked for images and let go. */
static bool analyse(struct run *r, struct err *err)
{
	struct perfdata_features features = { 0 };
	char_auto path = session_capture_path(r->session);
	bool ok;

	judge(r);
	if (!r->rec.has_finished)
		second_agent(r);
	/* From here on a second Ctrl-C may end us: the recording is safe. */
	record_unblock_signals(&r->old_mask, &r->rec);
	if (!session_save(r->session, err))
		cli_say(r->args, "%s", err->text);
	ok = analysis_load(&r->analysis, r->args, path, err);
	if (ok)
		analysis_fetch_images(&r->analysis, r->remote, r->session, ANALYSIS_RECORDED_HERE);
	remote_close(r->remote);
	r->remote = NULL;
	if (ok) {
		struct err trouble;

		put_features(r, &features);
		if (!session_capture_finish(&r->capture, &features, &trouble))
			kv_put(&r->session->notes, "FEATURES_NOT_WRITTEN", trouble.text);
		perfdata_features_done(&features);
	}
	return ok && analysis_build(&r->analysis, r->args, r->session, NULL, err);
}

static void say_workload(const struct run *r)
{
	const struct job_finished *f = &r->rec.finished;
	int status = f->wait_status;

	if (!f->has_status)
		return;
	if (f->end == JOB_END_TIME)
		cli_say(r->args, "--for is over: the workload was ended");
	else if (WIFSIGNALED(status))
		cli_say(r->args, "the workload was ended by signal %d (%s)", WTERMSIG(status),
			strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		cli_say(r->args, "the workload exited with status %d", WEXITSTATUS(status));
}

static int pass_status(const struct run *r, int status)
{
	int wait_status = r->rec.finished.wait_status;

	if (!r->args->value[OPT_PASS_STATUS] || !r->rec.finished.has_status)
		return status;
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

/* A run of which nothing was recorded leaves nothing behind. */
static void drop_session(struct run *r)
{
	struct err err;

	if (r->session && !os_remove_tree(r->session->dir, &err))
		cli_say(r->args, "%s", err.text);
}

static bool record(struct run *r, struct err *err)
{
	uint64_t start = os_now_ns();

	if (!connect_agent(r, err))
		return false;
	kv_put_u64(&r->session->stages, "start", os_now_ns() - start);
	start = os_now_ns();
	if (!record_run(r->args, r->remote, &r->job, r->session, &r->capture, &r->rec, err))
		return false;
	kv_put_u64(&r->session->stages, "record", os_now_ns() - start);
	return true;
}

static int finish(struct run *r)
{
	struct err err;
	int status;

	say_workload(r);
	if (!analyse(r, &err)) {
		set_state(r->session, SESSION_FAILED, err.text);
		status = cli_fail(r->args, &err, r->session->id);
	} else {
		if (r->job.scope == JOB_LAUNCH)
			cli_gap(r->args);
		status = report_findings(r->args, r->recipe, r->analysis.store, r->session->id);
		if (status == CLI_FAILED)
			set_state(r->session, SESSION_FAILED, "no report could be made of it");
		if (r->analysis.disk_trouble && r->session->state == SESSION_COMPLETE)
			set_state(r->session, SESSION_PARTIAL,
				  "not all of it could be written to the disk");
		if (r->session->state == SESSION_PARTIAL && status == CLI_SOLID)
			status = CLI_WEAK;
	}
	if (!session_save(r->session, &err)) {
		cli_say(r->args, "%s", err.text);
		status = status == CLI_SOLID ? CLI_WEAK : status;
	}
	return pass_status(r, status);
}

int cli_run(struct args *args)
{
	struct run r = { .args = args };
	struct err err;
	int status;

	if (!prepare(&r, &err)) {
		status = cli_fail(args, &err, NULL);
	} else if (!record(&r, &err)) {
		drop_session(&r);
		status = cli_fail(args, &err, NULL);
	} else {
		status = finish(&r);
	}
	remote_close(r.remote);
	analysis_done(&r.analysis);
	session_capture_close(&r.capture);
	free((void *)(uintptr_t)r.capture.events);
	job_started_done(&r.rec.started);
	session_close(r.session);
	recipe_free(r.recipe);
	arena_done(&r.arena);
	return status;
}
