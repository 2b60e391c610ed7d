/* SPDX-License-Identifier: Apache-2.0 */
/* Shorter forms of the names of C++ and Rust functions. */
#ifndef CULPRIT_BASE_NAME_H
#define CULPRIT_BASE_NAME_H

#include "base/mem.h"
#include "base/str.h"

/*
 * Adds the name of a function, without parameters and template arguments as far as that is needed to
 * stay within width columns; it may still be too wide. gap stands for what went.
 */
void name_shorten(struct buf *out, struct str s, size_t width, const char *gap);
/* The name without its parameters, brackets and all, and what stands behind them; a part of s. */
struct str name_bare(struct str s);

#endif
