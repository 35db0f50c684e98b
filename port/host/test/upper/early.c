/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Where boot.S begins: page tables for a kernel that lies elsewhere than in physical memory. What is mapped:
 *
 *     physical memory as it is, until boot.S takes that away
 *     the kernel, OFFSET above its physical addresses, by pages of the size LEAF says
 *     STACK_PAGES pages from STACK up, by the smallest ones, in reverse order in physical memory, with holes between
 *
 * Linked to physical addresses: it can name nothing of the kernel's.
 */
#include "upper.h"

typedef unsigned long word;

extern const char user_image[];
static word next_table = POOL;

/* A table of SIZE bytes, all of whose entries are EMPTY. */
static word *new_table(word size, word empty)
{
    word *table, i;

    next_table = (next_table + size - 1) & ~(size - 1);
    table = (word *)next_table;
    next_table += size;
    for (i = 0; i < size / 8; i++)
        table[i] = empty;
    return table;
}

#if defined(__x86_64__)
enum { GRANULE = 12, BITS = 9, TABLE = 4096, EMPTY = 0, MEMORY = 0 };

static word *next_level(word *entry, int level)
{
    (void)level;
    if (*entry == EMPTY)
        *entry = (word)new_table(TABLE, EMPTY) | 7; /* present, writable, the user's, too */
    return (word *)(*entry & ~(word)4095);
}

static inline word user_page(word pa)
{
    return pa | 4;
}

static word leaf(word pa, int level)
{
    return pa | 3 | (level > 0 ? 0x80 : 0);
}

static word index_at(word va, int level)
{
    return va >> (GRANULE + BITS * level) & 511;
}

#elif defined(__aarch64__)
enum { BITS = GRANULE - 3, TABLE = 1 << GRANULE, EMPTY = 0, MEMORY = 0x40000000 };

static word *next_level(word *entry, int level)
{
    (void)level;
    if (*entry == EMPTY)
        *entry = (word)new_table(TABLE, EMPTY) | 3;
    return (word *)(*entry & ~(word)(TABLE - 1));
}

static word leaf(word pa, int level)
{
    return pa | 0x700 | (level > 0 ? 1 : 3); /* accessed, shareable */
}

static inline word user_page(word pa)
{
    return pa | 0x40;
}

/* The uppermost table has only as many entries as the width of addresses leaves it. */
static word index_at(word va, int level)
{
    return (va & (((word)1 << VA_BITS) - 1)) >> (GRANULE + BITS * level) & ((1 << BITS) - 1);
}

#else
enum { TABLE = 16384, EMPTY = 0x20, MEMORY = 0 };

/* Level 0 is a page table of 256 entries, level 1 a segment table; above them are region tables. */
static word *next_level(word *entry, int level)
{
    if (*entry & EMPTY && level == 1)
        *entry = (word)new_table(2048, 0x400);
    else if (*entry & EMPTY)
        *entry = (word)new_table(TABLE, EMPTY) | (word)(level - 1) << 2 | 3;
    return (word *)(*entry & ~(word)(level == 1 ? 2047 : 4095));
}

static word leaf(word pa, int level)
{
    return pa | (level == 1 ? 0x400 : 0);
}

static inline word user_page(word pa)
{
    return pa;
}

static word index_at(word va, int level)
{
    return level == 0 ? va >> 12 & 255 : va >> (20 + 11 * (level - 1)) & 2047;
}
#endif

static void map(word *root, word va, word pa, int to)
{
    word *table = root;
    int level;

    for (level = LEVELS - 1; level > to; level--)
        table = next_level(&table[index_at(va, level)], level);
    table[index_at(va, to)] = leaf(pa, to);
}

static word size_of(int level)
{
#ifdef __s390x__
    return level == 0 ? 4096 : (word)1 << 20;
#else
    return (word)1 << (GRANULE + BITS * level);
#endif
}

/* Returns the uppermost table. */
word early(void)
{
    word *root = new_table(TABLE, EMPTY);
    word pa, page = size_of(0), i;

    for (pa = MEMORY; pa < MEMORY + MAPPED; pa += size_of(IDENTITY_LEAF))
        map(root, pa, pa, IDENTITY_LEAF);
    for (pa = MEMORY; pa < MEMORY + MAPPED; pa += size_of(LEAF))
        map(root, OFFSET + pa, pa, LEAF);
#ifdef USER
    map(root, USER, user_page((word)user_image), 0);
    map(root, USER_STACK, user_page(USER_MEMORY), 0);
#endif
    for (i = 0; i < STACK_PAGES; i++)
        map(root, STACK + i * page, STACK_MEMORY + 2 * (STACK_PAGES - 1 - i) * page, 0);
    return (word)root;
}
