/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The kernel's own symbols, from a table that symbols.sh makes of a first link; the second link has it. */
#include "kernel.h"

extern const char image_start[], symbol_names[];
extern const struct {
    uint32_t start, size, name;
} symbols_start[], symbols_end[];

const char *kernel_symbol(void *ctx, uint64_t addr, uint64_t *offset)
{
    uint64_t at = addr - (uintptr_t)image_start;
    size_t i, n = (size_t)(symbols_end - symbols_start);

    (void)ctx;
    for (i = 0; i < n; i++) {
        if (at - symbols_start[i].start < symbols_start[i].size) {
            *offset = at - symbols_start[i].start;
            return symbol_names + symbols_start[i].name;
        }
    }
    return NULL;
}
