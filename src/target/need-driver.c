/* SPDX-License-Identifier: Apache-2.0 */
/* Needs that a driver of its own meets: SPE and the interconnect's PMU, and why they are absent. */
#include "target/need.h"

#include <errno.h>
#include <string.h>

/* What the two have in common. */
struct device {
	const char *driver;		 /* of data/distributions.tsv */
	const char *name, *where;	 /* in a sentence; "bare metal with " and this */
	const char *absent, *not_loaded; /* ids */
	const char *config;		 /* of the kernel */
};

static const struct device spe_device = { "arm_spe_pmu",	   "SPE",
					  "a core that has SPE",   "SPE_NOT_PRESENT",
					  "SPE_DRIVER_NOT_LOADED", "CONFIG_ARM_SPE_PMU" };
static const struct device cmn_device = {
	"arm_cmn",	   "the interconnect's PMU", "a mesh interconnect",
	"CMN_NOT_PRESENT", "CMN_DRIVER_NOT_LOADED",  "CONFIG_ARM_CMN"
};

static const struct target_pmu *pmu_named(const struct target *t, const char *prefix)
{
	vec_each(p, &t->pmus) {
		if (str_starts(p->name, prefix))
			return p;
	}
	return NULL;
}

static bool refuse_foreign(const struct target *t, const struct device *d, struct err *err)
{
	err_refuse(err, d->absent, "%s is a feature of Arm machines, and this one is %s", d->name,
		   *t->arch ? t->arch : "of an unknown kind");
	return err_hint(err, "an Arm server: bare metal with %s; nothing brings it to this machine",
			d->where);
}

/* The system that a container shows is that of its image; the kernel and its modules are the host's. */
static struct driver_info driver_of(const struct target *t, const struct need_place *p,
				    const struct device *d)
{
	bool inside = t->container[0];
	struct driver_info info;

	if (!driver_find(&info, &(struct driver_place){ .driver = d->driver,
							.cloud = p->cloud ? p->cloud->key : "",
							.os_id = inside ? "" : t->os_id,
							.os_version = inside ? "" : t->os_version,
							.core_key = p->core ? p->core->key : "" }))
		info = (struct driver_info){ "", "", "", "", "" };
	return info;
}

/* Of that driver on this distribution. */
static bool is_too_old(const struct target *t, const struct driver_info *info)
{
	return *info->min_kernel && !driver_is_nowhere(info) &&
	       kernel_compare(t->kernel, info->min_kernel) < 0;
}

/* text: what the cloud's table says of the device, with {family} in it. */
static bool refuse_guest(const struct target *t, const struct need_place *p, const struct device *d,
			 const char *text, struct err *err)
{
	const struct driver_info info = driver_of(t, p, d);
	buf_auto remedy = { 0 };

	if (p->virt == TARGET_VIRT_EMULATED) {
		err_refuse(err, d->absent, "%s is not there: this machine is emulated", d->name);
		return err_hint(err, "real hardware: bare metal with %s", d->where);
	}
	err_refuse(err, d->absent, "%s is not passed on to virtual machines, and this is one",
		   d->name);
	if (*text) {
		buf_printf(&remedy, "on %s %s comes with ", p->cloud->name, d->name);
		instance_put_text(&remedy, text, t->dmi_product);
	} else if (p->cloud) {
		buf_printf(&remedy,
			   "nothing on %s is known here that gives %s; take bare metal "
			   "elsewhere, with %s",
			   p->cloud->name, d->name, d->where);
	} else {
		buf_printf(&remedy, "bare metal with %s", d->where);
	}
	if (*text && is_too_old(t, &info))
		buf_printf(&remedy, ", and Linux %s or later there: this one is %s",
			   info.min_kernel, t->kernel);
	else if (*text && *info.instead)
		buf_printf(&remedy, ", and %s there", info.instead);
	return err_hint(err, "%s", buf_str(&remedy));
}

static bool refuse_too_old(const struct target *t, const struct device *d,
			   const struct driver_info *info, struct err *err)
{
	const char *least = info->min_kernel;
	buf_auto remedy = { 0 };

	err_refuse(err, "KERNEL_TOO_OLD", "%s needs Linux %s or later on %s, and this is %s",
		   d->name, least,
		   t->container[0] ? "this machine" :
		   *t->os	   ? t->os :
				     "this distribution",
		   t->kernel);
	buf_printf(&remedy, "%supdate the kernel to %s or later", need_where(t), least);
	if (*info->update)
		buf_printf(&remedy, " (%s)", info->update);
	buf_puts(&remedy, " and reboot");
	if (*info->install)
		buf_printf(&remedy, ", then: %s, and: sudo modprobe %s", info->install, d->driver);
	return err_hint(err, "%s", buf_str(&remedy));
}

static bool refuse_nowhere(const struct target *t, const struct device *d,
			   const struct driver_info *info, struct err *err)
{
	err_refuse(err, d->not_loaded, "no kernel of %s has a driver for %s of this machine (%s)",
		   *t->os && !t->container[0] ? t->os : "any distribution", d->name, d->driver);
	if (*info->instead)
		return err_hint(err, "another system: %s", info->instead);
	return err_hint(err, "nothing is known to bring it to this machine");
}

/* Not installed, or installed and not loaded. word: that of struct target. */
static bool refuse_driver(const struct target *t, const struct driver_info *info,
			  const struct device *d, const char *word, struct err *err)
{
	if (!strcmp(word, "absent")) {
		err_refuse(err, d->not_loaded, "this kernel has no driver for %s (%s)", d->name,
			   d->driver);
		if (*info->install)
			return err_hint(err, "%s%s, then: sudo modprobe %s", need_where(t),
					info->install, d->driver);
		return err_hint(err,
				"%sa kernel package that has the module (%s), then: sudo "
				"modprobe %s",
				need_where(t), d->config, d->driver);
	}
	err_refuse(err, d->not_loaded,
		   *word ? "the driver for %s (%s) is installed and not loaded" :
			   "no device for %s is there; whether its driver (%s) is installed could "
			   "not be seen",
		   d->name, d->driver);
	if (is_too_old(t, info))
		return err_hint(err,
				"%ssudo modprobe %s; if that brings no device, Linux %s or later",
				need_where(t), d->driver, info->min_kernel);
	return err_hint(err, "%ssudo modprobe %s", need_where(t), d->driver);
}

static bool is_loaded(const char *word)
{
	return !strcmp(word, "loaded") || !strcmp(word, "builtin");
}

/*
 * True: it is loaded, and no kernel that is too old. A module that is at hand is to be tried first,
 * whatever is known of versions.
 */
static bool has_driver(const struct target *t, const struct driver_info *info,
		       const struct device *d, const char *word, struct err *err)
{
	if (!strcmp(word, "available"))
		return refuse_driver(t, info, d, word, err);
	if (driver_is_nowhere(info))
		return refuse_nowhere(t, d, info, err);
	if (is_too_old(t, info))
		return refuse_too_old(t, d, info, err);
	return is_loaded(word) || refuse_driver(t, info, d, word, err);
}

static bool refuse_firmware(const struct target *t, struct err *err)
{
	if (!strcmp(t->spe_firmware, "yes")) {
		err_refuse(err, "SPE_DRIVER_FAILED",
			   "the firmware describes SPE and its driver is there, and has not taken "
			   "the device");
		return err_hint(err, "%sdmesg | grep -i spe says why", need_where(t));
	}
	err_refuse(err, "SPE_NOT_IN_FIRMWARE",
		   !strcmp(t->spe_firmware, "no") ?
			   "the firmware of this machine does not describe SPE" :
			   "the SPE driver is there and has found no device: the firmware does not "
			   "describe SPE, or keeps it to itself");
	return err_hint(err,
			t->is_acpi ?
				"a firmware setting or update that puts the SPE interrupt into the "
				"ACPI tables (MADT); %sdmesg | grep -i spe says more" :
				"a device tree with a node arm,statistical-profiling-extension-v1; "
				"%sdmesg | grep -i spe says more",
			need_where(t));
}

/* As far as all cores are known. */
static bool no_core_has_spe(const struct target *t)
{
	vec_each(c, &t->cores) {
		const struct core_info *info = core_find(c->midr);

		if (!info || info->spe != CORE_NO)
			return false;
	}
	return t->cores.len > 0;
}

/* No arm_spe device. In the order in which a cause makes those behind it pointless. */
static bool refuse_spe(const struct target *t, struct err *err)
{
	struct driver_info info;
	struct need_place p;

	need_place(&p, t);
	if (!target_is_arm(t))
		return refuse_foreign(t, &spe_device, err);
	if (no_core_has_spe(t)) {
		err_refuse(err, "SPE_NOT_PRESENT", "the core of this machine (%s) has no SPE",
			   p.core->name);
		return err_hint(err, "a machine whose core has SPE; no setting brings it here");
	}
	if (p.virt == TARGET_VIRT_GUEST || p.virt == TARGET_VIRT_EMULATED)
		return refuse_guest(t, &p, &spe_device, p.instance ? p.instance->spe : "", err);
	if (!strcmp(t->spe_firmware, "no"))
		return refuse_firmware(t, err);
	info = driver_of(t, &p, &spe_device);
	if (t->has_kpti) {
		err_refuse(err, "SPE_BLOCKED_BY_KPTI",
			   "the SPE driver does not work with kernel page-table isolation, which "
			   "is on");
		return err_hint(err, "%sboot with %s on the kernel's command line", need_where(t),
				info.boot);
	}
	return has_driver(t, &info, &spe_device, t->spe_module, err) && refuse_firmware(t, err);
}

const char *need_spe_pmu(const struct target *t)
{
	const struct target_pmu *p = pmu_named(t, "arm_spe");

	return p ? p->name : NULL;
}

bool need_spe(const struct target *t, uint32_t n, struct err *err)
{
	const struct target_pmu *p = pmu_named(t, "arm_spe");

	(void)n;
	if (!t->trials.spe)
		return true;
	if (!p)
		refuse_spe(t, err);
	else
		/* As the trial opened it: on this user's own code. */
		target_explain_open(t, p->name, false, false, t->trials.spe, err);
	/* Without its PMU there is nothing that could have been tried. */
	if (p || t->trials.spe != TARGET_UNTRIED)
		err->sys_errno = t->trials.spe;
	return false;
}

/* That of a mesh, or what other makers have in its place. */
const char *need_cmn_pmu(const struct target *t)
{
	static const char *const meshes[] = { "arm_cmn", "arm_ni_", "nvidia_scf_pmu", "hisi_sccl" };

	for (size_t i = 0; i < sizeof(meshes) / sizeof(*meshes); i++) {
		const struct target_pmu *p = pmu_named(t, meshes[i]);

		if (p)
			return p->name;
	}
	return NULL;
}

bool need_cmn(const struct target *t, uint32_t n, struct err *err)
{
	struct driver_info info;
	struct need_place p;

	(void)n;
	if (need_cmn_pmu(t))
		return true;
	need_place(&p, t);
	if (!target_is_arm(t))
		return refuse_foreign(t, &cmn_device, err);
	if (p.virt == TARGET_VIRT_GUEST || p.virt == TARGET_VIRT_EMULATED)
		return refuse_guest(t, &p, &cmn_device, p.instance ? p.instance->cmn : "", err);
	if (!strcmp(t->cmn_firmware, "no")) {
		err_refuse(err, "CMN_NOT_PRESENT",
			   "the firmware of this machine describes no CMN mesh");
		return err_hint(err, "a server whose interconnect is a CMN; no setting brings one "
				     "to this machine");
	}
	info = driver_of(t, &p, &cmn_device);
	if (!has_driver(t, &info, &cmn_device, t->cmn_module, err))
		return false;
	err_refuse(err, "CMN_NOT_PRESENT",
		   "the driver for the interconnect's PMU (arm_cmn) is there and has found no "
		   "device");
	return err_hint(err,
			"a machine whose firmware describes a CMN mesh, or a kernel that "
			"knows this one: %sdmesg | grep -i cmn says more",
			need_where(t));
}
