/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu itself: the core, step by step, and the fast walker with caches of several sizes and with an index. The live
 * stack is read directly. */
#include <stddef.h>
#include <stdlib.h>
#include "sfu.h"
#include "sfu_fast.h"
#include "arch/sfu_arch.h"
#include "bench.h"

/* What programs of other shapes than sqlite's have besides. */
#ifndef BENCH_SECTIONS
#define BENCH_SECTIONS 0 /* sections in front of the program's, whose text is not known */
#endif
#ifndef BENCH_SKIP
#define BENCH_SKIP 0 /* frames that are left out */
#endif

#ifdef BENCH_SMALL /* this, the core and the fast walker are compiled for size */
#define SUFFIX  "_Os"
#define WALKERS small_walkers
#else
#define SUFFIX  ""
#define WALKERS sfu_walkers
#endif

/* Where a walk begins. */
static inline __attribute__((always_inline)) struct sfu_registers start(struct sfu_cpu *cpu)
{
    struct sfu_registers top = sfu_here(cpu);

#ifdef BENCH_TOP
    top.pc = bench_top.pc;
    top.sp = bench_top.sp;
    top.fp = bench_top.fp;
    top.pc_kind = bench_top.returns ? SFU_PC_RETURN : SFU_PC_EXACT;
#endif
    return top;
}

#ifdef BENCH_FIND_STACK
/* Of two stacks. */
static bool find_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const struct sfu_target *t = ctx;
    struct sfu_stack other = {NULL, 0x1000, 0x9000};

    if (addr >= other.low && addr <= other.high)
        *stack = other;
    else if (addr >= t->stack.low && addr <= t->stack.high)
        *stack = t->stack;
    else
        return false;
    return true;
}
#endif

static bool add_section(struct sfu_section *s, struct sfu_target *of, const struct bench_image *image)
{
    of->stack.bytes = (const void *)(uintptr_t)image->stack_low;
    of->stack.low = image->stack_low;
    of->stack.high = image->stack_high;
#ifdef BENCH_FIND_STACK
    of->find_stack = find_stack;
    of->ctx = of;
#endif
    of->max_frames = 8192;
    of->red_zone = 128;
    return sfu_add(&of->sections, s, 1, image->sframe, image->sframe_size, (uintptr_t)image->sframe) == SFU_OK;
}

/* As modules are: the same tables for other code. Returns whether there is room for them. */
static bool add_others(struct sfu_section **list, struct sfu_section *sections, const struct bench_image *image)
{
    for (unsigned i = 0; i + 1 < BENCH_SECTIONS + 1; i++)
        if (sfu_add(list, &sections[i], 1, image->sframe, image->sframe_size,
                    (uintptr_t)image->sframe + ((i + 1ull) << 32)) != SFU_OK)
            return false;
    return true;
}

static struct sfu_section section;
static struct sfu_target target;

static bool init(const struct bench_image *image)
{
    static struct sfu_section others[BENCH_SECTIONS + 1];

    return add_section(&section, &target, image) && add_others(&target.sections, others, image);
}

static unsigned walk(uint64_t *pcs, unsigned max)
{
    struct sfu_cpu cpu;
    struct sfu_registers top = start(&cpu);
    struct sfu_walk w;
    unsigned n = 0;
    sfu_walk_start(&w, &target, &top);
    while (n < max) {
        pcs[n++] = w.frame.regs.pc;
        if (sfu_walk_step(&w) != SFU_OK)
            break;
    }
    return n;
}

struct fast {
    struct sfu_fast fast;
    struct sfu_fast_image images[BENCH_SECTIONS + 1];
    struct sfu_section section, others[BENCH_SECTIONS + 1];
    struct sfu_target target;
};

static bool fast_init(struct fast *f, const struct bench_image *image, size_t cache_bytes, bool indexed)
{
    if (!add_section(&f->section, &f->target, image) || !add_others(&f->target.sections, f->others, image) ||
        sfu_fast_add(&f->fast, f->images, BENCH_SECTIONS + 1, f->target.sections) != SFU_OK)
        return false;
    f->target.sections = sfu_fast_sections(&f->fast);
    if (cache_bytes != 0) {
        void *memory = aligned_alloc(4096, (cache_bytes + 4095) / 4096 * 4096);
        if (memory == NULL)
            return false;
        sfu_fast_set_cache(&f->fast, memory, cache_bytes);
    }
    if (indexed) {
        size_t bytes = sfu_fast_index_size(&f->images[BENCH_SECTIONS]);
        void *memory = malloc(bytes);
        return memory != NULL && sfu_fast_set_index(&f->images[BENCH_SECTIONS], memory, bytes);
    }
    return true;
}

/* A walker of its own, with its own state, for each kind of cache. */
#define FAST(NAME, CACHE, INDEXED)                                                                                 \
    static struct fast NAME;                                                                                       \
    static bool NAME##_init(const struct bench_image *image)                                                       \
    {                                                                                                              \
        return fast_init(&NAME, image, CACHE, INDEXED);                                                            \
    }                                                                                                              \
    static unsigned NAME##_walk(uint64_t *pcs, unsigned max)                                                       \
    {                                                                                                              \
        struct sfu_cpu cpu;                                                                                        \
        struct sfu_registers top = start(&cpu);                                                                    \
        size_t n = 0;                                                                                              \
        (void)sfu_fast_trace(&NAME.fast, &NAME.target, &top, BENCH_SKIP, pcs, max, &n);                            \
        return (unsigned)n;                                                                                        \
    }

FAST(fast_none, 0, false)
FAST(fast_index, 0, true)
FAST(fast_8k, 8192, false)
#ifndef BENCH_SMALL
FAST(fast_2k, 2048, false)
FAST(fast_4k, 4096, false)
FAST(fast_16k, 16384, false)
#endif

const struct walker WALKERS[] = {
    {"sfu" SUFFIX, init, walk},
    {"sfu_fast" SUFFIX, fast_none_init, fast_none_walk},
    {"sfu_fast_index" SUFFIX, fast_index_init, fast_index_walk},
    {"sfu_fast_8k" SUFFIX, fast_8k_init, fast_8k_walk},
#ifndef BENCH_SMALL
    {"sfu_fast_2k", fast_2k_init, fast_2k_walk},
    {"sfu_fast_4k", fast_4k_init, fast_4k_walk},
    {"sfu_fast_16k", fast_16k_init, fast_16k_walk},
#endif
    {NULL, NULL, NULL},
};
