/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes a long recording out of a short one: all records once, then its samples again and again with
 * times that go on rising. Usage: repeat-perfdata IN TIMES OUT. Features are left out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "decode/decode.h"

enum { HEADER_DATA_SIZE = 48, HEADER_FEATURES = 72, FEATURE_BYTES = 32 };

/* Where the time lies in a sample's body: behind IDENTIFIER, IP and TID. */
static size_t time_at(const struct perfdata_attr *a)
{
	size_t at = 0;

	at += a->sample_type & PERFDATA_S_IDENTIFIER ? 8 : 0;
	at += a->sample_type & PERFDATA_S_IP ? 8 : 0;
	at += a->sample_type & PERFDATA_S_TID ? 8 : 0;
	return at;
}

static void copy_again(const struct perfdata *pd, FILE *out, uint64_t shift_ns)
{
	struct perfdata_record rec;
	uint64_t at = pd->data_start;
	uint8_t bytes[1 << 16];

	while (perfdata_next(pd, &at, &rec) == PERFDATA_RECORD) {
		if (rec.type != PERFDATA_SAMPLE && rec.type != PERFDATA_FINISHED_ROUND)
			continue;
		memcpy(bytes, pd->bytes + rec.offset, rec.size);
		if (rec.type == PERFDATA_SAMPLE) {
			uint64_t t = perfdata_time(pd, &rec) + shift_ns;

			memcpy(bytes + 8 + time_at(pd->attrs), &t, 8);
		}
		fwrite(bytes, rec.size, 1, out);
	}
}

static uint64_t last_time(const struct perfdata *pd, uint64_t *first)
{
	struct perfdata_record rec;
	uint64_t at = pd->data_start, last = 0;

	*first = UINT64_MAX;
	while (perfdata_next(pd, &at, &rec) == PERFDATA_RECORD) {
		uint64_t t = rec.type == PERFDATA_SAMPLE ? perfdata_time(pd, &rec) : 0;

		if (t > last)
			last = t;
		if (t && t < *first)
			*first = t;
	}
	return last;
}

static bool repeat(const struct perfdata *pd, long times, FILE *out)
{
	static const uint8_t none[FEATURE_BYTES];
	uint64_t first, step = last_time(pd, &first), size;

	step = step - first + 1;
	fwrite(pd->bytes, (size_t)pd->data_end, 1, out);
	for (long i = 1; i < times; i++)
		copy_again(pd, out, step * (uint64_t)i);
	size = (uint64_t)ftell(out) - pd->data_start;
	fseek(out, HEADER_DATA_SIZE, SEEK_SET);
	fwrite(&size, sizeof(size), 1, out);
	fseek(out, HEADER_FEATURES, SEEK_SET);
	fwrite(none, sizeof(none), 1, out);
	return !ferror(out);
}

int main(int argc, char **argv)
{
	struct os_map map = { 0 };
	struct perfdata pd = { 0 };
	struct err err = { 0 };
	FILE *out;
	bool ok;

	if (argc != 4) {
		fprintf(stderr, "usage: repeat-perfdata IN TIMES OUT\n");
		return 2;
	}
	out = fopen(argv[3], "wbe");
	if (!out || !os_map_file(argv[1], &map, &err) ||
	    !perfdata_open(&pd, argv[1], map.bytes, map.len, &err)) {
		fprintf(stderr, "repeat-perfdata: %s\n", out ? err.text : "cannot write");
		return 1;
	}
	ok = repeat(&pd, strtol(argv[2], NULL, 10), out);
	ok = !fclose(out) && ok;
	perfdata_close(&pd);
	os_unmap(&map);
	return ok ? 0 : 1;
}
