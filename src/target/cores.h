/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is known of cores, cloud instances and distributions. All of it comes from data/ through
 * tools/gen-tables, which is also the checker; no core and no cloud is named in src/.
 */
#ifndef CULPRIT_TARGET_CORES_H
#define CULPRIT_TARGET_CORES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;

/* MIDR_EL1: Arm ARM D19.2 "MIDR_EL1, Main ID Register". */
static inline uint32_t midr_implementer(uint64_t midr)
{
	return midr >> 24 & 0xff;
}
static inline uint32_t midr_variant(uint64_t midr)
{
	return midr >> 20 & 0xf;
}
static inline uint32_t midr_part(uint64_t midr)
{
	return midr >> 4 & 0xfff;
}
static inline uint32_t midr_revision(uint64_t midr)
{
	return midr & 0xf;
}

enum core_fact { CORE_UNKNOWN, CORE_NO, CORE_YES };

/* A row of data/cores.tsv. Numbers are -1 when unknown. */
struct core_info {
	uint32_t implementer, part;
	const char *name;     /* "Neoverse V2" */
	const char *key;      /* of its event and metric files: "neoverse-v2", "" for none */
	const char *products; /* "AWS Graviton4 (*8g); Google Axion C4A; NVIDIA Grace" */
	const char *arch;     /* "armv9.0-a" */
	int32_t counters;     /* programmable ones of the silicon */
	int32_t slots;	      /* top-down slots a cycle, 0 none */
	int32_t sve_bits;     /* 0 none */
	enum core_fact spe, brbe;
	const char *spe_version; /* "v1p1", or "" */
	const char *note;	 /* what to mind about it, or "" */
};
/* The most specific row for the MIDR, or NULL. */
const struct core_info *core_find(uint64_t midr);
/* The nth row, NULL behind the last. */
const struct core_info *core_row_at(size_t i);

/* A row of data/x86.tsv: vendor and family as in /proc/cpuinfo, a range of models. */
struct x86_info {
	const char *vendor;
	uint32_t family, model_first, model_last;
	const char *name; /* "Sapphire Rapids", "Zen 4" */
	int32_t counters; /* programmable ones of a thread, -1 unknown */
	enum core_fact lbr;
	bool brs; /* no lbr, and records of taken branches that go with one event alone */
};
/* cpuid: perf's form, "GenuineIntel-6-8F-8". NULL when unknown. */
const struct x86_info *x86_find(const char *cpuid);

/* A row of data/clouds.tsv: whose machine this is, by what the firmware says. */
struct cloud_info {
	const char *vendor_match; /* begins sys_vendor; "" any */
	const char *tag_match;	  /* begins chassis_asset_tag or product_name; "" any */
	const char *key, *name;	  /* "aws", "Amazon Web Services" */
	bool product_is_type;	  /* product_name is the type of the instance */
};
const struct cloud_info *cloud_find(const char *dmi_vendor, const char *dmi_product,
				    const char *dmi_tag);

/*
 * A row of data/instances.tsv: a family of instances of one cloud and what its sizes pass on. The
 * texts complete a sentence about the machine: "{family}.24xlarge or {family}.metal-24xl", in which
 * {family} stands for what the type begins with (instance_put_text).
 */
struct instance_info {
	const char *cloud, *pattern; /* shell pattern over the product name: "*8g.*" */
	const char *metal_pattern;   /* which of them are bare metal, "" none */
	const char *core;	     /* "Neoverse V2 (AWS Graviton4)"; "" not one alone */
	const char *full_pmu;	     /* what gives the full PMU; "" nothing known */
	const char *any_pmu; /* what gives any PMU at all where there is none; "" nothing known */
	const char *spe;     /* what gives SPE; "" nothing does */
	const char *cmn;     /* what gives the interconnect's PMU; "" nothing does */
};
/* midr: of the first core, 0 on x86: a product name may stand for many families (then "*"). */
const struct instance_info *instance_find(const char *cloud, const char *product, uint64_t midr);
bool instance_is_metal(const struct instance_info *i, const char *product);
/* A text of a row, for this product: "c8g.24xlarge or c8g.metal-24xl". */
void instance_put_text(struct buf *out, const char *text, const char *product);

/* Where a driver is to work: "" for what is not known of the machine. */
struct driver_place {
	const char *driver; /* "arm_spe_pmu", "arm_cmn" */
	const char *cloud, *os_id, *os_version, *core_key;
};
/*
 * What a driver needs there: two rows of data/distributions.tsv put together, one of the system and
 * one of the machine. Of their kernels the later counts; commands are of the system, the parameter
 * is of the machine.
 */
struct driver_info {
	const char *min_kernel; /* "6.17.0"; "" none; "none": no kernel there has the driver */
	const char *instead;	/* behind "none": what has it, "" nothing known */
	const char *update;	/* a command that brings such a kernel, "" none known */
	const char *install;	/* a command that brings the module, "" none needed */
	const char *boot;	/* what turns page-table isolation off for it, "" nothing known */
};
/* False when no row fits: all is "" then. */
bool driver_find(struct driver_info *out, const struct driver_place *at);
/* Is no kernel there known to have it? */
bool driver_is_nowhere(const struct driver_info *d);
/*
 * -1, 0, 1: releases as versions ("6.8.0-1021-aws" against "6.17"). What follows the numbers and
 * dots is the builder's own and does not count; numbers that are not there are 0.
 */
int kernel_compare(const char *release, const char *version);

#endif
