/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * test lookup TABLE BASE: for each address on the standard input a line "NAME OFFSET", or "-".
 * test hostile TABLE BASE: looks up addresses in TABLE with each byte changed, with each end cut off, and with the same
 * byte to the end. The sanitizers that this is built with end it if anything is read outside of it. Without its first
 * bytes nothing may be found. Prints how many lookups there were.
 */
#include "sfu_symbols.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 1 << 20, HOSTILE = 4096 };

static void lookup(struct sfu_symbols *symbols)
{
    uint64_t addr, offset = 0;

    while (scanf("%" SCNx64, &addr) == 1) {
        const char *name = sfu_symbols_find(symbols, addr, &offset);

        if (name != NULL)
            printf("%s %" PRIx64 "\n", name, offset);
        else
            puts("-");
    }
}

/* Addresses over all of the table's, in a copy that ends where its memory ends. */
static unsigned long look_around(const uint8_t *bytes, size_t size, uint64_t base)
{
    uint8_t *copy = malloc(size > 0 ? size : 1);
    struct sfu_symbols symbols = {copy, copy + size, base, ""};
    uint64_t addr, offset;
    unsigned long n = 0;

    if (copy == NULL)
        exit(1);
    memcpy(copy, bytes, size);
    for (addr = 0; addr < 0x4000; addr = addr * 2 + 97, n++) {
        const char *name = sfu_symbols_find(&symbols, base + addr, &offset);

        if (name != NULL && (strlen(name) >= SFU_SYMBOLS_NAME || memcmp(copy, "sfs1", 4) != 0))
            exit(1);
    }
    free(copy);
    return n;
}

static void hostile(uint8_t *bytes, size_t size, uint64_t base)
{
    static const uint8_t values[] = {0, 1, 0x7f, 0x80, 0xff};
    static uint8_t filled[HOSTILE];
    unsigned long n = 0;
    size_t i, v;

    for (i = 0; i < size && i < HOSTILE; i++) {
        uint8_t kept = bytes[i];

        n += look_around(bytes, i, base);
        for (v = 0; v < sizeof values; v++) {
            bytes[i] = values[v];
            n += look_around(bytes, size, base);
            memcpy(filled, bytes, i);
            memset(filled + i, values[v], sizeof filled - i);
            n += look_around(filled, sizeof filled, base);
        }
        bytes[i] = kept;
    }
    printf("%lu\n", n);
}

int main(int argc, char **argv)
{
    static uint8_t bytes[ROOM];
    FILE *file = argc == 4 ? fopen(argv[2], "rb") : NULL;
    struct sfu_symbols symbols = {bytes, bytes, 0, ""};
    size_t size;

    if (file == NULL)
        return 2;
    size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    symbols.end = bytes + size;
    symbols.base = strtoull(argv[3], NULL, 16);
    if (strcmp(argv[1], "lookup") == 0)
        lookup(&symbols);
    else
        hostile(bytes, size, symbols.base);
    return 0;
}
