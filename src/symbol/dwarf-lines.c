/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a unit's line program once against the wanted addresses. No row is kept, and sequences are
 * told apart: those of code that the linker left out start at 0 and lie over the real ones when
 * rows are only sorted by address. Source: DWARF 5, section 6.2.
 */
#include "symbol/dwarf-parts.h"

#include <dwarf.h>

enum {
	LINES_MAX_FILES = 1 << 20,
	LINES_MAX_FORMATS = 32,
};
/* Of line programs in one image; only a hostile file lets units share one over and over. */
#define LINES_MAX_BYTES ((uint64_t)2 << 30)

struct program {
	struct cursor c; /* the opcodes */
	uint8_t min_instruction, max_ops, line_range, opcode_base;
	int8_t line_base;
	uint8_t lengths[256]; /* operands of standard opcodes */
};

struct row {
	uint64_t address;
	uint32_t op_index, file;
	int64_t line;
};

struct entry_format {
	uint64_t content;
	uint32_t form;
};

static const char *string_at(const struct cursor *section, uint64_t offset)
{
	struct cursor c = *section;

	cursor_skip(&c, offset);
	return cursor_fixed_str(&c, cursor_left(&c));
}

static const char *inline_string(struct cursor *c)
{
	const uint8_t *zero = memchr(c->at, 0, cursor_left(c));
	const uint8_t *text = cursor_bytes(c, zero ? (uint64_t)(zero - c->at) + 1 : UINT64_MAX);

	return text ? (const char *)text : "";
}

static uint64_t read_offset(const struct line_reader *r, struct cursor *c)
{
	return r->offset_size == 8 ? cursor_u64(c) : cursor_u32(c);
}

/* A name or a directory index of the tables of version 5. */
static bool read_field(struct line_reader *r, struct cursor *c, const struct entry_format *f,
		       struct line_file *out)
{
	struct dwarf_unit_shape shape = { r->version, r->address_size, r->offset_size };
	uint64_t number = 0;

	switch (f->form) {
	case DW_FORM_string:
		out->name = f->content == DW_LNCT_path ? inline_string(c) :
							 (inline_string(c), out->name);
		return true;
	case DW_FORM_line_strp:
	case DW_FORM_strp:
		number = read_offset(r, c);
		if (f->content == DW_LNCT_path)
			out->name = string_at(
				f->form == DW_FORM_strp ? &r->strings : &r->line_strings, number);
		return true;
	case DW_FORM_udata:
		number = dwarf_uleb(c);
		break;
	case DW_FORM_data1:
		number = cursor_u8(c);
		break;
	case DW_FORM_data2:
		number = cursor_u16(c);
		break;
	case DW_FORM_data4:
		number = cursor_u32(c);
		break;
	default:
		return dwarf_skip_form(c, f->form, &shape);
	}
	if (f->content == DW_LNCT_directory_index)
		out->directory = number;
	return true;
}

/* Directories or files of version 5. */
static bool read_table(struct line_reader *r, struct cursor *c, bool files)
{
	struct entry_format formats[LINES_MAX_FORMATS];
	uint64_t format_count = cursor_u8(c);
	uint64_t count;

	if (format_count > LINES_MAX_FORMATS)
		return false;
	for (uint64_t i = 0; i < format_count; i++) {
		formats[i].content = dwarf_uleb(c);
		formats[i].form = (uint32_t)dwarf_uleb(c);
	}
	count = dwarf_uleb(c);
	if (count > LINES_MAX_FILES || (count && !format_count))
		return false;
	for (uint64_t n = 0; n < count && !c->failed; n++) {
		struct line_file f = { .name = "" };

		for (uint64_t i = 0; i < format_count; i++)
			if (!read_field(r, c, &formats[i], &f))
				return false;
		if (files)
			vec_add(&r->files, f);
		else
			vec_add(&r->directories, f.name);
	}
	return !c->failed;
}

/* One file entry of versions 2 to 4, also defined in the midst of a program. */
static void read_old_file(struct line_reader *r, struct cursor *c, const char *name)
{
	struct line_file f = { .name = name, .directory = dwarf_uleb(c) };

	(void)dwarf_uleb(c); /* time */
	(void)dwarf_uleb(c); /* length */
	if (r->files.len < LINES_MAX_FILES)
		vec_add(&r->files, f);
}

static bool read_old_tables(struct line_reader *r, struct cursor *c)
{
	const char *name;

	/* Directory 0 is the unit's own, and files count from 1. */
	vec_add(&r->directories, "");
	vec_add(&r->files, ((struct line_file){ .name = "" }));
	while (*(name = inline_string(c)))
		vec_add(&r->directories, name);
	while (*(name = inline_string(c)))
		read_old_file(r, c, name);
	return !c->failed;
}

static bool read_header(struct line_reader *r, struct cursor c, struct program *p)
{
	struct cursor tables;
	uint64_t length = cursor_u32(&c);

	r->offset_size = 4;
	if (length == UINT32_MAX) {
		r->offset_size = 8;
		length = cursor_u64(&c);
	}
	c = cursor_sub(&c, length);
	r->version = cursor_u16(&c);
	r->address_size = 8;
	if (r->version >= 5) {
		r->address_size = cursor_u8(&c);
		cursor_skip(&c, 1); /* segment selectors */
	}
	tables = cursor_sub(&c, read_offset(r, &c));
	*p = (struct program){ .c = c, .max_ops = 1 };
	p->min_instruction = cursor_u8(&tables);
	if (r->version >= 4)
		p->max_ops = cursor_u8(&tables);
	cursor_skip(&tables, 1); /* default is_stmt */
	p->line_base = (int8_t)cursor_u8(&tables);
	p->line_range = cursor_u8(&tables);
	p->opcode_base = cursor_u8(&tables);
	for (unsigned i = 1; i < p->opcode_base; i++)
		p->lengths[i] = cursor_u8(&tables);
	if (tables.failed || c.failed || r->version < 2 || r->version > 5 || !p->line_range ||
	    !p->opcode_base)
		return false;
	if (!p->max_ops)
		p->max_ops = 1;
	vec_clear(&r->directories);
	vec_clear(&r->files);
	return r->version >= 5 ? read_table(r, &tables, false) && read_table(r, &tables, true) :
				 read_old_tables(r, &tables);
}

static void advance(const struct program *p, struct row *row, uint64_t operations)
{
	uint64_t ops = row->op_index + operations;

	row->address += p->min_instruction * (ops / p->max_ops);
	row->op_index = (uint32_t)(ops % p->max_ops);
}

/* Where in a sequence the reader is. */
struct sequence {
	struct row row, last; /* the registers; the row given out last */
	size_t next;	      /* first wanted address not below last */
	bool started, dead;   /* dead: of code that isn't there */
};

/* A row ends the span of the one before it. */
static void emit(struct line_reader *r, struct sequence *s, struct line_place *places)
{
	const struct wanted *w = &r->wanted;

	if (!s->started) {
		s->started = true;
		s->dead = s->row.address < r->text_start;
		s->next = wanted_lower(w, s->row.address);
	} else if (s->row.address < s->last.address) {
		s->next = wanted_lower(w, s->row.address);
	} else if (!s->dead) {
		for (; s->next < w->count && w->at[s->next] < s->row.address; s->next++) {
			struct line_place *place = &places[s->next];

			if (place->file != MODEL_NONE)
				continue;
			place->file = s->last.file;
			place->line = s->last.line > 0 && s->last.line <= INT32_MAX ?
					      (uint32_t)s->last.line :
					      0;
		}
	}
	s->last = s->row;
}

static void begin(struct sequence *s)
{
	*s = (struct sequence){ .row = { .file = 1, .line = 1 } };
}

static void extended(struct line_reader *r, struct program *p, struct sequence *s,
		     struct line_place *places)
{
	struct cursor c = cursor_sub(&p->c, dwarf_uleb(&p->c));
	uint8_t opcode = cursor_u8(&c);

	switch (opcode) {
	case DW_LNE_end_sequence:
		emit(r, s, places);
		begin(s);
		break;
	case DW_LNE_set_address:
		s->row.address = cursor_left(&c) >= 8 ? cursor_u64(&c) : cursor_u32(&c);
		s->row.op_index = 0;
		break;
	case DW_LNE_define_file:
		read_old_file(r, &c, inline_string(&c));
		break;
	default:
		break;
	}
}

static void standard(struct program *p, struct sequence *s, uint8_t opcode)
{
	struct row *row = &s->row;

	switch (opcode) {
	case DW_LNS_advance_pc:
		advance(p, row, dwarf_uleb(&p->c));
		break;
	case DW_LNS_advance_line:
		row->line = (int64_t)((uint64_t)row->line + (uint64_t)dwarf_sleb(&p->c));
		break;
	case DW_LNS_set_file:
		row->file = (uint32_t)dwarf_uleb(&p->c);
		break;
	case DW_LNS_const_add_pc:
		advance(p, row, (255u - p->opcode_base) / p->line_range);
		break;
	case DW_LNS_fixed_advance_pc:
		row->address += cursor_u16(&p->c);
		row->op_index = 0;
		break;
	default:
		/* Columns, flags, instruction sets, and what later versions add. */
		for (unsigned i = 0; i < p->lengths[opcode]; i++)
			(void)dwarf_uleb(&p->c);
	}
}

bool line_read(struct line_reader *r, const char *path, uint64_t offset, struct line_place *places,
	       struct err *err)
{
	struct cursor c = r->lines;
	struct sequence s;
	struct program p;

	cursor_skip(&c, offset);
	if (!read_header(r, c, &p))
		return err_set(err, ERR_FORMAT, "%s: line table at .debug_line+0x%llx is damaged",
			       path, (unsigned long long)offset);
	r->bytes += cursor_left(&p.c);
	if (r->bytes > LINES_MAX_BYTES)
		return err_set(err, ERR_LIMIT, "%s: line tables beyond reason", path);
	begin(&s);
	while (cursor_left(&p.c)) {
		uint8_t opcode = cursor_u8(&p.c);

		if (opcode >= p.opcode_base) {
			unsigned special = (unsigned)opcode - p.opcode_base;

			advance(&p, &s.row, special / p.line_range);
			s.row.line += p.line_base + (int)(special % p.line_range);
			emit(r, &s, places);
		} else if (opcode == DW_LNS_copy) {
			emit(r, &s, places);
		} else if (opcode) {
			standard(&p, &s, opcode);
		} else {
			extended(r, &p, &s, places);
		}
	}
	if (p.c.failed)
		return err_set(err, ERR_FORMAT, "%s: line program at .debug_line+0x%llx is damaged",
			       path, (unsigned long long)offset);
	return true;
}

static void add_part(struct buf *path, const char *part)
{
	if (!part[0])
		return;
	if (part[0] == '/')
		buf_clear(path);
	if (path->len && path->at[path->len - 1] != '/')
		buf_puts(path, "/");
	buf_puts(path, part);
}

uint32_t line_file(struct line_reader *r, uint64_t index, struct intern *files)
{
	buf_auto path = { 0 };
	struct line_file *f;

	if (index >= r->files.len || !r->files.at[index].name[0])
		return MODEL_NONE;
	f = &r->files.at[index];
	if (f->interned)
		return f->interned - 1;
	add_part(&path, r->directory);
	if (f->directory < r->directories.len)
		add_part(&path, r->directories.at[f->directory]);
	add_part(&path, f->name);
	f->interned = line_put_path(files, buf_str(&path)) + 1;
	return f->interned - 1;
}

/* "a/b/../c/./d" is shown as "a/c/d": build systems make such paths, people do not read them. */
uint32_t line_put_path(struct intern *files, const char *path)
{
	struct str rest = str_of(path), part;
	buf_auto clean = { 0 };
	size_t root = path[0] == '/';

	if (root)
		buf_puts(&clean, "/");
	while (str_cut(&rest, '/', &part)) {
		const char *last = strrchr(buf_str(&clean) + root, '/');
		const char *name = last ? last + 1 : buf_str(&clean) + root;

		if (!part.len || str_eq(part, ".") ||
		    (root && clean.len == root && str_eq(part, "..")))
			continue;
		if (str_eq(part, "..") && clean.len > root && strcmp(name, "..") != 0) {
			clean.len = (size_t)((last ? last : name) - buf_str(&clean));
			clean.at[clean.len] = 0;
			continue;
		}
		if (clean.len > root)
			buf_u8(&clean, '/');
		buf_add(&clean, part.at, part.len);
	}
	return intern_put(files, (struct str){ buf_str(&clean), clean.len });
}

void line_done(struct line_reader *r)
{
	vec_done(&r->directories);
	vec_done(&r->files);
}
