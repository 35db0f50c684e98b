/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "walk.h"

#include <string.h>

#include "sfu_fast.h"
#include "sfu_print.h"

#ifdef __cplusplus
extern "C" {
#endif
#include "build.h"
#ifdef __cplusplus
}
#endif

#ifdef SFU_PREFIX
#define WALK walk_mine
#else
#define WALK walk_plain
#endif

enum { WRONG = 100, FRAMES = 3 };
#define BASE UINT64_C(0x400000)

static struct build b;
static struct sfu_section section;
static struct sfu_fast fast;
static struct sfu_fast_image image;
static struct sfu_panic panic;
static uint64_t stack[2];
static unsigned lines;

/* A frame of one word: RA at CFA - 8; and an outermost function. */
static void build_section(int version)
{
    build_begin(&b, version, SFU_AMD64, false);
    build_fde(&b, 0x10000, 0x40, ADDR1);
    ROW(&b, 0, BASE_SP, 8);
    build_fde(&b, 0x10040, 0x40, ADDR1);
    ROW0(&b, 0, BASE_SP);
    build_end(&b);
}

static void put(void *ctx, char c)
{
    (void)ctx;
    lines += c == '\n';
}

static bool by_steps(const struct sfu_target *target, const struct sfu_registers *top, const uint64_t *wanted)
{
    struct sfu_walk walk;
    int i;

    sfu_walk_start(&walk, target, top);
    for (i = 0; i < FRAMES; i++)
        if (walk.frame.regs.pc != wanted[i] || sfu_walk_step(&walk) != (i == FRAMES - 1 ? SFU_END : SFU_OK))
            return false;
    return true;
}

static bool by_fast(const struct sfu_target *target, const struct sfu_registers *top, const uint64_t *wanted)
{
    uint64_t pcs[FRAMES + 1];
    size_t count;

    return sfu_fast_trace(&fast, target, top, 0, pcs, FRAMES + 1, &count) == SFU_END && count == FRAMES &&
           memcmp(pcs, wanted, FRAMES * sizeof *pcs) == 0;
}

static bool by_printer(const struct sfu_target *target, const struct sfu_registers *top)
{
    lines = 0;
    panic.put = put;
    panic.target = target;
    return sfu_panic_print(&panic, top) == SFU_END && lines == FRAMES + 2;
}

int WALK(int version)
{
    const uint64_t wanted[FRAMES] = {BASE + 0x10010, BASE + 0x10020, BASE + 0x10050};
    struct sfu_target target;
    struct sfu_registers top;
    int code;

    build_section(version);
    code = sfu_open(&section, b.bytes, b.size, BASE);
    if (code != SFU_OK)
        return code;
    stack[0] = wanted[1];
    stack[1] = wanted[2];
    memset(&top, 0, sizeof top);
    top.pc = wanted[0];
    top.sp = 0x1000;
    memset(&target, 0, sizeof target);
    target.window = stack;
    target.window_low = top.sp;
    target.window_high = top.sp + sizeof stack;
    if (sfu_fast_add(&fast, &image, &section) != SFU_OK)
        return WRONG;
    target.sections = fast.sections;
    return by_steps(&target, &top, wanted) && by_fast(&target, &top, wanted) && by_printer(&target, &top) ? SFU_OK
                                                                                                          : WRONG;
}
