/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an ELF symbol table for the names of code. */
#include "symbol/parts.h"

#include <gelf.h>

/* A table as libelf gives it. */
struct table {
	const struct elf_file *elf;
	const struct elf_section *section;
	Elf_Data *data;
	size_t count;
};

static const struct elf_section *find_type(const struct elf_file *e, uint32_t type)
{
	vec_each(s, &e->sections)
		if (s->type == type && s->size)
			return s;
	return NULL;
}

enum elf_table elf_table_kind(const struct elf_file *e)
{
	if (find_type(e, SHT_SYMTAB))
		return ELF_TABLE_FULL;
	return find_type(e, SHT_DYNSYM) ? ELF_TABLE_DYNAMIC : ELF_TABLE_NONE;
}

static bool table_open(struct table *t, const struct elf_file *e, struct err *err)
{
	const struct elf_section *s = find_type(e, SHT_SYMTAB);
	size_t entry = gelf_fsize(e->elf, ELF_T_SYM, 1, EV_CURRENT);

	*t = (struct table){ .elf = e, .section = s ? s : find_type(e, SHT_DYNSYM) };
	s = t->section;
	if (!s)
		return true;
	t->data = elf_getdata(s->scn, NULL);
	if (!t->data || t->data->d_size < s->size || !entry)
		return err_set(err, ERR_FORMAT,
			       "%s is damaged: symbol table at offset 0x%llx, 0x%llx bytes: %s",
			       e->path, (unsigned long long)s->offset, (unsigned long long)s->size,
			       t->data ? "cut" : elf_errmsg(-1));
	t->count = t->data->d_size / entry;
	return true;
}

/* Locals that name no function: AAELF64's $x and $d (with .anything), x86's .L. */
static bool is_mark(const char *name)
{
	if (name[0] == '$')
		return name[1] && strchr("xdat", name[1]) && (!name[2] || name[2] == '.');
	return name[0] == '.' && name[1] == 'L';
}

static uint8_t rank_of(const GElf_Sym *sym)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	unsigned bind = GELF_ST_BIND(sym->st_info);
	unsigned rank = bind == STB_LOCAL ? SELECT_LOCAL : SELECT_GLOBAL;

	if (bind == STB_WEAK)
		rank = SELECT_WEAK;
	if (type == STT_FUNC || type == STT_GNU_IFUNC)
		rank += SELECT_FUNCTION;
	return (uint8_t)rank;
}

/* Where the symbol's section is, if it lies in code. */
static const struct elf_section *code_of(const struct elf_file *e, const GElf_Sym *sym)
{
	const struct elf_section *s;

	if (sym->st_shndx == SHN_UNDEF)
		return NULL;
	/* Also the reserved indexes: the vdso has absolute functions, huge files extended ones. */
	if (sym->st_shndx >= e->sections.len)
		return elf_code_at(e, sym->st_value);
	s = &e->sections.at[sym->st_shndx];
	return s->exec ? s : NULL;
}

static uint64_t address_of(const struct elf_file *e, const GElf_Sym *sym,
			   const struct elf_section *s)
{
	uint64_t address = sym->st_value;

	if (e->type == ET_REL)
		return address + s->address;
	/* Bit 0 of a 32-bit Arm function says Thumb. */
	if (e->machine == EM_ARM && GELF_ST_TYPE(sym->st_info) == STT_FUNC)
		address &= ~(uint64_t)1;
	return address;
}

/* The symbol as a candidate; false when it is none. Its name is left open. */
static bool as_candidate(const struct elf_file *e, const GElf_Sym *sym, struct select_symbol *out)
{
	unsigned type = GELF_ST_TYPE(sym->st_info);
	const struct elf_section *s;

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	s = code_of(e, sym);
	if (!s)
		return false;
	*out = (struct select_symbol){
		.address = address_of(e, sym, s),
		.size = sym->st_size,
		.rank = rank_of(sym),
	};
	if (__builtin_add_overflow(s->address, s->size, &out->limit))
		out->limit = UINT64_MAX;
	return true;
}

static const char *name_of(const struct table *t, const GElf_Sym *sym)
{
	const char *name = elf_strptr(t->elf->elf, t->section->link, sym->st_name);

	return name ? name : "";
}

static void feed(struct select *s, const struct table *t, const GElf_Sym *sym, uint32_t file)
{
	struct select_symbol c;

	if (!as_candidate(t->elf, sym, &c) || !select_matters(s, c.address, c.size))
		return;
	if (c.size && !select_covers(s, c.address, c.size)) {
		select_bound(s, c.address, c.size);
		return;
	}
	c.name = name_of(t, sym);
	c.file = file;
	if (!c.name[0] || (GELF_ST_BIND(sym->st_info) == STB_LOCAL && is_mark(c.name)))
		return;
	/* _etext and its like stand at the end of a section: nothing is theirs. */
	if (!c.size && c.address >= c.limit)
		select_bound(s, c.address, 0);
	else
		select_add(s, &c);
}

bool elf_select(const struct elf_file *e, struct select *s, struct err *err)
{
	struct table t;
	uint32_t file = 0;

	if (!table_open(&t, e, err))
		return false;
	for (size_t i = 1; i < t.count && !s->overflow; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(t.data, (int)i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file++;
		else
			feed(s, &t, &sym, file);
	}
	if (s->overflow)
		return err_set(err, ERR_LIMIT, "%s: symbols overlap beyond reason", e->path);
	return true;
}

void elf_each_symbol(const struct elf_file *e, elf_symbol_fn *visit, void *ctx)
{
	uint32_t file = 0;
	struct table t;
	struct err ignored;

	if (!table_open(&t, e, &ignored))
		return;
	for (size_t i = 1; i < t.count; i++) {
		struct select_symbol c;
		GElf_Sym sym;

		if (!gelf_getsym(t.data, (int)i, &sym))
			return;
		if (GELF_ST_TYPE(sym.st_info) == STT_FILE)
			file++;
		if (!as_candidate(e, &sym, &c))
			continue;
		c.name = name_of(&t, &sym);
		c.file = file;
		visit(ctx, &c);
	}
}
