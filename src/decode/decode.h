/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes to records. Opens nothing, prints nothing, keeps no state between calls but what is shown. */
#ifndef CULPRIT_DECODE_DECODE_H
#define CULPRIT_DECODE_DECODE_H

#include "decode/elf-id.h"
#include "decode/kallsyms.h"
#include "decode/maps.h"
#include "decode/perfdata-write.h"
#include "decode/perfdata.h"

#endif
