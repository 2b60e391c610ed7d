/* SPDX-License-Identifier: Apache-2.0 */
/* Where a PMU's driver is, what firmware says of SPE, and what page-table isolation does to it. */
#include <string.h>

#include "test.h"
#include "tree.h"

static void probe_arm(struct target *t)
{
	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	tree_put("/proc/sys/kernel/osrelease", "6.1.0\n");
	tree_answers("");
	tree_probe(t);
}

static void modules(const char *spe, const char *cmn)
{
	struct target t;

	probe_arm(&t);
	CHECK_EQ_STR(t.spe_module, spe);
	CHECK_EQ_STR(t.cmn_module, cmn);
	target_done(&t);
}

TEST(drivers_and_their_modules)
{
	modules("", "");
	tree_put("/lib/modules/6.1.0/modules.dep", "kernel/drivers/perf/arm-cmn.ko.xz:\n"
						   "kernel/drivers/perf/x_arm_spe_pmu.ko:\n");
	/* One list alone does not say that there is none. */
	modules("", "available");
	tree_put("/lib/modules/6.1.0/modules.builtin", "kernel/fs/ext4/ext4.ko\n");
	modules("absent", "available");
	tree_put("/lib/modules/6.1.0/modules.builtin", "kernel/drivers/perf/arm_spe_pmu.ko\n");
	modules("builtin", "available");
	tree_put("/sys/module/arm_cmn/initstate", "live\n");
	modules("builtin", "loaded");
	tree_put("/sys/module/arm_spe_pmu/initstate", "live\n");
	modules("loaded", "loaded");
}

TEST(drivers_of_a_kernel_without_modules)
{
	tree_put("/sys/bus/platform/drivers/arm_spe_pmu/bind", "");
	tree_put("/sys/bus/platform/drivers/arm-cmn/bind", "");
	modules("builtin", "builtin");
}

TEST(drivers_of_other_machines)
{
	struct target t;

	tree_put("/proc/sys/kernel/arch", "x86_64\n");
	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_STR(t.spe_module, "");
	CHECK_EQ_STR(t.spe_firmware, "");
	target_done(&t);
}

static void firmware(const char *want)
{
	struct target t;

	probe_arm(&t);
	CHECK_EQ_STR(t.spe_firmware, want);
	target_done(&t);
}

/* A MADT with one distributor and these cores: length, enabled, SPE interrupt. */
struct gicc {
	uint8_t len, flags, spe;
};

static void put_madt(const struct gicc *cores, size_t count, size_t cut)
{
	uint8_t bytes[1024] = "APIC";
	size_t len = 44;

	bytes[len] = 0x0c;
	bytes[len + 1] = 24;
	len += 24;
	for (size_t i = 0; i < count; i++) {
		bytes[len] = 0x0b;
		bytes[len + 1] = cores[i].len;
		bytes[len + 12] = cores[i].flags;
		if (cores[i].len >= 80)
			bytes[len + 78] = cores[i].spe;
		len += cores[i].len;
	}
	tree_put_bytes("/sys/firmware/acpi/tables/APIC", bytes, len - cut);
}

TEST(drivers_spe_in_madt)
{
	static const struct gicc with[] = { { 82, 1, 21 }, { 82, 1, 21 } },
				 without[] = { { 82, 1, 0 }, { 80, 1, 0 } },
				 mixed[] = { { 82, 1, 21 }, { 82, 1, 0 } },
				 off[] = { { 80, 1, 21 }, { 80, 0, 0 } }, old[] = { { 76, 1, 0 } };

	tree_put("/sys/firmware/acpi/tables/FACP", "");
	firmware("");
	put_madt(with, 2, 0);
	firmware("yes");
	put_madt(without, 2, 0);
	firmware("no");
	/* Linux takes it only from all. */
	put_madt(mixed, 2, 0);
	firmware("no");
	put_madt(off, 2, 0);
	firmware("yes");
	put_madt(old, 1, 0);
	firmware("no");
	/* Cut short, and an entry of no length. */
	put_madt(with, 2, 10);
	firmware("yes");
	tree_put_bytes("/sys/firmware/acpi/tables/APIC", (uint8_t[60]){ 0 }, 60);
	firmware("no");
	tree_put("/sys/bus/platform/devices/arm,spe-v1.0/modalias", "");
	firmware("yes");
}

TEST(drivers_spe_in_device_tree)
{
	static const char pmu[] = "arm,statistical-profiling-extension-v1";

	firmware("");
	tree_put("/sys/firmware/devicetree/base/pmu/compatible", "arm,armv8-pmuv3");
	tree_put("/sys/firmware/devicetree/base/speaker/compatible", "simple-audio");
	firmware("no");
	tree_put_bytes("/sys/firmware/devicetree/base/spe-pmu/compatible", pmu, sizeof(pmu));
	firmware("yes");
}

static void kpti(bool want)
{
	struct target t;

	probe_arm(&t);
	CHECK_EQ_INT(t.has_kpti, want);
	target_done(&t);
}

TEST(drivers_kpti)
{
	static const char meltdown[] = "/sys/devices/system/cpu/vulnerabilities/meltdown";

	kpti(false);
	tree_put(meltdown, "Mitigation: PTI\n");
	kpti(true);
	tree_put(meltdown, "Not affected\n");
	kpti(false);
	tree_put("/proc/cmdline", "root=/dev/x kpti=1 quiet\n");
	kpti(true);
	tree_put("/proc/cmdline", "kpti=1 kpti=off\n");
	kpti(false);
	tree_put("/proc/cmdline", "kpti=on\n");
	kpti(true);
	/* For the sake of KASLR, which nothing says: the driver left its device alone. */
	tree_put("/proc/cmdline", "quiet\n");
	tree_put("/sys/module/arm_spe_pmu/initstate", "live\n");
	kpti(false);
	tree_put("/sys/bus/platform/devices/arm,spe-v1.0/modalias", "");
	kpti(true);
	tree_put("/sys/bus/platform/devices/arm,spe-v1.0/driver/bind", "");
	kpti(false);
}

/* Of a core of Armv8.5 and later the driver has another reason. */
TEST(drivers_kpti_of_later_cores)
{
	static const struct {
		const char *midr;
		bool want;
	} cores[] = { { "0x413fd0c1", true },	 /* Armv8.2 */
		      { "0x411fd401", true },	 /* Armv8.4 */
		      { "0x7a0fabc0", true },	 /* unknown */
		      { "0xc00fac31", false },	 /* Armv8.6 */
		      { "0x410fd4f1", false } }; /* Armv9.0 */

	tree_put("/sys/devices/system/cpu/online", "0\n");
	tree_put("/sys/module/arm_spe_pmu/initstate", "live\n");
	/* The name that ACPI gives it. */
	tree_put("/sys/bus/platform/devices/arm,spe-v1/modalias", "");
	for (size_t i = 0; i < sizeof(cores) / sizeof(*cores); i++) {
		tree_put("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1",
			 cores[i].midr);
		kpti(cores[i].want);
		firmware("yes");
	}
	/* Unless it is said. */
	tree_put("/proc/cmdline", "kpti=on\n");
	kpti(true);
}

TEST(drivers_kpti_of_x86)
{
	struct target t;

	tree_put("/proc/sys/kernel/arch", "x86_64\n");
	tree_put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Vulnerable\n");
	tree_put("/proc/cmdline", "kpti=1\n");
	tree_answers("");
	tree_probe(&t);
	CHECK(!t.has_kpti);
	target_done(&t);
	tree_put("/sys/devices/system/cpu/vulnerabilities/meltdown", "Mitigation: PTI\n");
	tree_probe(&t);
	CHECK(t.has_kpti);
	target_done(&t);
}

static void mesh(const char *want)
{
	struct target t;

	probe_arm(&t);
	CHECK_EQ_STR(t.cmn_firmware, want);
	target_done(&t);
}

TEST(drivers_mesh_of_acpi)
{
	mesh("");
	tree_put("/sys/firmware/acpi/tables/DSDT", "");
	mesh("");
	tree_put("/sys/bus/acpi/devices/ACPI0007:00/hid", "ACPI0007\n");
	/* Arm's other devices begin alike: this one is a trace unit's. */
	tree_put("/sys/bus/acpi/devices/ARMHC500:00/hid", "ARMHC500\n");
	mesh("no");
	tree_put("/sys/bus/acpi/devices/ARMHC700:00/hid", "ARMHC700\n");
	mesh("yes");
}

TEST(drivers_mesh_of_a_device_tree)
{
	static const char cmn[] = "arm,cmn-600";

	tree_put("/sys/firmware/devicetree/base/pmu/compatible", "arm,cortex-a76-pmu");
	mesh("no");
	tree_put_bytes("/sys/firmware/devicetree/base/soc/pmu@50000000/compatible", cmn,
		       sizeof(cmn));
	mesh("yes");
}
