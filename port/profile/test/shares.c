/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel that profiles itself by its machine's timer. CPU 0 runs parts whose shares are known: in hot() deep calls,
 * leaf functions and prologues, in warm() a shallow loop, in cold() interrupts are off. It measures each part by its
 * own clock before there are interrupts, and prints that. The command line is
 *   one      CPU 0 alone;
 *   both     CPU 1 gets an NMI, or what its machine has instead, with each sample of CPU 0, and is profiled by it;
 *   smp      each CPU has work, a timer and a profile of its own, and adds up how long it was in each part;
 *   shared   the same with one profile of both CPUs.
 */
#include "cpu.h"
#include "sfu_profile.h"

enum { SAMPLES = 2000, IDLE_SAMPLES = 25, MEASURED = 200, RUNS = 5, DEPTH = 7 };

#define PART __attribute__((noinline, no_icf)) static

/* ---- the parts ---- */

static volatile uint64_t sink;

PART void loop_of_hot(uint64_t n)
{
    LOOP(n);
}

PART void loop_of_warm(uint64_t n)
{
    LOOP(n);
}

PART void loop_of_cold(uint64_t n)
{
    LOOP(n);
}

PART uint64_t leaf(uint64_t x)
{
    return x * 3 + sink;
}

PART uint64_t short_one(uint64_t x, uint64_t y)
{
    return leaf(x) + leaf(y);
}

PART uint64_t short_two(uint64_t x)
{
    return short_one(x, x + 1) + short_one(x + 2, x + 3);
}

/* Most of its instructions are in prologues, epilogues and calls. */
PART void calls(void)
{
    unsigned i;

    for (i = 0; i < 20; i++)
        sink = short_two(i);
}

PART void deep(unsigned depth)
{
    if (depth > 0) {
        deep(depth - 1);
    } else {
        calls();
        loop_of_hot(200);
    }
    sink = depth;
}

PART void hot(void)
{
    unsigned i;

    for (i = 0; i < 2; i++)
        deep(DEPTH);
}

static uint64_t warm_passes, cold_passes;
static bool sampling;

PART void warm(void)
{
    loop_of_warm(warm_passes);
}

PART void cold(void)
{
    cpu_disable();
    loop_of_cold(cold_passes);
    if (sampling)
        machine_enable();
    sink = 1; /* behind STI another instruction runs before an interrupt comes */
    sink = 2;
}

/* Runs PART so many times and returns how long that took. */
PART uint64_t run(void (*part)(void), unsigned times)
{
    uint64_t begin = cpu_clock();
    unsigned i;

    for (i = 0; i < times; i++)
        part();
    return cpu_clock() - begin;
}

/* The shortest of some runs: a clock that follows the host's counts its pauses, too. */
static uint64_t time_of(void (*part)(void))
{
    uint64_t least = UINT64_MAX, time;
    unsigned i;

    for (i = 0; i < RUNS; i++) {
        time = run(part, MEASURED / RUNS);
        if (time < least)
            least = time;
    }
    return least;
}

/* Gives hot() 70%, warm() 20%, cold() 10%, as near as passes of a loop can. */
static void share_out(void)
{
    uint64_t hot_time = time_of(hot), warm_time;

    warm_passes = 10000;
    warm_time = time_of(warm);
    warm_passes = warm_passes * hot_time * 2 / 7 / warm_time;
    if (warm_passes < 2)
        panic("the clock cannot be right");
    cold_passes = warm_passes / 2; /* LOOP(0) would go on for 2^32 passes or more */
}

/* ---- the profile ---- */

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[];

static struct sfu_fast fast;
static struct sfu_profile profiles[2];
static uint64_t memory[2][8192];
#if CPU_HAS_FAST
static struct sfu_fast_image images[4];
static uint64_t cache[1024];
#endif
static volatile bool idle;
static bool both, smp, shared;
static volatile unsigned taken[2]; /* samples, by CPU */
static struct {
    uint64_t hot, warm, cold;
} spent[2]; /* time in each part, by CPU */
static volatile bool second_done;
static uint8_t second_stack[8192] __attribute__((aligned(16)));

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static const struct sfu_panic console = {.put = put, .target = &kernel_target};

static bool sample(struct trap *trap)
{
    unsigned cpu = machine_cpu();
    struct sfu_registers at;

    if (!is_sample(trap))
        return false;
    at = kernel_interrupted(trap);
    sfu_profile_sample(&profiles[shared ? 0 : cpu], &fast, &kernel_target, &at, cpu == 0 && idle);
    if (cpu == 0 || smp)
        machine_start_timer();
    if (cpu == 0 && both)
        machine_stop_others();
    if (cpu != 0 || !idle)
        taken[cpu] = taken[cpu] + 1;
    return true;
}

/* CPU 1 has one thing to do. */
PART void second_work(void)
{
    loop_of_warm(5000);
    sink = 1;
}

/* So often as a random number says: the timer must not keep step with it. */
static unsigned next_times(uint64_t *random)
{
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return 1 + (unsigned)(*random >> 60);
}

PART void second_parts(void)
{
    uint64_t random = 2;
    unsigned times;

    while (taken[1] < SAMPLES) {
        times = next_times(&random);
        spent[1].hot += run(hot, times);
        spent[1].warm += run(warm, 3 * times);
    }
}

PART void second_main(void)
{
    if (smp) {
        machine_start_timer();
        machine_enable();
        second_parts();
        cpu_disable();
        second_done = true;
        for (;;)
            __asm__ volatile("" : : : "memory");
    }
    machine_enable();
    for (;;)
        second_work();
}

static void print_profile(unsigned cpu)
{
    const struct sfu_depot_report report = {.name = shared     ? "all"
                                                    : cpu == 0 ? "cpu0"
                                                               : "cpu1",
                                            .build_id = build_id_start,
                                            .build_id_end = build_id_end,
                                            .rate = 1000};

    while (!sfu_profile_stop(&profiles[cpu]))
        continue;
    sfu_profile_print(&profiles[cpu], &console, &report);
    sfu_print_number(&console, "samples ", profiles[cpu].samples, 10, 1);
    sfu_print_number(&console, " incomplete ", profiles[cpu].incomplete, 10, 1);
    sfu_print_text(&console, "\n");
}

static void print_truth(void)
{
    sfu_print_number(&console, "truth hot ", time_of(hot), 10, 1);
    sfu_print_number(&console, " warm ", time_of(warm), 10, 1);
    sfu_print_number(&console, " cold ", time_of(cold), 10, 1);
    sfu_print_text(&console, "\n");
}

static void start(void)
{
    unsigned cpu;

#if CPU_HAS_FAST
    if (sfu_fast_add(&fast, images, sizeof images / sizeof images[0], kernel_target.sections) != SFU_OK)
        panic("no tables");
    kernel_target.sections = sfu_fast_sections(&fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
#endif
    for (cpu = 0; cpu < 2; cpu++)
        if (!sfu_profile_init(&profiles[cpu], memory[cpu], sizeof memory[cpu], (uintptr_t)image_start) ||
            !sfu_profile_start(&profiles[cpu]))
            panic("no profile");
}

PART void work(void)
{
    uint64_t random = 1;
    unsigned times;

    while (taken[0] < SAMPLES) {
        times = next_times(&random);
        spent[0].hot += run(hot, times);
        spent[0].warm += run(warm, times);
        spent[0].cold += run(cold, times);
    }
}

PART void wait(void)
{
    idle = true;
    while (profiles[0].idle < IDLE_SAMPLES || (smp && !second_done))
        __asm__ volatile("" : : : "memory");
}

static void print_spent(unsigned cpu)
{
    sfu_print_number(&console, "CPU ", cpu, 10, 1);
    sfu_print_number(&console, " spent hot ", spent[cpu].hot, 10, 1);
    sfu_print_number(&console, " warm ", spent[cpu].warm, 10, 1);
    sfu_print_number(&console, " cold ", spent[cpu].cold, 10, 1);
    sfu_print_number(&console, " samples ", taken[cpu], 10, 1);
    sfu_print_text(&console, "\n");
}

bool kernel_handle(struct trap *trap, bool timer)
{
    return sample(trap) || timer;
}

void kernel_main(const char *command_line)
{
    both = command_line != NULL && command_line[0] == 'b';
    shared = command_line != NULL && command_line[0] == 's' && command_line[1] == 'h';
    smp = shared || (command_line != NULL && command_line[0] == 's');
    share_out();
    print_truth();
    start();
    if (both || smp) {
        kernel_add_stack(second_stack, sizeof second_stack, 0);
        machine_start_second((uintptr_t)second_stack + sizeof second_stack, second_main);
    }
    sampling = true;
    machine_start_timer();
    machine_enable();
    work();
    wait();
    cpu_disable();
    print_profile(0);
    if (both || (smp && !shared))
        print_profile(1);
    if (smp) {
        print_spent(0);
        print_spent(1);
    }
}
