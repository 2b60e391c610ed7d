/* SPDX-License-Identifier: Apache-2.0 */
/* One LZ4 block in, one out: the only door to liblz4. Private to wire/. */
#ifndef CULPRIT_WIRE_LZ4_BLOCK_H
#define CULPRIT_WIRE_LZ4_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes in to, or 0 when the block would not be smaller than len. to holds len bytes. */
size_t lz4_block_pack(void *to, const void *from, size_t len);
/* True when the block is whole and gives exactly want bytes; nothing else is written. */
bool lz4_block_unpack(void *to, size_t want, const void *from, size_t len);

#endif
