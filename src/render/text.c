/* SPDX-License-Identifier: Apache-2.0 */
/* Findings for people: head, evidence, tables, findings, notes, and what it cost. */
#include <signal.h>
#include <stdio.h>

#include "base/os.h"
#include "render/listing.h"
#include "render/text.h"

enum {
	LABEL = 10, /* width of "evidence  " */
	SHARE_LEAST_MS = 100
};

void text_style(struct buf *out, const struct render_options *o, enum text_style style)
{
	static const char *const codes[] = {
		[STYLE_PLAIN] = "0",  [STYLE_BOLD] = "1",    [STYLE_DIM] = "2",
		[STYLE_GREEN] = "32", [STYLE_YELLOW] = "33", [STYLE_RED] = "31",
	};

	if (o->color)
		buf_printf(out, "\033[%sm", codes[style]);
}

void text_plain(struct buf *out, const struct render_options *o)
{
	text_style(out, o, STYLE_PLAIN);
}

void text_spaces(struct buf *out, size_t count)
{
	while (count--)
		buf_u8(out, ' ');
}

void text_wrap(struct buf *out, const struct render_options *o, size_t indent, struct str s)
{
	size_t used = indent;
	bool first = true;
	struct str word;

	if (!o->columns) {
		buf_add(out, s.at, s.len);
		return;
	}
	while (str_word(&s, &word)) {
		size_t width = str_columns(word);

		if (!first && used + 1 + width > o->columns) {
			buf_u8(out, '\n');
			text_spaces(out, indent);
			used = indent;
		} else if (!first) {
			buf_u8(out, ' ');
			used++;
		}
		buf_add(out, word.at, word.len);
		used += width;
		first = false;
	}
}

/* Text of the target or the user, made safe and wrapped behind what stands there already. */
static void put_wrapped(struct buf *out, const struct render_options *o, size_t indent,
			const char *text)
{
	buf_auto safe = { 0 };

	str_escape(&safe, str_of(text));
	text_wrap(out, o, indent, (struct str){ buf_str(&safe), safe.len });
}

static void put_label(struct buf *out, const struct render_options *o, const char *label)
{
	text_style(out, o, STYLE_DIM);
	buf_puts(out, label);
	text_plain(out, o);
	text_spaces(out, LABEL - strlen(label));
}

static const struct cell *value_of(const struct field *at, size_t len, const char *name)
{
	for (size_t i = 0; i < len; i++)
		if (!strcmp(at[i].name, name) && at[i].value.kind != CELL_NULL)
			return &at[i].value;
	return NULL;
}

#define VALUE(list, name) value_of((list).at, (list).len, (name))

/* Adds one known thing of the target to the list. */
static void add_word(struct buf *b, const struct findings *f, const char *name, const char *prefix,
		     const char *suffix)
{
	const struct cell *c = VALUE(f->target, name);

	if (!c || (c->kind == CELL_TEXT && !c->text_len))
		return;
	buf_printf(b, "%s%s", b->len ? ", " : "", prefix);
	if (c->kind == CELL_TEXT)
		buf_add(b, c->text, c->text_len);
	else
		buf_printf(b, "%lld", (long long)c->integer);
	buf_puts(b, suffix);
}

static void put_target(struct buf *out, const struct findings *f, const struct render_options *o)
{
	const struct cell *cpus = VALUE(f->target, "cpus_online");
	buf_auto b = { 0 };

	add_word(&b, f, "hostname", "", "");
	add_word(&b, f, "cpu", "", "");
	add_word(&b, f, "cpus_online", "", cpus && cpus->integer == 1 ? " CPU" : " CPUs");
	add_word(&b, f, "arch", "", "");
	add_word(&b, f, "kernel", "Linux ", "");
	if (!b.len)
		return;
	put_label(out, o, "target");
	put_wrapped(out, o, LABEL, buf_str(&b));
	buf_u8(out, '\n');
}

static void put_command(struct buf *out, const struct findings *f, const struct render_options *o)
{
	buf_auto safe = { 0 };
	size_t room = o->columns > LABEL ? o->columns - LABEL : 1;

	if (!f->command || !f->command[0])
		return;
	put_label(out, o, "command");
	str_escape(&safe, str_of(f->command));
	if (o->columns)
		text_fit(out, (struct str){ buf_str(&safe), safe.len }, room, CUT_MIDDLE,
			 o->unicode);
	else
		buf_add(out, safe.at, safe.len);
	buf_u8(out, '\n');
}

static enum text_style verdict_style(const char *verdict)
{
	return !strcmp(verdict, "solid") ? STYLE_GREEN :
	       !strcmp(verdict, "weak")	 ? STYLE_YELLOW :
					   STYLE_RED;
}

static void put_verdict(struct buf *out, const struct render_options *o, const char *verdict)
{
	text_style(out, o, verdict_style(verdict));
	buf_puts(out, verdict);
	text_plain(out, o);
}

static bool shows_addresses(const struct findings *f)
{
	vec_each(t, &f->tables)
		for (size_t i = 0; i < t->column_count; i++)
			if (t->columns[i].kind == COLUMN_ADDRESS)
				return true;
	return false;
}

static bool is_told(const struct findings *f, const struct level *l)
{
	if (!strcmp(l->verdict, "solid") || !l->why || !l->why[0])
		return false;
	/* A listing has instructions and no call paths. */
	if (f->listing)
		return strcmp(l->level, "call path") != 0;
	return strcmp(l->level, "instruction") != 0 || shows_addresses(f);
}

static bool is_same_verdict(const struct findings *f, const struct level *a, const struct level *b)
{
	return is_told(f, a) && is_told(f, b) && !strcmp(a->verdict, b->verdict) &&
	       !strcmp(a->why, b->why);
}

/* Each level that is not solid, with the rule that says so; equal ones together. */
static void put_levels(struct buf *out, const struct findings *f, const struct render_options *o)
{
	for (size_t i = 0; i < f->levels.len; i++) {
		const struct level *l = &f->levels.at[i];
		bool first = is_told(f, l);
		buf_auto b = { 0 };

		for (size_t k = 0; k < i; k++)
			first &= !is_same_verdict(f, &f->levels.at[k], l);
		if (!first)
			continue;
		buf_puts(&b, l->level);
		for (size_t k = i + 1; k < f->levels.len; k++)
			if (is_same_verdict(f, l, &f->levels.at[k]))
				buf_printf(&b, ", %s", f->levels.at[k].level);
		buf_printf(&b, " level %s: %s", l->verdict, l->why);
		text_spaces(out, LABEL);
		put_wrapped(out, o, LABEL, buf_str(&b));
		buf_u8(out, '\n');
	}
}

static void put_evidence(struct buf *out, const struct findings *f, const struct render_options *o)
{
	const char *line = f->evidence_line ? f->evidence_line : "";
	const char *verdict = f->verdict ? f->verdict : "";
	size_t width = LABEL + str_columns(str_of(line)) + 6 + strlen(verdict);

	put_label(out, o, "evidence");
	put_wrapped(out, o, LABEL, line);
	if (o->columns && width > o->columns) {
		buf_u8(out, '\n');
		text_spaces(out, LABEL);
	} else {
		text_spaces(out, 6);
	}
	put_verdict(out, o, verdict);
	buf_u8(out, '\n');
	put_levels(out, f, o);
}

static void put_head(struct buf *out, const struct findings *f, const struct render_options *o)
{
	const char *title = f->recipe ? f->recipe : "annotate";

	text_style(out, o, STYLE_BOLD);
	buf_puts(out, title);
	text_plain(out, o);
	if (f->question && f->question[0]) {
		buf_puts(out, "  ");
		put_wrapped(out, o, strlen(title) + 2, f->question);
	}
	buf_u8(out, '\n');
	put_command(out, f, o);
	put_target(out, f, o);
	put_evidence(out, f, o);
}

static void put_tables(struct buf *out, const struct findings *f, const struct render_options *o)
{
	vec_each(t, &f->tables) {
		if (t->hidden)
			continue;
		buf_u8(out, '\n');
		if (strcmp(t->title, f->recipe)) {
			text_style(out, o, STYLE_BOLD);
			str_escape(out, str_of(t->title));
			text_plain(out, o);
			buf_u8(out, '\n');
		}
		text_table(out, t, o);
	}
}

static void put_title(struct buf *out, const struct render_options *o, const char *title)
{
	buf_u8(out, '\n');
	text_style(out, o, STYLE_BOLD);
	buf_printf(out, "%s", title);
	text_plain(out, o);
	buf_u8(out, '\n');
}

static void put_finding(struct buf *out, const struct finding *found,
			const struct render_options *o)
{
	bool problem = !strcmp(found->severity, "problem");
	bool warning = !strcmp(found->severity, "warning");
	buf_auto b = { 0 };

	if (problem || warning) {
		text_style(out, o, problem ? STYLE_RED : STYLE_YELLOW);
		buf_puts(out, problem ? "  !! " : "  !  ");
		text_plain(out, o);
	} else {
		buf_puts(out, "  -  ");
	}
	buf_puts(&b, found->text);
	if (found->basis && found->basis[0])
		buf_printf(&b, " (%s)", found->basis);
	put_wrapped(out, o, 5, buf_str(&b));
	buf_u8(out, '\n');
}

static void put_findings(struct buf *out, const struct findings *f, const struct render_options *o)
{
	if (f->findings.len)
		put_title(out, o, "Findings");
	vec_each(found, &f->findings)
		put_finding(out, found, o);
	if (f->notes.len)
		put_title(out, o, "Notes");
	vec_each(n, &f->notes) {
		buf_puts(out, "  -  ");
		put_wrapped(out, o, 5, n->text);
		buf_u8(out, '\n');
	}
}

static void put_workload(struct buf *out, const struct findings *f)
{
	const struct cell *code = VALUE(f->workload, "exit_code");
	const struct cell *signal = VALUE(f->workload, "signal");

	if (code && code->integer)
		buf_printf(out, "the workload ended with exit code %lld\n",
			   (long long)code->integer);
	if (signal)
		buf_printf(out, "the workload was ended by signal %lld (%s)\n",
			   (long long)signal->integer, strsignal((int)signal->integer));
}

static void put_cost(struct buf *out, const struct findings *f)
{
	const struct cell *cpu = VALUE(f->cost, "agent_cpu_ms");
	const struct cell *share = VALUE(f->cost, "machine_pct");
	const struct cell *wall = VALUE(f->cost, "wall_ms");
	/* Of so short a time the agent's own set-up is most, and a share misleads. */
	bool is_short = wall && wall->real < SHARE_LEAST_MS;

	if (!cpu)
		return;
	buf_puts(out, "agent used ");
	text_duration(out, cpu->real * 1e6);
	buf_puts(out, " CPU");
	if (!is_short && share && share->real > 0 && share->real < 0.01)
		buf_puts(out, ", under 0.01 % of the machine");
	else if (!is_short && share)
		buf_printf(out, ", %.2f %% of the machine", share->real);
	if (wall) {
		buf_puts(out, " in ");
		text_duration(out, wall->real * 1e6);
	}
	buf_u8(out, '\n');
}

void render_text(struct buf *out, const struct findings *f, const struct render_options *o)
{
	struct str rest, line;
	buf_auto end = { 0 };

	put_head(out, f, o);
	if (f->listing)
		text_listing(out, f->listing, o);
	put_tables(out, f, o);
	put_findings(out, f, o);
	put_workload(&end, f);
	if (f->run)
		buf_printf(&end, "run %s\n", f->run);
	put_cost(&end, f);
	if (!end.len)
		return;
	buf_u8(out, '\n');
	text_style(out, o, STYLE_DIM);
	rest = (struct str){ buf_str(&end), end.len };
	while (str_line(&rest, &line)) {
		text_wrap(out, o, 0, line);
		buf_u8(out, '\n');
	}
	text_plain(out, o);
}
