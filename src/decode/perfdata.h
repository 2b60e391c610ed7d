/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The perf.data format: file header, attributes, feature sections and records.
 * Source: linux/perf_event.h (records of the kernel) and tools/perf/Documentation/
 * perf.data-file-format.txt (container), facts checked against files of perf 6.1.
 *
 * Three layers: perfdata_open reads the header; perfdata_next steps over records without looking
 * inside; perfdata_sample and the other views read one record's body. All bytes are borrowed from
 * the caller's mapping and must outlive everything here.
 */
#ifndef CULPRIT_DECODE_PERFDATA_H
#define CULPRIT_DECODE_PERFDATA_H

#include "base/cursor.h"
#include "base/err.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"

/* Record types above what linux/perf_event.h of Debian 12 knows, and those of the container. */
enum perfdata_type {
	PERFDATA_MMAP = 1,
	PERFDATA_LOST = 2,
	PERFDATA_COMM = 3,
	PERFDATA_EXIT = 4,
	PERFDATA_THROTTLE = 5,
	PERFDATA_UNTHROTTLE = 6,
	PERFDATA_FORK = 7,
	PERFDATA_READ = 8,
	PERFDATA_SAMPLE = 9,
	PERFDATA_MMAP2 = 10,
	PERFDATA_AUX = 11,
	PERFDATA_ITRACE_START = 12,
	PERFDATA_LOST_SAMPLES = 13,
	PERFDATA_SWITCH = 14,
	PERFDATA_SWITCH_CPU_WIDE = 15,
	PERFDATA_NAMESPACES = 16,
	PERFDATA_KSYMBOL = 17,
	PERFDATA_BPF_EVENT = 18,
	PERFDATA_CGROUP = 19,
	PERFDATA_TEXT_POKE = 20,
	PERFDATA_AUX_OUTPUT_HW_ID = 21,
	PERFDATA_USER_FIRST = 64,
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68,
	PERFDATA_AUXTRACE_INFO = 70,
	PERFDATA_AUXTRACE = 71,
	PERFDATA_TIME_CONV = 79,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_FINISHED_INIT = 82,
	PERFDATA_COMPRESSED2 = 83,
};

enum perfdata_feature {
	PERFDATA_F_BUILD_ID = 2,
	PERFDATA_F_HOSTNAME = 3,
	PERFDATA_F_OSRELEASE = 4,
	PERFDATA_F_VERSION = 5,
	PERFDATA_F_ARCH = 6,
	PERFDATA_F_NRCPUS = 7,
	PERFDATA_F_CPUDESC = 8,
	PERFDATA_F_CPUID = 9,
	PERFDATA_F_TOTAL_MEM = 10,
	PERFDATA_F_CMDLINE = 11,
	PERFDATA_F_EVENT_DESC = 12,
	PERFDATA_F_SAMPLE_TIME = 21,
	PERFDATA_F_CLOCKID = 23,
	PERFDATA_F_DIR_FORMAT = 24,
	PERFDATA_F_COMPRESSED = 27,
	PERFDATA_F_CLOCK_DATA = 29,
	PERFDATA_F_COUNT = 256,
};

/* attr.sample_type bits, from linux/perf_event.h. */
enum perfdata_sample_bit {
	PERFDATA_S_IP = 1u << 0,
	PERFDATA_S_TID = 1u << 1,
	PERFDATA_S_TIME = 1u << 2,
	PERFDATA_S_ADDR = 1u << 3,
	PERFDATA_S_READ = 1u << 4,
	PERFDATA_S_CALLCHAIN = 1u << 5,
	PERFDATA_S_ID = 1u << 6,
	PERFDATA_S_CPU = 1u << 7,
	PERFDATA_S_PERIOD = 1u << 8,
	PERFDATA_S_STREAM_ID = 1u << 9,
	PERFDATA_S_RAW = 1u << 10,
	PERFDATA_S_BRANCH_STACK = 1u << 11,
	PERFDATA_S_REGS_USER = 1u << 12,
	PERFDATA_S_STACK_USER = 1u << 13,
	PERFDATA_S_WEIGHT = 1u << 14,
	PERFDATA_S_DATA_SRC = 1u << 15,
	PERFDATA_S_IDENTIFIER = 1u << 16,
	PERFDATA_S_TRANSACTION = 1u << 17,
	PERFDATA_S_REGS_INTR = 1u << 18,
	PERFDATA_S_PHYS_ADDR = 1u << 19,
	PERFDATA_S_AUX = 1u << 20,
	PERFDATA_S_CGROUP = 1u << 21,
	PERFDATA_S_DATA_PAGE_SIZE = 1u << 22,
	PERFDATA_S_CODE_PAGE_SIZE = 1u << 23,
	PERFDATA_S_WEIGHT_STRUCT = 1u << 24,
};

/*
 * Where the fields of one attribute's records lie, worked out once at open. Offsets count from the
 * start of a sample's body or of a stamp; PERFDATA_ABSENT when the field is not recorded.
 */
enum { PERFDATA_ABSENT = 0xff };
struct perfdata_layout {
	uint8_t fixed_bytes; /* of a sample, before the first field of varying length */
	uint8_t ip, tid, time, addr, id, cpu, period;
	bool has_chain, has_more; /* has_more: any field behind the chain, or READ before it */
	uint8_t stamp_bytes;
	uint8_t stamp_tid, stamp_time, stamp_id, stamp_cpu;
};

struct perfdata_attr {
	uint32_t type, size;
	uint64_t config, sample_period; /* sample_period is the frequency when freq is set */
	uint64_t sample_type, read_format;
	bool freq, inherit, exclude_user, exclude_kernel, sample_id_all, build_id;
	uint64_t branch_sample_type, sample_regs_user, sample_regs_intr;
	uint32_t sample_stack_user;
	int32_t clockid;
	bool use_clockid;
	bool unknown_tail;   /* bytes beyond what we know are not all zero */
	const uint64_t *ids; /* in the arena */
	size_t id_count;
	const char *name; /* from EVENT_DESC, else made from type and config */
	struct perfdata_layout layout;
};

struct perfdata {
	const char *name; /* of the file, for messages */
	const uint8_t *bytes;
	uint64_t len;
	bool swap; /* the file has the other byte order */
	bool pipe; /* written to a pipe: attributes are records */
	bool cut;  /* the header promises more than there is, or was never closed */
	uint64_t data_start, data_end;
	struct perfdata_attr *attrs;
	size_t attr_count;
	struct map ids;	   /* event id to index in attrs */
	bool by_id;	   /* the attribute of a record is found by its id, else it is the first */
	bool same_stamp;   /* stamps of all attributes look the same */
	bool stamped;	   /* records other than samples end in a stamp (sample_id_all) */
	uint8_t sample_id; /* where a sample's id lies; means something when by_id */
	uint8_t stamp_id_up; /* the same in a stamp, counted from its end */
	uint8_t sample_time; /* of all samples; PERFDATA_ABSENT when none has one or they differ */
	struct {
		uint64_t offset, size; /* size 0: absent (or damaged, see notes) */
	} features[PERFDATA_F_COUNT];
	VEC(const char *) notes; /* what was odd in the header, for the user */
	struct arena arena;
};

/*
 * Reads the header of a file that is mapped at bytes. ERR_FORMAT with offset and section when it
 * is no perf.data file or nothing can be read from it. A file that was never closed (data size 0)
 * or is cut is read up to its end, with cut set.
 */
ERR_CHECKED bool perfdata_open(struct perfdata *pd, const char *name, const void *bytes,
			       uint64_t len, struct err *err);
void perfdata_close(struct perfdata *pd);

/* Text of a string feature (HOSTNAME, OSRELEASE, VERSION, ARCH, CPUDESC, CPUID), or "". */
const char *perfdata_feature_text(struct perfdata *pd, enum perfdata_feature f);
/* CMDLINE joined with blanks; "" when absent. */
const char *perfdata_cmdline(struct perfdata *pd);
/* One entry of the BUILD_ID feature. Step with *at from 0; false at the end. */
struct perfdata_build_id {
	uint8_t id[20];
	uint8_t id_len;
	uint16_t misc; /* cpumode */
	int32_t pid;
	const char *path;
};
bool perfdata_next_build_id(struct perfdata *pd, uint64_t *at, struct perfdata_build_id *out);

/* A record as it lies in the file. */
struct perfdata_record {
	uint32_t type;
	uint16_t misc;
	uint32_t size;	 /* with the 8-byte header */
	uint64_t offset; /* in the file */
	const uint8_t *body;
};

enum perfdata_step { PERFDATA_RECORD, PERFDATA_END, PERFDATA_DAMAGED };
/*
 * The record at *offset, which then moves past it (past the payload too for AUXTRACE). DAMAGED: the
 * size is impossible or reaches past the end; nothing more can be read, *offset stays.
 */
enum perfdata_step perfdata_next(const struct perfdata *pd, uint64_t *offset,
				 struct perfdata_record *rec);

/* The identification that ends every record but samples when sample_id_all is set. */
struct perfdata_stamp {
	uint32_t pid, tid;
	uint64_t time_ns, id; /* 0 when not recorded */
	uint32_t cpu;
	bool has_time, has_cpu;
};

struct perfdata_sample {
	const struct perfdata_attr *attr; /* never NULL */
	uint64_t ip, time_ns, addr, period;
	uint32_t pid, tid, cpu;
	bool has_time, has_cpu;
	/* The chain as recorded, context marks (PERF_CONTEXT_*) included; unaligned, file order. */
	const uint8_t *chain;
	uint64_t chain_len; /* entries of 8 bytes */
	uint64_t regs_user_abi, regs_user_mask;
	const uint8_t *regs_user;
	const uint8_t *stack; /* user stack dump, or NULL */
	uint64_t stack_bytes; /* that were really dumped */
};
/* False (with nothing told) when the body does not hold what the attribute promises. */
bool perfdata_sample(const struct perfdata *pd, const struct perfdata_record *rec,
		     struct perfdata_sample *out);
/* The time of any record that has one; 0 else. Cheap: used for ordering. */
uint64_t perfdata_time(const struct perfdata *pd, const struct perfdata_record *rec);
/* Entry i of a chain. */
static inline uint64_t perfdata_chain_at(const struct perfdata *pd, const struct perfdata_sample *s,
					 uint64_t i)
{
	uint64_t v;

	memcpy(&v, s->chain + i * 8, 8);
	return pd->swap ? __builtin_bswap64(v) : v;
}

struct perfdata_mmap { /* MMAP and MMAP2 */
	uint32_t pid, tid;
	uint64_t start, len, pgoff;
	bool has_build_id;
	uint8_t build_id[20];
	uint8_t build_id_len;
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
	uint32_t prot, flags; /* 0 for MMAP */
	const char *path;
	struct perfdata_stamp stamp;
};
struct perfdata_comm {
	uint32_t pid, tid;
	bool exec;
	const char *comm;
	struct perfdata_stamp stamp;
};
struct perfdata_task { /* FORK and EXIT */
	uint32_t pid, ppid, tid, ptid;
	uint64_t time_ns;
	struct perfdata_stamp stamp;
};
struct perfdata_lost { /* LOST, LOST_SAMPLES */
	uint64_t id, lost;
	struct perfdata_stamp stamp;
};
bool perfdata_mmap(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_mmap *out);
bool perfdata_comm(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_comm *out);
bool perfdata_task(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_task *out);
bool perfdata_lost(const struct perfdata *pd, const struct perfdata_record *rec,
		   struct perfdata_lost *out);

#endif
