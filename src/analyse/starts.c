/* SPDX-License-Identifier: Apache-2.0 */
/* How many call chains are whole: those whose outermost frame is where a thread or program starts. */
#include <fnmatch.h>

#include "analyse/work.h"

/* Functions that nothing calls. Patterns are those of fnmatch. */
static const struct start {
	enum where { ANYWHERE, IN_KERNEL } where;
	const char *pattern;
} starts[] = {
	/* Programs. */
	{ ANYWHERE, "_start" },
	{ ANYWHERE, "_start_c" },
	{ ANYWHERE, "_dl_start*" },
	{ ANYWHERE, "__libc_start_main*" },
	{ ANYWHERE, "__libc_start_call_main" },
	{ ANYWHERE, "main" },
	{ ANYWHERE, "runtime.rt0_go*" },
	{ ANYWHERE, "runtime.goexit*" },
	{ ANYWHERE, "runtime.mstart*" },
	/* Threads. */
	{ ANYWHERE, "start_thread" },
	{ ANYWHERE, "thread_start" },
	{ ANYWHERE, "clone" },
	{ ANYWHERE, "clone3" },
	{ ANYWHERE, "__clone" },
	{ ANYWHERE, "__clone3" },
	/* Kernel threads and CPUs that come up. */
	{ IN_KERNEL, "ret_from_fork*" },
	{ IN_KERNEL, "kthread" },
	{ IN_KERNEL, "secondary_startup*" },
	{ IN_KERNEL, "common_startup_64" },
	{ IN_KERNEL, "rest_init" },
	{ IN_KERNEL, "start_kernel" },
	{ IN_KERNEL, "cpu_startup_entry" },
	{ IN_KERNEL, "do_idle" },
	/* Ways into the kernel, where the user's part is not there. */
	{ IN_KERNEL, "entry_SYSCALL*" },
	{ IN_KERNEL, "*asm_*" },
	{ IN_KERNEL, "el0t_64_*" },
};

static bool is_start(const char *name, bool in_kernel)
{
	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		if ((starts[i].where == ANYWHERE || in_kernel) &&
		    !fnmatch(starts[i].pattern, name, 0))
			return true;
	return false;
}

/* The C library, whose own starts of programs and threads have no names once it is stripped. */
static bool is_c_library(const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;

	return !fnmatch("libc[.-]*so*", name, 0) || !fnmatch("libpthread[.-]*so*", name, 0) ||
	       !fnmatch("ld-*so*", name, 0);
}

/* What of the samples whose outermost address is this root reaches a start. */
static struct hot_count started_of(const struct work *w, uint32_t root)
{
	struct symbol_span span = work_node_span(w, root);
	uint32_t outermost = w->s->frames.at[span.first + span.count - 1].function.i;
	const struct symbol_function *f = &w->s->functions.at[outermost];
	const struct model_image *image =
		&w->m->images.at[w->m->addrs.at[w->m->nodes.at[root].addr.i].image.i];
	struct hot_count count = w->total[root];

	switch (f->kind) {
	case SYMBOL_FUNCTION:
	case SYMBOL_INLINE:
		if (is_start(f->name, image->kind == MODEL_IMAGE_KERNEL))
			return count;
		break;
	case SYMBOL_KERNEL_HIDDEN:
		/* The kernel unwinds itself well; that its names are hidden breaks no chain. */
		return count;
	case SYMBOL_UNKNOWN:
		if (!is_c_library(image->path))
			break;
		/* With a frame inside it, that is a call from one of its nameless starts. */
		count.samples -= w->self[root].samples;
		count.weight -= w->self[root].weight;
		return count;
	}
	return (struct hot_count){ 0, 0 };
}

void work_starts(struct work *w)
{
	for (uint32_t i = 0; i < w->m->nodes.len; i++)
		if (w->m->nodes.at[i].parent.i == MODEL_NONE && w->total[i].samples)
			work_add(&w->h->started, started_of(w, i));
}
