/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of data/ as tools/gen-tables compiles them in, for cores.c alone. */
#ifndef CULPRIT_TARGET_TABLES_H
#define CULPRIT_TARGET_TABLES_H

#include "target/cores.h"

/* Holds for variant and revision from first to last, each as variant << 4 | revision. */
struct core_row {
	struct core_info info;
	uint32_t first, last;
};

struct x86_row {
	struct x86_info info;
	uint32_t stepping_first, stepping_last;
};

enum instance_match { INSTANCE_ANY_CORE, INSTANCE_NO_MIDR, INSTANCE_THIS_CORE };

struct instance_row {
	struct instance_info info;
	enum instance_match match;
	uint32_t implementer, part; /* of INSTANCE_THIS_CORE */
};

struct driver_row {
	struct driver_place at; /* "" stands for all */
	struct driver_info info;
};

extern const struct core_row table_cores[];
extern const size_t table_cores_count;
extern const struct x86_row table_x86[];
extern const size_t table_x86_count;
extern const struct cloud_info table_clouds[];
extern const size_t table_clouds_count;
extern const struct instance_row table_instances[];
extern const size_t table_instances_count;
extern const struct driver_row table_distributions[];
extern const size_t table_distributions_count;

#endif
