/* SPDX-License-Identifier: Apache-2.0 */
/* What a machine is and can do, as a page for people: the machine, its recipes, what would help. */
#include <stdlib.h>
#include <string.h>

#include "front/cli/check-page.h"

enum {
	LABEL = 13,	    /* what stands behind a label begins there */
	NAME = 24,	    /* the same for names of recipes */
	COLUMNS_MOST = 100, /* longer lines are hard to read */
	LISTED_MOST = 64,   /* types of cores, and PMUs; --json has all */
};

void page_title(struct page *p, const char *title)
{
	if (p->out->len)
		buf_u8(p->out, '\n');
	text_style(p->out, &p->o, STYLE_BOLD);
	buf_puts(p->out, title);
	text_plain(p->out, &p->o);
	buf_u8(p->out, '\n');
}

void page_line(struct page *p, size_t indent, const char *text)
{
	buf_auto safe = { 0 };

	str_escape(&safe, str_of(text));
	text_wrap(p->out, &p->o, indent, (struct str){ buf_str(&safe), safe.len });
	buf_u8(p->out, '\n');
}

static void put_label(struct page *p, const char *label)
{
	size_t used = 2 + strlen(label);

	buf_puts(p->out, "  ");
	text_style(p->out, &p->o, STYLE_DIM);
	buf_puts(p->out, label);
	text_plain(p->out, &p->o);
	text_spaces(p->out, used < LABEL ? LABEL - used : 1);
}

__attribute__((format(printf, 3, 4))) static void put(struct page *p, const char *label,
						      const char *fmt, ...)
{
	buf_auto text = { 0 };
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	put_label(p, label);
	page_line(p, LABEL, buf_str(&text));
}

static const char *or_else(const char *text, const char *otherwise)
{
	return text && *text ? text : otherwise;
}

/* Where it stands: whose machine, and what is between it and the metal. */
static void put_place(struct page *p)
{
	static const char *const kinds[] = {
		[TARGET_VIRT_UNKNOWN] = "whether it is a virtual machine could not be seen",
		[TARGET_VIRT_NONE] = "bare metal",
		[TARGET_VIRT_GUEST] = "virtual machine",
		[TARGET_VIRT_EMULATED] = "emulated",
	};
	const struct target *t = &p->c->target;
	const struct cloud_info *cloud = p->c->cloud;
	buf_auto text = { 0 };

	if (cloud)
		buf_printf(&text, "%s %s", cloud->name,
			   cloud->product_is_type && *t->dmi_product ?
				   t->dmi_product :
				   "(the firmware does not name the type of instance)");
	else if (*t->dt_model || *t->dmi_vendor || *t->dmi_product)
		buf_printf(&text, "%s%s%s", or_else(t->dt_model, t->dmi_vendor),
			   *t->dt_model || !*t->dmi_vendor ? "" : " ",
			   *t->dt_model ? "" : t->dmi_product);
	else
		buf_puts(&text, "no cloud or maker named by the firmware");
	buf_printf(&text, "; %s", kinds[t->virt]);
	if (*t->hypervisor)
		buf_printf(&text, " (%s)", t->hypervisor);
	buf_printf(&text, "; %s", t->is_acpi ? "ACPI" : "device tree or none");
	if (*t->container)
		buf_printf(&text, "; in a container (%s)", t->container);
	put(p, "machine", "%s", buf_str(&text));
}

/* " (AWS Graviton4)": which of the core's products this cloud has, "" when it is not known. */
static const char *product_of(const struct check *c, const struct core_info *info)
{
	size_t len = strlen(info->name);

	return c->instance && str_starts(c->instance->core, info->name) &&
			       c->instance->core[len] == ' ' ?
		       c->instance->core + len :
		       "";
}

static void put_core(struct page *p, const struct target_core *core)
{
	const struct target *t = &p->c->target;
	const struct core_info *info = core->midr ? core_find(core->midr) : NULL;
	const char *product = info ? product_of(p->c, info) : "";
	buf_auto text = { 0 };

	buf_printf(&text, "%u x ", core->count);
	check_put_core_name(&text, t, core);
	buf_puts(&text, product);
	if (core->midr)
		buf_printf(&text, ", MIDR 0x%08llx, r%up%u", (unsigned long long)core->midr,
			   midr_variant(core->midr), midr_revision(core->midr));
	else if (*t->cpu)
		buf_printf(&text, ", %s", t->cpu);
	if (core->cpus && *core->cpus)
		buf_printf(&text, ", CPUs %s", core->cpus);
	if (info && *info->products && !*product)
		buf_printf(&text, "; as in %s", info->products);
	put(p, "cores", "%s", buf_str(&text));
	if (info && *info->note)
		put(p, "", "mind: %s", info->note);
}

/* Adds ", 2 sockets"; nothing where the machine does not tell. */
static void add_count(struct buf *text, uint32_t count, const char *what, const char *behind)
{
	if (count)
		buf_printf(text, ", %u %s%s%s", count, what, count == 1 ? "" : "s", behind);
}

static void put_cores(struct page *p)
{
	const struct target *t = &p->c->target;
	buf_auto text = { 0 };

	for (size_t i = 0; i < t->cores.len && i < LISTED_MOST; i++)
		put_core(p, &t->cores.at[i]);
	if (t->cores.len > LISTED_MOST)
		put(p, "", "... %zu more types of cores", t->cores.len - LISTED_MOST);
	if (!t->cores.len)
		put(p, "cores", "%u CPUs; the machine does not say of what kind", t->cpus_online);
	buf_printf(&text, "%u of %u CPUs online", t->cpus_online,
		   t->cpus_present > t->cpus_online ? t->cpus_present : t->cpus_online);
	add_count(&text, t->sockets, "socket", "");
	add_count(&text, t->numa_nodes, "NUMA node", "");
	add_count(&text, t->threads_per_core, "thread", " per core");
	if (t->memory_bytes)
		buf_printf(&text, ", %.1f GiB of memory", (double)t->memory_bytes / (1 << 30));
	if (t->page_bytes)
		buf_printf(&text, ", pages of %llu KiB", (unsigned long long)t->page_bytes / 1024);
	put(p, "size", "%s", buf_str(&text));
	if (t->cgroup_cpus > 0)
		put(p, "", "the cgroup allows %.2f CPUs", t->cgroup_cpus);
}

/* The counters of the silicon, -1 when unknown. */
static int32_t silicon_counters(const struct target *t, const struct target_pmu *pmu)
{
	vec_each(core, &t->cores) {
		const struct core_info *info;
		const struct x86_info *x86;

		if (t->cores.len > 1 && (!core->cpus || strcmp(core->cpus, pmu->cpus) != 0))
			continue;
		info = core->midr ? core_find(core->midr) : NULL;
		x86 = core->midr ? NULL : x86_find(t->cpuid);
		return info ? info->counters : x86 ? x86->counters : -1;
	}
	return -1;
}

static void put_core_pmu(struct page *p, const struct target_pmu *pmu)
{
	int32_t silicon = silicon_counters(&p->c->target, pmu);
	buf_auto text = { 0 };

	buf_printf(&text, "%s: ", pmu->name);
	if (pmu->counters < 0)
		buf_printf(&text, "number of counters not measured%s%s",
			   pmu->open_errno ? ", " : "",
			   pmu->open_errno ? strerror(pmu->open_errno) : "");
	else if (silicon > pmu->counters)
		buf_printf(&text, "%d of the core's %d programmable counters", pmu->counters,
			   silicon);
	else
		buf_printf(&text, "%d programmable counter%s", pmu->counters,
			   pmu->counters == 1 ? "" : "s");
	if (pmu->counters > 0 && pmu->free >= 0 && pmu->free < pmu->counters)
		buf_printf(&text, " (%d free just now)", pmu->free);
	if (pmu->cycle_counter)
		buf_printf(&text, " and one for cycles%s",
			   pmu->cycle_counter_free ? "" : " (held just now)");
	if (pmu->slots)
		buf_printf(&text, ", %u slots a cycle", pmu->slots);
	put(p, "PMU", "%s", buf_str(&text));
}

static void put_pmus(struct page *p)
{
	const struct target *t = &p->c->target;
	buf_auto others = { 0 };
	size_t core_count = 0, other_count = 0;

	vec_each(pmu, &t->pmus) {
		size_t nth = pmu->is_core ? core_count++ : other_count++;

		if (nth >= LISTED_MOST)
			continue;
		if (pmu->is_core)
			put_core_pmu(p, pmu);
		else
			buf_printf(&others, "%s%s", others.len ? ", " : "", pmu->name);
	}
	if (core_count > LISTED_MOST)
		put(p, "", "... %zu more", core_count - LISTED_MOST);
	if (other_count > LISTED_MOST)
		buf_printf(&others, ", ... %zu more", other_count - LISTED_MOST);
	if (!core_count)
		put(p, "PMU", "no hardware counters of cores");
	if (others.len)
		put(p, "other PMUs", "%s", buf_str(&others));
}

/* Has a need before this one been refused in the same words? */
static bool is_told(const struct page *p, const char *const *before, const struct err *err)
{
	for (const char *const *n = p->c->needs.at; n < before; n++) {
		struct err other;

		if (!target_need(&p->c->target, *n, &other) && !strcmp(other.text, err->text))
			return true;
	}
	return false;
}

static void put_ability(struct page *p, const char *const *at)
{
	const struct target *t = &p->c->target;
	const char *need = *at;
	struct err err;
	buf_auto text = { 0 };
	bool ok = target_need(t, need, &err);
	const char *pmu = target_need_pmu(t, need);

	put_label(p, "");
	text_style(p->out, &p->o, ok ? STYLE_GREEN : STYLE_RED);
	buf_puts(p->out, ok ? "yes  " : "no   ");
	text_plain(p->out, &p->o);
	buf_puts(p->out, need);
	if (ok && !pmu) {
		buf_u8(p->out, '\n');
		return;
	}
	text_spaces(p->out, strlen(need) < 15 ? 15 - strlen(need) : 1);
	if (ok) {
		buf_printf(&text, "by %s", pmu);
		page_line(p, LABEL + 20, buf_str(&text));
		return;
	}
	buf_printf(&text, "%s [%s]", is_told(p, at, &err) ? "for the same reason" : err.text,
		   err_id(&err));
	page_line(p, LABEL + 20, buf_str(&text));
}

static void put_abilities(struct page *p)
{
	page_title(p, "What works here");
	vec_each(n, &p->c->needs)
		put_ability(p, n);
}

static void add_setting(struct buf *text, const char *name, int64_t value)
{
	if (value != INT64_MIN)
		buf_printf(text, "%s%s %lld", text->len ? ", " : "", name, (long long)value);
}

static void put_settings(struct page *p)
{
	const struct target *t = &p->c->target;
	buf_auto text = { 0 };

	add_setting(&text, "perf_event_paranoid", t->paranoid);
	add_setting(&text, "kptr_restrict", t->kptr_restrict);
	add_setting(&text, "perf_event_mlock_kb", t->mlock_kb);
	add_setting(&text, "perf_user_access", t->perf_user_access);
	add_setting(&text, "nmi_watchdog", t->nmi_watchdog);
	add_setting(&text, "unprivileged_bpf_disabled", t->unprivileged_bpf_disabled);
	add_setting(&text, "ptrace_scope", t->ptrace_scope);
	put(p, "settings", "%s", or_else(buf_str(&text), "none can be read"));
	put(p, "rights", "%s%s%s%s%s%s%s%s%s", t->euid ? "user" : "root",
	    t->in_user_namespace ? " in a user namespace" : "",
	    t->can_perfmon ? ", CAP_PERFMON" : "", t->can_bpf ? ", CAP_BPF" : "",
	    t->can_ptrace ? ", CAP_SYS_PTRACE" : "", t->can_ipc_lock ? ", CAP_IPC_LOCK" : "",
	    *t->lockdown && strcmp(t->lockdown, "none") ? ", lockdown " : "",
	    strcmp(t->lockdown, "none") ? t->lockdown : "",
	    !strcmp(t->seccomp, "2") ? ", seccomp filter" : "");
}

static void put_machine(struct page *p)
{
	const struct target *t = &p->c->target;

	page_title(p, "Machine");
	put(p, "host", "%s, Linux %s, %s%s%s", or_else(t->hostname, "(no name)"),
	    or_else(t->kernel, "?"), or_else(t->arch, "(architecture not told)"),
	    *t->os ? ", " : "", t->os);
	put_place(p);
	put_cores(p);
	put_pmus(p);
	put_settings(p);
}

static enum text_style state_style(const struct check_recipe *r)
{
	if (r->ready.state == READY_BLOCKED)
		return STYLE_RED;
	return r->ready.state == READY_WEAKER ? STYLE_YELLOW : STYLE_GREEN;
}

/* The rung it stands on, with what PMU beside the core's, and why not on those above. */
static void put_standing(struct buf *text, const struct target *t, const struct check_recipe *r)
{
	const struct recipe_rung *rungs = r->recipe->rungs;

	if (r->ready.rung < r->recipe->rung_count) {
		const struct recipe_rung *g = &rungs[r->ready.rung];

		buf_printf(text, "on %s", g->name);
		for (size_t i = 0; i < g->need_count; i++) {
			const char *pmu = target_need_pmu(t, g->needs[i]);

			if (pmu)
				buf_printf(text, " (%s)", pmu);
		}
		if (r->ready.missing.len)
			buf_puts(text, "; ");
	}
	vec_each(m, &r->ready.missing)
		buf_printf(text, "%s%s: %s", m == r->ready.missing.at ? "" : ", ",
			   rungs[m->rung].name, err_id(&m->err));
}

static void put_recipes_of(struct page *p, bool planned)
{
	vec_each(r, &p->c->recipes) {
		const char *state = check_state_word(r->ready.state);
		buf_auto text = { 0 };

		if (r->recipe->planned != planned)
			continue;
		buf_printf(p->out, "  %-*s", NAME - 2, r->recipe->name);
		text_style(p->out, &p->o, state_style(r));
		buf_printf(p->out, "%-9s", state);
		text_plain(p->out, &p->o);
		put_standing(&text, &p->c->target, r);
		page_line(p, NAME + 9, buf_str(&text));
	}
}

static void put_recipes(struct page *p)
{
	page_title(p, "Recipes");
	put_recipes_of(p, false);
	page_title(p, "Planned, not built yet: what they would be here");
	put_recipes_of(p, true);
}

void check_put_text(struct buf *out, const struct check *c, const struct render_options *o)
{
	struct page p = { .out = out, .c = c, .o = *o };

	if (!p.o.columns || p.o.columns > COLUMNS_MOST)
		p.o.columns = COLUMNS_MOST;
	put_machine(&p);
	put_abilities(&p);
	put_recipes(&p);
	page_help(&p);
}
