/* SPDX-License-Identifier: Apache-2.0 */
/* Tables to numbers. */
#ifndef CULPRIT_ANALYSE_ANALYSE_H
#define CULPRIT_ANALYSE_ANALYSE_H

#include "analyse/annotate.h"
#include "analyse/evidence.h"
#include "analyse/hotspots.h"
#include "analyse/sources.h"

#endif
