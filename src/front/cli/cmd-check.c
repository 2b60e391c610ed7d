/* SPDX-License-Identifier: Apache-2.0 */
/* culprit check: what a machine can do, what blocks the rest, and what would help. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/rootfs.h"
#include "front/cli/check.h"
#include "front/cli/pipeline.h"

enum { PROBE_MAX_BYTES = 4 << 20 };

/* A recorded machine: its files, and what its kernel answered. */
static bool probe_tree(struct target *t, const char *dir, struct err *err)
{
	const struct rootfs root = { dir };
	struct target_recorded *recorded;
	struct target_perf perf;
	struct stat st;

	if (stat(dir, &st))
		return err_sys(err, errno, "--root %s cannot be read", dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_FORMAT, "--root %s is no folder", dir);
	if (!rootfs_exists(&root, "/perf_event_open")) {
		err_set(err, ERR_NOT_FOUND,
			"%s has no file perf_event_open, which says what that machine's kernel "
			"answered",
			dir);
		return err_hint(err, "docs/check.md tells how a machine is recorded");
	}
	if (!target_recorded_load(&recorded, &root, &perf, err))
		return false;
	target_probe(t, &root, &perf);
	target_recorded_free(recorded);
	return true;
}

/* What culprit-agent probe printed on another machine. */
static bool read_probe(struct target *t, const char *path, struct err *err)
{
	const char *name = strcmp(path, "-") ? path : "standard input";
	buf_auto text = { 0 };
	bool ok = strcmp(path, "-") ? os_load_input(path, PROBE_MAX_BYTES, &text, err) :
				      os_read_input(0, name, PROBE_MAX_BYTES, &text, err);

	if (!ok)
		return false;
	ok = target_decode(t, (struct str){ buf_str(&text), text.len });
	if (ok && *t->arch && *t->kernel)
		return true;
	if (!ok && (*t->hostname || *t->arch)) {
		err_set(err, ERR_FORMAT, "%s is cut off: the probe did not end", name);
		target_done(t);
		return err_hint(err, "run it again on that machine: culprit-agent probe > FILE");
	}
	target_done(t);
	err_set(err, ERR_FORMAT, "%s is not what culprit-agent probe prints", name);
	return err_hint(err, "on that machine: culprit-agent probe > FILE");
}

static bool look(struct check *c, const struct args *args, struct err *err)
{
	const char *root = args->value[OPT_ROOT], *input = args->value[OPT_INPUT];

	if (args->operands.len)
		return err_set(err, ERR_USAGE, "check takes no word such as %s",
			       args->operands.at[0]);
	if (root && input)
		return err_set(err, ERR_USAGE, "--root and -i cannot go together");
	c->name = root ? root : input ? input : "local";
	if (root)
		return probe_tree(&c->target, root, err);
	return input ? read_probe(&c->target, input, err) : check_probe_local(&c->target, err);
}

int cli_check(struct args *args)
{
	struct check c = { 0 };
	buf_auto out = { 0 };
	struct err err;
	int status = CLI_SOLID;

	if (!look(&c, args, &err))
		return cli_fail(args, &err, NULL);
	if (!check_judge(&c, &err)) {
		check_done(&c);
		return cli_fail(args, &err, NULL);
	}
	if (args->value[OPT_JSON]) {
		check_put_json(&out, &c);
	} else {
		struct render_options options = cli_render_options(args);

		check_put_text(&out, &c, &options);
	}
	if (!cli_write_result(args, &out, &err))
		status = cli_fail(args, &err, NULL);
	check_done(&c);
	return status;
}
