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

#endif
