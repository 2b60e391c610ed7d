/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: drivers of its PMUs, what firmware says of SPE, and what keeps it out. */
#include "base/cursor.h"
#include "base/os.h"
#include "target/cores.h"
#include "target/parts.h"

/* A driver by the kernel's name of its module, of its file and of itself on the platform bus. */
struct driver {
	const char *module, *file, *bus_name;
};

static const char platform_devices[] = "/sys/bus/platform/devices";

/* Is file among the modules of a list of modprobe? -1 when the list cannot be read. */
static int in_list(const struct target *t, const struct rootfs *root, const char *list,
		   const char *file)
{
	static const char *const places[] = { "/lib/modules", "/usr/lib/modules" };

	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		char_auto path = mem_printf("%s/%s/%s", places[i], t->kernel, list);
		char_auto name = mem_printf("/%s.ko", file);
		buf_auto text = { 0 };

		if (target_read_bytes(root, path, &text))
			return text.len && memmem(text.at, text.len, name, strlen(name)) != NULL;
	}
	return -1;
}

static const char *driver_state(const struct target *t, const struct rootfs *root,
				const struct driver *d)
{
	char_auto module = mem_printf("/sys/module/%s", d->module);
	char_auto initstate = mem_printf("/sys/module/%s/initstate", d->module);
	char_auto on_bus = mem_printf("/sys/bus/platform/drivers/%s", d->bus_name);
	int builtin, dep;

	/* Only what can be unloaded has an initstate. */
	if (rootfs_exists(root, initstate))
		return "loaded";
	if (rootfs_exists(root, on_bus) || rootfs_exists(root, module))
		return "builtin";
	builtin = in_list(t, root, "modules.builtin", d->file);
	if (builtin > 0)
		return "builtin";
	dep = in_list(t, root, "modules.dep", d->file);
	if (dep > 0)
		return "available";
	/* A kernel without modules has neither list: nothing was found out about it. */
	return builtin < 0 || dep < 0 ? "" : "absent";
}

/* The first platform device whose name has this in it; "" when there is none. */
static const char *platform_device(const struct rootfs *root, const char *part, struct arena *a)
{
	for (const char **name = rootfs_list(root, platform_devices, a); *name; name++)
		if (strstr(*name, part))
			return *name;
	return "";
}

/*
 * ACPI 6.3 and later, 5.2.12.14: a GICC entry of the MADT has the SPE interrupt at 78, zero where
 * there is none. Linux takes SPE only when all cores have it.
 */
static const char *spe_in_madt(const struct rootfs *root)
{
	enum { TYPE_GICC = 0x0b, SPE_AT = 78, HEADER_BYTES = 44, ENABLED = 1 | 8 };
	static const char path[] = "/sys/firmware/acpi/tables/APIC";
	buf_auto bytes = { 0 };
	size_t with = 0, without = 0;
	struct cursor c;

	if (!target_read_bytes(root, path, &bytes))
		return "";
	c = cursor_of(path, bytes.at, bytes.len);
	cursor_skip(&c, HEADER_BYTES);
	while (!c.failed && cursor_left(&c)) {
		uint8_t type = cursor_u8(&c), len = cursor_u8(&c);
		const uint8_t *body = cursor_bytes(&c, len < 2 ? UINT64_MAX : len - 2u);
		bool has = body && len >= SPE_AT + 2 && (body[SPE_AT - 2] || body[SPE_AT - 1]);

		if (!body || type != TYPE_GICC || len < 16 || !(body[10] & ENABLED))
			continue;
		with += has;
		without += !has;
	}
	return with && !without ? "yes" : "no";
}

static const char *spe_in_tree(const struct rootfs *root)
{
	static const char base[] = "/sys/firmware/devicetree/base";
	arena_auto scratch = { 0 };

	if (!rootfs_exists(root, base))
		return "";
	for (const char **name = rootfs_list(root, base, &scratch); *name; name++) {
		char_auto path = mem_printf("%s/%s/compatible", base, *name);
		buf_auto text = { 0 };

		if (str_starts(*name, "spe") && rootfs_read(root, path, &text) &&
		    str_starts(buf_str(&text), "arm,statistical-profiling-extension-v"))
			return "yes";
	}
	return "no";
}

/* The kernel makes a platform device of what firmware describes, whether or not a driver wants it. */
static const char *spe_firmware(const struct target *t, const struct rootfs *root, const char *dev)
{
	if (*dev)
		return "yes";
	return t->is_acpi ? spe_in_madt(root) : spe_in_tree(root);
}

/* Nodes pmu@... of a device tree that are a mesh's. */
static bool cmn_in_tree(const struct rootfs *root, const char *folder)
{
	arena_auto scratch = { 0 };

	for (const char **name = rootfs_list(root, folder, &scratch); *name; name++) {
		char_auto path = mem_printf("%s/%s/compatible", folder, *name);
		buf_auto text = { 0 };

		if (str_starts(*name, "pmu@") && rootfs_read(root, path, &text) &&
		    (str_starts(buf_str(&text), "arm,cmn-") ||
		     str_starts(buf_str(&text), "arm,ci-")))
			return true;
	}
	return false;
}

/* The ids that arm-cmn binds to: CMN-600, CMN-650, CMN-700, CMN-S3. */
static const char *cmn_firmware(const struct target *t, const struct rootfs *root)
{
	static const char *const ids[] = { "ARMHC600", "ARMHC650", "ARMHC700", "ARMHC003" };
	arena_auto scratch = { 0 };
	const char **names;

	if (!t->is_acpi) {
		if (!rootfs_exists(root, "/sys/firmware/devicetree/base"))
			return "";
		return cmn_in_tree(root, "/sys/firmware/devicetree/base") ||
				       cmn_in_tree(root, "/sys/firmware/devicetree/base/soc") ?
			       "yes" :
			       "no";
	}
	names = rootfs_list(root, "/sys/bus/acpi/devices", &scratch);
	if (!*names)
		return "";
	for (; *names; names++)
		for (size_t i = 0; i < sizeof(ids) / sizeof(*ids); i++)
			if (str_starts(*names, ids[i]))
				return "yes";
	return "no";
}

/* The last word of kpti= on the kernel's command line: 1, 0, or -1 when it says nothing. */
static int kpti_asked(const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str rest, word;
	int asked = -1;

	if (!rootfs_read(root, "/proc/cmdline", &text))
		return -1;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_word(&rest, &word)) {
		struct str key;

		if (!str_cut(&word, '=', &key) || !str_eq(key, "kpti") || !word.len)
			continue;
		asked = str_eq(word, "on") || strchr("1yY", word.at[0]);
	}
	return asked;
}

/*
 * Of a core with FEAT_E0PD (Armv8.5) no kernel isolates the page tables. A core that is not in the
 * table, or of which it does not know the architecture, may be an older one.
 */
static bool may_have_kpti(const struct target *t)
{
	enum { E0PD_SINCE = 5 };

	vec_each(c, &t->cores) {
		const struct core_info *info = core_find(c->midr);
		const char *v8 = info ? strstr(info->arch, "armv8.") : "";

		if (!info || !*info->arch || (v8 && v8[6] < '0' + E0PD_SINCE))
			return true;
	}
	return !t->cores.len;
}

/*
 * Arm kernels also isolate their page tables for the sake of KASLR, and then call a core that
 * Meltdown does not concern "Not affected". What shows it there: the driver has met the device and
 * does not hold it.
 */
static bool has_kpti(const struct target *t, const struct rootfs *root, const char *spe_device)
{
	char_auto bound = mem_printf("%s/%s/driver", platform_devices, spe_device);
	bool has_driver = !strcmp(t->spe_module, "loaded") || !strcmp(t->spe_module, "builtin");
	char meltdown[64];
	int asked = kpti_asked(root);

	target_copy_file(meltdown, sizeof(meltdown), root,
			 "/sys/devices/system/cpu/vulnerabilities/meltdown");
	if (strstr(meltdown, "Mitigation: PTI"))
		return true;
	if (!target_is_arm(t))
		return false;
	if (asked >= 0)
		return asked;
	return has_driver && *spe_device && !rootfs_exists(root, bound) && may_have_kpti(t);
}

void target_probe_drivers(struct target *t, const struct rootfs *root)
{
	static const struct driver spe = { "arm_spe_pmu", "arm_spe_pmu", "arm_spe_pmu" };
	static const struct driver cmn = { "arm_cmn", "arm-cmn", "arm-cmn" };
	arena_auto scratch = { 0 };
	const char *device = "";

	if (target_is_arm(t)) {
		/* "arm,spe-v1" of ACPI, "spe-pmu" of a device tree. */
		device = platform_device(root, "arm,spe", &scratch);
		if (!*device)
			device = platform_device(root, "spe-pmu", &scratch);
		target_copy(t->spe_module, sizeof(t->spe_module),
			    str_of(driver_state(t, root, &spe)));
		target_copy(t->cmn_module, sizeof(t->cmn_module),
			    str_of(driver_state(t, root, &cmn)));
		target_copy(t->cmn_firmware, sizeof(t->cmn_firmware),
			    str_of(cmn_firmware(t, root)));
		target_copy(t->spe_firmware, sizeof(t->spe_firmware),
			    str_of(spe_firmware(t, root, device)));
	}
	t->has_kpti = has_kpti(t, root, device);
}
