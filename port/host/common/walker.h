/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Whether the fast walker (port/fast) finds in tables what the core finds. It reads tables for this machine alone.
 */
#ifndef SFU_HOST_WALKER_H
#define SFU_HOST_WALKER_H

#include "compare.h"
#include "image.h"

struct walker;

/* A fast walker for IMAGE's tables, the SIZE bytes at BYTES, at ADDR, which sfu_check has accepted. They stay as they
 * are. NULL if it does not read them. To be freed. */
struct walker *walker_new(struct image *image, const uint8_t *bytes, uint64_t size, uint64_t addr);
void walker_free(struct walker *walker);

/* What the fast walker has wrong at the first or the last PC of AGREED, or NULL: two steps from a frame there, by the
 * core and by it, on a stack on which a word tells where it is. Between those PCs it can find no other row, because it
 * goes through functions and rows in ascending order. */
const char *walker_check(struct walker *walker, const struct difference *agreed);

#endif
