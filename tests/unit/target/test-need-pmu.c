/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles, counters and branch records on machines that nobody here owns. */
#include <errno.h>
#include <string.h>

#include "machine.h"
#include "test.h"

TEST(no_pmu_by_place)
{
	struct machine m;
	struct err err;

	machine_x86_guest(&m);
	err = machine_lacks(&m, "cycles", "NO_PMU");
	CHECK_EQ_INT(err.sys_errno, ENOENT);
	CHECK_EQ_STR(err.hint, "have the hypervisor pass the PMU on (QEMU: -cpu host,pmu=on), or "
			       "use bare metal");
	CHECK_EQ_STR(machine_lacks(&m, "counters:6", "NO_PMU").hint, err.hint);
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "NO_PMU").hint, err.hint);
	m.t.hypervisor[0] = 0;
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").hint,
		  "have the hypervisor pass the PMU on to");
	machine_guest(&m, V2, "Google", "Google Compute Engine", -1);
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").hint,
		  "on Google Cloud hardware counters come with the vPMU");
	/* A cloud of which nothing is known gets no invented advice. */
	machine_guest(&m, STRANGE, "Hetzner", "vServer", -1);
	CHECK_EQ_STR(machine_lacks(&m, "cycles", "NO_PMU").hint,
		     "nothing on Hetzner Cloud is known here that passes the PMU on; bare metal "
		     "has one");
	machine_metal(&m, V2);
	m.pmus[0].is_core = false;
	m.t.trials.cycles = ENOENT;
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").hint, "dmesg | grep -i pmu");
	m.t.virt = TARGET_VIRT_EMULATED;
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").hint, "real hardware");
	m.t.virt = TARGET_VIRT_UNKNOWN;
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").hint, "could not be seen");
}

TEST(pmu_that_only_counts)
{
	struct machine m;

	machine_guest(&m, V2, "Amazon EC2", "c8g.4xlarge", 5);
	m.t.trials.sampling = EOPNOTSUPP;
	CHECK_EQ_INT(machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").sys_errno, EOPNOTSUPP);
	machine_has(&m, "counters:5");
	machine_guest(&m, STRANGE, "Hetzner", "vServer", 5);
	m.t.trials.sampling = EOPNOTSUPP;
	CHECK_EQ_STR(machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").text,
		     "the VM counts but cannot sample: the PMU's interrupt is not passed on "
		     "(Operation not supported)");
	CHECK_EQ_STR(
		machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").hint,
		"nothing on Hetzner Cloud is known here that passes the PMU's interrupt on; bare "
		"metal has it");
	SET(m.t.dmi_vendor, "QEMU");
	SET(m.t.hypervisor, "kvm");
	CHECK_HAS(machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").hint, "interrupt on as well");
	/* On bare metal more counters would not help. */
	m.t.virt = TARGET_VIRT_NONE;
	CHECK_HAS(machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").text,
		  "the PMU has no interrupt");
	CHECK_HAS(machine_lacks(&m, "cycles", "PMU_CANNOT_SAMPLE").hint, "dmesg | grep -i pmu");
	m.t.trials.sampling = 0;
	machine_has(&m, "cycles");
	m.t.trials.cycles = ENODATA;
	CHECK_HAS(machine_lacks(&m, "cycles", "NO_PMU").text, "stand still");
	m.t.trials.cycles = EBUSY;
	machine_lacks(&m, "cycles", "PMU_BUSY");
}

TEST(counters_of_small_instances)
{
	struct machine m;
	struct err err;

	machine_guest(&m, V2, "Amazon EC2", "c8g.4xlarge", 2);
	machine_has(&m, "counters:2");
	err = machine_lacks(&m, "counters:6", "INSUFFICIENT_PMU_COUNTERS");
	CHECK_EQ_STR(err.text, "6 programmable counters are needed at once; this machine gives 2 "
			       "of the 6 that its core (Neoverse V2) has");
	CHECK_EQ_STR(err.hint, "on Amazon Web Services all counters come with c8g.24xlarge, "
			       "c8g.48xlarge, c8g.metal-24xl or c8g.metal-48xl");
	/* The poorer of two core types counts. */
	machine_add_pmu(&m, machine_core_pmu("armv8_pmuv3_1", 1));
	machine_lacks(&m, "counters:2", "INSUFFICIENT_PMU_COUNTERS");
	machine_has(&m, "counters:1");
	m.pmus[1].counters = 0;
	CHECK_HAS(machine_lacks(&m, "counters:1", "INSUFFICIENT_PMU_COUNTERS").text,
		  "gives 0 of the 6");
	machine_metal(&m, V2);
	m.pmus[0].counters = m.pmus[0].free = -1;
	m.pmus[0].open_errno = EINVAL;
	err = machine_lacks(&m, "counters:1", "INSUFFICIENT_PMU_COUNTERS");
	CHECK_HAS(err.text, "could not be measured: Invalid argument");
	CHECK_EQ_INT(err.sys_errno, EINVAL);
}

TEST(counters_that_others_hold)
{
	struct machine m;

	machine_metal(&m, V2);
	m.pmus[0].free = 4;
	machine_has(&m, "counters:4");
	CHECK_HAS(machine_lacks(&m, "counters:6", "PMU_BUSY").text,
		  "4 of the 6 of armv8_pmuv3_0 are free");
	CHECK_MSG(!strstr(machine_lacks(&m, "counters:6", "PMU_BUSY").hint, "watchdog"), "blamed");
	m.t.nmi_watchdog = 1;
	CHECK_HAS(machine_lacks(&m, "counters:6", "PMU_BUSY").hint, "kernel.nmi_watchdog=0");
}

/* Cycles take one of the counters where they have none of their own, or where that one is held. */
TEST(counters_beside_cycles)
{
	struct machine m;

	machine_metal(&m, STRANGE);
	m.pmus[0].cycle_counter = m.pmus[0].cycle_counter_free = false;
	machine_has(&m, "counters:5");
	CHECK_EQ_STR(machine_lacks(&m, "counters:6", "INSUFFICIENT_PMU_COUNTERS").text,
		     "7 programmable counters are needed at once (with one for cycles, which have "
		     "none of their own here); this machine has 6");
	m.pmus[0].free = 5;
	machine_has(&m, "counters:4");
	CHECK_HAS(machine_lacks(&m, "counters:5", "PMU_BUSY").text,
		  "6 programmable counters are needed");
	/* A PMU with a counter more and none for cycles is no richer. */
	m.pmus[0].free = 6;
	m.pmus[1] = machine_core_pmu("armv8_pmuv3_1", 5);
	machine_has(&m, "counters:5");
	machine_metal(&m, STRANGE);
	m.pmus[0].cycle_counter_free = false;
	machine_has(&m, "counters:5");
	CHECK_EQ_STR(machine_lacks(&m, "counters:6", "PMU_BUSY").text,
		     "7 programmable counters are needed at once (with one for cycles, whose own "
		     "is held) and 6 of the 6 of armv8_pmuv3_0 are free: somebody holds that of "
		     "cycles");
	m.pmus[0].free = 3;
	CHECK_HAS(machine_lacks(&m, "counters:3", "PMU_BUSY").text, "somebody holds the rest");
	machine_has(&m, "counters:2");
	m.t.nmi_watchdog = 1;
	SET(m.t.container, "docker");
	CHECK_HAS(machine_lacks(&m, "counters:3", "PMU_BUSY").hint, "on the host: sudo sysctl");
}

TEST(branch_records)
{
	struct machine m;

	machine_metal(&m, V2);
	m.t.trials.branch_stack = EOPNOTSUPP;
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		     "Neoverse V2 has no BRBE");
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").hint,
		     "a machine whose core has BRBE (Neoverse V3AE, Neoverse V3, Olympus, "
		     "AmpereOne X); no setting brings it to this one");
	m.core.midr = STRANGE;
	SET(m.t.kernel, "6.12.1");
	machine_lacks(&m, "branch-records", "KERNEL_TOO_OLD");
	SET(m.t.kernel, "6.17.0");
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		     "this machine has no BRBE");
	m.t.virt = TARGET_VIRT_GUEST;
	CHECK_HAS(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		  "not passed on to virtual machines");
	machine_x86_guest(&m);
	machine_add_pmu(&m, machine_core_pmu("cpu", 8));
	m.t.trials = (struct target_trials){ .branch_stack = EOPNOTSUPP };
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		     "this machine has no branch records (LBR)");
	SET(m.t.cpuid, "AuthenticAMD-23-31-0");
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		     "Zen 2 has no branch records (LBR)");
	/* It has others; in a guest without a PMU that is not what is missing first. */
	SET(m.t.cpuid, "AuthenticAMD-25-1-1");
	CHECK_EQ_STR(machine_lacks(&m, "branch-records", "BRANCH_RECORDS_NOT_PRESENT").text,
		     "Zen 3 has no LBR; its branch sampling (BRS: Linux 5.19 with "
		     "CONFIG_PERF_EVENTS_AMD_BRS) goes with the event of taken branches alone");
	m.t.trials.branch_stack = EACCES;
	machine_lacks(&m, "branch-records", "PERF_EVENTS_BLOCKED");
	machine_x86_guest(&m);
	SET(m.t.cpuid, "AuthenticAMD-25-1-1");
	CHECK_HAS(machine_lacks(&m, "branch-records", "NO_PMU").hint, "pmu=on");
}
