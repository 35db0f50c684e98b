/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * fast_test [ROUNDS]: traces of random stacks by random tables, each by the core alone and by the fast walker: without
 * a cache, with one of every size, with an index, after sections came and went. PCs and code must be the same.
 */
#include "table.h"

enum { TABLES = 3, STACKS = 24, LONG = 20 };

static struct table tables[TABLES];
static struct stack stacks[STACKS];
static struct sfu_fast fast;
static struct sfu_fast_image images[TABLES];
static uint32_t indexes[TABLES][1 << 16];
static uint64_t cache[4096 + 1];
static uint64_t traces, frames, full, longer; /* longer: of LONG frames and more */
static uint64_t steps;                        /* of the core, within fast traces */
static bool counting;

/* What sfu_fast.c calls for the core's step; the linker sees to it. */
int __wrap_sfu_walk_step(struct sfu_walk *walk);
int __real_sfu_walk_step(struct sfu_walk *walk);

int __wrap_sfu_walk_step(struct sfu_walk *walk)
{
    steps += counting;
    return __real_sfu_walk_step(walk);
}

/* ---- Callbacks ---- */

static int read_stack(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    const struct stack *s = ctx;

    if (addr < STACK || addr - STACK > STACK_SIZE - len)
        return -1;
    memcpy(buffer, s->bytes + (addr - STACK), len);
    return 0;
}

/* Stacks of a KiB each. */
static bool find_stack(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const struct stack *s = ctx;

    if (addr < STACK || addr - STACK >= STACK_SIZE)
        return false;
    stack->low = addr & ~(uint64_t)1023;
    stack->high = stack->low + 1024;
    stack->bytes = s->bytes + (stack->low - STACK);
    return true;
}

static int give_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, uint64_t *value)
{
    (void)ctx;
    *value = frame->regs.sp + reg;
    return reg % 3 == 0 ? -1 : 0;
}

/* One of eight has been replaced. */
static bool original_ra(void *ctx, const struct sfu_frame *frame, uint64_t slot, uint64_t *ra)
{
    (void)ctx;
    (void)slot;
    if (frame->regs.sp / 8 % 8 != 0)
        return false;
    *ra -= 1;
    return true;
}

static int trap(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    const struct stack *s = ctx;

    if (frame->regs.sp / 8 % 4 == 0)
        return code;
    if (frame->regs.sp / 8 % 4 == 1)
        return SFU_END;
    interrupted->regs = s->top;
    interrupted->regs.sp = frame->regs.sp + 64;
    interrupted->guess = frame->regs.sp / 8 % 8 == 2 ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    return SFU_OK;
}

/* ---- Tests ---- */

struct trace {
    uint64_t pcs[MAX_PCS];
    size_t count;
    int code;
};

static void make_target(struct sfu_target *t, uint64_t *seed, const struct stack *s)
{
    memset(t, 0, sizeof *t);
    t->sections = fast.sections;
    t->ctx = (void *)(uintptr_t)s;
    t->stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    if (!once_in(seed, 3))
        return;            /* all common */
    if (once_in(seed, 30)) /* not the walker's list */
        t->sections = fast.sections != NULL ? fast.sections->next : NULL;
    if (once_in(seed, 6)) { /* a part of the stack, or nothing of it */
        uint32_t low = below(seed, STACK_SIZE / 2), high = below(seed, STACK_SIZE);

        t->stack = (struct sfu_stack){s->bytes + low, STACK + low, STACK + high};
        t->read = once_in(seed, 4) ? NULL : read_stack;
    }
    if (once_in(seed, 30)) {
        t->stack.bytes = NULL;
        t->read = read_stack;
    }
    t->reg = once_in(seed, 3) ? give_register : NULL;
    t->trap_hook = once_in(seed, 4) ? trap : NULL;
    t->find_stack = once_in(seed, 5) ? find_stack : NULL;
    t->pac_mask = once_in(seed, 2) ? UINT64_C(0x007c000000000000) : 0;
    t->max_switches = once_in(seed, 2) ? (uint8_t)(1 + below(seed, 4)) : 0;
    t->max_frames = once_in(seed, 6) ? 1 + below(seed, 12) : 0;
    t->red_zone = once_in(seed, 2) ? 128 : 0;
    t->frame_pointers = once_in(seed, 5);
    t->original_ra = once_in(seed, 20) ? original_ra : NULL;
    t->final.high = once_in(seed, 5) ? s->top.pc : 0;
}

/* A trace by WALKER, which must be WANT. Sets *BY_CORE to how many steps of the core it took. */
static bool same(struct sfu_fast *walker, const struct sfu_target *target, const struct stack *s, size_t skip,
                 size_t capacity, const struct trace *want, uint64_t *by_core)
{
    uint64_t got[MAX_PCS + 1], before = steps;
    size_t count;
    int code;

    got[capacity] = UINT64_C(0x5afe5afe5afe5afe);
    counting = true;
    code = sfu_fast_trace(walker, target, &s->top, skip, got, capacity, &count);
    counting = false;
    *by_core = steps - before;
    if (code == want->code && count == want->count && memcmp(got, want->pcs, count * 8) == 0 &&
        got[capacity] == UINT64_C(0x5afe5afe5afe5afe))
        return true;
    explain_trace(target, &s->top, skip, got, count, code, want->pcs, want->count, want->code);
    if (got[capacity] != UINT64_C(0x5afe5afe5afe5afe))
        printf("# wrote behind its %u PCs\n", (unsigned)capacity);
    return false;
}

/* The trace of S is the core's. Which frames take the short way depends neither on the cache nor on indexes. */
static bool compare(uint64_t *seed, const struct stack *s)
{
    struct trace want;
    struct sfu_target target;
    struct sfu_fast bare = fast;
    struct sfu_fast_image kept[TABLES];
    size_t skip = once_in(seed, 3) ? below(seed, once_in(seed, 4) ? 60 : 12) : 0;
    size_t capacity = once_in(seed, 5) ? below(seed, 12) : MAX_PCS;
    uint64_t by_core, by_core_bare;
    unsigned i;
    bool ok;

    make_target(&target, seed, s);
    want.code = core_trace(&target, &s->top, skip, want.pcs, capacity, &want.count);
    ok = same(&fast, &target, s, skip, capacity, &want, &by_core);
    traces++;
    frames += want.count;
    full += want.code == SFU_OK;
    longer += want.count >= LONG;
    if (!ok || !once_in(seed, 4))
        return ok;
    bare.cache = NULL;
    for (i = 0; i < TABLES; i++) {
        kept[i] = images[i];
        images[i].index = images[i].coarse;
        images[i].long_index = NULL;
    }
    ok = same(&bare, &target, s, skip, capacity, &want, &by_core_bare);
    if (ok && by_core != by_core_bare) {
        printf("# the core took %u steps, without cache and index %u\n", (unsigned)by_core, (unsigned)by_core_bare);
        ok = false;
    }
    steps -= by_core_bare;
    for (i = 0; i < TABLES; i++)
        images[i] = kept[i];
    return ok;
}

/* The text of a section is unknown, all of it or a part, or gone. */
static void set_text(struct sfu_section *s, uint64_t *seed)
{
    uint64_t span;

    if (once_in(seed, 3) || sfu_find_text(s) != SFU_OK)
        return;
    span = s->text.high - s->text.low;
    if (span > UINT32_MAX || !once_in(seed, 6))
        return;
    s->text.low += below(seed, (uint32_t)span);
    s->text.high -= below(seed, (uint32_t)span);
}

static bool round_of(uint64_t first)
{
    uint64_t seed = first;
    static const uint64_t addrs[] = {UINT64_C(0x555555600000), UINT64_C(0xffffffff81000000), UINT64_C(0x400000)};
    uint64_t addr = addrs[below(&seed, 3)];
    uint64_t far = UINT64_C(1) << (HOST_ABI == SFU_AMD64 ? 48 : HOST_ABI == SFU_S390X ? 44 : 41);
    unsigned count = 1 + below(&seed, TABLES), i, k, pass;
    bool added[TABLES] = {false};

    memset(&fast, 0, sizeof fast);
    for (i = 0; i < count; i++) /* next to each other, one on top of another, or where the cache's keys end */
        make_table(&tables[i], &seed,
                   addr + i * (once_in(&seed, 8)   ? 64
                               : once_in(&seed, 8) ? far
                                                   : UINT64_C(0x1000000)),
                   once_in(&seed, 6));
    for (i = 0; i < STACKS; i++)
        make_stack(&stacks[i], &seed, tables, count);
    if (!once_in(&seed, 4))
        sfu_fast_set_cache(&fast, (char *)cache + below(&seed, 8),
                           once_in(&seed, 8) ? below(&seed, 2000) : 1024u << below(&seed, 6));
    for (pass = 0; pass < 12; pass++) {
        i = pass < count ? pass : below(&seed, count);
        if (added[i]) {
            bool there = sfu_fast_remove(&fast, &images[i], 1), again = sfu_fast_remove(&fast, &images[i], 1);

            if (!there || again) {
                printf("not ok fast: a section that is removed differs from the core's: there %d, again %d\n",
                       there, again);
                return false;
            }
            added[i] = false;
        }
        if (pass >= count &&
            once_in(&seed, 8)) { /* another table in its place, with most of the return addresses */
            make_table(&tables[i], &seed, tables[i].addr, once_in(&seed, 6));
            for (k = 0; k < STACKS; k++)
                if (once_in(&seed, 3))
                    make_stack(&stacks[k], &seed, tables, count);
        }
        tables[i].section.next = NULL; /* that of the list that it was in */
        if (tables[i].good)
            set_text(&tables[i].section, &seed);
        if (tables[i].good && (pass < count || !once_in(&seed, 4))) {
            added[i] = sfu_fast_add(&fast, &images[i], 1, &tables[i].section) == SFU_OK;
            if (added[i] && once_in(&seed, 2))
                sfu_fast_set_index(&images[i], indexes[i], sizeof indexes[i]);
        }
        for (i = 0; i < 2 * STACKS; i++)
            if (!compare(&seed, &stacks[below(&seed, STACKS)])) {
                printf("not ok fast: trace %u in pass %u of the round with seed %llu differs from the core's\n", i,
                       pass, (unsigned long long)first);
                return false;
            }
    }
    return true;
}

int main(int argc, char **argv)
{
    uint64_t rounds = argc > 1 ? strtoull(argv[1], NULL, 0) : 300,
             first = argc > 2 ? strtoull(argv[2], NULL, 0) : 1, i;

    for (i = 0; i < rounds; i++)
        if (!round_of(first + i * UINT64_C(1000003)))
            return 1;
    printf("# %llu traces, %llu frames, %llu arrays full, %llu long traces, %llu steps of the core\n",
           (unsigned long long)traces, (unsigned long long)frames, (unsigned long long)full,
           (unsigned long long)longer, (unsigned long long)steps);
    printf("ok traces are the core's\n");
    if (steps > frames / 2 || longer < traces / 8) {
        printf("not ok the short way: too few frames to say something of it\n");
        return 1;
    }
    return 0;
}
