/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: who it is and who made it. */
#include "base/cursor.h"
#include "base/os.h"
#include "target/parts.h"

#include <stdio.h>
#include <sys/utsname.h>

void target_copy(char *to, size_t room, struct str from)
{
	size_t n = from.len < room ? from.len : room - 1;

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

static void copy_file(char *to, size_t room, const struct rootfs *root, const char *path)
{
	buf_auto text = { 0 };

	if (rootfs_read(root, path, &text))
		target_copy(to, room, (struct str){ buf_str(&text), text.len });
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
	copy_file(t->hostname, sizeof(t->hostname), root, "/proc/sys/kernel/hostname");
	copy_file(t->kernel, sizeof(t->kernel), root, "/proc/sys/kernel/osrelease");
	copy_file(t->arch, sizeof(t->arch), root, "/proc/sys/kernel/arch");
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
		if (!str_cut(&line, '=', &key) || !str_eq(key, "PRETTY_NAME"))
			continue;
		line = str_trim(line);
		if (line.len >= 2 && (line.at[0] == '"' || line.at[0] == '\'') &&
		    line.at[line.len - 1] == line.at[0])
			line = (struct str){ line.at + 1, line.len - 2 };
		target_copy(t->os, sizeof(t->os), line);
	}
}

/* NT_GNU_BUILD_ID among the ELF notes of the running kernel. */
static void probe_kernel_build_id(struct target *t, const struct rootfs *root)
{
	static const char path[] = "/sys/kernel/notes";
	fd_auto fd = rootfs_open(root, path);
	buf_auto bytes = { 0 };
	struct cursor c;
	struct err err;

	if (fd < 0 || !os_read_fd(fd, path, 1 << 20, &bytes, &err))
		return;
	c = cursor_of(path, bytes.at, bytes.len);
	while (!c.failed && cursor_left(&c)) {
		uint32_t name_len = cursor_u32(&c), len = cursor_u32(&c), type = cursor_u32(&c);
		const uint8_t *name = cursor_bytes(&c, ((uint64_t)name_len + 3) & ~3ull);
		const uint8_t *id = cursor_bytes(&c, ((uint64_t)len + 3) & ~3ull);

		if (!name || !id || type != 3 || name_len != 4 || memcmp(name, "GNU", 4) ||
		    len * 2 >= sizeof(t->kernel_build_id))
			continue;
		for (uint32_t i = 0; i < len; i++)
			snprintf(t->kernel_build_id + 2 * i, 3, "%02x", id[i]);
		return;
	}
}

/* "Amazon EC2 m7g.metal": the vendor and the product as the firmware names them. */
static void probe_cloud(struct target *t, const struct rootfs *root)
{
	char vendor[64] = "", product[64] = "";

	copy_file(vendor, sizeof(vendor), root, "/sys/class/dmi/id/sys_vendor");
	copy_file(product, sizeof(product), root, "/sys/class/dmi/id/product_name");
	snprintf(t->cloud, sizeof(t->cloud), "%.31s%s%.31s", vendor,
		 vendor[0] && product[0] ? " " : "", product);
}

void target_probe_system(struct target *t, const struct rootfs *root)
{
	probe_names(t, root);
	probe_os(t, root);
	copy_file(t->boot_id, sizeof(t->boot_id), root, "/proc/sys/kernel/random/boot_id");
	probe_kernel_build_id(t, root);
	probe_cloud(t, root);
}

void target_probe(struct target *t, const struct rootfs *root, target_open_fn *open, void *ctx)
{
	*t = (struct target){ 0 };
	target_probe_system(t, root);
	target_probe_hardware(t, root);
	target_probe_limits(t, root);
	target_probe_events(t, root, open ? open : target_open_real, ctx);
}

void target_done(struct target *t)
{
	vec_done(&t->pmus);
	arena_done(&t->arena);
}
