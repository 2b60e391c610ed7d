/* SPDX-License-Identifier: Apache-2.0 */
/* Where samples fell: self counts, and the order of the tables. */
#include "analyse/hotspots.h"

#include <stdlib.h>

#include "analyse/work.h"

/* What sorts rows of functions: their names, and their ids among equal names. */
static int by_name(const void *a, const void *b, void *ctx)
{
	const struct symbols *s = ((const struct work *)ctx)->s;
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	int order = strcmp(s->functions.at[i].name, s->functions.at[k].name);

	return order ? order : (i > k) - (i < k);
}

static void rank_functions(struct work *w)
{
	size_t count = w->s->functions.len;
	uint32_t *ids = mem_alloc(count * sizeof(*ids));

	for (uint32_t i = 0; i < count; i++)
		ids[i] = i;
	qsort_r(ids, count, sizeof(*ids), by_name, w);
	for (uint32_t i = 0; i < count; i++)
		w->rank[ids[i]] = i;
	free(ids);
}

/* Rows of h->lines, one for each function, file and line that a frame names. */
static void number_lines(struct work *w)
{
	struct map pairs = { 0 }, rows = { 0 };

	for (size_t i = 0; i < w->s->frames.len; i++) {
		const struct symbol_frame *f = &w->s->frames.at[i];
		uint64_t *pair, *row;
		bool is_new;

		w->line_row[i] = MODEL_NONE;
		if (f->file == MODEL_NONE || !f->line)
			continue;
		pair = map_put(&pairs, (uint64_t)f->function.i << 32 | f->file, &is_new);
		if (is_new)
			*pair = pairs.len;
		row = map_put(&rows, *pair << 32 | f->line, &is_new);
		if (is_new) {
			*row = w->h->lines.len;
			vec_add(&w->h->lines, ((struct hot_line){ .function = f->function,
								  .file = f->file,
								  .line = f->line }));
		}
		w->line_row[i] = (uint32_t)*row;
	}
	map_done(&pairs);
	map_done(&rows);
}

static void instruction_add(struct work *w, struct addr_id addr, struct hot_count self)
{
	const struct symbols *s = w->s;
	struct symbol_span span = work_span(w, addr);
	const struct symbol_frame *inner = &s->frames.at[span.first], *outer = inner;

	for (uint32_t i = 0; i < span.count && outer->inlined; i++)
		outer = &s->frames.at[span.first + i];
	vec_add(&w->h->instructions, ((struct hot_instruction){
					     .function = outer->function,
					     .image = w->m->addrs.at[addr.i].image,
					     .address = s->addr_values[addr.i],
					     .file = inner->file,
					     .line = inner->line,
					     .self = self,
				     }));
}

static void count_self(struct work *w)
{
	const struct model *m = w->m;
	struct hot_count *by_addr = mem_alloc(m->addrs.len * sizeof(*by_addr));

	for (size_t i = 0; i < m->nodes.len; i++)
		work_add(&by_addr[m->nodes.at[i].addr.i], w->self[i]);
	for (uint32_t i = 0; i < m->addrs.len; i++) {
		struct symbol_span span;

		if (!by_addr[i].samples)
			continue;
		span = work_span(w, (struct addr_id){ i });
		work_add(&w->function_self[w->s->frames.at[span.first].function.i], by_addr[i]);
		if (w->line_row[span.first] != MODEL_NONE)
			work_add(&w->h->lines.at[w->line_row[span.first]].self, by_addr[i]);
		instruction_add(w, (struct addr_id){ i }, by_addr[i]);
	}
	free(by_addr);
}

static int by_place(const void *a, const void *b)
{
	const struct hot_instruction *x = a, *y = b;

	if (x->image.i != y->image.i)
		return x->image.i < y->image.i ? -1 : 1;
	return (x->address > y->address) - (x->address < y->address);
}

static int by_self(const void *a, const void *b)
{
	const struct hot_instruction *x = a, *y = b;

	if (x->self.weight != y->self.weight)
		return work_order(x->self.weight, y->self.weight);
	return by_place(a, b);
}

/* One instruction may be several addresses of the model; they become one row. */
static void settle_instructions(struct hotspots *h)
{
	struct hot_instruction *at = h->instructions.at;
	size_t count = h->instructions.len, kept = 0;

	if (!count)
		return;
	qsort(at, count, sizeof(*at), by_place);
	for (size_t i = 1; i < count; i++) {
		if (!by_place(&at[kept], &at[i]))
			work_add(&at[kept].self, at[i].self);
		else
			at[++kept] = at[i];
	}
	h->instructions.len = kept + 1;
	qsort(at, h->instructions.len, sizeof(*at), by_self);
}

static int by_function(const void *a, const void *b, void *ctx)
{
	const struct hot_function *x = a, *y = b;
	const struct work *w = ctx;
	uint32_t i = w->rank[x->function.i], k = w->rank[y->function.i];

	if (x->self.weight != y->self.weight)
		return work_order(x->self.weight, y->self.weight);
	if (x->total.weight != y->total.weight)
		return work_order(x->total.weight, y->total.weight);
	return (i > k) - (i < k);
}

static int by_line(const void *a, const void *b, void *ctx)
{
	const struct hot_line *x = a, *y = b;
	const struct work *w = ctx;
	uint32_t i = w->rank[x->function.i], k = w->rank[y->function.i];

	if (x->self.weight != y->self.weight)
		return work_order(x->self.weight, y->self.weight);
	if (x->total.weight != y->total.weight)
		return work_order(x->total.weight, y->total.weight);
	if (i != k)
		return i < k ? -1 : 1;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static int by_edge(const void *a, const void *b, void *ctx)
{
	const struct hot_edge *x = a, *y = b;
	const struct work *w = ctx;
	uint32_t i = w->rank[x->caller.i], k = w->rank[y->caller.i];

	if (x->total.weight != y->total.weight)
		return work_order(x->total.weight, y->total.weight);
	if (i != k)
		return i < k ? -1 : 1;
	i = w->rank[x->callee.i];
	k = w->rank[y->callee.i];
	return (i > k) - (i < k);
}

static void settle_functions(struct work *w)
{
	struct hotspots *h = w->h;

	for (uint32_t i = 0; i < w->s->functions.len; i++)
		if (w->function_total[i].samples)
			vec_add(&h->functions,
				((struct hot_function){
					{ i }, w->function_self[i], w->function_total[i] }));
	if (h->functions.len)
		qsort_r(h->functions.at, h->functions.len, sizeof(*h->functions.at), by_function,
			w);
}

static void settle_lines(struct work *w)
{
	struct hotspots *h = w->h;
	size_t kept = 0;

	for (size_t i = 0; i < h->lines.len; i++)
		if (h->lines.at[i].total.samples)
			h->lines.at[kept++] = h->lines.at[i];
	h->lines.len = kept;
	if (kept)
		qsort_r(h->lines.at, kept, sizeof(*h->lines.at), by_line, w);
	if (h->edges.len)
		qsort_r(h->edges.at, h->edges.len, sizeof(*h->edges.at), by_edge, w);
}

void hotspots_compute(struct hotspots *h, const struct model *m, const struct symbols *s)
{
	struct work w = { .h = h, .m = m, .s = s };

	*h = (struct hotspots){ 0 };
	w.self = mem_alloc(m->nodes.len * sizeof(*w.self));
	w.total = mem_alloc(m->nodes.len * sizeof(*w.total));
	w.function_self = mem_alloc(s->functions.len * sizeof(*w.function_self));
	w.function_total = mem_alloc(s->functions.len * sizeof(*w.function_total));
	w.rank = mem_alloc(s->functions.len * sizeof(*w.rank));
	w.line_row = mem_alloc(s->frames.len * sizeof(*w.line_row));
	rank_functions(&w);
	work_tally(&w);
	work_starts(&w);
	number_lines(&w);
	count_self(&w);
	work_totals(&w);
	work_call_tree(&w);
	settle_instructions(h);
	settle_functions(&w);
	settle_lines(&w);
	free(w.self);
	free(w.total);
	free(w.function_self);
	free(w.function_total);
	free(w.rank);
	free(w.line_row);
}

void hotspots_done(struct hotspots *h)
{
	vec_done(&h->functions);
	vec_done(&h->lines);
	vec_done(&h->instructions);
	vec_done(&h->tree);
	vec_done(&h->edges);
	vec_done(&h->threads);
	vec_done(&h->touched);
	*h = (struct hotspots){ 0 };
}
