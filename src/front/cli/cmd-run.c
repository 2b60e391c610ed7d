/* SPDX-License-Identifier: Apache-2.0 */
/* culprit run: from a recipe and a workload to a kept run and its report. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

static bool prepare(struct run *r, struct err *err)
{
	struct settings settings;

	if (r->args->operands.len != 1) {
		err_set(err, ERR_USAGE, "which recipe? culprit run RECIPE -- COMMAND");
		return err_hint(err, "culprit recipe list shows them");
	}
	if (!recipe_load(&r->recipe, r->args->operands.at[0], err) ||
	    !job_from_args(&r->job, r->args, &r->arena, err) ||
	    !settings_read(&settings, r->args, err))
		return false;
	settings_done(&settings);
	return session_create(&r->session, r->recipe->name, err);
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
	return remote_start_local(&r->remote, &options, err) &&
	       remote_probe(r->remote, &r->session->target, err) && session_save(r->session, err);
}

/* The features that perf and others read, from what is known now. */
static void put_features(const struct run *r, struct perfdata_features *f)
{
	VEC(struct perfdata_build_id) ids = { 0 };
	const struct model *m = r->analysis.model;
	struct kv kv;

	kv_parse(&kv, (struct str){ buf_str(&r->session->target), r->session->target.len });
	vec_each(img, &m->images) {
		struct perfdata_build_id *id;
		uint64_t byte;

		if (img->kind != MODEL_IMAGE_FILE || !img->build_id[0] || !img->touched)
			continue;
		id = vec_push(&ids);
		id->id_len = (uint8_t)(strlen(img->build_id) / 2);
		for (size_t i = 0; i < id->id_len; i++)
			if (str_hex((struct str){ img->build_id + 2 * i, 2 }, &byte))
				id->id[i] = (uint8_t)byte;
		id->misc = 2; /* PERF_RECORD_MISC_USER */
		id->pid = -1;
		id->path = img->path;
	}
	if (ids.len)
		perfdata_add_build_ids(f, ids.at, ids.len);
	vec_done(&ids);
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

static char *kernel_cache_key(const struct session *s)
{
	char *key = NULL;
	struct kv kv;

	kv_parse(&kv, (struct str){ (const char *)s->target.at, s->target.len });
	if (*kv_get(&kv, "kernel_build_id") && *kv_get(&kv, "boot_id"))
		key = mem_printf("kallsyms-%s-%s", kv_get(&kv, "kernel_build_id"),
				 kv_get(&kv, "boot_id"));
	kv_done(&kv);
	return key;
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
static bool second_agent(struct run *r, struct err *err)
{
	struct remote_options options = { .stdio = { -1, -1, -1 },
					  .keep_signals = true,
					  .mask = &r->old_mask };

	if (r->rec.has_finished)
		return true;
	remote_close(r->remote);
	r->remote = NULL;
	return remote_start_local(&r->remote, &options, err);
}

/* Everything from the closed capture to run.db; r->remote is asked for images and let go. */
static bool analyse(struct run *r, struct err *err)
{
	struct perfdata_features features = { 0 };
	char_auto path = session_capture_path(r->session);
	char_auto kernel_key = kernel_cache_key(r->session);
	bool ok;

	judge(r);
	ok = analysis_load(&r->analysis, r->args, path, err) && second_agent(r, err) &&
	     analysis_fetch_images(&r->analysis, r->remote, r->session, kernel_key, err);
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
	if (WIFSIGNALED(status))
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
		status = report_findings(r->args, r->recipe, r->analysis.store, r->session->id);
		if (r->session->state == SESSION_PARTIAL && status == CLI_SOLID)
			status = CLI_WEAK;
	}
	if (!session_save(r->session, &err))
		cli_say(r->args, "%s", err.text);
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
