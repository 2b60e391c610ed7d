/* SPDX-License-Identifier: Apache-2.0 */
/* Looks things up in the tables of data/. */
#include "target/cores.h"

#include <fnmatch.h>

#include "base/mem.h"
#include "base/str.h"
#include "target/tables.h"

const struct core_info *core_find(uint64_t midr)
{
	uint32_t revision = midr_variant(midr) << 4 | midr_revision(midr);
	const struct core_row *best = NULL;

	for (size_t i = 0; i < table_cores_count; i++) {
		const struct core_row *row = &table_cores[i];

		if (row->info.implementer == midr_implementer(midr) &&
		    row->info.part == midr_part(midr) && revision >= row->first &&
		    revision <= row->last &&
		    (!best || row->last - row->first < best->last - best->first))
			best = row;
	}
	return best ? &best->info : NULL;
}

const struct core_info *core_row_at(size_t i)
{
	return i < table_cores_count ? &table_cores[i].info : NULL;
}

const struct x86_info *x86_find(const char *cpuid)
{
	struct str rest = str_of(cpuid), vendor, part;
	uint64_t family, model, stepping;

	if (!str_cut(&rest, '-', &vendor) || !str_cut(&rest, '-', &part) ||
	    !str_u64(part, &family) || !str_cut(&rest, '-', &part) || !str_hex(part, &model) ||
	    !str_hex(rest, &stepping))
		return NULL;
	for (size_t i = 0; i < table_x86_count; i++) {
		const struct x86_row *row = &table_x86[i];

		if (str_eq(vendor, row->info.vendor) && family == row->info.family &&
		    model >= row->info.model_first && model <= row->info.model_last &&
		    stepping >= row->stepping_first && stepping <= row->stepping_last)
			return &row->info;
	}
	return NULL;
}

const struct cloud_info *cloud_find(const char *dmi_vendor, const char *dmi_product,
				    const char *dmi_tag)
{
	for (size_t i = 0; i < table_clouds_count; i++) {
		const struct cloud_info *row = &table_clouds[i];

		if (str_starts(dmi_vendor, row->vendor_match) &&
		    (str_starts(dmi_tag, row->tag_match) ||
		     str_starts(dmi_product, row->tag_match)))
			return row;
	}
	return NULL;
}

static bool fits_core(const struct instance_row *row, uint64_t midr)
{
	switch (row->match) {
	case INSTANCE_ANY_CORE:
		return true;
	case INSTANCE_NO_MIDR:
		return midr == 0;
	case INSTANCE_THIS_CORE:
		return row->implementer == midr_implementer(midr) && row->part == midr_part(midr);
	}
	return false;
}

const struct instance_info *instance_find(const char *cloud, const char *product, uint64_t midr)
{
	for (size_t i = 0; i < table_instances_count; i++) {
		const struct instance_row *row = &table_instances[i];

		if (!strcmp(cloud, row->info.cloud) && fits_core(row, midr) &&
		    !fnmatch(row->info.pattern, product, 0))
			return &row->info;
	}
	return NULL;
}

bool instance_is_metal(const struct instance_info *i, const char *product)
{
	return i->metal_pattern[0] && !fnmatch(i->metal_pattern, product, 0);
}

void instance_put_text(struct buf *out, const char *text, const char *product)
{
	static const char family[] = "{family}";
	const char *at;

	while ((at = strstr(text, family))) {
		buf_add(out, text, (size_t)(at - text));
		buf_add(out, product, strcspn(product, "."));
		text = at + sizeof(family) - 1;
	}
	buf_puts(out, text);
}

/* The weight of a cell that fits, 0 of one that stands for all; -1 where it does not fit. */
static int weigh(const char *have, const char *want, int weight)
{
	if (!want[0])
		return 0;
	return strcmp(have, want) ? -1 : weight;
}

/* The row with the most that fits, of those that name a system or of those that name none. */
static const struct driver_info *best_row(const struct driver_place *at, bool of_system)
{
	const struct driver_info *best = NULL;
	int best_weight = -1;

	for (size_t i = 0; i < table_distributions_count; i++) {
		const struct driver_place *row = &table_distributions[i].at;
		int version = weigh(at->os_version, row->os_version, 4);
		int cloud = weigh(at->cloud, row->cloud, 2);
		int core = weigh(at->core_key, row->core_key, 1);

		if (strcmp(at->driver, row->driver) || (*row->os_id != 0) != of_system ||
		    weigh(at->os_id, row->os_id, 0) < 0 || version < 0 || cloud < 0 || core < 0 ||
		    version + cloud + core <= best_weight)
			continue;
		best = &table_distributions[i].info;
		best_weight = version + cloud + core;
	}
	return best;
}

bool driver_is_nowhere(const struct driver_info *d)
{
	return !strcmp(d->min_kernel, "none");
}

bool driver_find(struct driver_info *out, const struct driver_place *at)
{
	static const struct driver_info nothing = { "", "", "", "", "" };
	const struct driver_info *system = best_row(at, true), *machine = best_row(at, false);
	bool found = system || machine, nowhere;

	system = system ? system : &nothing;
	machine = machine ? machine : &nothing;
	*out = *system;
	out->boot = machine->boot;
	nowhere = driver_is_nowhere(system);
	if (driver_is_nowhere(machine) ||
	    (!nowhere && kernel_compare(machine->min_kernel, system->min_kernel) > 0)) {
		out->min_kernel = machine->min_kernel;
		out->update = ""; /* which is known to bring the system's */
		if (!nowhere)
			out->instead = machine->instead;
	}
	return found;
}

/* The next number of a version, 0 when it has no more; *s goes past it and its dot. */
static uint64_t version_part(const char **s)
{
	uint64_t n = 0;

	for (; **s >= '0' && **s <= '9'; (*s)++)
		if (n < UINT32_MAX)
			n = n * 10 + (uint64_t)(**s - '0');
	if ((*s)[0] == '.' && (*s)[1] >= '0' && (*s)[1] <= '9')
		(*s)++;
	return n;
}

int kernel_compare(const char *release, const char *version)
{
	for (int i = 0; i < 4; i++) {
		uint64_t a = version_part(&release), b = version_part(&version);

		if (a != b)
			return a < b ? -1 : 1;
	}
	return 0;
}
