/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: bare metal, a guest and whose, or an emulator's make-believe. */
#include "base/os.h"
#include "target/cores.h"
#include "target/parts.h"

/* What hypervisors call the machines that they make: the beginnings of vendor and product. */
struct maker {
	const char *vendor, *product, *hypervisor;
};

static const struct maker makers[] = {
	{ "Amazon EC2", "", "nitro" },
	{ "Google", "Google Compute Engine", "kvm" },
	{ "Microsoft Corporation", "Virtual Machine", "microsoft" },
	{ "Alibaba Cloud", "", "kvm" },
	{ "QEMU", "", "kvm" },
	{ "", "KVM", "kvm" },
	{ "OpenStack", "", "kvm" },
	{ "VMware", "", "vmware" },
	{ "Xen", "", "xen" },
	{ "innotek GmbH", "", "virtualbox" },
	{ "Parallels", "", "parallels" },
	{ "Apple Inc.", "Apple Virtualization", "apple" },
};

static const char *by_dmi(const struct target *t)
{
	for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++)
		if (str_starts(t->dmi_vendor, makers[i].vendor) &&
		    str_starts(t->dmi_product, makers[i].product) &&
		    (t->dmi_vendor[0] || t->dmi_product[0]))
			return makers[i].hypervisor;
	return "";
}

/* What the kernel of a guest says by the clocks that its hypervisor offers. */
static const char *by_clock(const struct rootfs *root)
{
	static const struct {
		const char *clock, *hypervisor;
	} clocks[] = { { "kvm-clock", "kvm" },
		       { "hyperv_clocksource", "microsoft" },
		       { "xen", "xen" } };
	buf_auto text = { 0 };

	if (!rootfs_read(root, "/sys/devices/system/clocksource/clocksource0/available_clocksource",
			 &text))
		return "";
	for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++)
		if (strstr(buf_str(&text), clocks[i].clock))
			return clocks[i].hypervisor;
	return "";
}

/* A device tree has a node of the hypervisor, or is that of QEMU's and others' made-up board. */
static const char *by_device_tree(const struct rootfs *root)
{
	static const char *const bases[] = { "/sys/firmware/devicetree/base", "/proc/device-tree" };
	const char *found = "";

	for (size_t i = 0; i < sizeof(bases) / sizeof(*bases) && !*found; i++) {
		char_auto node = mem_printf("%s/hypervisor/compatible", bases[i]);
		char_auto board = mem_printf("%s/compatible", bases[i]);
		char text[64];

		target_copy_file(text, sizeof(text), root, node);
		if (str_starts(text, "xen"))
			found = "xen";
		else if (text[0])
			found = "kvm";
		target_copy_file(text, sizeof(text), root, board);
		if (!*found && !strcmp(text, "linux,dummy-virt"))
			found = "kvm";
	}
	return found;
}

static const char *by_kernel(const struct rootfs *root)
{
	char text[32];

	target_copy_file(text, sizeof(text), root, "/sys/hypervisor/type");
	return strcmp(text, "xen") ? "" : "xen";
}

/* QEMU calls a machine so when it does not run on KVM: without hardware help, or with another's. */
static bool is_qemu_without_kvm(const struct target *t)
{
	return target_is_arm(t) && str_starts(t->dmi_vendor, "QEMU") &&
	       str_starts(t->dmi_product, "QEMU");
}

/*
 * QEMU without hardware help. An arm64 machine gives itself away by the frequency of its timer:
 * 62.5 MHz, of which the kernel makes 125 BogoMIPS, or as the core "max" of later versions 1 GHz,
 * which real cores also have. Apple's never come from there.
 */
static bool is_tcg(const struct target *t, struct str cpuinfo, const char *hypervisor)
{
	enum { APPLE = 0x61 };
	uint32_t implementer = t->cores.len ? midr_implementer(t->cores.at[0].midr) : 0;
	bool nameless = !t->dmi_vendor[0] && !strcmp(hypervisor, "kvm");
	bool is_max = t->cores.len && t->cores.at[0].midr && !implementer;
	struct str bogomips;

	if (strstr(t->cpu, "QEMU TCG"))
		return true;
	if (!target_is_arm(t) || implementer == APPLE || !(is_qemu_without_kvm(t) || nameless) ||
	    !target_field(cpuinfo, "BogoMIPS", &bogomips))
		return false;
	return str_eq(bogomips, "125.00") || (str_eq(bogomips, "2000.00") && (is_max || !nameless));
}

/* Programs that stand in for a kernel: the name, or "". */
static const char *emulator(const struct target *t, const struct rootfs *root, struct str cpuinfo)
{
	buf_auto version = { 0 };
	struct str vendor;

	/* qemu-user answers uname for the program, but hands out the host's own files. */
	if (target_is_arm(t) && target_field(cpuinfo, "vendor_id", &vendor))
		return "qemu-user";
	/* gVisor has had the same version, of the same day in 2016, ever since. */
	if (rootfs_read(root, "/proc/version", &version) &&
	    strstr(buf_str(&version), "#1 SMP Sun Jan 10 15:06:54 PST 2016"))
		return "gvisor";
	return "";
}

/* Metal instances have the vendor's name as guests do. */
static bool is_metal_product(const struct target *t)
{
	return strstr(t->dmi_product, ".metal") != NULL;
}

static bool has_virtio(const struct rootfs *root)
{
	arena_auto scratch = { 0 };

	return *rootfs_list(root, "/sys/bus/virtio/devices", &scratch) != NULL;
}

static enum target_virt judge(const struct target *t, const struct rootfs *root, struct str cpuinfo)
{
	struct str flags;
	bool named;

	if (!strcmp(t->hypervisor, "xen"))
		return TARGET_VIRT_GUEST; /* its first guest is one too, and counts as little */
	if (target_field(cpuinfo, "flags", &flags))
		return target_has_word(flags, "hypervisor") ? TARGET_VIRT_GUEST : TARGET_VIRT_NONE;
	if (is_metal_product(t))
		return TARGET_VIRT_NONE;
	if (t->hypervisor[0])
		return TARGET_VIRT_GUEST;
	/* Servers have such devices too, on cards: they tell where no maker is named but a cloud. */
	named = t->dmi_vendor[0] || t->dt_model[0];
	if ((!named || cloud_find(t->dmi_vendor, t->dmi_product, t->dmi_asset_tag)) &&
	    has_virtio(root))
		return TARGET_VIRT_GUEST;
	return named ? TARGET_VIRT_NONE : TARGET_VIRT_UNKNOWN;
}

void target_probe_virt(struct target *t, const struct rootfs *root)
{
	const char *name;
	buf_auto text = { 0 };
	struct str cpuinfo;
	bool emulated = true;

	if (!rootfs_read(root, "/proc/cpuinfo", &text))
		buf_clear(&text);
	cpuinfo = (struct str){ buf_str(&text), text.len };
	name = emulator(t, root, cpuinfo);
	if (!*name) {
		name = by_kernel(root);
		if (!*name)
			name = by_dmi(t);
		if (!*name)
			name = by_device_tree(root);
		if (!*name)
			name = by_clock(root);
		emulated = is_tcg(t, cpuinfo, name);
		/* On a Mac, for one, it is QEMU and not KVM that passes things on. */
		if (emulated || is_qemu_without_kvm(t))
			name = "qemu";
	}
	target_copy(t->hypervisor, sizeof(t->hypervisor), str_of(name));
	t->virt = emulated ? TARGET_VIRT_EMULATED : judge(t, root, cpuinfo);
	if (t->virt == TARGET_VIRT_NONE)
		t->hypervisor[0] = 0;
}
