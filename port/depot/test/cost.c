/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * cost MODE [PCS]: what it costs to remember where each of ALLOCATIONS was made, which come from PATHS call paths.
 * callgrind counts from begin() on the instructions of measured_MODE() and what it calls. Prints how many additions it
 * makes and how many bytes the traces take in all.
 *   depot   a depot; its handle in each allocation
 *   list    the shape of Linux's: records with a list, a reference count and PCs of 8 bytes, behind a hash table of
 *           pointers; a handle in each allocation. Its hash takes three words of 32 bits at a time, in 14 operations
 *   node    the shape of NuttX's: the PCs stand in each allocation
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_depot.h"

enum { ALLOCATIONS = 10000, PATHS = 1000, MOST_PCS = 64, BUCKETS = 1024 };

static uint64_t paths[PATHS][MOST_PCS];
static size_t length = 20;
static uint64_t memory[1 << 16];
static struct sfu_depot depot;
static uint32_t handles[ALLOCATIONS];
static uint64_t nodes[ALLOCATIONS][MOST_PCS];

/* ---- Linux's shape ---- */

struct list_record {
    struct list_record *next, *before;
    uint32_t hash, count, handle, references;
    uint64_t pcs[MOST_PCS];
};
static struct list_record records[PATHS], *buckets[BUCKETS];
static uint32_t num_records, lock;

static uint32_t rotate(uint32_t x, unsigned by)
{
    return x << by | x >> (32 - by);
}

static uint32_t list_hash(const uint32_t *words, size_t num)
{
    uint32_t a = 0xdeadbeef + (uint32_t)num, b = a, c = a;

    for (; num >= 3; num -= 3, words += 3) {
        a = (a + words[0] - (c + words[2])) ^ rotate(c, 4);
        b = (b + words[1] - a) ^ rotate(a, 6);
        c = (c + words[2] - b) ^ rotate(b, 8);
        a = (a - c) ^ rotate(c, 16);
        b = (b - a) ^ rotate(a, 19);
        c = (c - b) ^ rotate(b, 4);
    }
    return num > 0 ? c ^ rotate(a + words[0], 14) : c;
}

static uint32_t list_add(const uint64_t *pcs, size_t count)
{
    uint32_t hash = list_hash((const uint32_t *)(const void *)pcs, 2 * count);
    struct list_record *r;
    size_t i;

    for (r = __atomic_load_n(&buckets[hash % BUCKETS], __ATOMIC_ACQUIRE); r != NULL; r = r->next) {
        if (r->hash != hash || r->count != count)
            continue;
        for (i = 0; i < count && r->pcs[i] == pcs[i]; i++)
            continue;
        if (i == count) {
            __atomic_fetch_add(&r->references, 1, __ATOMIC_RELAXED);
            return r->handle;
        }
    }
    while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE) != 0)
        continue;
    r = &records[num_records++];
    r->next = buckets[hash % BUCKETS];
    r->hash = hash;
    r->count = (uint32_t)count;
    r->handle = num_records;
    r->references = 1;
    memcpy(r->pcs, pcs, 8 * count);
    __atomic_store_n(&buckets[hash % BUCKETS], r, __ATOMIC_RELEASE);
    __atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
    return r->handle;
}

/* ---- Measured ---- */

#define MEASURED static __attribute__((noinline)) void

MEASURED measured_depot(const uint64_t *pcs, unsigned i)
{
    handles[i] = sfu_depot_add(&depot, pcs, length, 64);
}

MEASURED measured_list(const uint64_t *pcs, unsigned i)
{
    handles[i] = list_add(pcs, length);
}

MEASURED measured_node(const uint64_t *pcs, unsigned i)
{
    memcpy(nodes[i], pcs, 8 * length);
}

MEASURED begin(void)
{
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    const char mode = argc > 1 ? argv[1][0] : 'd';
    size_t bytes, empty;
    unsigned i, k;

    length = argc > 2 ? strtoul(argv[2], NULL, 0) : length;
    if (length < 1 || length > MOST_PCS)
        return 1;
    srand(1);
    for (i = 0; i < PATHS; i++)
        for (k = 0; k < length; k++)
            paths[i][k] = UINT64_C(0xffffffff81000000) + ((uint64_t)rand() & 0xffffff);
    bytes = PATHS * (20 + 4 * (length > 20 ? length : 20) + 7) / 8 * 8 * 16 / 15; /* full, if traces have 20 PCs */
    if (!sfu_depot_init(&depot, memory, bytes, UINT64_C(0xffffffff80000000)))
        return 1;
    empty = depot.used;
    for (i = 0; i < PATHS; i++) /* what is measured is of traces that are there */
        if (mode == 'd' ? sfu_depot_add(&depot, paths[i], length, 64) == 0
                        : mode == 'l' && list_add(paths[i], length) == 0)
            return 1;
    begin();
    for (i = 0; i < ALLOCATIONS; i++)
        (mode == 'd' ? measured_depot : mode == 'l' ? measured_list : measured_node)(paths[i % PATHS], i);
    bytes = mode == 'd'   ? (depot.used - empty) * (size_t)8 + sizeof handles
            : mode == 'l' ? num_records * (offsetof(struct list_record, pcs) + 8 * length) + sizeof handles
                          : ALLOCATIONS * 8 * length;
    printf("%d %zu\n", ALLOCATIONS, bytes);
    return 0;
}
