/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the feature sections of a perf.data file: texts, command line, event names, build ids. */
#include "decode/perfdata-private.h"

enum {
	BUILD_ID_FIXED = 8 + 4 + 24, /* record header, pid, id with its size and spare bytes */
	MISC_BUILD_ID_SIZE = 1 << 15,
};

static const struct {
	enum perfdata_feature which;
	const char *name;
} texts[] = {
	{ PERFDATA_F_HOSTNAME, "HOSTNAME" }, { PERFDATA_F_OSRELEASE, "OSRELEASE" },
	{ PERFDATA_F_VERSION, "VERSION" },   { PERFDATA_F_ARCH, "ARCH" },
	{ PERFDATA_F_CPUDESC, "CPUDESC" },   { PERFDATA_F_CPUID, "CPUID" },
};

static struct cursor feature_cursor(const struct perfdata *pd, enum perfdata_feature f)
{
	if ((unsigned)f >= PERFDATA_F_COUNT)
		return cursor_of(pd->name, pd->bytes, 0);
	return perfdata_cursor(pd, pd->features[f].offset, pd->features[f].size);
}

/* A length, then text that ends with it or with a zero byte. */
static struct str feature_string(struct cursor *c)
{
	uint32_t len = cursor_u32(c);
	const uint8_t *p = cursor_bytes(c, len);

	return (struct str){ (const char *)p, p ? strnlen((const char *)p, len) : 0 };
}

static void drop(struct perfdata *pd, enum perfdata_feature f, const char *name, uint64_t at)
{
	perfdata_note(pd, "feature %s at offset %llu dropped: damaged at offset %llu", name,
		      (unsigned long long)pd->features[f].offset, (unsigned long long)at);
	pd->features[f].size = 0;
}

static bool next_build_id(struct cursor *c, struct perfdata_build_id *out)
{
	struct perfdata_build_id b = { 0 };
	uint64_t size;
	const uint8_t *id;

	cursor_skip(c, 4);
	b.misc = cursor_u16(c);
	size = cursor_u16(c);
	b.pid = (int32_t)cursor_u32(c);
	id = cursor_bytes(c, 24);
	if (c->failed || size <= BUILD_ID_FIXED)
		return false;
	b.path = cursor_fixed_str(c, size - BUILD_ID_FIXED);
	if (c->failed)
		return false;
	b.id_len = 20;
	if (b.misc & MISC_BUILD_ID_SIZE)
		b.id_len = id[20] < 20 ? id[20] : 20;
	memcpy(b.id, id, b.id_len);
	if (!memcmp(b.id, (const uint8_t[20]){ 0 }, 20))
		b.id_len = 0;
	*out = b;
	return true;
}

static void check_build_ids(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_F_BUILD_ID);
	struct perfdata_build_id b;
	uint64_t start = cursor_offset(&c), good = start;

	while (cursor_left(&c)) {
		if (!next_build_id(&c, &b))
			break;
		good = cursor_offset(&c);
	}
	if (good == start + pd->features[PERFDATA_F_BUILD_ID].size)
		return;
	perfdata_note(
		pd, "feature BUILD_ID at offset %llu: damaged at offset %llu, the rest is dropped",
		(unsigned long long)start, (unsigned long long)good);
	pd->features[PERFDATA_F_BUILD_ID].size = good - start;
}

static void check_cmdline(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_F_CMDLINE);
	uint64_t at = cursor_offset(&c);

	for (uint32_t count = cursor_u32(&c); count && !c.failed; count--) {
		at = cursor_offset(&c);
		feature_string(&c);
	}
	if (c.failed)
		drop(pd, PERFDATA_F_CMDLINE, "CMDLINE", at);
}

void perfdata_check_features(struct perfdata *pd)
{
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct cursor c = feature_cursor(pd, texts[i].which);

		feature_string(&c);
		if (pd->features[texts[i].which].size && c.failed)
			drop(pd, texts[i].which, texts[i].name,
			     pd->features[texts[i].which].offset);
	}
	if (pd->features[PERFDATA_F_CMDLINE].size)
		check_cmdline(pd);
	if (pd->features[PERFDATA_F_BUILD_ID].size)
		check_build_ids(pd);
}

const char *perfdata_feature_text(struct perfdata *pd, enum perfdata_feature f)
{
	struct cursor c = feature_cursor(pd, f);
	struct str s = feature_string(&c);

	return c.failed ? "" : arena_strndup(&pd->arena, s.at, s.len);
}

const char *perfdata_cmdline(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_F_CMDLINE);
	struct buf text = { 0 };
	const char *out;

	for (uint32_t count = cursor_u32(&c); count && !c.failed; count--) {
		struct str s = feature_string(&c);

		if (text.len)
			buf_u8(&text, ' ');
		buf_add(&text, s.at, s.len);
	}
	out = arena_strdup(&pd->arena, buf_str(&text));
	buf_done(&text);
	return out;
}

bool perfdata_next_build_id(struct perfdata *pd, uint64_t *at, struct perfdata_build_id *out)
{
	struct cursor c = feature_cursor(pd, PERFDATA_F_BUILD_ID);

	cursor_skip(&c, *at);
	if (!cursor_left(&c) || !next_build_id(&c, out))
		return false;
	*at = cursor_offset(&c) - pd->features[PERFDATA_F_BUILD_ID].offset;
	return true;
}

static void read_event_desc(struct perfdata *pd)
{
	struct cursor c = feature_cursor(pd, PERFDATA_F_EVENT_DESC);
	uint32_t count = cursor_u32(&c), attr_bytes = cursor_u32(&c);
	uint64_t at = cursor_offset(&c);

	for (uint32_t i = 0; i < count && !c.failed; i++) {
		struct perfdata_attr *a = i < pd->attr_count ? &pd->attrs[i] : NULL;
		struct cursor ids;
		struct str name;
		uint32_t id_count;

		at = cursor_offset(&c);
		cursor_skip(&c, attr_bytes);
		id_count = cursor_u32(&c);
		name = feature_string(&c);
		ids = cursor_sub(&c, (uint64_t)id_count * 8);
		if (c.failed)
			break;
		if (id_count) {
			uint64_t *index = map_find(&pd->ids, cursor_u64(&ids));

			a = index ? &pd->attrs[*index] : a;
		}
		if (a && !a->name && name.len)
			a->name = arena_strndup(&pd->arena, name.at, name.len);
	}
	if (c.failed)
		drop(pd, PERFDATA_F_EVENT_DESC, "EVENT_DESC", at);
}

/* Numbers of enum perf_hw_id and perf_sw_ids, with the names that perf gives them. */
static const char *generic_name(uint32_t type, uint64_t config)
{
	static const char *const hardware[] = {
		"cycles",
		"instructions",
		"cache-references",
		"cache-misses",
		"branches",
		"branch-misses",
		"bus-cycles",
		"stalled-cycles-frontend",
		"stalled-cycles-backend",
		"ref-cycles",
	};
	static const char *const software[] = {
		"cpu-clock",	    "task-clock",   "page-faults",  "context-switches",
		"cpu-migrations",   "minor-faults", "major-faults", "alignment-faults",
		"emulation-faults", "dummy",	    "bpf-output",   "cgroup-switches",
	};

	if (type == 0 && config < sizeof(hardware) / sizeof(hardware[0]))
		return hardware[config];
	if (type == 1 && config < sizeof(software) / sizeof(software[0]))
		return software[config];
	return NULL;
}

static const char *made_name(struct perfdata *pd, const struct perfdata_attr *a)
{
	static const char *const kinds[] = { "hardware", "software", "tracepoint",
					     "hw-cache", "raw",	     "breakpoint" };
	const char *generic = generic_name(a->type, a->config);
	unsigned long long config = a->config;

	if (generic)
		return generic;
	if (a->type < sizeof(kinds) / sizeof(kinds[0]))
		return arena_printf(&pd->arena, "%s:0x%llx", kinds[a->type], config);
	return arena_printf(&pd->arena, "pmu-%u/config=0x%llx/", a->type, config);
}

void perfdata_name_events(struct perfdata *pd)
{
	if (pd->features[PERFDATA_F_EVENT_DESC].size)
		read_event_desc(pd);
	for (size_t i = 0; i < pd->attr_count; i++)
		if (!pd->attrs[i].name)
			pd->attrs[i].name = made_name(pd, &pd->attrs[i]);
}
