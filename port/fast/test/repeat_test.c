/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * repeat_test [STACKS]: what sfu_repeat_trace remembers, beside the core: after a change of any word of a stack, of any
 * register, of the target or of the sections, a trace is the core's. A word that the core does not read does not
 * matter. Built with ThreadSanitizer, too.
 */
#include <limits.h>
#include <pthread.h>

#include "sfu_profile.h"
#include "sfu_repeat.h"
#include "random_tables.h"
#include "test/lib/check.h"

enum { ROOM = 8 * MAX_PCS, TRIES = 2 * SFU_REPEAT_TIMES, BASES = 0x1000000 };

static unsigned stacks = 60;
static struct table tables[2];
static struct sfu_fast fast;
static struct sfu_fast_image images[2];
static struct sfu_section sections[2];
static uint64_t cache[1024];
/* Aligned: other words are not remembered. */
static union {
    struct stack s;
    uint64_t align;
} stack;

/* One that remembers, and its memory. */
struct state {
    struct sfu_repeat r;
    uint64_t memory[ROOM];
};

static struct state state;
static unsigned core_steps;

int __real_sfu_walk_step(struct sfu_walk *walk);
int __wrap_sfu_walk_step(struct sfu_walk *walk);

int __wrap_sfu_walk_step(struct sfu_walk *walk)
{
    __atomic_fetch_add(&core_steps, 1, __ATOMIC_RELAXED);
    return __real_sfu_walk_step(walk);
}

static void add_table(unsigned i)
{
    struct sfu_section *list = NULL;

    assert_int_equal(sfu_add(&list, &sections[i], 1, tables[i].bytes, tables[i].build.size, tables[i].addr),
                     SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[i], 1, list), SFU_OK);
}

static void add_tables(void)
{
    unsigned i;

    memset(&fast, 0, sizeof fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    for (i = 0; i < 2; i++)
        if (tables[i].good)
            add_table(i);
}

/* Makes tables and a stack by SEED. */
static struct sfu_target make(uint64_t *seed)
{
    struct sfu_target t;
    unsigned i;

    for (i = 0; i < 2; i++)
        do
            make_table(&tables[i], seed, BASES * (i + 1), false);
        while (!tables[i].good);
    add_tables();
    make_stack(&stack.s, seed, tables, 2);
    stack.s.top.sp &= ~UINT64_C(7);
    memset(&t, 0, sizeof t);
    t.stack = (struct sfu_stack){stack.s.bytes, STACK, STACK + STACK_SIZE};
    t.sections = sfu_fast_sections(&fast);
    return t;
}

/* A trace by R is the core's. */
static void check_one(struct sfu_repeat *r, const struct sfu_target *t, const struct sfu_registers *top,
                      size_t skip, size_t capacity)
{
    uint64_t got[MAX_PCS], want[MAX_PCS];
    size_t got_count, want_count;
    int code = sfu_repeat_trace(r, &fast, t, top, skip, got, capacity, &got_count);
    int want_code = core_trace(t, top, skip, want, capacity, &want_count);

    if (code == want_code && got_count == want_count && memcmp(got, want, got_count * 8) == 0)
        return;
    explain_trace(t, top, skip, got, got_count, code, want, want_count, want_code);
    check_fail(__FILE__, __LINE__, "a trace is not the core's");
}

/* Whether R remembers the trace after it has come often enough. */
static bool remembers(struct state *s, const struct sfu_target *t, const struct sfu_registers *top, size_t skip,
                      size_t capacity)
{
    unsigned i;

    sfu_repeat_init(&s->r, s->memory, ROOM);
    for (i = 0; i < TRIES && !s->r.known; i++)
        check_one(&s->r, t, top, skip, capacity);
    return s->r.known;
}

/* The same trace again, as the state was in KEPT. */
static void check_after(const struct state *kept, const struct sfu_target *t, const struct sfu_registers *top,
                        size_t skip, size_t capacity)
{
    state = *kept;
    check_one(&state.r, t, top, skip, capacity);
}

/* ---- What a trace depends on ---- */

static uint64_t read_words[3 * MAX_PCS + 8];
static unsigned num_read;

static int note_word(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    (void)ctx;
    assert_true(num_read < sizeof read_words / sizeof read_words[0]);
    read_words[num_read++] = addr;
    memcpy(buffer, stack.s.bytes + (addr - STACK), len);
    return 0;
}

/* Fills in which words the core reads. */
static void note_words(const struct sfu_target *target, const struct sfu_registers *top)
{
    struct sfu_target t = *target;
    uint64_t pcs[MAX_PCS];
    size_t count;

    num_read = 0;
    t.stack.bytes = NULL;
    t.read = note_word;
    (void)core_trace(&t, top, 0, pcs, MAX_PCS, &count);
}

static bool is_read(uint64_t addr)
{
    unsigned i = 0;

    while (i < num_read && read_words[i] != addr)
        i++;
    return i < num_read;
}

/* Each word of the stack, changed in one bit or to a word of another place. */
static void change_words(uint64_t *seed, const struct state *kept, const struct sfu_target *t)
{
    size_t i;

    note_words(t, &stack.s.top);
    for (i = 0; i < STACK_SIZE; i += 8) {
        uint64_t was, word;

        if (!is_read(STACK + i) && !once_in(seed, 16))
            continue;
        memcpy(&was, stack.s.bytes + i, 8);
        memcpy(&word, stack.s.bytes + 8 * below(seed, STACK_SIZE / 8), 8);
        if (word == was || once_in(seed, 2))
            word = was ^ UINT64_C(1) << below(seed, 64);
        memcpy(stack.s.bytes + i, &word, 8);
        check_after(kept, t, &stack.s.top, 0, MAX_PCS);
        assert_int_equal(state.r.known, !is_read(STACK + i));
        memcpy(stack.s.bytes + i, &was, 8);
        check_after(kept, t, &stack.s.top, 0, MAX_PCS);
        assert_true(state.r.known);
    }
}

/* Each register. What is not known of the link register does not count. */
static void change_registers(uint64_t *seed, const struct state *kept, const struct sfu_target *t)
{
    unsigned which;

    for (which = 0; which < 6; which++) {
        struct sfu_registers top = stack.s.top;

        top.pc += which == 0 ? 1 + below(seed, 64) : 0;
        top.sp += which == 1 ? 8 : 0;
        top.fp += which == 2 ? 8 : 0;
        top.ra += which == 3 ? 4 : 0;
        top.has_ra = which == 4 ? !top.has_ra : top.has_ra;
        if (which == 5)
            top.pc_kind = top.pc_kind == SFU_PC_EXACT ? SFU_PC_RETURN : SFU_PC_EXACT;
        check_after(kept, t, &top, 0, MAX_PCS);
        assert_int_equal(state.r.known, which == 3 && !top.has_ra);
    }
}

static bool no_stack(void *ctx, sfu_addr addr, struct sfu_stack *s)
{
    (void)ctx;
    (void)addr;
    (void)s;
    return false;
}

static bool no_original(void *ctx, const struct sfu_frame *frame, sfu_addr slot, sfu_addr *ra)
{
    (void)ctx;
    (void)frame;
    (void)slot;
    *ra += 4;
    return true;
}

static int some_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    (void)ctx;
    (void)frame;
    *value = STACK + 8 * (reg & 31);
    return 0;
}

static int ends(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    (void)frame;
    (void)code;
    (void)interrupted;
    return SFU_END;
}

/* Ones that do not know, now. */
static int no_register(void *ctx, const struct sfu_frame *frame, uint32_t reg, sfu_addr *value)
{
    (void)ctx;
    (void)frame;
    (void)reg;
    (void)value;
    return -1;
}

static int knows_nothing(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    (void)ctx;
    (void)frame;
    (void)interrupted;
    return code;
}

static struct stack copied;

/* Each member of the target that decides something. */
static void change_target(const struct state *kept, const struct sfu_target *target)
{
    unsigned which;

    memcpy(&copied, &stack.s, sizeof copied);
    memset(copied.bytes + (stack.s.top.sp - STACK), 0, STACK_SIZE - (stack.s.top.sp - STACK));
    for (which = 0; which < 17; which++) {
        struct sfu_target t = *target;

        switch (which) {
        case 0:
            t.sections = NULL;
            break;
        case 1:
            t.stack.low = stack.s.top.sp + 8;
            t.stack.bytes = stack.s.bytes + (t.stack.low - STACK);
            break;
        case 2:
            t.stack.high = stack.s.top.sp + 64;
            break;
        case 3:
            t.stack.bytes = copied.bytes;
            break;
        case 4:
            t.find_stack = no_stack;
            break;
        case 5:
            t.original_ra = no_original;
            break;
        case 6:
            t.reg = some_register;
            break;
        case 7:
            t.trap_hook = ends;
            break;
        case 8:
            t.final = (struct sfu_range){1, 2};
            break;
        case 9:
            t.pac_mask = ~(UINT64_C(1) << 55) & ~UINT64_C(0xffff);
            break;
        case 10:
            t.max_frames = 3;
            break;
        case 11:
            t.red_zone = 128;
            break;
        case 12:
            t.max_switches = 1;
            break;
        case 13:
            t.frame_pointers = true;
            break;
        case 14:
            t.final.high = 1;
            break;
        case 15:
            t.stack.low += 8; /* of the same bytes */
            break;
        default:
            t.ctx = &copied;
            break;
        }
        check_after(kept, &t, &stack.s.top, 0, MAX_PCS);
        assert_false(state.r.known);
    }
    check_after(kept, target, &stack.s.top, 1, MAX_PCS);
    assert_false(state.r.known);
    check_after(kept, target, &stack.s.top, 0, MAX_PCS - 1);
    assert_false(state.r.known);
}

/* Sections that come and go. The list is FAST's at each trace. */
static void change_sections(const struct state *kept, const struct sfu_target *target)
{
    struct sfu_target t = *target;

    (void)sfu_fast_remove(&fast, &images[0], 1); /* the last of the list, whose head stays */
    check_after(kept, &t, &stack.s.top, 0, MAX_PCS);
    assert_false(state.r.known);
    add_table(0);
    check_after(kept, &t, &stack.s.top, 0, MAX_PCS);
    assert_false(state.r.known);
    t.sections = sfu_fast_sections(&fast);
    check_after(kept, &t, &stack.s.top, 0, MAX_PCS);
    assert_false(state.r.known);
}

static void test_changes(void **unused)
{
    static struct state kept;
    unsigned known = 0, frames = 0, i;

    (void)unused;
    for (i = 0; i < stacks; i++) {
        uint64_t seed = i + 1;
        struct sfu_target t = make(&seed);

        t.red_zone = once_in(&seed, 3) ? 64 : 0;
        if (!remembers(&state, &t, &stack.s.top, 0, MAX_PCS))
            continue;
        known++;
        frames += (unsigned)state.r.count;
        kept = state;
        change_words(&seed, &kept, &t);
        change_registers(&seed, &kept, &t);
        change_target(&kept, &t);
        change_sections(&kept, &t);
    }
    check_say("%u of %u stacks remembered, %u frames", known, stacks, frames);
    assert_true(known > stacks / 2 && frames > 8 * known);
}

/* The same while the cache still has what a change made wrong, because somebody who was interrupted writes to it: the
 * traces are those of the sections that are there. */
static void test_stale_cache(void **unused)
{
    static struct state kept;
    unsigned i, known = 0;

    (void)unused;
    for (i = 0; i < stacks && known < 4; i++) {
        uint64_t seed = i + 5000;
        struct sfu_target t = make(&seed);

        fast.busy = 1;
        (void)sfu_fast_remove(&fast, &images[0], 1);
        add_table(0);
        t.sections = sfu_fast_sections(&fast);
        if (remembers(&state, &t, &stack.s.top, 0, MAX_PCS)) {
            known++;
            kept = state;
            change_sections(&kept, &t);
        }
        fast.busy = 0;
    }
    assert_int_equal(known, 4);
}

/* Any part of a trace, and one that does not fit. */
static void test_parts(void **unused)
{
    unsigned i, known = 0;

    (void)unused;
    for (i = 0; i < stacks; i++) {
        uint64_t seed = i + 1000;
        struct sfu_target t = make(&seed);
        const size_t skip = below(&seed, 8), capacity = below(&seed, MAX_PCS + 1);
        unsigned times;
        size_t words;

        if (!remembers(&state, &t, &stack.s.top, skip, capacity))
            continue;
        known++;
        check_one(&state.r, &t, &stack.s.top, skip, capacity);
        assert_true(state.r.known);
        words = state.r.count + 2 * state.r.pairs;
        state.memory[words] = 0x5afe;
        sfu_repeat_init(&state.r, state.memory, once_in(&seed, 3) ? words : below(&seed, (uint32_t)words + 1));
        for (times = 0; times <= SFU_REPEAT_TIMES; times++)
            check_one(&state.r, &t, &stack.s.top, skip, capacity);
        assert_int_equal(state.r.known, state.r.room == words);
        assert_int_equal(state.memory[words], 0x5afe);
    }
    assert_true(known > stacks / 2);
}

/* ---- Long traces, and where things end ---- */

enum { LONG = 600, STEP = 32, PAST = 300 };
/* From a frame's place on, that of its return address, and of the byte there that counts least. */
enum {
    RA_AT = HOST_ABI == SFU_AMD64   ? STEP - 8
            : HOST_ABI == SFU_S390X ? STEP + 160 - 48
                                    : 8,
    RA_BYTE = HOST_ABI == SFU_S390X ? RA_AT + 7 : RA_AT
};

static uint64_t base = BASES; /* of the only table */

/* Ends B, the build of table 0, which no other is beside. */
static void add_only_table(struct build *b)
{
    build_end(b);
    memcpy(tables[0].bytes, b->bytes, b->size);
    tables[0].addr = base;
    tables[0].good = true;
    tables[1].good = false;
    add_tables();
}

/* One function, whose frames are STEP, on a stack of LONG of them that ends just behind the last word that is read. */
static struct sfu_target make_long(struct sfu_registers *top)
{
    struct build *b = &tables[0].build;
    struct sfu_target t;
    unsigned i;

    build_begin(b, 3, HOST_ABI, BIG_HOST);
    build_fde_more(b, -0x100000, 64, ADDR1, FLEX, 0);
    ROW(b, 0, WORD1, REG(HOST_SP), HOST_ABI == SFU_S390X ? STEP / 8 : STEP, AT_CFA,
        (int64_t)RA_AT - STEP - (HOST_ABI == SFU_S390X ? 160 : 0));
    add_only_table(b);
    memset(&t, 0, sizeof t);
    memset(top, 0, sizeof *top);
    memset(stack.s.bytes, 0, STACK_SIZE);
    for (i = 0; i < LONG; i++) {
        const uint64_t pc = base - 0x100000 + 2 + i % 60;

        memcpy(stack.s.bytes + i * STEP + RA_AT, &pc, 8);
    }
    t.stack = (struct sfu_stack){stack.s.bytes, STACK, STACK + LONG * STEP + (HOST_ABI == SFU_S390X ? 160 : 0)};
    t.sections = sfu_fast_sections(&fast);
    t.max_frames = 2 * LONG;
    top->pc = base - 0x100000 + 4;
    top->sp = STACK;
    return t;
}

/* A trace by R, without its first SKIP frames, which has COUNT of them, is the core's. */
static void check_long(struct sfu_repeat *r, const struct sfu_target *t, const struct sfu_registers *top,
                       size_t skip, size_t capacity, size_t count)
{
    static uint64_t got[LONG + 1], want[LONG + 1];
    size_t got_count, want_count;
    const int want_code = core_trace(t, top, skip, want, capacity, &want_count);

    assert_int_equal(sfu_repeat_trace(r, &fast, t, top, skip, got, capacity, &got_count), want_code);
    assert_int_equal(want_count, count);
    assert_int_equal(got_count, count);
    assert_memory_equal(got, want, count * 8);
}

/* More PCs, frames left out and words than a byte counts, up to the end of the stack; and no word at all, but as many
 * PCs as there is room for. A word of the first frame, of the last one and of one between counts. */
static void test_long(void **unused)
{
    static uint64_t words[7 * (LONG + 1)];
    const size_t skips[] = {0, PAST, 0, 0}, capacities[] = {LONG + 1, PAST, PAST, 1}, rooms[] = {0, 0, 0, 1};
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned which, i;

    (void)unused;
    for (which = 0; which < sizeof skips / sizeof skips[0]; which++) {
        const size_t skip = skips[which], count = capacities[which];

        sfu_repeat_init(&state.r, words, rooms[which] != 0 ? rooms[which] : sizeof words / 8);
        for (i = 0; i <= SFU_REPEAT_TIMES; i++)
            check_long(&state.r, &t, &top, skip, count, count);
        assert_true(state.r.known);
        core_steps = 0;
        check_long(&state.r, &t, &top, skip, count, count);
        assert_true(core_steps <= skip + count); /* the core's trace alone */
        for (i = 0; i < 3 && state.r.pairs > 0; i++) {
            uint64_t *word = (uint64_t *)(uintptr_t)words[count + 2 * (i * (state.r.pairs - 1) / 2)];

            *word ^= 1;
            check_long(&state.r, &t, &top, skip, count, count);
            assert_false(state.r.known);
            *word ^= 1;
            while (!state.r.known)
                check_long(&state.r, &t, &top, skip, count, count);
        }
    }
    assert_int_equal(state.r.pairs, 0);
}

/* Each byte of a word counts: the return addresses of a kernel have no byte that is 0. */
static void test_kernel(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t;
    bool known;

    (void)unused;
    base = UINT64_C(0xffffffff81a10000);
    t = make_long(&top);
    base = BASES;
    known = remembers(&state, &t, &top, 0, MAX_PCS);
    assert_true(known && state.r.count == MAX_PCS);
}

/* A trace that has come as often as it had to, before it did not come, need not come more often the next time. What the
 * memory had before counts for nothing. */
static void test_again(void **unused)
{
    struct sfu_registers top, other;
    struct sfu_target t = make_long(&top);
    unsigned more, i;

    (void)unused;
    for (more = 0; more < 2; more++) {
        memset(&state.r, 0, sizeof state.r);
        for (i = 0; i < SFU_REPEAT_STACKS; i++) {
            state.r.answers[i].found = true;
            state.r.answers[i].stack = (struct sfu_stack){copied.bytes, STACK, STACK + STACK_SIZE};
        }
        assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
        for (i = 0; i < SFU_REPEAT_TIMES - 1 + more; i++)
            check_one(&state.r, &t, &top, 0, MAX_PCS);
        other = top;
        other.pc++;
        check_one(&state.r, &t, &other, 0, MAX_PCS);
        assert_int_equal(state.r.patience, more != 0 ? SFU_REPEAT_TIMES : 2 * SFU_REPEAT_TIMES);
    }
}

/* ---- Callbacks ---- */

static struct sfu_stack answer;
static sfu_addr shorter_at; /* for this address, the stack is a word shorter; unless 0 */
static unsigned asked, traced_inside;
static struct sfu_target *target_inside;

/* What a find_stack of several stacks does; and traces itself, by the one that is in use. */
static bool find_answer(void *ctx, sfu_addr addr, struct sfu_stack *s)
{
    (void)ctx;
    asked++;
    *s = answer;
    if (shorter_at != 0 && addr == shorter_at)
        s->high -= 8;
    if (target_inside != NULL && state.r.busy != 0) {
        struct sfu_target *t = target_inside;

        target_inside = NULL;
        traced_inside++;
        check_one(&state.r, t, &stack.s.top, 0, MAX_PCS);
        target_inside = t;
    }
    return addr >= answer.low && addr <= answer.high;
}

static void test_find_stack(void **unused)
{
    unsigned i, n, known = 0, answers = 0;

    (void)unused;
    traced_inside = 0;
    for (i = 0; i < stacks || (answers == 0 && i < 100); i++) { /* until one trace needs two answers */
        uint64_t seed = i + 2000;
        struct sfu_target plain = make(&seed), t = plain;
        struct state kept;

        answer = t.stack;
        memset(&t.stack, 0, sizeof t.stack);
        t.find_stack = find_answer;
        if (!remembers(&state, &t, &stack.s.top, 0, MAX_PCS))
            continue;
        known++;
        kept = state;
        asked = 0;
        target_inside = &plain;
        check_after(&kept, &t, &stack.s.top, 0, MAX_PCS);
        target_inside = NULL;
        assert_true(asked > 0 && state.r.known);
        for (n = 0; n < kept.r.num_answers; n++) {
            shorter_at = kept.r.answers[n].addr;
            check_after(&kept, &t, &stack.s.top, 0, MAX_PCS);
            shorter_at = 0;
            assert_false(state.r.known);
            answers += n > 0;
        }
        answer.high = stack.s.top.sp + 40;
        check_after(&kept, &t, &stack.s.top, 0, MAX_PCS);
        assert_false(state.r.known);
        answer.high = STACK + STACK_SIZE;
        memcpy(&copied, &stack.s, sizeof copied);
        answer.bytes = copied.bytes;
        copied.bytes[read_words[0] % STACK_SIZE] ^= 1;
        check_after(&kept, &t, &stack.s.top, 0, MAX_PCS);
        assert_false(state.r.known);
        answer.low = answer.high = 0;
        check_after(&kept, &t, &stack.s.top, 0, MAX_PCS);
        assert_false(state.r.known);
    }
    assert_true(known > stacks / 2 && traced_inside > stacks / 2 && answers > 0);
}

/* What the memory of a new one had is nothing; and what the target's stack is, where find_stack is asked. */
static void test_new(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned fill, i;

    (void)unused;
    answer = t.stack;
    t.stack.bytes = copied.bytes;
    t.find_stack = find_answer;
    for (fill = 1; fill < 256; fill += 254) {
        memset(&state, (int)fill, sizeof state);
        sfu_repeat_init(&state.r, state.memory, ROOM);
        for (i = 0; i <= SFU_REPEAT_TIMES; i++) {
            assert_false(state.r.known);
            check_one(&state.r, &t, &top, 0, MAX_PCS);
        }
        assert_true(state.r.known);
    }
}

/* No stack is an answer, too. What it would have filled in does not matter. */
static void test_no_stack(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    volatile uint8_t soil[4096];
    unsigned i;

    (void)unused;
    t.find_stack = no_stack;
    memset(&state, 1, sizeof state);
    assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
    for (i = 0; i < sizeof soil; i++)
        soil[i] = 0x55;
    check_one(&state.r, &t, &top, 0, MAX_PCS);
    assert_true(state.r.known);
}

/* The same PCs by other answers: they come as often again before they are remembered again. Each time there is room for
 * the answers. */
static void test_learn_again(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned again, i;

    (void)unused;
    answer = t.stack;
    t.find_stack = find_answer;
    assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
    answer.high += 8; /* at once: the next one must come more often */
    check_one(&state.r, &t, &top, 0, MAX_PCS);
    assert_int_equal(state.r.patience, 2 * SFU_REPEAT_TIMES);
    for (again = 0; again < 2 * SFU_REPEAT_STACKS; again++) {
        while (!state.r.known)
            check_one(&state.r, &t, &top, 0, MAX_PCS);
        for (i = 0; i < 3 * SFU_REPEAT_TIMES; i++)
            check_one(&state.r, &t, &top, 0, MAX_PCS);
        answer.high -= 8;
        for (i = 0; i < SFU_REPEAT_TIMES; i++) {
            check_one(&state.r, &t, &top, 0, MAX_PCS);
            assert_int_equal(state.r.known, i == SFU_REPEAT_TIMES - 1);
        }
    }
}

/* Traces that differ in a frame behind more than a byte counts: the other one has not come yet. */
static void test_differ_late(void **unused)
{
    static uint64_t words[7 * (LONG + 1)];
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned i;

    (void)unused;
    sfu_repeat_init(&state.r, words, sizeof words / 8);
    for (i = 0; i < SFU_REPEAT_TIMES; i++)
        check_long(&state.r, &t, &top, 0, PAST, PAST);
    stack.s.bytes[200 * STEP + RA_BYTE] ^= 1;
    for (i = 0; i <= SFU_REPEAT_TIMES; i++) {
        assert_false(state.r.known);
        check_long(&state.r, &t, &top, 0, PAST, PAST);
    }
    assert_true(state.r.known);
}

/* Where a trace has to end in the target's final frame, either end of its range counts. */
static void test_final(void **unused)
{
    unsigned i, ended = 0;

    (void)unused;
    for (i = 0; i < 100 && ended == 0; i++) {
        uint64_t seed = i + 4000, pcs[MAX_PCS], pc;
        struct sfu_target t = make(&seed);
        size_t count;

        if (core_trace(&t, &stack.s.top, 0, pcs, MAX_PCS, &count) != SFU_END || count < 2)
            continue;
        pc = pcs[count - 1];
        t.final = (struct sfu_range){pc - 1, pc + 1};
        if (!remembers(&state, &t, &stack.s.top, 0, MAX_PCS))
            continue;
        ended++;
        assert_int_equal(state.r.code, SFU_END);
        t.final.low = pc + 1;
        check_one(&state.r, &t, &stack.s.top, 0, MAX_PCS);
        assert_false(state.r.known);
    }
    assert_true(ended > 0);
}

/* The return address in a register counts, if it is known. */
static void test_link(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);

    (void)unused;
    top.has_ra = true;
    top.ra = base - 0x100000 + 5;
    assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
    top.ra++;
    check_one(&state.r, &t, &top, 0, MAX_PCS);
    assert_false(state.r.known);
}

/* Learns a trace while a callback counts LEFT down from ASKS, and checks traces with LEFT THEN. */
static void learn_after(const struct sfu_target *t, const struct sfu_registers *top, unsigned *left, unsigned asks,
                        unsigned then)
{
    uint64_t pcs[MAX_PCS];
    size_t count;
    unsigned i;

    sfu_repeat_init(&state.r, state.memory, ROOM);
    *left = UINT_MAX;
    while (state.r.came + 1 < state.r.patience)
        check_one(&state.r, t, top, 0, MAX_PCS);
    *left = asks;
    (void)sfu_repeat_trace(&state.r, &fast, t, top, 0, pcs, MAX_PCS, &count);
    *left = then;
    for (i = 0; i < TRIES; i++)
        check_one(&state.r, t, top, 0, MAX_PCS);
}

static unsigned asks_until_change;
static uint8_t *changed;

static bool find_changing(void *ctx, uint64_t addr, struct sfu_stack *s)
{
    (void)ctx;
    *s = answer;
    if (asks_until_change-- == 0)
        *changed ^= 1;
    return addr >= s->low && addr <= s->high;
}

/* A return address that changes between a trace and the walk that learns it. */
static void test_changing(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned asks;

    (void)unused;
    answer = t.stack;
    t.find_stack = find_changing;
    changed = stack.s.bytes + 20 * STEP + RA_BYTE;
    for (asks = 0; asks < 4; asks++)
        learn_after(&t, &top, &asks_until_change, asks, UINT_MAX);
}

enum { EACH = 128 }; /* bytes of each of several stacks */

static bool find_many(void *ctx, uint64_t addr, struct sfu_stack *s)
{
    const uint64_t low = addr & ~(uint64_t)(EACH - 1);

    (void)ctx;
    *s = (struct sfu_stack){stack.s.bytes + ((low - STACK) ^ EACH), low, low + EACH}; /* neighbours change places */
    return addr >= STACK && low < STACK + STACK_SIZE;
}

/* Frame records, each on another stack, for which find_stack is asked twice: as many answers as can be remembered, and
 * more. A word of each counts. */
static void test_stacks(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned num, i;

    (void)unused;
    if (HOST_ABI != SFU_AMD64)
        return;
    t.find_stack = find_many;
    t.frame_pointers = true;
    top.pc = 0x5000;
    top.fp = STACK; /* the first word of a stack */
    for (num = 2; num < 7; num++) {
        bool known;

        memset(stack.s.bytes, 0, STACK_SIZE);
        for (i = 0; i < num; i++) {
            const uint64_t fp = STACK + EACH * (uint64_t)(i + 1), ra = 0x6000 + i;

            memcpy(stack.s.bytes + (EACH * i ^ EACH), &fp, 8);
            memcpy(stack.s.bytes + (EACH * i ^ EACH) + 8, &ra, 8);
        }
        known = remembers(&state, &t, &top, 0, num + 1);
        assert_int_equal(known, num <= SFU_REPEAT_STACKS / 2);
        assert_int_equal(state.r.patience, known ? SFU_REPEAT_TIMES : 2 * SFU_REPEAT_TIMES);
        for (i = 0; i < num && known; i++) {
            stack.s.bytes[(EACH * i ^ EACH) + 8] ^= 1;
            check_one(&state.r, &t, &top, 0, num + 1);
            assert_false(state.r.known);
            stack.s.bytes[(EACH * i ^ EACH) + 8] ^= 1;
            while (!state.r.known)
                check_one(&state.r, &t, &top, 0, num + 1);
        }
    }
}

/* As many answers as can be remembered, and then one that there is no stack: that is an answer, too, and the trace
 * would go on if there were one. */
static void test_last_answer(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    const uint64_t beyond = STACK + STACK_SIZE;
    unsigned i;

    (void)unused;
    if (HOST_ABI != SFU_AMD64)
        return;
    t.find_stack = find_many;
    t.frame_pointers = true;
    top.pc = 0x5000;
    top.fp = STACK;
    memset(stack.s.bytes, 0, STACK_SIZE);
    for (i = 0; i < SFU_REPEAT_STACKS / 2; i++) {
        const uint64_t fp = i == 0 ? STACK + EACH : beyond, ra = 0x6000 + i;

        memcpy(stack.s.bytes + (EACH * i ^ EACH), &fp, 8);
        memcpy(stack.s.bytes + (EACH * i ^ EACH) + 8, &ra, 8);
    }
    assert_false(remembers(&state, &t, &top, 0, MAX_PCS));
    assert_int_equal(state.r.num_answers, SFU_REPEAT_STACKS);
}

/* Each second answer has the stack's bytes at another place. */
static bool find_second(void *ctx, uint64_t addr, struct sfu_stack *s)
{
    const bool found = find_many(ctx, addr, s);

    if (asked++ % 2 != 0)
        s->bytes = copied.bytes + ((const uint8_t *)s->bytes - stack.s.bytes);
    return found;
}

/* A word that answers have at two places: nobody can say which of them is read. */
static void test_two_places(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned i;

    (void)unused;
    if (HOST_ABI != SFU_AMD64)
        return;
    t.find_stack = find_many;
    t.frame_pointers = true;
    top.pc = 0x5000;
    top.fp = STACK;
    memset(stack.s.bytes, 0, STACK_SIZE);
    for (i = 0; i < 2; i++) {
        const uint64_t fp = STACK + EACH * (uint64_t)(i + 1), ra = 0x6000 + i;

        memcpy(stack.s.bytes + (EACH * i ^ EACH), &fp, 8);
        memcpy(stack.s.bytes + (EACH * i ^ EACH) + 8, &ra, 8);
    }
    memcpy(&copied, &stack.s, sizeof copied);
    assert_true(remembers(&state, &t, &top, 0, 3));
    t.find_stack = find_second;
    asked = 0;
    assert_false(remembers(&state, &t, &top, 0, 3));
}

static unsigned asks_until_shorter;

static bool find_shrinking(void *ctx, sfu_addr addr, struct sfu_stack *s)
{
    (void)ctx;
    *s = answer;
    if (asks_until_shorter == 0)
        s->high -= (uint64_t)STEP * 4;
    else
        asks_until_shorter--;
    return addr >= s->low && addr <= s->high;
}

/* A stack that becomes shorter between a trace and the walk that learns it, or in one of them. */
static void test_shrinking(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned asks;

    (void)unused;
    t.stack.high = STACK + 20 * STEP;
    answer = t.stack;
    memset(&t.stack, 0, sizeof t.stack);
    t.find_stack = find_shrinking;
    for (asks = 0; asks < 12; asks++)
        learn_after(&t, &top, &asks_until_shorter, asks, 0);
}

static int read_stack(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    (void)ctx;
    memcpy(buffer, stack.s.bytes + (addr - STACK), len);
    return 0;
}

/* What nobody can ask again: a callback that reads, that knows originals, or that knows who was interrupted. */
static void test_never(void **unused)
{
    unsigned i, unaligned = 0;

    (void)unused;
    for (i = 0; i < stacks; i++) {
        uint64_t seed = i + 3000;
        struct sfu_target plain = make(&seed), t = plain;
        struct sfu_registers top = stack.s.top;

        t.stack.bytes = NULL;
        t.read = read_stack;
        note_words(&plain, &top);
        assert_false(num_read > 0 && remembers(&state, &t, &top, 0, MAX_PCS));
        t = plain;
        t.original_ra = no_original;
        assert_false(remembers(&state, &t, &top, 0, MAX_PCS));
        t = plain;
        t.trap_hook = i % 2 == 0 ? ends : knows_nothing;
        top.pc = 0x7fff0000; /* in no section */
        assert_false(remembers(&state, &t, &top, 0, MAX_PCS));
        t = plain;
        top = stack.s.top;
        top.sp += 4;
        note_words(&plain, &top);
        if (num_read > 0 && read_words[0] % 8 != 0)
            unaligned += !remembers(&state, &t, &top, 0, MAX_PCS);
        t = plain;
        t.sections = &sections[0]; /* another list */
        sections[0].next = NULL;
        assert_false(t.sections != sfu_fast_sections(&fast) && remembers(&state, &t, &stack.s.top, 0, MAX_PCS));
    }
    check_say("%u words that are not aligned", unaligned);
    assert_true(unaligned > 0);
}

static int read_section(void *ctx, sfu_addr addr, void *buffer, size_t len)
{
    (void)ctx;
    memcpy(buffer, tables[0].bytes + (addr - tables[0].addr), len);
    return 0;
}

/* A section of the list that is not mapped: its bytes may be others the next time. */
static void test_unmapped(void **unused)
{
    struct sfu_section *list = NULL;
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);

    (void)unused;
    assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
    (void)sfu_fast_remove(&fast, &images[0], 1);
    assert_int_equal(
        sfu_add_remote(&list, &sections[0], 1, read_section, NULL, tables[0].build.size, tables[0].addr), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &images[0], 1, list), SFU_OK);
    t.sections = sfu_fast_sections(&fast);
    assert_false(remembers(&state, &t, &top, 0, MAX_PCS));
}

/* Two stacks by turns, of the same PCs: each time it is another trace. */
static void test_by_turns(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top), other = t;
    unsigned i;

    (void)unused;
    memcpy(&copied, &stack.s, sizeof copied);
    other.stack.bytes = copied.bytes;
    sfu_repeat_init(&state.r, state.memory, ROOM);
    for (i = 0; i < 2 * TRIES; i++) {
        check_one(&state.r, i % 2 == 0 ? &t : &other, &top, 0, MAX_PCS);
        assert_false(state.r.known);
    }
}

/* No memory at all: nothing is written there. */
static void test_no_memory(void **unused)
{
    struct sfu_registers top;
    struct sfu_target t = make_long(&top);
    unsigned i;

    (void)unused;
    memset(state.memory, 0x5a, sizeof state.memory);
    sfu_repeat_init(&state.r, state.memory, 0);
    for (i = 0; i < TRIES; i++)
        check_one(&state.r, &t, &top, 0, 1);
    assert_int_equal(state.memory[0], 0x5a5a5a5a5a5a5a5a);
    assert_false(state.r.known);
}

/* A row that counts from a register that the callback does not know, now. */
static void test_register(void **unused)
{
    struct build *b = &tables[0].build;
    struct sfu_target t;
    struct sfu_registers top;
    uint64_t pcs[4];
    size_t count;

    (void)unused;
    build_begin(b, 3, HOST_ABI, BIG_HOST);
    build_fde_more(b, -0x100000, 64, ADDR1, FLEX, 0);
    ROW(b, 0, WORD1, REG(3), 16, AT_CFA, -8);
    add_only_table(b);
    memset(&t, 0, sizeof t);
    memset(&top, 0, sizeof top);
    t.stack = (struct sfu_stack){stack.s.bytes, STACK, STACK + STACK_SIZE};
    t.sections = sfu_fast_sections(&fast);
    top.pc = BASES - 0x100000 + 4;
    top.sp = STACK;
    assert_int_equal(core_trace(&t, &top, 0, pcs, 4, &count), SFU_E_REGISTER);
    assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
    t.reg = no_register;
    assert_false(remembers(&state, &t, &top, 0, MAX_PCS));
}

/* ---- How often it learns ---- */

/* A stack that changes each time just after it was learnt: the core's steps become few. */
static void test_patience(void **unused)
{
    struct sfu_target t;
    uint64_t seed = 1, *word = NULL;
    unsigned learnt = 0, i;
    bool was_known = false;

    (void)unused;
    do {
        t = make(&seed);
        note_words(&t, &stack.s.top);
    } while (num_read < 20 || !remembers(&state, &t, &stack.s.top, 0, MAX_PCS));
    note_words(&t, &stack.s.top);
    word = (uint64_t *)(void *)(stack.s.bytes + (read_words[num_read - 1] - STACK));
    sfu_repeat_init(&state.r, state.memory, ROOM);
    for (i = 0; i < 20000; i++) {
        check_one(&state.r, &t, &stack.s.top, 0, MAX_PCS);
        if (state.r.known && !was_known) {
            learnt++;
            ++*word;
        }
        was_known = state.r.known;
    }
    assert_true(learnt >= 6 && learnt < 6 + 20000 / 1000);
    assert_int_equal(state.r.patience, 1024);
    assert_true(remembers(&state, &t, &stack.s.top, 0, MAX_PCS));
    core_steps = 0;
    for (i = 0; i < 100; i++) {
        uint64_t pcs[MAX_PCS];
        size_t count;

        (void)sfu_repeat_trace(&state.r, &fast, &t, &stack.s.top, 0, pcs, MAX_PCS, &count);
    }
    assert_int_equal(core_steps, 0);
}

/* A trace that comes as often as the longest patience is one that stays: the next one need not wait. */
static void test_most_patience(void **unused)
{
    const unsigned most = 1024;
    struct sfu_registers top, other;
    struct sfu_target t = make_long(&top);
    unsigned less, i;

    (void)unused;
    other = top;
    other.pc++;
    for (less = 0; less < 2; less++) {
        assert_true(remembers(&state, &t, &top, 0, MAX_PCS));
        state.r.patience = most;
        for (i = 0; i < most - less; i++)
            check_one(&state.r, &t, &top, 0, MAX_PCS);
        check_one(&state.r, &t, &other, 0, MAX_PCS);
        assert_int_equal(state.r.patience, less != 0 ? most : SFU_REPEAT_TIMES);
    }
}

/* ---- A profile ---- */

/* Samples of two stacks; the profile is the same by the last trace and without. */
static void test_profile(void **unused)
{
    enum { SAMPLES = 4 * SFU_REPEAT_TIMES };
    static struct sfu_profile profiles[2];
    static uint64_t depots[2][4096], last[7 * (SFU_PROFILE_PCS + 1)];
    uint64_t seed = 4;
    struct sfu_target t = make(&seed);
    struct sfu_registers other = stack.s.top;
    unsigned i, p;

    (void)unused;
    while (!remembers(&state, &t, &stack.s.top, 0, MAX_PCS))
        t = make(&seed);
    other = stack.s.top;
    other.pc_kind = other.pc_kind == SFU_PC_EXACT ? SFU_PC_RETURN : SFU_PC_EXACT;
    for (p = 0; p < 2; p++) {
        assert_true(sfu_profile_init(&profiles[p], depots[p], sizeof depots[p], BASES / 2));
        sfu_repeat_init(&state.r, last, sizeof last / 8);
        if (p == 1) {
            profiles[p].trace = sfu_repeat_trace;
            profiles[p].repeat = &state.r;
        }
        assert_true(sfu_profile_start(&profiles[p]));
        for (i = 0; i < SAMPLES; i++)
            sfu_profile_sample(&profiles[p], &fast, &t, &stack.s.top, false);
        assert_int_equal(state.r.known, p == 1);
        sfu_profile_sample(&profiles[p], &fast, &t, &other, false);
        assert_false(state.r.known);
    }
    assert_int_equal(profiles[0].samples, SAMPLES + 1);
    assert_int_equal(profiles[1].samples, SAMPLES + 1);
    assert_int_equal(profiles[0].incomplete, profiles[1].incomplete);
    assert_memory_equal(depots[0], depots[1], sizeof depots[0]);
}

/* ---- Threads ---- */

static struct sfu_target shared;

static void *trace_often(void *number)
{
    struct sfu_registers top = stack.s.top;
    uint64_t pcs[MAX_PCS], want[MAX_PCS];
    size_t count, want_count;
    uintptr_t wrong = 0;
    unsigned i;

    if (number != NULL)
        top.pc_kind = SFU_PC_RETURN;
    for (i = 0; i < 3000; i++) {
        int code = sfu_repeat_trace(&state.r, &fast, &shared, &top, 0, pcs, MAX_PCS, &count);
        int want_code = core_trace(&shared, &top, 0, want, MAX_PCS, &want_count);

        wrong += code != want_code || count != want_count || memcmp(pcs, want, count * 8) != 0;
    }
    return (void *)wrong;
}

/* Two that use one at the same time. */
static void test_threads(void **unused)
{
    uint64_t seed = 1;
    pthread_t thread;
    void *wrong;

    (void)unused;
    do
        shared = make(&seed);
    while (!remembers(&state, &shared, &stack.s.top, 0, MAX_PCS) || stack.s.top.pc_kind != SFU_PC_EXACT);
    sfu_repeat_init(&state.r, state.memory, ROOM);
    pthread_create(&thread, NULL, trace_often, &seed);
    assert_true(trace_often(NULL) == NULL);
    pthread_join(thread, &wrong);
    assert_true(wrong == NULL);
}

int main(int argc, char **argv)
{
    const struct check_test tests[] = {
        CHECK(test_changes),     CHECK(test_parts),       CHECK(test_find_stack),   CHECK(test_shrinking),
        CHECK(test_long),        CHECK(test_kernel),      CHECK(test_again),        CHECK(test_never),
        CHECK(test_register),    CHECK(test_patience),    CHECK(test_profile),      CHECK(test_threads),
        CHECK(test_new),         CHECK(test_no_stack),    CHECK(test_learn_again),  CHECK(test_differ_late),
        CHECK(test_final),       CHECK(test_link),        CHECK(test_changing),     CHECK(test_stacks),
        CHECK(test_stale_cache), CHECK(test_last_answer), CHECK(test_two_places),   CHECK(test_unmapped),
        CHECK(test_by_turns),    CHECK(test_no_memory),   CHECK(test_most_patience)};

    if (argc > 1)
        stacks = (unsigned)strtoul(argv[1], NULL, 10);
    return check_run("repeat", tests);
}
