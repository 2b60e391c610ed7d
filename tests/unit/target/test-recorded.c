/* SPDX-License-Identifier: Apache-2.0 */
/* A recorded kernel takes and refuses groups as the real one was seen to, and its file is read strictly. */
#include <errno.h>
#include <string.h>

#include "base/os.h"
#include "target/parts.h"
#include "test.h"
#include "tree.h"

enum { PMU = 8, CYCLES = 0x11, STALL = 0x23 };

static struct target_recorded *load(struct target_perf *perf, const char *answers)
{
	const struct rootfs root = tree_root();
	struct target_recorded *r;
	struct err err;

	tree_pmu("armv8_pmuv3", "8\n", "0-1\n");
	tree_answers(answers);
	CHECK_MSG(target_recorded_load(&r, &root, perf, &err), "%s", err.text);
	return r;
}

/* How many siblings the leader takes, and whether the group then counts. */
static int siblings(const struct target_perf *perf, struct perf_event_attr leader, uint64_t config,
		    bool *counts)
{
	struct perf_event_attr sibling = target_plain_attr(PMU, config);
	int fds[64], n = 0, fd = perf->open(perf->ctx, &leader, 0, -1, -1, 0);
	struct target_reading r;

	CHECK(fd >= 0);
	while ((fds[n] = perf->open(perf->ctx, &sibling, 0, -1, fd, 0)) >= 0)
		n++;
	CHECK_EQ_INT(fds[n], -EINVAL);
	CHECK_EQ_INT(perf->count(perf->ctx, fd, -1, &r), 0);
	*counts = r.running_ns > 0;
	for (int i = n; i-- > 0;)
		perf->close(perf->ctx, fds[i]);
	perf->close(perf->ctx, fd);
	return n;
}

/* As a real arm64 kernel answered, with six counters and one for cycles. */
TEST(recorded_groups)
{
	struct target_perf perf;
	struct target_recorded *r =
		load(&perf, "cycles ok\ncounters armv8_pmuv3 6\ncycle_counter armv8_pmuv3 yes\n");
	struct perf_event_attr raw = target_plain_attr(PMU, STALL);
	bool counts;

	CHECK_EQ_INT(siblings(&perf, raw, STALL, &counts), 5);
	CHECK(counts);
	raw.disabled = raw.enable_on_exec = 1;
	CHECK_EQ_INT(siblings(&perf, raw, STALL, &counts), 5);
	CHECK(counts);
	/* The trap: one too many, and never counted. */
	raw.enable_on_exec = 0;
	CHECK_EQ_INT(siblings(&perf, raw, STALL, &counts), 6);
	CHECK(!counts);
	CHECK_EQ_INT(siblings(&perf,
			      target_plain_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES),
			      STALL, &counts),
		     6);
	CHECK(counts);
	CHECK_EQ_INT(siblings(&perf, target_plain_attr(PERF_TYPE_SOFTWARE, 0), STALL, &counts), 6);
	/* Cycles have their own counter, and else take any. */
	CHECK_EQ_INT(siblings(&perf, target_plain_attr(PMU, CYCLES), CYCLES, &counts), 6);
	target_recorded_free(r);
}

/* Kernels before 5.19 look at no leader. */
TEST(recorded_leader_that_nobody_checks)
{
	struct target_perf perf;
	struct target_recorded *r = load(&perf, "cycles ok\ncounters armv8_pmuv3 0\n"
						"leader_unchecked yes\n");
	struct perf_event_attr raw = target_plain_attr(PMU, STALL);
	struct perf_event_attr clock = target_plain_attr(PERF_TYPE_SOFTWARE, 0);
	int fd = perf.open(perf.ctx, &raw, 0, -1, -1, 0);
	struct target_reading reading;

	CHECK(fd >= 0);
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, -1, fd, 0), -EINVAL);
	CHECK_EQ_INT(perf.count(perf.ctx, fd, -1, &reading), 0);
	CHECK_EQ_U64(reading.running_ns, 0);
	perf.close(perf.ctx, fd);
	fd = perf.open(perf.ctx, &clock, 0, -1, -1, 0);
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, -1, fd, 0), -EINVAL);
	target_recorded_free(r);
	r = load(&perf, "cycles ok\ncounters armv8_pmuv3 0\nleader_unchecked no\n");
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, -1, -1, 0), -EINVAL);
	target_recorded_free(r);
}

/* The names that tools/record-target writes. */
TEST(recorded_errnos)
{
	static const struct {
		const char *name;
		int errnum;
	} all[] = { { "E2BIG", E2BIG },	  { "EAGAIN", EAGAIN }, { "EINTR", EINTR },
		    { "EIO", EIO },	  { "EMFILE", EMFILE }, { "ENFILE", ENFILE },
		    { "ENOMEM", ENOMEM }, { "ENOSPC", ENOSPC }, { "ESRCH", ESRCH } };

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		char_auto text = mem_printf("software %s\ncounters armv8_pmuv3 6\n", all[i].name);
		struct perf_event_attr clock = target_plain_attr(PERF_TYPE_SOFTWARE, 0);
		struct target_perf perf;
		struct target_recorded *r = load(&perf, text);

		CHECK_EQ_INT(perf.open(perf.ctx, &clock, 0, -1, -1, 0), -all[i].errnum);
		target_recorded_free(r);
	}
}

TEST(recorded_pinned_and_busy)
{
	struct target_perf perf;
	struct target_recorded *r = load(&perf, "cycles ok\ncounters armv8_pmuv3 3\n"
						"cycle_counter armv8_pmuv3 no\n"
						"free armv8_pmuv3 1\n");
	struct perf_event_attr raw = target_plain_attr(PMU, STALL);
	struct target_reading reading;
	int leader, sibling;

	raw.pinned = 1;
	leader = perf.open(perf.ctx, &raw, 0, -1, -1, 0);
	CHECK_EQ_INT(perf.count(perf.ctx, leader, -1, &reading), 0);
	raw.pinned = 0;
	sibling = perf.open(perf.ctx, &raw, 0, -1, leader, 0);
	CHECK(sibling >= 0);
	CHECK_EQ_INT(perf.count(perf.ctx, leader, -1, &reading), ENODATA);
	perf.close(perf.ctx, sibling);
	CHECK_EQ_INT(perf.count(perf.ctx, leader, -1, &reading), 0);
	perf.close(perf.ctx, leader);
	/* Those that are not pinned take turns. */
	leader = perf.open(perf.ctx, &raw, 0, -1, -1, 0);
	sibling = perf.open(perf.ctx, &raw, 0, -1, leader, 0);
	CHECK_EQ_INT(perf.count(perf.ctx, leader, -1, &reading), 0);
	CHECK(reading.running_ns && reading.running_ns < reading.enabled_ns);
	/* Descriptors that are none, or not any more. */
	perf.close(perf.ctx, sibling);
	perf.close(perf.ctx, leader);
	perf.close(perf.ctx, leader);
	CHECK_EQ_INT(perf.count(perf.ctx, leader, -1, &reading), EBADF);
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, -1, leader, 0), -EBADF);
	CHECK_EQ_INT(perf.count(perf.ctx, 3, -1, &reading), EBADF);
	/* Elsewhere than the PMU's CPUs there is no such event. */
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, 7, -1, 0), -ENOENT);
	target_recorded_free(r);
}

static void refused(const char *answers, enum err_kind kind, const char *why)
{
	const struct rootfs root = tree_root();
	struct target_perf perf = { 0 };
	struct target_recorded *r = NULL;
	struct err err = { 0 };

	tree_pmu("armv8_pmuv3", "8\n", "0-1\n");
	tree_put("/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
	tree_answers(answers);
	CHECK_MSG(!target_recorded_load(&r, &root, &perf, &err), "taken: %s", answers);
	CHECK_EQ_INT(err.kind, kind);
	CHECK_HAS(err.text, why);
	CHECK_HAS(err.text, "/perf_event_open");
	CHECK(!r && !perf.open);
}

TEST(recorded_file_is_read_strictly)
{
	refused("cycles ok\n\n# note\nnonsense ok\n", ERR_FORMAT,
		"perf_event_open:4: 'nonsense ok'");
	refused("cycles\n", ERR_FORMAT, ":1: 'cycles ': not one value");
	refused("cycles ok ok\n", ERR_FORMAT, ":1: 'cycles ok': not one value");
	refused("cycles EWHAT\n", ERR_FORMAT, "'cycles EWHAT': not 'ok' and no name");
	refused("cycles OK\n", ERR_FORMAT, "'cycles OK'");
	refused("cycles_counts EPERM\n", ERR_FORMAT, "not ok or ENODATA");
	refused("counters armv8_pmuv3\n", ERR_FORMAT, "not one PMU and one value");
	refused("counters\n", ERR_FORMAT, "a PMU and a value are missing");
	refused("counters armv8_pmuv3 64\n", ERR_FORMAT, "not a number of counters");
	refused("counters armv8_pmuv3 -1\n", ERR_FORMAT, "not a number of counters");
	refused("counters armv8_pmuv9 6\n", ERR_FORMAT, "no such PMU");
	refused("counters arm_spe_0 6\n", ERR_FORMAT, "only core PMUs");
	refused("cycle_counter armv8_pmuv3 maybe\n", ERR_FORMAT, "not yes or no");
	refused("cycle_counter_free armv8_pmuv3 1\n", ERR_FORMAT, "not yes or no");
	refused("leader_unchecked 1\n", ERR_FORMAT, "not yes or no");
	refused("free armv8_pmuv3 x\n", ERR_FORMAT, "not a number of counters");
	refused("pmu armv8_pmuv3 6\n", ERR_FORMAT, "'pmu 6'");
	refused("page_bytes 5000\n", ERR_FORMAT, "not the size of a page");
	refused("page_bytes 0\n", ERR_FORMAT, "not the size of a page");
	/* Silence about a core's counters would be a guess. */
	refused("cycles ok\n", ERR_FORMAT, "no line 'counters armv8_pmuv3 N'");
}

TEST(recorded_file_missing)
{
	const struct rootfs root = tree_root();
	struct target_perf perf;
	struct target_recorded *r;
	struct err err = { 0 };

	CHECK(!target_recorded_load(&r, &root, &perf, &err));
	CHECK_EQ_INT(err.kind, ERR_NOT_FOUND);
	CHECK_HAS(err.text, "/perf_event_open");
	CHECK_HAS(err.hint, "counters armv8_pmuv3_0 6");
}

TEST(recorded_file_too_large)
{
	char text[70000];

	memset(text, '#', sizeof(text));
	text[sizeof(text) - 1] = 0;
	refused(text, ERR_LIMIT, "larger than");
}

/* Comments, blanks and a last line without an end are fine. */
TEST(recorded_file_forms)
{
	struct target_perf perf;
	struct target_recorded *r = load(&perf, "\n   # said by the kernel\n\tcycles   ok  \n"
						"pmu armv8_pmuv3 ENODEV\npage_bytes 16384");
	struct perf_event_attr raw = target_plain_attr(PMU, STALL);

	CHECK_EQ_U64(perf.page_bytes, 16384);
	CHECK_EQ_INT(perf.open(perf.ctx, &raw, 0, -1, -1, 0), -ENODEV);
	target_recorded_free(r);
	target_recorded_free(NULL);
}
