/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Whether a second link has made the same image, with another room in it: then the tables of the first one are right
 * for it, at other addresses, and need not be made again.
 *
 * The premise is that the linker has placed the same input: what differs is what relocations write. So each byte of the
 * code and of the constants is that of the first image, or is in a word that has changed by as much as something has
 * moved. What that does not explain, the whole answer does not: the tables are made anew.
 */
#ifndef SFU_HOST_MOVED_H
#define SFU_HOST_MOVED_H

#include "fill.h"

/* An image, and where the room is in it. */
struct linked {
    struct image *image;
    uint64_t addr, size, tables; /* TABLES: where those begin in the room */
};

/* Whether B is A with another room. Leaves in CODE by how much all of the code has moved. */
bool moved_only(const struct linked *a, const struct linked *b, uint64_t *code);

/* Makes tables of SIZE bytes at BYTES, which were made for the address FROM, those for the address TO of code that has
 * moved by CODE. Returns false if they are no such tables. */
bool moved_tables(uint8_t *bytes, size_t size, bool big, uint64_t from, uint64_t to, uint64_t code);

/* TEXT, which sfu-gen has printed about BEFORE and which is freed, with the addresses that AFTER has instead. The text
 * that is returned is to be freed, too. */
char *moved_text(char *text, const struct image *before, const struct image *after);

#endif
