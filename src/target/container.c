/* SPDX-License-Identifier: Apache-2.0 */
/* Looks at a machine: the container and the control group that we are in. */
#include "base/os.h"
#include "target/parts.h"

/*
 * Images of containers are also booted as machines of their own, with Docker's mark in them. There
 * the root is a disk; a container's is a stack of layers.
 */
static bool is_root_a_disk(const struct rootfs *root)
{
	enum { MOUNT_POINT = 4 }; /* id, parent, device, root, mount point */
	buf_auto text = { 0 };
	struct str rest, line, word = { 0 }, source;
	bool is_disk = false;

	if (!rootfs_read(root, "/proc/self/mountinfo", &text))
		return false;
	rest = (struct str){ buf_str(&text), text.len };
	while (str_line(&rest, &line)) {
		for (int i = 0; i <= MOUNT_POINT && str_word(&line, &word); i++)
			;
		if (!str_eq(word, "/"))
			continue;
		/* Behind a lone dash: type, source. */
		while (str_word(&line, &word) && !str_eq(word, "-"))
			;
		is_disk = str_word(&line, &word) && str_word(&line, &source) && source.len > 5 &&
			  !memcmp(source.at, "/dev/", 5);
	}
	return is_disk;
}

static void probe_container(struct target *t, const struct rootfs *root, const char *groups)
{
	static const struct {
		const char *path_has, *name;
	} words[] = { { "/docker/", "docker" },
		      { "/docker-", "docker" },
		      { "/libpod-", "podman" },
		      { "/lxc/", "lxc" },
		      { "/lxc.payload", "lxc" } };
	const char *name = "";

	if (strstr(groups, "kubepods") || rootfs_exists(root, "/run/secrets/kubernetes.io") ||
	    rootfs_exists(root, "/var/run/secrets/kubernetes.io"))
		name = "kubernetes";
	else if (rootfs_exists(root, "/run/.containerenv"))
		name = "podman";
	else if (rootfs_exists(root, "/.dockerenv") && !is_root_a_disk(root))
		name = "docker";
	for (size_t i = 0; i < sizeof(words) / sizeof(*words) && !*name; i++)
		if (strstr(groups, words[i].path_has))
			name = words[i].name;
	target_copy(t->container, sizeof(t->container), str_of(name));
	/* systemd, and those who follow its rules, write down what they are in. */
	if (!t->container[0])
		target_copy_file(t->container, sizeof(t->container), root,
				 "/run/systemd/container");
}

static bool has_cpu(struct str controllers)
{
	struct str word;

	while (str_cut(&controllers, ',', &word))
		if (str_eq(word, "cpu"))
			return true;
	return false;
}

/*
 * Lines "ID:controllers:path"; ID 0 is version 2, any other makes it a machine of version 1. The
 * path of the group that holds our share of the CPUs.
 */
static struct str probe_group(struct target *t, const char *groups)
{
	struct str rest = str_of(groups), line, id, controllers, ours = str_of(""), unified = ours;

	while (str_line(&rest, &line)) {
		if (!str_cut(&line, ':', &id) || !str_cut(&line, ':', &controllers))
			continue;
		if (str_eq(id, "0")) {
			unified = line;
			t->cgroup_version = t->cgroup_version ? t->cgroup_version : 2;
		} else {
			t->cgroup_version = 1;
			if (has_cpu(controllers))
				ours = line;
		}
	}
	if (t->cgroup_version == 2)
		ours = unified;
	target_copy(t->cgroup, sizeof(t->cgroup), ours);
	return ours;
}

/* "max 100000" or "150000 100000": version 2. */
static double quota_of_v2(const struct rootfs *root, const char *dir)
{
	char_auto path = mem_printf("/sys/fs/cgroup%s/cpu.max", dir);
	buf_auto text = { 0 };
	struct str rest, quota, period;
	uint64_t q, p;

	if (!rootfs_read(root, path, &text))
		return 0;
	rest = (struct str){ buf_str(&text), text.len };
	if (!str_word(&rest, &quota) || !str_word(&rest, &period) || !str_u64(quota, &q) ||
	    !str_u64(period, &p) || !p)
		return 0;
	return (double)q / (double)p;
}

static double quota_of_v1(const struct rootfs *root, const char *dir)
{
	char_auto quota = mem_printf("/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", dir);
	char_auto period = mem_printf("/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", dir);
	long long q = rootfs_number(root, quota, -1), p = rootfs_number(root, period, 0);

	return q > 0 && p > 0 ? (double)q / (double)p : 0;
}

/* The tightest of our own group and those above it. */
static double quota(struct str path, uint32_t version, const struct rootfs *root)
{
	char_auto dir = mem_printf("%.*s", (int)path.len, path.at);
	double least = 0;

	/* Outside our own view of the tree paths begin with "/..": there is nothing to read then. */
	if (strstr(dir, "/..") || !strcmp(dir, "/"))
		dir[0] = 0;
	for (;;) {
		double q = version == 2 ? quota_of_v2(root, dir) : quota_of_v1(root, dir);
		char *slash = strrchr(dir, '/');

		if (q > 0 && (least <= 0 || q < least))
			least = q;
		if (!slash)
			return least;
		*slash = 0;
	}
}

void target_probe_container(struct target *t, const struct rootfs *root)
{
	buf_auto groups = { 0 };
	struct str path;

	if (!rootfs_read(root, "/proc/self/cgroup", &groups))
		buf_clear(&groups);
	probe_container(t, root, buf_str(&groups));
	path = probe_group(t, buf_str(&groups));
	if (t->cgroup_version && path.len < 4096)
		t->cgroup_cpus = quota(path, t->cgroup_version, root);
}
