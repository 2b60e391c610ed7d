/* SPDX-License-Identifier: Apache-2.0 */
/* The error value as the body of a WIRE_ERROR frame. */
#include <stdio.h>

#include "wire/wire.h"

void wire_put_err(struct buf *b, const struct err *err)
{
	kv_put_u64(b, "kind", err->kind);
	kv_put_u64(b, "errno", (uint64_t)(err->sys_errno > 0 ? err->sys_errno : 0));
	kv_put(b, "id", err->id);
	kv_put(b, "text", err->text);
	kv_put(b, "hint", err->hint);
}

void wire_get_err(struct str body, struct err *err)
{
	struct kv kv;
	uint64_t kind;

	kv_parse(&kv, body);
	kind = kv_u64(&kv, "kind", ERR_INTERNAL);
	*err = (struct err){ 0 };
	err->kind = kind > ERR_NONE && kind <= ERR_INTERNAL ? (enum err_kind)kind : ERR_INTERNAL;
	err->sys_errno = (int)(kv_u64(&kv, "errno", 0) & 0xffff);
	snprintf(err->id, sizeof(err->id), "%s", kv_get(&kv, "id"));
	snprintf(err->text, sizeof(err->text), "%s", kv_get(&kv, "text"));
	snprintf(err->hint, sizeof(err->hint), "%s", kv_get(&kv, "hint"));
	if (!err->text[0])
		snprintf(err->text, sizeof(err->text), "the other side gave no reason");
	kv_done(&kv);
}
