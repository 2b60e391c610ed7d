/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: the PMUs that the kernel shows in sysfs. */
#include "base/os.h"
#include "target/parts.h"

#include <stdio.h>

/* A mesh has hundreds of named events; no list of names is cut that a recipe could ask for. */
enum { PMUS_MOST = 4096, EVENTS_MOST_BYTES = 32 * 1024 };

static const char devices[] = "/sys/bus/event_source/devices";

static bool read_file(const struct rootfs *root, const char *pmu, const char *file, struct buf *out)
{
	char_auto path = mem_printf("%s/%s/%s", devices, pmu, file);

	return rootfs_read(root, path, out);
}

static uint64_t read_hex(const struct rootfs *root, const char *pmu, const char *file)
{
	buf_auto text = { 0 };
	uint64_t v;

	return read_file(root, pmu, file, &text) && str_u64(str_of(buf_str(&text)), &v) ? v : 0;
}

/* Kernels give x86's only core PMU no list of CPUs, Arm's and mixed machines' have "cpus". */
static bool is_core_name(const char *name)
{
	return !strcmp(name, "cpu") || str_starts(name, "armv") || str_starts(name, "apple_");
}

static const char *event_names(struct target *t, const struct rootfs *root, const char *pmu)
{
	char_auto path = mem_printf("%s/%s/events", devices, pmu);
	arena_auto scratch = { 0 };
	const char **names = rootfs_list(root, path, &scratch);
	buf_auto text = { 0 };

	for (; *names; names++) {
		/* Beside an event of x86 lie the unit and the scale of its counts. */
		if (strchr(*names, '.') || strpbrk(*names, " \n") ||
		    text.len + strlen(*names) > EVENTS_MOST_BYTES)
			continue;
		buf_printf(&text, "%s%s", text.len ? " " : "", *names);
	}
	return arena_strdup(&t->arena, buf_str(&text));
}

static void probe_pmu(struct target *t, const struct rootfs *root, const char *name)
{
	char_auto type_path = mem_printf("%s/%s/type", devices, name);
	long long type = rootfs_number(root, type_path, -1);
	struct target_pmu pmu = { .name = name, .counters = -1, .free = -1 };
	buf_auto cpus = { 0 };
	bool has_cpus;

	if (type < 0 || type > UINT32_MAX || t->pmus.len >= PMUS_MOST || strpbrk(name, " \n"))
		return;
	pmu.type = (uint32_t)type;
	has_cpus = read_file(root, name, "cpus", &cpus);
	if (!has_cpus && !read_file(root, name, "cpumask", &cpus))
		buf_clear(&cpus);
	pmu.cpus = arena_strdup(&t->arena, buf_str(&cpus));
	pmu.is_core = has_cpus || is_core_name(name);
	if (pmu.is_core)
		pmu.slots = (uint32_t)read_hex(root, name, "caps/slots");
	pmu.events = event_names(t, root, name);
	vec_add(&t->pmus, pmu);
}

void target_probe_pmus(struct target *t, const struct rootfs *root)
{
	for (const char **name = rootfs_list(root, devices, &t->arena); *name; name++)
		probe_pmu(t, root, *name);
}

bool target_is_mixed(const struct target *t)
{
	size_t cores = 0;

	vec_each(p, &t->pmus)
		cores += p->is_core;
	return cores > 1;
}

/* What the machine does not tell leaves nothing out. */
static bool list_has(const char *text, int cpu)
{
	struct cpu_list list = { 0 };
	bool has = !*text || !cpu_list_parse(&list, text);

	vec_each(id, &list.ids)
		has |= *id == cpu;
	vec_done(&list.ids);
	return has;
}

int target_first_cpu(const struct rootfs *root, const char *cpus)
{
	buf_auto online = { 0 }, status = { 0 };
	struct cpu_list list = { 0 };
	struct str allowed = str_of("");
	char_auto mask = NULL;
	int found = -1;

	if (!rootfs_read(root, "/sys/devices/system/cpu/online", &online))
		buf_clear(&online);
	if (rootfs_read(root, "/proc/self/status", &status) &&
	    !target_field(str_of(buf_str(&status)), "Cpus_allowed_list", &allowed))
		allowed = str_of("");
	mask = mem_printf("%.*s", (int)allowed.len, allowed.at);
	if (!cpu_list_parse(&list, *cpus ? cpus : *buf_str(&online) ? buf_str(&online) : mask))
		vec_clear(&list.ids);
	for (size_t i = 0; i < list.ids.len && found < 0; i++)
		if (list_has(buf_str(&online), list.ids.at[i]) && list_has(mask, list.ids.at[i]))
			found = list.ids.at[i];
	vec_done(&list.ids);
	return found;
}

int target_pmu_cpu(const struct target *t, const struct rootfs *root, const struct target_pmu *pmu)
{
	int cpu;

	if (!target_is_mixed(t) || !pmu->cpus[0])
		return TARGET_CPU_ANY;
	cpu = target_first_cpu(root, pmu->cpus);
	return cpu < 0 ? TARGET_CPU_NONE : cpu;
}

bool target_pmu_is_x86(const struct target_pmu *pmu)
{
	return !strcmp(pmu->name, "cpu") || str_starts(pmu->name, "cpu_");
}

/* "event=0x11": the kernel's names for it differ, its code in most Arm cores does not. */
uint64_t target_cycles_config(const struct rootfs *root, const char *pmu)
{
	static const char *const files[] = { "events/cpu_cycles", "events/cycles" };
	enum { ARM_CPU_CYCLES = 0x11 }; /* Arm ARM D13.12, common events */
	uint64_t code;

	for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
		buf_auto text = { 0 };
		struct str rest, key;

		if (!read_file(root, pmu, files[i], &text))
			continue;
		rest = (struct str){ buf_str(&text), text.len };
		if (str_cut(&rest, '=', &key) && str_eq(key, "event") && str_u64(rest, &code))
			return code;
	}
	return ARM_CPU_CYCLES;
}
