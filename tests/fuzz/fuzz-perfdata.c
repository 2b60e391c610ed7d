/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a perf.data file: header, features, all records, all views of them. */
#include <stddef.h>
#include <stdint.h>

#include "decode/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Reading each byte of a result is what a sanitizer can see. */
static uint64_t touch(const void *bytes, uint64_t len)
{
	const uint8_t *p = bytes;
	uint64_t sum = 0;

	for (uint64_t i = 0; p && i < len; i++)
		sum += p[i];
	return sum;
}

static uint64_t touch_text(const char *s)
{
	return touch(s, strlen(s));
}

static uint64_t use_sample(const struct perfdata *pd, const struct perfdata_record *r)
{
	struct perfdata_sample s;
	uint64_t sum = 0;

	if (!perfdata_sample(pd, r, &s))
		return 0;
	for (uint64_t i = 0; i < s.chain_len; i++)
		sum += perfdata_chain_at(pd, &s, i);
	sum += touch(s.stack, s.stack_bytes);
	sum += touch(s.regs_user, 8 * (uint64_t)__builtin_popcountll(s.regs_user_mask));
	return sum + touch_text(s.attr->name);
}

static uint64_t use_record(const struct perfdata *pd, const struct perfdata_record *r)
{
	uint64_t sum = perfdata_time(pd, r) + touch(r->body, r->size - 8) + use_sample(pd, r);
	struct perfdata_mmap m;
	struct perfdata_comm c;
	struct perfdata_task t;
	struct perfdata_lost l;

	if (perfdata_mmap(pd, r, &m))
		sum += touch_text(m.path) + m.build_id[19];
	if (perfdata_comm(pd, r, &c))
		sum += touch_text(c.comm);
	if (perfdata_task(pd, r, &t))
		sum += t.pid;
	if (perfdata_lost(pd, r, &l))
		sum += l.lost;
	return sum;
}

static uint64_t use_header(struct perfdata *pd)
{
	uint64_t sum = touch_text(perfdata_cmdline(pd)), at = 0;
	struct perfdata_build_id id;

	for (enum perfdata_feature f = PERFDATA_F_HOSTNAME; f <= PERFDATA_F_CPUID; f++)
		sum += touch_text(perfdata_feature_text(pd, f));
	while (perfdata_next_build_id(pd, &at, &id))
		sum += touch_text(id.path) + touch(id.id, id.id_len);
	for (size_t i = 0; i < pd->notes.len; i++)
		sum += touch_text(pd->notes.at[i]);
	for (size_t i = 0; i < pd->attr_count; i++)
		sum += touch_text(pd->attrs[i].name) +
		       touch(pd->attrs[i].ids, pd->attrs[i].id_count * 8);
	return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t sum;
	struct perfdata_record r;
	struct perfdata pd;
	uint64_t offset;
	struct err err;

	if (!perfdata_open(&pd, "fuzz", data, size, &err))
		return 0;
	sum = use_header(&pd);
	offset = pd.data_start;
	while (perfdata_next(&pd, &offset, &r) == PERFDATA_RECORD)
		sum += use_record(&pd, &r);
	perfdata_close(&pd);
	/* Nothing that was read may be optimised away. */
	__asm__ volatile("" : : "r"(sum));
	return 0;
}
