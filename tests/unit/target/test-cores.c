/* SPDX-License-Identifier: Apache-2.0 */
/* What data/ says comes out of the look-ups: the right row, the right numbers, or nothing. */
#include <string.h>

#include "base/os.h"
#include "target/cores.h"
#include "test.h"

static const struct core_info *core(uint64_t midr)
{
	const struct core_info *c = core_find(midr);

	CHECK_MSG(c, "no core for MIDR 0x%08llx", (unsigned long long)midr);
	return c;
}

/* Each part that is known of, with what its makers say of it; the rest of MIDR is as seen. */
TEST(cores_numbers)
{
	static const char words[] = { [CORE_UNKNOWN] = '?', [CORE_NO] = 'n', [CORE_YES] = 'y' };
	static const struct {
		uint64_t midr;
		const char *name, *key, *arch;
		int32_t counters, slots, sve;
		char spe, brbe; /* y, n or ? */
		const char *spe_version;
	} all[] = {
		{ 0x410fd083, "Cortex-A72", "cortex-a72", "armv8.0-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x414fd0b1, "Cortex-A76", "neoverse-n1", "armv8.2-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x413fd0c1, "Neoverse N1", "neoverse-n1", "armv8.2-a", 6, 0, 0, 'y', 'n',
		  "v1p0" },
		{ 0x411fd401, "Neoverse V1", "neoverse-v1", "armv8.4-a", 6, 8, 256, 'y', 'n',
		  "v1p1" },
		{ 0x410fd490, "Neoverse N2", "neoverse-n2", "armv9.0-a", 6, 5, 128, 'y', 'n',
		  "v1p1" },
		{ 0x6d0fd490, "Neoverse N2", "neoverse-n2", "armv9.0-a", 6, 5, 128, 'y', 'n',
		  "v1p1" },
		{ 0x410fd4f1, "Neoverse V2", "neoverse-v2", "armv9.0-a", 6, 8, 128, 'y', 'n',
		  "v1p1" },
		{ 0x410fd4f0, "Neoverse V2", "neoverse-v2", "armv9.0-a", 6, 8, 128, 'y', 'n',
		  "v1p1" },
		{ 0x410fd8e0, "Neoverse N3", "neoverse-n3", "armv9.2-a", 6, 5, 128, 'y', 'n',
		  "v1p2" },
		{ 0x410fd840, "Neoverse V3", "neoverse-v3", "armv9.2-a", 6, 10, 128, 'y', 'y',
		  "v1p2" },
		{ 0x410fd830, "Neoverse V3AE", "neoverse-v3", "armv9.2-a", 6, 10, 128, 'y', 'y',
		  "v1p2" },
		{ 0xc00fac30, "AmpereOne", "ampereone", "armv8.6-a", -1, -1, 0, 'y', 'n', "" },
		{ 0xc00fac40, "AmpereOne X", "ampereonex", "armv8.6-a", -1, -1, 0, 'y', 'y', "" },
		{ 0x481fd010, "TSV110", "tsv110", "armv8.2-a", 12, 4, 0, 'y', 'n', "" },
		{ 0x480fd020, "HIP09", "", "", 8, -1, -1, 'y', '?', "" },
		{ 0x480fd030, "HIPC", "", "", 8, -1, -1, '?', '?', "" },
		{ 0x480fd220, "HIPF", "", "", 8, -1, -1, '?', '?', "" },
		{ 0x480fd450, "HIPE", "", "", 8, -1, -1, '?', '?', "" },
		{ 0x480fd060, "HIP12", "", "", 6, -1, -1, 'y', '?', "" },
		{ 0x4e0f0100, "Olympus", "", "armv9.2-a", -1, -1, -1, 'y', 'y', "" },
		{ 0x461f0010, "A64FX", "", "armv8.2-a", 8, 0, 512, 'n', 'n', "" },
		{ 0x460f0030, "MONAKA", "", "", -1, -1, -1, '?', '?', "" },
		{ 0x431f0af1, "ThunderX2", "", "armv8.1-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x420f5160, "ThunderX2", "", "armv8.1-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x503f0002, "X-Gene", "", "armv8.0-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x700f8620, "FTC862", "", "", -1, -1, -1, '?', '?', "" },
		{ 0x410fd034, "Cortex-A53", "", "armv8.0-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x412fd050, "Cortex-A55", "", "armv8.2-a", 6, 0, 0, 'n', 'n', "" },
		{ 0x611f0230, "Firestorm (M1)", "", "armv8.4-a", 8, 0, 0, 'n', 'n', "" },
		{ 0x000f0510, "QEMU max (emulated)", "", "", 6, 0, -1, 'n', 'n', "" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct core_info *c = core(all[i].midr);

		CHECK_EQ_STR(c->name, all[i].name);
		CHECK_EQ_STR(c->key, all[i].key);
		CHECK_EQ_STR(c->arch, all[i].arch);
		CHECK_MSG(c->counters == all[i].counters && c->slots == all[i].slots &&
				  c->sve_bits == all[i].sve && words[c->spe] == all[i].spe &&
				  words[c->brbe] == all[i].brbe,
			  "%s: %d counters, %d slots, %d bits of SVE, spe %c, brbe %c", c->name,
			  c->counters, c->slots, c->sve_bits, words[c->spe], words[c->brbe]);
		CHECK_EQ_STR(c->spe_version, all[i].spe_version);
	}
}

TEST(cores_products)
{
	CHECK_HAS(core(0x410fd083)->products, "Graviton1");
	CHECK_HAS(core(0x410fd083)->products, "Raspberry Pi 4");
	CHECK_HAS(core(0x414fd0b1)->products, "Raspberry Pi 5");
	CHECK_HAS(core(0x413fd0c1)->products, "Ampere Altra");
	CHECK_HAS(core(0x6d0fd490)->products, "Azure Cobalt 100");
	CHECK_HAS(core(0x410fd490)->products, "Yitian 710");
	CHECK_HAS(core(0x410fd4f1)->products, "Graviton4");
	CHECK_HAS(core(0x410fd4f1)->products, "Axion C4A");
	CHECK_HAS(core(0x410fd4f0)->products, "Grace");
	CHECK(!strstr(core(0x410fd4f0)->products, "Graviton"));
}

/* A row for some revisions wins over the one for all. */
TEST(cores_revisions)
{
	for (uint64_t p = 0; p <= 2; p++) {
		CHECK_HAS(core(0x410fd490 + p)->note, "STALL_SLOT");
		CHECK_HAS(core(0x6d0fd490 + p)->note, "STALL_SLOT");
	}
	CHECK_EQ_STR(core(0x410fd493)->note, "");
	CHECK_EQ_STR(core(0x6d0fd493)->note, "");
	CHECK_EQ_STR(core(0x411fd490)->note, "");
	CHECK_HAS(core(0x410fd4f0)->note, "2446525");
	CHECK_EQ_STR(core(0x410fd4f1)->note, "");
	CHECK_HAS(core(0x413fd0c1)->note, "1694299");
	CHECK_HAS(core(0x414fd0c0)->note, "1694299");
	CHECK_EQ_STR(core(0x414fd0c1)->note, "");
}

TEST(cores_unknown)
{
	CHECK(!core_find(0));
	CHECK(!core_find(0x410fdff0));
	CHECK(!core_find(0x420fd4f0)); /* the part of another implementer */
	CHECK(!core_find(0x4100d4f));
}

static void x86(const char *cpuid, const char *name, int32_t counters, enum core_fact lbr)
{
	const struct x86_info *x = x86_find(cpuid);

	CHECK_MSG(!x || x->brs == !strcmp(name, "Zen 3"), "%s: BRS", cpuid);
	CHECK_MSG(x, "nothing for %s", cpuid);
	CHECK_EQ_STR(x->name, name);
	CHECK_EQ_INT(x->counters, counters);
	CHECK_EQ_INT(x->lbr, lbr);
}

TEST(cores_x86)
{
	x86("GenuineIntel-6-3F-2", "Haswell-EP", 4, CORE_YES);
	x86("GenuineIntel-6-55-4", "Skylake-SP", 4, CORE_YES);
	x86("GenuineIntel-6-55-7", "Cascade Lake", 4, CORE_YES);
	x86("GenuineIntel-6-55-B", "Cooper Lake", 4, CORE_YES);
	x86("GenuineIntel-6-6A-6", "Ice Lake-SP", 8, CORE_YES);
	x86("GenuineIntel-6-8F-8", "Sapphire Rapids", 8, CORE_YES);
	x86("GenuineIntel-6-CF-2", "Emerald Rapids", 8, CORE_YES);
	x86("GenuineIntel-6-AD-1", "Granite Rapids", 8, CORE_YES);
	x86("GenuineIntel-6-97-2", "Alder Lake", -1, CORE_YES);
	x86("GenuineIntel-6-BE-0", "Gracemont", 6, CORE_YES);
	x86("AuthenticAMD-23-1-2", "Zen or Zen+", 6, CORE_NO);
	x86("AuthenticAMD-23-31-0", "Zen 2", 6, CORE_NO);
	x86("AuthenticAMD-25-1-1", "Zen 3", 6, CORE_NO);
	x86("AuthenticAMD-25-11-1", "Zen 4", 6, CORE_YES);
	x86("AuthenticAMD-25-61-2", "Zen 4", 6, CORE_YES);
	x86("AuthenticAMD-26-2-1", "Zen 5", 6, CORE_YES);
	x86("AuthenticAMD-26-44-0", "Zen 5", 6, CORE_YES);
	CHECK(!x86_find("GenuineIntel-6-FF-1"));
	CHECK(!x86_find("GenuineIntel-6-55-8")); /* a stepping between two products */
	CHECK(!x86_find("AuthenticAMD-25-B0-1"));
	CHECK(!x86_find("AuthenticAMD-6-8F-8"));
	CHECK(!x86_find("0x00000000410fd4f1"));
	CHECK(!x86_find("GenuineIntel-6-8F"));
	CHECK(!x86_find(""));
}

static void cloud(const char *vendor, const char *product, const char *board, const char *key,
		  const char *name)
{
	const struct cloud_info *c = cloud_find(vendor, product, board);

	CHECK_MSG(c, "no cloud for %s / %s / %s", vendor, product, board);
	CHECK_EQ_STR(c->key, key);
	CHECK_EQ_STR(c->name, name);
}

TEST(cores_clouds)
{
	cloud("Amazon EC2", "c8g.xlarge", "Amazon EC2", "aws", "Amazon Web Services");
	cloud("Amazon EC2", "c8g.metal-24xl", "i-0a1b2c3d4e5f60718", "aws", "Amazon Web Services");
	cloud("Google", "Google Compute Engine", "", "gcp", "Google Cloud");
	cloud("Microsoft Corporation", "Virtual Machine", "7783-7084-3265-9085-8269-3286-77",
	      "azure", "Microsoft Azure");
	cloud("QEMU", "KVM Virtual Machine", "OracleCloud.com", "oci",
	      "Oracle Cloud Infrastructure");
	cloud("Oracle Corporation", "", "OracleCloud.com", "oci", "Oracle Cloud Infrastructure");
	cloud("Alibaba Cloud", "Alibaba Cloud ECS", "", "alibaba", "Alibaba Cloud");
	cloud("Hetzner", "vServer", "", "hetzner", "Hetzner Cloud");
	CHECK(!cloud_find("QEMU", "KVM Virtual Machine", ""));
	CHECK(!cloud_find("Google", "Pixelbook", ""));
	CHECK(!cloud_find("Microsoft Corporation", "Surface Pro", ""));
	/* Hyper-V on somebody's own server: only Azure has the tag. */
	CHECK(!cloud_find("Microsoft Corporation", "Virtual Machine", ""));
	CHECK(cloud_find("Amazon EC2", "c8g.xlarge", "")->product_is_type);
	CHECK(!cloud_find("Alibaba Cloud", "Alibaba Cloud ECS", "")->product_is_type);
	CHECK(!cloud_find("", "", ""));
}

static const struct instance_info *instance(const char *where, const char *product, uint64_t midr)
{
	const struct instance_info *i = instance_find(where, product, midr);

	CHECK_MSG(i, "no instance %s %s 0x%llx", where, product, (unsigned long long)midr);
	return i;
}

TEST(cores_instances_by_name)
{
	static const struct {
		const char *product, *core;
		bool metal;
	} aws[] = {
		{ "a1.metal", "Cortex-A72 (AWS Graviton1)", true },
		{ "t4g.micro", "Neoverse N1 (AWS Graviton2)", false },
		{ "c6gn.16xlarge", "Neoverse N1 (AWS Graviton2)", false },
		{ "c6g.metal", "Neoverse N1 (AWS Graviton2)", true },
		{ "x2gd.xlarge", "Neoverse N1 (AWS Graviton2)", false },
		{ "m7gd.metal", "Neoverse V1 (AWS Graviton3)", true },
		{ "c7gn.large", "Neoverse V1 (AWS Graviton3)", false },
		{ "hpc7g.16xlarge", "Neoverse V1 (AWS Graviton3E)", false },
		{ "c8g.xlarge", "Neoverse V2 (AWS Graviton4)", false },
		{ "r8gb.metal-48xl", "Neoverse V2 (AWS Graviton4)", true },
		{ "m9g.24xlarge", "Neoverse V3 (AWS Graviton5)", false },
		{ "p6e-gb200.36xlarge", "Neoverse V2 (NVIDIA Grace)", false },
		{ "c5n.metal", "", true },
		{ "m6idn.32xlarge", "Ice Lake-SP", false },
		{ "m7i-flex.large", "Sapphire Rapids", false },
		{ "m7i.metal-24xl", "Sapphire Rapids", true },
		{ "r8i.large", "Granite Rapids", false },
		{ "c6a.metal", "Zen 3", true },
		{ "m7a.large", "Zen 4", false },
		{ "c8a.48xlarge", "Zen 5", false },
	};

	for (size_t k = 0; k < sizeof(aws) / sizeof(*aws); k++) {
		const struct instance_info *i = instance("aws", aws[k].product, 0);

		CHECK_EQ_STR(i->core, aws[k].core);
		CHECK_MSG(instance_is_metal(i, aws[k].product) == aws[k].metal, "%s",
			  aws[k].product);
	}
	CHECK(!instance_find("aws", "c5a.large", 0)); /* not the core of the other c5 */
	CHECK(!instance_find("aws", "u-6tb1.metal", 0));
	CHECK(!instance_find("aws", "", 0x410fd4f1));
	CHECK(!instance_find("nobody", "c8g.xlarge", 0));
}

static void text_of(const char *text, const char *product, const char *expect)
{
	buf_auto out = { 0 };

	instance_put_text(&out, text, product);
	CHECK_EQ_STR(buf_str(&out), expect);
}

/* What a user can type, which the row says for all its families at once. */
TEST(cores_instances_sizes)
{
	text_of("", "c8g.large", "");
	text_of("a1.metal", "a1.large", "a1.metal");
	text_of("{family}.metal-24xl or {family}.metal-48xl", "x8g.large",
		"x8g.metal-24xl or x8g.metal-48xl");
	text_of("a metal size of {family}", "m9gd.12xlarge", "a metal size of m9gd");
	text_of("{family}", "nodot", "nodot");
	text_of(instance("aws", "c6g.large", 0)->spe, "c6g.large", "c6g.metal");
	text_of(instance("aws", "c7gn.large", 0)->spe, "c7gn.large", "c7gn.metal");
	text_of(instance("aws", "r8gd.large", 0)->spe, "r8gd.large",
		"r8gd.metal-24xl or r8gd.metal-48xl");
	/* Whose metal sizes are not sure is not given one that may not exist. */
	text_of(instance("aws", "r8gb.large", 0)->spe, "r8gb.large",
		"a metal size of this generation, such as c8g.metal-24xl");
	text_of(instance("aws", "c6gn.large", 0)->full_pmu, "c6gn.large", "c6gn.16xlarge");
	text_of(instance("aws", "m7a.large", 0)->full_pmu, "m7a.large",
		"m7a.24xlarge, m7a.48xlarge or m7a.metal-48xl");
}

/* The rows can be walked: each core once at least, and an end. */
TEST(cores_rows)
{
	size_t n = 0, with_brbe = 0;
	const struct core_info *c;

	for (; (c = core_row_at(n)); n++)
		with_brbe += c->brbe == CORE_YES;
	CHECK(n > 40);
	CHECK_EQ_U64(with_brbe, 4);
}

TEST(cores_instances_what_helps)
{
	const struct instance_info *g4 = instance("aws", "c8g.xlarge", 0x410fd4f1);
	const struct instance_info *g5 = instance("aws", "m9g.large", 0x410fd840);
	const struct instance_info *t4g = instance("aws", "t4g.large", 0x413fd0c1);
	const struct instance_info *m6i = instance("aws", "m6i.large", 0);

	CHECK_EQ_STR(g4->full_pmu, "{family}.24xlarge, {family}.48xlarge, {family}.metal-24xl or "
				   "{family}.metal-48xl");
	CHECK_EQ_STR(g4->any_pmu, "");
	CHECK_EQ_STR(g4->spe, "{family}.metal-24xl or {family}.metal-48xl");
	CHECK_EQ_STR(g4->cmn, g4->spe);
	CHECK_HAS(g5->full_pmu, "{family}.12xlarge, {family}.24xlarge, {family}.48xlarge");
	CHECK_EQ_STR(g5->cmn, "");
	/* There is no metal t4g. */
	CHECK_EQ_STR(t4g->spe, "m6g.metal, c6g.metal or r6g.metal");
	CHECK_HAS(m6i->any_pmu, "{family}.16xlarge, {family}.32xlarge");
	CHECK_EQ_STR(m6i->spe, "");
}

/* Where all products have one name, the core tells the families apart. */
TEST(cores_instances_by_core)
{
	static const char gce[] = "Google Compute Engine";
	const struct instance_info *c4a = instance("gcp", gce, 0x410fd4f1);

	CHECK_EQ_STR(c4a->core, "Neoverse V2 (Google Axion C4A)");
	CHECK_HAS(c4a->any_pmu, "--performance-monitoring-unit=standard");
	CHECK_HAS(c4a->any_pmu, "update-from-file");
	CHECK_EQ_STR(c4a->spe, "");
	CHECK_EQ_STR(instance("gcp", gce, 0x413fd0c1)->core,
		     "Neoverse N1 (Google T2A, Ampere Altra)");
	CHECK_HAS(instance("gcp", gce, 0x410fd8e0)->any_pmu, "a C4A VM");
	CHECK_EQ_STR(instance("gcp", gce, 0)->core, "");
	CHECK_HAS(instance("gcp", gce, 0)->any_pmu, "a C4 VM");
	CHECK(!instance_find("gcp", gce, 0x411fd401));
	CHECK_EQ_STR(instance("azure", "Virtual Machine", 0x6d0fd490)->core,
		     "Neoverse N2 (Azure Cobalt 100)");
	CHECK_EQ_STR(instance("azure", "Virtual Machine", 0x413fd0c1)->core,
		     "Neoverse N1 (Ampere Altra)");
	CHECK(!instance_find("azure", "Virtual Machine", 0));
	CHECK_EQ_STR(instance("oci", "KVM Virtual Machine", 0xc00fac41)->core,
		     "AmpereOne X (OCI A4, AmpereOne M)");
	CHECK_HAS(instance("oci", "KVM Virtual Machine", 0x413fd0c1)->spe, "BM.Standard.A1.160");
	CHECK_EQ_STR(instance("alibaba", "Alibaba Cloud ECS", 0x410fd490)->core,
		     "Neoverse N2 (Alibaba Yitian 710)");
}

static struct driver_info driver_at(const char *name, const char *cloud, const char *os,
				    const char *version, const char *key)
{
	struct driver_info d;

	CHECK_MSG(driver_find(&d, &(struct driver_place){ name, cloud, os, version, key }),
		  "no row for %s on %s %s %s, %s", name, cloud, os, version, key);
	return d;
}

static void driver(const char *name, const char *cloud, const char *os, const char *version,
		   const char *key, const char *kernel, const char *install)
{
	struct driver_info d = driver_at(name, cloud, os, version, key);

	CHECK_EQ_STR(d.min_kernel, kernel);
	CHECK_EQ_STR(d.install, install);
	/* Of the machine, whatever the system says. */
	CHECK_EQ_STR(d.boot, strcmp(name, "arm_spe_pmu") ? "" : "kpti=off");
}

TEST(cores_drivers)
{
	static const char extra[] = "sudo apt install linux-modules-extra-$(uname -r)";
	struct driver_info d;

	driver("arm_spe_pmu", "aws", "ubuntu", "24.04", "neoverse-v2", "6.17.0", extra);
	driver("arm_spe_pmu", "aws", "ubuntu", "22.04", "neoverse-v1", "6.2", extra);
	driver("arm_spe_pmu", "aws", "ubuntu", "20.04", "", "5.15", extra);
	driver("arm_spe_pmu", "aws", "ubuntu", "26.04", "neoverse-v3", "7.0.0", extra);
	driver("arm_spe_pmu", "aws", "amzn", "2", "neoverse-v1", "5.10", "");
	driver("arm_spe_pmu", "aws", "amzn", "2023", "neoverse-n1", "6.1.2", "");
	driver("arm_spe_pmu", "", "debian", "12", "neoverse-v2", "6.1", "");
	/* The kernels of Ubuntu are others elsewhere. */
	driver("arm_spe_pmu", "", "ubuntu", "24.04", "neoverse-n1", "4.16", extra);
	driver("arm_cmn", "oci", "ubuntu", "24.04", "neoverse-n1", "5.10", extra);
	/* A system or version that is not known: what holds everywhere. */
	driver("arm_spe_pmu", "", "debian", "99", "neoverse-v2", "4.16", "");
	driver("arm_spe_pmu", "", "", "", "tsv110", "4.16", "");
	driver("arm_cmn", "", "sles", "15.6", "neoverse-v1", "5.19", "");
	driver("arm_cmn", "", "", "", "", "5.10", "");
	/* The later of what the system and the core want. */
	driver("arm_cmn", "aws", "ubuntu", "20.04", "neoverse-n1", "5.15", extra);
	driver("arm_cmn", "aws", "ubuntu", "20.04", "neoverse-v1", "5.19", extra);
	driver("arm_cmn", "aws", "ubuntu", "22.04", "neoverse-v2", "6.8", extra);
	driver("arm_cmn", "aws", "ubuntu", "24.04", "neoverse-n1", "6.17", extra);
	driver("arm_cmn", "aws", "amzn", "2023", "neoverse-n1", "6.1", "");
	driver("arm_cmn", "aws", "amzn", "2023", "neoverse-v2", "6.12", "");
	CHECK(!driver_find(&d, &(struct driver_place){ "arm_dsu", "", "ubuntu", "24.04", "" }));
	CHECK_EQ_STR(d.boot, "");
}

static void nowhere(const char *cloud, const char *os, const char *version, const char *key,
		    const char *instead)
{
	struct driver_info d = driver_at("arm_cmn", cloud, os, version, key);

	CHECK(driver_is_nowhere(&d));
	CHECK_EQ_STR(d.instead, instead);
}

TEST(cores_drivers_that_no_kernel_has)
{
	struct driver_info d = driver_at("arm_cmn", "aws", "amzn", "2023", "neoverse-v1");

	nowhere("aws", "amzn", "2", "neoverse-n1", "Amazon Linux 2023");
	nowhere("aws", "amzn", "2", "neoverse-v2", "Amazon Linux 2023 with its kernel 6.12");
	nowhere("aws", "ubuntu", "20.04", "neoverse-v2",
		"Ubuntu 22.04 or later with Linux 6.8 or later");
	nowhere("aws", "amzn", "2023", "neoverse-v3", "");
	nowhere("aws", "ubuntu", "26.04", "neoverse-v3", "");
	CHECK(!driver_is_nowhere(&d));
	CHECK_EQ_STR(driver_at("arm_cmn", "", "", "", "neoverse-v3").min_kernel, "6.12");
}

/* A command where one is sure to bring such a kernel, none elsewhere. */
TEST(cores_kernel_updates)
{
	CHECK_EQ_STR(driver_at("arm_spe_pmu", "aws", "ubuntu", "24.04", "neoverse-v2").update,
		     "sudo apt install linux-aws");
	CHECK_HAS(driver_at("arm_cmn", "aws", "amzn", "2023", "neoverse-v2").update,
		  "sudo dnf install kernel6.12");
	CHECK_EQ_STR(driver_at("arm_cmn", "aws", "ubuntu", "20.04", "neoverse-n1").update,
		     "sudo apt install linux-aws");
	CHECK_EQ_STR(driver_at("arm_cmn", "aws", "ubuntu", "20.04", "neoverse-v1").update, "");
	CHECK_EQ_STR(driver_at("arm_cmn", "", "ubuntu", "20.04", "neoverse-v1").update, "");
}

TEST(cores_kernels)
{
	CHECK_EQ_INT(kernel_compare("6.8.0-1021-aws", "6.17"), -1);
	CHECK_EQ_INT(kernel_compare("6.17.0", "6.17"), 0);
	CHECK_EQ_INT(kernel_compare("6.17.0-1003-aws", "6.17.0"), 0);
	CHECK_EQ_INT(kernel_compare("5.10.0-33-arm64", "5.10"), 0);
	CHECK_EQ_INT(kernel_compare("5.10.0-33-arm64", "5.9.99"), 1);
	CHECK_EQ_INT(kernel_compare("6.1.166-197.305.amzn2023.aarch64", "6.1.2"), 1);
	CHECK_EQ_INT(kernel_compare("6.1.2-1.amzn2023", "6.1.2"), 0);
	CHECK_EQ_INT(kernel_compare("6.1.1", "6.1.2"), -1);
	CHECK_EQ_INT(kernel_compare("6.12.0-rc3+", "6.12"), 0);
	CHECK_EQ_INT(kernel_compare("7.0.0-14-generic", "6.17.0"), 1);
	CHECK_EQ_INT(kernel_compare("5.15.0-302.167.6.el9uek.aarch64", "5.15.0"), 0);
	CHECK_EQ_INT(kernel_compare("4.14.336", "4.16"), -1);
	CHECK_EQ_INT(kernel_compare("", "4.16"), -1);
	CHECK_EQ_INT(kernel_compare("garbage", "0"), 0);
	CHECK_EQ_INT(kernel_compare("99999999999999999999.1", "6.1"), 1);
}
