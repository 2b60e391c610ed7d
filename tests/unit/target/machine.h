/* SPDX-License-Identifier: Apache-2.0 */
/* Machines by hand, and what they have and lack. */
#ifndef TEST_TARGET_MACHINE_H
#define TEST_TARGET_MACHINE_H

#include <stdio.h>

#include "target/ready.h"

enum { N1 = 0x413fd0c1, V2 = 0x410fd4f1, A72 = 0x410fd083, STRANGE = 0x7a0fabc0 };

/* Text into one of the arrays of struct target. */
#define SET(field, text) snprintf(field, sizeof(field), "%s", text)

/* A machine with one kind of core and at most three PMUs; all that is not said is as it should be. */
struct machine {
	struct target t;
	struct target_core core;
	struct target_pmu pmus[3];
};

/* Bare-metal Neoverse with everything, under the user's own name. */
void machine_metal(struct machine *m, uint64_t midr);
/* The same core as a guest of a cloud, with so many counters; -1: no PMU. */
void machine_guest(struct machine *m, uint64_t midr, const char *vendor, const char *product,
		   int32_t counters);
/* A guest on KVM without a PMU. */
void machine_x86_guest(struct machine *m);
/* The firmware says that it is this type of instance. */
void machine_on_aws(struct machine *m, const char *product);
struct target_pmu machine_core_pmu(const char *name, int32_t counters);
void machine_add_pmu(struct machine *m, struct target_pmu pmu);

/* Fails the test where the need is not met. */
void machine_has(const struct machine *m, const char *need);
/* The refusal, which has this id and a remedy; fails the test where there is none. */
struct err machine_lacks(const struct machine *m, const char *need, const char *id);

#endif
