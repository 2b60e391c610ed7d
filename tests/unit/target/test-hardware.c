/* SPDX-License-Identifier: Apache-2.0 */
/* Core types by MIDR, topology, and what x86 machines say. */
#include <errno.h>

#include "base/os.h"
#include "test.h"
#include "tree.h"

static void put_midr(int cpu, const char *midr)
{
	char_auto path =
		mem_printf("/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1", cpu);

	tree_put(path, midr);
}

static void put_package(int cpu, const char *package)
{
	char_auto path =
		mem_printf("/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);

	tree_put(path, package);
}

TEST(hardware_two_kinds_of_cores)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-2,4-6\n");
	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	for (int cpu = 0; cpu < 7; cpu++)
		put_midr(cpu,
			 cpu < 2 || cpu == 5 ? "0x00000000412fd050\n" : "0x00000000414fd0b0\n");
	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_INT(t.cores.len, 2);
	CHECK_EQ_U64(t.cores.at[0].midr, 0x412fd050);
	CHECK_EQ_STR(t.cores.at[0].cpus, "0-1,5");
	CHECK_EQ_INT(t.cores.at[0].count, 3);
	CHECK_EQ_U64(t.cores.at[1].midr, 0x414fd0b0);
	CHECK_EQ_STR(t.cores.at[1].cpus, "2,4,6");
	CHECK_EQ_INT(t.cores.at[1].count, 3);
	CHECK_EQ_STR(t.cpuid, "0x00000000412fd050");
	target_done(&t);
}

/* Each CPU of another type is no machine, and shall not take its time. */
TEST(hardware_most_kinds_of_cores)
{
	buf_auto cpuinfo = { 0 };
	struct target t;

	for (int cpu = 0; cpu < 5000; cpu++)
		buf_printf(&cpuinfo,
			   "processor\t: %d\nCPU implementer\t: 0x41\nCPU variant\t: 0x%x\n"
			   "CPU part\t: 0x%x\n",
			   cpu, cpu >> 12, cpu & 0xfff);
	/* The last one is of the first type again. */
	buf_puts(&cpuinfo, "processor\t: 5000\nCPU implementer\t: 0x41\nCPU part\t: 0x0\n");
	tree_put("/sys/devices/system/cpu/online", "0-5000\n");
	tree_put("/proc/sys/kernel/arch", "aarch64\n");
	tree_put("/proc/cpuinfo", buf_str(&cpuinfo));
	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_INT(t.cores.len, 4096);
	CHECK_EQ_STR(t.cores.at[0].cpus, "0,5000");
	CHECK_EQ_STR(t.cores.at[4095].cpus, "4095");
	target_done(&t);
}

/* Older kernels and some guests show no registers in sysfs. */
TEST(hardware_midr_from_cpuinfo)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-2\n");
	tree_put("/proc/cpuinfo",
		 "processor\t: 0\nBogoMIPS\t: 50.00\nCPU implementer\t: 0x41\n"
		 "CPU architecture: 8\nCPU variant\t: 0x3\nCPU part\t: 0xd0c\nCPU revision\t: 1\n\n"
		 "processor\t: 2\nCPU implementer\t: 0x48\nCPU variant\t: 0x1\nCPU part\t: 0xd01\n"
		 "CPU revision\t: 0\n");
	put_midr(1, "0x00000000413fd0c1\n");
	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_STR(t.arch, "aarch64");
	CHECK_EQ_INT(t.cores.len, 2);
	CHECK_EQ_U64(t.cores.at[0].midr, 0x413fd0c1);
	CHECK_EQ_STR(t.cores.at[0].cpus, "0-1");
	CHECK_EQ_U64(t.cores.at[1].midr, 0x481fd010);
	CHECK_EQ_STR(t.cpuid, "0x00000000413fd0c1");
	target_done(&t);
}

TEST(hardware_x86)
{
	struct target t;

	tree_put("/sys/devices/system/cpu/online", "0-7\n");
	tree_put("/sys/devices/system/cpu/cpu0/topology/thread_siblings_list", "0,4\n");
	tree_put("/sys/devices/system/node/online", "0-1\n");
	for (int cpu = 0; cpu < 8; cpu++)
		put_package(cpu, cpu % 4 < 2 ? "0\n" : "3\n");
	tree_put("/proc/cpuinfo",
		 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		 "model name\t: Intel(R) Xeon(R) Platinum 8488C\nstepping\t: 8\n");
	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_STR(t.cpuid, "GenuineIntel-6-8F-8");
	CHECK_EQ_STR(t.cpu, "Intel(R) Xeon(R) Platinum 8488C");
	CHECK_EQ_STR(t.arch, "x86_64");
	CHECK_EQ_INT(t.trials.cycles, ENOENT);
	CHECK_EQ_INT(t.cores.len, 1);
	CHECK_EQ_U64(t.cores.at[0].midr, 0);
	CHECK_EQ_STR(t.cores.at[0].cpus, "0-7");
	CHECK_EQ_INT(t.sockets, 2);
	CHECK_EQ_INT(t.numa_nodes, 2);
	CHECK_EQ_INT(t.threads_per_core, 2);
	target_done(&t);
}
