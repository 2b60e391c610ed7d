/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: who it is, who made it, and all the rest in turn. */
#include "base/cursor.h"
#include "base/os.h"
#include "target/parts.h"

#include <stdio.h>
#include <sys/utsname.h>

void target_copy(char *to, size_t room, struct str from)
{
	size_t n = strnlen(from.at, from.len < room ? from.len : room - 1);

	memcpy(to, from.at, n);
	to[n] = 0;
}

bool target_field(struct str text, const char *key, struct str *value)
{
	struct str line, name;

	while (str_line(&text, &line)) {
		if (!str_cut(&line, ':', &name) || !str_eq(str_trim(name), key))
			continue;
		*value = str_trim(line);
		return true;
	}
	return false;
}

void target_copy_file(char *to, size_t room, const struct rootfs *root, const char *path)
{
	buf_auto text = { 0 };

	*to = 0;
	if (rootfs_read(root, path, &text))
		target_copy(to, room, (struct str){ buf_str(&text), text.len });
}

bool target_read_bytes(const struct rootfs *root, const char *path, struct buf *out)
{
	enum { MOST_BYTES = 16 << 20 };
	fd_auto fd = rootfs_open(root, path);
	struct err err;

	return fd >= 0 && os_read_fd(fd, path, MOST_BYTES, out, &err);
}

bool target_has_word(struct str text, const char *word)
{
	struct str part;

	while (str_word(&text, &part))
		if (str_eq(part, word))
			return true;
	return false;
}

static void probe_names(struct target *t, const struct rootfs *root)
{
	struct utsname u;

	if (!root->root[0] && !uname(&u)) {
		target_copy(t->hostname, sizeof(t->hostname), str_of(u.nodename));
		target_copy(t->arch, sizeof(t->arch), str_of(u.machine));
		target_copy(t->kernel, sizeof(t->kernel), str_of(u.release));
		return;
	}
	target_copy_file(t->hostname, sizeof(t->hostname), root, "/proc/sys/kernel/hostname");
	target_copy_file(t->kernel, sizeof(t->kernel), root, "/proc/sys/kernel/osrelease");
	target_copy_file(t->arch, sizeof(t->arch), root, "/proc/sys/kernel/arch");
}

static struct str unquoted(struct str s)
{
	s = str_trim(s);
	if (s.len >= 2 && (s.at[0] == '"' || s.at[0] == '\'') && s.at[s.len - 1] == s.at[0])
		s = (struct str){ s.at + 1, s.len - 2 };
	return s;
}

static void probe_os(struct target *t, const struct rootfs *root)
{
	buf_auto text = { 0 };
	struct str rest, line, key;

	if (!rootfs_read(root, "/etc/os-release", &text) &&
	    !rootfs_read(root, "/usr/lib/os-release", &text))
		return;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		if (!str_cut(&line, '=', &key))
			continue;
		line = unquoted(line);
		if (str_eq(key, "PRETTY_NAME"))
			target_copy(t->os, sizeof(t->os), line);
		else if (str_eq(key, "ID"))
			target_copy(t->os_id, sizeof(t->os_id), line);
		else if (str_eq(key, "VERSION_ID"))
			target_copy(t->os_version, sizeof(t->os_version), line);
	}
}

/* NT_GNU_BUILD_ID among the ELF notes of the running kernel. */
static void probe_kernel_build_id(struct target *t, const struct rootfs *root)
{
	static const char path[] = "/sys/kernel/notes";
	buf_auto bytes = { 0 };
	struct cursor c;

	if (!target_read_bytes(root, path, &bytes))
		return;
	c = cursor_of(path, bytes.at, bytes.len);
	while (!c.failed && cursor_left(&c)) {
		uint32_t name_len = cursor_u32(&c), len = cursor_u32(&c), type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, ((uint64_t)name_len + 3) & ~3ull);
		const uint8_t *id = cursor_bytes(&c, ((uint64_t)len + 3) & ~3ull);

		if (!name || !id || type != 3 || name_len != 4 || memcmp(name, "GNU", 4) != 0 ||
		    (uint64_t)len * 2 >= sizeof(t->kernel_build_id))
			continue;
		for (uint32_t i = 0; i < len; i++)
			snprintf(t->kernel_build_id + 2 * i, 3, "%02x", id[i]);
		return;
	}
}

/* Who made the machine, as the firmware names it: SMBIOS, and the device tree. */
static void probe_firmware(struct target *t, const struct rootfs *root)
{
	static const char dmi[] = "/sys/class/dmi/id/";
	struct {
		const char *file;
		char *to;
	} const texts[] = { { "sys_vendor", t->dmi_vendor },
			    { "product_name", t->dmi_product },
			    { "chassis_asset_tag", t->dmi_asset_tag } };

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		char_auto path = mem_printf("%s%s", dmi, texts[i].file);

		target_copy_file(texts[i].to, sizeof(t->dmi_vendor), root, path);
	}
	snprintf(t->cloud, sizeof(t->cloud), "%.31s%s%.31s", t->dmi_vendor,
		 t->dmi_vendor[0] && t->dmi_product[0] ? " " : "", t->dmi_product);
	t->is_acpi = rootfs_exists(root, "/sys/firmware/acpi/tables");
	target_copy_file(t->dt_model, sizeof(t->dt_model), root,
			 "/sys/firmware/devicetree/base/model");
	if (!t->dt_model[0])
		target_copy_file(t->dt_model, sizeof(t->dt_model), root, "/proc/device-tree/model");
}

void target_probe_system(struct target *t, const struct rootfs *root)
{
	probe_names(t, root);
	probe_os(t, root);
	target_copy_file(t->boot_id, sizeof(t->boot_id), root, "/proc/sys/kernel/random/boot_id");
	probe_kernel_build_id(t, root);
	probe_firmware(t, root);
}

void target_probe(struct target *t, const struct rootfs *root, const struct target_perf *perf)
{
	if (!perf)
		perf = &target_perf_real;
	*t = (struct target){ .page_bytes = perf->page_bytes };
	target_probe_system(t, root);
	target_probe_hardware(t, root);
	target_probe_virt(t, root);
	target_probe_container(t, root);
	target_probe_pmus(t, root);
	target_probe_limits(t, root);
	target_probe_drivers(t, root);
	target_probe_trials(t, root, perf);
	target_probe_counters(t, root, perf);
}

void target_done(struct target *t)
{
	vec_done(&t->cores);
	vec_done(&t->pmus);
	arena_done(&t->arena);
}
