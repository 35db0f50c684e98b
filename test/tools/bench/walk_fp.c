/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Frame pointers, each checked before it is followed: on the stack, aligned, above the one before. */
#include <stddef.h>
#include "bench.h"

static uint64_t low, high;

static bool init(const struct bench_image *image)
{
    low = image->stack_low;
    high = image->stack_high - 16;
    return true;
}

static unsigned walk(uint64_t *pcs, unsigned max)
{
    uint64_t fp = (uint64_t)(uintptr_t)__builtin_frame_address(0), below = low;
    unsigned n = 0;
#ifdef BENCH_TOP
    fp = bench_top.fp;
    pcs[n++] = bench_top.pc;
#endif
    while (n < max && fp > below && fp <= high && fp % 8 == 0) {
        const uint64_t *record = (const uint64_t *)(uintptr_t)fp;
        pcs[n++] = record[1];
        below = fp;
        fp = record[0];
    }
    return n;
}

const struct walker fp_walkers[] = {{"fp", init, walk}, {NULL, NULL, NULL}};
