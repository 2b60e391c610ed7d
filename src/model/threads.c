/* SPDX-License-Identifier: Apache-2.0 */
/* Lives of tids and their names, by time. */
#include "model/threads.h"

#include <stdio.h>

/* Lives that are looked through before a task without a fork record is taken to be a new one. */
enum { LOOK_BACK = 8 };

static struct history *lives_of(struct threads *th, uint32_t tid)
{
	bool is_new;
	uint64_t *at;

	/* Samples of one thread come in a row. */
	if (th->last_lives && th->last_tid == tid)
		return &th->lives.at[th->last_lives - 1];
	at = map_put(&th->tids, tid, &is_new);
	if (is_new) {
		*at = th->lives.len;
		(void)vec_push(&th->lives);
	}
	th->last_tid = tid;
	th->last_lives = (uint32_t)*at + 1;
	return &th->lives.at[*at];
}

static uint32_t task_add(struct threads *th, struct history *lives, uint32_t process, uint32_t tid,
			 uint64_t t)
{
	uint32_t i = (uint32_t)th->tasks.len;

	vec_add(&th->tasks, ((struct task){ .tid = tid, .process = process, .row = MODEL_NONE }));
	history_add(lives, t, i);
	if (th->ps->list.at[process].pid == tid) {
		th->ps->list.at[process].leader = i;
		th->ps->list.at[process].renames++;
	}
	return i;
}

static uint32_t task_at(struct threads *th, uint32_t process, uint32_t tid, uint64_t t)
{
	struct history *lives = lives_of(th, tid);
	size_t at = history_find(lives, t);

	if (at == SIZE_MAX)
		return task_add(th, lives, process, tid, 0);
	for (size_t i = at + 1; i > 0 && at + 1 - i < LOOK_BACK; i--) {
		uint32_t task = lives->steps.at[i - 1].value;

		if (th->tasks.at[task].process == process)
			return task;
	}
	return task_add(th, lives, process, tid, t);
}

void threads_fork(struct threads *th, uint32_t process, uint32_t tid, uint32_t parent_process,
		  uint32_t parent_tid, uint64_t t)
{
	uint32_t parent = task_at(th, parent_process, parent_tid, t);
	uint32_t comm = history_at(&th->tasks.at[parent].comms, t);
	struct history *lives = lives_of(th, tid);
	uint32_t i = history_at(lives, UINT64_MAX);

	if (i != MODEL_NONE && th->tasks.at[i].fresh && th->tasks.at[i].process == process)
		return;
	i = task_add(th, lives, process, tid, t);
	th->tasks.at[i].fresh = true;
	if (comm != MODEL_NONE)
		history_add(&th->tasks.at[i].comms, t, comm);
}

void threads_comm(struct threads *th, uint32_t process, uint32_t tid, const char *comm, uint64_t t)
{
	uint32_t i = task_at(th, process, tid, t), id = intern_put(&th->comms, str_of(comm));
	struct task *task = &th->tasks.at[i];

	task->fresh = false;
	if (history_at(&task->comms, UINT64_MAX) == id)
		return;
	history_add(&task->comms, t, id);
	th->ps->list.at[process].renames++;
}

void threads_exit(struct threads *th, uint32_t process, uint32_t tid, uint64_t t)
{
	uint32_t i = task_at(th, process, tid, t);

	th->tasks.at[i].fresh = false;
}

/* What to call a thread whose name was never told. */
static uint32_t nameless(struct threads *th, uint32_t tid)
{
	char text[16];

	if (!tid)
		return intern_put(&th->comms, str_of("swapper"));
	snprintf(text, sizeof(text), ":%d", (int32_t)tid);
	return intern_put(&th->comms, str_of(text));
}

static const char *model_comm(struct threads *th, uint32_t comm)
{
	while (th->model_comms.len <= comm)
		vec_add(&th->model_comms, NULL);
	if (!th->model_comms.at[comm])
		th->model_comms.at[comm] = arena_strdup(&th->m->arena, th->comms.names.at[comm]);
	return th->model_comms.at[comm];
}

static uint32_t row_get(struct threads *th, uint32_t task, uint32_t comm, uint32_t process_comm)
{
	struct model *m = th->m;
	struct task *k = &th->tasks.at[task];
	uint32_t pid = th->ps->list.at[k->process].pid;
	bool is_new;
	uint64_t *pair, *row;

	pair = map_put(&th->pairs, (uint64_t)task << 32 | comm, &is_new);
	if (is_new)
		*pair = th->pairs.len;
	row = map_put(&th->rows, *pair << 32 | process_comm, &is_new);
	if (is_new) {
		*row = m->threads.len;
		vec_add(&m->threads, ((struct model_thread){
					     .pid = pid,
					     .tid = k->tid,
					     .comm = model_comm(th, comm),
					     .process_comm = model_comm(th, process_comm),
					     .idle = !pid && !k->tid,
				     }));
	}
	return (uint32_t)*row;
}

/* The name at t. Raises *from to when it began, clears *latest when another one came later. */
static uint32_t comm_at(struct threads *th, uint32_t task, uint64_t t, uint64_t *from, bool *latest)
{
	const struct history *h = &th->tasks.at[task].comms;
	size_t i = history_find(h, t);

	if (i == SIZE_MAX)
		return nameless(th, th->tasks.at[task].tid);
	if (i + 1 != h->steps.len)
		*latest = false;
	if (i && h->steps.at[i].from > *from)
		*from = h->steps.at[i].from;
	return h->steps.at[i].value;
}

uint32_t threads_row(struct threads *th, uint32_t process, uint32_t tid, uint64_t t)
{
	uint32_t task = task_at(th, process, tid, t), leader, comm, process_comm, row;
	struct process *p = &th->ps->list.at[process];
	struct task *k = &th->tasks.at[task];
	uint64_t from = 0;
	bool latest = true;

	if (k->row != MODEL_NONE && k->row_renames == p->renames && t >= k->row_from)
		return k->row;
	leader = p->leader;
	comm = comm_at(th, task, t, &from, &latest);
	process_comm = leader == MODEL_NONE ? nameless(th, p->pid) :
					      comm_at(th, leader, t, &from, &latest);
	row = row_get(th, task, comm, process_comm);
	if (latest) {
		k = &th->tasks.at[task];
		k->row = row;
		k->row_from = from;
		k->row_renames = p->renames;
	}
	return row;
}

void threads_done(struct threads *th)
{
	for (size_t i = 0; i < th->tasks.len; i++)
		history_done(&th->tasks.at[i].comms);
	for (size_t i = 0; i < th->lives.len; i++)
		history_done(&th->lives.at[i]);
	vec_done(&th->tasks);
	vec_done(&th->lives);
	vec_done(&th->model_comms);
	map_done(&th->tids);
	map_done(&th->pairs);
	map_done(&th->rows);
	intern_done(&th->comms);
	*th = (struct threads){ 0 };
}
