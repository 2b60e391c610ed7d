/* SPDX-License-Identifier: Apache-2.0 */
/* Readiness of recipes: needs that exist, refusals before a run, and the page for people. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "front/cli/check.h"
#include "test.h"

#define HEAD "recipe r\nquestion Why?\n"
#define TABLE "table t\n title T\n column a count A\n sql\n  SELECT 1 AS a\n end\n"

static struct recipe *parse(const char *text)
{
	struct recipe *r;
	struct err err;

	if (!recipe_parse(&r, "x.recipe", str_of(text), &err))
		FAIL("%s", err.text);
	return r;
}

/* A guest whose perf_event_open works for the timer alone. */
static struct target timer_only(void)
{
	return (struct target){ .arch = "x86_64",
				.kernel = "6.1.0",
				.hostname = "box",
				.cpus_online = 2,
				.virt = TARGET_VIRT_GUEST,
				.hypervisor = "kvm",
				.trials = { .cycles = ENOENT,
					    .sampling = ENOENT,
					    .tracepoint = ENOENT,
					    .branch_stack = ENOENT,
					    .spe = ENOENT,
					    .bpf = EPERM } };
}

TEST(builtin_recipes_need_what_there_is)
{
	for (const char *const *n = recipe_names(); *n; n++) {
		struct recipe *r;
		struct err err;

		if (!recipe_load(&r, *n, &err) || !check_needs_known(r, &err))
			FAIL("%s", err.text);
		recipe_free(r);
	}
}

TEST(unknown_need_names_the_line)
{
	struct recipe *r = parse(HEAD "rung a needs timer\n text x\nrung b needs spe counters\n"
				      " text y\n" TABLE);
	struct err err;

	CHECK(!check_needs_known(r, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, "x.recipe:5: rung b needs \"counters\", and there is no such need");
	recipe_free(r);
}

TEST(blocked_is_refused_unless_it_may_pass)
{
	struct recipe *r = parse(HEAD "rung a needs cycles\n text x\nrung b needs timer\n"
				      " text y\n" TABLE);
	struct target t = timer_only();
	struct err err;

	CHECK(check_refuse_blocked(r, &t, &err));
	t.trials.cpu_clock = ENOSYS;
	CHECK(!check_refuse_blocked(r, &t, &err));
	CHECK_EQ_STR(err.id, "NO_PERF_EVENTS");
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_HAS(err.text, "recipe r cannot run on this machine");
	/* No descriptors left just now: the agent shall try. */
	t.trials.cpu_clock = EMFILE;
	CHECK(check_refuse_blocked(r, &t, &err));
	recipe_free(r);
}

TEST(planned_by_machine)
{
	struct target t = timer_only();
	struct recipe *r;
	struct err err;

	CHECK(recipe_load(&r, "memory_access", &err));
	CHECK(!check_refuse_planned(r, &t, &err));
	CHECK_EQ_STR(err.id, "NO_PMU");
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_HAS(err.text, "memory_access is not built yet, and this machine could not run it");
	/* Nobody shall change or rent a machine for what cannot run on it yet. */
	CHECK_EQ_STR(err.hint, "once it is built: have the hypervisor pass the PMU on (QEMU: -cpu "
			       "host,pmu=on), or use bare metal; culprit run works here with: "
			       "code_hotspots");
	recipe_free(r);
	CHECK(recipe_load(&r, "instruction_mix", &err));
	CHECK(!check_refuse_planned(r, &t, &err));
	CHECK_EQ_STR(err.id, "NOT_BUILT_YET");
	CHECK_EQ_INT(err.kind, ERR_UNSUPPORTED);
	CHECK_HAS(err.text, "(sampled-code)");
	/* Where nothing works, nothing is recommended. */
	t.trials.cpu_clock = ENOSYS;
	CHECK(!check_refuse_planned(r, &t, &err));
	CHECK_MSG(!strstr(err.hint, "works here with"), "%s", err.hint);
	recipe_free(r);
}

/* Where a text stands on the page; it must be there. */
static size_t at(const char *page, const char *text)
{
	const char *found = strstr(page, text);

	if (!found)
		FAIL("%s\nis not in\n%s", text, page);
	return (size_t)(found - page);
}

/* The page of c, which is judged and given back; all blanks and ends of lines are one blank. */
static void page_of(struct check *c, struct buf *out)
{
	struct render_options o = { .columns = 80 };
	buf_auto page = { 0 };
	struct str rest, word;
	struct err err;

	if (!check_judge(c, &err))
		FAIL("%s", err.text);
	check_put_text(&page, c, &o);
	check_done(c);
	rest = str_of(buf_str(&page));
	while (str_word(&rest, &word)) {
		buf_add(out, word.at, word.len);
		buf_u8(out, ' ');
	}
}

/* A user who may do nothing, on an instance without a PMU. */
static struct target nothing_allowed(void)
{
	struct target t = timer_only();

	t.euid = 1000;
	t.paranoid = 3;
	t.trials.cpu_clock = t.trials.system_wide = t.trials.kernel = EACCES;
	t.has_btf = true;
	snprintf(t.dmi_vendor, sizeof(t.dmi_vendor), "Amazon EC2");
	snprintf(t.dmi_product, sizeof(t.dmi_product), "m6i.large");
	return t;
}

/* First what lifts the block and takes least; what is planned stands apart; then what to type. */
TEST(help_in_order)
{
	struct check c = { .name = "local", .target = nothing_allowed() };
	buf_auto page = { 0 };
	size_t sysctl, instance, planned, next;
	const char *s;

	page_of(&c, &page);
	s = buf_str(&page);
	sysctl = at(s, "What would help - sudo sysctl kernel.perf_event_paranoid=2 to record own "
		       "programs, 1 to record kernel code too, 0 for the whole system; or run as "
		       "root, or give the agent CAP_PERFMON for code_hotspots (cpu-clock), "
		       "instruction_mix (planned: sampled-code)");
	instance = at(s, "- on Amazon Web Services hardware counters come with m6i.16xlarge, "
			 "m6i.32xlarge or m6i.metal for code_hotspots (cycles), "
			 "cpu_microarchitecture (planned: all-at-once, time-sliced), ");
	planned = at(s, "For recipes that are planned: of no use before they are built - ");
	next = at(s, "Next code_hotspots is blocked [PERF_EVENT_PARANOID]; with the first of what "
		     "would help: culprit run code_hotspots -- COMMAND ");
	CHECK(sysctl < instance && instance < planned && planned < next);
	/* What only planned recipes wait for, and in it a setting before another machine. */
	CHECK(at(s, "for off_cpu (planned: bpf), syscall_trace_summary (planned: bpf)") > planned);
	CHECK(at(s, "run as root, or give the agent CAP_BPF") < at(s, "- an Arm server: bare"));
	/* Each level of the setting is there once. */
	CHECK(!strstr(s, "paranoid=1") && !strstr(s, "paranoid=0"));
}

/* One level alone is said as it is; what runs is what to type. */
TEST(help_where_something_works)
{
	struct check c = { .name = "probe.txt", .target = timer_only() };
	buf_auto page = { 0 };

	c.target.trials.system_wide = EACCES;
	c.target.euid = 1000;
	c.target.paranoid = 1;
	c.target.has_btf = true;
	page_of(&c, &page);
	CHECK_HAS(buf_str(&page), "What would help - sudo sysctl kernel.perf_event_paranoid=0, or "
				  "run as root, or give the agent CAP_PERFMON for system-wide - ");
	CHECK_HAS(buf_str(&page), "Next there: culprit run code_hotspots -- COMMAND ");
	CHECK(!strstr(buf_str(&page), "code_hotspots is blocked"));
}

/* A guest of a cloud whose firmware names no type, with another maker's mesh. */
static struct target with_mesh(void)
{
	struct target_pmu pmu = { .name = "nvidia_scf_pmu_0", .cpus = "0", .type = 9 };
	struct target t = timer_only();

	snprintf(t.arch, sizeof(t.arch), "aarch64");
	snprintf(t.dmi_vendor, sizeof(t.dmi_vendor), "Alibaba Cloud");
	snprintf(t.dmi_product, sizeof(t.dmi_product), "Alibaba Cloud ECS");
	vec_add(&t.pmus, pmu);
	return t;
}

/* Which PMU stands in for the mesh is told; who sells the machine is named once. */
TEST(page_names_pmu_and_cloud)
{
	struct check c = { .name = "local", .target = with_mesh() };
	buf_auto page = { 0 }, json = { 0 };
	struct err err;

	CHECK(check_judge(&c, &err));
	check_put_json(&json, &c);
	check_done(&c);
	CHECK_HAS(buf_str(&json), "\"cmn\": {\"ok\": true, \"pmu\": \"nvidia_scf_pmu_0\"}");
	CHECK_HAS(buf_str(&json), "\"timer\": {\"ok\": true}");
	CHECK_HAS(buf_str(&json), "\"instance\": null");
	c = (struct check){ .name = "local", .target = with_mesh() };
	page_of(&c, &page);
	CHECK_HAS(buf_str(&page), "machine Alibaba Cloud (the firmware does not name the type of "
				  "instance); virtual machine (kvm)");
	CHECK_HAS(buf_str(&page), "yes cmn by nvidia_scf_pmu_0 ");
	CHECK_HAS(buf_str(&page), "ready on interconnect (nvidia_scf_pmu_0) ");
}

static size_t count_of(const char *text, const char *needle)
{
	size_t n = 0;

	for (const char *p = text; (p = strstr(p, needle)); p++)
		n++;
	return n;
}

static struct target many_cores_and_pmus(void)
{
	struct target t = timer_only();

	for (unsigned int i = 0; i < 1000; i++) {
		struct target_core core = { .midr = 0x7a0f0010 + (i << 4),
					    .cpus = "1",
					    .count = 1 };
		struct target_pmu pmu = { .name = i < 66 ? "armv8_pmuv3_x" : "uncore_y",
					  .cpus = "1",
					  .is_core = i < 66,
					  .counters = -1,
					  .free = -1 };

		vec_add(&t.cores, core);
		vec_add(&t.pmus, pmu);
	}
	return t;
}

/* A text of a thousand types of cores makes no page that nobody reads; JSON has all. */
TEST(page_of_a_thousand_cores)
{
	struct check c = { .name = "probe.txt", .target = many_cores_and_pmus() };
	buf_auto page = { 0 }, json = { 0 };
	struct err err;

	CHECK(check_judge(&c, &err));
	check_put_json(&json, &c);
	CHECK_EQ_U64(count_of(buf_str(&json), "\"midr\":"), 1000);
	CHECK_EQ_U64(count_of(buf_str(&json), "uncore_y"), 934);
	check_done(&c);
	c = (struct check){ .name = "probe.txt", .target = many_cores_and_pmus() };
	page_of(&c, &page);
	CHECK_EQ_U64(count_of(buf_str(&page), "cores 1 x "), 64);
	CHECK_HAS(buf_str(&page), " ... 936 more types of cores size 2 of 2 CPUs");
	CHECK_EQ_U64(count_of(buf_str(&page), "PMU armv8_pmuv3_x: number of counters"), 64);
	CHECK_HAS(buf_str(&page), " ... 2 more other PMUs uncore_y,");
	CHECK_EQ_U64(count_of(buf_str(&page), "uncore_y"), 64);
	CHECK_HAS(buf_str(&page), "uncore_y, ... 870 more settings ");
}

/* What a text has no word of is said so, and not to be the kernel's doing. */
TEST(untried_is_not_refused_by_the_kernel)
{
	static const char *const needs[] = { "timer",	       "system-wide", "kernel", "cycles",
					     "branch-records", "tracepoints", "bpf" };
	struct target t;
	struct err err;

	CHECK(target_decode(&t, str_of("arch x86_64\nkernel 6.1.0\nvirt none\neuid 0\nend 1\n")));
	for (size_t i = 0; i < sizeof(needs) / sizeof(*needs); i++) {
		CHECK(!target_need(&t, needs[i], &err));
		CHECK_MSG(!strcmp(err.id, "NOT_TRIED"), "%s: %s %s", needs[i], err.id, err.text);
		CHECK_HAS(err.text, needs[i]);
		CHECK_HAS(err.hint, "culprit-agent probe");
	}
	/* What the machine is, is known all the same. */
	CHECK(!target_need(&t, "spe", &err));
	CHECK_EQ_STR(err.id, "SPE_NOT_PRESENT");
	target_done(&t);
}

TEST(page_of_a_machine)
{
	struct render_options narrow = { .columns = 80 }, color = { .columns = 80, .color = true };
	struct check c = { .name = "local", .target = timer_only() };
	struct target_core core = { .midr = 0x7a0fabc0, .cpus = "0-1", .count = 2 };
	buf_auto text = { 0 }, colored = { 0 };
	struct str rest, line;
	struct err err;

	snprintf(c.target.hostname, sizeof(c.target.hostname), "b\033[31mx");
	vec_add(&c.target.cores, core);
	CHECK(check_judge(&c, &err));
	check_put_text(&text, &c, &narrow);
	CHECK_HAS(buf_str(&text), "unknown core (implementer 0x7a, part 0xabc), described by what");
	/* Control bytes of the target do not reach the terminal. */
	CHECK_HAS(buf_str(&text), "b\\x1b[31mx");
	CHECK_HAS(buf_str(&text),
		  "  code_hotspots         weaker   on cpu-clock; cycles: NO_PMU\n");
	CHECK_HAS(buf_str(&text), "  cpu_microarchitecture blocked ");
	CHECK_HAS(buf_str(&text), "counters:1     for the same reason [NO_PMU]");
	CHECK_HAS(buf_str(&text), "What would help\n  - have the hypervisor pass");
	CHECK_HAS(buf_str(&text), "for code_hotspots (cycles), cpu_microarchitecture (planned:");
	CHECK_MSG(!strchr(buf_str(&text), '\033'), "colour");
	rest = str_of(buf_str(&text));
	while (str_line(&rest, &line))
		CHECK_MSG(line.len <= 80, "%.*s", (int)line.len, line.at);
	check_put_text(&colored, &c, &color);
	CHECK_HAS(buf_str(&colored), "\033[33mweaker");
	check_done(&c);
}
