/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The recipe of docs/profiling.md, in the order of its lines, in a kernel that it turns into a profile. RISC-V of 32
 * bits leaves out the fast walker, as that page says.
 */
#include "cpu.h"
#include "sfu_profile.h"

enum { SAMPLES = 50 };

static struct sfu_target target; /* the kernel's */
static const bool is_idle = false;

extern uint8_t image_start[];

static struct sfu_fast fast;
#if CPU_HAS_FAST
static struct sfu_fast_image image;
#endif
static struct sfu_profile profile;
static uint64_t memory[8192];

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static const struct sfu_panic panic_printer = {.put = put, .target = &kernel_target};

static void at_boot(void)
{
#if CPU_HAS_FAST
    sfu_fast_add(&fast, &image, 1, target.sections);
    target.sections = sfu_fast_sections(&fast);
#endif
    sfu_profile_init(&profile, memory, sizeof memory, (uintptr_t)image_start);
    sfu_profile_start(&profile);
}

static bool in_the_timer_interrupt(struct trap *trap)
{
    struct sfu_registers interrupted = kernel_interrupted(trap);

    sfu_profile_sample(&profile, &fast, &target, &interrupted, is_idle);
    machine_start_timer();
    return true;
}

static void at_the_end(void)
{
    sfu_profile_print(&profile, &panic_printer, &(struct sfu_depot_report){.rate = 1000});
}

bool kernel_handle(struct trap *trap, bool timer)
{
    return in_the_timer_interrupt(trap) || timer;
}

void kernel_main(const char *command_line)
{
    (void)command_line;
    target = kernel_target;
    at_boot();
    machine_start_timer();
    machine_enable();
    while (profile.samples < SAMPLES)
        __asm__ volatile("" : : : "memory");
    cpu_disable();
    at_the_end();
}
