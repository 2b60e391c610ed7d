/* SPDX-License-Identifier: Apache-2.0 */
/* Inline chains and lines, by known sources and against other people's tools. */
#include "build.h"

#include <stdlib.h>

static const char inline_source[] = "static volatile unsigned long total;\n"
				    "#define ALWAYS __attribute__((always_inline)) static inline\n"
				    "ALWAYS void leaf(unsigned long n)\n"
				    "{\n"
				    "	total += n * 17;\n" /* 5 */
				    "}\n"
				    "ALWAYS void middle(unsigned long n)\n"
				    "{\n"
				    "	for (unsigned long i = 0; i < n; i++)\n"
				    "		leaf(i);\n" /* 10 */
				    "}\n"
				    "__attribute__((noinline)) void outer(unsigned long n)\n"
				    "{\n"
				    "	total = 0;\n"
				    "	middle(n);\n" /* 15 */
				    "	total ^= 3;\n"
				    "}\n"
				    "int main(int argc, char **argv)\n"
				    "{\n"
				    "	outer((unsigned long)argc);\n"
				    "	return !argv;\n"
				    "}\n";

enum declared { WITHOUT_DECLARATIONS, WITH_DECLARATIONS };

static void check_inline(const char *compiler, const char *flags, enum declared declared)
{
	const char *path = build_path("i");
	uint64_t outer;
	uint32_t in_leaf = 0;
	struct ask a;

	build_file("i.c", inline_source);
	build_run("%s %s i.c -o i", compiler, flags);
	outer = build_symbol(path, "outer");
	ask_init(&a, path);
	for (uint64_t at = outer; at < outer + 40; at++)
		ask_address(&a, at);
	ask_resolve(&a);
	for (uint32_t i = 0; i < 40; i++) {
		const char *chain = ask_chain(&a, i);

		if (strcmp(chain, "leaf (i.c:5) < middle (i.c:10) < outer (i.c:15)") != 0)
			continue;
		in_leaf++;
		CHECK(ask_frame(&a, i, 0)->inlined);
		CHECK(ask_frame(&a, i, 1)->inlined);
		CHECK(!ask_frame(&a, i, 2)->inlined);
		CHECK_EQ_INT(ask_function(&a, i, 0)->kind, SYMBOL_INLINE);
		CHECK_EQ_INT(ask_function(&a, i, 0)->line, declared ? 3 : 0);
		CHECK_EQ_INT(ask_function(&a, i, 1)->line, declared ? 7 : 0);
		CHECK_EQ_INT(ask_function(&a, i, 2)->line, declared ? 12 : 0);
		CHECK_EQ_INT(ask_function(&a, i, 2)->kind, SYMBOL_FUNCTION);
	}
	CHECK_MSG(in_leaf > 4, "%u addresses in leaf with %s %s", in_leaf, compiler, flags);
	CHECK_EQ_STR(ask_name(&a, 0), "outer");
	/* One function each, however many addresses. */
	CHECK(a.symbols->functions.len <= 5);
	ask_done(&a);
}

TEST(inline_chain_gcc)
{
	build_needs("gcc");
	check_inline("gcc", "-O1 -g", WITH_DECLARATIONS);
	check_inline("gcc", "-O1 -g -gdwarf-4", WITH_DECLARATIONS);
	check_inline("gcc", "-O1 -g1", WITH_DECLARATIONS);
}

TEST(inline_chain_clang)
{
	build_needs("clang");
	check_inline("clang", "-O1 -g", WITH_DECLARATIONS);
	check_inline("clang", "-O1 -gdwarf-4", WITH_DECLARATIONS);
	check_inline("clang", "-O1 -gline-tables-only", WITHOUT_DECLARATIONS);
}

TEST(inline_chain_aarch64)
{
	build_needs("aarch64-linux-gnu-gcc");
	check_inline("aarch64-linux-gnu-gcc", "-O1 -g", WITH_DECLARATIONS);
}

static const char shared_header[] =
	"extern volatile unsigned long total;\n"
	"__attribute__((always_inline)) static inline void shared(void)\n"
	"{\n"
	"	total += 5;\n"
	"}\n";

/* Two files with a static inline step() at the same line, and one function of a header. */
static const char twin_source[] = "#include \"shared.h\"\n"
				  "__attribute__((always_inline)) static inline void step(void)\n"
				  "{\n"
				  "	total ^= %d;\n"
				  "}\n"
				  "__attribute__((noinline)) void run_%c(void)\n"
				  "{\n"
				  "	step();\n"
				  "	shared();\n"
				  "}\n";

/* The function that the first frame of that name at or behind address belongs to. */
static const struct symbol_function *find_inline(const struct ask *a, uint32_t from, uint32_t to,
						 const char *name)
{
	for (uint32_t i = from; i < to; i++) {
		const struct symbol_function *f = ask_function(a, i, 0);

		if (!strcmp(f->name, name))
			return f;
	}
	FAIL("no address in %s", name);
}

static void check_twins(const char *compiler, const char *flags)
{
	enum { BYTES = 36 };
	const struct symbol_function *step_a;
	const struct symbol_function *step_b;
	const char *path = build_path("twins");
	uint64_t start[2];
	struct ask a;

	build_file("shared.h", shared_header);
	build_file("a.c", build_keep(twin_source, 17, 'a'));
	build_file("b.c", build_keep(twin_source, 34, 'b'));
	build_file("m.c", "volatile unsigned long total; void run_a(void); void run_b(void);\n"
			  "int main(void) { run_a(); run_b(); return 0; }\n");
	build_run("%s %s a.c b.c m.c -o twins", compiler, flags);
	start[0] = build_symbol(path, "run_a");
	start[1] = build_symbol(path, "run_b");
	ask_init(&a, path);
	for (int n = 0; n < 2; n++)
		for (uint64_t at = start[n]; at < start[n] + BYTES; at++)
			ask_address(&a, at);
	ask_resolve(&a);
	step_a = find_inline(&a, 0, BYTES, "step");
	step_b = find_inline(&a, BYTES, 2 * BYTES, "step");
	CHECK(step_a != step_b);
	CHECK(str_ends(a.symbols->files.names.at[step_a->file], "/a.c"));
	CHECK(str_ends(a.symbols->files.names.at[step_b->file], "/b.c"));
	CHECK_EQ_INT(step_a->line, 2);
	CHECK_EQ_INT(step_b->line, 2);
	CHECK(find_inline(&a, 0, BYTES, "shared") == find_inline(&a, BYTES, 2 * BYTES, "shared"));
	CHECK(str_ends(a.symbols->files.names.at[find_inline(&a, 0, BYTES, "shared")->file],
		       "/shared.h"));
	ask_done(&a);
}

TEST(inlines_of_one_name_in_two_files)
{
	build_needs("gcc");
	check_twins("gcc", "-O1 -g");
	build_needs("clang");
	check_twins("clang", "-O1 -g");
}

/* Templates, containers, a lambda, virtual calls: many small functions, deep chains. */
static const char cxx_source[] =
	"#include <algorithm>\n#include <map>\n#include <string>\n#include <vector>\n"
	"#include <numeric>\n#include <memory>\n#include <cstdio>\n"
	"namespace shop {\n"
	"struct item { std::string name; double price; int count; };\n"
	"template <typename T, int N> struct ring {\n"
	"	T at[N]; int next = 0;\n"
	"	void put(const T &t) { at[next++ % N] = t; }\n"
	"	T sum() const { T s{}; for (auto &x : at) s += x; return s; }\n"
	"};\n"
	"class shelf {\n"
	"	std::map<std::string, item> items;\n"
	"public:\n"
	"	virtual ~shelf() = default;\n"
	"	void add(const std::string &n, double p) { items[n] = item{n, p, int(n.size())}; }\n"
	"	virtual double worth() const {\n"
	"		double w = 0;\n"
	"		for (auto &[k, i] : items) w += i.price * i.count + double(k.size());\n"
	"		return w;\n"
	"	}\n"
	"	std::vector<item> sorted() const {\n"
	"		std::vector<item> v;\n"
	"		for (auto &kv : items) v.push_back(kv.second);\n"
	"		std::sort(v.begin(), v.end(), [](const item &a, const item &b) {\n"
	"			return a.price < b.price || (a.price == b.price && a.name < b.name);\n"
	"		});\n"
	"		return v;\n"
	"	}\n"
	"};\n"
	"struct big : shelf { double worth() const override { return shelf::worth() * 2; } };\n"
	"}\n"
	"namespace { int twist(int n) { return n % 7 ? n * 31 : n / 7; } }\n"
	"int main(int argc, char **argv)\n"
	"{\n"
	"	std::unique_ptr<shop::shelf> s(argc > 5 ? new shop::big : new shop::shelf);\n"
	"	shop::ring<long, 16> r{};\n"
	"	for (int i = 0; i < argc * 100; i++) {\n"
	"		s->add(std::string(argv[0]) + std::to_string(twist(i)), i * 0.5);\n"
	"		r.put(twist(i));\n"
	"	}\n"
	"	auto v = s->sorted();\n"
	"	double total = std::accumulate(v.begin(), v.end(), s->worth(),\n"
	"		[](double a, const shop::item &i) { return a + i.price; });\n"
	"	std::printf(\"%f %ld\\n\", total, r.sum());\n"
	"}\n";

/* Our chain in addr2line's words: function and "file:line" by turns. */
static void put_lines(struct buf *b, const struct ask *a, uint32_t id)
{
	const struct symbol_frame *f;

	for (uint32_t n = 0; (f = ask_frame(a, id, n)); n++) {
		const char *path = f->file == MODEL_NONE ? "??" :
							   a->symbols->files.names.at[f->file];
		const char *slash = strrchr(path, '/');

		buf_printf(b, "%s %s:%u;", ask_function(a, id, n)->raw_name,
			   slash ? slash + 1 : path, f->line);
	}
}

/* Constructors and destructors have two names at one address; tools choose differently. */
static void fold_structors(struct buf *b)
{
	char *text = (char *)b->at;

	for (char *p = text; p && (p = strstr(p, "D2E")); p++)
		p[1] = '1';
	for (char *p = text; p && (p = strstr(p, "C2E")); p++)
		p[1] = '1';
}

/* What llvm-symbolizer prints for one address: pairs of lines up to an empty one. */
static void read_oracle(FILE *in, struct buf *out)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	while ((len = getline(&line, &size, in)) > 1) {
		char_auto name = mem_printf("%.*s", (int)len - 1, line);
		char *slash;
		char *colon;
		char *cold = strstr(name, ".cold");

		/* A cold part is shown with its parent here. */
		if (cold)
			*cold = 0;
		len = getline(&line, &size, in);
		CHECK(len > 1);
		line[len - 1] = 0;
		slash = strrchr(line, '/');
		colon = strrchr(line, ':');
		CHECK(colon);
		*colon = 0; /* the column */
		buf_printf(out, "%s %s;", name, slash ? slash + 1 : line);
	}
	free(line);
}

/* Where there is no linkage name, ours has the namespace in front. */
static bool is_same_chain(struct str ours, struct str theirs)
{
	struct str a;
	struct str b;

	while (str_cut(&ours, ';', &a) && str_cut(&theirs, ';', &b)) {
		if (a.len < b.len || memcmp(a.at + a.len - b.len, b.at, b.len) != 0)
			return false;
		if (a.len > b.len && (a.len < b.len + 2 || a.at[a.len - b.len - 1] != ':'))
			return false;
	}
	return !ours.len && !theirs.len;
}

static void compare_with_llvm(const char *tool, const char *compiler, const char *flags)
{
	const char *path = build_path("x");
	const struct elf_section *text;
	buf_auto addresses = { 0 };
	unsigned compared = 0;
	unsigned differ = 0;
	struct elf_file e;
	struct err err;
	struct ask a;
	FILE *in;

	build_file("x.cc", cxx_source);
	build_run("%s %s -std=c++17 x.cc -o x", compiler, flags);
	CHECK(elf_file_open(&e, path, ELF_MAP, &err));
	text = elf_find_section(&e, ".text");
	ask_init(&a, path);
	for (uint64_t at = text->address; at < text->address + text->size; at += 5) {
		ask_address(&a, at);
		buf_printf(&addresses, "0x%" PRIx64 "\n", at);
	}
	elf_file_close(&e);
	build_file("addresses", buf_str(&addresses));
	ask_resolve(&a);
	build_run("%s --no-demangle --inlines --obj=x <addresses >answers", tool);
	in = fopen(build_path("answers"), "r");
	CHECK(in);
	for (uint32_t id = 0; id < a.model.addrs.len; id++) {
		buf_auto ours = { 0 };
		buf_auto theirs = { 0 };

		put_lines(&ours, &a, id);
		read_oracle(in, &theirs);
		fold_structors(&ours);
		fold_structors(&theirs);
		/* Start-up code has no debug information: nothing to compare. */
		if (strstr(buf_str(&theirs), "??:0") || strstr(buf_str(&ours), " ??:0") ||
		    !strcmp(ask_name(&a, id), "[unknown]"))
			continue;
		compared++;
		if (is_same_chain(str_of(buf_str(&ours)), str_of(buf_str(&theirs))))
			continue;
		differ++;
		printf("0x%" PRIx64 "\n  ours   %s\n  theirs %s\n", a.symbols->addr_values[id],
		       buf_str(&ours), buf_str(&theirs));
	}
	fclose(in);
	printf("%s %s: %u compared, %u differ\n", compiler, flags, compared, differ);
	CHECK(compared > 1000);
	CHECK_MSG(differ == 0, "%u of %u differ", differ, compared);
	ask_done(&a);
}

static const char *llvm_symbolizer(void)
{
	const char *name = build_ask("command -v llvm-symbolizer-22 llvm-symbolizer-14 "
				     "llvm-symbolizer | head -1");

	if (!name[0])
		SKIP("no llvm-symbolizer here");
	return name;
}

TEST(chains_agree_with_llvm_gcc)
{
	build_needs("g++");
	compare_with_llvm(llvm_symbolizer(), "g++", "-O2 -g");
}

TEST(chains_agree_with_llvm_clang)
{
	build_needs("clang++");
	compare_with_llvm(llvm_symbolizer(), "clang++", "-O2 -g");
}

TEST(chains_agree_with_llvm_dwarf_4)
{
	build_needs("clang++");
	compare_with_llvm(llvm_symbolizer(), "clang++", "-O2 -gdwarf-4");
}

TEST(names_of_templates_are_demangled)
{
	build_needs("g++");
	build_file("x.cc", cxx_source);
	build_run("g++ -O0 -g -std=c++17 x.cc -o x");

	const char *path = build_path("x");
	struct ask a;

	ask_init(&a, path);
	ask_address(&a, build_symbol(path, "_ZN4shop4ringIlLi16EE3putERKl"));
	ask_address(&a, build_symbol(path, "_ZN12_GLOBAL__N_15twistEi"));
	ask_resolve(&a);
	CHECK_EQ_STR(ask_name(&a, 0), "shop::ring<long, 16>::put(long const&)");
	CHECK_EQ_STR(ask_name(&a, 1), "(anonymous namespace)::twist(int)");
	ask_done(&a);
}

/* gcc gives these no linkage name; alone, their names would be anybody's. */
TEST(inlined_locals_have_their_namespace)
{
	static const char text[] =
		"#define ALWAYS __attribute__((always_inline))\n"
		"static volatile int t;\n"
		"namespace shop {\n"
		"static inline ALWAYS void helper(int a) { t += a * 31; }\n"
		"namespace { struct s { int v; ALWAYS void put(int q) const { t += v * q; } }; }\n"
		"}\n"
		"int main(int c, char **)\n"
		"{\n"
		"	auto l = [](int x) ALWAYS { t ^= x; };\n"
		"	shop::helper(c);\n"
		"	shop::s{c}.put(c);\n"
		"	l(c);\n"
		"	return 0;\n"
		"}\n";
	buf_auto all = { 0 };
	uint64_t main_at;
	struct ask a;

	build_needs("g++");
	build_file("q.cc", text);
	build_run("g++ -O1 -g q.cc -o q");
	main_at = build_symbol(build_path("q"), "main");
	ask_init(&a, build_path("q"));
	for (uint64_t i = 0; i < 60; i++)
		ask_address(&a, main_at + i);
	ask_resolve(&a);
	for (uint32_t i = 0; i < 60; i++)
		buf_printf(&all, "%s\n", ask_chain(&a, i));
	CHECK_HAS(buf_str(&all), "shop::helper (q.cc:4) < main (q.cc:10)");
	CHECK_HAS(buf_str(&all), "shop::(anonymous namespace)::s::put (q.cc:5) < main (q.cc:11)");
	CHECK_HAS(buf_str(&all), "main::<lambda>::operator() (q.cc:9) < main (q.cc:12)");
	ask_done(&a);
}
