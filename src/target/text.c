/* SPDX-License-Identifier: Apache-2.0 */
/* A target as key-value text, and back. */
#include "target/parts.h"

#include <stddef.h>

enum field_kind {
	FIELD_TEXT,
	FIELD_U64,
	FIELD_U32,
	FIELD_I64,
	FIELD_BOOL,
	FIELD_DOUBLE,
	FIELD_TRIAL,
	FIELD_VIRT
};

struct field {
	const char *key;
	enum field_kind kind;
	size_t at, room;
};

#define FIELD(kind, name)                                                                      \
	{                                                                                      \
#name, kind, offsetof(struct target, name), sizeof(((struct target *)0)->name) \
	}
#define TRIAL(name)                                                                  \
	{                                                                            \
#name "_errno", FIELD_TRIAL, offsetof(struct target, trials.name), 0 \
	}

static const struct field fields[] = {
	FIELD(FIELD_TEXT, hostname),
	FIELD(FIELD_TEXT, arch),
	FIELD(FIELD_TEXT, kernel),
	FIELD(FIELD_TEXT, os),
	FIELD(FIELD_TEXT, os_id),
	FIELD(FIELD_TEXT, os_version),
	FIELD(FIELD_TEXT, cpu),
	FIELD(FIELD_TEXT, cpuid),
	FIELD(FIELD_TEXT, boot_id),
	FIELD(FIELD_TEXT, kernel_build_id),
	FIELD(FIELD_TEXT, cloud),
	FIELD(FIELD_TEXT, dmi_vendor),
	FIELD(FIELD_TEXT, dmi_product),
	FIELD(FIELD_TEXT, dmi_asset_tag),
	FIELD(FIELD_TEXT, dt_model),
	FIELD(FIELD_BOOL, is_acpi),
	FIELD(FIELD_TEXT, hypervisor),
	FIELD(FIELD_VIRT, virt),
	FIELD(FIELD_TEXT, container),
	FIELD(FIELD_TEXT, cgroup),
	FIELD(FIELD_U32, cgroup_version),
	FIELD(FIELD_DOUBLE, cgroup_cpus),
	FIELD(FIELD_U32, cpus_online),
	FIELD(FIELD_U32, cpus_present),
	FIELD(FIELD_U32, sockets),
	FIELD(FIELD_U32, numa_nodes),
	FIELD(FIELD_U32, threads_per_core),
	FIELD(FIELD_U64, page_bytes),
	FIELD(FIELD_U64, memory_bytes),
	TRIAL(cpu_clock),
	TRIAL(cycles),
	TRIAL(sampling),
	TRIAL(system_wide),
	TRIAL(kernel),
	TRIAL(tracepoint),
	TRIAL(branch_stack),
	TRIAL(spe),
	TRIAL(bpf),
	FIELD(FIELD_I64, paranoid),
	FIELD(FIELD_I64, kptr_restrict),
	FIELD(FIELD_I64, max_sample_rate),
	FIELD(FIELD_I64, mlock_kb),
	FIELD(FIELD_I64, nmi_watchdog),
	FIELD(FIELD_I64, perf_user_access),
	FIELD(FIELD_I64, unprivileged_bpf_disabled),
	FIELD(FIELD_I64, ptrace_scope),
	FIELD(FIELD_U64, memlock_bytes),
	FIELD(FIELD_U32, euid),
	FIELD(FIELD_U64, capabilities),
	FIELD(FIELD_BOOL, can_perfmon),
	FIELD(FIELD_BOOL, can_ipc_lock),
	FIELD(FIELD_BOOL, can_ptrace),
	FIELD(FIELD_BOOL, can_bpf),
	FIELD(FIELD_BOOL, has_btf),
	FIELD(FIELD_BOOL, has_tracefs),
	FIELD(FIELD_BOOL, has_kpti),
	FIELD(FIELD_TEXT, lockdown),
	FIELD(FIELD_BOOL, in_user_namespace),
	FIELD(FIELD_TEXT, seccomp),
	FIELD(FIELD_TEXT, spe_module),
	FIELD(FIELD_TEXT, spe_firmware),
	FIELD(FIELD_TEXT, cmn_module),
	FIELD(FIELD_TEXT, cmn_firmware),
};

enum { FIELD_COUNT = sizeof(fields) / sizeof(*fields), PMUS_MOST = 4096 };

/* The last line: what is cut off does not have it, and lacks trials, cores and PMUs. */
static const char end_key[] = "end", end_value[] = "1";

static const char *const virt_words[] = { [TARGET_VIRT_UNKNOWN] = "unknown",
					  [TARGET_VIRT_NONE] = "none",
					  [TARGET_VIRT_GUEST] = "guest",
					  [TARGET_VIRT_EMULATED] = "emulated" };

static const size_t virt_count = sizeof(virt_words) / sizeof(*virt_words);

const char *target_virt_word(enum target_virt virt)
{
	return virt_words[(size_t)virt < virt_count ? virt : TARGET_VIRT_UNKNOWN];
}

/* A number of any width that is told as an unsigned one. */
static uint64_t unsigned_at(const struct field *f, const uint8_t *at)
{
	uint64_t u64;
	uint32_t u32;
	bool flag;

	if (f->kind == FIELD_U32) {
		memcpy(&u32, at, sizeof(u32));
		return u32;
	}
	if (f->kind == FIELD_BOOL) {
		memcpy(&flag, at, sizeof(flag));
		return flag;
	}
	memcpy(&u64, at, sizeof(u64));
	return u64;
}

static void put_field(struct buf *out, const struct field *f, const uint8_t *at)
{
	enum target_virt virt;
	double number;
	int64_t i64;
	int32_t i32;

	switch (f->kind) {
	case FIELD_TEXT:
		kv_put(out, f->key, (const char *)at);
		break;
	case FIELD_U64:
	case FIELD_U32:
	case FIELD_BOOL:
		kv_put_u64(out, f->key, unsigned_at(f, at));
		break;
	case FIELD_I64:
		memcpy(&i64, at, sizeof(i64));
		/* Unreadable is said by leaving the line out. */
		if (i64 != INT64_MIN)
			kv_printf(out, f->key, "%lld", (long long)i64);
		break;
	case FIELD_DOUBLE:
		memcpy(&number, at, sizeof(number));
		kv_printf(out, f->key, "%.10g", number);
		break;
	case FIELD_TRIAL:
		memcpy(&i32, at, sizeof(i32));
		if (i32 != TARGET_UNTRIED)
			kv_printf(out, f->key, "%d", i32);
		break;
	case FIELD_VIRT:
		memcpy(&virt, at, sizeof(virt));
		kv_put(out, f->key, target_virt_word(virt));
		break;
	}
}

/* A PMU's later lines belong to the last "pmu" before them. */
static void put_pmu(struct buf *out, const struct target_pmu *p)
{
	kv_printf(out, "pmu", "%u %s %s", p->type, p->name, p->cpus);
	if (p->is_core)
		kv_printf(out, "pmu_counters", "%d %d %d %u %d %d", p->counters, p->free,
			  p->cycle_counter, p->slots, p->open_errno, p->cycle_counter_free);
	if (p->events[0])
		kv_put(out, "pmu_events", p->events);
}

void target_encode(const struct target *t, struct buf *out)
{
	const uint8_t *base = (const uint8_t *)t;

	for (size_t i = 0; i < FIELD_COUNT; i++)
		put_field(out, &fields[i], base + fields[i].at);
	vec_each(c, &t->cores)
		kv_printf(out, "core", "0x%llx %u %s", (unsigned long long)c->midr, c->count,
			  c->cpus);
	vec_each(p, &t->pmus)
		put_pmu(out, p);
	kv_put(out, end_key, end_value);
}

static void take_unsigned(const struct field *f, uint64_t v, uint8_t *at)
{
	uint32_t u32 = v <= UINT32_MAX ? (uint32_t)v : 0;
	bool flag = v == 1;

	if (f->kind == FIELD_U32)
		memcpy(at, &u32, sizeof(u32));
	else if (f->kind == FIELD_BOOL)
		memcpy(at, &flag, sizeof(flag));
	else
		memcpy(at, &v, sizeof(v));
}

static double take_double(const char *text)
{
	double v;

	return str_double(str_of(text), &v) && v > 0 && v < 1e9 ? v : 0;
}

static enum target_virt take_virt(const char *text)
{
	for (size_t i = 0; i < virt_count; i++)
		if (!strcmp(text, virt_words[i]))
			return (enum target_virt)i;
	return TARGET_VIRT_UNKNOWN;
}

/* The text is "" where the key is missing. */
static void take_field(const struct field *f, const char *text, uint8_t *at)
{
	uint64_t u64 = 0;
	int64_t i64 = INT64_MIN;
	int32_t i32;
	double number;
	enum target_virt virt;

	switch (f->kind) {
	case FIELD_TEXT:
		target_copy((char *)at, f->room, str_of(text));
		break;
	case FIELD_U64:
	case FIELD_U32:
	case FIELD_BOOL:
		if (!str_u64(str_of(text), &u64))
			u64 = 0;
		take_unsigned(f, u64, at);
		break;
	case FIELD_I64:
		if (!str_i64(str_of(text), &i64))
			i64 = INT64_MIN;
		memcpy(at, &i64, sizeof(i64));
		break;
	case FIELD_DOUBLE:
		number = take_double(text);
		memcpy(at, &number, sizeof(number));
		break;
	case FIELD_TRIAL:
		i32 = str_u64(str_of(text), &u64) && u64 <= INT32_MAX ? (int32_t)u64 :
									TARGET_UNTRIED;
		memcpy(at, &i32, sizeof(i32));
		break;
	case FIELD_VIRT:
		virt = take_virt(text);
		memcpy(at, &virt, sizeof(virt));
		break;
	}
}

static bool take_u32(struct str *text, uint32_t *out)
{
	struct str word;
	uint64_t v;

	if (!str_word(text, &word) || !str_u64(word, &v) || v > UINT32_MAX)
		return false;
	*out = (uint32_t)v;
	return true;
}

/* A number from -1, which says "not known". */
static bool take_i32(struct str *text, int32_t *out)
{
	struct str word;
	int64_t v;

	if (!str_word(text, &word) || !str_i64(word, &v) || v < -1 || v > INT32_MAX)
		return false;
	*out = (int32_t)v;
	return true;
}

static void take_core(struct target *t, struct str text)
{
	struct target_core core = { 0 };
	struct str midr;

	if (t->cores.len >= TARGET_CORES_MOST || !str_word(&text, &midr) ||
	    !str_u64(midr, &core.midr) || !take_u32(&text, &core.count))
		return;
	text = str_trim(text);
	core.cpus = arena_strndup(&t->arena, text.at, text.len);
	vec_add(&t->cores, core);
}

static void take_pmu(struct target *t, struct str text)
{
	struct target_pmu pmu = { .counters = -1, .free = -1, .events = "" };
	struct str name;

	if (t->pmus.len >= PMUS_MOST || !take_u32(&text, &pmu.type) || !str_word(&text, &name))
		return;
	text = str_trim(text);
	pmu.name = arena_strndup(&t->arena, name.at, name.len);
	pmu.cpus = arena_strndup(&t->arena, text.at, text.len);
	vec_add(&t->pmus, pmu);
}

static void take_counters(struct target_pmu *pmu, struct str text)
{
	struct target_pmu p = *pmu;
	int32_t cycles, cycles_free;

	if (!take_i32(&text, &p.counters) || !take_i32(&text, &p.free) ||
	    !take_i32(&text, &cycles) || !take_u32(&text, &p.slots) ||
	    !take_i32(&text, &p.open_errno))
		return;
	p.cycle_counter = cycles == 1;
	/* Agents before this one did not tell. */
	p.cycle_counter_free = take_i32(&text, &cycles_free) ? cycles_free == 1 : p.cycle_counter;
	p.is_core = true;
	*pmu = p;
}

static void take_item(struct target *t, const struct kv_item *item)
{
	struct str value = { item->value, strlen(item->value) };
	struct target_pmu *last = t->pmus.len ? &t->pmus.at[t->pmus.len - 1] : NULL;

	if (!strcmp(item->key, "core"))
		take_core(t, value);
	else if (!strcmp(item->key, "pmu"))
		take_pmu(t, value);
	else if (last && !strcmp(item->key, "pmu_counters"))
		take_counters(last, value);
	else if (last && !strcmp(item->key, "pmu_events"))
		last->events = arena_strndup(&t->arena, value.at, value.len);
}

bool target_decode(struct target *t, struct str text)
{
	struct kv kv;
	bool whole;

	*t = (struct target){ 0 };
	kv_parse(&kv, text);
	for (size_t i = 0; i < FIELD_COUNT; i++)
		take_field(&fields[i], kv_get(&kv, fields[i].key), (uint8_t *)t + fields[i].at);
	vec_each(item, &kv.items)
		take_item(t, item);
	whole = !strcmp(kv_get(&kv, end_key), end_value);
	kv_done(&kv);
	return whole;
}
