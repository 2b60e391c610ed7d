/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code of a function: which stretches of the image it is, what they decode to, and what
 * symbols and DWARF say of each instruction.
 */
#include "symbol/code.h"

#include "symbol/parts.h"

#include <stdlib.h>
#include <sys/stat.h>

/* Shown around a sampled address that no symbol holds. A64 can be read backwards, x86 cannot. */
enum { STRETCH_BYTES = 64 };

struct stretch {
	uint64_t start, end;
	const char *name; /* in the arena of the code */
};

struct mark { /* AAELF64 5.5.4: from here on the section holds code or data */
	uint64_t address;
	bool is_data;
};

struct work {
	const struct code_request *request;
	struct code *out;
	struct image_files files;
	struct plt plt;
	struct dwarf_file dwarf;
	VEC(struct stretch) extra;
	VEC(struct mark) marks;
	uint64_t next_start; /* the nearest symbol behind the request's address */
	struct map inlined;  /* raw name as DWARF points to it -> its id in texts */
};

static const char *keep(struct work *w, const char *text)
{
	uint32_t id = intern_put(&w->out->texts, str_of(text));

	return w->out->texts.names.at[id];
}

static bool open_image(struct work *w, struct err *err)
{
	const struct code_request *r = w->request;
	const struct elf_file *e = &w->files.image;
	struct image_source from = {
		.path = r->path,
		.access = ELF_COPY,
		.debug_dir = r->debug_dir ? r->debug_dir : "/usr/lib/debug",
	};
	struct stat st;

	if (!image_files_open(&w->files, &from, err))
		return false;
	if ((e->machine != EM_X86_64 && e->machine != EM_AARCH64) || !e->is_64)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: no disassembler for this architecture (ELF machine %u, %s-bit)",
			       r->path, e->machine, e->is_64 ? "64" : "32");
	if (e->type == ET_REL)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s was not linked: its calls have no targets yet", r->path);
	w->out->arch = e->machine == EM_AARCH64 ? DISASM_AARCH64 : DISASM_X86_64;
	if (!stat(r->path, &st))
		w->out->built_ns = os_mtime_ns(&st);
	return true;
}

static bool is_mark(const struct select_symbol *s)
{
	const char *name = s->name;

	return name[0] == '$' && (name[1] == 'x' || name[1] == 'd') && (!name[2] || name[2] == '.');
}

static void note_symbol(void *ctx, const struct select_symbol *s)
{
	struct work *w = ctx;

	if (w->out->arch == DISASM_AARCH64 && is_mark(s))
		vec_add(&w->marks, ((struct mark){ s->address, s->name[1] == 'd' }));
	else if (s->address > w->request->address && s->address < w->next_start)
		w->next_start = s->address;
}

static int compare_mark(const void *a, const void *b)
{
	const struct mark *x = a;
	const struct mark *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->is_data - y->is_data;
}

static void note_symbols(struct work *w)
{
	w->next_start = UINT64_MAX;
	elf_each_symbol(w->files.names, note_symbol, w);
	if (w->marks.len)
		qsort(w->marks.at, w->marks.len, sizeof(w->marks.at[0]), compare_mark);
}

/* Index of the first mark behind the address. */
static size_t mark_after(const struct work *w, uint64_t address)
{
	size_t low = 0;
	size_t high = w->marks.len;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (w->marks.at[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static uint64_t end_of(uint64_t start, uint64_t size)
{
	uint64_t end;

	return __builtin_add_overflow(start, size, &end) ? UINT64_MAX : end;
}

/* The PLT stub at an address; false when it is in none. */
static bool find_stub(struct work *w, uint64_t address, struct stretch *out)
{
	const char *name;
	uint64_t start;
	uint64_t size;

	if (!plt_find(&w->plt, &w->files.image, address, &name, &start, &size))
		return false;
	out->start = start;
	out->end = end_of(start, size);
	out->name = arena_printf(&w->out->arena, "%s@plt",
				 name ? symbol_display_name(&w->out->arena, name) : "");
	return true;
}

/* What wanted address i of s lies in: a symbol's code, a stub, or a stretch without a name. */
static struct stretch stretch_of(struct work *w, const struct select *s, size_t i)
{
	struct select_symbol sym = select_get(s, i);
	uint64_t address = s->wanted.at[i];
	uint64_t back = w->out->arch == DISASM_AARCH64 ? STRETCH_BYTES : 0;
	struct stretch at = {
		.start = address > back ? (address - back) & ~(uint64_t)(back ? 3 : 0) : 0,
		.end = end_of(address, STRETCH_BYTES),
		.name = "",
	};

	if (sym.name) {
		at.start = sym.address;
		at.end = end_of(sym.address, sym.size);
		at.name = symbol_display_name(&w->out->arena, sym.name);
	} else {
		(void)find_stub(w, address, &at);
	}
	return at;
}

static struct stretch entry_of(struct work *w, const struct select *s)
{
	const struct code_request *r = w->request;
	struct stretch entry = stretch_of(w, s, wanted_lower(&s->wanted, r->address));
	const struct elf_section *section = elf_code_at(&w->files.image, r->address);

	if (r->size) {
		entry.end = end_of(r->address, r->size);
	} else if (!entry.name[0]) {
		entry.end = section ? end_of(section->address, section->size) : UINT64_MAX;
		if (w->next_start < entry.end)
			entry.end = w->next_start;
	}
	entry.start = r->address;
	return entry;
}

static int compare_stretch(const void *a, const void *b)
{
	const struct stretch *x = a;
	const struct stretch *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

/* The part of a stretch that holds the address and lies outside of the entry. */
static void keep_outside(struct stretch *s, const struct stretch *entry, uint64_t address)
{
	if (address >= entry->end && s->start < entry->end)
		s->start = entry->end;
	if (address < entry->start && s->end > entry->start)
		s->end = entry->start;
}

/* By address, without overlaps; stretches without a name grow together. */
static void join_extra(struct work *w)
{
	size_t kept = 0;

	if (w->extra.len)
		qsort(w->extra.at, w->extra.len, sizeof(w->extra.at[0]), compare_stretch);
	vec_each(s, &w->extra) {
		struct stretch *last = kept ? &w->extra.at[kept - 1] : NULL;

		if (last && s->start <= last->end && !s->name[0] && !last->name[0]) {
			last->end = s->end > last->end ? s->end : last->end;
			continue;
		}
		if (last && s->start < last->end)
			s->start = last->end;
		if (s->start < s->end)
			w->extra.at[kept++] = *s;
	}
	w->extra.len = kept;
}

/* Finds the entry and the other stretches that samples lie in. */
static bool find_stretches(struct work *w, struct stretch *entry, struct err *err)
{
	const struct code_request *r = w->request;
	uint64_t *at = mem_alloc((r->sampled_count + 1) * sizeof(at[0]));
	struct select s;
	bool good;

	at[0] = r->address;
	for (size_t i = 0; i < r->sampled_count; i++)
		at[i + 1] = r->sampled[i];
	select_init(&s, wanted_sort(at, r->sampled_count + 1));
	good = elf_select(w->files.names, &s, err);
	select_finish(&s);
	if (good) {
		*entry = entry_of(w, &s);
		for (size_t i = 0; i < s.wanted.count; i++) {
			struct stretch extra;

			if (at[i] >= entry->start && at[i] < entry->end)
				continue;
			extra = stretch_of(w, &s, i);
			keep_outside(&extra, entry, at[i]);
			vec_add(&w->extra, extra);
		}
		join_extra(w);
	}
	select_done(&s);
	free(at);
	return good;
}

static void add_insn(struct work *w, struct disasm_insn got, uint64_t address, bool is_data,
		     const char *text)
{
	struct code *c = w->out;

	vec_add(&c->insns, ((struct code_insn){
				   .address = address,
				   .target = got.target,
				   .size = got.size,
				   .piece = (uint32_t)c->pieces.len - 1,
				   .file = MODEL_NONE,
				   .text = keep(w, text),
				   .known = got.known,
				   .has_target = got.has_target,
				   .is_data = is_data,
			   }));
	c->unknown += !got.known;
}

static struct disasm_insn put_data(struct cursor c, uint64_t address, struct buf *text)
{
	struct disasm_insn got = { .size = 1, .known = true };

	if (cursor_left(&c) >= 4 && address % 4 == 0) {
		got.size = 4;
		buf_printf(text, ".word\t0x%08x", cursor_u32(&c));
	} else {
		buf_printf(text, ".byte\t0x%02x", cursor_u8(&c));
	}
	return got;
}

/*
 * One piece, mark by mark: what lies between two of them is all code or all data. code may go on
 * behind the end; then the piece ends in front of an instruction that does so too. Returns where.
 */
static uint64_t decode(struct work *w, struct disasm *d, struct cursor code, uint64_t address,
		       uint64_t end)
{
	size_t next = mark_after(w, address);
	buf_auto text = { 0 };

	while (address < end) {
		bool is_data = next && w->marks.at[next - 1].is_data;
		uint64_t stop = next < w->marks.len && w->marks.at[next].address < end ?
					w->marks.at[next].address :
					end;
		struct cursor part = cursor_sub(&code, stop - address);

		while (cursor_left(&part)) {
			/* All that is there, to tell an instruction that is cut from none. */
			size_t left = cursor_left(&part) + (stop == end ? cursor_left(&code) : 0);
			struct disasm_insn got;

			buf_clear(&text);
			got = is_data ? put_data(part, address, &text) :
					disasm_next(d, part.at, left, address, &text);
			if (got.size > cursor_left(&part))
				return address;
			add_insn(w, got, address, is_data, buf_str(&text));
			cursor_skip(&part, got.size);
			address += got.size;
		}
		next++;
	}
	return end;
}

/* Leaves of a stretch what is there; *cut is the number of bytes that are not. */
static bool fit(struct work *w, struct stretch *s, uint64_t *cut, struct err *err)
{
	uint64_t size = s->end - s->start;
	struct cursor code;

	if (!elf_file_code(&w->files.image, s->start, &code, err))
		return false;
	*cut = size > cursor_left(&code) ? size - cursor_left(&code) : 0;
	s->end -= *cut;
	return true;
}

static bool add_piece(struct work *w, struct disasm *d, const struct stretch *s, struct err *err)
{
	size_t at = w->out->pieces.len;
	struct cursor code;
	uint64_t end;

	if (!elf_file_code(&w->files.image, s->start, &code, err))
		return false;
	/* What a symbol says the end is is one. */
	if (s->name[0])
		code = cursor_sub(&code, s->end - s->start);
	vec_add(&w->out->pieces, ((struct code_piece){ s->start, 0, s->name }));
	end = decode(w, d, code, s->start, s->end);
	w->out->pieces.at[at].size = end - s->start;
	if (end == s->start)
		w->out->pieces.len = at;
	return true;
}

/* Bytes that are asked for, before any are read. */
static bool check_size(const struct work *w, const struct stretch *entry, struct err *err)
{
	uint64_t sum = entry->end - entry->start;

	vec_each(s, &w->extra)
		sum = end_of(sum, s->end - s->start);
	if (sum <= CODE_MAX_BYTES)
		return true;
	return err_set(err, ERR_LIMIT,
		       "%s: the function at 0x%llx has 0x%llx bytes of code; 0x%x is the most",
		       w->request->path, (unsigned long long)entry->start, (unsigned long long)sum,
		       (unsigned)CODE_MAX_BYTES);
}

/* A sample may name what is in no file, a stack for instance; then the rest stays. */
static void fit_extra(struct work *w)
{
	size_t kept = 0;

	vec_each(s, &w->extra) {
		struct err ignored;
		uint64_t cut;

		if (fit(w, s, &cut, &ignored))
			w->extra.at[kept++] = *s;
	}
	w->extra.len = kept;
}

static bool read_pieces(struct work *w, struct err *err)
{
	struct disasm *d = NULL;
	struct stretch entry;
	bool good;

	if (!find_stretches(w, &entry, err) || !fit(w, &entry, &w->out->size_cut, err))
		return false;
	if (!w->request->size)
		w->out->size_cut = 0;
	fit_extra(w);
	/* Without a size it may be the whole of what is left; there is no use in failing then. */
	if (!w->request->size && entry.end - entry.start > CODE_MAX_BYTES)
		entry.end = entry.start + CODE_MAX_BYTES / 2;
	if (!check_size(w, &entry, err) || !disasm_new(&d, w->out->arch, w->request->syntax, err))
		return false;
	good = add_piece(w, d, &entry, err);
	vec_each(s, &w->extra)
		good = good && add_piece(w, d, s, err);
	disasm_free(d);
	return good;
}

/* The name of wanted address i: "chase", "chase+0x10", "puts@plt"; NULL when none is known. */
static const char *place_name(struct work *w, const struct select *s, size_t i)
{
	struct select_symbol sym = select_get(s, i);
	uint64_t address = s->wanted.at[i];
	arena_auto scratch = { 0 };
	struct stretch stub;
	const char *name;

	if (sym.name) {
		name = symbol_display_name(&scratch, sym.name);
	} else if (find_stub(w, address, &stub) && stub.name[0] != '@') {
		name = stub.name;
		sym.address = stub.start;
	} else {
		return NULL;
	}
	if (address == sym.address)
		return keep(w, name);
	return keep(w, arena_printf(&scratch, "%s+0x%llx", name,
				    (unsigned long long)(address - sym.address)));
}

static bool name_targets(struct work *w, struct err *err)
{
	struct code *c = w->out;
	uint64_t *at = mem_alloc((c->insns.len + 1) * sizeof(at[0]));
	const char **names;
	size_t count = 0;
	struct select s;
	bool good;

	vec_each(insn, &c->insns)
		if (insn->has_target)
			at[count++] = insn->target;
	select_init(&s, wanted_sort(at, count));
	good = elf_select(w->files.names, &s, err);
	select_finish(&s);
	names = mem_alloc((s.wanted.count + 1) * sizeof(names[0]));
	for (size_t i = 0; good && i < s.wanted.count; i++)
		names[i] = place_name(w, &s, i);
	vec_each(insn, &c->insns)
		if (insn->has_target)
			insn->target_text = names[wanted_lower(&s.wanted, insn->target)];
	free(names);
	select_done(&s);
	free(at);
	return good;
}

static const char *inlined_name(struct work *w, const char *raw)
{
	bool is_new;
	uint64_t *id = map_put(&w->inlined, (uint64_t)(uintptr_t)raw, &is_new);

	if (is_new) {
		arena_auto scratch = { 0 };

		*id = intern_put(&w->out->texts, str_of(symbol_display_name(&scratch, raw)));
	}
	return w->out->texts.names.at[*id];
}

static void fill_lines(struct work *w, const struct wanted *wanted)
{
	bool found = false;

	vec_each(insn, &w->out->insns) {
		const struct dwarf_answer *a =
			&w->dwarf.answers[wanted_lower(wanted, insn->address)];

		insn->file = a->line ? a->file : MODEL_NONE;
		insn->line = a->line;
		if (a->count)
			insn->inlined = inlined_name(w, w->dwarf.inlines.at[a->first].name);
		found = found || a->line;
	}
	if (!found && !w->out->lines_why)
		w->out->lines_why = arena_printf(&w->out->arena,
						 "the debug information of %s has no lines here",
						 w->files.lines->path);
}

static void explain_no_lines(struct work *w, const char *debug_dir)
{
	struct code *c = w->out;
	const char *path = w->request->path;
	const char *id = w->files.build_id;

	if (w->files.debug_path)
		c->lines_why = arena_printf(&c->arena, "neither %s nor %s has line tables", path,
					    w->files.debug_path);
	else if (id[0])
		c->lines_why = arena_printf(
			&c->arena, "%s has no line tables, and %s no debug file of build id %s",
			path, debug_dir, id);
	else
		c->lines_why =
			arena_printf(&c->arena,
				     "%s has no line tables, and no build id to find a debug "
				     "file by",
				     path);
}

static void read_lines(struct work *w)
{
	const char *debug_dir = w->request->debug_dir ? w->request->debug_dir : "/usr/lib/debug";
	struct code *c = w->out;
	struct wanted wanted;
	struct err err;
	uint64_t *at;

	if (!w->files.lines) {
		explain_no_lines(w, debug_dir);
		return;
	}
	at = mem_alloc((c->insns.len + 1) * sizeof(at[0]));
	for (size_t i = 0; i < c->insns.len; i++)
		at[i] = c->insns.at[i].address;
	wanted = wanted_sort(at, c->insns.len);
	if (!dwarf_resolve(&w->dwarf, w->files.lines, wanted, DWARF_LINES | DWARF_INLINES,
			   debug_dir, &c->files, &err))
		c->lines_why = arena_strdup(&c->arena, err.text);
	fill_lines(w, &wanted);
	free(at);
}

static void work_done(struct work *w)
{
	dwarf_file_done(&w->dwarf);
	plt_done(&w->plt);
	image_files_close(&w->files);
	vec_done(&w->extra);
	vec_done(&w->marks);
	map_done(&w->inlined);
}

bool code_read(struct code **out, const struct code_request *request, struct err *err)
{
	struct work w = { .request = request, .out = mem_alloc(sizeof(*w.out)) };
	bool good = open_image(&w, err);

	if (good) {
		note_symbols(&w);
		good = read_pieces(&w, err) && name_targets(&w, err);
	}
	if (good)
		read_lines(&w);
	work_done(&w);
	if (!good) {
		code_free(w.out);
		return false;
	}
	*out = w.out;
	return true;
}

void code_free(struct code *c)
{
	if (!c)
		return;
	vec_done(&c->pieces);
	vec_done(&c->insns);
	intern_done(&c->files);
	intern_done(&c->texts);
	arena_done(&c->arena);
	free(c);
}
