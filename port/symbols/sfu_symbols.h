/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Names of functions for a trace. symbols.py makes a table of them out of the linked program. Needs only sfu.h, for its
 * types.
 *
 *     extern const uint8_t sfu_symbols_start[], sfu_symbols_end[], image_start[]; // the table; linker script
 *     static struct sfu_symbols symbols = {sfu_symbols_start, sfu_symbols_end, (uintptr_t)image_start, ""};
 *
 *     static const char *symbol(void *ctx, sfu_addr addr, sfu_addr *offset)
 *     {
 *         return sfu_symbols_find(&symbols, addr, offset);
 *     }
 *
 *     static struct sfu_panic panic = {.put = console_put, .symbol = symbol};
 *
 * Link the program twice, first with an empty table. If .text comes before .rodata in the linker script, functions lie
 * at the same addresses both times. Otherwise link a third time with the table of the second:
 *
 *     python3 symbols.py nm >symbols.s && as symbols.s -o symbols.o && ld ... symbols.o -o first.elf
 *     python3 symbols.py nm first.elf >symbols.s && as symbols.s -o symbols.o && ld ... symbols.o -o kernel.elf
 *
 * Names are compressed by up to 128 tokens. A table takes about 13 KB for 1,000 functions with names of 18 characters
 * (sqlite), and 10 KB with names of 12 (lua); by --plain 23 and 16.
 *
 * The table is not believed: whatever its bytes are, nothing is read outside of it.
 */
#ifndef SFU_SYMBOLS_H
#define SFU_SYMBOLS_H

#include "sfu.h"

#ifdef __cplusplus
extern "C" {
#endif

#define SFU_SYMBOLS_NAME 128 /* longer names are cut to this, with the 0 at their end */

struct sfu_symbols {
    const uint8_t *bytes, *end; /* the table */
    sfu_addr base;              /* run-time address of the symbol that starts are relative to */
    char name[SFU_SYMBOLS_NAME];
};

/* Returns the name of the function that ADDR is in, and sets *OFFSET to how far in. Returns NULL, and leaves *OFFSET
 * alone, if there is none. The name stays until the next call with the same SYMBOLS. */
const char *sfu_symbols_find(struct sfu_symbols *symbols, sfu_addr addr, sfu_addr *offset);

#ifdef __cplusplus
}
#endif

#endif
