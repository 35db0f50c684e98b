/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * race_test: traces that interrupt traces on the same cache, x86_64. The CPU's trap flag brings a signal at every
 * instruction of a trace; its handler does traces of its own, and now and then a section comes or goes. Then threads
 * that do the same at once. Every trace must give what the core gives.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <ucontext.h>

#include "random_tables.h"
#include "test/lib/check.h"

enum { STACKS = 32, THREADS = 3, OTHERS = 100, TRAP_FLAG = 0x100, THREAD_TRACES = 50000, INTERRUPTED = 6 };

static struct table table, other;
static struct sfu_fast fast;
static struct sfu_fast_image image, other_images[OTHERS];
static struct sfu_section other_sections[OTHERS];
static unsigned turn;                     /* of the changes: come, go, come, ... */
static volatile uint64_t traced[THREADS]; /* traces of each thread */
static uint64_t cache[128];               /* 1 KiB: entries come and go all the time */
static struct {
    struct stack stack;
    uint64_t pcs[MAX_PCS];
    size_t count;
    int code;
} want[STACKS];
static volatile uint64_t interrupts, wrong;
static volatile int stop;

static struct sfu_target target_of(const struct stack *s)
{
    struct sfu_target t;

    memset(&t, 0, sizeof t);
    t.sections = sfu_fast_sections(&fast);
    t.stack = (struct sfu_stack){s->bytes, STACK, STACK + STACK_SIZE};
    return t;
}

static void check(unsigned which, const struct sfu_target *t)
{
    uint64_t pcs[MAX_PCS];
    size_t count;
    int code = sfu_fast_trace(&fast, t, &want[which].stack.top, 0, pcs, MAX_PCS, &count);

    if (code != want[which].code || count != want[which].count || memcmp(pcs, want[which].pcs, count * 8) != 0)
        wrong++;
}

/* Lets another section come or the one that came last go; no stack leads to its code, so that it changes no trace. What
 * went may be in use until no older trace runs: the next to come is another. */
static void come_or_go(void)
{
    struct sfu_fast_image *i = &other_images[turn / 2 % OTHERS];

    if (turn % 2 == 0) {
        other_sections[turn / 2 % OTHERS] = other.section;
        (void)sfu_fast_add(&fast, i, 1, &other_sections[turn / 2 % OTHERS]);
    } else {
        (void)sfu_fast_remove(&fast, i, 1);
    }
    turn++;
}

static void at_every_instruction(int signal, siginfo_t *info, void *context)
{
    struct sfu_target t;
    unsigned which = (unsigned)(interrupts * 7 % STACKS);

    (void)signal;
    (void)info;
    (void)context;
    t = target_of(&want[which].stack);
    check(which, &t);
    interrupts++;
    if (interrupts % 101 == 0 && turn < 2 * OTHERS)
        come_or_go();
}

static void set_trap_flag(bool on)
{
    if (on)
        __asm__ __volatile__("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
    else
        __asm__ __volatile__("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static void *traces(void *number)
{
    unsigned thread = (unsigned)(uintptr_t)number, i;
    uint64_t seed = thread;

    for (i = 0; i < THREAD_TRACES; i++) {
        unsigned which = below(&seed, STACKS);
        struct sfu_target t = target_of(&want[which].stack);

        check(which, &t);
        traced[thread]++;
    }
    traced[thread] = UINT64_MAX;
    return NULL;
}

/* Sections come and go. Before one comes again, every thread has begun another trace, twice. */
static void *changes(void *unused)
{
    (void)unused;
    while (!stop) {
        uint64_t before[THREADS];
        unsigned i;

        for (i = 0; i < OTHERS; i++)
            come_or_go();
        for (i = 0; i < THREADS; i++)
            before[i] = traced[i];
        for (i = 0; i < THREADS; i++)
            while (traced[i] != UINT64_MAX && traced[i] < before[i] + 2)
                sched_yield();
    }
    return NULL;
}

static void prepare(uint64_t seed)
{
    unsigned i = 0;

    do
        make_table(&table, &seed, UINT64_C(0x555555600000), false);
    while (!table.good || table.build.fdes < 100);
    do
        make_table(&other, &seed, UINT64_C(0x666666600000), false);
    while (!other.good);
    memset(&fast, 0, sizeof fast);
    (void)sfu_fast_add(&fast, &image, 1, &table.section);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    while (i < STACKS) {
        struct sfu_target t;

        make_stack(&want[i].stack, &seed, &table, 1);
        t = target_of(&want[i].stack);
        want[i].code = core_trace(&t, &want[i].stack.top, 0, want[i].pcs, MAX_PCS, &want[i].count);
        i += want[i].count >= 6;
    }
}

static void test_interrupted_traces(void **state)
{
    struct sigaction action;

    (void)state;
    prepare(11);
    memset(&action, 0, sizeof action);
    action.sa_sigaction = at_every_instruction;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, NULL);
    for (unsigned i = 0; i < INTERRUPTED; i++) {
        struct sfu_target t = target_of(&want[i % STACKS].stack);

        set_trap_flag(true);
        check(i % STACKS, &t);
        set_trap_flag(false);
        turn %= 2 * OTHERS;
        if (turn % 2 == 1)
            come_or_go();
        turn = 0;
    }
    check_say("%llu interrupts", (unsigned long long)interrupts);
    assert_that(interrupts >= 100 * INTERRUPTED, "hardly an instruction was interrupted");
    assert_that(wrong == 0, "traces differ from the core's");
}

static void test_traces_at_once(void **state)
{
    pthread_t threads[THREADS], changer;
    unsigned i;

    (void)state;
    wrong = 0;
    prepare(12);
    pthread_create(&changer, NULL, changes, NULL);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, traces, (void *)(uintptr_t)i);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    stop = 1;
    pthread_join(changer, NULL);
    assert_that(wrong == 0, "traces differ from the core's");
}

int main(void)
{
    static const struct check_test tests[] = {CHECK(test_interrupted_traces), CHECK(test_traces_at_once)};

    return check_run(NULL, tests);
}
