/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records to tables. The model holds what a recording says with nothing repeated: images, threads,
 * distinct addresses, a tree of distinct call stacks, and how often each was seen by which thread
 * and when. No sample is kept by itself, so memory grows with the variety of a recording, not with
 * its length.
 *
 * Everything that depends on time (mappings, comms, fork, exec, pid reuse) is decided while
 * records are read, by the time of the record, never by the state at the end.
 */
#ifndef CULPRIT_MODEL_MODEL_H
#define CULPRIT_MODEL_MODEL_H

#include "base/err.h"
#include "base/mem.h"
#include "base/str.h"
#include "decode/decode.h"

/* Ids are dense indexes into the vectors of struct model. One-member structs keep kinds apart. */
struct image_id {
	uint32_t i;
};
struct thread_id {
	uint32_t i;
};
struct addr_id {
	uint32_t i;
};
struct node_id {
	uint32_t i;
};
#define MODEL_NONE UINT32_MAX

enum model_image_kind {
	MODEL_IMAGE_FILE,
	MODEL_IMAGE_KERNEL, /* core kernel and modules: addresses are absolute */
	MODEL_IMAGE_VDSO,   /* addresses are offsets from its start */
	MODEL_IMAGE_ANON,   /* //anon, [heap], JIT: absolute addresses of one process */
	/* No mapping covers it, or code that nobody has ("[vdso32]"): addresses as for ANON. */
	MODEL_IMAGE_UNKNOWN,
};

struct model_image {
	enum model_image_kind kind;
	const char *path;  /* as recorded, " (deleted)" taken off; "[kernel]", "[vdso]", ... */
	const char *key;   /* session.h image key; "" for ANON and UNKNOWN */
	char build_id[41]; /* lower-case hex, "" when unknown */
	bool deleted;
	uint32_t device_major, device_minor;
	uint64_t inode, inode_generation;
	uint32_t pid;	  /* a process that mapped it; the only one for ANON and UNKNOWN */
	uint64_t samples; /* whose innermost address is here, idle ones left out */
	uint64_t touched; /* samples with any frame here, idle ones left out */
};

/* One name of one thread: a thread that renames itself or execs has several rows. */
struct model_thread {
	uint32_t pid, tid;
	const char *comm;	  /* raw bytes; may be any but zero */
	const char *process_comm; /* the comm of the thread whose tid is pid, at that time */
	uint64_t samples, period;
	bool idle; /* tid 0: the idle loop; left out of shares */
};

struct model_addr {
	struct image_id image;
	bool is_return;	  /* a return address: symbols are looked up at address - 1 */
	uint64_t address; /* FILE: offset in the file; else as the image's kind says */
};

/*
 * A distinct stack is the path from a node to the root. Innermost frame = the node itself. A parent
 * comes before its children.
 */
struct model_node {
	struct node_id parent; /* MODEL_NONE at the outermost frame */
	struct addr_id addr;
};

/* Samples of one stack by one thread in one time bucket, for one event. */
struct model_weight {
	struct node_id node; /* MODEL_NONE: a sample without any address */
	struct thread_id thread;
	uint32_t event;	 /* index of the attribute */
	uint32_t bucket; /* 0 .. 999 */
	uint64_t samples, period;
};

struct model_event {
	const char *name;
	bool is_frequency;
	uint64_t rate; /* Hz or period */
	uint64_t samples, period;
	bool exclude_user, exclude_kernel; /* only the other privilege level was sampled */
	bool has_chains;		   /* samples have call chains */
	bool has_stack_copies; /* and copies of the user's stack in place of the user's part */
};

struct model {
	VEC(struct model_image) images;
	VEC(struct model_thread) threads;
	VEC(struct model_addr) addrs;
	VEC(struct model_node) nodes;
	VEC(struct model_weight) weights;
	VEC(struct model_event) events;
	/* What the recording says of itself; "" or 0 when absent. */
	const char *hostname, *kernel, *arch, *cpuid, *cmdline;
	/*
	 * Which kernel ran and where it lay, for symbols that come from elsewhere: the address of
	 * _text or _stext as its own mapping record gives it, 0 when absent or hidden; its build id
	 * in hex from the BUILD_ID feature, else from that record, "" when absent.
	 */
	uint64_t kernel_text;
	const char *kernel_build_id;
	uint64_t first_ns, last_ns; /* of samples, perf clock */
	uint64_t bucket_ns;	    /* width of a time bucket; bucket 0 starts at first_ns */
	/* Evidence. samples counts idle ones too; unmapped and kernel_samples do not. */
	uint64_t samples, idle_samples, lost, throttled, unmapped, kernel_samples;
	uint64_t chain_samples, chain_frames; /* samples with more than one frame; frames in all */
	uint64_t records, unknown_records, bad_records;
	bool partial;		 /* the file is cut or damaged */
	VEC(const char *) notes; /* why partial, what was skipped */
	struct arena arena;
};

struct model_options {
	/* Only records with this event index are counted; -1 for all. */
	int event;
	/* Called now and then with bytes done and in all; may be NULL. */
	void (*progress)(void *ctx, uint64_t done, uint64_t total);
	void *progress_ctx;
};

/*
 * Reads all of pd. A damaged file gives what came before the damage with partial set; ERR_FORMAT
 * only when nothing could be read at all. Blocks; not shared between threads.
 */
ERR_CHECKED bool model_load(struct model **out, struct perfdata *pd,
			    const struct model_options *options, struct err *err);
void model_free(struct model *m);

#endif
