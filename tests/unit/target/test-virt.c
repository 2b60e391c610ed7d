/* SPDX-License-Identifier: Apache-2.0 */
/* Bare metal, guests of several makers, and emulators. */
#include "base/os.h"
#include "test.h"
#include "tree.h"

static void judged(enum target_virt virt, const char *hypervisor)
{
	struct target t;

	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_STR(t.hypervisor, hypervisor);
	CHECK_EQ_INT(t.virt, virt);
	target_done(&t);
}

static void arm(const char *vendor, const char *product)
{
	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	tree_put("/sys/class/dmi/id/sys_vendor", vendor);
	tree_put("/sys/class/dmi/id/product_name", product);
}

TEST(virt_by_maker)
{
	arm("Amazon EC2\n", "c8g.4xlarge\n");
	judged(TARGET_VIRT_GUEST, "nitro");
	arm("Amazon EC2\n", "c8g.metal-24xl\n");
	judged(TARGET_VIRT_NONE, "");
	arm("Google\n", "Google Compute Engine\n");
	judged(TARGET_VIRT_GUEST, "kvm");
	arm("Microsoft Corporation\n", "Virtual Machine\n");
	judged(TARGET_VIRT_GUEST, "microsoft");
	arm("Microsoft Corporation\n", "Surface Pro\n");
	judged(TARGET_VIRT_NONE, "");
	arm("QEMU\n", "KVM Virtual Machine\n");
	judged(TARGET_VIRT_GUEST, "kvm");
	arm("GIGABYTE\n", "R272-P31-00\n");
	judged(TARGET_VIRT_NONE, "");
	arm("\n", "\n");
	judged(TARGET_VIRT_UNKNOWN, "");
	arm("Hetzner\n", "vServer\n");
	judged(TARGET_VIRT_NONE, "");
	/* Cards of servers have such devices too; a cloud's machine has them as a guest. */
	tree_put("/sys/bus/virtio/devices/virtio0/status", "0x0\n");
	judged(TARGET_VIRT_GUEST, "");
	arm("GIGABYTE\n", "R272-P31-00\n");
	judged(TARGET_VIRT_NONE, "");
	arm("\n", "\n");
	judged(TARGET_VIRT_GUEST, "");
	tree_put("/proc/device-tree/model", "Raspberry Pi 5 Model B\n");
	judged(TARGET_VIRT_NONE, "");
}

static void put_core(const char *bogomips, const char *implementer)
{
	char_auto text = mem_printf("processor\t: 0\nBogoMIPS\t: %s\nCPU implementer\t: %s\n"
				    "CPU part\t: 0x051\n",
				    bogomips, implementer);

	tree_put("/sys/devices/system/cpu/online", "0\n");
	tree_put("/proc/cpuinfo", text);
}

/* So it calls itself wherever it runs without KVM: also with the help of a Mac. */
TEST(virt_qemu_without_kvm)
{
	arm("QEMU\n", "QEMU Virtual Machine\n");
	put_core("125.00", "0x41");
	judged(TARGET_VIRT_EMULATED, "qemu");
	put_core("2000.00", "0x00");
	judged(TARGET_VIRT_EMULATED, "qemu");
	put_core("2000.00", "0x41");
	judged(TARGET_VIRT_EMULATED, "qemu");
	put_core("48.00", "0x61");
	judged(TARGET_VIRT_GUEST, "qemu");
	put_core("2000.00", "0x61");
	judged(TARGET_VIRT_GUEST, "qemu");
	put_core("50.00", "0x41");
	judged(TARGET_VIRT_GUEST, "qemu");
	/* A guest of a Graviton4 has the same timer. */
	arm("QEMU\n", "KVM Virtual Machine\n");
	put_core("2000.00", "0x41");
	judged(TARGET_VIRT_GUEST, "kvm");
}

TEST(virt_by_device_tree)
{
	static const char dummy[] = "linux,dummy-virt";

	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	tree_put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 50.00\n");
	tree_put("/proc/device-tree/model", "Raspberry Pi 5 Model B\n");
	judged(TARGET_VIRT_NONE, "");
	tree_put_bytes("/proc/device-tree/compatible", dummy, sizeof(dummy));
	judged(TARGET_VIRT_GUEST, "kvm");
	/* Of real cores as well as of QEMU's own. */
	put_core("2000.00", "0x41");
	judged(TARGET_VIRT_GUEST, "kvm");
	tree_put("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x000f0510\n");
	judged(TARGET_VIRT_EMULATED, "qemu");
	tree_put("/sys/devices/system/cpu/cpu0/regs/identification/midr_el1", "0x410fd4f1\n");
	/* The timer of QEMU's own making. */
	tree_put("/proc/cpuinfo", "processor\t: 0\nBogoMIPS\t: 125.00\n");
	judged(TARGET_VIRT_EMULATED, "qemu");
	tree_put("/proc/device-tree/hypervisor/compatible", "xen,xen-4.17");
	judged(TARGET_VIRT_GUEST, "xen");
}

TEST(virt_of_x86)
{
	tree_put("/proc/sys/kernel/arch", "x86_64\n");
	tree_put("/proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu vme hypervisors\n");
	/* The processor knows better than the name. */
	tree_put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	tree_put("/sys/class/dmi/id/product_name", "c7i.metal-24xl\n");
	judged(TARGET_VIRT_NONE, "");
	tree_put("/proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor vme\n");
	tree_put("/sys/class/dmi/id/sys_vendor", "Somebody\n");
	tree_put("/sys/devices/system/clocksource/clocksource0/available_clocksource",
		 "tsc kvm-clock \n");
	judged(TARGET_VIRT_GUEST, "kvm");
	tree_put("/sys/hypervisor/type", "xen\n");
	judged(TARGET_VIRT_GUEST, "xen");
	tree_put("/sys/hypervisor/type", "\n");
	tree_put("/proc/cpuinfo",
		 "vendor_id\t: AuthenticAMD\nmodel name\t: QEMU TCG CPU version 2.5+\n"
		 "flags\t\t: fpu hypervisor\n");
	judged(TARGET_VIRT_EMULATED, "qemu");
}

TEST(virt_programs_that_stand_in_for_a_kernel)
{
	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	tree_put("/proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu hypervisor\n");
	judged(TARGET_VIRT_EMULATED, "qemu-user");
	tree_put("/proc/sys/kernel/arch", "x86_64\n");
	judged(TARGET_VIRT_GUEST, "");
	tree_put("/proc/version", "Linux version 4.4.0 #1 SMP Sun Jan 10 15:06:54 PST 2016\n");
	judged(TARGET_VIRT_EMULATED, "gvisor");
}
