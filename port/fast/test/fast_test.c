/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * fast_test [ROUNDS]: traces of random stacks by random tables, each by the core alone and by the fast walker: without
 * a cache, with one of every size, with an index, after sections came and went. PCs and code must be the same. Then
 * what sfu_fast.h says takes the short way, and what its functions return.
 */
#include <sys/mman.h>
#include "random_tables.h"
#include "test/lib/bytes.h"
#include "test/lib/check.h"

enum { TABLES = 3, STACKS = 24, LONG = 20, MANY = 150, HUNDREDS = 512 };

static struct table tables[TABLES];
static struct stack *stacks; /* STACKS of them, far above the 8 GiB that test_short_way puts below one */
static struct sfu_fast fast;
static struct sfu_fast_image images[TABLES];
static uint32_t indexes[TABLES][1 << 16];
static uint64_t cache[4096 + 1];
static struct sfu_fast_image *order[MANY + 1];
static uint64_t traces, frames, full, longer; /* longer: of LONG frames and more */
static uint64_t steps;                        /* of the core, within fast traces */
static uint64_t applied;                      /* how often the core applied a row that the fast walker knew */
static bool counting;

/* What sfu_fast.c calls for the core's step; the linker sees to it. */
int __wrap_sfu_walk_step(struct sfu_walk *walk);
int __real_sfu_walk_step(struct sfu_walk *walk);
int __wrap_sfu_apply(struct sfu_walk *walk, const struct sfu_row *row);
int __real_sfu_apply(struct sfu_walk *walk, const struct sfu_row *row);

int __wrap_sfu_apply(struct sfu_walk *walk, const struct sfu_row *row)
{
    applied++;
    return __real_sfu_apply(walk, row);
}

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

/* A guest's stack: where it is, how much is read at once, and how often. */
struct remote {
    struct stack *stack;
    size_t most;
    unsigned reads, refused;
    bool both;      /* each other KiB is mapped, */
    unsigned stray; /* and was read all the same so often */
};
static struct remote remote;

static int read_remote(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    (void)ctx;
    remote.reads++;
    remote.stray += remote.both && addr / 1024 % 2 == 0;
    if (len <= remote.most && read_stack(remote.stack, addr, buffer, len) == 0)
        return 0;
    remote.refused++;
    return -1;
}

static bool find_remote(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const bool found = find_stack(ctx, addr, stack);

    stack->bytes = NULL;
    return found;
}

/* Each other one is mapped, those of remote.both. */
static bool find_both(void *ctx, uint64_t addr, struct sfu_stack *stack)
{
    const bool found = find_stack(ctx, addr, stack);

    if (stack->low / 1024 % 2 != 0)
        stack->bytes = NULL;
    return found;
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

    if (frame->regs.sp / 8 % 4 == 0 || frame->guess == SFU_GUESS_RECORD)
        return code;
    if (frame->regs.sp / 8 % 4 == 1)
        return SFU_END;
    interrupted->regs = s->top;
    interrupted->regs.sp = frame->regs.sp + 64;
    interrupted->guess = frame->regs.sp / 8 % 8 == 2 ? SFU_GUESS_HOOK : SFU_GUESS_NONE;
    return SFU_OK;
}

/* ---- Tests ---- */

/* How much of the room around its code the text of a section has. */
enum texts { UNKNOWN, EXACT, WIDER, OVER_OTHERS };

/* What a test is run with, if it is one of several that run the same. */
struct given {
    bool cached, indexed;
    enum texts texts;
    size_t room;
};

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

/* The same where a callback reads the stack: with a window of any size, also one that the callback refuses. */
static bool compare_remote(uint64_t *seed, struct stack *s, const struct sfu_target *mapped, size_t skip,
                           size_t capacity)
{
    static uint8_t window[1024 + 1];
    uint64_t got[MAX_PCS];
    struct sfu_target target = *mapped;
    struct trace want;
    size_t bytes = once_in(seed, 4) ? below(seed, 24) : below(seed, 1025), off = below(seed, 9), count;
    int code;

    remote = (struct remote){s, once_in(seed, 4) ? below(seed, 600) : SIZE_MAX, 0, 0, false, 0};
    target.stack.bytes = NULL;
    target.read = once_in(seed, 20) ? NULL : read_remote;
    if (target.find_stack != NULL)
        target.find_stack = once_in(seed, 2) ? find_both : find_remote;
    want.code = core_trace(&target, &s->top, skip, want.pcs, capacity, &want.count);
    bytes = bytes > off ? bytes - off : 0;
    window[off + bytes] = 0x5a;
    code = sfu_fast_trace_remote(&fast, &target, &s->top, skip, got, capacity, &count, window + off, bytes);
    if (code == want.code && count == want.count && memcmp(got, want.pcs, count * 8) == 0 &&
        window[off + bytes] == 0x5a)
        return true;
    printf("# the stack by a callback, %u bytes of it at once, of at most %lu\n", (unsigned)bytes,
           (unsigned long)remote.most);
    explain_trace(&target, &s->top, skip, got, count, code, want.pcs, want.count, want.code);
    return false;
}

/* The trace of S is the core's. Which frames take the short way depends neither on the cache nor on indexes. */
static bool compare(uint64_t *seed, struct stack *s)
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
    if (ok && once_in(seed, 3))
        ok = compare_remote(seed, s, &target, skip, capacity);
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

static void round_of(uint64_t first)
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
        if (once_in(&seed, 6))
            sfu_fast_set_order(&fast, (char *)order + below(&seed, 8), below(&seed, 5) * sizeof *order);
        i = pass < count ? pass : below(&seed, count);
        if (added[i]) {
            assert_true(sfu_fast_remove(&fast, &images[i], 1));
            assert_false(sfu_fast_remove(&fast, &images[i], 1));
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
            if (!compare(&seed, &stacks[below(&seed, STACKS)]))
                check_fail(__FILE__, __LINE__,
                           "trace %u in pass %u of the round with seed %llu differs from the core's", i, pass,
                           (unsigned long long)first);
    }
}

/* ---- What takes the short way ---- */

enum { FUNCTIONS = 400, KINDS = 8, GROUP_SIZE = 0x400, DEEP = 60, LONG_TRACE = 700 };

#define CODE INT64_C(0x280010000) /* from the section: farther than 32 bits lead */

/* What each function has as its only row, or as the row for its last bytes: the caller's SP is SP + STEP, its FP is
 * saved; the RA is at SLOT from SP. */
static void ordinary_row(struct build *b, uint32_t start, unsigned size, int64_t step)
{
    if (HOST_ABI == SFU_AMD64)
        ROW(b, start, BASE_SP | size, step, -16);
    else if (HOST_ABI == SFU_S390X)
        ROW(b, start, BASE_SP | size, step / 8, -48, -72);
    else
        ROW(b, start, BASE_SP | size, step, -step + 8, -step);
}

static uint64_t slot_of(uint64_t step)
{
    return HOST_ABI == SFU_AMD64 ? step - 8 : HOST_ABI == SFU_S390X ? step + 160 - 48 : 8;
}

/* Function I: of one of KINDS. */
static void ordinary_function(struct build *b, unsigned i, int64_t step)
{
    const int64_t start = CODE + (int64_t)i * GROUP_SIZE;
    const unsigned kind = i % KINDS;
    const int64_t sp = HOST_SP, cfa = HOST_ABI == SFU_S390X ? step / 8 : step;

    if (kind == 4)
        build_fde_more(b, start, GROUP_SIZE, ADDR1 | MASK, DEFAULT, 16);
    else
        build_fde_more(b, start, GROUP_SIZE, kind == 2 ? ADDR4 : ADDR2, kind == 5 ? FLEX : DEFAULT, 0);
    if (kind == 5) {
        const int64_t words[] = {
            REG(sp),    cfa, AT_CFA, (int64_t)slot_of((uint64_t)step) - step - (HOST_ABI == SFU_S390X ? 160 : 0),
            AT_REG(sp), 16}; /* the second of three has FP from SP; the third says that it has not changed */
        int64_t unchanged[] = {words[0], words[1], words[2], words[3], REG(HOST_FP), 0};

        build_row(b, 0, WORD2, i / KINDS % 3 == 0 ? 4 : 6, i / KINDS % 3 == 1 ? words : unchanged);
        return;
    }
    for (uint32_t n = 0; kind >= 6 && n < (kind == 6 ? 65u : 200u); n++) /* more than 64: by the other index */
        ordinary_row(b, n, WORD1, step + 8 * (1 + (int64_t)n % 2));
    ordinary_row(b, kind >= 6 ? 250 : 0, kind == 3 ? WORD4 : kind == 1 ? WORD2 : WORD1, step);
}

static void make_ordinary(struct table *t, uint64_t addr, unsigned functions, int64_t step, unsigned flags)
{
    build_begin(&t->build, 3, HOST_ABI, BIG_HOST);
    t->build.flags |= (uint8_t)flags;
    for (unsigned i = 0; i < functions; i++)
        ordinary_function(&t->build, i, step);
    build_end(&t->build);
    memcpy(t->bytes, t->build.bytes, t->build.size);
    t->addr = addr;
    assert_int_equal(sfu_open(&t->section, t->bytes, t->build.size, addr), SFU_OK);
}

/* A stack of frames in random functions of T, as many as there is room for. */
static void make_ordinary_stack(struct stack *s, uint64_t *seed, const struct table *t, uint64_t step)
{
    uint64_t pc = t->addr + (uint64_t)CODE + 300;

    memset(s, 0, sizeof *s);
    s->top.pc = pc;
    s->top.sp = s->top.fp = STACK + 1024;
    for (unsigned i = 0; i < LONG_TRACE; i++) {
        uint64_t sp = 1024 + i * step;

        pc = t->addr + (uint64_t)CODE + (uint64_t)below(seed, FUNCTIONS) * GROUP_SIZE + 300 + below(seed, 700);
        memcpy(s->bytes + sp + slot_of(step), &pc, 8);
    }
}

static void test_short_way(void *argument)
{
    const struct given *given = argument;
    uint64_t seed = 1, by_core, low;
    struct sfu_target target;
    struct trace want;

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 32, given->indexed ? 0 : F_PCREL);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    if (given->cached)
        sfu_fast_set_cache(&fast, cache, sizeof cache);
    assert_true(!given->indexed || sfu_fast_set_index(&images[0], indexes[0], sizeof indexes[0]));
    target.sections = sfu_fast_sections(&fast);
    applied = 0;
    for (unsigned i = 0; i < 200; i++) {
        struct stack *s = &stacks[0];

        if (i % 2 == 0) {
            make_ordinary_stack(s, &seed, &tables[0], 32);
            s->top.pc = tables[0].addr + (uint64_t)CODE; /* where a function begins */
            s->top.pc += (KINDS * below(&seed, FUNCTIONS / KINDS) + below(&seed, 6)) * (uint64_t)GROUP_SIZE;
        }
        /* all of the stack, or the upper end of a large one */
        low = i % 4 < 2 ? 0 : UINT64_C(1) << 33;
        target.stack =
            (struct sfu_stack){(const void *)((uintptr_t)s->bytes - low), STACK - low, STACK + STACK_SIZE};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
        assert_int_equal(want.count, DEEP);
        assert_int_equal(by_core, 0);
        assert_int_equal(applied, 0);
    }
}

/* A frame that leads onto another stack, or to where a copy of a stack ends, has a rule as any other: nothing is looked
 * up again, with a cache or without. */
static void test_switches(void *argument)
{
    const struct given *given = argument;
    uint64_t seed = 1, by_core;
    struct sfu_target target;
    struct trace want;
    struct stack *s = &stacks[0];

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 40, 0);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    if (given->cached)
        sfu_fast_set_cache(&fast, cache, sizeof cache);
    target.sections = sfu_fast_sections(&fast);
    target.ctx = s;
    for (unsigned i = 0; i < 200; i++) {
        if (i % 2 == 0)
            make_ordinary_stack(s, &seed, &tables[0], 40);
        target.find_stack = i % 4 < 2 ? find_stack : NULL;
        target.stack = (struct sfu_stack){s->bytes, STACK, STACK + (i % 4 < 2 ? STACK_SIZE : 2048 + 8 * (i % 9))};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
        assert_int_equal(by_core, 0);
        assert_true(want.count >= 20);
        assert_true((i % 4 < 2) == (want.count == DEEP));
    }
}

/* A stack that a callback reads: one call serves all frames of a window, and the core does none of them. Where the
 * callback refuses, the core does each. A stack that is mapped is not read by it. */
static void test_remote(void *argument)
{
    const struct given *given = argument;
    enum { STEP = 32, WINDOW = 512, PART = WINDOW / STEP };
    static uint64_t window[WINDOW / 8];
    uint64_t seed = 1, got[DEEP];
    struct sfu_target target;
    struct trace want;
    size_t count;
    int code;

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, STEP, 0);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    if (given->cached)
        sfu_fast_set_cache(&fast, cache, sizeof cache);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){NULL, STACK, STACK + STACK_SIZE};
    target.read = read_remote;
    for (unsigned i = 0; i < 200; i++) {
        const bool refuses = i % 4 == 3, both = i % 4 == 2;

        make_ordinary_stack(&stacks[0], &seed, &tables[0], STEP);
        remote = (struct remote){&stacks[0], refuses ? WINDOW - 1 : WINDOW, 0, 0, both, 0};
        target.ctx = &stacks[0];
        target.find_stack = both ? find_both : NULL;
        want.code = core_trace(&target, &stacks[0].top, 0, want.pcs, DEEP, &want.count);
        remote.reads = 0;
        counting = true;
        steps = applied = 0;
        code = sfu_fast_trace_remote(&fast, &target, &stacks[0].top, 0, got, DEEP, &count, window, WINDOW);
        counting = false;
        assert_int_equal(code, want.code);
        assert_int_equal(want.count, DEEP);
        assert_int_equal(count, DEEP);
        assert_memory_equal(got, want.pcs, sizeof got);
        /* s390x saves the RA above the CFA less 160: the last frames of a window are read with the next one */
        if (refuses) {
            assert_int_equal(steps, DEEP - 1);
            assert_int_equal(remote.refused, DEEP - 1);
            continue;
        }
        assert_true(steps + applied <= (both ? 8 : 0));
        assert_int_equal(remote.refused, 0);
        assert_int_equal(remote.stray, 0);
        assert_true(both || remote.reads <= 2 * DEEP / PART + 1);
    }
}

/* A trace of more frames than a byte counts. */
static void test_long(void *argument)
{
    static uint64_t got[LONG_TRACE], want[LONG_TRACE];
    uint64_t seed = 1;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    size_t count, want_count;
    int code;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 32, 0);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    target.max_frames = 2 * LONG_TRACE;
    make_ordinary_stack(s, &seed, &tables[0], 32);
    (void)core_trace(&target, &s->top, 0, want, LONG_TRACE, &want_count);
    counting = true;
    steps = 0;
    code = sfu_fast_trace(&fast, &target, &s->top, 0, got, LONG_TRACE, &count);
    counting = false;
    assert_int_equal(code, SFU_OK);
    assert_int_equal(count, LONG_TRACE);
    assert_int_equal(want_count, LONG_TRACE);
    assert_int_equal(steps, 0);
    assert_memory_equal(got, want, sizeof got);
}

/* Rows that read next to the ends of what they may: a default row's words, or pairs of a flexible one. */
static unsigned make_edges(struct build *b)
{
    const int64_t sp = HOST_SP, fp = HOST_FP;
    const int64_t c = HOST_ABI == SFU_S390X ? 4 : 32, scale = HOST_ABI == SFU_S390X ? 8 : 1;
    const int64_t at_sp = HOST_ABI == SFU_S390X ? -20 : 0; /* a CFA word that adds nothing */
    const int64_t default_rows[][2] = {                    /* RA, if a row has one, and FP */
                                       {-8, -16}, {-8, 0},  {-8, 8},  {-8, -32},
                                       {-8, -40}, {0, -16}, {8, -16}, {-32, -16}};
    const int64_t flexible_rows[][6] = {{REG(sp), c, AT_CFA, -8, AT_CFA, -16},
                                        {AT_REG(sp), 2 * c, AT_CFA, -8, AT_CFA, -16},
                                        {AT_REG(fp), -8 / scale, AT_CFA, -8, AT_REG(fp), 0},
                                        {AT_REG(fp), -8 / scale, AT_CFA, -8, AT_REG(fp), 64},
                                        {AT_REG(fp), -8 / scale, AT_CFA, -8, AT_CFA, 0},
                                        {AT_REG(fp), -8 / scale, AT_REG(sp), 8, AT_REG(fp), 0},
                                        {AT_REG(fp), -16 / scale, AT_CFA, -8, AT_REG(fp), 0},
                                        {AT_REG(fp), -8 / scale, AT_CFA, 8, AT_REG(fp), 0},
                                        {REG(fp), c, AT_CFA, -8, AT_REG(fp), 0},
                                        {AT_REG(fp), 0, AT_CFA, -8, AT_REG(fp), 8},
                                        {REG(sp), c, AT_REG(sp), 8, AT_REG(sp), 16},
                                        {REG(sp), c, AT_CFA, 0, AT_REG(sp), 0},
                                        {REG(sp), c, AT_CFA, -8, AT_REG(sp), -8},
                                        {REG(sp), 0, AT_REG(sp), 8, AT_REG(sp), 16},
                                        {AT_REG(sp), at_sp, AT_REG(sp), 8, AT_REG(sp), 64},
                                        {AT_REG(sp), at_sp + 64 / scale, AT_REG(sp), 8, AT_REG(sp), 16},
                                        {AT_REG(sp), at_sp, AT_CFA, 8, AT_REG(sp), 16},
                                        {AT_REG(sp), at_sp, AT_REG(sp), 8, AT_CFA, 16},
                                        {AT_REG(sp), at_sp, AT_REG(fp), 8, AT_REG(fp), 0},
                                        {REG(sp), -c, AT_REG(sp), 8, AT_REG(sp), 16}};
    const unsigned flexible = sizeof flexible_rows / sizeof *flexible_rows;
    unsigned n = 0;

    for (unsigned i = 0; i < 8; i++)
        for (unsigned base = BASE_FP; base <= BASE_SP; base++, n++) {
            const int64_t words[] = {c, default_rows[i][0], default_rows[i][1]};

            build_fde(b, CODE + (int64_t)n * GROUP_SIZE, GROUP_SIZE, ADDR2);
            if (HOST_ABI == SFU_AMD64)
                ROW(b, 0, base | WORD1, c, default_rows[i][1]);
            else
                build_row(b, 0, base | WORD1, 3, words);
        }
    for (unsigned i = 0; i < 3; i++, n++) { /* offsets that are more than 16 bits */
        build_fde(b, CODE + (int64_t)n * GROUP_SIZE, GROUP_SIZE, ADDR2);
        ordinary_row(b, 0, WORD4, (65536 << i) + 32);
    }
    for (unsigned i = 0; i < 2; i++, n++) {
        const int64_t far = -65536, words[] = {c, i == 0 ? far - 8 : -8, i == 1 ? far - 16 : -16};

        build_fde(b, CODE + (int64_t)n * GROUP_SIZE, GROUP_SIZE, ADDR2);
        if (HOST_ABI == SFU_AMD64)
            ROW(b, 0, BASE_SP | WORD4, c, far - 16);
        else
            build_row(b, 0, BASE_SP | WORD4, 3, words);
    }
    for (unsigned i = 0; i < 4; i++, n++) { /* and registers */
        const int64_t words[][6] = {{REG(sp), c, AT_REG(sp), 65536 + 16},
                                    {REG(sp), c, AT_CFA, -8, AT_REG(sp), 65536 + 24},
                                    {REG(sp + 8192), c, AT_CFA, -8, AT_CFA, -16},
                                    {REG(sp), c, AT_REG(sp + 8192), 16, AT_CFA, -16}};

        build_fde_more(b, CODE + (int64_t)n * GROUP_SIZE, GROUP_SIZE, ADDR2, FLEX, 0);
        build_row(b, 0, WORD4, i == 0 ? 4 : 6, words[i]);
    }
    for (unsigned i = 0; i < 2 * flexible; i++, n++) {
        build_fde_more(b, CODE + (int64_t)n * GROUP_SIZE, GROUP_SIZE, ADDR2 | (i < flexible ? 0 : SIGNAL), FLEX, 0);
        build_row(b, 0, WORD1, 6, flexible_rows[i % flexible]);
    }
    return n;
}

/* A walker, with a cache, of those *N functions. */
static void make_edges_table(unsigned *n)
{
    memset(&fast, 0, sizeof fast);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    *n = make_edges(&tables[0].build);
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    assert_true(sfu_fast_index_size(&images[0]) != 0);
}

/* A word of the stack is read if all of it is there, for each end of the stack, SP and FP. */
static void test_edges(void *argument)
{
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core;
    unsigned n;

    (void)argument;
    make_edges_table(&n);
    memset(&target, 0, sizeof target);
    target.sections = sfu_fast_sections(&fast);
    for (unsigned i = 0; i < STACK_SIZE / 8; i++) { /* each word leads to one that is a little higher */
        uint64_t word = STACK + 8 * i + 64;
        memcpy(s->bytes + 8 * i, &word, 8);
    }
    for (unsigned i = 0; i < 2 * n; i++)
        for (uint64_t high = 1024 - 8; high < 1024 + 240; high += high % 8 == 1 ? 6 : 1)
            for (uint64_t fp = 1024 - 24; fp < 1024 + 64; fp += 8)
                for (uint64_t low = 0; low <= 1032; low += low == 0 ? 1016 : 8) {
                    s->top.pc = 0x555555600000 + (uint64_t)CODE + i / 2 * GROUP_SIZE + 300;
                    s->top.pc_kind = i % 2 == 0 ? SFU_PC_EXACT : SFU_PC_RETURN;
                    s->top.sp = STACK + 1024;
                    s->top.fp = STACK + fp;
                    target.stack = (struct sfu_stack){s->bytes + low, STACK + low, STACK + high};
                    want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
                    assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
                }
}

/* No sum wraps: FP near 2^64 of a stack at 0, and SP near the end of a stack of nearly 2^64 bytes. */
static void test_wraps(void *argument)
{
    const uint64_t end = UINT64_MAX - 7;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core;
    unsigned n;

    (void)argument;
    make_edges_table(&n);
    memset(&target, 0, sizeof target);
    target.sections = sfu_fast_sections(&fast);
    for (unsigned i = 0; i < STACK_SIZE / 8; i++) {
        uint64_t word = 8 * i + 64;
        memcpy(s->bytes + 8 * i, &word, 8);
    }
    for (unsigned i = 0; i < 2 * n; i++)
        for (uint64_t k = 0; k < 4; k++)
            for (unsigned large = 0; large < 2; large++) {
                s->top.pc = 0x555555600000 + (uint64_t)CODE + i / 2 * GROUP_SIZE + 300;
                s->top.pc_kind = i % 2 == 0 ? SFU_PC_EXACT : SFU_PC_RETURN;
                s->top.sp = large ? end - 8 * k : 0;
                s->top.fp = large ? 1024 : UINT64_C(0) - 8 * (k + 1);
                target.stack = large ? (struct sfu_stack){s->bytes + 4096, 16, end}
                                     : (struct sfu_stack){s->bytes, 0, STACK_SIZE};
                want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
                assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
            }
}

/* The same of a stack whose bytes end near 2^64, where a CFA that is added to SP would wrap. None of its words can be
 * read. */
static void test_top(void *argument)
{
    const struct given *given = argument;
    const uintptr_t bytes = UINTPTR_MAX - 31;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core;

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 40, 0);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    if (given->cached)
        sfu_fast_set_cache(&fast, cache, 1024);
    target.sections = sfu_fast_sections(&fast);
    for (unsigned i = 0; i < 2; i++) {
        make_ordinary_stack(s, &seed, &tables[0], 40);
        target.stack = i == 0 ? (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE}
                              : (struct sfu_stack){(const void *)bytes, STACK + 1024, STACK + 1024 + 8};
        want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
        assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
        assert_int_equal(want.count, 2 - i);
    }
}

/* Of two sections that have one PC in common it is that of the first in the list, whichever had the frame before. */
static void compare_touching(bool lower_first)
{
    struct sfu_target target;
    struct trace want;
    uint64_t seed = 1, by_core, pc;
    struct stack *s = &stacks[0];

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, 1, 32, 0);
    make_ordinary(&tables[1], 0x555555600000 + GROUP_SIZE - 1, 1, 40, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[lower_first ? 1 - i : i].section), SFU_OK);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (unsigned i = 0; i < 2; i++) { /* from a frame in each of them */
        make_ordinary_stack(s, &seed, &tables[i], i == 0 ? 32 : 40);
        pc = tables[1].addr + (uint64_t)CODE + 1; /* a return address behind the PC */
        memcpy(s->bytes + 1024 + slot_of(i == 0 ? 32 : 40), &pc, 8);
        want.code = core_trace(&target, &s->top, 0, want.pcs, 3, &want.count);
        assert_true(same(&fast, &target, s, 0, 3, &want, &by_core));
        assert_true(want.count >= 2);
    }
}

static void test_touching(void *argument)
{
    (void)argument;
    compare_touching(false);
    compare_touching(true);
}

/* A PC that is the first of a region of code, of 2^22 bytes for a cache of 1 KiB, is taken for that of no other. */
static void test_regions(void *argument)
{
    const uint64_t first = UINT64_C(0x155554) << 20, second = UINT64_C(0x159994) << 20;
    const uint64_t pcs[] = {first - 100, second + 3000, first - 100, second, first};
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], first - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 32, 0);
    make_ordinary(&tables[1], second - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 40, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[i].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, 1024 + 4);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (unsigned i = 0; i < 2 * (sizeof pcs / sizeof *pcs); i++) {
        const unsigned n = i / 2;
        const uint64_t ra = first + 1;
        const size_t capacity = n == 2 ? 3 : 2; /* the last one is not looked up */

        make_ordinary_stack(s, &seed, &tables[n % 2], n % 2 == 0 ? 32 : 40);
        s->top.pc = pcs[n];
        if (n == 2)
            memcpy(s->bytes + 1024 + slot_of(32), &ra, 8);
        want.code = core_trace(&target, &s->top, 0, want.pcs, capacity, &want.count);
        assert_true(same(&fast, &target, s, 0, capacity, &want, &by_core));
        assert_int_equal(want.count, capacity);
    }
}

/* The PC behind a region, whose place in its own is the same as that of the region's first. A region has the addresses
 * behind its PCs. */
static void test_behind_region(void *argument)
{
    const uint64_t first = (UINT64_C(0x155554) << 20) - 1, behind = first + (UINT64_C(1) << 22);
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], first - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 32, 0);
    make_ordinary(&tables[1], behind - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 40, 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[i].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, 1024);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (unsigned i = 0; i < 6; i++) {
        make_ordinary_stack(s, &seed, &tables[i % 2], i % 2 == 0 ? 32 : 40);
        s->top.pc = i % 2 == 0 ? first : behind;
        want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
        assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
        assert_int_equal(want.count, 2);
    }
}

/* The same of a narrow region: two others were met before it, one of no function. The caller is in the one behind. */
static void test_behind_narrow_region(void *argument)
{
    const uint64_t first = (UINT64_C(0x155554) << 20) - 1, behind = first + (UINT64_C(1) << 19), ra = behind + 1;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core, last;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], first - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 32, 0);
    make_ordinary(&tables[1], behind - (uint64_t)CODE - 8 * GROUP_SIZE, FUNCTIONS, 48, 0);
    make_ordinary(&tables[2], UINT64_C(1) << 44, FUNCTIONS, 32, 0);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[i].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, 4096);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (unsigned i = 0; i < 6; i++) {
        make_ordinary_stack(s, &seed, &tables[2], 32);
        if (i == 1)
            s->top.pc = UINT64_C(2) << 44;
        last = s->top.pc + 1;
        if (i > 1) {
            s->top.pc = first;
            memcpy(s->bytes + 1024 + slot_of(32), &ra, 8);
            memcpy(s->bytes + 1024 + 32 + slot_of(48), &last, 8);
        }
        want.code = core_trace(&target, &s->top, 0, want.pcs, 3, &want.count);
        assert_true(same(&fast, &target, s, 0, 3, &want, &by_core));
        assert_int_equal(want.count, i == 1 ? 1 : 3);
        assert_true(i < 2 || want.pcs[2] == last);
    }
}

static struct sfu_target far_target;

/* Two PCs of S: one lookup, and one entry, if it is not there. */
static void trace_two(const struct sfu_target *target, const struct stack *s)
{
    uint64_t pcs[2];
    size_t count;

    assert_int_equal(sfu_fast_trace(&fast, target, &s->top, 0, pcs, 2, &count), SFU_OK);
}

/* Reads a stack, and interrupts the trace that asks by another one, far away. */
static int read_interrupted(void *ctx, uint64_t addr, void *buffer, size_t len)
{
    trace_two(&far_target, &stacks[1]);
    return read_stack(ctx, addr, buffer, len);
}

/* Between the beginning of a trace and its first entry another one may have met the walker's first region. Later traces
 * find the entries of both, and put none of their own. */
static void test_first_region(void *argument)
{
    enum { EMPTY_ENTRY = 4095 };
    struct sfu_target target, remote_target;
    uint64_t seed = 1, pcs[2], window[16];
    unsigned used = 0, i;
    size_t count;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    for (i = 0; i < 2; i++) {
        make_ordinary(&tables[i], i == 0 ? 0x555555600000 : 0x666666600000, FUNCTIONS, 32, 0);
        make_ordinary_stack(&stacks[i], &seed, &tables[i], 32);
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[i].section), SFU_OK);
    }
    sfu_fast_set_cache(&fast, cache, 1024);
    target.sections = sfu_fast_sections(&fast);
    target.ctx = &stacks[0];
    remote_target = far_target = target;
    target.stack = (struct sfu_stack){stacks[0].bytes, STACK, STACK + STACK_SIZE};
    far_target.stack = (struct sfu_stack){stacks[1].bytes, STACK, STACK + STACK_SIZE};
    remote_target.stack = (struct sfu_stack){NULL, STACK, STACK + STACK_SIZE};
    remote_target.read = read_interrupted;
    assert_int_equal(
        sfu_fast_trace_remote(&fast, &remote_target, &stacks[0].top, 0, pcs, 2, &count, window, sizeof window),
        SFU_OK);
    assert_int_equal(fast.num_regions, 2);
    assert_true(fast.wide[0] > 0x600000000000);
    trace_two(&target, &stacks[0]);
    trace_two(&far_target, &stacks[1]);
    for (i = 0; i <= fast.mask; i++)
        used += fast.cache[i] % (EMPTY_ENTRY + 1) != EMPTY_ENTRY;
    assert_int_equal(used, 2);
}

/* ---- Frame records and the cache's capacity ---- */

/* The only row of a function with a frame record, whose CFA is STEP above the record, but 16 on x86_64, whose RA has
 * one place. */
static void record_row(struct build *b, int64_t step)
{
    if (HOST_ABI == SFU_AMD64)
        ROW(b, 0, BASE_FP | WORD2, 16, -16);
    else if (HOST_ABI == SFU_RISCV64)
        ROW(b, 0, BASE_FP | WORD2, step - 16, 8 - step, -step);
    else if (HOST_ABI == SFU_S390X)
        ROW(b, 0, BASE_FP | WORD2, step / 8, -48, -72);
    else
        ROW(b, 0, BASE_FP | WORD2, step, 8 - step, -step);
}

/* Puts a record that leads from FP to NEXT, with return address PC, onto S. */
static void put_record(struct stack *s, int64_t step, uint64_t fp, uint64_t next, uint64_t pc)
{
    const uint64_t at = HOST_ABI == SFU_RISCV64 ? fp - 16 : fp;
    const uint64_t cfa = (uint64_t)step / 8 * 8 + 160;

    if (HOST_ABI == SFU_S390X) {
        memcpy(s->bytes + (at - STACK) + cfa - 72, &next, 8);
        memcpy(s->bytes + (at - STACK) + cfa - 48, &pc, 8);
    } else {
        memcpy(s->bytes + (at - STACK), &next, 8);
        memcpy(s->bytes + (at - STACK) + 8, &pc, 8);
    }
}

/* Code with frame pointers takes the short way. A record below SP, across an end of the stack or outside of it is the
 * core's, whether its rule is cached or not; also one so near the end of this program's address space that its CFA
 * would wrap. */
static void compare_records(int64_t step)
{
    enum { RECORDS = 12, APART = 2080 };
    const uint64_t first = STACK + 1024;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    const int64_t wraps = -(int64_t)(uintptr_t)s->bytes - 1024; /* from FIRST to address 0 of this program */
    const int64_t off[] = {0, -8, -16, -1, 1, 8, 15, 16, 17, 40, -1024, -1032, wraps - 8, wraps + 8};
    struct trace want;
    uint64_t by_core, pc;

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[0].build, CODE, GROUP_SIZE, ADDR1);
    record_row(&tables[0].build, step);
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    memset(s, 0, sizeof *s);
    pc = 0x555555600000 + (uint64_t)CODE + 300;
    for (unsigned i = 0; i < RECORDS; i++)
        put_record(s, step, first + i * APART, first + (i + 1) * APART, pc + i);
    s->top.pc = pc;
    s->top.pc_kind = SFU_PC_EXACT;
    for (unsigned i = 0; i < 4; i++) {
        s->top.fp = first;
        s->top.sp = first - (HOST_ABI == SFU_RISCV64 ? 16 : 0);
        want.code = core_trace(&target, &s->top, 0, want.pcs, RECORDS, &want.count);
        applied = 0;
        assert_true(same(&fast, &target, s, 0, RECORDS, &want, &by_core));
        assert_int_equal(want.count, RECORDS);
        assert_int_equal(by_core + applied, 0);
    }
    for (unsigned i = 0; i < 4 * (sizeof off / sizeof *off); i++) { /* from SP and from the stack's end */
        const int64_t o = off[i / 4];

        s->top.sp = first;
        s->top.fp = i % 2 == 0 ? first + (uint64_t)o : STACK + STACK_SIZE + (uint64_t)o;
        if (i % 4 >= 2) { /* the second frame has it */
            s->top.sp = s->top.fp = first;
            put_record(s, step, first, i % 2 == 0 ? first + (uint64_t)o : STACK + STACK_SIZE + (uint64_t)o, pc);
        }
        want.code = core_trace(&target, &s->top, 0, want.pcs, RECORDS, &want.count);
        assert_true(same(&fast, &target, s, 0, RECORDS, &want, &by_core));
    }
}

static void test_records(void *argument)
{
    (void)argument;
    compare_records(48);
    compare_records(44);
    compare_records(2040);
    compare_records(2048);
}

/* MODULES modules at a DISTANCE, with SITES call sites each that are APART bytes apart. */
struct layout {
    unsigned modules, sites, apart;
    uint64_t distance;
};

/* Where call site I is, from the first one. */
static uint64_t site_of(const struct layout *layout, unsigned i)
{
    return i / layout->sites * layout->distance + (uint64_t)(i % layout->sites) * layout->apart;
}

/* 8 bytes for a call site are enough, as sfu_fast.h says: all but 5 of 100 are in the cache, until their section is
 * taken out. In a layout by chance,
 * each set of 8 entries has 3.9 of 500 sites on average; by the law of rare events (Poisson) 0.7 of 100 find their set
 * full. */
static void compare_layout(const struct layout *layout)
{
    enum { BYTES = 4096, ENTRIES = BYTES / 4, EMPTY_ENTRY = 4095 };
    const unsigned sites = layout->modules * layout->sites;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core;
    unsigned used = 0;

    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    for (unsigned i = 0; i < sites; i++) {
        build_fde(&tables[0].build, CODE + (int64_t)site_of(layout, i), 32, ADDR1);
        ordinary_row(&tables[0].build, 0, WORD1, 32);
    }
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, BYTES);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    memset(s, 0, sizeof *s);
    s->top.sp = STACK + 1024;
    s->top.pc_kind = SFU_PC_EXACT;
    for (unsigned i = 0; i < 3 * sites; i++) {
        s->top.pc = 0x555555600000 + (uint64_t)CODE + site_of(layout, i % sites) + 12;
        want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
        assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
        assert_int_equal(want.count, 2);
    }
    for (unsigned i = 0; i < ENTRIES; i++)
        used += fast.cache[i] % (EMPTY_ENTRY + 1) != EMPTY_ENTRY;
    if (used < sites * 19 / 20)
        printf("# of %u sites, %u bytes apart in modules at a distance of %llu, %u are in the cache\n", sites,
               layout->apart, (unsigned long long)layout->distance, used);
    assert_true(used >= sites * 19 / 20 && used <= sites);
    assert_true(sfu_fast_remove(&fast, images, 1));
    for (unsigned i = 0; i < ENTRIES; i++)
        assert_true(fast.cache[i] % (EMPTY_ENTRY + 1) == EMPTY_ENTRY);
}

/* ---- Frames of many sizes ---- */

enum { SIZES = 480, LARGE_UNIT = 16, SIZES_APART = 64, LOW_RA = 72 };

/* SIZES functions. The caller's SP is FIRST above SP in the first one, and UNIT more in each further one. */
struct sizes {
    int64_t first, unit;
    unsigned kinds; /* FP is saved at one of so many places, or nowhere */
    bool low;       /* places are counted from SP; else from the CFA */
};

static uint64_t step_of(const struct sizes *sizes, unsigned site)
{
    return (uint64_t)(sizes->first + (int64_t)site * sizes->unit);
}

/* The only row of function SITE. If it is not low, the RA is where compilers put it if the frame record is at the upper
 * end of the frame. */
static void sizes_row(struct build *b, const struct sizes *sizes, unsigned site)
{
    const int64_t step = (int64_t)step_of(sizes, site), cfa = HOST_ABI == SFU_S390X ? step / 8 : step;
    const int64_t ra = sizes->low                ? LOW_RA - step
                       : HOST_ABI == SFU_S390X   ? -48
                       : HOST_ABI == SFU_RISCV64 ? -8
                                                 : -24;
    const unsigned kind = site % sizes->kinds;

    if (HOST_ABI == SFU_AMD64 && kind == 0)
        ROW(b, 0, BASE_SP | WORD4, cfa);
    else if (HOST_ABI == SFU_AMD64)
        ROW(b, 0, BASE_SP | WORD4, cfa, -8 - 8 * (int64_t)kind);
    else if (kind == 0)
        ROW(b, 0, BASE_SP | WORD4, cfa, ra);
    else
        ROW(b, 0, BASE_SP | WORD4, cfa, ra, ra - 8 * (int64_t)kind);
}

/* Where the RA is from SP. */
static uint64_t sizes_slot(const struct sizes *sizes, unsigned site)
{
    const uint64_t step = step_of(sizes, site);

    return sizes->low                ? (uint64_t)LOW_RA
           : HOST_ABI == SFU_AMD64   ? step - 8
           : HOST_ABI == SFU_S390X   ? step + 160 - 48
           : HOST_ABI == SFU_RISCV64 ? step - 8
                                     : step - 24;
}

static uint64_t sizes_pc(unsigned site)
{
    return 0x555555600000 + (uint64_t)CODE + site * (uint64_t)SIZES_APART + 12;
}

static void make_sizes(struct sfu_target *target, const struct sizes *sizes)
{
    memset(&fast, 0, sizeof fast);
    memset(target, 0, sizeof *target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    for (unsigned i = 0; i < SIZES; i++) {
        build_fde(&tables[0].build, CODE + (int64_t)i * SIZES_APART, 32, ADDR1);
        sizes_row(&tables[0].build, sizes, i);
    }
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    target->sections = sfu_fast_sections(&fast);
    target->stack = (struct sfu_stack){stacks[0].bytes, STACK, STACK + STACK_SIZE};
}

/* A trace from each of the functions, whose caller is function 0, and whose CFA is ABOVE bytes below the end of the
 * stack, or behind it. Returns how many steps the core took for them. */
static uint64_t trace_sizes(const struct sfu_target *target, const struct sizes *sizes, int64_t above)
{
    struct stack *s = &stacks[0];
    uint64_t sum = 0;

    for (unsigned i = 0; i < SIZES; i++) {
        const uint64_t step = step_of(sizes, i), below_cfa = HOST_ABI == SFU_S390X ? 160 : 0;
        const uint64_t slot = sizes_slot(sizes, i), sp = STACK_SIZE - (uint64_t)above - step - below_cfa;
        const uint64_t pc = sizes_pc(0);
        struct trace want;
        uint64_t by_core;

        memset(s, 0, sizeof *s);
        for (uint64_t at = sp; at + 16 <= STACK_SIZE; at += 8)
            memcpy(s->bytes + at, &at, 8);
        if (sp + slot + 8 <= STACK_SIZE)
            memcpy(s->bytes + sp + slot, &pc, 8);
        s->top.pc = sizes_pc(i);
        s->top.pc_kind = SFU_PC_RETURN;
        s->top.sp = STACK + sp;
        s->top.fp = STACK + sp + 8;
        want.code = core_trace(target, &s->top, 0, want.pcs, 2, &want.count);
        assert_int_equal(want.count, above >= 0 || HOST_ABI == SFU_S390X ? 2 : 1); /* its SP is below the CFA */
        applied = 0;
        assert_true(same(&fast, target, s, 0, 2, &want, &by_core));
        sum += by_core + applied;
    }
    return sum;
}

/* The same from the low end of a stack that ends so near 2^64 that most CFAs would wrap. Its word cannot be read. */
static void trace_sizes_at_top(struct sfu_target *target)
{
    struct stack *s = &stacks[0];

    target->stack = (struct sfu_stack){(const void *)(UINTPTR_MAX - 2100), STACK + 1024, STACK + 1024 + 8};
    s->top.sp = s->top.fp = STACK + 1024;
    for (unsigned i = 0; i < SIZES; i++) {
        struct trace want;
        uint64_t by_core;

        s->top.pc = sizes_pc(i);
        want.code = core_trace(target, &s->top, 0, want.pcs, 2, &want.count);
        assert_true(same(&fast, target, s, 0, 2, &want, &by_core));
        assert_int_equal(want.count, 1);
    }
}

/* How many rules have a place of their own. */
static unsigned numbered_rules(void)
{
    unsigned used = 0;

    for (unsigned i = 0; i < SFU_FAST_RULES; i++)
        used += fast.rules[i].how != 0;
    return used;
}

/* How many rules have a place of their own when frames of SIZES have been met. */
static unsigned rules_for(const struct sizes *sizes)
{
    struct sfu_target target;

    make_sizes(&target, sizes);
    assert_int_equal(trace_sizes(&target, sizes, 8), 0);
    return numbered_rules();
}

/* Frames of every size for which sfu_fast.h promises an entry take no place of a rule; larger ones and others do. */
static void compare_sizes(bool low)
{
    enum { BELOW_CFA = HOST_ABI == SFU_S390X ? 160 : 0, FIRST = 2048 - BELOW_CFA, LAST = 10224 - BELOW_CFA };
    const int64_t firsts[] = {FIRST, LAST - LARGE_UNIT * (SIZES - 1)};
    struct sfu_target target;

    for (unsigned i = 0; i < 2 * SFU_FAST_LARGE_KINDS; i++) {
        const struct sizes sizes = {firsts[i % 2], LARGE_UNIT, 1 + i / 2, low};

        make_sizes(&target, &sizes);
        for (int64_t above = 16; above >= 0; above -= 8)
            assert_int_equal(trace_sizes(&target, &sizes, above), 0);
        (void)trace_sizes(&target, &sizes, -8);
        assert_int_equal(numbered_rules(), 0);
        trace_sizes_at_top(&target);
    }
    assert_true(rules_for(&(struct sizes){FIRST - 8, LARGE_UNIT, 1, low}) > 100); /* no multiple of 16 */
    assert_true(rules_for(&(struct sizes){FIRST, LARGE_UNIT, SFU_FAST_LARGE_KINDS + 1, low}) > 100);
    for (unsigned i = 0; i < 2; i++) /* all but two are too large */
        assert_true(rules_for(&(struct sizes){LAST - LARGE_UNIT, LARGE_UNIT, 1, low}) > 100);
    for (int64_t step = 120; step < FIRST; step += 8) {
        assert_int_equal(rules_for(&(struct sizes){step, 0, SFU_FAST_KINDS, low}), 0);
        assert_int_equal(rules_for(&(struct sizes){step, 0, SFU_FAST_KINDS + 1, low}), 1);
    }
}

static void test_sizes(void *argument)
{
    (void)argument;
    compare_sizes(false);
    if (HOST_ABI == SFU_AARCH64 || HOST_ABI == SFU_AARCH64_BIG) /* whose compilers save at the lower end */
        compare_sizes(true);
}

static void test_capacities(void *argument)
{
    (void)argument;
    for (uint64_t distance = 4096; distance <= UINT64_C(1) << 30; distance *= 2) {
        compare_layout(&(struct layout){10, 40, 64, distance});
        compare_layout(&(struct layout){10, 40, 64, distance + 4096});
    }
}

/* Functions of one size, each with one call site: such distances have products near a whole number of rounds of the
 * cache, or of halves, thirds and so on. */
static void test_distances(void *argument)
{
    static const unsigned apart[] = {68, 76, 152, 228, 304, 456, 468, 608, 780, 908, 972};

    (void)argument;
    for (unsigned i = 0; i < sizeof apart / sizeof *apart; i++)
        compare_layout(&(struct layout){1, 500, apart[i], 0});
}

/* As many modules as sfu_fast.h says, each in a region of its own; or in two, which the end of a region divides. */
static void test_many_regions(void *argument)
{
    (void)argument;
    compare_layout(&(struct layout){194, 2, 64, 16 << 20});
    compare_layout(&(struct layout){60, 8, 64, (16 << 20) + (1 << 18)});
    compare_layout(&(struct layout){96, 5, 0x20000, UINT64_C(1) << 40});
}

/* Modules as a loader places them: 10 MiB, which two wide regions have, of 16 MiB each for a cache of 4 KiB. */
static void test_near_modules(void *argument)
{
    (void)argument;
    compare_layout(&(struct layout){10, 40, 64, 1 << 20});
    assert_that(fast.num_regions <= 2, "modules are in narrow regions");
}

/* Outermost is what lies in target.final. */
static void test_final(void *argument)
{
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[0].build, CODE, GROUP_SIZE, ADDR2);
    ROW0(&tables[0].build, 0, WORD1);
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    s->top.pc = 0x555555600000 + (uint64_t)CODE + 300;
    s->top.pc_kind = SFU_PC_EXACT;
    s->top.sp = STACK + 1024;
    for (uint64_t low = s->top.pc - 1; low <= s->top.pc + 1; low++) {
        target.final.low = low;
        target.final.high = low + 1;
        want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
        assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
        assert_int_equal(by_core, 0);
        assert_true((want.code == SFU_END) == (low == s->top.pc));
    }
}

/* What broken stacks lead to, at most half of the regions are for. */
static void test_wild(void *argument)
{
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core, own;
    unsigned i;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 32, 0);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, 1024);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    for (i = 0; i < 2 * SFU_FAST_REGIONS; i++) {
        make_ordinary_stack(s, &seed, &tables[0], 32);
        if (i < 2 * SFU_FAST_REGIONS - 1)
            s->top.pc = (i + 1) * UINT64_C(0x10000000000);
        want.code = core_trace(&target, &s->top, 0, want.pcs, 3, &want.count);
        assert_true(same(&fast, &target, s, 0, 3, &want, &by_core));
    }
    own = s->top.pc / (fast.reach / 32) + 1;
    for (i = 0; i < SFU_FAST_REGIONS && fast.regions[i] != own; i++)
        ;
    assert_that(i < SFU_FAST_REGIONS, "no region is left for a section");
}

/* The size of an index of one function of so many rows. */
static size_t index_of(unsigned rows)
{
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[0].build, CODE, GROUP_SIZE, ADDR2);
    for (unsigned i = 0; i < rows; i++)
        ordinary_row(&tables[0].build, i, WORD1, 32);
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    memset(&fast, 0, sizeof fast);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    return sfu_fast_index_size(&images[0]);
}

/* sfu_fast.h says it: 8 bytes for a function of more than 64 rows, and 8 for each 16 rows of it. */
static void test_index_size(void *argument)
{
    const size_t least = index_of(1);

    (void)argument;
    assert_true(least != 0);
    assert_int_equal(index_of(64), least);
    assert_int_equal(index_of(65), least + 8 + 4 * 8);
    assert_int_equal(index_of(80), least + 8 + 4 * 8);
    assert_int_equal(index_of(81), least + 8 + 5 * 8);
}

/* A cache is the greatest power of two that fits, and not below 1 KiB. */
static void test_cache_size(void *argument)
{
    static const struct {
        size_t off, bytes, entries;
    } sizes[] = {{0, 0, 0},       {0, 1023, 0},    {0, 1024, 256},   {0, 2047, 256},  {0, 2048, 512},
                 {0, 8192, 2048}, {1, 8192, 1024}, {1, 8195, 2048},  {3, 1024, 0},    {3, 1025, 256},
                 {0, 1, 0},       {2, 2, 0},       {0, 12288, 2048}, {0, 16384, 4096}};

    (void)argument;
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        memset(&fast, 0, sizeof fast);
        sfu_fast_set_cache(&fast, (char *)cache + sizes[i].off, sizes[i].bytes);
        assert_true((fast.cache == NULL) == (sizes[i].entries == 0));
        assert_true(fast.cache == NULL || fast.mask + 1 == sizes[i].entries);
    }
    memset(fast.regions, 1, sizeof fast.regions); /* of another cache, which this walker had before */
    memset(fast.wide, 1, sizeof fast.wide);
    memset(fast.rules, 1, sizeof fast.rules);
    memset(fast.kinds, 1, sizeof fast.kinds);
    sfu_fast_set_cache(&fast, cache, 2048);
    for (unsigned i = 0; i < SFU_FAST_REGIONS; i++)
        assert_int_equal(fast.regions[i], 0);
    assert_true(fast.wide[0] == 0 && fast.wide[1] == 0);
    for (unsigned i = 0; i < SFU_FAST_KINDS + SFU_FAST_LARGE_KINDS; i++)
        assert_int_equal(fast.kinds[i].how, 0);
    for (unsigned i = 0; i < SFU_FAST_RULES; i++)
        assert_int_equal(fast.rules[i].how, 0);
}

/* Nothing is left of a section that goes in a cache of more than 2^18 entries, either. */
static void test_large_cache(void *argument)
{
    static uint32_t large[1 << 20];
    uint64_t seed = 1, by_core;
    struct sfu_target target;
    struct trace want;
    struct stack *s = &stacks[0];

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    sfu_fast_set_cache(&fast, large, sizeof large);
    for (unsigned i = 0; i < 40; i++) {
        const unsigned step = i % 20 < 10 ? 32 : 40;

        if (i % 10 == 0) {
            (void)sfu_fast_remove(&fast, images, 2);
            make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, step, 0);
            make_ordinary(&tables[1], 0x656555600000, FUNCTIONS, step, 0);
            assert_int_equal(sfu_fast_add(&fast, &images[1], 1, &tables[1].section), SFU_OK);
            assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
        }
        make_ordinary_stack(s, &seed, &tables[0], step);
        target.sections = sfu_fast_sections(&fast);
        target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
    }
}

/* A stack that is full of return addresses: PCS, COUNT of them. */
static void fill_stack(struct stack *s, uint64_t *seed, uint64_t first, uint32_t count)
{
    memset(s, 0, sizeof *s);
    for (unsigned i = 0; i < STACK_SIZE / 8; i++) {
        const uint64_t pc = first + below(seed, count);

        memcpy(s->bytes + 8 * i, &pc, 8);
    }
    s->top.pc = first + below(seed, count);
    s->top.sp = s->top.fp = STACK + 512;
}

/* A section of one function, of one byte, goes: so does what the cache has of that byte. */
static void test_one_byte(void *argument)
{
    uint64_t seed = 1, by_core;
    struct sfu_target target;
    struct trace want;
    struct stack *s = &stacks[0];

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[1].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[1].build, 0x1000, 1, ADDR1);
    ordinary_row(&tables[1].build, 0, WORD1, 32);
    build_end(&tables[1].build);
    tables[1].addr = 0x400000;
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 32, 0);
    assert_int_equal(sfu_open(&tables[1].section, tables[1].build.bytes, tables[1].build.size, tables[1].addr),
                     SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[1], 1, &tables[1].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(i != 2 || sfu_fast_remove(&fast, &images[1], 1));
        fill_stack(s, &seed, tables[1].addr + 0x1001, 1);
        s->top.pc_kind = SFU_PC_RETURN;
        target.sections = sfu_fast_sections(&fast);
        target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
        assert_int_equal(want.count, i < 2 ? DEEP : 1);
    }
}

/* Code at address 0, of two sections that both have it: when one goes, the other's row counts. */
static void test_code_at_zero(void *argument)
{
    uint64_t seed = 1, by_core;
    struct sfu_target target;
    struct trace want;
    struct stack *s = &stacks[0];

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    for (unsigned i = 0; i < 2; i++) {
        build_begin(&tables[i].build, 3, HOST_ABI, BIG_HOST);
        build_fde(&tables[i].build, -0x400000, 0x1000, ADDR1);
        ordinary_row(&tables[i].build, 0, WORD1, i == 0 ? 32 : 48);
        build_end(&tables[i].build);
        assert_int_equal(sfu_open(&tables[i].section, tables[i].build.bytes, tables[i].build.size, 0x400000),
                         SFU_OK);
        assert_int_equal(sfu_fast_add(&fast, &images[i], 1, &tables[i].section), SFU_OK);
    }
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    for (unsigned i = 0; i < 4; i++) {
        assert_true(i != 2 || sfu_fast_remove(&fast, &images[1], 1));
        fill_stack(s, &seed, 1, 1); /* each call is at 0 */
        for (unsigned k = 0; k < STACK_SIZE / 8; k += 1 + below(&seed, 9)) {
            const uint64_t pc = 1 + below(&seed, 0xfff);

            memcpy(s->bytes + 8 * k, &pc, 8);
        }
        target.sections = sfu_fast_sections(&fast);
        target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
        assert_int_equal(want.count, DEEP);
    }
}

/* More checkpoints than 16 bits count: of functions that have as many rows as there can be, one for each byte. */
static void test_many_rows(void *argument)
{
    enum { LARGE = 17, ROWS = 65535, WORDS = HOST_ABI == SFU_AMD64 ? 2 : 3, ROW_BYTES = 2 + 1 + WORDS };
    enum { TABLE = 28 + LARGE * (16 + 5 + ROWS * ROW_BYTES) };
    static uint8_t bytes[TABLE];
    static uint32_t index[1 << 18];
    uint8_t *p = bytes + 28 + LARGE * 16;
    struct sfu_section section;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t seed = 1, by_core;

    (void)argument;
    bytes_put(bytes, 2, BIG_HOST, HOST_ABI > SFU_S390X ? 0x5f75 : 0xdee2); /* docs/format.md, 1 */
    bytes[2] = 3;
    bytes[3] = F_SORTED;
    bytes[4] = HOST_ABI;
    bytes[6] = HOST_ABI == SFU_AMD64 ? 0xf8 : 0;
    bytes_put(bytes + 8, 4, BIG_HOST, LARGE);
    bytes_put(bytes + 12, 4, BIG_HOST, LARGE * ROWS);
    bytes_put(bytes + 16, 4, BIG_HOST, LARGE * (5 + ROWS * ROW_BYTES));
    bytes_put(bytes + 24, 4, BIG_HOST, LARGE * 16);
    for (unsigned i = 0; i < LARGE; i++) {
        bytes_put(bytes + 28 + 16 * i, 8, BIG_HOST, 0x1000000 + i * UINT64_C(65536));
        bytes_put(bytes + 28 + 16 * i + 8, 4, BIG_HOST, ROWS);
        bytes_put(bytes + 28 + 16 * i + 12, 4, BIG_HOST, i * (uint64_t)(5 + ROWS * ROW_BYTES));
        bytes_put(p, 2, BIG_HOST, ROWS);
        p[2] = ADDR2;
        p += 5;
        for (unsigned n = 0; n < ROWS; n++) {
            const int step = 16 + 8 * (int)((n * 7 + i) % 9);

            bytes_put(p, 2, BIG_HOST, n);
            p[2] = (uint8_t)(BASE_SP | WORD1 | WORDS << 1);
            p[3] = (uint8_t)(HOST_ABI == SFU_S390X ? step / 8 : step);
            p[4] = (uint8_t)(HOST_ABI == SFU_AMD64 ? -16 : HOST_ABI == SFU_S390X ? -48 : -step + 8);
            if (WORDS == 3)
                p[5] = (uint8_t)(HOST_ABI == SFU_S390X ? -72 : -step);
            p += ROW_BYTES;
        }
    }
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    assert_int_equal(sfu_open(&section, bytes, TABLE, 0x400000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &section), SFU_OK);
    assert_true(sfu_fast_index_size(&images[0]) > 65536 * 8);
    assert_true(sfu_fast_set_index(&images[0], index, sizeof index));
    for (unsigned i = 0; i < 40; i++) {
        fill_stack(s, &seed, 0x1400000 + 1, LARGE * 65536 - 2);
        target.sections = sfu_fast_sections(&fast);
        target.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
        want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
        assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
        if (want.count != DEEP)
            printf("# trace %u ends after %u frames: %d\n", i, (unsigned)want.count, want.code);
    }
}

/* The smallest stack that there is, of one word. */
static void test_one_word(void *argument)
{
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core, seed = 1;

    (void)argument;
    if (HOST_ABI != SFU_AMD64) /* elsewhere the RA of so small a frame is in its register */
        return;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[0].build, 0x1000, 0x1000, ADDR1);
    ROW(&tables[0].build, 0, BASE_SP | WORD1, 8);
    build_end(&tables[0].build);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].build.bytes, tables[0].build.size, 0x400000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    fill_stack(s, &seed, 0x401001, 0x800);
    s->top.sp = STACK;
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + 8};
    want.code = core_trace(&target, &s->top, 0, want.pcs, 2, &want.count);
    applied = 0;
    assert_true(same(&fast, &target, s, 0, 2, &want, &by_core));
    assert_int_equal(want.count, 2);
    assert_int_equal(by_core, 0);
    assert_int_equal(applied, 0);
}

/* A stack in memory of its own, whose last CFA is where that memory ends: nothing is read there, though FP may be saved
 * anywhere below. */
static void test_exact_stack(void *argument)
{
    enum { FRAMES = 8, SIZE = 32 * FRAMES };
    static uint8_t own[SIZE] __attribute__((aligned(8)));
    struct sfu_target target;
    struct stack *s = &stacks[0];

    (void)argument;
    if (HOST_ABI != SFU_AMD64) /* elsewhere FP is read only if it is saved */
        return;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde(&tables[0].build, 0x1000, 0x1000, ADDR1);
    ROW(&tables[0].build, 0, BASE_SP | WORD1, 32);
    build_end(&tables[0].build);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].build.bytes, tables[0].build.size, 0x400000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    sfu_fast_set_cache(&fast, cache, 1024);
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){own, STACK, STACK + SIZE};
    s->top = (struct sfu_registers){.pc = 0x401800, .sp = STACK, .fp = 1, .pc_kind = SFU_PC_RETURN};
    for (unsigned i = 0; i < 3; i++) {
        uint64_t pcs[FRAMES + 2], ra = 0x401801;
        size_t count;

        for (unsigned k = 0; k < FRAMES; k++, ra++)
            memcpy(own + 32 * k + 24, &ra, 8);
        assert_true(sfu_fast_trace(&fast, &target, &s->top, 0, pcs, FRAMES + 2, &count) != SFU_OK);
        assert_int_equal(count, FRAMES + 1);
        assert_int_equal(pcs[FRAMES], ra - 1);
    }
}

/* A trap frame that says nothing of FP leads onto another stack: there rows count from the FP that there was. */
static void test_kept_fp(void *argument)
{
    const int64_t sp = HOST_SP, fp = HOST_FP, below_cfa = HOST_ABI == SFU_S390X ? 160 : 0;
    const int64_t word = HOST_ABI == SFU_S390X ? 8 : 1;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core, pc, seed = 1;

    (void)argument;
    memset(&fast, 0, sizeof fast);
    memset(&target, 0, sizeof target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    build_fde_more(&tables[0].build, 0x1000, 0x1000, ADDR1 | SIGNAL, FLEX, 0);
    ROW(&tables[0].build, 0, WORD2, AT_REG(sp), (16 - below_cfa) / word, AT_REG(sp), 8);
    build_fde_more(&tables[0].build, 0x2000, 0x1000, ADDR1, FLEX, 0);
    ROW(&tables[0].build, 0, WORD2, REG(fp), (32 - below_cfa) / word, AT_CFA, -8);
    build_end(&tables[0].build);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].build.bytes, tables[0].build.size, 0x400000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    fill_stack(s, &seed, 0x402001, 0x800);
    s->top.pc = 0x401800;
    s->top.pc_kind = SFU_PC_RETURN;
    s->top.sp = STACK + 256;
    s->top.fp = STACK + 5 * 1024 + 512; /* another of find_stack's */
    pc = STACK + 5 * 1024 + 256 + (uint64_t)below_cfa;
    memcpy(s->bytes + 256 + 16, &pc, 8);
    target.find_stack = find_stack;
    target.ctx = s;
    target.sections = sfu_fast_sections(&fast);
    target.stack = (struct sfu_stack){s->bytes, STACK, STACK + 1024};
    want.code = core_trace(&target, &s->top, 0, want.pcs, DEEP, &want.count);
    assert_true(same(&fast, &target, s, 0, DEEP, &want, &by_core));
    assert_true(want.count >= 3);
}

static void refused_sections(void)
{
    struct sfu_section other;
    struct sfu_fast before;

    memset(&fast, 0, sizeof fast);
    assert_int_equal(sfu_fast_add(&fast, images, TABLES, NULL), SFU_E_NO_SECTION);
    assert_false(sfu_fast_remove(&fast, images, TABLES));
    make_ordinary(&tables[0], 0x555555600000, FUNCTIONS, 32, 0);
    make_ordinary(&tables[1], 0x555556600000, FUNCTIONS, 32, 0);
    tables[0].section.next = &tables[1].section;
    before = fast;
    assert_int_equal(sfu_fast_add(&fast, images, 1, &tables[0].section), SFU_E_CONCATENATED);
    assert_memory_equal(&before, &fast, sizeof fast);
    tables[0].section.next = NULL;
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    other = tables[1].section;
    other.abi = HOST_ABI == SFU_AMD64 ? SFU_S390X : SFU_AMD64;
    before = fast;
    assert_int_equal(sfu_fast_add(&fast, &images[1], 1, &other), SFU_E_ABI);
    assert_memory_equal(&before, &fast, sizeof fast);
}

/* An index of images[0], which refused_sections() has added. */
static void refused_memory(void)
{
    size_t bytes, i;

    memset(indexes[0], 0x5a, sizeof indexes[0]);
    bytes = sfu_fast_index_size(&images[0]);
    assert_true(bytes != 0);
    assert_true(bytes <= sizeof indexes[0]);
    assert_false(sfu_fast_set_index(&images[0], indexes[0], bytes - 1));
    assert_true(sfu_fast_set_index(&images[0], indexes[0], bytes));
    for (i = bytes; i < sizeof indexes[0]; i++)
        assert_int_equal(((const uint8_t *)indexes[0])[i], 0x5a);
}

/* What functions return of what they cannot do, and that they do nothing then. An index takes what it said. */
static void test_refusals(void *argument)
{
    (void)argument;
    refused_sections();
    refused_memory();
    tables[1].section.flags &= (uint8_t)~F_SORTED;
    assert_int_equal(sfu_fast_add(&fast, &images[1], 1, &tables[1].section), SFU_OK);
    assert_int_equal(sfu_fast_index_size(&images[1]), 0);
    assert_false(sfu_fast_set_index(&images[1], indexes[1], sizeof indexes[1]));
    assert_false(sfu_fast_remove(&fast, &images[2], TABLES - 2));
    assert_false(sfu_fast_remove(&fast, &images[0], 0));
    assert_ptr_equal(sfu_fast_sections(&fast), &tables[1].section);
    assert_true(sfu_fast_remove(&fast, images, TABLES));
    assert_null(sfu_fast_sections(&fast));
}

/* ---- Many sections ---- */

static struct {
    uint8_t bytes[512];
    struct sfu_section section;
    bool there;
} many[HUNDREDS];
static struct sfu_fast_image many_images[HUNDREDS];

#define MANY_STRIDE UINT64_C(0x4000)
enum { MANY_STEP = 40, MANY_FUNCTIONS = 2 };

static uint64_t many_addr(unsigned i)
{
    return 0x555555600000 + i * MANY_STRIDE;
}

/* Section I: of two functions, with room behind its code. */
static void make_many(unsigned i, enum texts texts)
{
    static struct build build;
    struct sfu_section *s = &many[i].section;

    build_begin(&build, 3, HOST_ABI, BIG_HOST);
    for (unsigned k = 0; k < MANY_FUNCTIONS; k++) {
        build_fde(&build, CODE + (int64_t)k * GROUP_SIZE, GROUP_SIZE, ADDR2);
        ordinary_row(&build, 0, WORD1, MANY_STEP);
    }
    build_end(&build);
    assert_true(build.size <= sizeof many[i].bytes);
    memcpy(many[i].bytes, build.bytes, build.size);
    assert_int_equal(sfu_open(s, many[i].bytes, build.size, many_addr(i)), SFU_OK);
    if (texts == UNKNOWN)
        return;
    assert_int_equal(sfu_find_text(s), SFU_OK);
    s->text.low -= texts == WIDER ? 0x800 : texts == OVER_OTHERS ? 3 * MANY_STRIDE : 0;
    s->text.high += texts == WIDER ? 0x1000 : texts == OVER_OTHERS ? 3 * MANY_STRIDE : 0;
}

static void add_many(unsigned i, enum texts texts)
{
    make_many(i, texts);
    assert_int_equal(sfu_fast_add(&fast, &many_images[i], 1, &many[i].section), SFU_OK);
    many[i].there = true;
}

/* A PC in the code of section I, or in the room around it. */
static uint64_t many_pc(uint64_t *seed, unsigned i, bool outside)
{
    return many_addr(i) + (uint64_t)CODE + 1 +
           (outside ? MANY_FUNCTIONS * GROUP_SIZE + below(seed, MANY_STRIDE - MANY_FUNCTIONS * GROUP_SIZE - 2)
                    : below(seed, 2) * (uint64_t)GROUP_SIZE + 8 * below(seed, 8));
}

/* A stack of frames in sections that are there, if there are any; its last ones lead anywhere. */
static void make_many_stack(struct stack *s, uint64_t *seed)
{
    const unsigned deep = 4 + below(seed, DEEP);

    memset(s, 0, sizeof *s);
    s->top.sp = s->top.fp = STACK + 1024;
    for (unsigned i = 0; i < LONG_TRACE; i++) {
        unsigned which = below(seed, MANY), try;
        uint64_t pc;

        for (try = 0; try < 20 && i < deep && !many[which].there; try++)
            which = below(seed, MANY);
        pc = many_pc(seed, which, i >= deep && once_in(seed, 2));
        memcpy(s->bytes + 1024 + i * MANY_STEP + slot_of(MANY_STEP), &pc, 8);
        if (i == 0)
            s->top.pc = pc;
    }
    s->top.pc_kind = SFU_PC_RETURN;
}

/* Adds some that are not there, or removes some that are. */
static void change_many(uint64_t *seed, enum texts texts)
{
    const unsigned first = below(seed, MANY);
    unsigned count = 1, i;
    struct sfu_section *list = NULL;
    const bool there = many[first].there;

    while (first + count < MANY && count < 5 && many[first + count].there == there && !once_in(seed, 3))
        count++;
    for (i = count; i > 0; i--) {
        const enum texts own = texts == OVER_OTHERS && !once_in(seed, 10) ? EXACT : texts;

        many[first + i - 1].there = !there;
        if (there)
            continue;
        make_many(first + i - 1, own);
        many[first + i - 1].section.next = list;
        list = &many[first + i - 1].section;
    }
    if (there)
        assert_true(sfu_fast_remove(&fast, &many_images[first], count));
    else
        assert_int_equal(sfu_fast_add(&fast, &many_images[first], count, list), SFU_OK);
}

static bool compare_many(const struct sfu_target *target, const struct stack *s)
{
    struct trace want;
    uint64_t by_core;

    want.code = core_trace(target, &s->top, 0, want.pcs, MAX_PCS, &want.count);
    return same(&fast, target, s, 0, MAX_PCS, &want, &by_core);
}

static void begin_many(struct sfu_target *target, size_t room, size_t cache_bytes)
{
    memset(&fast, 0, sizeof fast);
    memset(many, 0, sizeof many);
    memset(target, 0, sizeof *target);
    sfu_fast_set_order(&fast, order, room * sizeof *order);
    sfu_fast_set_cache(&fast, cache, cache_bytes);
}

static void aim_many(struct sfu_target *target, const struct stack *s)
{
    target->sections = sfu_fast_sections(&fast);
    target->stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
}

/* Sections come and go; there is room for all in the order, or for fewer. Nothing is written behind that. */
static void test_many(void *argument)
{
    const struct given *given = argument;
    uint64_t seed = 1 + (uint64_t)given->texts + given->room;
    struct sfu_target target;
    bool fits = true;

    begin_many(&target, given->room, 4096);
    order[given->room] = &images[0];
    for (unsigned i = 0; i < 400; i++) {
        change_many(&seed, given->texts);
        if (given->room < MANY && i % 40 == 39)
            sfu_fast_set_order(&fast, order, given->room * sizeof *order);
        fits = fits && order[given->room] == &images[0];
        for (unsigned k = 0; k < 4; k++) {
            struct stack *s = &stacks[below(&seed, 8)];

            if (i < 2 || once_in(&seed, 3))
                make_many_stack(s, &seed);
            aim_many(&target, s);
            assert_true(compare_many(&target, s));
        }
    }
    assert_true(fits);
    assert_true(given->room < MANY || fast.ordered > 0);
}

/* A PC that no section has lies in the text of one that reaches over others: of three, the first or the last has
 * such a text. They come in any order. The one between has a text that is not known, and
 * may go again. */
static void test_texts(void *argument)
{
    static const unsigned turns[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t seed = 1;
    struct sfu_target target;
    struct stack *s = &stacks[0];

    (void)argument;
    for (unsigned n = 0; n < 6 * 2 * 2; n++) {
        const unsigned reaching = n / 6 % 2 == 0 ? 0 : 2;
        const bool goes = n / 12 == 1;

        begin_many(&target, MANY, 0);
        for (unsigned i = 0; i < 3; i++) {
            const unsigned which = turns[n % 6][i], at = 10 + which;

            make_many(at, which == reaching ? OVER_OTHERS : which == 1 && goes ? UNKNOWN : EXACT);
            assert_int_equal(sfu_fast_add(&fast, &many_images[at], 1, &many[at].section), SFU_OK);
        }
        assert_true(!goes || sfu_fast_remove(&fast, &many_images[11], 1));
        make_many_stack(s, &seed);
        for (unsigned i = 7; i < 15; i++) {
            s->top.pc = many_pc(&seed, i, true);
            aim_many(&target, s);
            assert_true(compare_many(&target, s));
        }
    }
}

/* What the cache has of some sections stays when others come and go; what it has of those that go, goes. */
static void test_kept(void *argument)
{
    static uint64_t before[512];
    uint64_t seed = 1;
    struct sfu_target target;
    unsigned i, k;

    (void)argument;
    begin_many(&target, MANY, sizeof before);
    for (i = 0; i < MANY; i += 2)
        add_many(i, EXACT);
    for (i = 0; i < 4; i++)
        make_many_stack(&stacks[i], &seed);
    for (i = 0; i < 40; i++) {
        aim_many(&target, &stacks[i % 4]);
        assert_true(compare_many(&target, &stacks[i % 4]));
    }
    memcpy(before, cache, sizeof before);
    for (i = 1; i < MANY; i += 2) {
        make_many(i, EXACT);
        assert_int_equal(sfu_fast_add(&fast, &many_images[i], 1, &many[i].section), SFU_OK);
        assert_true(i % 4 != 1 || sfu_fast_remove(&fast, &many_images[i], 1));
    }
    for (i = 0, k = 0; i < 2 * 512; i++) {
        const uint32_t entry = ((const uint32_t *)cache)[i], was = ((const uint32_t *)before)[i];

        assert_true(entry == was || entry % 4096 == 4095);
        k += entry != was;
    }
    assert_true(k <= 4); /* at most those of where each trace ended */

    for (i = 0; i < MANY; i += 2) { /* nothing is left of what goes */
        fast.busy = i % 4 == 0; /* somebody writes, and the next change comes before the entries are taken out */
        assert_true(sfu_fast_remove(&fast, &many_images[i], 1));
        many[i].there = false;
        if (fast.busy != 0 && i + 2 < MANY)
            continue;
        fast.busy = 0;
        aim_many(&target, &stacks[i / 2 % 4]);
        assert_true(compare_many(&target, &stacks[i / 2 % 4]));
    }
}

/* More sections than a byte counts: added in another order than that of their addresses; then some go. */
static void test_hundreds(void *argument)
{
    static struct sfu_fast_image *room[HUNDREDS];
    uint64_t seed = 1;
    struct sfu_target target;
    struct stack *s = &stacks[0];
    unsigned i;

    (void)argument;
    begin_many(&target, 0, 4096);
    memset(room, 0x5a, sizeof room); /* no pointer: nobody follows what was not put in */
    sfu_fast_set_order(&fast, room, sizeof room);
    for (i = 0; i < HUNDREDS; i++)
        add_many(i * 7 % HUNDREDS, EXACT); /* 7 and HUNDREDS have no factor in common */
    for (i = 0; i < 2 * HUNDREDS; i++) {
        const unsigned at = i % HUNDREDS;

        if (i >= HUNDREDS && i % 8 == 0) {
            many[at].there = false;
            assert_true(sfu_fast_remove(&fast, &many_images[at], 1));
        }
        make_many_stack(s, &seed);
        s->top.pc = many_pc(&seed, at, once_in(&seed, 4));
        aim_many(&target, s);
        assert_true(compare_many(&target, s));
    }
    for (i = 1; i < fast.ordered && room[i - 1]->low < room[i]->low; i++)
        ;
    assert_int_equal(i, HUNDREDS - HUNDREDS / 8);
    assert_int_equal(i, fast.ordered);
    sfu_fast_set_order(&fast, room, sizeof room); /* anew, of those that are there */
    assert_int_equal(fast.ordered, i);
}

/* One function in each 64 bytes of a section, and a small cache. */
enum {
    MOVED_SITES = 250,
    MOVED_APART = 64,
    MOVED_BYTES = 1024,
    MOVED_ENTRIES = MOVED_BYTES / 4,
    MOVED_TRACES = 512
};

static struct sfu_target moved_target;

static void make_moved(void)
{
    memset(&fast, 0, sizeof fast);
    memset(&moved_target, 0, sizeof moved_target);
    build_begin(&tables[0].build, 3, HOST_ABI, BIG_HOST);
    for (unsigned i = 0; i < MOVED_SITES; i++) {
        build_fde(&tables[0].build, CODE + (int64_t)i * MOVED_APART, 32, ADDR1);
        ordinary_row(&tables[0].build, 0, WORD1, 32);
    }
    build_end(&tables[0].build);
    memcpy(tables[0].bytes, tables[0].build.bytes, tables[0].build.size);
    assert_int_equal(sfu_open(&tables[0].section, tables[0].bytes, tables[0].build.size, 0x555555600000), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, &tables[0].section), SFU_OK);
    moved_target.sections = sfu_fast_sections(&fast);
    moved_target.stack = (struct sfu_stack){stacks[0].bytes, STACK, STACK + STACK_SIZE};
    memset(&stacks[0], 0, sizeof stacks[0]);
}

/* A trace whose topmost PC is that of SITE and the only one that is looked up. */
static void trace_moved(unsigned site, unsigned turn)
{
    struct stack *s = &stacks[0];
    struct trace want;
    uint64_t by_core;

    s->top.pc = 0x555555600000 + (uint64_t)CODE + site * MOVED_APART + 12;
    s->top.sp = STACK + 512 + 8 * (uint64_t)turn;
    s->top.pc_kind = SFU_PC_EXACT;
    want.code = core_trace(&moved_target, &s->top, 0, want.pcs, 2, &want.count);
    assert_true(same(&fast, &moved_target, s, 0, 2, &want, &by_core));
    assert_int_equal(want.count, 2);
}

/* Where the cache has ENTRY: or, if that is empty, where it has any; MOVED_ENTRIES: nowhere. */
static unsigned find_entry(uint32_t entry)
{
    enum { EMPTY_ENTRY = 4095 };
    unsigned i = 0;

    while (i < MOVED_ENTRIES && (entry == EMPTY_ENTRY ? fast.cache[i] == entry : fast.cache[i] != entry))
        i++;
    return i;
}

/* Traces of one site, or of two in turn, from different places of the stack. Returns how many changed the cache. */
static unsigned trace_in_turn(unsigned one, unsigned other)
{
    static uint32_t before[MOVED_ENTRIES];
    unsigned changed = 0;

    for (unsigned i = 0; i < MOVED_TRACES; i++) {
        memcpy(before, fast.cache, sizeof before);
        trace_moved(i % 2 == 0 ? one : other, i);
        changed += memcmp(before, fast.cache, sizeof before) != 0;
    }
    return changed;
}

/* Of two PCs that have the same place, the one that traces meet is moved there, by few traces, and by none while others
 * write. The other stays. */
static void test_moved(void *argument)
{
    static unsigned first[MOVED_SITES];
    unsigned one = 0, other = MOVED_SITES, i, changed;
    uint32_t of_one, of_other;

    (void)argument;
    make_moved();
    for (i = 0; i < MOVED_SITES && other == MOVED_SITES; i++) {
        sfu_fast_set_cache(&fast, cache, MOVED_BYTES);
        trace_moved(i, 0);
        first[i] = find_entry(4095);
        for (one = 0; one < i && first[one] != first[i]; one++)
            ;
        if (one < i)
            other = i;
    }
    assert_true(other != MOVED_SITES);
    sfu_fast_set_cache(&fast, cache, MOVED_BYTES);
    trace_moved(one, 0);
    trace_moved(other, 0);
    of_one = fast.cache[first[one]];
    for (i = 0; i < MOVED_ENTRIES && (fast.cache[i] == 4095 || fast.cache[i] == of_one); i++)
        ;
    assert_true(i != MOVED_ENTRIES);
    of_other = fast.cache[i];
    fast.busy = 1;
    assert_int_equal(trace_in_turn(other, other), 0);
    fast.busy = 0;
    assert_int_equal(trace_in_turn(other, other), 1);
    assert_int_equal(find_entry(of_other), first[one]);
    assert_int_equal(find_entry(of_one), i);
    changed = trace_in_turn(one, other);
    assert_true(changed > 0);
    assert_true(changed <= MOVED_TRACES / 4);
    assert_true(find_entry(of_one) < MOVED_ENTRIES);
    assert_true(find_entry(of_other) < MOVED_ENTRIES);
}

static void test_memory(void *argument)
{
    (void)argument;
    assert_true(stacks != MAP_FAILED);
    assert_true((uintptr_t)stacks >> 34 != 0);
}

static struct {
    const char *name;
    void (*run)(void *argument);
    struct given given;
} tests[] = {
    {"the short way, without a cache", test_short_way, {.cached = false}},
    {"the short way, with an index", test_short_way, {.indexed = true}},
    {"the short way, with a cache", test_short_way, {.cached = true}},
    {"onto other stacks, without a cache", test_switches, {.cached = false}},
    {"onto other stacks, with a cache", test_switches, {.cached = true}},
    {"a stack by a callback, without a cache", test_remote, {.cached = false}},
    {"a stack by a callback, with a cache", test_remote, {.cached = true}},
    {"a long trace", test_long, {0}},
    {"ends of stacks", test_edges, {0}},
    {"sections that touch", test_touching, {0}},
    {"where regions of code meet", test_regions, {0}},
    {"frame records", test_records, {0}},
    {"modules at every distance share the cache", test_capacities, {0}},
    {"functions of one size share the cache", test_distances, {0}},
    {"modules in 194 regions share the cache", test_many_regions, {0}},
    {"modules near each other are in wide regions", test_near_modules, {0}},
    {"frames of many sizes", test_sizes, {0}},
    {"the PC behind a region", test_behind_region, {0}},
    {"the PC behind a narrow region", test_behind_narrow_region, {0}},
    {"another trace meets the first region", test_first_region, {0}},
    {"regions of no code", test_wild, {0}},
    {"many sections in order, texts unknown", test_many, {.texts = UNKNOWN, .room = MANY}},
    {"many sections in order", test_many, {.texts = EXACT, .room = MANY}},
    {"many sections in order, wider texts", test_many, {.texts = WIDER, .room = MANY}},
    {"many sections in order, texts that overlap", test_many, {.texts = OVER_OTHERS, .room = MANY}},
    {"more sections than the order has room for", test_many, {.texts = EXACT, .room = MANY / 2}},
    {"hundreds of sections in order", test_hundreds, {0}},
    {"texts that reach over other sections", test_texts, {0}},
    {"entries of other sections", test_kept, {0}},
    {"outermost frames", test_final, {0}},
    {"sums that would wrap", test_wraps, {0}},
    {"a stack that ends near 2^64", test_top, {.cached = false}},
    {"the same, cached", test_top, {.cached = true}},
    {"the size of an index", test_index_size, {0}},
    {"the size of a cache", test_cache_size, {0}},
    {"a large cache", test_large_cache, {0}},
    {"a function of one byte", test_one_byte, {0}},
    {"code at 0", test_code_at_zero, {0}},
    {"more than 2^20 rows", test_many_rows, {0}},
    {"a stack of one word", test_one_word, {0}},
    {"a stack in memory of its own", test_exact_stack, {0}},
    {"FP on another stack", test_kept_fp, {0}},
    {"what is refused", test_refusals, {0}},
    {"entries move to where they are tried first", test_moved, {0}},
};

struct rounds {
    uint64_t count, first;
};

static void test_rounds(void *argument)
{
    const struct rounds *rounds = argument;

    steps = 0;
    for (uint64_t i = 0; i < rounds->count; i++)
        round_of(rounds->first + i * UINT64_C(1000003));
    printf("# %llu traces, %llu frames, %llu arrays full, %llu long traces, %llu steps of the core\n",
           (unsigned long long)traces, (unsigned long long)frames, (unsigned long long)full,
           (unsigned long long)longer, (unsigned long long)steps);
    assert_that(steps <= frames / 2, "too few frames by the short way to say something of it");
    assert_that(longer >= traces / 8, "too few frames to say something of the short way");
}

int main(int argc, char **argv)
{
    struct rounds rounds = {argc > 1 ? strtoull(argv[1], NULL, 0) : 300, argc > 2 ? strtoull(argv[2], NULL, 0) : 1};
    int failed = 0;

    stacks = mmap(NULL, STACKS * sizeof *stacks, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (check_case("memory for stacks", test_memory, NULL) != 0)
        return 1;
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        failed += check_case(tests[i].name, tests[i].run, &tests[i].given);
    return failed != 0 || check_case("traces are the core's", test_rounds, &rounds) != 0;
}
