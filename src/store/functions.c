/* SPDX-License-Identifier: Apache-2.0 */
/* Reads functions and the samples of their code from run.db. */
#include "store/store-db.h"

#include <stdlib.h>

static const char *text_or_empty(struct arena *a, sqlite3_stmt *stmt, int column)
{
	struct cell c = store_cell(a, stmt, column);

	return c.kind == CELL_TEXT ? c.text : "";
}

static uint32_t id_of(sqlite3_stmt *stmt, int column)
{
	return sqlite3_column_type(stmt, column) == SQLITE_NULL ?
		       MODEL_NONE :
		       (uint32_t)sqlite3_column_int64(stmt, column);
}

static uint64_t u64_of(sqlite3_stmt *stmt, int column)
{
	return (uint64_t)sqlite3_column_int64(stmt, column);
}

static struct hot_count count_of(sqlite3_stmt *stmt, int column)
{
	return (struct hot_count){ u64_of(stmt, column), u64_of(stmt, column + 1) };
}

/* Our own SQL over our own tables. */
static bool begin(struct store *s, const char *sql, sqlite3_stmt **stmt, struct err *err)
{
	bool ok;

	s->trusted = true;
	store_begin(s, sql);
	ok = store_prepare(s, sql, stmt, err);
	s->trusted = false;
	return ok;
}

static bool load_unnamed(struct store_functions *all, struct store *s, struct err *err)
{
	static const char sql[] = "SELECT function, address FROM t_instructions WHERE function IN"
				  " (SELECT id FROM t_functions WHERE kind = 'unknown')";
	stmt_auto stmt = NULL;

	if (!begin(s, sql, &stmt, err))
		return false;
	while (store_step(s, stmt, s->name, err))
		vec_add(&all->unnamed, ((struct store_place){ id_of(stmt, 0), u64_of(stmt, 1) }));
	return err->kind == ERR_NONE;
}

bool store_functions_load(struct store_functions *out, struct store *s, struct err *err)
{
	static const char sql[] =
		/* From each inlined place of the call tree up through what is inlined too. */
		"WITH RECURSIVE up(leaf, function, parent) AS ("
		" SELECT id, function, parent FROM t_stacks WHERE inlined AND self > 0"
		" UNION ALL"
		" SELECT u.leaf, p.function, p.parent FROM up u JOIN t_stacks p ON p.id = u.parent"
		"  WHERE p.inlined), held AS ("
		" SELECT u.function, sum(s.self) AS samples, sum(s.self_weight) AS weight"
		" FROM (SELECT DISTINCT leaf, function FROM up) u JOIN t_stacks s ON s.id = u.leaf"
		" GROUP BY u.function), own AS ("
		" SELECT function, sum(self) AS samples, sum(self_weight) AS weight"
		" FROM t_instructions GROUP BY function), code AS ("
		" SELECT f.id, coalesce(h.samples, o.samples, 0) AS samples,"
		" coalesce(h.weight, o.weight, 0) AS weight FROM t_functions f"
		" LEFT JOIN held h ON f.kind = 'inline' AND h.function = f.id"
		" LEFT JOIN own o ON f.kind <> 'inline' AND o.function = f.id)"
		"SELECT f.id, f.kind, f.name, f.raw_name, d.path, f.line, f.image, i.name, i.path,"
		" i.kind, i.key, i.why, i.build_id, f.address, f.size, f.self, f.self_weight,"
		" f.total, f.total_weight, n.samples, n.weight"
		" FROM t_functions f JOIN code n ON n.id = f.id"
		" LEFT JOIN t_images i ON i.id = f.image LEFT JOIN t_files d ON d.id = f.file"
		" WHERE f.total > 0"
		" ORDER BY max(f.self_weight, n.weight) DESC, f.total_weight DESC,"
		" f.name, i.path, f.id";
	struct store_functions all = { .weight = (uint64_t)s->weight, .report = "culprit report" };
	struct arena *a = &all.arena;
	stmt_auto stmt = NULL;

	if (!begin(s, sql, &stmt, err))
		return false;
	while (store_step(s, stmt, s->name, err))
		vec_add(&all.list, ((struct store_function){
					   .id = id_of(stmt, 0),
					   .kind = text_or_empty(a, stmt, 1),
					   .name = text_or_empty(a, stmt, 2),
					   .raw_name = text_or_empty(a, stmt, 3),
					   .file = text_or_empty(a, stmt, 4),
					   .line = (uint32_t)u64_of(stmt, 5),
					   .image_id = id_of(stmt, 6),
					   .image = text_or_empty(a, stmt, 7),
					   .image_path = text_or_empty(a, stmt, 8),
					   .image_kind = text_or_empty(a, stmt, 9),
					   .image_key = text_or_empty(a, stmt, 10),
					   .image_why = text_or_empty(a, stmt, 11),
					   .image_build_id = text_or_empty(a, stmt, 12),
					   .address = u64_of(stmt, 13),
					   .size = u64_of(stmt, 14),
					   .self = count_of(stmt, 15),
					   .total = count_of(stmt, 17),
					   .code = count_of(stmt, 19),
				   }));
	if (err->kind != ERR_NONE || !load_unnamed(&all, s, err)) {
		store_functions_done(&all);
		return false;
	}
	*out = all;
	return true;
}

void store_functions_done(struct store_functions *f)
{
	vec_done(&f->list);
	vec_done(&f->unnamed);
	arena_done(&f->arena);
}

struct hot_count store_function_count(const struct store_function *f)
{
	return f->code.weight > f->self.weight || !f->self.samples ? f->code : f->self;
}

double store_function_pct(const struct store_functions *all, uint64_t weight)
{
	return hot_pct(weight, all->weight);
}

bool store_function_hosts(struct store_hosts *out, struct store *s, uint32_t function,
			  struct err *err)
{
	/* From each inlined place of the call tree up to the function that was called. */
	static const char sql[] =
		"WITH RECURSIVE up(parent, inlined, function, self, weight, seen) AS ("
		" SELECT parent, inlined, function, self, self_weight, function = ?1"
		" FROM t_stacks WHERE inlined AND self > 0"
		" UNION ALL"
		" SELECT p.parent, p.inlined, p.function, u.self, u.weight,"
		" u.seen OR (p.inlined AND p.function = ?1)"
		" FROM up u JOIN t_stacks p ON p.id = u.parent WHERE u.inlined)"
		" SELECT function, sum(self), sum(weight) FROM up WHERE NOT inlined AND seen"
		" GROUP BY function ORDER BY sum(weight) DESC, sum(self) DESC, function";
	struct store_hosts hosts = { 0 };
	stmt_auto stmt = NULL;

	if (!begin(s, sql, &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, function);
	while (store_step(s, stmt, s->name, err))
		vec_add(&hosts.list, ((struct store_host){ id_of(stmt, 0), count_of(stmt, 1) }));
	if (err->kind != ERR_NONE) {
		vec_done(&hosts.list);
		return false;
	}
	*out = hosts;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct annotate_sample *x = a, *y = b;

	return (x->address > y->address) - (x->address < y->address);
}

bool store_function_samples(struct store_samples *out, struct store *s, uint32_t function,
			    struct err *err)
{
	static const char sql[] = "SELECT n.address, d.path, n.line, n.self, n.self_weight"
				  " FROM t_instructions n LEFT JOIN t_files d ON d.id = n.file"
				  " WHERE n.function = ?1";
	struct store_samples samples = { 0 };
	stmt_auto stmt = NULL;

	if (!begin(s, sql, &stmt, err))
		return false;
	sqlite3_bind_int64(stmt, 1, function);
	while (store_step(s, stmt, s->name, err)) {
		struct cell file = store_cell(&samples.arena, stmt, 1);

		vec_add(&samples.list, ((struct annotate_sample){
					       .address = u64_of(stmt, 0),
					       .file = file.kind == CELL_TEXT ? file.text : NULL,
					       .line = (uint32_t)sqlite3_column_int64(stmt, 2),
					       .count = count_of(stmt, 3),
				       }));
	}
	if (err->kind != ERR_NONE) {
		store_samples_done(&samples);
		return false;
	}
	/* Addresses of the kernel are above 63 bits, where SQLite's order is another. */
	if (samples.list.len)
		qsort(samples.list.at, samples.list.len, sizeof(*samples.list.at), by_address);
	*out = samples;
	return true;
}

void store_samples_done(struct store_samples *c)
{
	vec_done(&c->list);
	arena_done(&c->arena);
}
