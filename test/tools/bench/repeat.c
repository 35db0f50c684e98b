/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * repeat FRAMES [WALKER]: what a trace costs that is remembered (port/fast/sfu_repeat.h), on a stack made for it, of
 * 1,000 functions whose tables are made, too. The walkers:
 *   fast          sfu_fast_trace with a cache of 8 KiB, the same stack
 *   same          sfu_repeat_trace, the same stack again and again
 *   fast_changes  sfu_fast_trace, of one word of the stack another value each time
 *   changes       sfu_repeat_trace, the same: nothing is remembered
 *   worst         sfu_repeat_trace, a stack that changes each time just after it was learnt
 * Prints the time of each as a ratio to that of the first: the median of 201 runs, in each of which all take their
 * turn. With WALKER it makes 20,000 traces of that one: for callgrind, which counts what is in bench_trace.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core_trace.h"
#include "sfu_repeat.h"
#include "test/unit/build.h"

enum {
    FUNCTIONS = 1000,
    FUNCTION = 64,
    MOST = 200,
    TRACES = 20000,
    SHORT = 500,
    RUNS = 201,
    WALKERS = 5,
    WORDS = 4
};

#define STACK UINT64_C(0x7fff12340000)

static const char *const names[WALKERS] = {"fast", "same", "fast_changes", "changes", "worst"};
static struct build table;
static struct sfu_section section;
static struct sfu_fast fast;
static struct sfu_fast_image image;
static struct sfu_target target;
static struct sfu_registers top;
static struct sfu_repeat repeats[WALKERS]; /* each of its own */
static uint64_t cache[1024], memory[WALKERS][7 * (MOST + 1)], stack[WORDS * (MOST + 2)], pcs[MOST + 1];
static size_t frames;

static uint64_t some_pc(unsigned i)
{
    return 0x100000 + 8 + (uint64_t)FUNCTION * (i * 379u % FUNCTIONS);
}

/* Each frame has four words: the RA in the uppermost, and a caller's FP below it. */
static void make(void)
{
    struct sfu_section *list = NULL;
    unsigned i;

    build_begin(&table, 3, HOST_ABI, BIG_HOST);
    for (i = 0; i < FUNCTIONS; i++) {
        build_fde(&table, 0x100000 + (int64_t)FUNCTION * i - 0x200000, FUNCTION, ADDR1);
        ROW(&table, 0, BASE_SP, 8 * WORDS, -16);
    }
    build_end(&table);
    if (sfu_add(&list, &section, 1, table.bytes, table.size, 0x200000) != SFU_OK)
        abort();
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    if (sfu_fast_add(&fast, &image, 1, list) != SFU_OK)
        abort();
    for (i = 0; i <= MOST; i++) {
        stack[WORDS * i + WORDS - 2] = STACK;
        stack[WORDS * i + WORDS - 1] = some_pc(i + 1);
    }
    target.stack.bytes = stack;
    target.stack.low = STACK;
    target.stack.high = STACK + sizeof stack;
    target.sections = sfu_fast_sections(&fast);
    top.pc = some_pc(0);
    top.sp = STACK;
    for (i = 0; i < WALKERS; i++)
        sfu_repeat_init(&repeats[i], memory[i], sizeof memory[i] / 8);
}

__attribute__((noinline)) void bench_trace(unsigned walker)
{
    size_t count;

    if (walker == 0 || walker == 2)
        (void)sfu_fast_trace(&fast, &target, &top, 0, pcs, frames, &count);
    else
        (void)sfu_repeat_trace(&repeats[walker], &fast, &target, &top, 0, pcs, frames, &count);
    if (count != frames || pcs[frames - 1] != some_pc((unsigned)frames - 1))
        abort();
}

static void run(unsigned walker, unsigned traces)
{
    uint64_t *fp = &stack[WORDS * 4 + WORDS - 2], *ra = &stack[WORDS * 4 + WORDS - 1];
    bool known = repeats[walker].known;
    unsigned i;

    for (i = 0; i < traces; i++) {
        if (walker == 2 || walker == 3)
            *ra ^= 1;
        bench_trace(walker);
        if (walker == 4 && repeats[walker].known && !known)
            *fp ^= 1;
        known = repeats[walker].known;
    }
}

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int compare(const void *one, const void *other)
{
    const double *a = (const double *)one, *b = (const double *)other;

    return *a < *b ? -1 : *a > *b;
}

int main(int argc, char **argv)
{
    double ns[WALKERS][RUNS], ratios[RUNS];
    unsigned i, walker;

    frames = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    if (frames < 8 || frames > MOST)
        return 2;
    make();
    for (walker = 0; argc > 2 && walker < WALKERS; walker++)
        if (strcmp(argv[2], names[walker]) == 0) {
            run(walker, TRACES);
            return 0;
        }
    for (i = 0; i < RUNS; i++)
        for (walker = 0; walker < WALKERS; walker++) {
            const double begin = now();

            run(walker, SHORT);
            ns[walker][i] = now() - begin;
        }
    for (walker = 0; walker < WALKERS; walker++) {
        for (i = 0; i < RUNS; i++)
            ratios[i] = ns[walker][i] / ns[0][i];
        qsort(ratios, RUNS, sizeof ratios[0], compare);
        printf("%-12s %.2f of the time of fast\n", names[walker], ratios[RUNS / 2]);
    }
    return 0;
}
