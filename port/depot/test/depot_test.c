/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * depot_test [ROUNDS]: a depot beside a list that is searched from its start, which says what each call must return:
 * random traces, every size of the memory until it is full, hostile lengths and handles. Each memory is its own
 * allocation, so that the sanitizers see what reaches beyond it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_depot.h"
#include "test/lib/check.h"

enum { MOST_TRACES = 4000, POOL = 300, MOST_PCS = 40 };

static uint64_t random64(uint64_t *seed)
{
    uint64_t z = (*seed += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static size_t below(uint64_t *seed, size_t limit)
{
    return (size_t)(random64(seed) % limit);
}

/* ---- Reference ---- */

struct trace {
    const uint64_t *pcs;
    size_t count;
    int64_t weight;
    uint32_t handle;
};

static struct reference {
    struct trace traces[MOST_TRACES];
    size_t num;
    uint64_t base;
    size_t room, taken; /* bytes for traces */
    uint64_t lost;
    int64_t lost_weight;
} reference;

/* As sfu_depot.h says. */
static size_t bytes_of(const uint64_t *pcs, size_t count)
{
    size_t i, each = 4;

    for (i = 0; i < count; i++)
        if ((pcs[i] - reference.base) >> 32 != 0)
            each = 8;
    return (12 + sizeof(sfu_depot_weight) + each * count + 7) / 8 * 8;
}

static struct trace *known(const uint64_t *pcs, size_t count)
{
    size_t i;

    for (i = 0; i < reference.num; i++)
        if (reference.traces[i].count == count &&
            (count == 0 || memcmp(reference.traces[i].pcs, pcs, 8 * count) == 0))
            return &reference.traces[i];
    return NULL;
}

static void add(struct sfu_depot *depot, const uint64_t *pcs, size_t count, int64_t weight)
{
    struct trace *t = count <= SFU_DEPOT_PCS ? known(pcs, count) : NULL;
    uint32_t handle = sfu_depot_add(depot, pcs, count, weight);
    size_t sum, i;

    if (t != NULL) {
        assert_that(handle == t->handle, "a trace that is there gets another handle");
        t->weight += weight;
        return;
    }
    if (handle == 0) {
        reference.lost++;
        reference.lost_weight += weight;
    }
    assert_that(depot->lost == reference.lost && depot->lost_weight == (sfu_depot_weight)reference.lost_weight,
                "lost is not what was lost");
    assert_that(count <= SFU_DEPOT_PCS || handle == 0, "a trace that is too long was taken");
    if (count > SFU_DEPOT_PCS)
        return;
    sum = reference.taken + bytes_of(pcs, count);
    assert_that(handle == 0 || sum <= reference.room, "there is no room");
    assert_that(handle != 0 || sum > reference.room, "a trace was refused, though there is room");
    if (handle == 0)
        return;
    for (i = 0; i < reference.num; i++)
        assert_that(handle != reference.traces[i].handle, "two traces have one handle");
    reference.taken = sum;
    reference.traces[reference.num++] = (struct trace){pcs, count, weight, handle};
}

/* All that DEPOT has is what the reference has. */
static void compare(const struct sfu_depot *depot)
{
    static uint64_t pcs[SFU_DEPOT_PCS + 1];
    static bool seen[MOST_TRACES];
    size_t found = 0, i;
    uint32_t handle;
    int64_t weight;

    memset(seen, 0, sizeof seen);
    for (handle = sfu_depot_next(depot, 0); handle != 0 && found <= reference.num;
         handle = sfu_depot_next(depot, handle)) {
        size_t count = sfu_depot_get(depot, handle, 0, pcs, SFU_DEPOT_PCS, &weight);
        struct trace *t = known(pcs, count);

        found++;
        assert_that(t != NULL, "a trace that nobody put in");
        assert_that(!seen[t - reference.traces], "a trace comes twice");
        seen[t - reference.traces] = true;
        assert_that(t->handle == handle, "another handle");
        assert_that((sfu_depot_weight)t->weight == weight, "another weight");
        if (t->count > 1)
            assert_that(sfu_depot_get(depot, handle, t->count - 1, pcs, 9, NULL) == count &&
                            pcs[0] == t->pcs[count - 1] && pcs[1] == t->pcs[1],
                        "the last PC is not there alone");
        pcs[count / 2] = 1;
        assert_that(sfu_depot_get(depot, handle, 0, pcs, count / 2, NULL) == count && pcs[count / 2] == 1,
                    "more than the capacity was written");
    }
    assert_that(found == reference.num, "a trace is missing");
    for (i = 0; i < reference.num; i++)
        assert_that(seen[i], "a trace is missing");
}

static void *begin(struct sfu_depot *depot, size_t bytes, size_t off, uint64_t base)
{
    uint8_t *memory = malloc(bytes + off);
    size_t table = 8;

    assert_non_null(memory);
    memset(memory, 0xa5, bytes + off);
    memset(&reference, 0, sizeof reference);
    while (table * 2 <= bytes / 16)
        table *= 2;
    reference.base = base;
    reference.room = bytes / 8 * 8 - table;
    assert_that(sfu_depot_init(depot, memory + off, bytes, base), "there is memory enough");
    return memory;
}

/* ---- Tests ---- */

static uint64_t pool[POOL][MOST_PCS + 1]; /* the number of PCs, then these */

/* Traces that begin or end alike, or differ in one PC, or lie around the ends of the 4 GiB from BASE. */
static void make_pool(uint64_t *seed, uint64_t base)
{
    const uint64_t near[] = {0, 1, UINT32_MAX, UINT32_MAX - 1, UINT64_C(1) << 32, UINT64_MAX, UINT64_C(1) << 63};
    size_t i, k;

    for (i = 0; i < POOL; i++) {
        uint64_t *t = pool[i];

        t[0] = below(seed, 20) == 0 ? below(seed, 2) : below(seed, MOST_PCS + 1);
        for (k = 1; k <= MOST_PCS; k++)
            t[k] = base + below(seed, 1 << 20);
        if (i > 0 && below(seed, 2) == 0) {
            memcpy(t, pool[i - 1], sizeof pool[i]);
            t[1 + below(seed, MOST_PCS)] ^= UINT64_C(1) << below(seed, 64);
        }
        if (below(seed, 3) == 0)
            t[1 + below(seed, MOST_PCS)] = base + near[below(seed, 7)];
    }
}

static void random_round(uint64_t seed)
{
    const uint64_t bases[] = {UINT64_C(0xffffffff80000000), 0, UINT64_C(0x40200000), UINT64_C(0xffffffffffff0000)};
    const uint64_t base = bases[below(&seed, 4)];
    const size_t off = below(&seed, 2) * 8;
    struct sfu_depot depot;
    void *memory = begin(&depot, SFU_DEPOT_LEAST + 8 * below(&seed, below(&seed, 2) ? 300 : 8000), off, base);
    unsigned i;

    make_pool(&seed, base);
    for (i = 0; i < 1500; i++) {
        const uint64_t *t = pool[below(&seed, POOL)];

        add(&depot, t + 1, (size_t)t[0], (int64_t)random64(&seed) / (INT64_C(1) << (16 + below(&seed, 40))));
        if (below(&seed, 4) == 0 && reference.num > 0) {
            struct trace *which = &reference.traces[below(&seed, reference.num)];
            int64_t weight = (int64_t)below(&seed, 1000) - 500;

            assert_that(sfu_depot_weigh(&depot, which->handle, weight), "a handle is not known");
            which->weight += weight;
        }
        if (below(&seed, 300) == 0)
            compare(&depot);
        if (below(&seed, 700) == 0) {
            sfu_depot_clear(&depot);
            reference.num = reference.taken = 0;
            reference.lost = 0;
            reference.lost_weight = 0;
            assert_that(sfu_depot_next(&depot, 0) == 0 && depot.lost == 0 && depot.lost_weight == 0,
                        "something is left");
        }
    }
    compare(&depot);
    free(memory);
}

/* Traces of LENGTH PCs, which are near or far from the base, until BYTES of memory are full, and some more. */
static void fill(size_t bytes, size_t off, size_t length, bool far)
{
    static uint64_t pcs[MOST_TRACES][MOST_PCS];
    struct sfu_depot depot;
    void *memory;
    size_t i, k, more = 0;

    memory = begin(&depot, bytes, off, 0x1000);
    for (i = 0; i < MOST_TRACES - 1 && more < 3; i++) {
        for (k = 0; k < length; k++)
            pcs[i][k] = 0x1000 + i + (far ? UINT64_C(1) << 40 : 0);
        add(&depot, pcs[i], length, 1);
        more += depot.lost > 0;
    }
    assert_that(more == 3, "it is never full");
    if (reference.num > 0)
        add(&depot, reference.traces[0].pcs, length, 7);
    compare(&depot);
    free(memory);
}

static void test_every_size(void **state)
{
    struct sfu_depot depot, before;
    uint64_t small[SFU_DEPOT_LEAST / 8];
    size_t bytes;

    (void)state;
    for (bytes = SFU_DEPOT_LEAST; bytes < SFU_DEPOT_LEAST + 600; bytes++) {
        fill(bytes, bytes % 8 == 0 ? 0 : 8, 1 + bytes % 7, bytes % 3 == 0);
        fill(bytes + 5000, 0, 1 + bytes % MOST_PCS, bytes % 2 == 0);
    }
    memset(&depot, 0x5a, sizeof depot);
    before = depot;
    assert_that(!sfu_depot_init(&depot, small, SFU_DEPOT_LEAST - 1, 0), "too little memory was taken");
    assert_that(!sfu_depot_init(&depot, (char *)small + 1, SFU_DEPOT_LEAST, 0),
                "memory was taken that is not aligned");
    assert_that(memcmp(&depot, &before, sizeof depot) == 0, "a refused depot was changed");
}

/* Lengths for which there is no memory, and handles that are none. */
static void test_hostile(void **state)
{
    static uint64_t longest[SFU_DEPOT_PCS + 1], wide[SFU_DEPOT_PCS], pcs[SFU_DEPOT_PCS + 1];
    const size_t lengths[] = {SFU_DEPOT_PCS + 1, SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 4 + 2,
                              UINT32_MAX,        65536,    65537};
    struct sfu_depot depot;
    void *memory = begin(&depot, 40000, 0, 0);
    uint64_t i;

    (void)state;
    for (i = 0; i < sizeof lengths / sizeof lengths[0]; i++)
        add(&depot, longest, lengths[i], 1);
    add(&depot, longest, SFU_DEPOT_PCS, 1);
    for (i = 0; i < SFU_DEPOT_PCS; i++)
        wide[i] = UINT64_MAX - i;
    add(&depot, wide, SFU_DEPOT_PCS, 1); /* has no room */
    add(&depot, NULL, 0, 1);
    compare(&depot);
    assert_that(depot.lost == 8, "all that is too long is lost, and what has no room");
    for (i = 0; i <= UINT32_MAX; i += i < 10000 ? 1 : 99991) {
        int64_t weight;
        size_t count = sfu_depot_get(&depot, (uint32_t)i, 0, pcs, SFU_DEPOT_PCS, &weight);

        assert_that(i < 40000 / 8 || (count == 0 && weight == 0), "there is something outside of the memory");
        assert_that(i < 40000 / 8 || !sfu_depot_weigh(&depot, (uint32_t)i, 1), "a weight outside of the memory");
        assert_that(i < 40000 / 8 || sfu_depot_next(&depot, (uint32_t)i) == 0, "something comes behind it");
    }
    assert_that(depot.lost_weight == 8 && !sfu_depot_weigh(&depot, 0, -3) && depot.lost_weight == 5 &&
                    depot.lost == 8,
                "0 is the handle of what was lost");
    free(memory);
    memory = begin(&depot, SFU_DEPOT_LEAST, 0, 0); /* whatever stands there, nothing else is read */
    for (i = 0; i < 2 * SFU_DEPOT_LEAST; i++) {
        if (i % SFU_DEPOT_LEAST == 0) /* counts that are too large, and such that are larger than the memory */
            memset((char *)memory + 64, i == 0 ? 0xff : 0x0a, SFU_DEPOT_LEAST - 64);
        (void)sfu_depot_get(&depot, (uint32_t)i % SFU_DEPOT_LEAST, 0, pcs, SFU_DEPOT_PCS, NULL);
        (void)sfu_depot_next(&depot, (uint32_t)i % SFU_DEPOT_LEAST);
    }
    free(memory);
}

/* Hashes of 32 bits: among so many traces some have the same. */
static void test_many(void **state)
{
    const size_t bytes = (size_t)16 << 20;
    void *memory = malloc(bytes);
    struct sfu_depot depot;
    uint64_t i, pcs[2], got[2], seed = 1;
    int64_t weight;

    (void)state;
    assert_non_null(memory);
    assert_true(sfu_depot_init(&depot, memory, bytes, 0));
    for (i = 0; i < 400000; i++) {
        uint32_t handle;

        pcs[0] = 0x1000 + i;
        pcs[1] = random64(&seed) % (1 << 20);
        handle = sfu_depot_add(&depot, pcs, 2, (int64_t)i);
        assert_that(handle != 0 && sfu_depot_get(&depot, handle, 0, got, 2, &weight) == 2 && got[0] == pcs[0] &&
                        got[1] == pcs[1] && weight == (int64_t)i,
                    "a trace got the handle of another one");
    }
    free(memory);
}

static unsigned long rounds = 200, round_number;

static void test_random(void **state)
{
    (void)state;
    for (unsigned long i = 0; i < rounds; i++) {
        round_number = i;
        random_round(i * 1000003);
    }
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {CHECK(test_random), CHECK(test_every_size), CHECK(test_hostile),
                                              CHECK(test_many)};
    int failed;

    if (argc > 1)
        rounds = strtoul(argv[1], NULL, 0);
    failed = check_run(NULL, tests);
    if (failed != 0)
        printf("# random round %lu\n", round_number);
    return failed;
}
