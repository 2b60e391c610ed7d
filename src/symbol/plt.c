/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names PLT stubs. The stub itself says which slot of the GOT it jumps through, and a relocation
 * says whose slot that is; so entry sizes, which linkers vary and misstate, don't matter.
 *
 * x86-64: jmp *disp(%rip) is ff 25 disp32; a lazy entry without it pushes its index (68 imm32).
 * AArch64: adrp x16, page; ldr x17, [x16, #off]; ...; br x17 (Arm ARM C6.2: ADRP, LDR immediate).
 */
#include "symbol/parts.h"

#include "base/cursor.h"

#include <gelf.h>

enum { PLT_ENTRY = 16 };
/* Longer than any stub with what pads it. */
enum { PLT_LOOK_BACK = 256 };

static void load_relocations(struct plt *p, const struct elf_section *s)
{
	Elf_Data *data = elf_getdata(s->scn, NULL);
	size_t entry = gelf_fsize(p->elf->elf, ELF_T_RELA, 1, EV_CURRENT);
	bool is_plt = !strcmp(s->name, ".rela.plt");
	size_t count = data && entry ? data->d_size / entry : 0;

	for (size_t i = 0; i < count; i++) {
		GElf_Rela r;
		uint64_t symbol;

		if (!gelf_getrela(data, (int)i, &r))
			return;
		symbol = GELF_R_SYM(r.r_info);
		if (is_plt)
			vec_add(&p->order, (uint32_t)symbol);
		if (symbol)
			*map_put(&p->slots, r.r_offset, NULL) = symbol;
	}
}

static void load(struct plt *p, const struct elf_file *e)
{
	p->elf = e;
	p->loaded = true;
	vec_each(s, &e->sections) {
		if (s->type == SHT_DYNSYM)
			p->dynsym = *s;
		if (s->type == SHT_RELA)
			load_relocations(p, s);
	}
}

static const char *dynamic_name(struct plt *p, uint64_t symbol)
{
	Elf_Data *data = p->dynsym.scn ? elf_getdata(p->dynsym.scn, NULL) : NULL;
	const char *name;
	GElf_Sym sym;

	if (!data || !symbol || symbol > INT32_MAX || !gelf_getsym(data, (int)symbol, &sym))
		return NULL;
	name = elf_strptr(p->elf->elf, p->dynsym.link, sym.st_name);
	return name && name[0] ? name : NULL;
}

static const char *slot_name(struct plt *p, uint64_t slot)
{
	const uint64_t *symbol = map_find(&p->slots, slot);

	return symbol ? dynamic_name(p, *symbol) : NULL;
}

static const char *name_x86(struct plt *p, struct cursor code, uint64_t address)
{
	size_t len = cursor_left(&code);
	const uint8_t *b = code.at;

	for (size_t i = 0; i + 6 <= len; i++) {
		struct cursor operand = cursor_of(code.name, b + i + 2, 4);

		if (b[i] != 0xff || b[i + 1] != 0x25)
			continue;
		return slot_name(p, address + i + 6 +
					    (uint64_t)(int64_t)(int32_t)cursor_u32(&operand));
	}
	for (size_t i = 0; i + 5 <= len && i <= 4; i++) {
		struct cursor operand = cursor_of(code.name, b + i + 1, 4);
		uint32_t n = b[i] == 0x68 ? cursor_u32(&operand) : UINT32_MAX;

		if (n < p->order.len)
			return dynamic_name(p, p->order.at[n]);
	}
	return NULL;
}

/*
 * Stubs lie one behind the other without padding that we could count on: walk from an earlier one,
 * whose end says where the next starts.
 */
static const char *name_aarch64(struct plt *p, struct cursor code, uint64_t base, uint64_t address,
				uint64_t *start, uint64_t *size)
{
	uint64_t skip = address - base > PLT_LOOK_BACK ?
				(address - base - PLT_LOOK_BACK) & ~(uint64_t)3 :
				0;
	uint64_t page = 0;
	uint64_t slot = 0;
	uint64_t at = base + skip;
	bool ended = false;

	cursor_skip(&code, skip);
	*start = at;
	for (; cursor_left(&code) >= 4; at += 4) {
		uint32_t insn = cursor_u32(&code);

		if (ended && insn != 0xd503201f) { /* nop pads the stub before it */
			if (at > address)
				break;
			ended = false;
			*start = at;
			slot = 0;
		}
		if ((insn & 0x9f00001f) == 0x90000010) { /* adrp x16 */
			uint64_t imm = (insn >> 29 & 3) | (uint64_t)(insn >> 5 & 0x7ffff) << 2;

			page = (at & ~(uint64_t)0xfff) +
			       ((uint64_t)((int64_t)(imm << 43) >> 43) << 12);
		} else if ((insn & 0xffc003ff) == 0xf9400211) { /* ldr x17, [x16, #imm] */
			slot = page + (uint64_t)(insn >> 10 & 0xfff) * 8;
		} else if (insn == 0xd61f0220 || insn == 0xd71f0a30) { /* br x17, braa x17, x16 */
			ended = true;
		}
	}
	*size = at - *start;
	return slot ? slot_name(p, slot) : NULL;
}

bool plt_find(struct plt *p, const struct elf_file *e, uint64_t address, const char **name,
	      uint64_t *start, uint64_t *size)
{
	const struct elf_section *s = elf_code_at(e, address);
	uint64_t entry = PLT_ENTRY;
	struct cursor code;
	Elf_Data *data;

	if (!s || (strncmp(s->name, ".plt", 4) != 0 && strcmp(s->name, ".iplt") != 0))
		return false;
	if (!p->loaded)
		load(p, e);
	*name = NULL;
	*start = s->address;
	*size = s->size;
	data = s->type == SHT_NOBITS ? NULL : elf_getdata(s->scn, NULL);
	if (!data || !data->d_buf || data->d_size < s->size)
		return true;
	code = cursor_of(e->path, data->d_buf, (size_t)s->size);
	if (e->machine == EM_AARCH64) {
		*name = name_aarch64(p, code, s->address, address, start, size);
	} else if (e->machine == EM_X86_64) {
		if (s->entry_size == 8)
			entry = 8;
		*start += (address - s->address) / entry * entry;
		cursor_skip(&code, *start - s->address);
		*size = cursor_left(&code) < entry ? cursor_left(&code) : entry;
		*name = name_x86(p, cursor_sub(&code, *size), *start);
	}
	return true;
}

void plt_done(struct plt *p)
{
	map_done(&p->slots);
	vec_done(&p->order);
	*p = (struct plt){ 0 };
}
