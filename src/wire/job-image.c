/* SPDX-License-Identifier: Apache-2.0 */
/* The name of an image as key-value text, and back. */
#include <limits.h>
#include <stdio.h>

#include "wire/job-text.h"
#include "wire/job.h"

static const char *const kinds[] = { "file", "vdso", "kallsyms" };

void job_image_encode(const struct job_image *i, struct buf *out)
{
	kv_put(out, "kind", kinds[i->kind]);
	kv_put(out, "build_id", i->build_id);
	kv_put_u64(out, "device_major", i->device_major);
	kv_put_u64(out, "device_minor", i->device_minor);
	kv_put_u64(out, "inode", i->inode);
	kv_put_u64(out, "inode_generation", i->inode_generation);
	kv_put_u64(out, "pid", i->pid);
	kv_put(out, "path", i->path ? i->path : "");
}

static bool is_hex(const char *s)
{
	return strspn(s, "0123456789abcdef") == strlen(s);
}

static bool take(struct job_image *i, const struct kv *kv, struct arena *a, struct err *err)
{
	const char *id = kv_get(kv, "build_id");
	uint64_t kind;

	if (!job_text_word(&kind, kv, "image", "kind", kinds, 3, err) ||
	    !job_text_u64(&i->device_major, kv, "image", "device_major", UINT32_MAX, err) ||
	    !job_text_u64(&i->device_minor, kv, "image", "device_minor", UINT32_MAX, err) ||
	    !job_text_u64(&i->inode, kv, "image", "inode", UINT64_MAX, err) ||
	    !job_text_u64(&i->inode_generation, kv, "image", "inode_generation", UINT64_MAX, err) ||
	    !job_text_u64(&i->pid, kv, "image", "pid", UINT32_MAX, err))
		return false;
	if (strlen(id) >= sizeof(i->build_id) || strlen(id) % 2 || !is_hex(id))
		return err_set(err, ERR_FORMAT, "image: build id '%.60s'", id);
	i->kind = (enum job_image_kind)kind;
	snprintf(i->build_id, sizeof(i->build_id), "%s", id);
	i->path = arena_strdup(a, kv_get(kv, "path"));
	return true;
}

bool job_image_decode(struct job_image *i, struct str body, struct arena *a, struct err *err)
{
	struct job_image got = { 0 };
	struct kv kv;
	bool ok;

	kv_parse(&kv, body);
	ok = take(&got, &kv, a, err);
	kv_done(&kv);
	if (ok)
		*i = got;
	return ok;
}
