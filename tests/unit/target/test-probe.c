/* SPDX-License-Identifier: Apache-2.0 */
/* What a probe says of machines that nobody here owns, and of this one. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "test.h"
#include "tree.h"

static const uint8_t notes[] = {
	/* A note of another kind first: "Linux", 4 bytes. */
	6, 0, 0, 0, 4, 0, 0, 0, 1, 1, 0, 0, 'L', 'i', 'n', 'u', 'x', 0, 0, 0, 9, 9, 9, 9,
	/* NT_GNU_BUILD_ID */
	4, 0, 0, 0, 4, 0, 0, 0, 3, 0, 0, 0, 'G', 'N', 'U', 0, 0xde, 0xad, 0xbe, 0x0f
};

static void neoverse(void)
{
	tree_put("/proc/sys/kernel/hostname", "graviton\n");
	tree_put("/proc/sys/kernel/osrelease", "6.8.0-1021-aws\n");
	tree_put("/proc/sys/kernel/random/boot_id", "1b4e28ba-2fa1-11d2-883f-0016d3cca427\n");
	tree_put("/etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04 LTS\"\n"
				    "VERSION_ID='24.04'\nID=ubuntu\nID_LIKE=debian\n");
	tree_put("/proc/cpuinfo", "processor\t: 1\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
				  "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n");
	tree_put("/sys/devices/system/cpu/online", "1-11,16-27\n");
	tree_put("/sys/devices/system/cpu/present", "0-127\n");
	tree_put("/proc/meminfo", "MemTotal:       263812345 kB\nMemFree: 1 kB\n");
	tree_pmu("armv8_pmuv3_0", "8\n", "1-11,16-27\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots", "0x00000008\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/events/cpu_cycles", "event=0x0011\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/events/stall_slot", "event=0x3f\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/events/odd.scale", "1\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
	tree_put("/sys/bus/event_source/devices/arm_cmn_0/type", "10\n");
	tree_put("/sys/bus/event_source/devices/arm_cmn_0/cpumask", "1\n");
	tree_put("/sys/bus/event_source/devices/odd/type", "what\n");
	tree_put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	tree_put("/proc/sys/kernel/kptr_restrict", "1\n");
	tree_put("/proc/sys/kernel/perf_event_max_sample_rate", "50000\n");
	tree_put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	tree_put("/sys/class/dmi/id/product_name", "m8g.metal-24xl\n");
	tree_put("/sys/class/dmi/id/chassis_asset_tag", "Amazon EC2\n");
	tree_put("/sys/firmware/devicetree/base/model", "ARM-Versatile\n");
	tree_put("/sys/firmware/acpi/tables/FACP", "");
	tree_put_bytes("/sys/kernel/notes", notes, sizeof(notes));
	tree_answers("cycles ok\ncounters armv8_pmuv3_0 6\ncycle_counter armv8_pmuv3_0 yes\n"
		     "system_wide EACCES\nspe ok\npage_bytes 65536\n");
}

TEST(probe_arm_server)
{
	struct target t;

	neoverse();
	tree_probe(&t);
	CHECK_EQ_STR(t.hostname, "graviton");
	CHECK_EQ_STR(t.kernel, "6.8.0-1021-aws");
	CHECK_EQ_STR(t.arch, "aarch64");
	CHECK_EQ_STR(t.os, "Ubuntu 24.04 LTS");
	CHECK_EQ_STR(t.os_id, "ubuntu");
	CHECK_EQ_STR(t.os_version, "24.04");
	CHECK_EQ_STR(t.cpu, "");
	CHECK_EQ_STR(t.boot_id, "1b4e28ba-2fa1-11d2-883f-0016d3cca427");
	CHECK_EQ_STR(t.kernel_build_id, "deadbe0f");
	CHECK_EQ_STR(t.cloud, "Amazon EC2 m8g.metal-24xl");
	CHECK_EQ_STR(t.dmi_asset_tag, "Amazon EC2");
	CHECK_EQ_STR(t.dt_model, "ARM-Versatile");
	CHECK(t.is_acpi && t.virt == TARGET_VIRT_NONE && !t.hypervisor[0]);
	/* Gaps and more present than online. */
	CHECK_EQ_INT(t.cpus_online, 23);
	CHECK_EQ_INT(t.cpus_present, 128);
	CHECK_EQ_U64(t.memory_bytes, 263812345ull * 1024);
	CHECK_EQ_U64(t.page_bytes, 65536);
	CHECK(target_has_cycles(&t) && !t.trials.cpu_clock && !t.trials.kernel && !t.trials.spe);
	CHECK_EQ_INT(t.trials.system_wide, EACCES);
	CHECK_EQ_INT(t.paranoid, -1);
	CHECK_EQ_INT(t.max_sample_rate, 50000);
	CHECK(t.mlock_kb == INT64_MIN);
	target_done(&t);
}

TEST(probe_pmus)
{
	const struct target_pmu *p;
	struct target t;

	neoverse();
	tree_probe(&t);
	CHECK_EQ_INT(t.pmus.len, 3);
	p = t.pmus.at;
	CHECK_EQ_STR(p[0].name, "arm_cmn_0");
	CHECK_EQ_STR(p[0].cpus, "1");
	CHECK(!p[0].is_core);
	CHECK_EQ_INT(p[0].counters, -1);
	CHECK_EQ_STR(p[1].name, "arm_spe_0");
	CHECK_EQ_STR(p[1].cpus, "");
	CHECK_EQ_STR(p[1].events, "");
	CHECK_EQ_INT(p[2].type, 8);
	CHECK(p[2].is_core);
	CHECK_EQ_STR(p[2].cpus, "1-11,16-27");
	CHECK_EQ_INT(p[2].slots, 8);
	CHECK_EQ_STR(p[2].events, "cpu_cycles stall_slot");
	CHECK_EQ_INT(p[2].counters, 6);
	CHECK_EQ_INT(p[2].free, 6);
	CHECK(p[2].cycle_counter);
	target_done(&t);
}

TEST(probe_empty_and_odd_trees)
{
	struct target t;

	tree_answers("software ENOSYS\n");
	tree_probe(&t);
	CHECK_EQ_STR(t.hostname, "");
	CHECK_EQ_STR(t.cloud, "");
	CHECK_EQ_INT(t.cpus_online, 0);
	CHECK_EQ_INT(t.cores.len, 0);
	CHECK(t.paranoid == INT64_MIN && t.virt == TARGET_VIRT_UNKNOWN);
	CHECK_EQ_INT(t.trials.cpu_clock, ENOSYS);
	CHECK_EQ_INT(t.trials.cycles, ENOSYS);
	CHECK_EQ_INT(t.trials.system_wide, ENOSYS);
	CHECK_EQ_INT(t.trials.kernel, ENOSYS);
	target_done(&t);
	tree_put("/sys/devices/system/cpu/online", "0-99999999\n");
	tree_put("/proc/cpuinfo", ":::\nvendor_id\nmodel : x\nprocessor : 99999999999\n"
				  "CPU part : 0xfff\nprocessor : -1\n");
	tree_put("/proc/self/status", "Uid:\nCapEff:\tzz\n");
	tree_put("/proc/self/limits", "Max locked memory\n");
	tree_put("/proc/self/cgroup", "::::\n0\n:\nx:cpu:\n");
	tree_put("/proc/meminfo", "MemTotal:\n");
	tree_put("/sys/kernel/notes", "\377\377\377\377\377\377\377\377\3\3\3\3GNU");
	tree_put("/sys/kernel/security/lockdown", "[] [\n");
	tree_put("/etc/os-release", "PRETTY_NAME=\"\n=\n");
	tree_probe(&t);
	CHECK_EQ_INT(t.cpus_online, 0);
	CHECK_EQ_STR(t.cpuid, "");
	CHECK_EQ_STR(t.kernel_build_id, "");
	CHECK_EQ_STR(t.lockdown, "");
	CHECK(!t.can_perfmon && t.memlock_bytes == UINT64_MAX);
	target_done(&t);
}

TEST(probe_this_machine)
{
	const struct rootfs here = { "" };
	struct target t;
	uint64_t start = os_now_ns();

	target_probe(&t, &here, NULL);
	CHECK_MSG(os_now_ns() - start < 2000000000, "took %.1f ms",
		  (double)(os_now_ns() - start) / 1e6);
	CHECK(t.hostname[0] && t.kernel[0] && t.arch[0]);
	CHECK_EQ_INT(t.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_EQ_U64(t.page_bytes, (uint64_t)sysconf(_SC_PAGESIZE));
	CHECK_EQ_INT(t.euid, geteuid());
	CHECK(t.cores.len > 0);
	/* A core PMU that opens has been counted, and nobody can have more than there are. */
	vec_each(p, &t.pmus) {
		if (p->is_core && !p->open_errno)
			CHECK(p->free <= p->counters);
	}
	target_done(&t);
}
