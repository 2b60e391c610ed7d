/* SPDX-License-Identifier: Apache-2.0 */
/* A target as key-value text, and back. */
#include "target/parts.h"

#include <stddef.h>

enum field_kind { FIELD_TEXT, FIELD_U64, FIELD_U32, FIELD_I64, FIELD_INT, FIELD_BOOL };

struct field {
	const char *key;
	enum field_kind kind;
	size_t at, room;
};

#define FIELD(kind, name)                                                                      \
	{                                                                                      \
#name, kind, offsetof(struct target, name), sizeof(((struct target *)0)->name) \
	}

static const struct field fields[] = {
	FIELD(FIELD_TEXT, hostname),
	FIELD(FIELD_TEXT, arch),
	FIELD(FIELD_TEXT, kernel),
	FIELD(FIELD_TEXT, os),
	FIELD(FIELD_TEXT, cpu),
	FIELD(FIELD_TEXT, cpuid),
	FIELD(FIELD_TEXT, boot_id),
	FIELD(FIELD_TEXT, kernel_build_id),
	FIELD(FIELD_TEXT, cloud),
	FIELD(FIELD_U32, cpus_online),
	FIELD(FIELD_U32, cpus_present),
	FIELD(FIELD_U64, page_bytes),
	FIELD(FIELD_U64, memory_bytes),
	FIELD(FIELD_BOOL, has_cycles),
	FIELD(FIELD_INT, cycles_errno),
	FIELD(FIELD_BOOL, has_cpu_clock),
	FIELD(FIELD_INT, cpu_clock_errno),
	FIELD(FIELD_BOOL, system_wide),
	FIELD(FIELD_BOOL, kernel_samples),
	FIELD(FIELD_I64, paranoid),
	FIELD(FIELD_I64, kptr_restrict),
	FIELD(FIELD_I64, max_sample_rate),
	FIELD(FIELD_I64, mlock_kb),
	FIELD(FIELD_U64, memlock_bytes),
	FIELD(FIELD_U32, euid),
	FIELD(FIELD_BOOL, can_perfmon),
	FIELD(FIELD_BOOL, can_ipc_lock),
	FIELD(FIELD_BOOL, can_ptrace),
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(*fields), PMUS_MAX = 4096 };

static void put_field(struct buf *out, const struct field *f, const uint8_t *at)
{
	uint64_t u64;
	uint32_t u32;
	int64_t i64;
	int i;
	bool flag;

	switch (f->kind) {
	case FIELD_TEXT:
		kv_put(out, f->key, (const char *)at);
		break;
	case FIELD_U64:
		memcpy(&u64, at, sizeof(u64));
		kv_put_u64(out, f->key, u64);
		break;
	case FIELD_U32:
		memcpy(&u32, at, sizeof(u32));
		kv_put_u64(out, f->key, u32);
		break;
	case FIELD_I64:
		memcpy(&i64, at, sizeof(i64));
		/* Unreadable is said by leaving the line out. */
		if (i64 != INT64_MIN)
			kv_printf(out, f->key, "%lld", (long long)i64);
		break;
	case FIELD_INT:
		memcpy(&i, at, sizeof(i));
		kv_printf(out, f->key, "%d", i);
		break;
	case FIELD_BOOL:
		memcpy(&flag, at, sizeof(flag));
		kv_put_u64(out, f->key, flag);
		break;
	}
}

void target_encode(const struct target *t, struct buf *out)
{
	const uint8_t *base = (const uint8_t *)t;

	for (size_t i = 0; i < FIELD_COUNT; i++)
		put_field(out, &fields[i], base + fields[i].at);
	for (const struct target_pmu *p = t->pmus.at; p < t->pmus.at + t->pmus.len; p++)
		kv_printf(out, "pmu", "%u %s %s", p->type, p->name, p->cpus);
}

static void take_field(const struct kv *kv, const struct field *f, uint8_t *at)
{
	const char *text = kv_find(kv, f->key);
	uint64_t u64 = 0;
	int64_t i64 = INT64_MIN;
	uint32_t u32;
	int i;
	bool flag;

	if (f->kind == FIELD_TEXT) {
		if (text)
			target_copy((char *)at, f->room, str_of(text));
		return;
	}
	if (text && !str_u64(str_of(text), &u64))
		u64 = 0;
	if (text && !str_i64(str_of(text), &i64))
		i64 = INT64_MIN;
	u32 = u64 <= UINT32_MAX ? (uint32_t)u64 : 0;
	i = u64 <= INT32_MAX ? (int)u64 : 0;
	flag = u64 == 1;
	if (f->kind == FIELD_U64)
		memcpy(at, &u64, sizeof(u64));
	else if (f->kind == FIELD_U32)
		memcpy(at, &u32, sizeof(u32));
	else if (f->kind == FIELD_I64)
		memcpy(at, &i64, sizeof(i64));
	else if (f->kind == FIELD_INT)
		memcpy(at, &i, sizeof(i));
	else
		memcpy(at, &flag, sizeof(flag));
}

static void take_pmu(struct target *t, struct str text)
{
	struct str type, name;
	struct target_pmu *pmu;
	uint64_t number;

	if (t->pmus.len >= PMUS_MAX || !str_word(&text, &type) || !str_word(&text, &name) ||
	    !str_u64(type, &number) || number > UINT32_MAX)
		return;
	text = str_trim(text);
	pmu = vec_push(&t->pmus);
	*pmu = (struct target_pmu){ arena_strndup(&t->arena, name.at, name.len),
				    arena_strndup(&t->arena, text.at, text.len), (uint32_t)number };
}

void target_decode(struct target *t, struct str text)
{
	struct kv kv;

	*t = (struct target){ 0 };
	kv_parse(&kv, text);
	for (size_t i = 0; i < FIELD_COUNT; i++)
		take_field(&kv, &fields[i], (uint8_t *)t + fields[i].at);
	for (size_t i = 0; i < kv.items.len; i++)
		if (!strcmp(kv.items.at[i].key, "pmu"))
			take_pmu(t, (struct str){ kv.items.at[i].value, kv.items.at[i].value_len });
	kv_done(&kv);
}
