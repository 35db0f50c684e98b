/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * change_test [CHANGES]: sections that come and go, whose rules differ at the same PCs. A trace that begins after a
 * change gives what the core gives then, whatever traces ran meanwhile, for any number of changes. Built with
 * ThreadSanitizer, too.
 */
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "random_tables.h"
#include "test/lib/check.h"

enum { CODE = 0x50000, CODE_SIZE = 0x1000, FIXED = 0x10000, WORDS = 400, THREADS = 2, VARIANTS = 4, MEMORY = 8 };

/* A section of one function at a code address, where SP is so many words below the CFA. */
struct piece {
    struct build build;
    struct sfu_section section;
    struct sfu_fast_image image;
    unsigned words;
};

static struct sfu_fast fast;
static struct sfu_fast_image *order[MEMORY];
static uint64_t cache[128]; /* 1 KiB: entries move all the time */
static uint64_t stack[WORDS];
static struct piece fixed, pieces[MEMORY], far, front;
static int stop; /* threads that trace */

/* ABIs with a link register have the RA below the CFA, too, so that one rule fits all. */
static void add_piece(struct piece *p, uint64_t addr, int64_t code, unsigned words)
{
    struct sfu_section *list = NULL;
    int64_t c = 8 * (int64_t)words;

    build_begin(&p->build, 3, HOST_ABI, BIG_HOST);
    build_fde(&p->build, code - (int64_t)addr, CODE_SIZE, ADDR2);
    if (HOST_ABI == SFU_AMD64)
        ROW(&p->build, 0, BASE_SP, c);
    else if (HOST_ABI == SFU_S390X)
        ROW(&p->build, 0, BASE_SP, c / 8, -160 - 8);
    else
        ROW(&p->build, 0, BASE_SP, c, -8);
    build_end(&p->build);
    p->words = words;
    assert_int_equal(sfu_add(&list, &p->section, 1, p->build.bytes, p->build.size, addr), SFU_OK);
    assert_int_equal(sfu_fast_add(&fast, &p->image, 1, list), SFU_OK);
}

/* Each word of the stack is a return address of its own, into CODE. */
static void fill_stack(void)
{
    for (unsigned i = 0; i < WORDS; i++)
        stack[i] = CODE + 8 + 8 * i;
}

static struct sfu_target target_of(void)
{
    struct sfu_target t;

    memset(&t, 0, sizeof t);
    t.stack = (struct sfu_stack){stack, STACK, STACK + sizeof stack};
    t.sections = sfu_fast_sections(&fast);
    return t;
}

static struct sfu_registers top_at(unsigned word)
{
    struct sfu_registers top;

    memset(&top, 0, sizeof top);
    top.pc = CODE + 4;
    top.sp = STACK + 8 * word;
    top.pc_kind = SFU_PC_RETURN;
    return top;
}

/* A trace is the core's. Nothing may change meanwhile. */
static void check(struct sfu_target *t, const struct sfu_registers *top)
{
    uint64_t got[MAX_PCS], want[MAX_PCS];
    size_t got_count, want_count;
    int want_code = core_trace(t, top, 0, want, MAX_PCS, &want_count);
    int code = sfu_fast_trace(&fast, t, top, 0, got, MAX_PCS, &got_count);

    if (code == want_code && got_count == want_count && memcmp(got, want, got_count * 8) == 0)
        return;
    explain_trace(t, top, 0, got, got_count, code, want, want_count, want_code);
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    check_fail(__FILE__, __LINE__, "a trace is not the core's");
}

/* ---- A trace that outlasts changes ---- */

static int phase;

/* What a trace is held in: it has its view of the sections by then. */
static int hold(void *ctx, const struct sfu_frame *frame, int code, struct sfu_interrupted *interrupted)
{
    int first = 0;

    (void)ctx;
    if (frame->depth > 0)
        return code;
    if (__atomic_compare_exchange_n(&phase, &first, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        while (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) != 2)
            sched_yield();
    interrupted->regs = top_at(1);
    return SFU_OK;
}

static void *held_trace(void *unused)
{
    struct sfu_target t = target_of();
    struct sfu_registers top = top_at(0);
    uint64_t pcs[MAX_PCS];
    size_t count;

    top.pc = 0x7000000; /* in no section */
    t.trap_hook = hold;
    (void)sfu_fast_trace(&fast, &t, &top, 0, pcs, MAX_PCS, &count);
    return unused;
}

/* So many changes that lead to nothing new: FAR comes or goes. */
static void change(unsigned times)
{
    static bool there;

    there = there && fast.sections != &fixed.section;
    for (; times > 0; times--) {
        if (there)
            (void)sfu_fast_remove(&fast, &far.image, 1);
        else
            add_piece(&far, 0x900000, 0x910000, 2);
        there = !there;
    }
}

/* A trace begins after BEFORE changes, while a section is there that then goes; it puts that section's rules into the
 * cache, late. AFTER further changes, another section has its place. */
static void outlasts(unsigned before, unsigned after)
{
    struct sfu_target t;
    struct sfu_registers top = top_at(1);
    pthread_t thread;

    memset(&fast, 0, sizeof fast);
    phase = 0;
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    add_piece(&fixed, 0x100000, FIXED, 2);
    change(before);
    add_piece(&pieces[0], 0x200000, CODE, 2);
    pthread_create(&thread, NULL, held_trace, NULL);
    while (__atomic_load_n(&phase, __ATOMIC_SEQ_CST) != 1)
        sched_yield();
    (void)sfu_fast_remove(&fast, &pieces[0].image, 1);
    __atomic_store_n(&phase, 2, __ATOMIC_SEQ_CST);
    pthread_join(thread, NULL);
    change(after / 2);
    add_piece(&pieces[1], 0x200000, CODE, 3);
    change(after - after / 2);
    t = target_of();
    check(&t, &top);
}

/* ---- Each instruction that writes ---- */

/* ThreadSanitizer holds signals back. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static uint64_t seen[sizeof cache / 8]; /* the cache before the instruction that was executed last */
static uint32_t was_busy;
static unsigned moved, unguarded;

static bool has_entry(uint32_t entry)
{
    const uint32_t *entries = (const uint32_t *)(const void *)seen;

    for (size_t i = 0; i < sizeof seen / 4; i++)
        if (entries[i] == entry)
            return true;
    return false;
}

static void look(void)
{
    const uint32_t *now = (const uint32_t *)(const void *)cache, *before = (const uint32_t *)(const void *)seen;

    for (size_t i = 0; i < sizeof seen / 4; i++) {
        if (now[i] == before[i])
            continue;
        moved += now[i] != 0 && has_entry(now[i]);
        unguarded += !was_busy || !fast.busy;
    }
    memcpy(seen, cache, sizeof seen);
    was_busy = fast.busy;
}

static void stepped(int number)
{
    (void)number;
    if (was_busy != fast.busy || memcmp(seen, cache, sizeof seen) != 0)
        look();
}

static void trace(unsigned word)
{
    struct sfu_registers top = top_at(word);
    struct sfu_target t = target_of();
    uint64_t pcs[32];
    size_t count;

    (void)sfu_fast_trace(&fast, &t, &top, 0, pcs, 32, &count);
}

/* Below the red zone. */
static void set_trap_flag(void)
{
    __asm__ volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                         : "memory", "cc");
}

static void clear_trap_flag(void)
{
    __asm__ volatile(
        "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
            : "memory", "cc");
}

/* The cache changes only while BUSY is set: by no instruction before it is, and by none behind the one that clears it.
 * Traces that write to the cache, some of which only move entries, are single-stepped. */
static void test_writes_while_busy(void **state)
{
    static struct sfu_fast fast_before;
    static uint64_t cache_before[sizeof cache / 8];
    struct sigaction action = {.sa_handler = stepped}, old;
    uint64_t seed = 1;
    unsigned i, writers = 0;

    (void)state;
    memset(&fast, 0, sizeof fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    add_piece(&pieces[0], 0x200000, CODE, 2);
    for (i = 0; i < WORDS; i++)
        stack[i] = CODE + 1 + below(&seed, CODE_SIZE - 1);
    moved = unguarded = 0;
    sigaction(SIGTRAP, &action, &old);
    /* The first 500 fill the cache, most without being stepped, because that takes long. */
    for (i = 0; i < 20000 && (moved < 10 || writers < 10); i++) {
        const unsigned word = below(&seed, WORDS / 2) * 2;

        fast_before = fast;
        memcpy(cache_before, cache, sizeof cache);
        trace(word);
        if (memcmp(cache_before, cache, sizeof cache) == 0 || (i < 500 && i % 100 != 0))
            continue;
        fast = fast_before;
        memcpy(cache, cache_before, sizeof cache);
        memcpy(seen, cache, sizeof seen);
        was_busy = 0;
        writers++;
        set_trap_flag();
        trace(word);
        clear_trap_flag();
    }
    sigaction(SIGTRAP, &old, NULL);
    printf("# %u traces, %u that write, %u entries moved\n", i, writers, moved);
    assert_true(moved >= 10 && writers >= 10);
    assert_int_equal(unguarded, 0);
}
#endif

/* ---- Sums that wrap ---- */

static void test_wraps(void **state)
{
    struct sfu_registers top;
    struct sfu_target t;
    unsigned at;

    (void)state;
    memset(&fast, 0, sizeof fast);
    add_piece(&pieces[0], 0x200000, CODE, 2);
    fill_stack();
    for (at = 1; at < 8; at++) {
        t = target_of();
        t.stack.low = at % 2 * 8; /* what is read of it is at its low end */
        t.stack.high = UINT64_MAX;
        top = top_at(0);
        top.sp = UINT64_MAX - (UINT64_C(1) << at) + 1;
        check(&t, &top);
        top.fp = top.sp;
        check(&t, &top);
    }
}

/* ---- Threads ---- */

static uint64_t epochs[THREADS]; /* odd while a trace runs */

static void *tracer(void *number)
{
    unsigned thread = (unsigned)(uintptr_t)number;
    uint64_t seed = thread, wrong = 0;

    while (!__atomic_load_n(&stop, __ATOMIC_ACQUIRE)) {
        struct sfu_registers top = top_at(below(&seed, WORDS / 2));
        uint64_t pcs[MAX_PCS];
        struct sfu_target t;
        size_t count, i;

        __atomic_add_fetch(&epochs[thread], 1, __ATOMIC_SEQ_CST);
        t = target_of();
        (void)sfu_fast_trace(&fast, &t, &top, 0, pcs, MAX_PCS, &count);
        __atomic_add_fetch(&epochs[thread], 1, __ATOMIC_SEQ_CST);
        for (i = 2; i < count; i++)
            wrong += (pcs[i] - pcs[i - 1]) % 8 != 0 || pcs[i] - pcs[i - 1] > 8 * (VARIANTS + 1);
    }
    return (void *)(uintptr_t)wrong;
}

/* Waits until no trace runs that runs now. */
static void wait_for_traces(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        uint64_t epoch = __atomic_load_n(&epochs[i], __ATOMIC_SEQ_CST);

        while (epoch % 2 == 1 && __atomic_load_n(&epochs[i], __ATOMIC_SEQ_CST) == epoch)
            sched_yield();
    }
}

static unsigned changes = 2000;

static void threads_trace(bool ordered)
{
    pthread_t threads[THREADS];
    uint64_t seed = 1;
    unsigned i;

    memset(&fast, 0, sizeof fast);
    fill_stack();
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    sfu_fast_set_order(&fast, order, ordered ? sizeof order : 0);
    add_piece(&fixed, 0x100000, FIXED, 2);
    stop = 0;
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, tracer, (void *)(uintptr_t)i);
    for (i = 0; i < changes; i++) {
        struct piece *p = &pieces[i % MEMORY];
        struct sfu_registers top = top_at(below(&seed, WORDS / 2));
        struct sfu_target t;

        if (i % MEMORY == 0)
            wait_for_traces();
        add_piece(p, 0x200000, CODE, 2 + below(&seed, VARIANTS));
        t = target_of();
        check(&t, &top);
        if (i % MEMORY == 0) { /* what goes is behind another, which traces have begun with */
            add_piece(&front, 0x900000, 0x910000, 2);
            for (unsigned n = 0; n < 2; n++)
                sched_yield();
        }
        (void)sfu_fast_remove(&fast, &p->image, 1);
        t = target_of();
        check(&t, &top);
        if (i % MEMORY == 0)
            (void)sfu_fast_remove(&fast, &front.image, 1);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
    for (i = 0; i < THREADS; i++) {
        void *wrong;

        pthread_join(threads[i], &wrong);
        assert_that(wrong == NULL, "frames by no rule that ever was");
    }
}

static void test_outlasts(void **state)
{
    (void)state;
    fill_stack();
    for (unsigned before = 0; before < 10; before++)
        for (unsigned after = 0; after < 18; after++)
            outlasts(before, after);
}

static void test_threads(void **state)
{
    (void)state;
    threads_trace(false);
}

static void test_threads_in_order(void **state)
{
    (void)state;
    threads_trace(true);
}

int main(int argc, char **argv)
{
    static const struct check_test tests[] = {
        CHECK(test_outlasts),
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
        CHECK(test_writes_while_busy),
#endif
        CHECK(test_wraps),
        CHECK(test_threads),
        CHECK(test_threads_in_order)
    };

    if (argc > 1)
        changes = (unsigned)strtoul(argv[1], NULL, 0);
    return check_run(NULL, tests);
}
