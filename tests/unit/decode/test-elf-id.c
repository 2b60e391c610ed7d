/* SPDX-License-Identifier: Apache-2.0 */
/* ELF identity: both classes and byte orders, segments and sections, files cut everywhere. */
#include "decode/elf-id.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/os.h"
#include "base/str.h"
#include "make-elf.h"
#include "test.h"

struct memory {
	const uint8_t *bytes;
	size_t len;
	unsigned reads;
};

static long memory_read(void *ctx, void *to, size_t len, uint64_t offset)
{
	struct memory *m = ctx;
	size_t left = offset < m->len ? m->len - (size_t)offset : 0;
	size_t n = len < left ? len : left;

	m->reads++;
	if (n)
		memcpy(to, m->bytes + offset, n);
	return (long)n;
}

static long no_read(void *ctx, void *to, size_t len, uint64_t offset)
{
	(void)ctx, (void)to, (void)len, (void)offset;
	errno = EACCES;
	return -1;
}

static long fd_read(void *ctx, void *to, size_t len, uint64_t offset)
{
	const int *fd = ctx;

	return pread(*fd, to, len, (off_t)offset);
}

static const uint8_t some_id[32] = { 0xde, 0xad, 3,  4,	 5,  6,	 7,  8,	 9,  10, 11,
				     12,   13,	 14, 15, 16, 17, 18, 19, 20, 21, 22 };

static struct elf_id id_of(const struct buf *b)
{
	struct memory m = { test_guard(b->at, b->len), b->len, 0 };
	struct elf_id id;
	struct err err;

	CHECK_MSG(elf_id_read(&id, "made.elf", memory_read, &m, &err), "%s", err.text);
	return id;
}

TEST(elf_id_all_kinds)
{
	for (unsigned i = 0; i < 16; i++) {
		struct make_elf k = { i & 1, i & 2, i & 4, i & 8 ? 8 : 4 };
		buf_auto b = { 0 };
		struct elf_id id;

		make_elf_file(&b, k, some_id, 20);
		id = id_of(&b);
		CHECK_EQ_INT(id.is_64, k.is_64);
		CHECK_EQ_INT(id.machine, EM_AARCH64);
		CHECK_EQ_INT(id.type, ET_DYN);
		CHECK_EQ_INT(id.build_id_len, 20);
		CHECK_EQ_MEM(id.build_id, some_id, 20);
	}
}

TEST(elf_id_lengths)
{
	static const struct {
		uint32_t len;
		int expect;
	} all[] = { { 0, 0 }, { 1, 1 }, { 8, 8 }, { 16, 16 }, { 20, 20 }, { 32, 20 } };

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		buf_auto b = { 0 };
		struct elf_id id;

		make_elf_file(&b, (struct make_elf){ true, false, false, 4 }, some_id, all[i].len);
		id = id_of(&b);
		CHECK_EQ_INT(id.build_id_len, all[i].expect);
		CHECK_EQ_MEM(id.build_id, some_id, (size_t)all[i].expect);
	}
}

TEST(elf_id_of_zeros_is_none)
{
	static const uint8_t zeros[20];
	buf_auto b = { 0 };

	make_elf_file(&b, (struct make_elf){ true, false, false, 4 }, zeros, 20);
	CHECK_EQ_INT(id_of(&b).build_id_len, 0);
}

/* A cut file has an identity as long as its header is whole; its build id only when it is whole. */
TEST(elf_id_cut_at_every_length)
{
	for (unsigned i = 0; i < 8; i++) {
		struct make_elf k = { i & 1, i & 2, i & 4, 4 };
		buf_auto b = { 0 };

		make_elf_file(&b, k, some_id, 20);
		for (size_t len = 0; len < b.len; len++) {
			struct memory m = { test_guard(b.at, len), len, 0 };
			struct elf_id id = { .machine = 42 };
			struct err err;
			bool ok = elf_id_read(&id, "cut.elf", memory_read, &m, &err);

			/* Section counts end 2 bytes before the header does. */
			CHECK_EQ_INT(ok, len >= (k.is_64 ? 62 : 50));
			if (ok) {
				CHECK_EQ_INT(id.build_id_len, 0);
				continue;
			}
			CHECK_EQ_INT(id.machine, 42);
			CHECK_EQ_INT(err.kind, ERR_FORMAT);
			CHECK_HAS(err.text, "cut.elf");
		}
	}
}

TEST(elf_id_no_elf)
{
	struct memory m = { (const uint8_t *)"#!/bin/sh\necho", 14, 0 };
	struct elf_id id;
	struct err err;

	CHECK(!elf_id_read(&id, "script", memory_read, &m, &err));
	CHECK_EQ_INT(err.kind, ERR_FORMAT);
	CHECK_EQ_STR(err.text, "script is no ELF file");
	CHECK(!elf_id_read(&id, "secret", no_read, NULL, &err));
	CHECK_EQ_INT(err.kind, ERR_SYSTEM);
	CHECK_EQ_INT(err.sys_errno, EACCES);
	CHECK_HAS(err.text, "cannot read secret");
	m = (struct memory){ (const uint8_t *)"\177ELF\3\1", 6, 0 };
	CHECK(!elf_id_read(&id, "odd", memory_read, &m, &err));
	CHECK_HAS(err.text, "odd: unknown ELF class 3");
}

/* Tables and notes that claim to be anywhere and of any size cost little. */
TEST(elf_id_hostile)
{
	static const uint64_t values[] = { 0, 1, 0xfff0, UINT32_MAX, INT64_MAX, UINT64_MAX };

	for (size_t at = 16; at < 64 + 112; at++) {
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
			buf_auto b = { 0 };
			struct elf_id id;
			struct err err;
			struct memory m;

			make_elf_file(&b, (struct make_elf){ true, false, at & 1, 4 }, some_id, 20);
			memcpy(b.at + at, &values[i], 8);
			m = (struct memory){ test_guard(b.at, b.len), b.len, 0 };
			if (elf_id_read(&id, "hostile", memory_read, &m, &err))
				CHECK(id.build_id_len == 0 || id.build_id_len == 20);
			CHECK(m.reads < 20);
		}
	}
}

TEST(elf_id_notes_cut)
{
	buf_auto b = { 0 };
	uint8_t id[20], len = 99;

	make_elf_note(&b, (struct make_elf){ true, false, false, 4 }, 1, "Linux", some_id, 4);
	make_elf_note(&b, (struct make_elf){ true, false, false, 4 }, NT_GNU_BUILD_ID, "GNU",
		      some_id, 20);
	for (size_t n = 0; n < b.len; n++) {
		struct cursor c = cursor_of("notes", test_guard(b.at, n), n);

		CHECK(!elf_id_notes(&c, 4, id, &len));
		CHECK_EQ_INT(len, 99);
	}
	struct cursor c = cursor_of("notes", test_guard(b.at, b.len), b.len);
	CHECK(elf_id_notes(&c, 4, id, &len));
	CHECK_EQ_INT(len, 20);
	CHECK_EQ_MEM(id, some_id, 20);
}

TEST(elf_id_hex_text)
{
	char hex[41];

	elf_id_hex(some_id, 3, hex);
	CHECK_EQ_STR(hex, "dead03");
	elf_id_hex(some_id, 0, hex);
	CHECK_EQ_STR(hex, "");
}

static void readelf_id(const char *path, struct buf *text)
{
	char_auto command =
		mem_printf("readelf -n %s 2>&1 | sed -n 's/.*Build ID: //p' | head -1 | "
			   "tr -d '\\n'",
			   path);
	FILE *f = popen(command, "re");
	struct err err;

	CHECK(f && os_read_fd(fileno(f), "readelf", 4096, text, &err));
	pclose(f);
}

/* The programs of this machine against readelf. */
TEST(elf_id_like_readelf)
{
	static const char *const paths[] = { "/bin/sh", "/usr/bin/env", "/usr/bin/readelf",
					     "/usr/bin/perf" };
	unsigned compared = 0;

	if (access("/usr/bin/readelf", X_OK))
		SKIP("no /usr/bin/readelf to compare with");
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		fd_auto fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		buf_auto text = { 0 };
		struct elf_id id;
		struct err err;
		char hex[41];

		if (fd < 0)
			continue;
		CHECK_MSG(elf_id_read(&id, paths[i], fd_read, &fd, &err), "%s", err.text);
		elf_id_hex(id.build_id, id.build_id_len, hex);
		readelf_id(paths[i], &text);
		CHECK_EQ_STR(hex, buf_str(&text));
		CHECK(id.build_id_len > 0);
		compared++;
	}
	CHECK(compared > 0);
}
