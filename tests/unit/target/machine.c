/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by hand, and what they have and lack. */
#include "machine.h"

#include <errno.h>

#include "test.h"

struct target_pmu machine_core_pmu(const char *name, int32_t counters)
{
	return (struct target_pmu){ .name = name,
				    .cpus = "",
				    .type = 8,
				    .is_core = true,
				    .counters = counters,
				    .free = counters,
				    .cycle_counter = true,
				    .cycle_counter_free = true };
}

void machine_add_pmu(struct machine *m, struct target_pmu pmu)
{
	CHECK(m->t.pmus.len < sizeof(m->pmus) / sizeof(*m->pmus));
	m->pmus[m->t.pmus.len++] = pmu;
}

void machine_metal(struct machine *m, uint64_t midr)
{
	*m = (struct machine){ .t = { .arch = "aarch64",
				      .kernel = "6.17.2",
				      .os = "Ubuntu 24.04 LTS",
				      .os_id = "ubuntu",
				      .os_version = "24.04",
				      .virt = TARGET_VIRT_NONE,
				      .is_acpi = true,
				      .cpus_online = 64,
				      .can_perfmon = true,
				      .can_bpf = true,
				      .has_btf = true,
				      .has_tracefs = true,
				      .paranoid = 2,
				      .spe_module = "loaded",
				      .cmn_module = "loaded" },
			       .core = { midr, "0-63", 64 } };
	m->t.cores.at = &m->core;
	m->t.cores.len = 1;
	m->t.pmus.at = m->pmus;
	machine_add_pmu(m, machine_core_pmu("armv8_pmuv3_0", 6));
	machine_add_pmu(m, (struct target_pmu){ .name = "arm_spe_0", .cpus = "0-63", .type = 9 });
	machine_add_pmu(m, (struct target_pmu){ .name = "arm_cmn_0", .cpus = "0", .type = 10 });
}

void machine_guest(struct machine *m, uint64_t midr, const char *vendor, const char *product,
		   int32_t counters)
{
	machine_metal(m, midr);
	m->t.virt = TARGET_VIRT_GUEST;
	m->t.pmus.len = 0;
	SET(m->t.dmi_vendor, vendor);
	SET(m->t.dmi_product, product);
	m->t.trials.spe = m->t.trials.branch_stack = ENOENT;
	if (counters >= 0) {
		machine_add_pmu(m, machine_core_pmu("armv8_pmuv3_0", counters));
		m->t.trials.branch_stack = EOPNOTSUPP;
	} else {
		machine_add_pmu(m,
				(struct target_pmu){ .name = "software", .cpus = "", .type = 1 });
		m->t.trials.cycles = m->t.trials.sampling = ENOENT;
	}
	SET(m->t.spe_module, "absent");
	SET(m->t.cmn_module, "absent");
}

void machine_x86_guest(struct machine *m)
{
	machine_guest(m, 0, "", "", -1);
	SET(m->t.arch, "x86_64");
	SET(m->t.cpuid, "GenuineIntel-6-8F-8");
	SET(m->t.hypervisor, "kvm");
}

void machine_has(const struct machine *m, const char *need)
{
	struct err err;

	if (!target_need(&m->t, need, &err))
		FAIL("%s: %s", need, err.text);
}

struct err machine_lacks(const struct machine *m, const char *need, const char *id)
{
	struct err err = { 0 };

	if (target_need(&m->t, need, &err))
		FAIL("%s is there", need);
	CHECK_EQ_INT(err.kind, ERR_REFUSED);
	CHECK_EQ_STR(err.id, id);
	CHECK_MSG(err.text[0] && err.hint[0], "%s: no remedy", need);
	return err;
}

void machine_on_aws(struct machine *m, const char *product)
{
	SET(m->t.dmi_vendor, "Amazon EC2");
	SET(m->t.dmi_product, product);
}
