/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* A program that knows the names of its functions, but not of what it has none: its table of names is data. */
#include "sfu_symbols.h"
#include <stdio.h>

extern const uint8_t sfu_symbols_start[], sfu_symbols_end[], image_start[];
static struct sfu_symbols symbols;

static void name(uint64_t addr)
{
    uint64_t offset = 0;
    const char *found = sfu_symbols_find(&symbols, addr, &offset);

    if (found != NULL)
        printf("%s+%u ", found, (unsigned)offset);
    else
        printf("none");
}

int main(void)
{
    symbols.bytes = sfu_symbols_start;
    symbols.end = sfu_symbols_end;
    symbols.base = (uintptr_t)image_start;
    name((uintptr_t)main);
    name((uintptr_t)sfu_open + 1);
    name((uintptr_t)sfu_symbols_start);
    printf("\n");
    return 0;
}
