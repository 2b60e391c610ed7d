/* SPDX-License-Identifier: Apache-2.0 */
/* Which symbol names an address: sizes, aliases, cold parts, stubs, marks, return addresses. */
#include "build.h"

#include <stdlib.h>

static const char asm_source[] =
	"#include <stdlib.h>\n"
	"static volatile unsigned long total;\n"
	"__asm__(\".text\\n.globl bare\\nbare:\\n nop\\n nop\\n nop\\n\"\n"
	"	\".Linside:\\n nop\\n ret\\n\"\n"
	"	\".globl sized\\n.type sized,%function\\nsized: nop\\n ret\\n\"\n"
	"	\".size sized,.-sized\\n nop\\n nop\\n nop\\n nop\\n\"\n"
	"	\".globl behind\\nbehind: ret\\n\");\n"
	"__attribute__((noinline)) void shared(unsigned long n)\n"
	"{ while (n--) total += n; }\n"
	"extern __typeof(shared) __hidden_shared __attribute__((alias(\"shared\")));\n"
	"extern __typeof(shared) weak_one __attribute__((weak, alias(\"shared\")));\n"
	"__attribute__((noreturn, noinline)) void quit(void) { total++; exit(0); }\n"
	"__attribute__((noinline)) void calls_quit(void) { quit(); }\n"
	"__attribute__((noinline)) void neighbour(void) { total++; }\n"
	"void bare(void); void sized(void); void behind(void);\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	bare(); sized(); behind(); shared((unsigned long)argc);\n"
	"	if (argv[1]) neighbour();\n"
	"	calls_quit();\n"
	"}\n";

static void check_asm(const char *compiler)
{
	const char *path = build_path("a");
	uint64_t bare;
	uint64_t sized;
	uint64_t shared;
	struct ask a;

	build_file("a.c", asm_source);
	build_run("%s -O1 -g -fno-optimize-sibling-calls a.c -o a", compiler);
	bare = build_symbol(path, "bare");
	sized = build_symbol(path, "sized");
	shared = build_symbol(path, "shared");
	ask_init(&a, path);
	ask_address(&a, bare);
	ask_address(&a, sized - 1);
	ask_address(&a, sized);
	ask_address(&a, build_symbol(path, "behind") - 1);
	ask_address(&a, shared + 4);
	ask_return(&a, build_symbol(path, "neighbour"));
	ask_address(&a, build_symbol(path, "neighbour"));
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "bare");
	CHECK_EQ_STR(ask_name(&a, 1), "bare");
	CHECK_EQ_U64(ask_function(&a, 0, 0)->size, sized - bare);
	CHECK_EQ_STR(ask_name(&a, 2), "sized");
	CHECK_EQ_STR(ask_name(&a, 3), "[unknown]");
	CHECK_EQ_STR(ask_name(&a, 4), "shared");
	/* The call is the last instruction; its return address is the neighbour's first. */
	CHECK_EQ_STR(ask_name(&a, 5), "calls_quit");
	CHECK_EQ_STR(ask_name(&a, 6), "neighbour");
	CHECK_EQ_U64(a.symbols->addr_values[5], a.symbols->addr_values[6]);
	CHECK_EQ_U64(a.symbols->unknown_addrs, 1);
	ask_done(&a);
}

TEST(asm_aliases_and_returns)
{
	build_needs("gcc");
	check_asm("gcc");
}

TEST(asm_aliases_and_returns_aarch64)
{
	build_needs("aarch64-linux-gnu-gcc");
	check_asm("aarch64-linux-gnu-gcc");
}

/* Feeds symbols in one order and its reverse; the name at address must be the same. */
static const char *select_both_ways(const struct select_symbol *symbols, size_t count,
				    uint64_t address)
{
	struct wanted w = { &address, 1 };
	const char *names[2];

	for (int way = 0; way < 2; way++) {
		struct select s;

		select_init(&s, w);
		for (size_t i = 0; i < count; i++) {
			const struct select_symbol *sym = &symbols[way ? count - 1 - i : i];

			if (select_matters(&s, sym->address, sym->size))
				select_add(&s, sym);
		}
		select_finish(&s);
		names[way] = select_get(&s, 0).name;
		select_done(&s);
	}
	CHECK_EQ_STR(names[0], names[1]);
	return names[0];
}

TEST(alias_rule)
{
	const uint8_t function = SELECT_FUNCTION;
	struct select_symbol s[] = {
		{ "__GI_strtok", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_LOCAL) },
		{ "__strtok", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_GLOBAL) },
		{ "strtok", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_WEAK) },
		{ "label", 0x100, 0x20, 0x1000, 0, SELECT_GLOBAL },
		{ "_strtoklong", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_GLOBAL) },
		{ "_strtokb", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_GLOBAL) },
		{ "_strtoka", 0x100, 0x20, 0x1000, 0, (uint8_t)(function + SELECT_GLOBAL) },
	};

	CHECK_EQ_STR(select_both_ways(s, 1, 0x110), "__GI_strtok");
	CHECK_EQ_STR(select_both_ways(s, 2, 0x110), "__strtok");
	CHECK_EQ_STR(select_both_ways(s, 4, 0x110), "__strtok");
	CHECK_EQ_STR(select_both_ways(s + 2, 2, 0x110), "strtok");
	CHECK_EQ_STR(select_both_ways(s, 5, 0x110), "_strtoklong");
	CHECK_EQ_STR(select_both_ways(s, 6, 0x110), "_strtokb");
	CHECK_EQ_STR(select_both_ways(s, 7, 0x110), "_strtoka");
}

TEST(sizes_and_gaps)
{
	struct select_symbol s[] = {
		{ "outer", 0x100, 0x80, 0x1000, 0, SELECT_FUNCTION },
		{ "inner", 0x120, 0x10, 0x1000, 0, SELECT_FUNCTION },
		{ "label", 0x140, 0, 0x1000, 0, SELECT_LOCAL },
		{ "open", 0x200, 0, 0x1000, 0, SELECT_GLOBAL },
		{ "closed", 0x300, 0x10, 0x1000, 0, SELECT_FUNCTION },
		{ "last", 0xff0, 0, 0x1000, 0, SELECT_FUNCTION },
		{ "endless", 0x2000, UINT64_MAX, 0x3000, 0, SELECT_FUNCTION },
	};
	const size_t n = sizeof(s) / sizeof(s[0]);

	CHECK_EQ_STR(select_both_ways(s, n, 0xff), NULL);
	CHECK_EQ_STR(select_both_ways(s, n, 0x110), "outer");
	CHECK_EQ_STR(select_both_ways(s, n, 0x128), "inner");
	/* Behind the inner one, and at a mere label, the outer one still covers. */
	CHECK_EQ_STR(select_both_ways(s, n, 0x138), "outer");
	CHECK_EQ_STR(select_both_ways(s, n, 0x144), "outer");
	CHECK_EQ_STR(select_both_ways(s, n, 0x180), NULL);
	CHECK_EQ_STR(select_both_ways(s, n, 0x2ff), "open");
	CHECK_EQ_STR(select_both_ways(s, n, 0x310), NULL);
	CHECK_EQ_STR(select_both_ways(s, n, 0xfff), "last");
	CHECK_EQ_STR(select_both_ways(s, n, 0x1000), NULL);
	CHECK_EQ_STR(select_both_ways(s, n, UINT64_MAX - 1), "endless");
}

/* Many addresses at once must give what each gives alone. */
TEST(batches_agree_with_single_lookups)
{
	enum { SYMBOLS = 300, ADDRESSES = 700 };
	struct select_symbol symbols[SYMBOLS];
	char names[SYMBOLS][16];
	uint64_t addresses[ADDRESSES];
	uint64_t seed = 12345;
	struct select batch;

	for (unsigned i = 0; i < SYMBOLS; i++) {
		seed = hash_u64(seed + i);
		snprintf(names[i], sizeof(names[i]), "f%u", i);
		symbols[i] = (struct select_symbol){ names[i],
						     0x1000 + seed % 0x1000,
						     seed >> 20 & 3 ? seed >> 24 & 31 : 0,
						     0x1f00,
						     0,
						     (uint8_t)(seed >> 40 & 7) };
	}
	for (unsigned i = 0; i < ADDRESSES; i++)
		addresses[i] = 0x0ff0 + i * 6;
	select_init(&batch, (struct wanted){ addresses, ADDRESSES });
	for (unsigned i = 0; i < SYMBOLS; i++)
		if (select_matters(&batch, symbols[i].address, symbols[i].size))
			select_add(&batch, &symbols[i]);
	select_finish(&batch);
	for (unsigned i = 0; i < ADDRESSES; i++)
		CHECK_EQ_STR(select_get(&batch, i).name,
			     select_both_ways(symbols, SYMBOLS, addresses[i]));
	select_done(&batch);
}

static const char cold_source[] =
	"#include <stdlib.h>\n"
	"#include <stdio.h>\n"
	"__attribute__((cold, noinline)) static void moan(const char *s)\n"
	"{ fputs(s, stderr); }\n"
	"__attribute__((noinline)) int work(int n)\n"
	"{\n"
	"	if (n > 100) { moan(\"a\"); moan(\"b\"); abort(); }\n"
	"	return n * 3;\n"
	"}\n"
	"int main(int argc, char **argv) { return work(argc) + !argv; }\n";

TEST(cold_part_counts_with_its_parent)
{
	build_needs("gcc");
	build_file("c.c", cold_source);
	build_run("gcc -O2 -g c.c -o c");
	if (!*build_ask("nm c | grep 'work\\.cold'"))
		SKIP("this gcc makes no cold part");

	const char *path = build_path("c");
	struct ask a;

	ask_init(&a, path);
	ask_address(&a, build_symbol(path, "work.cold"));
	ask_address(&a, build_symbol(path, "work"));
	ask_address(&a, build_symbol(path, "work.cold") + 1);
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "work");
	CHECK_EQ_INT(ask_frame(&a, 0, 0)->function.i, ask_frame(&a, 1, 0)->function.i);
	CHECK_EQ_INT(ask_frame(&a, 2, 0)->function.i, ask_frame(&a, 1, 0)->function.i);
	CHECK_EQ_U64(ask_function(&a, 0, 0)->address, build_symbol(path, "work"));
	CHECK_HAS(ask_chain(&a, 0), "work (c.c:");
	ask_done(&a);
}

struct symbol_list {
	VEC(struct select_symbol) at;
	struct intern names;
	struct map place; /* name and file -> address */
};

static uint64_t list_key(struct symbol_list *l, const char *name, uint32_t file)
{
	return (uint64_t)intern_put(&l->names, str_of(name)) << 32 | file;
}

static void list_add(void *ctx, const struct select_symbol *sym)
{
	struct symbol_list *l = ctx;

	vec_add(&l->at, *sym);
	*map_put(&l->place, list_key(l, sym->name, sym->file), NULL) = sym->address;
}

enum { COLD_PAIRS = 15000 };

/* Static functions of the same names in both files, each with its cold part. */
static void write_cold_file(const char *name, const char *more)
{
	buf_auto text = { 0 };

	buf_printf(&text, ".file \"%s.c\"\n.text\n", name);
	for (int i = 0; i < COLD_PAIRS; i++)
		buf_printf(&text,
			   ".type s%d,%%function\ns%d: .long 0\n.size s%d,4\n"
			   ".type s%d.cold,%%function\ns%d.cold: .long 0\n.size s%d.cold,4\n",
			   i, i, i, i, i, i);
	buf_puts(&text, more);
	build_file(build_keep("%s.s", name), buf_str(&text));
}

#define LABEL(name) ".type " name ",%function\n" name ": .long 0\n.size " name ",4\n"

/* However many parts were hit, the table is searched a fixed number of times. */
TEST_TIMEOUT(cold_parts_find_the_parent_of_their_own_file, 40)
{
	build_needs("gcc");
	write_cold_file("a", ".globl h\n" LABEL("h") LABEL("only"));
	write_cold_file("b", ".globl best\n.type best,%function\n.size best,4\nbest:\n" LABEL(
				     "plain") LABEL("plain.cold"));
	build_file("c.s", ".file \"c.c\"\n.text\n" LABEL("h.cold.7") LABEL("only.cold")
				  LABEL("s5.cold") LABEL("gone.cold"));
	build_run("gcc -shared -nostdlib a.s b.s c.s -o c");

	const char *path = build_path("c");
	struct symbol_list list = { 0 };
	struct elf_file e;
	struct err err;
	struct ask a;
	VEC(const struct select_symbol *) asked = { 0 };
	uint64_t shift = 0;
	size_t pairs = 0;

	CHECK_MSG(elf_file_open(&e, path, ELF_MAP, &err), "%s", err.text);
	vec_each(s, &e.segments)
		if (s->exec)
			shift = s->offset - s->address;
	elf_each_symbol(&e, list_add, &list);
	ask_init(&a, path);
	vec_each(sym, &list.at) {
		struct str parent;

		if (!cold_is_part(sym->name, &parent))
			continue;
		vec_add(&a.model.addrs, ((struct model_addr){ .address = sym->address + shift }));
		vec_add(&asked, sym);
	}
	ask_resolve(&a);
	for (uint32_t i = 0; i < asked.len; i++) {
		const struct select_symbol *sym = asked.at[i];
		const struct symbol_function *f = ask_function(&a, i, 0);
		const uint64_t *parent;
		struct str name;

		CHECK(cold_is_part(sym->name, &name));
		parent = map_find(&list.place,
				  list_key(&list, build_keep("%.*s", (int)name.len, name.at),
					   sym->file));
		if (sym->name[0] == 's' && parent) {
			pairs++;
			CHECK_EQ_U64(f->address, *parent);
			CHECK(str_eq(name, f->name));
		} else if (!strcmp(sym->name, "h.cold.7") || !strcmp(sym->name, "only.cold")) {
			CHECK(str_eq(name, f->name));
			CHECK_EQ_U64(f->address, build_symbol(path, f->name));
		} else if (!strcmp(sym->name, "plain.cold")) {
			CHECK_EQ_STR(f->name, "best");
		} else {
			/* Two static functions of other files, or none: it stands for itself. */
			CHECK(str_eq(name, f->name));
			CHECK_EQ_U64(f->address, sym->address);
		}
	}
	CHECK_EQ_U64(pairs, 2 * COLD_PAIRS);
	CHECK_EQ_U64(asked.len, 2 * COLD_PAIRS + 5);
	ask_done(&a);
	elf_file_close(&e);
	vec_done(&asked);
	vec_done(&list.at);
	intern_done(&list.names);
	map_done(&list.place);
}

static const char plt_source[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	puts(argv[0]); qsort(argv, 1, 8, (int (*)(const void *, const void *))strcmp);\n"
	"	return atoi(argv[argc - 1]) + (int)strlen(getenv(\"HOME\"));\n"
	"}\n"
	/* So many stubs that the last ones are far from the start. */
	"void more(char *s)\n"
	"{\n"
	"	abs(1); labs(2); atol(s); atof(s); rand(); srand(3); remove(s); rename(s, s);\n"
	"	strcpy(s, s); strcat(s, s); strncpy(s, s, 1); strncat(s, s, 1); strcoll(s, s);\n"
	"	strxfrm(s, s, 1); strpbrk(s, s); strspn(s, s); strcspn(s, s); strtok(s, s);\n"
	"	perror(s); fflush(0); getchar(); putchar(1); fopen(s, s); system(s);\n"
	"}\n";

/* Each stub's name is what the disassembler says of it. */
static void check_plt(const char *compiler, const char *objdump, const char *flags,
		      const char *section, int least)
{
	const char *path = build_path("p");
	int named = 0;
	struct ask a;
	VEC(const char *) expected = { 0 };
	VEC(uint64_t) starts = { 0 };
	struct str rest;
	struct str line;
	buf_auto listing = { 0 };
	struct err err;

	build_file("p.c", plt_source);
	build_run("%s -O1 -w -fno-builtin %s p.c -o p", compiler, flags);
	build_run("%s -d -j %s p | grep -E '^[0-9a-f]+ <.*@plt>:' >stubs || true", objdump,
		  section);
	CHECK(os_load_file(build_path("stubs"), 1 << 20, &listing, &err));
	ask_init(&a, path);
	rest = (struct str){ buf_str(&listing), listing.len };
	while (str_line(&rest, &line)) {
		uint64_t address;
		struct str word;

		CHECK(str_word(&line, &word) && str_hex(word, &address));
		CHECK(str_word(&line, &word) && word.len > 8);
		ask_address(&a, address + 4);
		vec_add(&expected, build_keep("%.*s", (int)word.len - 3, word.at + 1));
		vec_add(&starts, address);
	}
	ask_resolve(&a);
	for (uint32_t i = 0; i < expected.len; i++) {
		if (strchr(expected.at[i], '*'))
			continue; /* an IFUNC's slot has no name */
		CHECK_EQ_STR(ask_name(&a, i), expected.at[i]);
		CHECK_EQ_U64(ask_function(&a, i, 0)->address, starts.at[i]);
		named++;
	}
	CHECK_MSG(named >= least, "only %d stubs in %s", named, section);
	vec_done(&expected);
	vec_done(&starts);
	ask_done(&a);
}

TEST(plt_stubs_x86)
{
#ifndef __x86_64__
	SKIP("not x86-64");
#endif
	build_needs("gcc");
	build_needs("objdump");
	check_plt("gcc", "objdump", "", ".plt.got", 1);
	check_plt("gcc", "objdump", "-fcf-protection=none -Wl,-z,lazy", ".plt", 20);
	check_plt("gcc", "objdump", "-fcf-protection=full -Wl,-z,lazy,-z,ibtplt", ".plt.sec", 20);
	check_plt("gcc", "objdump", "-fcf-protection=full -Wl,-z,now", ".plt.got", 1);
}

TEST(plt_stubs_aarch64)
{
	build_needs("aarch64-linux-gnu-gcc");
	check_plt("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump", "", ".plt", 20);
	check_plt("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump",
		  "-mbranch-protection=standard -Wl,-z,force-bti", ".plt", 20);
	check_plt("aarch64-linux-gnu-gcc", "aarch64-linux-gnu-objdump",
		  "-mbranch-protection=standard -Wl,-z,force-bti,-z,pac-plt", ".plt", 20);
}

static const char marks_source[] =
	"int jump(int n)\n"
	"{\n"
	"	switch (n) {\n"
	"	case 0: return 7; case 1: return 900; case 2: return -4; case 3: return 31;\n"
	"	case 4: return 8; case 5: return 111; case 6: return 66; default: return n;\n"
	"	}\n"
	"}\n"
	"__asm__(\".text\\n.globl pool\\npool: ldr x0, =0x123456789abcdef0\\n ret\\n.ltorg\\n\"\n"
	"	\".globl next\\nnext: nop\\n nop\\n ret\\n\");\n";

TEST(mapping_symbols_are_never_names)
{
	build_needs("aarch64-linux-gnu-gcc");
	build_file("m.c", marks_source);
	build_run("aarch64-linux-gnu-gcc -O2 -nostdlib -shared m.c -o m");
	CHECK_HAS(build_ask("aarch64-linux-gnu-nm -a m | grep -c '\\$[xd]'"), "");

	const char *path = build_path("m");
	uint64_t pool = build_symbol(path, "pool");
	struct ask a;

	ask_init(&a, path);
	ask_address(&a, build_symbol(path, "jump"));
	ask_address(&a, pool);
	ask_address(&a, pool + 12);
	ask_address(&a, build_symbol(path, "next") + 4);
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "jump");
	CHECK_EQ_STR(ask_name(&a, 1), "pool");
	CHECK_EQ_STR(ask_name(&a, 2), "pool");
	CHECK_EQ_STR(ask_name(&a, 3), "next");
	ask_done(&a);
}

TEST(thirty_two_bits_and_big_endian)
{
	build_needs("clang");
	build_needs("ld.lld");
	build_file("b.c", "int first(int n) { return n * 3; }\n"
			  "int second(int n) { return first(n) + 1; }\n");

	static const char *const targets[] = { "aarch64_be-linux-gnu", "i386-linux-gnu",
					       "armv7-linux-gnueabihf", "mips-linux-gnu" };

	for (size_t t = 0; t < sizeof(targets) / sizeof(targets[0]); t++) {
		const char *path = build_path("b");
		struct ask a;

		char_auto command = mem_printf("clang --target=%s -O1 -g -fno-inline -fuse-ld=lld "
					       "-nostdlib -shared b.c -o %s",
					       targets[t], path);
		char_auto quiet = mem_printf("cd %s && %s >/dev/null 2>&1", test_tmpdir(), command);

		if (system(quiet) != 0)
			continue;
		ask_init(&a, path);
		ask_address(&a, build_symbol(path, "second") & ~(uint64_t)1);
		ask_resolve(&a);
		CHECK_EQ_STR(ask_chain(&a, 0), "second (b.c:2)");
		ask_done(&a);
	}
}
