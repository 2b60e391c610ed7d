/* SPDX-License-Identifier: Apache-2.0 */
/* Models and symbols made by hand. */
#include "profile.h"

#include <inttypes.h>
#include <stdlib.h>

#include "test.h"

enum { FIRST_ADDRESS = 0x1000 };

void profile_init(struct profile *p)
{
	*p = (struct profile){ 0 };
	vec_add(&p->m.images, ((struct model_image){ .path = "/bin/app" }));
	vec_add(&p->m.threads, ((struct model_thread){ .pid = 1, .tid = 1, .comm = "app" }));
	vec_add(&p->m.threads, ((struct model_thread){ .comm = "swapper", .idle = true }));
	vec_add(&p->m.events, ((struct model_event){ .name = "cpu-clock",
						     .is_frequency = true,
						     .rate = 3997,
						     .has_chains = true }));
	intern_put(&p->s.files, str_of("app.c"));
}

static struct function_id function_get(struct profile *p, struct str name)
{
	enum symbol_function_kind kind = SYMBOL_FUNCTION;

	for (uint32_t i = 0; i < p->s.functions.len; i++)
		if (str_eq(name, p->s.functions.at[i].name))
			return (struct function_id){ i };
	if (str_eq(name, "?"))
		kind = SYMBOL_UNKNOWN;
	else if (str_eq(name, "?k"))
		kind = SYMBOL_KERNEL_HIDDEN;
	vec_add(&p->s.functions, ((struct symbol_function){
					 .kind = kind,
					 .name = arena_strndup(&p->s.arena, name.at, name.len),
					 .raw_name = "",
					 .file = MODEL_NONE,
				 }));
	return (struct function_id){ (uint32_t)(p->s.functions.len - 1) };
}

/* Frames of a word, which names them outermost first; symbols want them innermost first. */
static struct symbol_span frames_add(struct profile *p, struct str word)
{
	struct symbol_span span = { (uint32_t)p->s.frames.len, 0 };
	struct str part;

	while (str_cut(&word, '>', &part)) {
		struct symbol_frame f = { .file = MODEL_NONE, .inlined = span.count > 0 };
		struct str name;
		uint64_t line = 0;

		CHECK(str_cut(&part, ':', &name));
		if (part.len) {
			CHECK(str_u64(part, &line));
			f.file = 0;
			f.line = (uint32_t)line;
		}
		f.function = function_get(p, name);
		(void)vec_push(&p->s.frames);
		memmove(p->s.frames.at + span.first + 1, p->s.frames.at + span.first,
			span.count * sizeof(f));
		p->s.frames.at[span.first] = f;
		span.count++;
	}
	return span;
}

/* The words are kept as the addresses' identity in a second intern table of files. */
static uint32_t addr_get(struct profile *p, struct str word)
{
	char *name = mem_printf("@%.*s", (int)word.len, word.at);
	uint32_t i = intern_put(&p->s.files, str_of(name)) - 1;

	free(name);
	if (i == p->m.addrs.len) {
		uint64_t address = FIRST_ADDRESS + i * 16;

		vec_add(&p->m.addrs, ((struct model_addr){ .address = address }));
		p->s.addrs = mem_resize(p->s.addrs, (i + 1) * sizeof(*p->s.addrs));
		p->s.addr_values =
			mem_resize(p->s.addr_values, (i + 1) * sizeof(*p->s.addr_values));
		p->s.addrs[i] = frames_add(p, word);
		p->s.addr_values[i] = address;
		p->s.addr_count = i + 1;
	}
	return i;
}

static uint32_t node_get(struct profile *p, uint32_t parent, uint32_t addr)
{
	for (uint32_t i = 0; i < p->m.nodes.len; i++)
		if (p->m.nodes.at[i].parent.i == parent && p->m.nodes.at[i].addr.i == addr)
			return i;
	vec_add(&p->m.nodes, ((struct model_node){ { parent }, { addr } }));
	return (uint32_t)(p->m.nodes.len - 1);
}

static void add(struct profile *p, const char *stack, struct model_weight w)
{
	struct str rest = str_of(stack), word;
	uint32_t node = MODEL_NONE;

	while (str_word(&rest, &word))
		node = node_get(p, node, addr_get(p, word));
	w.node.i = node;
	vec_add(&p->m.weights, w);
	p->m.samples += w.samples;
	p->m.events.at[w.event].samples += w.samples;
	p->m.events.at[w.event].period += w.period;
	p->m.threads.at[w.thread.i].samples += w.samples;
	p->m.threads.at[w.thread.i].period += w.period;
}

void profile_add(struct profile *p, const char *stack, uint64_t samples)
{
	add(p, stack, (struct model_weight){ .samples = samples });
}

void profile_add_periods(struct profile *p, const char *stack, uint32_t event, uint64_t samples,
			 uint64_t period)
{
	add(p, stack,
	    (struct model_weight){ .event = event, .samples = samples, .period = period });
}

uint32_t profile_add_event(struct profile *p, const char *name)
{
	vec_add(&p->m.events,
		((struct model_event){ .name = name, .rate = 1000003, .has_chains = true }));
	return (uint32_t)(p->m.events.len - 1);
}

void profile_add_idle(struct profile *p, const char *stack, uint64_t samples)
{
	add(p, stack, (struct model_weight){ .thread = { 1 }, .samples = samples });
	p->m.idle_samples += samples;
}

void profile_done(struct profile *p)
{
	vec_done(&p->m.images);
	vec_done(&p->m.threads);
	vec_done(&p->m.addrs);
	vec_done(&p->m.nodes);
	vec_done(&p->m.weights);
	vec_done(&p->m.events);
	vec_done(&p->m.notes);
	arena_done(&p->m.arena);
	vec_done(&p->s.functions);
	vec_done(&p->s.frames);
	free(p->s.addrs);
	free(p->s.addr_values);
	intern_done(&p->s.files);
	arena_done(&p->s.arena);
}

static const char *name_of(const struct profile *p, struct function_id f)
{
	return p->s.functions.at[f.i].name;
}

static const char *keep(struct profile *p, struct buf *b)
{
	const char *text = arena_strdup(&p->s.arena, buf_str(b));

	buf_done(b);
	return text;
}

const char *profile_functions(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < h->functions.len; i++)
		buf_printf(&b, "%s %" PRIu64 " %" PRIu64 "\n",
			   name_of(p, h->functions.at[i].function), h->functions.at[i].self.samples,
			   h->functions.at[i].total.samples);
	return keep(p, &b);
}

const char *profile_weights(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < h->functions.len; i++)
		buf_printf(&b, "%s %" PRIu64 " %" PRIu64 "\n",
			   name_of(p, h->functions.at[i].function), h->functions.at[i].self.weight,
			   h->functions.at[i].total.weight);
	return keep(p, &b);
}

const char *profile_lines(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < h->lines.len; i++)
		buf_printf(&b, "%s:%u %" PRIu64 " %" PRIu64 "\n",
			   name_of(p, h->lines.at[i].function), h->lines.at[i].line,
			   h->lines.at[i].self.samples, h->lines.at[i].total.samples);
	return keep(p, &b);
}

const char *profile_instructions(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < h->instructions.len; i++) {
		const struct hot_instruction *n = &h->instructions.at[i];
		uint32_t addr = (uint32_t)(n->address - FIRST_ADDRESS) / 16;

		buf_printf(&b, "%s %s:%u %" PRIu64 "\n", name_of(p, n->function),
			   p->s.files.names.at[addr + 1], n->line, n->self.samples);
	}
	return keep(p, &b);
}

const char *profile_tree(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };
	uint32_t *at = mem_alloc((h->tree.len + 1) * sizeof(*at));
	size_t depth = 0;

	/* Depth first, by looking for the children each time: slow, and so not the same code. */
	at[0] = 0;
	for (;;) {
		uint32_t parent = depth ? at[depth - 1] : MODEL_NONE;
		const struct hot_node *n;

		while (at[depth] < h->tree.len && h->tree.at[at[depth]].parent != parent)
			at[depth]++;
		if (at[depth] >= h->tree.len) {
			if (!depth)
				break;
			at[--depth]++;
			continue;
		}
		n = &h->tree.at[at[depth]];
		CHECK_EQ_U64(n->depth, depth);
		buf_printf(&b, "%*s%s%s %" PRIu64 " %" PRIu64 "\n", (int)depth, "",
			   n->inlined ? "+" : "", name_of(p, n->function), n->self.samples,
			   n->total.samples);
		at[++depth] = 0;
	}
	free(at);
	return keep(p, &b);
}

const char *profile_edges(struct profile *p, const struct hotspots *h)
{
	struct buf b = { 0 };

	for (size_t i = 0; i < h->edges.len; i++)
		buf_printf(&b, "%s>%s %" PRIu64 "\n", name_of(p, h->edges.at[i].caller),
			   name_of(p, h->edges.at[i].callee), h->edges.at[i].total.samples);
	return keep(p, &b);
}
