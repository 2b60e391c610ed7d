/* SPDX-License-Identifier: Apache-2.0 */
/* Threads and their names by time; idle. */
#include "recording.h"
#include "test.h"

static const struct model_thread *thread(const struct model *m, const char *comm)
{
	const struct model_thread *found = NULL;

	for (size_t i = 0; i < m->threads.len; i++) {
		if (strcmp(m->threads.at[i].comm, comm))
			continue;
		CHECK_MSG(!found, "two rows of %s", comm);
		found = &m->threads.at[i];
	}
	CHECK_MSG(found, "no row of %s", comm);
	return found;
}

TEST(name_applies_from_its_time_on)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "main", 1000);
	rec_fork(&r, 0, 100, 100, 101, 100, 2000);
	rec_sample(&r, REC_KERNEL, 100, 101, 2001, 0xffffffff81000000, NULL);
	rec_comm(&r, 0, 100, 101, "worker", 3000);
	rec_sample(&r, REC_KERNEL, 100, 101, 3000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 100, 101, 2999, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 100, 101, 3001, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "main(main) 100/101 2: [kernel]+ffffffff81000000\n"
				  "worker(main) 100/101 2: [kernel]+ffffffff81000000\n");
	CHECK_EQ_U64(thread(m, "worker")->period, 14);
	model_free(m);
}

/* The name of the process is that of its first thread, also when that changes later. */
TEST(process_name_by_time)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "old", 1000);
	rec_fork(&r, 0, 100, 100, 101, 100, 1500);
	rec_comm(&r, 0, 100, 101, "t1", 1501);
	rec_sample(&r, REC_KERNEL, 100, 101, 2000, 0xffffffff81000000, NULL);
	rec_comm(&r, 0, 100, 100, "new", 3000);
	rec_sample(&r, REC_KERNEL, 100, 101, 4000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 100, 101, 2500, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 100, 100, 4001, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "t1(old) 100/101 2: [kernel]+ffffffff81000000\n"
				  "t1(new) 100/101 1: [kernel]+ffffffff81000000\n"
				  "new(new) 100/100 1: [kernel]+ffffffff81000000\n");
	model_free(m);
}

TEST(child_has_the_name_of_the_thread_that_forked)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, MISC_EXEC, 100, 100, "main", 1000);
	rec_fork(&r, 0, 100, 100, 101, 100, 1500);
	rec_comm(&r, 0, 100, 101, "spawner", 1501);
	rec_fork(&r, 0, 200, 100, 200, 101, 2000);
	rec_sample(&r, REC_KERNEL, 200, 200, 2500, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "spawner(spawner) 200/200 1: [kernel]+ffffffff81000000\n");
	model_free(m);
}

/* Names are bytes; equal ones of two threads stay apart. */
TEST(odd_names_stay_as_they_are)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, 0, 100, 100, "a) R 1 2 (b", 0);
	rec_comm(&r, 0, 200, 200, "tab\tnl\n\xff", 0);
	rec_comm(&r, 0, 300, 300, "", 0);
	rec_comm(&r, 0, 201, 201, "a) R 1 2 (b", 0);
	for (uint32_t pid = 100; pid <= 300; pid += 100)
		rec_sample(&r, REC_KERNEL, pid, pid, 1000 + pid, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 201, 201, 2000, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->threads.len, 4);
	CHECK_EQ_STR(m->threads.at[0].comm, "a) R 1 2 (b");
	CHECK_EQ_STR(m->threads.at[1].comm, "tab\tnl\n\xff");
	CHECK_EQ_STR(m->threads.at[2].comm, "");
	CHECK_EQ_STR(m->threads.at[3].comm, "a) R 1 2 (b");
	model_free(m);
}

/* A thread that is just gone has neither pid nor tid when its last sample falls. */
TEST(threads_nobody_named)
{
	struct recording r = { 0 };
	struct model *m;

	rec_sample(&r, REC_KERNEL, 100, 101, 1000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, UINT32_MAX, UINT32_MAX, 1001, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), ":101(:100) 100/101 1: [kernel]+ffffffff81000000\n"
				  ":-1(:-1) -1/-1 1: [kernel]+ffffffff81000000\n");
	CHECK_EQ_U64(m->idle_samples, 0);
	model_free(m);
}

TEST(idle_is_kept_apart)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, 0, 100, 100, "app", 0);
	for (uint64_t i = 0; i < 5; i++)
		rec_sample(&r, REC_KERNEL, 0, 0, 1000 + i, 0xffffffff81000100, NULL);
	rec_sample(&r, REC_KERNEL, 100, 100, 2000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_USER, 100, 100, 2001, 0x1234, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 7);
	CHECK_EQ_U64(m->idle_samples, 5);
	CHECK_EQ_U64(m->kernel_samples, 1);
	CHECK_EQ_U64(m->unmapped, 1);
	CHECK_EQ_U64(rec_image(m, "[kernel]")->samples, 1);
	CHECK(thread(m, "swapper")->idle);
	CHECK_EQ_U64(thread(m, "swapper")->samples, 5);
	CHECK(!thread(m, "app")->idle);
	model_free(m);
}

/* Without TID in the samples there is no telling, least of all that it was the idle loop. */
TEST(samples_without_thread_are_not_idle)
{
	struct recording r = { .sample_type = PERFDATA_S_IP | PERFDATA_S_TIME };
	struct model *m;

	rec_sample(&r, REC_KERNEL, 0, 0, 1000, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_U64(m->samples, 1);
	CHECK_EQ_U64(m->idle_samples, 0);
	CHECK_EQ_STR(rec_dump(m), ":-1(:-1) -1/-1 1: [kernel]+ffffffff81000000\n");
	model_free(m);
}

/* Tids without fork records that turn up in another process. */
TEST(tid_in_another_process)
{
	struct recording r = { 0 };
	struct model *m;

	rec_comm(&r, 0, 100, 105, "one", 0);
	rec_comm(&r, 0, 200, 200, "two", 0);
	rec_sample(&r, REC_KERNEL, 100, 105, 1000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 200, 105, 2000, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 100, 105, 1001, 0xffffffff81000000, NULL);
	rec_sample(&r, REC_KERNEL, 200, 105, 2001, 0xffffffff81000000, NULL);
	m = rec_load(&r, NULL);
	CHECK_EQ_STR(rec_dump(m), "one(:100) 100/105 2: [kernel]+ffffffff81000000\n"
				  ":105(two) 200/105 2: [kernel]+ffffffff81000000\n");
	model_free(m);
}
