/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A kernel that profiles itself by its machine's timer. CPU 0 runs parts whose shares are known: in hot() deep calls,
 * leaf functions and prologues, in warm() a shallow loop, in cold() interrupts are off. It measures each part by its
 * own clock before there are interrupts, and prints that. If the command line is "both", CPU 1 gets an NMI, or what its
 * machine has instead, with each sample of CPU 0, and is profiled by it.
 */
#include "cpu.h"
#include "sfu_profile.h"

enum { SAMPLES = 2000, IDLE_SAMPLES = 25, MEASURED = 200, DEPTH = 7 };

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

/* The time of MEASURED runs of PART. */
static uint64_t time_of(void (*part)(void))
{
    uint64_t begin = cpu_clock();
    unsigned i;

    for (i = 0; i < MEASURED; i++)
        part();
    return cpu_clock() - begin;
}

/* Gives hot() 70%, warm() 20%, cold() 10%, as near as passes of a loop can. */
static void share_out(void)
{
    uint64_t hot_time = time_of(hot), warm_time;

    warm_passes = 10000;
    warm_time = time_of(warm);
    warm_passes = warm_passes * hot_time * 2 / 7 / warm_time;
    cold_passes = warm_passes / 2;
}

/* ---- the profile ---- */

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[];

static struct sfu_fast fast;
static struct sfu_fast_image images[4];
static struct sfu_profile profiles[2];
static uint64_t memory[2][4096], cache[1024];
static volatile bool idle;
static bool both; /* CPUs are profiled */
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
    sfu_profile_sample(&profiles[cpu], &fast, &kernel_target, &at, cpu == 0 && idle);
    if (cpu == 0) {
        machine_start_timer();
        if (both)
            machine_stop_others();
    }
    return true;
}

/* CPU 1 has one thing to do. */
PART void second_work(void)
{
    loop_of_warm(5000);
    sink = 1;
}

PART void second_main(void)
{
    machine_enable();
    for (;;)
        second_work();
}

static void print_profile(unsigned cpu)
{
    const struct sfu_depot_report report = {
        .name = cpu == 0 ? "cpu0" : "cpu1", .build_id = build_id_start, .build_id_end = build_id_end, .rate = 1000};

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

    if (sfu_fast_add(&fast, images, sizeof images / sizeof images[0], kernel_target.sections) != SFU_OK)
        panic("no tables");
    kernel_target.sections = sfu_fast_sections(&fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    for (cpu = 0; cpu < 2; cpu++)
        if (!sfu_profile_init(&profiles[cpu], memory[cpu], sizeof memory[cpu], (uintptr_t)image_start) ||
            !sfu_profile_start(&profiles[cpu]))
            panic("no profile");
}

/* So often as a random number says each: the timer must not keep step with it. */
PART void work(void)
{
    uint64_t random = 1;
    unsigned times, i;

    while (profiles[0].samples < SAMPLES) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        times = 1 + (unsigned)(random >> 60);
        for (i = 0; i < times; i++)
            hot();
        for (i = 0; i < times; i++)
            warm();
        for (i = 0; i < times; i++)
            cold();
    }
}

PART void wait(void)
{
    idle = true;
    while (profiles[0].idle < IDLE_SAMPLES)
        __asm__ volatile("" : : : "memory");
}

bool kernel_handle(struct trap *trap, bool timer)
{
    return sample(trap) || timer;
}

void kernel_main(const char *command_line)
{
    both = command_line != NULL && command_line[0] == 'b';
    share_out();
    print_truth();
    start();
    if (both) {
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
    if (both)
        print_profile(1);
}
