/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of pids and what was mapped in them, by time. */
#include "model/processes.h"

static struct history *lives_of(struct processes *ps, uint32_t pid)
{
	bool is_new;
	uint64_t *at;

	/* Samples of one thread come in a row. */
	if (ps->last_lives && ps->last_pid == pid)
		return &ps->lives.at[ps->last_lives - 1];
	at = map_put(&ps->pids, pid, &is_new);
	if (is_new) {
		*at = ps->lives.len;
		(void)vec_push(&ps->lives);
	}
	ps->last_pid = pid;
	ps->last_lives = (uint32_t)*at + 1;
	return &ps->lives.at[*at];
}

static uint32_t version_add(struct processes *ps, uint32_t root, uint32_t process)
{
	vec_add(&ps->versions, ((struct version){ .root = root, .process = process }));
	return (uint32_t)(ps->versions.len - 1);
}

/* A life of pid from t on, with the address space root. */
static uint32_t life_add(struct processes *ps, uint32_t pid, uint64_t t, uint32_t root)
{
	uint32_t i = (uint32_t)ps->list.len;
	struct process *p = vec_push(&ps->list);

	*p = (struct process){
		.pid = pid,
		.epoch = pieces_epoch(&ps->pieces),
		.leader = MODEL_NONE,
		.unknown_image = MODEL_NONE,
	};
	history_add(&p->versions, t, version_add(ps, root, i));
	history_add(lives_of(ps, pid), t, i);
	return i;
}

uint32_t processes_at(struct processes *ps, uint32_t pid, uint64_t t)
{
	uint32_t i = history_at(lives_of(ps, pid), t);

	return i == MODEL_NONE ? life_add(ps, pid, 0, 0) : i;
}

static struct version *newest(struct processes *ps, uint32_t process)
{
	struct history *h = &ps->list.at[process].versions;

	return &ps->versions.at[h->steps.at[h->steps.len - 1].value];
}

/* The last life of pid; made when it was never told of. */
static uint32_t current(struct processes *ps, uint32_t pid)
{
	return processes_at(ps, pid, UINT64_MAX);
}

uint32_t processes_fork(struct processes *ps, uint32_t pid, uint32_t parent_pid, uint64_t t,
			enum process_fork how)
{
	struct history *lives = lives_of(ps, pid);
	uint32_t parent, root = 0, i = history_at(lives, UINT64_MAX);

	/* Each of several events may tell of the same fork. */
	if (i != MODEL_NONE && ps->list.at[i].fresh && ps->list.at[i].parent == parent_pid)
		return MODEL_NONE;
	if (how == PROCESS_FORK_COPIES_SPACE) {
		parent = current(ps, parent_pid);
		root = newest(ps, parent)->root;
		ps->list.at[parent].epoch = pieces_epoch(&ps->pieces);
	}
	i = life_add(ps, pid, t, root);
	ps->list.at[i].parent = parent_pid;
	ps->list.at[i].fresh = true;
	return i;
}

uint32_t processes_exec(struct processes *ps, uint32_t pid, uint64_t t)
{
	uint32_t i = current(ps, pid), old, fresh;
	struct process *p = &ps->list.at[i];

	/* A dead process does not exec: the fork of its successor was lost. */
	if (p->ended)
		return life_add(ps, pid, t, 0);
	p->fresh = false;
	old = history_at(&p->versions, UINT64_MAX);
	fresh = version_add(ps, 0, i);
	ps->versions.at[fresh].old = old;
	history_add(&p->versions, t, fresh);
	return i;
}

void processes_exit(struct processes *ps, uint32_t pid, uint64_t t)
{
	uint32_t i = processes_at(ps, pid, t);
	struct process *p = &ps->list.at[i];

	p->ended = true;
	p->fresh = false;
}

void processes_map(struct processes *ps, uint32_t process, uint64_t t, const struct piece *piece)
{
	struct process *p = &ps->list.at[process];
	struct version *v = newest(ps, process);

	p->fresh = false;
	if (pieces_conflict(&ps->pieces, v->root, piece)) {
		uint32_t root = v->root;

		p->epoch = pieces_epoch(&ps->pieces);
		history_add(&p->versions, t, version_add(ps, root, process));
		v = newest(ps, process);
	}
	v->root = pieces_put(&ps->pieces, v->root, p->epoch, piece);
	v->maps++;
}

uint32_t processes_version(const struct processes *ps, uint32_t process, uint64_t t)
{
	return history_at(&ps->list.at[process].versions, t);
}

const struct piece *processes_find(const struct processes *ps, uint32_t version, uint64_t address)
{
	if (version == MODEL_NONE)
		return NULL;
	return pieces_find(&ps->pieces, ps->versions.at[version].root, address);
}

void processes_done(struct processes *ps)
{
	for (size_t i = 0; i < ps->list.len; i++)
		history_done(&ps->list.at[i].versions);
	for (size_t i = 0; i < ps->lives.len; i++)
		history_done(&ps->lives.at[i]);
	vec_done(&ps->list);
	vec_done(&ps->versions);
	vec_done(&ps->lives);
	map_done(&ps->pids);
	pieces_done(&ps->pieces);
	*ps = (struct processes){ 0 };
}
