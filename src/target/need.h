/* SPDX-License-Identifier: Apache-2.0 */
/* What the files behind target_need share: the needs of other files, and words of remedies. */
#ifndef CULPRIT_TARGET_NEED_H
#define CULPRIT_TARGET_NEED_H

#include "base/os.h"
#include "target/cores.h"
#include "target/ready.h"

/* A need: false sets err. n is what stands behind the colon. */
typedef bool need_fn(const struct target *t, uint32_t n, struct err *err);
need_fn need_cycles, need_counters, need_branch_records; /* need-pmu.c */
need_fn need_spe, need_cmn;				 /* need-driver.c */

/* The PMU of its own that such a need is met by, NULL where there is none. */
typedef const char *need_pmu_fn(const struct target *t);
need_pmu_fn need_spe_pmu, need_cmn_pmu; /* need-driver.c */

/* Where a command of a remedy is to be run: "on the host: " from within a container, else "". */
const char *need_where(const struct target *t);

/* Is the errno about what this user may do, or about perf_event_open as such? */
bool need_is_about_rights(int errnum);

#endif
