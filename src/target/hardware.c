/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: its cores, memory and PMUs. */
#include "base/os.h"
#include "target/parts.h"

#include <stdio.h>
#include <unistd.h>

static void read_list(struct cpu_list *list, const struct rootfs *root, const char *path)
{
	buf_auto text = { 0 };

	if (!rootfs_read(root, path, &text) || !cpu_list_parse(list, buf_str(&text)))
		vec_clear(&list->ids);
}

/* perf's form on x86: vendor-family-model-stepping, model and stepping in hexadecimal. */
static void probe_x86(struct target *t, struct str cpuinfo)
{
	struct str vendor, family, model, stepping = str_of("0");
	uint64_t m, s = 0;

	if (!target_field(cpuinfo, "vendor_id", &vendor) ||
	    !target_field(cpuinfo, "cpu family", &family) ||
	    !target_field(cpuinfo, "model", &model) || !str_u64(model, &m))
		return;
	if (target_field(cpuinfo, "stepping", &stepping) && !str_u64(stepping, &s))
		s = 0;
	snprintf(t->cpuid, sizeof(t->cpuid), "%.*s-%.*s-%llX-%llX",
		 (int)(vendor.len < 32 ? vendor.len : 32), vendor.at,
		 (int)(family.len < 8 ? family.len : 8), family.at, (unsigned long long)m,
		 (unsigned long long)s);
}

/* MIDR_EL1 of the first online core that shows it. */
static void probe_midr(struct target *t, const struct rootfs *root, const struct cpu_list *online)
{
	for (size_t i = 0; i < online->ids.len; i++) {
		buf_auto text = { 0 };
		char_auto path =
			mem_printf("/sys/devices/system/cpu/cpu%d/regs/identification/midr_el1",
				   online->ids.at[i]);

		if (!rootfs_read(root, path, &text))
			continue;
		target_copy(t->cpuid, sizeof(t->cpuid), str_of(buf_str(&text)));
		return;
	}
}

static void probe_cores(struct target *t, const struct rootfs *root)
{
	struct cpu_list online = { 0 }, present = { 0 };
	buf_auto text = { 0 };
	struct str cpuinfo, value;

	read_list(&online, root, "/sys/devices/system/cpu/online");
	read_list(&present, root, "/sys/devices/system/cpu/present");
	if (!rootfs_read(root, "/proc/cpuinfo", &text))
		buf_clear(&text);
	cpuinfo = (struct str){ buf_str(&text), text.len };
	t->cpus_online = (uint32_t)online.ids.len;
	t->cpus_present = (uint32_t)present.ids.len;
	if (target_field(cpuinfo, "model name", &value))
		target_copy(t->cpu, sizeof(t->cpu), value);
	probe_x86(t, cpuinfo);
	if (!t->cpuid[0])
		probe_midr(t, root, &online);
	/* A tree of an older kernel does not name its machine type. */
	if (!t->arch[0] && target_field(cpuinfo, "CPU implementer", &value))
		target_copy(t->arch, sizeof(t->arch), str_of("aarch64"));
	else if (!t->arch[0] && target_field(cpuinfo, "vendor_id", &value))
		target_copy(t->arch, sizeof(t->arch), str_of("x86_64"));
	vec_done(&online.ids);
	vec_done(&present.ids);
}

static void probe_memory(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str value, word;
	uint64_t kib;

	t->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	if (rootfs_read(root, "/proc/meminfo", &text) &&
	    target_field(str_of(buf_str(&text)), "MemTotal", &value) && str_word(&value, &word) &&
	    str_u64(word, &kib) && kib < UINT64_MAX / 1024)
		t->memory_bytes = kib * 1024;
}

static void probe_pmus(struct target *t, const struct rootfs *root)
{
	static const char dir[] = "/sys/bus/event_source/devices";
	const char **names = rootfs_list(root, dir, &t->arena);

	for (; *names; names++) {
		char_auto type_path = mem_printf("%s/%s/type", dir, *names);
		long long type = rootfs_number(root, type_path, -1);
		struct target_pmu *pmu;
		const char *cpus = "";

		if (type < 0 || type > UINT32_MAX)
			continue;
		/* Core PMUs of mixed machines say cpus, uncore ones cpumask. */
		for (int i = 0; i < 2 && !*cpus; i++) {
			char_auto path =
				mem_printf("%s/%s/%s", dir, *names, i ? "cpumask" : "cpus");
			buf_auto text = { 0 };

			if (rootfs_read(root, path, &text))
				cpus = arena_strdup(&t->arena, buf_str(&text));
		}
		pmu = vec_push(&t->pmus);
		*pmu = (struct target_pmu){ *names, cpus, (uint32_t)type };
	}
}

void target_probe_hardware(struct target *t, const struct rootfs *root)
{
	probe_cores(t, root);
	probe_memory(t, root);
	probe_pmus(t, root);
}
