/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers addresses with DWARF: finds the units that cover wanted ones by the ranges in their first
 * entry, and reads line table and inlined copies of those units only.
 */
#include "symbol/dwarf-parts.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <stdlib.h>

enum {
	DWARF_MAX_UNITS = 1 << 22,
	DWARF_MAX_UNIT_RANGES = 1 << 22,
	DWARF_MAX_CHAIN = 256,
	DWARF_MAX_LINKS = 16
};

/* One resolve call. */
struct job {
	struct dwarf_file *d;
	const struct elf_file *elf;
	struct wanted wanted;
	unsigned want;
	struct intern *files;
	struct walk walk;
	struct line_reader lines;
	struct line_place *places; /* by wanted address */
	void *line_unit;	   /* whose files lines holds (Dwarf_CU *), or NULL */
	size_t *unit_wants;	   /* indexes of wanted addresses of the unit at hand */
	size_t unit_count;
	uint64_t unit_ranges;		 /* read so far */
	VEC(struct dwarf_inline) copies; /* by index of walk.nodes; name NULL: not read yet */
};

static bool is_dwarf(const struct elf_file *e, const char *name, const char *old_name)
{
	const struct elf_section *s = elf_find_section(e, name);

	if (!s)
		s = elf_find_section(e, old_name);
	return s && s->type != SHT_NOBITS && s->size;
}

bool dwarf_has(const struct elf_file *e)
{
	/* Objects are not relocated yet: their debug sections are full of zeros. */
	return e->type != ET_REL && is_dwarf(e, ".debug_info", ".zdebug_info") &&
	       is_dwarf(e, ".debug_line", ".zdebug_line");
}

/* Interns a source path; MODEL_NONE for none. */
static uint32_t put_file(struct job *j, const char *path)
{
	return path && path[0] ? line_put_path(j->files, path) : MODEL_NONE;
}

/* The linkage name, or else the plain one. */
static const char *name_of(Dwarf_Die *die, bool *is_linkage)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	*is_linkage = name != NULL;
	if (!name && dwarf_attr_integrate(die, DW_AT_name, &attr))
		name = dwarf_formstring(&attr);
	return name && name[0] ? name : NULL;
}

static uint64_t number_of(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, name, &attr) || dwarf_formudata(&attr, &value))
		return 0;
	return value;
}

/* The file that an index attribute of an entry names; the entry may stand in another unit. */
static uint32_t file_of(struct job *j, Dwarf_Attribute *attr)
{
	Dwarf_Word index;

	if (!j->line_unit || attr->cu != j->line_unit || dwarf_formudata(attr, &index))
		return MODEL_NONE;
	return line_file(&j->lines, index, j->files);
}

static uint32_t call_file(struct job *j, Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	if (!dwarf_attr(die, DW_AT_call_file, &attr))
		return MODEL_NONE;
	return file_of(j, &attr);
}

static uint32_t line_number(uint64_t value)
{
	return value > INT32_MAX ? 0 : (uint32_t)value;
}

static void read_declaration(struct job *j, Dwarf_Die *die, uint32_t *file, uint32_t *line)
{
	Dwarf_Attribute attr;
	int number;

	if (!(j->want & DWARF_LINES) || dwarf_decl_line(die, &number) || number <= 0)
		return;
	*line = (uint32_t)number;
	if (!dwarf_attr_integrate(die, DW_AT_decl_file, &attr))
		return;
	*file = file_of(j, &attr);
	/* Link-time optimisation refers across units; then libdw reads the other one's table. */
	if (*file == MODEL_NONE && attr.cu != j->line_unit)
		*file = put_file(j, dwarf_decl_file(die));
}

static void fill_function(struct job *j, Dwarf_Die *die, struct dwarf_answer *a)
{
	bool is_linkage;
	Dwarf_Addr start;

	a->function = name_of(die, &is_linkage);
	if (!dwarf_entrypc(die, &start))
		a->function_start = start;
	read_declaration(j, die, &a->decl_file, &a->decl_line);
}

/* The declaration behind a copy, where its place in namespaces and types is. */
static bool find_declaration(Dwarf_Die *die, Dwarf_Die *out)
{
	static const unsigned links[] = { DW_AT_abstract_origin, DW_AT_specification };

	*out = *die;
	for (int steps = 0; steps < DWARF_MAX_LINKS; steps++) {
		Dwarf_Attribute attr;
		Dwarf_Die next;

		if (!dwarf_attr(out, links[0], &attr) && !dwarf_attr(out, links[1], &attr))
			break;
		if (!dwarf_formref_die(&attr, &next))
			break;
		*out = next;
	}
	return out->cu == die->cu;
}

/* What a node that was inlined says of itself, read once however many addresses are in it. */
static void read_copy(struct job *j, uint32_t node, struct scope_targets *unqualified)
{
	struct dwarf_inline *copy;
	bool is_linkage = false;
	const char *name;
	Dwarf_Die declared;
	Dwarf_Die die;

	while (j->copies.len <= node)
		vec_push(&j->copies);
	copy = &j->copies.at[node];
	if (copy->name || !dwarf_offdie(j->d->handle, j->walk.nodes.at[node].die, &die))
		return;
	name = name_of(&die, &is_linkage);
	*copy = (struct dwarf_inline){
		.name = name ? name : "[inlined]",
		.file = call_file(j, &die),
		.line = line_number(number_of(&die, DW_AT_call_line)),
		.decl_file = MODEL_NONE,
	};
	read_declaration(j, &die, &copy->decl_file, &copy->decl_line);
	if (name && !is_linkage && find_declaration(&die, &declared))
		vec_add(&unqualified->at, ((struct scope_target){
						  .die = dwarf_dieoffset(&declared),
						  .node = node,
					  }));
}

/* All copies that the unit's addresses lie in. */
static void read_copies(struct job *j, uint64_t header)
{
	struct scope_targets unqualified = { 0 };

	for (size_t n = 0; n < j->unit_count; n++) {
		uint32_t node = j->walk.deepest[j->unit_wants[n]];

		for (; node != MODEL_NONE; node = j->walk.nodes.at[node].parent)
			if (j->walk.nodes.at[node].parent != MODEL_NONE)
				read_copy(j, node, &unqualified);
	}
	scope_find(&j->walk, header, &unqualified);
	vec_each(t, &unqualified.at) {
		struct dwarf_inline *copy = &j->copies.at[t->node];

		if (t->depth)
			copy->name = scope_name(&j->walk, t, copy->name, &j->d->names);
	}
	vec_done(&unqualified.at);
}

/* The chain of wanted address i, innermost first, from its deepest node out to the function. */
static void fill_chain(struct job *j, size_t i)
{
	struct dwarf_answer *a = &j->d->answers[i];
	uint32_t node = j->walk.deepest[i];

	a->first = (uint32_t)j->d->inlines.len;
	while (node != MODEL_NONE && a->count < DWARF_MAX_CHAIN) {
		const struct walk_node *n = &j->walk.nodes.at[node];
		Dwarf_Die die;

		if (n->parent == MODEL_NONE) {
			if (dwarf_offdie(j->d->handle, n->die, &die))
				fill_function(j, &die, a);
			return;
		}
		if (node >= j->copies.len || !j->copies.at[node].name)
			return;
		vec_add(&j->d->inlines, j->copies.at[node]);
		a->count++;
		node = n->parent;
	}
}

static void fill_line(struct job *j, size_t i)
{
	struct dwarf_answer *a = &j->d->answers[i];
	const struct line_place *place = &j->places[i];

	if (place->file == MODEL_NONE || !place->line)
		return;
	a->file = line_file(&j->lines, place->file, j->files);
	a->line = a->file == MODEL_NONE ? 0 : place->line;
}

/* Reads the unit's line table; without one there are no lines, which is no error. */
static bool read_lines(struct job *j, Dwarf_Die *unit, struct err *err)
{
	Dwarf_Attribute attr;
	Dwarf_Word offset;
	const char *directory = NULL;

	j->line_unit = NULL;
	if (!(j->want & DWARF_LINES) || !dwarf_attr(unit, DW_AT_stmt_list, &attr) ||
	    dwarf_formudata(&attr, &offset))
		return true;
	if (dwarf_attr(unit, DW_AT_comp_dir, &attr))
		directory = dwarf_formstring(&attr);
	j->lines.directory = directory ? directory : "";
	if (!line_read(&j->lines, j->elf->path, offset, j->places, err))
		return false;
	j->line_unit = unit->cu;
	return true;
}

/* Collects the wanted addresses that the unit covers and no unit before it did. */
static bool claim(struct job *j, Dwarf_Die *unit)
{
	Dwarf_Addr base;
	Dwarf_Addr low;
	Dwarf_Addr high;
	ptrdiff_t at = 0;

	j->unit_count = 0;
	while ((at = dwarf_ranges(unit, at, &base, &low, &high)) > 0) {
		if (++j->unit_ranges > DWARF_MAX_UNIT_RANGES)
			return false;
		if (low < j->elf->text_start)
			continue;
		for (size_t i = wanted_lower(&j->wanted, low);
		     i < j->wanted.count && j->wanted.at[i] < high; i++) {
			if (j->d->answers[i].found)
				continue;
			j->d->answers[i].found = true;
			j->unit_wants[j->unit_count++] = i;
		}
	}
	return true;
}

static bool answer_unit(struct job *j, Dwarf_Die *unit, uint64_t header, struct err *err)
{
	bool good = read_lines(j, unit, err);

	if (good && (j->want & DWARF_INLINES))
		good = walk_unit(&j->walk, j->elf->path, header, j->unit_count, err);
	read_copies(j, header);
	for (size_t n = 0; n < j->unit_count; n++) {
		fill_line(j, j->unit_wants[n]);
		fill_chain(j, j->unit_wants[n]);
	}
	return good;
}

static bool answer_units(struct job *j, struct err *err)
{
	Dwarf_CU *cu = NULL;
	Dwarf_CU *next;
	Dwarf_Die unit;
	Dwarf_Half version;
	uint8_t type;
	int step;

	for (int n = 0; n < DWARF_MAX_UNITS; n++, cu = next) {
		Dwarf_Off die;

		/* Without a place for a split unit, so that libdw opens no file that a name says. */
		step = dwarf_get_units(j->d->handle, cu, &next, &version, &type, &unit, NULL);
		if (step)
			break;
		if (type != DW_UT_compile && type != DW_UT_skeleton && type != DW_UT_partial)
			continue;
		die = dwarf_dieoffset(&unit);
		if (!claim(j, &unit))
			return err_set(err, ERR_LIMIT, "%s: .debug_info has ranges beyond reason",
				       j->elf->path);
		if (j->unit_count && !answer_unit(j, &unit, die - dwarf_cuoffset(&unit), err))
			return false;
	}
	if (step < 0)
		return err_set(err, ERR_FORMAT, "%s: .debug_info: %s", j->elf->path,
			       dwarf_errmsg(-1));
	return true;
}

/* The section's bytes as libdw sees them: it has unpacked them in place. */
static struct cursor section_bytes(const struct elf_file *e, const char *name, const char *old_name)
{
	const struct elf_section *s = elf_find_section(e, name);
	Elf_Data *data;
	struct cursor c;

	if (!s)
		s = elf_find_section(e, old_name);
	data = s ? elf_getdata(s->scn, NULL) : NULL;
	c = cursor_of(name, data && data->d_buf ? data->d_buf : "",
		      data && data->d_buf ? data->d_size : 0);
	c.swap = e->big_endian;
	return c;
}

/* Debian's dwz moves what several files share into a third one, known by build id. */
static void open_alt(struct dwarf_file *d, const char *debug_dir)
{
	const char *name = NULL;
	const void *note = NULL;
	ssize_t len = dwelf_dwarf_gnu_debugaltlink(d->handle, &name, &note);
	const uint8_t *id = note;
	buf_auto path = { 0 };
	struct err ignored;

	if (len < 2 || len > 64)
		return;
	buf_printf(&path, "%s/.build-id/%02x/", debug_dir, id[0]);
	for (ssize_t i = 1; i < len; i++)
		buf_printf(&path, "%02x", id[i]);
	buf_puts(&path, ".debug");
	d->alt_path = mem_strdup(buf_str(&path));
	if (elf_file_open(&d->alt, d->alt_path, ELF_MAP, &ignored))
		d->alt_handle = dwarf_begin_elf(d->alt.elf, DWARF_C_READ, NULL);
	if (d->alt_handle)
		dwarf_setalt(d->handle, d->alt_handle);
}

static void job_init(struct job *j)
{
	const struct elf_file *e = j->elf;
	size_t count = j->wanted.count;

	j->unit_wants = mem_alloc(count * sizeof(j->unit_wants[0]));
	j->places = mem_alloc(count * sizeof(j->places[0]));
	j->walk = (struct walk){
		.wanted = j->wanted,
		.text_start = e->text_start,
		.info = section_bytes(e, ".debug_info", ".zdebug_info"),
		.abbrev = section_bytes(e, ".debug_abbrev", ".zdebug_abbrev"),
		.handle = j->d->handle,
		.deepest = mem_alloc(count * sizeof(uint32_t)),
	};
	j->lines = (struct line_reader){
		.wanted = j->wanted,
		.text_start = e->text_start,
		.lines = section_bytes(e, ".debug_line", ".zdebug_line"),
		.strings = section_bytes(e, ".debug_str", ".zdebug_str"),
		.line_strings = section_bytes(e, ".debug_line_str", ".zdebug_line_str"),
	};
	for (size_t i = 0; i < count; i++) {
		j->d->answers[i].file = j->d->answers[i].decl_file = MODEL_NONE;
		j->places[i].file = j->walk.deepest[i] = MODEL_NONE;
	}
}

static void job_done(struct job *j)
{
	vec_done(&j->copies);
	free(j->walk.deepest);
	walk_done(&j->walk);
	line_done(&j->lines);
	free(j->places);
	free(j->unit_wants);
}

bool dwarf_resolve(struct dwarf_file *d, const struct elf_file *e, struct wanted w, unsigned want,
		   const char *debug_dir, struct intern *files, struct err *err)
{
	struct job j = { .d = d, .elf = e, .wanted = w, .want = want, .files = files };
	bool good;

	d->answers = mem_alloc(w.count * sizeof(d->answers[0]));
	d->handle = dwarf_begin_elf(e->elf, DWARF_C_READ, NULL);
	if (!d->handle)
		return err_set(err, ERR_FORMAT, "%s: DWARF: %s", e->path, dwarf_errmsg(-1));
	open_alt(d, debug_dir);
	job_init(&j);
	good = answer_units(&j, err);
	job_done(&j);
	return good;
}

void dwarf_file_done(struct dwarf_file *d)
{
	if (d->handle)
		dwarf_end(d->handle);
	if (d->alt_handle)
		dwarf_end(d->alt_handle);
	elf_file_close(&d->alt);
	free(d->alt_path);
	free(d->answers);
	vec_done(&d->inlines);
	arena_done(&d->names);
	*d = (struct dwarf_file){ 0 };
}
