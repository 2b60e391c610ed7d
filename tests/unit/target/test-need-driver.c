/* SPDX-License-Identifier: Apache-2.0 */
/* SPE and the mesh on machines that nobody here owns: what is in the way, what would help there. */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "test.h"

/* Each cause is said before those that would be pointless to remove while it holds. */
TEST(spe_causes_in_order)
{
	struct machine m;
	struct err err;

	machine_metal(&m, N1);
	machine_on_aws(&m, "m6g.metal");
	machine_has(&m, "spe");
	m.t.pmus.len = 1;
	m.t.trials.spe = ENOENT;
	machine_lacks(&m, "spe", "SPE_NOT_IN_FIRMWARE");
	SET(m.t.spe_module, "available");
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").hint,
		     "sudo modprobe arm_spe_pmu");
	SET(m.t.spe_module, "absent");
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").hint,
		     "sudo apt install linux-modules-extra-$(uname -r), then: sudo modprobe "
		     "arm_spe_pmu");
	SET(m.t.kernel, "6.8.0-1021-aws");
	err = machine_lacks(&m, "spe", "KERNEL_TOO_OLD");
	CHECK_EQ_STR(err.text, "SPE needs Linux 6.17.0 or later on Ubuntu 24.04 LTS, and this is "
			       "6.8.0-1021-aws");
	CHECK_EQ_STR(err.hint, "update the kernel to 6.17.0 or later (sudo apt install "
			       "linux-aws) and reboot, then: sudo apt install "
			       "linux-modules-extra-$(uname -r), and: sudo modprobe arm_spe_pmu");
	/* A module that is at hand is to be tried before a new kernel. */
	SET(m.t.spe_module, "available");
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").hint,
		     "sudo modprobe arm_spe_pmu; if that brings no device, Linux 6.17.0 or later");
	m.t.has_kpti = true;
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_BLOCKED_BY_KPTI").hint,
		     "boot with kpti=off on the kernel's command line");
	SET(m.t.spe_firmware, "no");
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_IN_FIRMWARE").hint, "MADT");
	m.t.is_acpi = false;
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_IN_FIRMWARE").hint, "device tree");
	m.t.virt = TARGET_VIRT_GUEST;
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").text,
		  "not passed on to virtual machines");
	m.core.midr = A72;
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").text, "Cortex-A72");
	/* One core of an unknown kind may have it. */
	m.t.cores.at = (struct target_core[]){ m.core, { STRANGE, "64", 1 } };
	m.t.cores.len = 2;
	m.t.virt = TARGET_VIRT_NONE;
	machine_lacks(&m, "spe", "SPE_NOT_IN_FIRMWARE");
	SET(m.t.arch, "x86_64");
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").text,
		  "SPE is a feature of Arm machines, and this one is x86_64");
}

TEST(spe_of_other_distributions)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.pmus.len = 1;
	m.t.trials.spe = ENOENT;
	SET(m.t.os_id, "gentoo");
	SET(m.t.spe_module, "absent");
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").hint, "CONFIG_ARM_SPE_PMU");
	m.t.spe_module[0] = 0;
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").text, "could not be seen");
	/* A device that is there and does not open is a matter of rights. */
	machine_metal(&m, V2);
	m.t.trials.spe = EACCES;
	m.t.can_perfmon = false;
	m.t.paranoid = 3;
	machine_lacks(&m, "spe", "PERF_EVENT_PARANOID");
}

/* What a container shows of its image says nothing of the kernel; and nothing is done inside. */
TEST(spe_from_within_a_container)
{
	struct machine m;
	struct err err;

	machine_metal(&m, N1);
	machine_on_aws(&m, "m6g.metal");
	m.t.pmus.len = 1;
	m.t.trials.spe = ENOENT;
	SET(m.t.container, "docker");
	m.t.spe_module[0] = 0;
	SET(m.t.kernel, "6.1.119");
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED").hint,
		     "on the host: sudo modprobe arm_spe_pmu");
	SET(m.t.spe_module, "absent");
	err = machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED");
	CHECK_HAS(err.hint, "on the host: a kernel package");
	CHECK_MSG(!strstr(err.hint, "apt"), "%s", err.hint);
	m.t.has_kpti = true;
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_BLOCKED_BY_KPTI").hint,
		     "on the host: boot with kpti=off on the kernel's command line");
	m.t.has_kpti = false;
	SET(m.t.kernel, "4.14.1");
	err = machine_lacks(&m, "spe", "KERNEL_TOO_OLD");
	CHECK_EQ_STR(err.text, "SPE needs Linux 4.16 or later on this machine, and this is 4.14.1");
	CHECK_HAS(err.hint, "on the host: update the kernel to 4.16");
	SET(m.t.kernel, "6.1.119");
	SET(m.t.spe_module, "loaded");
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_IN_FIRMWARE").hint, "on the host: dmesg");
}

/* The device is there and the driver did not take it: not the firmware's fault. */
TEST(spe_that_its_driver_does_not_take)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.pmus.len = 1;
	m.t.trials.spe = ENOENT;
	SET(m.t.spe_firmware, "yes");
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_DRIVER_FAILED").hint,
		     "dmesg | grep -i spe says why");
}

TEST(mesh_that_no_kernel_of_the_system_has)
{
	struct machine m;
	struct err err;

	machine_metal(&m, V2);
	machine_on_aws(&m, "m8g.metal-24xl");
	m.t.pmus.len = 2;
	SET(m.t.os, "Amazon Linux 2");
	SET(m.t.os_id, "amzn");
	SET(m.t.os_version, "2");
	SET(m.t.cmn_module, "absent");
	err = machine_lacks(&m, "cmn", "CMN_DRIVER_NOT_LOADED");
	CHECK_EQ_STR(err.text, "no kernel of Amazon Linux 2 has a driver for the interconnect's "
			       "PMU of this machine (arm_cmn)");
	CHECK_EQ_STR(err.hint, "another system: Amazon Linux 2023 with its kernel 6.12");
	/* What a later machine of the same cloud has is read nowhere. */
	m.core.midr = 0x410fd840;
	SET(m.t.os_version, "2023");
	CHECK_EQ_STR(machine_lacks(&m, "cmn", "CMN_DRIVER_NOT_LOADED").hint,
		     "nothing is known to bring it to this machine");
	/* As a guest of an old system: two things to change. */
	machine_guest(&m, V2, "Amazon EC2", "c8g.4xlarge", 2);
	SET(m.t.os_id, "amzn");
	SET(m.t.os_version, "2");
	CHECK_HAS(machine_lacks(&m, "cmn", "CMN_NOT_PRESENT").hint,
		  ", and Amazon Linux 2023 with its kernel 6.12 there");
}

TEST(spe_and_mesh_of_clouds)
{
	struct machine m;

	machine_guest(&m, V2, "Amazon EC2", "c8g.4xlarge", 2);
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").hint,
		     "on Amazon Web Services SPE comes with c8g.metal-24xl or c8g.metal-48xl");
	CHECK_EQ_STR(machine_lacks(&m, "cmn", "CMN_NOT_PRESENT").hint,
		     "on Amazon Web Services the interconnect's PMU comes with c8g.metal-24xl or "
		     "c8g.metal-48xl");
	/* The other instance alone would not do: this kernel goes along. */
	SET(m.t.os_id, "amzn");
	SET(m.t.os_version, "2023");
	SET(m.t.kernel, "6.1.119-129.201.amzn2023.aarch64");
	CHECK_EQ_STR(machine_lacks(&m, "cmn", "CMN_NOT_PRESENT").hint,
		     "on Amazon Web Services the interconnect's PMU comes with c8g.metal-24xl or "
		     "c8g.metal-48xl, and Linux 6.12 or later there: this one is "
		     "6.1.119-129.201.amzn2023.aarch64");
	CHECK_MSG(!strstr(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").hint, "Linux"),
		  "6.1 will do");
	machine_guest(&m, V2, "Google", "Google Compute Engine", -1);
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").hint,
		  "nothing on Google Cloud is known here that gives SPE");
	machine_guest(&m, V2, "QEMU", "KVM Virtual Machine", 6);
	CHECK_EQ_STR(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").hint,
		     "bare metal with a core that has SPE");
	m.t.virt = TARGET_VIRT_EMULATED;
	CHECK_HAS(machine_lacks(&m, "spe", "SPE_NOT_PRESENT").text, "emulated");
	/* The name of the instance says what the machine does not show. */
	machine_guest(&m, V2, "Amazon EC2", "c8g.metal-24xl", 6);
	m.t.virt = TARGET_VIRT_UNKNOWN;
	SET(m.t.spe_module, "available");
	machine_lacks(&m, "spe", "SPE_DRIVER_NOT_LOADED");
	SET(m.t.dmi_product, "c8g.4xlarge");
	machine_lacks(&m, "spe", "SPE_NOT_PRESENT");
}

TEST(mesh_of_metal)
{
	struct machine m;

	machine_metal(&m, V2);
	machine_has(&m, "cmn");
	m.t.pmus.len = 2;
	CHECK_HAS(machine_lacks(&m, "cmn", "CMN_NOT_PRESENT").hint, "dmesg");
	machine_on_aws(&m, "m8g.metal-24xl");
	SET(m.t.cmn_module, "available");
	CHECK_EQ_STR(machine_lacks(&m, "cmn", "CMN_DRIVER_NOT_LOADED").hint,
		     "sudo modprobe arm_cmn");
	SET(m.t.cmn_module, "absent");
	CHECK_HAS(machine_lacks(&m, "cmn", "CMN_DRIVER_NOT_LOADED").hint, "linux-modules-extra");
	SET(m.t.kernel, "6.8.0");
	CHECK_HAS(machine_lacks(&m, "cmn", "KERNEL_TOO_OLD").hint, "6.17");
	machine_x86_guest(&m);
	machine_lacks(&m, "cmn", "CMN_NOT_PRESENT");
	machine_metal(&m, V2);
	m.t.pmus.len = 2;
	SET(m.t.cmn_firmware, "no");
	CHECK_HAS(machine_lacks(&m, "cmn", "CMN_NOT_PRESENT").text, "describes no CMN mesh");
	CHECK(!target_need_pmu(&m.t, "cmn"));
	/* Another maker's mesh does as well. */
	machine_metal(&m, V2);
	CHECK_EQ_STR(target_need_pmu(&m.t, "cmn"), "arm_cmn_0");
	m.pmus[2].name = "nvidia_scf_pmu_0";
	machine_has(&m, "cmn");
	CHECK_EQ_STR(target_need_pmu(&m.t, "cmn"), "nvidia_scf_pmu_0");
	CHECK_EQ_STR(target_need_pmu(&m.t, "spe"), "arm_spe_0");
	CHECK(!target_need_pmu(&m.t, "cycles"));
	CHECK(!target_need_pmu(&m.t, "nix"));
	/* Not by one that does not open. */
	m.t.trials.spe = EACCES;
	CHECK(!target_need_pmu(&m.t, "spe"));
}
