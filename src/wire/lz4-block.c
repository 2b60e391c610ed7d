/* SPDX-License-Identifier: Apache-2.0 */
/* One LZ4 block in, one out: the only door to liblz4. */
#include "wire/lz4-block.h"

#include <limits.h>
#include <lz4.h>

size_t lz4_block_pack(void *to, const void *from, size_t len)
{
	int n;

	if (len < 2 || len > LZ4_MAX_INPUT_SIZE)
		return 0;
	n = LZ4_compress_default(from, to, (int)len, (int)len - 1);
	return n > 0 ? (size_t)n : 0;
}

bool lz4_block_unpack(void *to, size_t want, const void *from, size_t len)
{
	if (want > INT_MAX || len > INT_MAX)
		return false;
	return LZ4_decompress_safe(from, to, (int)len, (int)want) == (int)want;
}
