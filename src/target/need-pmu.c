/* SPDX-License-Identifier: Apache-2.0 */
/* Needs that the core's PMU meets: cycles, counters, branch records; and what would give them. */
#include "target/need.h"

#include <errno.h>
#include <string.h>

/* How the owner of a hypervisor passes the PMU on to a guest. */
static const struct {
	const char *hypervisor, *how;
} passing_on[] = {
	{ "kvm", "have the hypervisor pass the PMU on (QEMU: -cpu host,pmu=on)" },
	{ "vmware", "turn on virtualized CPU performance counters for this VM (vpmc.enable)" },
	{ "microsoft", "turn the PMU on for this VM (Set-VMProcessor -Perfmon @(\"pmu\"))" },
	{ "xen", "boot Xen with vpmu=on" },
};

/* What of the PMU is missing. */
enum pmu_want { WANT_ANY_PMU, WANT_INTERRUPT, WANT_FULL_PMU };

/* What a cloud's own table says, "" where it knows nothing. */
static const char *known_of(const struct need_place *p, enum pmu_want want)
{
	if (!p->instance)
		return "";
	/* What gives all of it also gives some. */
	return want == WANT_ANY_PMU && *p->instance->any_pmu ? p->instance->any_pmu :
							       p->instance->full_pmu;
}

static void hint_cloud(const struct target *t, const struct need_place *p, enum pmu_want want,
		       struct err *err)
{
	static const struct {
		const char *passed, *has;
	} words[] = {
		[WANT_ANY_PMU] = { "the PMU", "one" },
		[WANT_INTERRUPT] = { "the PMU's interrupt", "it" },
		[WANT_FULL_PMU] = { "all counters", "all of its core" },
	};
	const char *known = known_of(p, want);
	bool any = p->instance && *known && known == p->instance->any_pmu;
	buf_auto text = { 0 };

	instance_put_text(&text, known, t->dmi_product);
	if (text.len)
		err_hint(err, "on %s %s come with %s", p->cloud->name,
			 any ? "hardware counters" : "all counters", buf_str(&text));
	err_hint(err, "nothing on %s is known here that passes %s on; bare metal has %s",
		 p->cloud->name, words[want].passed, words[want].has);
}

static void hint_guest(const struct target *t, const struct need_place *p, enum pmu_want want,
		       struct err *err)
{
	if (p->cloud)
		hint_cloud(t, p, want, err);
	if (want == WANT_INTERRUPT)
		err_hint(err, "have the hypervisor pass the PMU's interrupt on as well, or use "
			      "bare metal");
	for (size_t i = 0; i < sizeof(passing_on) / sizeof(*passing_on); i++)
		if (!strcmp(t->hypervisor, passing_on[i].hypervisor))
			err_hint(err, "%s, or use bare metal", passing_on[i].how);
	err_hint(err, "have the hypervisor pass the PMU on to this guest, or use bare metal");
}

static void hint_pmu(const struct target *t, enum pmu_want want, struct err *err)
{
	struct need_place p;

	need_place(&p, t);
	switch (p.virt) {
	case TARGET_VIRT_GUEST:
		hint_guest(t, &p, want, err);
		break;
	case TARGET_VIRT_EMULATED:
		err_hint(err, "use real hardware: this machine is an emulator, and what it counts "
			      "is its own doing");
		break;
	case TARGET_VIRT_NONE:
		err_hint(err,
			 want == WANT_FULL_PMU ?
				 "a machine whose core has more of them; no setting gives this one "
				 "more" :
				 "dmesg | grep -i pmu says what is missing: the kernel's PMU "
				 "driver, or the PMU's interrupt in the firmware's tables");
		break;
	case TARGET_VIRT_UNKNOWN:
		err_hint(err, "whether this is a virtual machine could not be seen: in one, have "
			      "the PMU passed on; on bare metal dmesg | grep -i pmu says more");
		break;
	}
}

static bool refuse_no_pmu(const struct target *t, int errnum, struct err *err)
{
	if (errnum == ENODATA)
		err_refuse(err, "NO_PMU",
			   "hardware counters open and stand still: this machine only pretends to "
			   "have them");
	else
		err_refuse(err, "NO_PMU", "this machine shows no hardware counters (%s)",
			   strerror(errnum));
	hint_pmu(t, WANT_ANY_PMU, err);
	err->sys_errno = errnum;
	return false;
}

static bool has_core_pmu(const struct target *t)
{
	vec_each(p, &t->pmus) {
		if (p->is_core)
			return true;
	}
	return false;
}

/*
 * Why an event of the core's PMU does not open. That there is none is said before what this user
 * may do: rights would not help. A machine without any PMU in its list did not show its list.
 */
static bool refuse_open(const struct target *t, const char *event, int errnum, struct err *err)
{
	bool absent = t->pmus.len && !has_core_pmu(t);

	if (absent && errnum != ENOSYS)
		return refuse_no_pmu(t, errnum == EACCES || errnum == EPERM ? ENOENT : errnum, err);
	if (need_is_about_rights(errnum) || errnum == EBUSY)
		return target_explain_open(t, event, false, false, errnum, err);
	return refuse_no_pmu(t, errnum, err);
}

bool need_cycles(const struct target *t, uint32_t n, struct err *err)
{
	struct need_place p;

	(void)n;
	if (target_has_cycles(t))
		return true;
	if (t->trials.cycles)
		return refuse_open(t, "cycles", t->trials.cycles, err);
	if (t->trials.sampling != EOPNOTSUPP && t->trials.sampling != EINVAL)
		return refuse_open(t, "cycles", t->trials.sampling, err);
	need_place(&p, t);
	err_refuse(err, "PMU_CANNOT_SAMPLE",
		   p.virt == TARGET_VIRT_GUEST ?
			   "the VM counts but cannot sample: the PMU's interrupt is not passed on "
			   "(%s)" :
			   "hardware counters count here and cannot sample: the PMU has no "
			   "interrupt (%s)",
		   strerror(t->trials.sampling));
	hint_pmu(t, WANT_INTERRUPT, err);
	err->sys_errno = t->trials.sampling;
	return false;
}

/* Of its programmable counters, how many cycles take: none where they have one of their own. */
static int32_t for_cycles(const struct target_pmu *p)
{
	return p->cycle_counter ? 0 : 1;
}

/* The core PMU with the fewest counters: what is asked of all cores must fit there. */
static const struct target_pmu *poorest_pmu(const struct target *t)
{
	const struct target_pmu *least = NULL;

	vec_each(p, &t->pmus) {
		if (p->is_core &&
		    (!least || p->counters - for_cycles(p) < least->counters - for_cycles(least)))
			least = p;
	}
	return least;
}

static bool refuse_taken(const struct target *t, const struct target_pmu *p, uint32_t n,
			 struct err *err)
{
	const char *cycles = "";

	if (!p->cycle_counter)
		cycles = " (with one for cycles, which have none of their own here)";
	else if (!p->cycle_counter_free)
		cycles = " (with one for cycles, whose own is held)";
	err_refuse(err, "PMU_BUSY",
		   "%u programmable counters are needed at once%s and %d of the %d of %s are free: "
		   "somebody holds %s",
		   n + (*cycles != 0), cycles, p->free, p->counters, p->name,
		   p->free < p->counters ? "the rest" : "that of cycles");
	if (t->nmi_watchdog == 1)
		return err_hint(err,
				"end other profilers, and give back what the NMI watchdog may "
				"hold: %ssudo sysctl kernel.nmi_watchdog=0",
				need_where(t));
	return err_hint(err, "end other profilers (perf, monitoring agents)");
}

static bool refuse_unmeasured(const struct target *t, const struct target_pmu *p, uint32_t n,
			      struct err *err)
{
	int errnum = p ? p->open_errno : 0;

	err_refuse(err, "INSUFFICIENT_PMU_COUNTERS",
		   "%u programmable counters are needed at once; how many there are could not be "
		   "measured%s%s",
		   n, errnum ? ": " : "", errnum ? strerror(errnum) : "");
	err->sys_errno = errnum;
	hint_pmu(t, WANT_FULL_PMU, err);
	return false;
}

static bool refuse_too_few(const struct target *t, const struct target_pmu *p, uint32_t n,
			   struct err *err)
{
	const char *cycles =
		p->cycle_counter ? "" : " (with one for cycles, which have none of their own here)";
	struct need_place place;

	n += (uint32_t)for_cycles(p);
	need_place(&place, t);
	if (place.core && place.core->counters > p->counters)
		err_refuse(err, "INSUFFICIENT_PMU_COUNTERS",
			   "%u programmable counters are needed at once%s; this machine gives %d "
			   "of the %d that its core (%s) has",
			   n, cycles, p->counters, place.core->counters, place.core->name);
	else
		err_refuse(err, "INSUFFICIENT_PMU_COUNTERS",
			   "%u programmable counters are needed at once%s; this machine has %d", n,
			   cycles, p->counters);
	hint_pmu(t, p->counters ? WANT_FULL_PMU : WANT_ANY_PMU, err);
	return false;
}

bool need_counters(const struct target *t, uint32_t n, struct err *err)
{
	const struct target_pmu *p = poorest_pmu(t);

	if (t->trials.cycles && (!p || p->counters <= 0))
		return refuse_open(t, "hardware counters", t->trials.cycles, err);
	if (!p || p->counters < 0)
		return refuse_unmeasured(t, p, n, err);
	if (p->counters < (int32_t)n + for_cycles(p))
		return refuse_too_few(t, p, n, err);
	return p->free < 0 ||
	       p->free >= (int32_t)n + (p->cycle_counter && p->cycle_counter_free ? 0 : 1) ||
	       refuse_taken(t, p, n, err);
}

/* What is known of the machine's core and its branch records. */
struct records {
	const char *core;   /* the name of the core, NULL when it is not known */
	enum core_fact has; /* records that go with any event */
	bool brs;	    /* has none such, and BRS */
	enum target_virt virt;
};

static struct records records_of(const struct target *t)
{
	const struct x86_info *x = target_is_arm(t) ? NULL : x86_find(t->cpuid);
	struct need_place p;

	need_place(&p, t);
	if (x)
		return (struct records){ x->name, x->lbr, x->brs, p.virt };
	return (struct records){ .core = p.core ? p.core->name : NULL,
				 .has = p.core ? p.core->brbe : CORE_UNKNOWN,
				 .virt = p.virt };
}

/* " (Core X, Core Y)": those of the tables that have BRBE. */
static void put_brbe_cores(struct buf *out)
{
	const struct core_info *c;
	const char *last = "";

	for (size_t i = 0; (c = core_row_at(i)); i++) {
		if (c->brbe != CORE_YES || !strcmp(c->name, last))
			continue;
		buf_printf(out, "%s%s", *last ? ", " : " (", c->name);
		last = c->name;
	}
	if (*last)
		buf_u8(out, ')');
}

static void refuse_records(const char *core, const char *what, struct err *err)
{
	err_refuse(err, "BRANCH_RECORDS_NOT_PRESENT", "%s has no %s", core ? core : "this machine",
		   what);
}

static bool refuse_core(const struct target *t, const struct records *r, struct err *err)
{
	buf_auto cores = { 0 };

	if (target_is_arm(t)) {
		put_brbe_cores(&cores);
		refuse_records(r->core, "BRBE", err);
		return err_hint(err,
				"a machine whose core has BRBE%s; no setting brings it to this one",
				buf_str(&cores));
	}
	if (r->brs)
		err_refuse(
			err, "BRANCH_RECORDS_NOT_PRESENT",
			"%s has no LBR; its branch sampling (BRS: Linux 5.19 with "
			"CONFIG_PERF_EVENTS_AMD_BRS) goes with the event of taken branches alone",
			r->core);
	else
		refuse_records(r->core, "branch records (LBR)", err);
	return err_hint(err, "a machine whose core has branch records (LBR); no setting brings it "
			     "to this one");
}

/* In the order in which a cause makes those behind it pointless; BRS is of no use without a PMU. */
static bool refuse_branch_records(const struct target *t, int errnum, struct err *err)
{
	struct records r = records_of(t);
	bool is_denied = need_is_about_rights(errnum);

	if (r.has == CORE_NO && !r.brs)
		return refuse_core(t, &r, err);
	if (r.virt == TARGET_VIRT_GUEST && target_is_arm(t)) {
		buf_auto cores = { 0 };

		put_brbe_cores(&cores);
		err_refuse(err, "BRANCH_RECORDS_NOT_PRESENT",
			   "BRBE is not passed on to virtual machines");
		return err_hint(err,
				"bare metal with a core that has BRBE%s, and Linux 6.17 or later",
				buf_str(&cores));
	}
	if (t->trials.cycles || is_denied)
		return refuse_open(t, "cycles with branch records",
				   is_denied ? errnum : t->trials.cycles, err);
	if (r.brs)
		return refuse_core(t, &r, err);
	if (target_is_arm(t) && kernel_compare(t->kernel, "6.17") < 0) {
		err_refuse(err, "KERNEL_TOO_OLD",
			   "Linux %s cannot read BRBE: the driver came with 6.17", t->kernel);
		return err_hint(err, "update the kernel, if the core has BRBE");
	}
	refuse_records(NULL, target_is_arm(t) ? "BRBE" : "branch records (LBR)", err);
	hint_pmu(t, WANT_FULL_PMU, err);
	return false;
}

bool need_branch_records(const struct target *t, uint32_t n, struct err *err)
{
	int errnum = t->trials.branch_stack;

	(void)n;
	if (!errnum)
		return true;
	refuse_branch_records(t, errnum, err);
	err->sys_errno = errnum;
	return false;
}
