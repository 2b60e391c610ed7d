/* SPDX-License-Identifier: Apache-2.0 */
/* Mapped ranges against a plain array, balance, and old versions that stay as they were. */
#include "model/pieces.h"

#include <stdlib.h>

#include "test.h"

static struct piece piece(uint64_t start, uint64_t end, uint64_t shift, uint32_t image)
{
	return (struct piece){ .start = start, .end = end, .shift = shift, .image = image };
}

static uint32_t image_at(const struct pieces *t, uint32_t root, uint64_t address)
{
	const struct piece *p = pieces_find(t, root, address);

	return p ? p->image : 0;
}

TEST(piece_in_the_middle_cuts_in_two)
{
	struct pieces t = { 0 };
	uint32_t epoch = pieces_epoch(&t), root;
	struct piece a = piece(0x1000, 0x5000, 10, 1), b = piece(0x2000, 0x3000, 20, 2);

	root = pieces_put(&t, 0, epoch, &a);
	root = pieces_put(&t, root, epoch, &b);
	CHECK_EQ_INT(image_at(&t, root, 0xfff), 0);
	CHECK_EQ_INT(image_at(&t, root, 0x1000), 1);
	CHECK_EQ_INT(image_at(&t, root, 0x1fff), 1);
	CHECK_EQ_INT(image_at(&t, root, 0x2000), 2);
	CHECK_EQ_INT(image_at(&t, root, 0x2fff), 2);
	CHECK_EQ_INT(image_at(&t, root, 0x3000), 1);
	CHECK_EQ_INT(image_at(&t, root, 0x4fff), 1);
	CHECK_EQ_INT(image_at(&t, root, 0x5000), 0);
	CHECK_EQ_U64(pieces_find(&t, root, 0x4000)->shift, 10);
	pieces_done(&t);
}

TEST(conflict_is_a_change_of_meaning)
{
	struct pieces t = { 0 };
	uint32_t root;
	struct piece a = piece(0x1000, 0x2000, 10, 1), same = piece(0x0, 0x3000, 10, 1);
	struct piece moved = piece(0x1800, 0x2800, 11, 1), beside = piece(0x2000, 0x3000, 5, 2);
	struct piece other = piece(0x1fff, 0x2000, 10, 2);

	root = pieces_put(&t, 0, pieces_epoch(&t), &a);
	CHECK(!pieces_conflict(&t, root, &same));
	CHECK(!pieces_conflict(&t, root, &beside));
	CHECK(pieces_conflict(&t, root, &moved));
	CHECK(pieces_conflict(&t, root, &other));
	CHECK(!pieces_conflict(&t, 0, &other));
	pieces_done(&t);
}

/* Depth of the tree, and that weights are in balance at each node. */
static uint32_t checked_depth(const struct pieces *t, uint32_t n)
{
	const struct piece_node *at = &t->nodes.at[n];
	uint32_t left, right;
	uint64_t l, r;

	if (!n)
		return 0;
	l = (uint64_t)t->nodes.at[at->left].size + 1;
	r = (uint64_t)t->nodes.at[at->right].size + 1;
	CHECK(l <= 3 * r && r <= 3 * l);
	CHECK_EQ_U64(at->size, l + r - 1);
	left = checked_depth(t, at->left);
	right = checked_depth(t, at->right);
	return (left > right ? left : right) + 1;
}

enum { CELLS = 256, STEPS = 4000, KEPT = 40 };

static uint32_t random_next(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33);
}

/* The tree does what an array of cells does, and roots kept on the way keep what they had. */
TEST(random_puts_against_an_array)
{
	static uint32_t cells[CELLS], old_cells[KEPT][CELLS];
	uint32_t old_roots[KEPT], kept = 0, root = 0, epoch;
	struct pieces t = { 0 };
	uint64_t state = 12345;

	epoch = pieces_epoch(&t);
	for (uint32_t step = 1; step <= STEPS; step++) {
		uint32_t start = random_next(&state) % CELLS;
		uint32_t end = start + 1 + random_next(&state) % (step % 3 ? 8 : 100);
		struct piece p;

		end = end < CELLS ? end : CELLS;
		p = piece(start, end, step, step);
		root = pieces_put(&t, root, epoch, &p);
		for (uint32_t i = start; i < end; i++)
			cells[i] = step;
		if (step % (STEPS / KEPT) == 0) {
			memcpy(old_cells[kept], cells, sizeof(cells));
			old_roots[kept++] = root;
			epoch = pieces_epoch(&t);
		}
	}
	for (uint32_t i = 0; i < CELLS; i++)
		CHECK_EQ_INT(image_at(&t, root, i), cells[i]);
	for (uint32_t k = 0; k < kept; k++)
		for (uint32_t i = 0; i < CELLS; i++)
			CHECK_EQ_INT(image_at(&t, old_roots[k], i), old_cells[k][i]);
	checked_depth(&t, root);
	pieces_done(&t);
}

/* Rising addresses are the worst case for a tree without balance. */
TEST(stays_flat_and_reuses_nodes)
{
	enum { COUNT = 100000 };
	struct pieces t = { 0 };
	uint32_t epoch = pieces_epoch(&t), root = 0;
	struct piece all = piece(0, COUNT * 16, 1, 9);

	for (uint32_t i = 0; i < COUNT; i++) {
		struct piece p = piece(i * 16, i * 16 + 16, i, i + 1);

		root = pieces_put(&t, root, epoch, &p);
	}
	CHECK(checked_depth(&t, root) <= 40);
	CHECK_EQ_INT(image_at(&t, root, 16 * 777 + 5), 778);
	CHECK_EQ_U64(t.nodes.len, COUNT + 1);
	root = pieces_put(&t, root, epoch, &all);
	CHECK_EQ_INT(t.nodes.at[root].size, 1);
	for (uint32_t i = 0; i < COUNT; i++) {
		struct piece p = piece(i * 16, i * 16 + 16, i, i + 1);

		root = pieces_put(&t, root, epoch, &p);
	}
	CHECK(t.nodes.len <= COUNT + 4);
	pieces_done(&t);
}
