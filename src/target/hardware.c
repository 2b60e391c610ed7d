/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: its cores by type, how they hang together, its memory. */
#include "base/os.h"
#include "target/parts.h"

#include <stdio.h>
#include <unistd.h>

static const char cpu_dir[] = "/sys/devices/system/cpu";

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

/* MIDR_EL1 by CPU id, as /proc/cpuinfo has it in pieces; 0 where it says nothing. */
struct midrs {
	VEC(uint64_t) by_cpu;
	bool read;
};

/* Arm ARM D19.2: implementer 31:24, variant 23:20, architecture 19:16 (0xf), part, revision. */
static void add_piece(uint64_t *midr, struct str key, uint64_t v)
{
	if (str_eq(key, "CPU implementer"))
		*midr |= (v & 0xff) << 24 | 0xf0000;
	else if (str_eq(key, "CPU variant"))
		*midr |= (v & 0xf) << 20;
	else if (str_eq(key, "CPU part"))
		*midr |= (v & 0xfff) << 4;
	else if (str_eq(key, "CPU revision"))
		*midr |= v & 0xf;
}

static void read_cpuinfo(struct midrs *m, struct str cpuinfo)
{
	enum { CPU_MOST = 65535 };
	struct str line, key;
	uint64_t v, cpu = UINT64_MAX;

	while (str_line(&cpuinfo, &line)) {
		if (!str_cut(&line, ':', &key) || !str_u64(str_trim(line), &v))
			continue;
		key = str_trim(key);
		if (str_eq(key, "processor")) {
			cpu = v;
			while (cpu <= CPU_MOST && m->by_cpu.len <= cpu)
				vec_add(&m->by_cpu, 0);
		} else if (cpu < m->by_cpu.len) {
			add_piece(&m->by_cpu.at[cpu], key, v);
		}
	}
	m->read = true;
}

static uint64_t midr_of(struct midrs *m, const struct rootfs *root, struct str cpuinfo, int cpu)
{
	char_auto path = mem_printf("%s/cpu%d/regs/identification/midr_el1", cpu_dir, cpu);
	buf_auto text = { 0 };
	uint64_t v;

	if (rootfs_read(root, path, &text) && str_u64(str_of(buf_str(&text)), &v))
		return v;
	if (!m->read)
		read_cpuinfo(m, cpuinfo);
	return m->by_cpu.at && (size_t)cpu < m->by_cpu.len ? m->by_cpu.at[cpu] : 0;
}

/* CPUs of one type on their way to a list text. */
struct core_run {
	uint64_t midr;
	uint32_t count;
	int first, last; /* the range at the end of the list, not yet in text */
	struct buf text;
};

static void end_range(struct core_run *c)
{
	buf_printf(&c->text, "%s%d", c->text.len ? "," : "", c->first);
	if (c->last > c->first)
		buf_printf(&c->text, "-%d", c->last);
}

static void add_cpu(struct core_run *c, int cpu)
{
	if (c->count && cpu == c->last + 1) {
		c->last = cpu;
	} else {
		if (c->count)
			end_range(c);
		c->first = c->last = cpu;
	}
	c->count++;
}

static void probe_cores(struct target *t, const struct rootfs *root, struct str cpuinfo,
			const struct cpu_list *online)
{
	bool is_x86 = str_starts(t->arch, "x86") || !strcmp(t->arch, "i686");
	VEC(struct core_run) runs = { 0 };
	struct midrs midrs = { 0 };

	vec_each(cpu, &online->ids) {
		uint64_t midr = is_x86 ? 0 : midr_of(&midrs, root, cpuinfo, *cpu);
		struct core_run *run = NULL;

		for (size_t i = 0; i < runs.len && !run; i++)
			if (runs.at[i].midr == midr)
				run = &runs.at[i];
		if (!run && runs.len == TARGET_CORES_MOST)
			continue;
		if (!run)
			run = vec_push(&runs);
		run->midr = midr;
		add_cpu(run, *cpu);
	}
	vec_each(run, &runs) {
		end_range(run);
		*vec_push(&t->cores) =
			(struct target_core){ .midr = run->midr,
					      .cpus = arena_strdup(&t->arena, buf_str(&run->text)),
					      .count = run->count };
		buf_done(&run->text);
	}
	/* perf's form on arm64: the register's text as the kernel writes it. */
	if (t->cores.len && t->cores.at[0].midr)
		snprintf(t->cpuid, sizeof(t->cpuid), "0x%016llx",
			 (unsigned long long)t->cores.at[0].midr);
	vec_done(&midrs.by_cpu);
	vec_done(&runs);
}

static void probe_topology(struct target *t, const struct rootfs *root,
			   const struct cpu_list *online)
{
	VEC(long long) packages = { 0 };
	struct cpu_list list = { 0 };

	vec_each(cpu, &online->ids) {
		char_auto path = mem_printf("%s/cpu%d/topology/physical_package_id", cpu_dir, *cpu);
		long long package = rootfs_number(root, path, -1);
		bool known = package < 0;

		for (size_t i = 0; i < packages.len && !known; i++)
			known = packages.at[i] == package;
		if (!known)
			vec_add(&packages, package);
	}
	t->sockets = (uint32_t)packages.len;
	if (online->ids.len) {
		char_auto path = mem_printf("%s/cpu%d/topology/thread_siblings_list", cpu_dir,
					    online->ids.at[0]);

		read_list(&list, root, path);
		t->threads_per_core = (uint32_t)list.ids.len;
	}
	read_list(&list, root, "/sys/devices/system/node/online");
	t->numa_nodes = (uint32_t)list.ids.len;
	vec_done(&packages);
	vec_done(&list.ids);
}

static void probe_memory(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str value, word;
	uint64_t kib;

	if (!t->page_bytes)
		t->page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	if (rootfs_read(root, "/proc/meminfo", &text) &&
	    target_field(str_of(buf_str(&text)), "MemTotal", &value) && str_word(&value, &word) &&
	    str_u64(word, &kib) && kib < UINT64_MAX / 1024)
		t->memory_bytes = kib * 1024;
}

void target_probe_hardware(struct target *t, const struct rootfs *root)
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
	/* A tree of an older kernel does not name its machine type. */
	if (!t->arch[0] && target_field(cpuinfo, "CPU implementer", &value))
		target_copy(t->arch, sizeof(t->arch), str_of("aarch64"));
	else if (!t->arch[0] && target_field(cpuinfo, "vendor_id", &value))
		target_copy(t->arch, sizeof(t->arch), str_of("x86_64"));
	if (target_field(cpuinfo, "model name", &value))
		target_copy(t->cpu, sizeof(t->cpu), value);
	probe_x86(t, cpuinfo);
	probe_cores(t, root, cpuinfo, &online);
	probe_topology(t, root, &online);
	probe_memory(t, root);
	vec_done(&online.ids);
	vec_done(&present.ids);
}
