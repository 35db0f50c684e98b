/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sfu itself: the core, step by step, and the fast walker with caches of several sizes and with an index. The live
 * stack is read directly. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include "sfu.h"
#include "sfu_fast.h"
#include "arch/sfu_arch.h"
#include "bench.h"

/* What programs of other shapes than sqlite's have besides. */
#ifndef BENCH_SECTIONS
#define BENCH_SECTIONS 0 /* sections in front of the program's, whose text is not known */
#endif
#ifndef BENCH_SPLIT
#define BENCH_SPLIT 1 /* the program's section is divided into so many */
#endif
#ifndef BENCH_APART
#define BENCH_APART 0 /* not 0: it is divided where functions are so many bytes apart */
#endif
#ifndef BENCH_SKIP
#define BENCH_SKIP 0 /* frames that are left out */
#endif
#ifndef BENCH_COPY
#define BENCH_COPY 0 /* bytes of the stack that are known; 0: all are */
#endif

enum { MAX_SECTIONS = BENCH_SECTIONS + BENCH_SPLIT + 1 };

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
    struct sfu_stack other = {(const void *)(uintptr_t)bench_other_low, bench_other_low, bench_other_high};

    if (addr >= other.low && addr <= other.high)
        *stack = other;
    else if (addr >= t->stack.low && addr <= t->stack.high)
        *stack = t->stack;
    else
        return false;
    return true;
}
#endif

/* The sections of a walker. */
struct sections {
    struct sfu_section all[MAX_SECTIONS];
    unsigned count;
    struct sfu_section *list;
};

static bool add_section(struct sections *s, const void *bytes, uint64_t size, uint64_t addr)
{
    return s->count < MAX_SECTIONS && sfu_add(&s->list, &s->all[s->count++], 1, bytes, size, addr) == SFU_OK;
}

static uint32_t number_at(const uint8_t *p, unsigned bytes)
{
    uint32_t number = 0;

    memcpy(&number, p, bytes); /* this machine's byte order is that of its tables */
    return number;
}

/* Bytes of the attributes and rows at P (2.3.3, 2.4). */
static size_t record_size(const uint8_t *p)
{
    const unsigned start = 1u << (p[2] & 3);
    uint32_t rows = number_at(p, 2);
    size_t size = 5;

    for (; rows > 0; rows--) {
        const unsigned info = p[size + start];

        size += start + 1 + ((info >> 1 & 15) << (info >> 5 & 3));
    }
    return size;
}

enum { HEADER = 28, FDE = 16, FIELD_RELATIVE = 4 };

/* Where function I of WHOLE begins. */
static uint64_t start_of(const struct sfu_section *whole, uint32_t i)
{
    const uint8_t *fde = (const uint8_t *)whole->bytes + whole->fdes + i * FDE;
    uint64_t start;

    memcpy(&start, fde, 8);
    return start + (uintptr_t)(whole->flags & FIELD_RELATIVE ? fde : whole->bytes);
}

/* How many functions of WHOLE, from FIRST on, become one section. */
static uint32_t part_from(const struct sfu_section *whole, uint32_t first)
{
    const uint32_t left = whole->num_fdes - first, each = (whole->num_fdes + BENCH_SPLIT - 1) / BENCH_SPLIT;
    uint32_t n = 1;

    if (BENCH_APART == 0)
        return left < each ? left : each;
    while (n < left && start_of(whole, first + n) - start_of(whole, first + n - 1) < BENCH_APART)
        n++;
    return n;
}

/* Divides the program's section, of version 3, into at most BENCH_SPLIT, each of functions that follow each other. */
static bool split(struct sections *s, const struct bench_image *image)
{
    struct sfu_section whole;
    const uint8_t *from = image->sframe;
    uint32_t first, count, i;

    if (sfu_open(&whole, from, image->sframe_size, (uintptr_t)from) != SFU_OK || whole.version != 3)
        return false;
    for (first = 0; first < whole.num_fdes; first += count) {
        uint32_t rows = 0, size = 0, header[4];
        uint8_t *to;

        count = part_from(&whole, first);
        for (i = first; i < first + count; i++)
            size += (uint32_t)record_size(from + whole.rows + number_at(from + whole.fdes + i * FDE + 12, 4));
        to = malloc(HEADER + count * FDE + size);
        if (to == NULL)
            return false;
        size = 0;
        for (i = 0; i < count; i++) {
            const uint8_t *fde = from + whole.fdes + (first + i) * FDE;
            const uint8_t *record = from + whole.rows + number_at(fde + 12, 4);
            uint8_t *own = to + HEADER + i * FDE;
            const uint64_t start = start_of(&whole, first + i) - (uintptr_t)own;

            memcpy(own, &start, 8);
            memcpy(own + 8, fde + 8, 4);
            memcpy(own + 12, &size, 4);
            memcpy(to + HEADER + count * FDE + size, record, record_size(record));
            size += (uint32_t)record_size(record);
            rows += number_at(record, 2);
        }
        memcpy(to, from, 8); /* 2.1: magic, version, flags; 2.2: ABI, fixed offsets, no auxiliary header */
        to[3] |= FIELD_RELATIVE;
        to[7] = 0;
        header[0] = count;
        header[1] = rows;
        header[2] = size;
        header[3] = 0; /* FDEs; then rows */
        memcpy(to + 8, header, sizeof header);
        size = count * FDE;
        memcpy(to + 24, &size, 4);
        if (!add_section(s, to, HEADER + count * FDE + header[2], (uintptr_t)to))
            return false;
    }
    return true;
}

/* All of them; others, as modules have: the same tables for other code. */
static bool add_sections(struct sections *s, struct sfu_target *of, const struct bench_image *image)
{
    memset(s, 0, sizeof *s);
    memset(of, 0, sizeof *of);
    if (BENCH_SPLIT > 1 ? !split(s, image)
                        : !add_section(s, image->sframe, image->sframe_size, (uintptr_t)image->sframe))
        return false;
    if (image->library_sframe != NULL &&
        !add_section(s, image->library_sframe, image->library_sframe_size, (uintptr_t)image->library_sframe))
        return false;
    for (unsigned i = 0; i + 1 < BENCH_SECTIONS + 1; i++)
        if (!add_section(s, image->sframe, image->sframe_size, (uintptr_t)image->sframe + ((i + 1ull) << 32)))
            return false;
    of->sections = s->list;
    of->stack.bytes = (const void *)(uintptr_t)image->stack_low;
    of->stack.low = image->stack_low;
    of->stack.high = image->stack_high;
#ifdef BENCH_FIND_STACK
    of->find_stack = find_stack;
    of->ctx = of;
#endif
    of->max_frames = 8192;
    of->red_zone = 128;
    return true;
}

/* What is known of the stack, if that is not all of it. */
static inline __attribute__((always_inline)) void copy_stack(struct sfu_target *t, const struct sfu_registers *top)
{
    if (BENCH_COPY == 0)
        return;
    t->stack.bytes = (const void *)(uintptr_t)top->sp;
    t->stack.low = top->sp;
    t->stack.high = top->sp + BENCH_COPY;
}

static struct sections sections;
static struct sfu_target target;

static bool init(const struct bench_image *image)
{
    return add_sections(&sections, &target, image);
}

static unsigned walk(uint64_t *pcs, unsigned max)
{
    struct sfu_cpu cpu;
    struct sfu_registers top = start(&cpu);
    struct sfu_walk w;
    unsigned n = 0;
    copy_stack(&target, &top);
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
    struct sfu_fast_image images[MAX_SECTIONS], *order[MAX_SECTIONS];
    struct sections sections;
    struct sfu_target target;
};

static bool fast_init(struct fast *f, const struct bench_image *image, void *cache, size_t cache_bytes,
                      bool indexed)
{
    memset(f, 0, sizeof *f);
    sfu_fast_set_order(&f->fast, f->order, sizeof f->order);
    if (!add_sections(&f->sections, &f->target, image) ||
        sfu_fast_add(&f->fast, f->images, MAX_SECTIONS, f->target.sections) != SFU_OK)
        return false;
    f->target.sections = sfu_fast_sections(&f->fast);
    if (cache_bytes != 0)
        sfu_fast_set_cache(&f->fast, cache, cache_bytes);
    for (unsigned i = 0; indexed && i < f->sections.count; i++) {
        size_t bytes = sfu_fast_index_size(&f->images[i]);
        void *memory = malloc(bytes);
        if (memory == NULL || !sfu_fast_set_index(&f->images[i], memory, bytes))
            return false;
    }
    return true;
}

/* A walker of its own, with its own state, for each kind of cache. */
#define FAST(NAME, CACHE, INDEXED)                                                                                 \
    static struct fast NAME;                                                                                       \
    static uint64_t NAME##_cache[CACHE / 8 + 1] __attribute__((aligned(4096)));                                    \
    static bool NAME##_init(const struct bench_image *image)                                                       \
    {                                                                                                              \
        return fast_init(&NAME, image, NAME##_cache, CACHE, INDEXED);                                              \
    }                                                                                                              \
    static unsigned NAME##_walk(uint64_t *pcs, unsigned max)                                                       \
    {                                                                                                              \
        struct sfu_cpu cpu;                                                                                        \
        struct sfu_registers top = start(&cpu);                                                                    \
        size_t n = 0;                                                                                              \
        copy_stack(&NAME.target, &top);                                                                            \
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
FAST(fast_32k, 32768, false)
#ifdef BENCH_ROOM /* bytes of a cache that has room for the program's call sites */
FAST(fast_room, BENCH_ROOM, false)
#endif
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
    {"sfu_fast_32k", fast_32k_init, fast_32k_walk},
#ifdef BENCH_ROOM
    {"sfu_fast_room", fast_room_init, fast_room_walk},
#endif
#endif
    {NULL, NULL, NULL},
};
