/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The kernel's own symbols, from a table that port/symbols makes of a first link; the second link has it. */
#include "kernel.h"
#include "sfu_symbols.h"

extern const uint8_t sfu_symbols_start[], sfu_symbols_end[], image_start[];

static struct sfu_symbols symbols = {sfu_symbols_start, sfu_symbols_end, 0, ""};

const char *kernel_symbol(void *ctx, sfu_addr addr, sfu_addr *offset)
{
    (void)ctx;
    symbols.base = (uintptr_t)image_start; /* not at link time: addresses may have 32 bits, and the base has 64 */
    return sfu_symbols_find(&symbols, addr, offset);
}
