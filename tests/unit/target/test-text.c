/* SPDX-License-Identifier: Apache-2.0 */
/* A target survives the way through text, and no text does harm. */
#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "test.h"
#include "tree.h"

static struct target full(void)
{
	struct target t = { .hostname = "h",
			    .os_id = "ubuntu",
			    .os_version = "24.04",
			    .dmi_vendor = "A \\ B",
			    .dt_model = "line\nbreak",
			    .hypervisor = "nitro",
			    .virt = TARGET_VIRT_EMULATED,
			    .is_acpi = true,
			    .container = "lxc",
			    .cgroup = "/a b",
			    .cgroup_version = 2,
			    .cgroup_cpus = 1.25,
			    .sockets = 2,
			    .numa_nodes = 4,
			    .threads_per_core = 8,
			    .page_bytes = 65536,
			    .trials = { 1, 2, 3, 4, 5, 6, 7, 8, 9 },
			    .paranoid = -1,
			    .kptr_restrict = INT64_MIN,
			    .max_sample_rate = INT64_MIN,
			    .mlock_kb = INT64_MIN,
			    .nmi_watchdog = 1,
			    .perf_user_access = INT64_MIN,
			    .unprivileged_bpf_disabled = 2,
			    .ptrace_scope = 1,
			    .memlock_bytes = UINT64_MAX,
			    .capabilities = 0x1ffffffffff,
			    .can_bpf = true,
			    .has_btf = true,
			    .has_tracefs = true,
			    .has_kpti = true,
			    .lockdown = "integrity",
			    .in_user_namespace = true,
			    .seccomp = "2",
			    .spe_module = "loaded",
			    .spe_firmware = "yes",
			    .cmn_module = "absent",
			    .cmn_firmware = "no" };

	vec_add(&t.cores, ((struct target_core){ 0x410fd4f1, "0-3,8", 5 }));
	vec_add(&t.cores, ((struct target_core){ 0, "", 0 }));
	vec_add(&t.pmus, ((struct target_pmu){ .name = "armv8_pmuv3_0",
					       .cpus = "0-3,8",
					       .type = 8,
					       .is_core = true,
					       .counters = 6,
					       .free = 2,
					       .cycle_counter = true,
					       .cycle_counter_free = true,
					       .slots = 8,
					       .events = "cpu_cycles stall" }));
	vec_add(&t.pmus, ((struct target_pmu){ .name = "armv8_x",
					       .cpus = "",
					       .type = 9,
					       .is_core = true,
					       .counters = -1,
					       .free = -1,
					       .events = "",
					       .open_errno = EACCES }));
	vec_add(&t.pmus, ((struct target_pmu){ .name = "arm_cmn_0",
					       .cpus = "1",
					       .type = 10,
					       .counters = -1,
					       .free = -1,
					       .events = "x" }));
	return t;
}

TEST(text_round_trip)
{
	struct target t = full(), back;
	buf_auto text = { 0 }, again = { 0 };

	target_encode(&t, &text);
	CHECK(target_decode(&back, str_of(buf_str(&text))));
	target_encode(&back, &again);
	CHECK_EQ_STR(buf_str(&again), buf_str(&text));
	CHECK_EQ_STR(back.dt_model, "line\nbreak");
	CHECK_EQ_STR(back.dmi_vendor, "A \\ B");
	CHECK_EQ_INT(back.virt, TARGET_VIRT_EMULATED);
	CHECK_NEAR(back.cgroup_cpus, 1.25, 0);
	CHECK_EQ_MEM(&back.trials, &t.trials, sizeof(t.trials));
	CHECK_EQ_INT(back.paranoid, -1);
	CHECK(back.mlock_kb == INT64_MIN && back.memlock_bytes == UINT64_MAX);
	CHECK(back.is_acpi && back.can_bpf && back.has_kpti && !back.can_perfmon);
	CHECK_EQ_INT(back.cores.len, 2);
	CHECK_EQ_U64(back.cores.at[0].midr, 0x410fd4f1);
	CHECK_EQ_INT(back.cores.at[0].count, 5);
	CHECK_EQ_STR(back.cores.at[0].cpus, "0-3,8");
	CHECK_EQ_INT(back.pmus.len, 3);
	CHECK_EQ_INT(back.pmus.at[0].free, 2);
	CHECK(back.pmus.at[0].cycle_counter && back.pmus.at[0].is_core);
	CHECK(back.pmus.at[0].cycle_counter_free && !back.pmus.at[1].cycle_counter_free);
	CHECK(back.in_user_namespace);
	CHECK_EQ_STR(back.pmus.at[0].events, "cpu_cycles stall");
	CHECK_EQ_INT(back.pmus.at[1].counters, -1);
	CHECK_EQ_INT(back.pmus.at[1].open_errno, EACCES);
	CHECK(!back.pmus.at[2].is_core);
	CHECK_EQ_STR(back.pmus.at[2].events, "x");
	target_done(&back);
	target_done(&t);
}

/* What an agent before this one said. */
TEST(text_of_old_agents)
{
	struct target t;

	CHECK(!target_decode(
		&t, str_of("hostname box\nhas_cycles 1\ncycles_errno 0\ncpu_clock_errno 0\n"
			   "system_wide 1\nparanoid 2\npmu 8 armv8_pmuv3_0 0-3\ntomorrow 1\n"
			   "pmu 9 armv8_pmuv3_1 4\npmu_counters 6 6 1 0 0\n")));
	CHECK_EQ_STR(t.hostname, "box");
	CHECK_EQ_INT(t.trials.cycles, 0);
	CHECK_EQ_INT(t.trials.cpu_clock, 0);
	/* Nobody tried: not a yes, and not the kernel's no. */
	CHECK_EQ_INT(t.trials.sampling, TARGET_UNTRIED);
	CHECK_EQ_INT(t.trials.spe, TARGET_UNTRIED);
	CHECK_EQ_INT(t.pmus.len, 2);
	CHECK(t.pmus.at[1].cycle_counter && t.pmus.at[1].cycle_counter_free);
	CHECK_EQ_STR(t.pmus.at[0].events, "");
	CHECK_EQ_INT(t.pmus.at[0].counters, -1);
	target_done(&t);
}

/* Cut at each length, the text is known not to be whole, but for the newline at its end. */
TEST(text_cut_off)
{
	struct target t = full(), part;
	buf_auto text = { 0 };

	target_encode(&t, &text);
	CHECK(str_ends(buf_str(&text), "\nend 1\n"));
	for (size_t len = 0; len <= text.len; len++) {
		const char *bytes = (const char *)test_guard(text.at, len);

		CHECK_MSG(target_decode(&part, (struct str){ bytes, len }) == (len + 1 >= text.len),
			  "%zu of %zu bytes", len, text.len);
		target_done(&part);
	}
	target_done(&t);
}

TEST(text_hostile)
{
	struct target t;
	buf_auto many = { 0 };

	target_decode(&t,
		      str_of("cpus_online -4\nis_acpi 7\ncycles_errno -1\nspe_errno 99999999999\n"
			     "cgroup_cpus nan\nvirt what\nparanoid 99999999999999999999\npmu\n"
			     "pmu x y\npmu_counters 1 2 3\npmu_events a\npmu 3 a b c\n"
			     "pmu_counters 5\npmu_counters -2 1 1 1 1\npmu_counters 1 1 1 -1 1\n"
			     "core\ncore zz 1 2\ncore 0x1 99999999999 2\n"));
	CHECK_EQ_INT(t.cpus_online, 0);
	CHECK(!t.is_acpi && t.virt == TARGET_VIRT_UNKNOWN && t.paranoid == INT64_MIN);
	CHECK_EQ_INT(t.trials.cycles, TARGET_UNTRIED);
	CHECK_EQ_INT(t.trials.spe, TARGET_UNTRIED);
	CHECK_NEAR(t.cgroup_cpus, 0, 0);
	CHECK_EQ_INT(t.pmus.len, 1);
	CHECK_EQ_STR(t.pmus.at[0].cpus, "b c");
	CHECK_EQ_INT(t.pmus.at[0].counters, -1);
	CHECK(!t.pmus.at[0].is_core);
	CHECK_EQ_INT(t.cores.len, 0);
	target_done(&t);
	for (int i = 0; i < 10000; i++)
		buf_puts(&many, "pmu 1 a\ncore 0x1 1 0\n");
	target_decode(&t, str_of(buf_str(&many)));
	CHECK_EQ_INT(t.pmus.len, 4096);
	CHECK_EQ_INT(t.cores.len, 4096);
	target_done(&t);
	target_decode(&t, (struct str){ "", 0 });
	CHECK_EQ_INT(t.pmus.len, 0);
	target_done(&t);
}
