/* SPDX-License-Identifier: Apache-2.0 */
/* Containers by their marks, control groups of both versions, and their share of the CPUs. */
#include <stdio.h>
#include <string.h>

#include "test.h"
#include "tree.h"

static void container(const char *want)
{
	struct target t;

	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_STR(t.container, want);
	target_done(&t);
}

static void group(uint32_t version, const char *path, double cpus)
{
	struct target t;

	tree_answers("");
	tree_probe(&t);
	CHECK_EQ_INT(t.cgroup_version, version);
	CHECK_EQ_STR(t.cgroup, path);
	CHECK_NEAR(t.cgroup_cpus, cpus, 1e-9);
	target_done(&t);
}

TEST(container_marks)
{
	container("");
	/* The daemon itself is in none. */
	tree_put("/proc/self/cgroup", "0::/system.slice/docker.service\n");
	container("");
	tree_put("/proc/self/cgroup", "0::/system.slice/docker-0123.scope\n");
	container("docker");
	tree_put("/proc/self/cgroup", "0::/user.slice\n");
	tree_put("/run/systemd/container", "systemd-nspawn\n");
	container("systemd-nspawn");
	tree_put("/proc/self/cgroup", "4:cpu:/lxc/web1\n");
	container("lxc");
	tree_put("/.dockerenv", "");
	container("docker");
	tree_put("/run/.containerenv", "");
	container("podman");
	tree_put("/proc/self/cgroup", "0::/kubepods.slice/kubepods-pod1.slice\n");
	container("kubernetes");
}

/* An image of a container, booted as a machine. */
TEST(container_mark_on_a_disk)
{
	tree_put("/.dockerenv", "");
	tree_put("/proc/self/mountinfo",
		 "22 27 0:21 / /proc rw - proc proc rw\n"
		 "27 1 254:0 / / rw,relatime shared:1 - ext4 /dev/vda rw\n");
	container("");
	tree_put("/proc/self/mountinfo", "27 1 0:50 / / rw - overlay overlay rw,lowerdir=/dev/x\n"
					 "22 27 254:0 /x /etc/hosts rw - ext4 /dev/vda rw\n");
	container("docker");
}

TEST(container_groups_of_version_2)
{
	group(0, "", 0);
	tree_put("/proc/self/cgroup", "0::/a.slice/b.scope\n");
	group(2, "/a.slice/b.scope", 0);
	tree_put("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "max 100000\n");
	tree_put("/sys/fs/cgroup/a.slice/cpu.max", "350000 100000\n");
	group(2, "/a.slice/b.scope", 3.5);
	tree_put("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "50000 100000\n");
	group(2, "/a.slice/b.scope", 0.5);
	tree_put("/sys/fs/cgroup/a.slice/b.scope/cpu.max", "50000 0\n");
	group(2, "/a.slice/b.scope", 3.5);
	/* Inside a container our own group is the root. */
	tree_put("/proc/self/cgroup", "0::/\n");
	tree_put("/sys/fs/cgroup/cpu.max", "200000 100000\n");
	group(2, "/", 2);
	tree_put("/proc/self/cgroup", "0::/../other\n");
	group(2, "/../other", 2);
}

TEST(container_groups_of_version_1)
{
	tree_put("/proc/self/cgroup", "9:name=systemd:/\n4:memory:/m\n3:cpu,cpuacct:/docker/12\n"
				      "0::/\n");
	group(1, "/docker/12", 0);
	tree_put("/sys/fs/cgroup/cpu/docker/12/cpu.cfs_quota_us", "-1\n");
	tree_put("/sys/fs/cgroup/cpu/docker/12/cpu.cfs_period_us", "100000\n");
	group(1, "/docker/12", 0);
	tree_put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "150000\n");
	tree_put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	group(1, "/docker/12", 1.5);
}

/* Longer than what is kept of it for show. */
TEST(container_groups_with_long_paths)
{
	char line[400] = "0::/", path[400];
	struct target t;

	memset(line + 4, 'p', 200);
	CHECK(snprintf(path, sizeof(path), "/sys/fs/cgroup%.204s/cpu.max", line + 3) > 0);
	tree_put("/proc/self/cgroup", line);
	tree_put(path, "300000 100000\n");
	tree_answers("");
	tree_probe(&t);
	CHECK_NEAR(t.cgroup_cpus, 3, 1e-9);
	CHECK_EQ_INT(strlen(t.cgroup), sizeof(t.cgroup) - 1);
	target_done(&t);
}
