/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine can do, as JSON (docs/check.md). */
#include <stdio.h>
#include <string.h>

#include "base/json-writer.h"
#include "front/cli/check.h"

static void put_null(struct jw *j, const char *key, const char *why)
{
	char_auto why_key = mem_printf("%s_why", key);

	jw_null(j, key);
	jw_string(j, why_key, why);
}

/* Text that may be unknown. */
static void put_word(struct jw *j, const char *key, const char *value, const char *why)
{
	if (*value)
		jw_string(j, key, value);
	else
		put_null(j, key, why);
}

/* A number of which negative ones mean unknown. */
static void put_number(struct jw *j, const char *key, int64_t value, const char *why)
{
	if (value >= 0)
		jw_integer(j, key, value);
	else
		put_null(j, key, why);
}

static void put_setting(struct jw *j, const char *key, int64_t value)
{
	if (value != INT64_MIN)
		jw_integer(j, key, value);
	else
		put_null(j, key, "this kernel does not show it");
}

static void put_fact(struct jw *j, const char *key, enum core_fact fact)
{
	if (fact == CORE_UNKNOWN)
		put_null(j, key, "not known of this core");
	else
		jw_boolean(j, key, fact == CORE_YES);
}

static void put_cloud(struct jw *j, const struct check *c)
{
	if (!c->cloud) {
		put_null(j, "cloud", "the firmware names no cloud that is known");
		return;
	}
	jw_open(j, "cloud", '{', JSON_FLAT);
	jw_string(j, "key", c->cloud->key);
	jw_string(j, "name", c->cloud->name);
	put_word(j, "instance", c->cloud->product_is_type ? c->target.dmi_product : "",
		 "the firmware does not name it");
	jw_close(j, '}');
}

static void put_target(struct jw *j, const struct check *c)
{
	const struct target *t = &c->target;
	const char *untold = "the machine does not say";

	jw_open(j, "target", '{', JSON_LINES);
	jw_string(j, "name", c->name);
	put_word(j, "hostname", t->hostname, untold);
	put_word(j, "arch", t->arch, untold);
	put_word(j, "kernel", t->kernel, untold);
	put_word(j, "os", t->os, untold);
	put_word(j, "os_id", t->os_id, untold);
	put_word(j, "os_version", t->os_version, untold);
	jw_string(j, "virtualisation", target_virt_word(t->virt));
	put_word(j, "hypervisor", t->hypervisor, "none that is known");
	put_cloud(j, c);
	jw_string(j, "firmware", t->is_acpi ? "acpi" : "devicetree");
	put_word(j, "board", t->dt_model, "no device tree names it");
	put_word(j, "cpu", t->cpu, untold);
	put_word(j, "cpuid", t->cpuid, untold);
	jw_integer(j, "cpus_online", t->cpus_online);
	jw_integer(j, "cpus_present", t->cpus_present);
	put_number(j, "sockets", t->sockets ? (int64_t)t->sockets : -1, untold);
	put_number(j, "numa_nodes", t->numa_nodes ? (int64_t)t->numa_nodes : -1, untold);
	put_number(j, "threads_per_core", t->threads_per_core ? (int64_t)t->threads_per_core : -1,
		   untold);
	put_number(j, "memory_bytes", t->memory_bytes ? (int64_t)t->memory_bytes : -1, untold);
	put_number(j, "page_bytes", t->page_bytes ? (int64_t)t->page_bytes : -1, untold);
	put_word(j, "container", t->container, "none that is known");
	jw_close(j, '}');
}

static void put_hex(struct jw *j, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%llx", (unsigned long long)value);
	jw_string(j, key, text);
}

static void put_midr(struct jw *j, uint64_t midr)
{
	char text[24];

	if (!midr) {
		put_null(j, "midr", "not an Arm core, or the machine does not show it");
		return;
	}
	snprintf(text, sizeof(text), "0x%08llx", (unsigned long long)midr);
	jw_string(j, "midr", text);
	put_hex(j, "implementer", midr_implementer(midr));
	put_hex(j, "part", midr_part(midr));
	jw_integer(j, "variant", midr_variant(midr));
	jw_integer(j, "revision", midr_revision(midr));
}

/* What the tables have of a core, in one form for both architectures. */
static struct core_info facts_of(const struct target *t, const struct target_core *core)
{
	const struct core_info *info = core->midr ? core_find(core->midr) : NULL;
	const struct x86_info *x86 = core->midr ? NULL : x86_find(t->cpuid);

	if (info)
		return *info;
	if (x86)
		return (struct core_info){ .name = x86->name,
					   .products = "",
					   .arch = "x86-64",
					   .note = "",
					   .counters = x86->counters,
					   .slots = -1,
					   .sve_bits = 0,
					   .spe = CORE_NO,
					   .brbe = CORE_NO };
	return (struct core_info){ .name = "",
				   .products = "",
				   .arch = "",
				   .note = "",
				   .counters = -1,
				   .slots = -1,
				   .sve_bits = -1 };
}

static void put_core(struct jw *j, const struct target *t, const struct target_core *core)
{
	const struct core_info info = facts_of(t, core);
	const struct x86_info *x86 = core->midr ? NULL : x86_find(t->cpuid);
	const char *no_row = "not known of this core";

	jw_open(j, NULL, '{', JSON_LINES);
	put_word(j, "name", info.name, no_row);
	jw_boolean(j, "known", *info.name != 0);
	put_midr(j, core->midr);
	jw_string(j, "cpus", core->cpus ? core->cpus : "");
	jw_integer(j, "count", core->count);
	put_word(j, "products", info.products, no_row);
	put_word(j, "arch", info.arch, no_row);
	put_number(j, "counters", info.counters, no_row);
	put_number(j, "slots", info.slots, no_row);
	put_number(j, "sve_bits", info.sve_bits, no_row);
	put_fact(j, "spe", info.spe);
	put_word(j, "spe_version", info.spe_version ? info.spe_version : "",
		 info.spe == CORE_NO ? "it has no SPE" : no_row);
	put_fact(j, "brbe", info.brbe);
	put_fact(j, "lbr", x86 ? x86->lbr : core->midr ? CORE_NO : CORE_UNKNOWN);
	put_word(j, "note", info.note, "nothing to mind");
	jw_close(j, '}');
}

/* The core that a PMU counts for, where one type of core has all its CPUs. */
static const char *core_of(const struct target *t, const struct target_pmu *p)
{
	vec_each(c, &t->cores) {
		if (t->cores.len == 1 || (c->cpus && !strcmp(c->cpus, p->cpus)))
			return facts_of(t, c).name;
	}
	return "";
}

static int64_t count_words(const char *text)
{
	struct str rest = str_of(text), word;
	int64_t count = 0;

	while (str_word(&rest, &word))
		count++;
	return count;
}

/* Is there a counter for cycles alone, and could it be had just now? */
static void put_cycle_counter(struct jw *j, const struct target_pmu *p, const char *why)
{
	bool known = p->is_core && p->counters >= 0;

	if (known)
		jw_boolean(j, "cycle_counter", p->cycle_counter);
	else
		put_null(j, "cycle_counter", why);
	if (known && p->cycle_counter && p->free >= 0)
		jw_boolean(j, "cycle_counter_free", p->cycle_counter_free);
	else
		put_null(j, "cycle_counter_free",
			 known && !p->cycle_counter ? "there is none" : why);
}

static void put_pmu(struct jw *j, const struct target *t, const struct target_pmu *p)
{
	const char *why = !p->is_core	? "not the PMU of a core" :
			  p->open_errno ? strerrorname_np(p->open_errno) :
					  NULL;

	if (!why)
		why = "not measured";

	jw_open(j, NULL, '{', JSON_FLAT);
	jw_string(j, "name", p->name);
	jw_integer(j, "type", p->type);
	jw_string(j, "cpus", p->cpus);
	put_word(j, "core", p->is_core ? core_of(t, p) : "", "not told");
	put_number(j, "counters", p->is_core ? p->counters : -1, why);
	put_number(j, "free", p->is_core ? p->free : -1, why);
	put_cycle_counter(j, p, why);
	put_number(j, "slots", p->slots ? (int64_t)p->slots : -1, "the kernel does not tell");
	jw_integer(j, "events", count_words(p->events ? p->events : ""));
	jw_close(j, '}');
}

static void put_refusal(struct jw *j, const struct err *err)
{
	jw_string(j, "id", err_id(err));
	jw_string(j, "message", err->text);
	put_word(j, "remedy", err->hint, "nothing is known to help");
}

static void put_abilities(struct jw *j, const struct check *c)
{
	jw_open(j, "abilities", '{', JSON_LINES);
	vec_each(n, &c->needs) {
		struct err err;
		bool ok = target_need(&c->target, *n, &err);
		const char *pmu = target_need_pmu(&c->target, *n);
		const char *name;

		jw_open(j, *n, '{', JSON_FLAT);
		jw_boolean(j, "ok", ok);
		if (pmu)
			jw_string(j, "pmu", pmu);
		if (!ok) {
			name = err.sys_errno ? strerrorname_np(err.sys_errno) : NULL;
			put_word(j, "errno", name ? name : "", "no system call said so");
			put_refusal(j, &err);
		}
		jw_close(j, '}');
	}
	jw_close(j, '}');
}

static void put_limits(struct jw *j, const struct target *t)
{
	jw_open(j, "limits", '{', JSON_LINES);
	put_setting(j, "perf_event_paranoid", t->paranoid);
	put_setting(j, "kptr_restrict", t->kptr_restrict);
	put_setting(j, "perf_event_max_sample_rate", t->max_sample_rate);
	put_setting(j, "perf_event_mlock_kb", t->mlock_kb);
	put_setting(j, "perf_user_access", t->perf_user_access);
	put_setting(j, "nmi_watchdog", t->nmi_watchdog);
	put_setting(j, "unprivileged_bpf_disabled", t->unprivileged_bpf_disabled);
	put_setting(j, "ptrace_scope", t->ptrace_scope);
	put_number(j, "memlock_bytes",
		   t->memlock_bytes <= INT64_MAX ? (int64_t)t->memlock_bytes : -1, "no limit");
	put_word(j, "lockdown", t->lockdown, "this kernel does not show it");
	put_word(j, "seccomp", t->seccomp, "this kernel does not show it");
	jw_boolean(j, "kpti", t->has_kpti);
	jw_integer(j, "euid", t->euid);
	put_hex(j, "capabilities", t->capabilities);
	jw_boolean(j, "in_user_namespace", t->in_user_namespace);
	jw_boolean(j, "can_perfmon", t->can_perfmon);
	jw_boolean(j, "can_bpf", t->can_bpf);
	jw_boolean(j, "can_ptrace", t->can_ptrace);
	jw_boolean(j, "can_ipc_lock", t->can_ipc_lock);
	put_word(j, "cgroup", t->cgroup, "the machine does not say");
	jw_integer(j, "cgroup_version", t->cgroup_version);
	if (t->cgroup_cpus > 0)
		jw_real(j, "cgroup_cpus", t->cgroup_cpus, 2);
	else
		put_null(j, "cgroup_cpus", "no quota");
	jw_boolean(j, "btf", t->has_btf);
	jw_boolean(j, "tracefs", t->has_tracefs);
	put_word(j, "spe_module", t->spe_module, "could not be seen");
	put_word(j, "spe_firmware", t->spe_firmware, "could not be seen");
	put_word(j, "cmn_module", t->cmn_module, "could not be seen");
	put_word(j, "cmn_firmware", t->cmn_firmware, "could not be seen");
	jw_close(j, '}');
}

static void put_recipe(struct jw *j, const struct check_recipe *r)
{
	const char *state = check_state_word(r->ready.state);
	const struct recipe_rung *rungs = r->recipe->rungs;
	const char *why;

	jw_open(j, NULL, '{', JSON_LINES);
	jw_string(j, "recipe", r->recipe->name);
	jw_string(j, "question", r->recipe->question);
	jw_boolean(j, "built", !r->recipe->planned);
	jw_string(j, "state", r->recipe->planned ? "planned" : state);
	jw_string(j, "would_be", state);
	if (r->ready.rung < r->recipe->rung_count) {
		jw_string(j, "rung", rungs[r->ready.rung].name);
		jw_string(j, "rung_text", rungs[r->ready.rung].text);
	} else {
		why = r->ready.state == READY_BLOCKED ? "none is possible" : "it has no ladder";
		put_null(j, "rung", why);
		put_null(j, "rung_text", why);
	}
	jw_open(j, "missing", '[', JSON_LINES);
	vec_each(m, &r->ready.missing) {
		jw_open(j, NULL, '{', JSON_FLAT);
		jw_string(j, "rung", rungs[m->rung].name);
		jw_string(j, "need", m->need);
		put_refusal(j, &m->err);
		jw_close(j, '}');
	}
	jw_close(j, ']');
	jw_close(j, '}');
}

void check_put_json(struct buf *out, const struct check *c)
{
	struct jw j = { .out = out };
	const struct target *t = &c->target;

	jw_open(&j, NULL, '{', JSON_LINES);
	jw_integer(&j, "format", 1);
	put_target(&j, c);
	jw_open(&j, "cores", '[', JSON_LINES);
	vec_each(core, &t->cores)
		put_core(&j, t, core);
	jw_close(&j, ']');
	jw_open(&j, "pmus", '[', JSON_LINES);
	vec_each(p, &t->pmus)
		put_pmu(&j, t, p);
	jw_close(&j, ']');
	put_abilities(&j, c);
	put_limits(&j, t);
	jw_open(&j, "recipes", '[', JSON_LINES);
	vec_each(r, &c->recipes)
		put_recipe(&j, r);
	jw_close(&j, ']');
	jw_close(&j, '}');
	buf_u8(out, '\n');
}
