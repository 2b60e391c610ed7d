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
	tree_put("/etc/os-release", "NAME=\"Ubuntu\"\nPRETTY_NAME=\"Ubuntu 24.04 LTS\"\n");
	tree_put("/proc/cpuinfo", "processor\t: 1\nBogoMIPS\t: 2000.00\nCPU implementer\t: 0x41\n"
				  "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n");
	tree_put("/sys/devices/system/cpu/online", "1-11,16-27\n");
	tree_put("/sys/devices/system/cpu/present", "0-127\n");
	tree_put("/sys/devices/system/cpu/cpu1/regs/identification/midr_el1",
		 "0x00000000410fd4f1\n");
	tree_put("/proc/meminfo", "MemTotal:       263812345 kB\nMemFree: 1 kB\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/type", "8\n");
	tree_put("/sys/bus/event_source/devices/armv8_pmuv3_0/cpus", "1-11,16-27\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
	tree_put("/sys/bus/event_source/devices/arm_cmn_0/type", "10\n");
	tree_put("/sys/bus/event_source/devices/arm_cmn_0/cpumask", "1\n");
	tree_put("/sys/bus/event_source/devices/odd/type", "what\n");
	tree_put("/proc/sys/kernel/perf_event_paranoid", "-1\n");
	tree_put("/proc/sys/kernel/kptr_restrict", "1\n");
	tree_put("/proc/sys/kernel/perf_event_max_sample_rate", "50000\n");
	tree_put("/proc/self/status", "Name:\tagent\nUid:\t0\t1000\t0\t0\n"
				      "CapEff:\t0000004000080000\n");
	tree_put("/sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
	tree_put("/sys/class/dmi/id/product_name", "m8g.metal-24xl\n");
	tree_put_bytes("/sys/kernel/notes", notes, sizeof(notes));
}

TEST(probe_arm_server)
{
	struct tree_kernel k = { .count = 12345, .system = EACCES };
	struct rootfs root = tree_root();
	struct target t;

	neoverse();
	target_probe(&t, &root, tree_open, &k);
	CHECK_EQ_STR(t.hostname, "graviton");
	CHECK_EQ_STR(t.kernel, "6.8.0-1021-aws");
	CHECK_EQ_STR(t.arch, "aarch64");
	CHECK_EQ_STR(t.os, "Ubuntu 24.04 LTS");
	CHECK_EQ_STR(t.cpu, "");
	CHECK_EQ_STR(t.cpuid, "0x00000000410fd4f1");
	CHECK_EQ_STR(t.boot_id, "1b4e28ba-2fa1-11d2-883f-0016d3cca427");
	CHECK_EQ_STR(t.kernel_build_id, "deadbe0f");
	CHECK_EQ_STR(t.cloud, "Amazon EC2 m8g.metal-24xl");
	/* Gaps and more present than online. */
	CHECK_EQ_INT(t.cpus_online, 23);
	CHECK_EQ_INT(t.cpus_present, 128);
	CHECK_EQ_U64(t.memory_bytes, 263812345ull * 1024);
	CHECK(t.has_cycles && t.has_cpu_clock && t.kernel_samples && !t.system_wide);
	CHECK_EQ_INT(t.cycles_errno, 0);
	CHECK_EQ_INT(t.paranoid, -1);
	CHECK_EQ_INT(t.max_sample_rate, 50000);
	CHECK(t.mlock_kb == INT64_MIN);
	CHECK_EQ_INT(t.euid, 1000);
	CHECK(t.can_perfmon && t.can_ptrace && !t.can_ipc_lock);
	CHECK_EQ_INT(t.pmus.len, 3);
	CHECK_EQ_STR(t.pmus.at[0].name, "arm_cmn_0");
	CHECK_EQ_STR(t.pmus.at[0].cpus, "1");
	CHECK_EQ_STR(t.pmus.at[1].name, "arm_spe_0");
	CHECK_EQ_STR(t.pmus.at[1].cpus, "");
	CHECK_EQ_INT(t.pmus.at[2].type, 8);
	CHECK_EQ_STR(t.pmus.at[2].cpus, "1-11,16-27");
	target_done(&t);
}

TEST(probe_x86)
{
	struct tree_kernel k = { .cycles = ENOENT };
	struct rootfs root = tree_root();
	struct target t;

	tree_put("/proc/cpuinfo",
		 "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
		 "model name\t: Intel(R) Xeon(R) Platinum 8488C\nstepping\t: 8\n");
	target_probe(&t, &root, tree_open, &k);
	CHECK_EQ_STR(t.cpuid, "GenuineIntel-6-8F-8");
	CHECK_EQ_STR(t.cpu, "Intel(R) Xeon(R) Platinum 8488C");
	CHECK_EQ_STR(t.arch, "x86_64");
	CHECK(!t.has_cycles);
	CHECK_EQ_INT(t.cycles_errno, ENOENT);
	target_done(&t);
}

/* Opening is not counting: some guests offer a counter that stands still. */
TEST(probe_counter_that_stands_still)
{
	struct tree_kernel k = { .count = 0 };
	struct rootfs root = tree_root();
	struct target t;

	target_probe(&t, &root, tree_open, &k);
	CHECK(!t.has_cycles);
	CHECK_EQ_INT(t.cycles_errno, ENODATA);
	target_done(&t);
}

TEST(probe_empty_and_odd_trees)
{
	struct tree_kernel k = { .cycles = ENOSYS, .timer = ENOSYS };
	struct rootfs root = tree_root();
	struct target t;

	target_probe(&t, &root, tree_open, &k);
	CHECK_EQ_STR(t.hostname, "");
	CHECK_EQ_STR(t.cloud, "");
	CHECK_EQ_INT(t.cpus_online, 0);
	CHECK(t.paranoid == INT64_MIN);
	CHECK_EQ_INT(t.cpu_clock_errno, ENOSYS);
	CHECK(!t.has_cpu_clock && !t.system_wide && !t.kernel_samples);
	target_done(&t);
	tree_put("/sys/devices/system/cpu/online", "0-99999999\n");
	tree_put("/proc/cpuinfo", ":::\nvendor_id\nmodel : x\n");
	tree_put("/proc/self/status", "Uid:\nCapEff:\tzz\n");
	tree_put("/proc/meminfo", "MemTotal:\n");
	tree_put("/sys/kernel/notes", "\377\377\377\377\377\377\377\377\3\3\3\3GNU");
	tree_put("/etc/os-release", "PRETTY_NAME=\"\n");
	target_probe(&t, &root, tree_open, &k);
	CHECK_EQ_INT(t.cpus_online, 0);
	CHECK_EQ_STR(t.cpuid, "");
	CHECK_EQ_STR(t.kernel_build_id, "");
	CHECK(!t.can_perfmon);
	target_done(&t);
}

TEST(probe_this_machine)
{
	const struct rootfs here = { "" };
	struct target t;

	target_probe(&t, &here, NULL, NULL);
	CHECK(t.hostname[0] && t.kernel[0] && t.arch[0]);
	CHECK_EQ_INT(t.cpus_online, sysconf(_SC_NPROCESSORS_ONLN));
	CHECK_EQ_U64(t.page_bytes, (uint64_t)sysconf(_SC_PAGESIZE));
	CHECK_EQ_INT(t.euid, geteuid());
	CHECK(t.has_cycles == !t.cycles_errno);
	target_done(&t);
}

TEST(target_text_round_trip)
{
	struct tree_kernel k = { .count = 1 };
	struct rootfs root = tree_root();
	struct target t, back;
	buf_auto text = { 0 }, again = { 0 };

	neoverse();
	target_probe(&t, &root, tree_open, &k);
	target_encode(&t, &text);
	buf_puts(&text, "tomorrow 1\n");
	target_decode(&back, (struct str){ buf_str(&text), text.len });
	CHECK_EQ_STR(back.cpuid, t.cpuid);
	CHECK_EQ_INT(back.paranoid, -1);
	CHECK(back.mlock_kb == INT64_MIN);
	CHECK_EQ_U64(back.memlock_bytes, t.memlock_bytes);
	CHECK_EQ_INT(back.pmus.len, 3);
	CHECK_EQ_STR(back.pmus.at[2].name, "armv8_pmuv3_0");
	target_encode(&back, &again);
	text.len -= strlen("tomorrow 1\n");
	text.at[text.len] = 0;
	CHECK_EQ_STR(buf_str(&again), buf_str(&text));
	target_done(&t);
	target_done(&back);
	target_decode(&back, str_of("cpus_online -4\nhas_cycles 7\npmu\npmu x y\npmu 3 a b c\n"));
	CHECK_EQ_INT(back.cpus_online, 0);
	CHECK(!back.has_cycles);
	CHECK_EQ_INT(back.pmus.len, 1);
	CHECK_EQ_STR(back.pmus.at[0].cpus, "b c");
	target_done(&back);
}
