/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Adds that meet adds. Threads put the same traces into one depot at the same time, while signals
 * interrupt them and do so too; one thread reads all along. Then, on x86_64, the CPU's trap flag brings a signal at
 * every instruction of an add or a clear: its handler adds the same trace or another one, as an NMI does. In the
 * end each trace must be there once, whole, with the sum of all weights whose add has returned a handle.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sfu_depot.h"
#include "test/lib/check.h"

enum { THREADS = 3, TRACES = 400, MOST_PCS = 12, ROUNDS = 40, MEMORY = 48 * 1024, TRAP_FLAG = 0x100 };
#define BASE UINT64_C(0xffffffff81000000)

static uint64_t traces[TRACES][MOST_PCS];
static size_t counts[TRACES];
static uint64_t memory[MEMORY / 8];
static struct sfu_depot depot;
static const char *volatile failed;
static volatile bool stop;

/* What one context, a thread or its signals, has added; and what it was told that it lost. */
struct tally {
    int64_t weights[TRACES];
    uint32_t handles[TRACES];
    uint64_t lost;
    int64_t lost_weight;
};
static struct tally tallies[2 * THREADS + 2];
static _Thread_local struct tally *of_signals;
static _Thread_local unsigned turn; /* of the signals */

static void add(struct tally *tally, unsigned which, int64_t weight)
{
    uint32_t handle = sfu_depot_add(&depot, traces[which], counts[which], weight);

    if (handle == 0) {
        tally->lost++;
        tally->lost_weight += weight;
        return;
    }
    if (tally->handles[which] != 0 && tally->handles[which] != handle)
        failed = "a trace got two handles";
    tally->handles[which] = handle;
    tally->weights[which] += weight;
}

static void make_traces(unsigned seed)
{
    unsigned i, k;

    srand(seed);
    for (i = 0; i < TRACES; i++) {
        counts[i] = 1 + i % MOST_PCS;
        for (k = 0; k < MOST_PCS; k++)
            traces[i][k] = BASE + (uint64_t)rand() % 1000000 - (i % 5 == 0 ? BASE : 0);
        traces[i][0] = BASE + i; /* no two are the same */
    }
    memset(tallies, 0, sizeof tallies);
}

static unsigned trace_of(uint64_t pc)
{
    return pc - BASE < TRACES ? (unsigned)(pc - BASE) : TRACES;
}

/* Each trace that a depot gives is one that was put in, whole. */
static void read_all(bool weights)
{
    bool seen[TRACES] = {false};
    uint64_t pcs[MOST_PCS], lost = 0;
    int64_t lost_weight = 0;
    uint32_t handle;
    unsigned i, k;

    for (handle = sfu_depot_next(&depot, 0); handle != 0; handle = sfu_depot_next(&depot, handle)) {
        int64_t weight, want = 0;
        size_t count = sfu_depot_get(&depot, handle, 0, pcs, MOST_PCS, &weight);
        unsigned which = count > 0 ? trace_of(pcs[0]) : TRACES;

        if (which == TRACES || count != counts[which] || memcmp(pcs, traces[which], 8 * count) != 0) {
            failed = "a trace that nobody put in";
            return;
        }
        if (seen[which])
            failed = "a trace comes twice";
        seen[which] = true;
        for (i = 0; i < sizeof tallies / sizeof tallies[0] && weights; i++) {
            want += tallies[i].weights[which];
            if (tallies[i].handles[which] != 0 && tallies[i].handles[which] != handle)
                failed = "two adds got two handles";
        }
        if (weights && weight != want)
            failed = "a weight is not the sum of what was added";
    }
    for (i = 0; i < sizeof tallies / sizeof tallies[0] && weights; i++) {
        lost += tallies[i].lost;
        lost_weight += tallies[i].lost_weight;
        for (k = 0; k < TRACES; k++)
            if (tallies[i].handles[k] != 0 && !seen[k])
                failed = "a trace is missing";
    }
    if (weights && (lost != depot.lost || lost_weight != depot.lost_weight))
        failed = "lost is not what was lost";
}

/* ---- Threads and signals ---- */

static void interrupt(int number)
{
    (void)number;
    if (of_signals != NULL)
        add(of_signals, turn++ * 7 % TRACES, 1000);
}

static pthread_barrier_t start;

/* All threads add the same traces in the same order: they meet in each. */
static void *adds(void *number)
{
    unsigned me = (unsigned)(uintptr_t)number, i, round;

    of_signals = &tallies[THREADS + me];
    turn = me;
    pthread_barrier_wait(&start);
    for (round = 0; round < ROUNDS; round++)
        for (i = 0; i < TRACES; i++)
            add(&tallies[me], (i + round) % TRACES, 1);
    of_signals = NULL;
    return NULL;
}

static void *reads(void *unused)
{
    (void)unused;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        read_all(false);
    return NULL;
}

static void run_threads(size_t bytes)
{
    pthread_t threads[THREADS], reader;
    unsigned i, k;

    if (!sfu_depot_init(&depot, memory, bytes, BASE))
        failed = "there is memory enough";
    pthread_barrier_init(&start, NULL, THREADS + 1);
    __atomic_store_n(&stop, false, __ATOMIC_RELAXED);
    pthread_create(&reader, NULL, reads, NULL);
    for (i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, adds, (void *)(uintptr_t)i);
    pthread_barrier_wait(&start);
    for (k = 0; k < 300; k++)
        for (i = 0; i < THREADS; i++)
            pthread_kill(threads[i], SIGUSR1);
    for (i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    pthread_join(reader, NULL);
    pthread_barrier_destroy(&start);
    read_all(true);
}

/* ---- A signal at each instruction ---- */

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static unsigned main_trace;
static bool same, clearing;
static unsigned long interrupts, phase; /* phase: which third of the signals add */

/* The trace that is being added comes again, or another one. */
static void at_every_instruction(int number)
{
    unsigned which = same ? main_trace : (unsigned)(interrupts * 13 % TRACES);

    (void)number;
    interrupts++;
    if (interrupts % 3 != phase % 3)
        return;
    if (clearing)
        (void)sfu_depot_add(&depot, traces[which], counts[which], 1000);
    else
        add(&tallies[1], which, 1000);
}

static void set_trap_flag(bool on)
{
    if (on)
        __asm__ __volatile__("pushfq; orq %0, (%%rsp); popfq" : : "i"(TRAP_FLAG) : "memory", "cc");
    else
        __asm__ __volatile__("pushfq; andq %0, (%%rsp); popfq" : : "i"(~TRAP_FLAG) : "memory", "cc");
}

static void run_steps(size_t bytes)
{
    struct sigaction action;
    unsigned i;

    memset(&action, 0, sizeof action);
    action.sa_handler = at_every_instruction;
    sigaction(SIGTRAP, &action, NULL);
    if (!sfu_depot_init(&depot, memory, bytes, BASE))
        failed = "there is memory enough";
    for (i = 0; i < TRACES; i++) {
        phase = i;
        main_trace = i * 3 % TRACES;
        same = i % 2 == 0;
        set_trap_flag(true);
        add(&tallies[0], main_trace, 1);
        set_trap_flag(false);
    }
    read_all(true);
}

/* A clear is interrupted: what comes behind it has all of the room, and nothing of before. */
static void run_steps_of_clear(void)
{
    unsigned i;

    same = false;
    clearing = true;
    for (phase = 0; phase < 3; phase++) {
        set_trap_flag(true);
        sfu_depot_clear(&depot);
        set_trap_flag(false);
        memset(tallies, 0, sizeof tallies);
        for (i = 0; i < TRACES; i++)
            add(&tallies[0], i, 1);
        read_all(false);
        for (i = 0; i < TRACES / 2; i++)
            if (depot.room > MEMORY / 8 / 2 && tallies[0].handles[i] == 0)
                failed = "there is no room";
    }
    clearing = false;
}
#endif

/* ---- Tests ---- */

/* What a thread or a handler has found. */
static void assert_none_failed(void)
{
    if (failed != NULL)
        check_fail(__FILE__, __LINE__, "%s", failed);
}

static void test_threads_and_signals(void **state)
{
    struct sigaction action;

    (void)state;
    memset(&action, 0, sizeof action);
    action.sa_handler = interrupt;
    sigaction(SIGUSR1, &action, NULL);
    for (unsigned i = 0; i < 20; i++) {
        make_traces(i);
        run_threads(i % 2 == 0 ? MEMORY : MEMORY / 4);
        assert_none_failed();
    }
}

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
static void test_every_instruction(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        make_traces(i);
        run_steps(i % 2 == 0 ? MEMORY : MEMORY / 4);
        run_steps_of_clear();
        assert_none_failed();
    }
    check_say("%lu interrupts", interrupts);
    assert_that(interrupts >= 100 * TRACES, "hardly an instruction was interrupted");
}
#endif

int main(void)
{
    static const struct check_test tests[] = {
        CHECK(test_threads_and_signals),
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
        CHECK(test_every_instruction),
#endif
    };

    return check_run(NULL, tests);
}
