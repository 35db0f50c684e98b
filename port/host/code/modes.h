/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * x86: code that the CPU does not run in the image's own mode. An image for x86_64 has 32-bit code if a boot loader
 * starts it so, one for i386 may have 64-bit code, and either may have 16-bit code, with which each further CPU starts.
 * Read in the image's mode such bytes are other instructions, or the same ones that move SP by another number.
 */
#ifndef SFU_HOST_MODES_H
#define SFU_HOST_MODES_H

#include "common/image.h"

struct code_region {
    uint64_t start, end;
    uint8_t bits; /* 16, 32 or 64 */
};

/* The regions of IMAGE, by address, *NUM of them; to be freed. Only what leads to a change of the mode is found, and
 * what that calls, or is called by: code of another mode that stands alone is not told apart. Needs image_symbols, if
 * that is to find more than the image's own addresses say. */
struct code_region *modes_find(struct image *image, size_t *num);

/* x86: where the image has what lies at PHYSICAL while the CPU translates no addresses, or each to itself. */
uint64_t modes_linked_at(const struct image *image, uint64_t physical);
/* x86: where a far jump of 32-bit code leads whose last bytes, but for a far pointer, end at P; or 0. BEFORE bytes are
 * in front of P, BEHIND from there on. */
uint64_t modes_far_target(struct image *image, const uint8_t *p, size_t before, size_t behind);

#endif
