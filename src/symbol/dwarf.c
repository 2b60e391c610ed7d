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

enum { DWARF_MAX_UNITS = 1 << 22, DWARF_MAX_UNIT_RANGES = 1 << 22, DWARF_MAX_CHAIN = 256 };

/* One resolve call. */
struct job {
	struct dwarf_file *d;
	const struct elf_file *elf;
	struct wanted wanted;
	unsigned want;
	struct intern *files;
	struct walk walk;
	size_t *unit_wants; /* indexes of wanted addresses of the unit at hand */
	size_t unit_count;
	uint64_t unit_ranges; /* read so far */
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
	return path && path[0] ? intern_put(j->files, str_of(path)) : MODEL_NONE;
}

static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
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

static uint32_t call_file(struct job *j, Dwarf_Die *unit, Dwarf_Die *die)
{
	Dwarf_Files *files;
	size_t count;
	uint64_t index = number_of(die, DW_AT_call_file);

	if (!(j->want & DWARF_LINES) || !dwarf_hasattr(die, DW_AT_call_file) ||
	    dwarf_getsrcfiles(unit, &files, &count) || index >= count)
		return MODEL_NONE;
	return put_file(j, dwarf_filesrc(files, (size_t)index, NULL, NULL));
}

static uint32_t line_number(uint64_t value)
{
	return value > INT32_MAX ? 0 : (uint32_t)value;
}

static void read_declaration(struct job *j, Dwarf_Die *die, uint32_t *file, uint32_t *line)
{
	int number;

	if ((j->want & DWARF_LINES) && !dwarf_decl_line(die, &number) && number > 0) {
		*file = put_file(j, dwarf_decl_file(die));
		*line = (uint32_t)number;
	}
}

static void fill_function(struct job *j, Dwarf_Die *die, struct dwarf_answer *a)
{
	Dwarf_Addr start;

	a->function = name_of(die);
	if (!dwarf_entrypc(die, &start))
		a->function_start = start;
	read_declaration(j, die, &a->decl_file, &a->decl_line);
}

/* What a node that was inlined says of itself, read once however many addresses are in it. */
static const struct dwarf_inline *read_copy(struct job *j, Dwarf_Die *unit, uint32_t node)
{
	struct dwarf_inline *copy;
	const char *name;
	Dwarf_Die die;

	while (j->copies.len <= node)
		vec_push(&j->copies);
	copy = &j->copies.at[node];
	if (copy->name)
		return copy;
	if (!dwarf_offdie(j->d->handle, j->walk.nodes.at[node].die, &die))
		return NULL;
	name = name_of(&die);
	*copy = (struct dwarf_inline){
		.name = name ? name : "[inlined]",
		.file = call_file(j, unit, &die),
		.line = line_number(number_of(&die, DW_AT_call_line)),
		.decl_file = MODEL_NONE,
	};
	read_declaration(j, &die, &copy->decl_file, &copy->decl_line);
	return copy;
}

/* The chain of wanted address i, innermost first, from its deepest node out to the function. */
static void fill_chain(struct job *j, Dwarf_Die *unit, size_t i)
{
	struct dwarf_answer *a = &j->d->answers[i];
	uint32_t node = j->walk.deepest[i];

	a->first = (uint32_t)j->d->inlines.len;
	while (node != MODEL_NONE && a->count < DWARF_MAX_CHAIN) {
		const struct walk_node *n = &j->walk.nodes.at[node];
		const struct dwarf_inline *copy;
		Dwarf_Die die;

		if (n->parent == MODEL_NONE) {
			if (dwarf_offdie(j->d->handle, n->die, &die))
				fill_function(j, &die, a);
			return;
		}
		copy = read_copy(j, unit, node);
		if (!copy)
			return;
		vec_add(&j->d->inlines, *copy);
		a->count++;
		node = n->parent;
	}
}

static void fill_line(struct job *j, Dwarf_Die *unit, size_t i)
{
	struct dwarf_answer *a = &j->d->answers[i];
	Dwarf_Line *line = dwarf_getsrc_die(unit, j->wanted.at[i]);
	int number = 0;

	if (!line || dwarf_lineno(line, &number) || number <= 0)
		return;
	a->file = put_file(j, dwarf_linesrc(line, NULL, NULL));
	a->line = (uint32_t)number;
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
	bool good = true;

	if (j->want & DWARF_INLINES)
		good = walk_unit(&j->walk, j->elf->path, header, err);
	for (size_t n = 0; n < j->unit_count; n++) {
		size_t i = j->unit_wants[n];

		if (j->want & DWARF_LINES)
			fill_line(j, unit, i);
		fill_chain(j, unit, i);
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
static struct cursor section_bytes(const struct elf_file *e, const char *name,
				   const char *old_name)
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
	buf_auto path = {0};
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

bool dwarf_resolve(struct dwarf_file *d, const struct elf_file *e, struct wanted w, unsigned want,
		   const char *debug_dir, struct intern *files, struct err *err)
{
	struct job j = {.d = d, .elf = e, .wanted = w, .want = want, .files = files};
	bool good;

	d->answers = mem_alloc(w.count * sizeof(d->answers[0]));
	for (size_t i = 0; i < w.count; i++)
		d->answers[i].file = d->answers[i].decl_file = MODEL_NONE;
	d->handle = dwarf_begin_elf(e->elf, DWARF_C_READ, NULL);
	if (!d->handle)
		return err_set(err, ERR_FORMAT, "%s: DWARF: %s", e->path, dwarf_errmsg(-1));
	open_alt(d, debug_dir);
	j.unit_wants = mem_alloc(w.count * sizeof(j.unit_wants[0]));
	j.walk = (struct walk){
		.wanted = w,
		.text_start = e->text_start,
		.info = section_bytes(e, ".debug_info", ".zdebug_info"),
		.abbrev = section_bytes(e, ".debug_abbrev", ".zdebug_abbrev"),
		.handle = d->handle,
		.deepest = mem_alloc(w.count * sizeof(uint32_t)),
	};
	memset(j.walk.deepest, 0xff, w.count * sizeof(uint32_t));
	good = answer_units(&j, err);
	vec_done(&j.copies);
	free(j.walk.deepest);
	walk_done(&j.walk);
	free(j.unit_wants);
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
	*d = (struct dwarf_file){0};
}
