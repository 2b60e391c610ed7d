/* SPDX-License-Identifier: Apache-2.0 */
/* Side-band records that wait for their time: a heap, oldest first, file order among equals. */
#ifndef CULPRIT_MODEL_SIDEBAND_H
#define CULPRIT_MODEL_SIDEBAND_H

#include "model/model.h"

struct sideband_item {
	uint64_t t;
	struct perfdata_record rec;
};

struct sideband {
	VEC(struct sideband_item) heap;
};

void sideband_push(struct sideband *sb, uint64_t t, const struct perfdata_record *rec);
/* The oldest record, when it is not younger than t. */
bool sideband_pop(struct sideband *sb, uint64_t t, struct sideband_item *out);
void sideband_done(struct sideband *sb);

#endif
