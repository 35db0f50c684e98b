/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* sqlite in a kernel without an operating system, sampled by its own timer: the flame graph of docs/profiling.md.
 * x86_64. */
#include "cpu.h"
#include "sfu_profile.h"

/* The program, as it is stepped elsewhere: test/truth/step/programs. */
int step_main(void);
void step_mark(long i, long n);
long step_syscall(long n, ...);

extern const char build_id_start[], build_id_end[];
extern uint8_t image_start[];

static struct sfu_fast fast;
static struct sfu_fast_image images[4];
static struct sfu_profile profile;
static uint64_t memory[1 << 18], cache[1024];

void step_mark(long i, long n)
{
    (void)i;
    (void)n;
}

long step_syscall(long n, ...)
{
    (void)n;
    return -1;
}

static void put(void *ctx, char c)
{
    (void)ctx;
    machine_putc(c);
}

static bool sample(struct trap *trap)
{
    struct sfu_registers at;

    if (!is_sample(trap))
        return false;
    at = kernel_interrupted(trap);
    sfu_profile_sample(&profile, &fast, &kernel_target, &at, false);
    machine_start_timer();
    return true;
}

/* sqlite computes with SSE; nothing in an interrupt does. */
static void enable_sse(void)
{
    uint64_t value;

    __asm__ volatile("mov %%cr4, %0" : "=r"(value));
    __asm__ volatile("mov %0, %%cr4" : : "r"(value | 0x600)); /* OSFXSR, OSXMMEXCPT */
}

bool kernel_handle(struct trap *trap, bool timer)
{
    return sample(trap) || timer;
}

void kernel_main(const char *command_line)
{
    const struct sfu_depot_report report = {.build_id = build_id_start, .build_id_end = build_id_end, .rate = 1000};
    const struct sfu_panic console = {.put = put, .target = &kernel_target};

    (void)command_line;
    enable_sse();
    if (sfu_fast_add(&fast, images, sizeof images / sizeof images[0], kernel_target.sections) != SFU_OK)
        panic("no tables");
    kernel_target.sections = sfu_fast_sections(&fast);
    sfu_fast_set_cache(&fast, cache, sizeof cache);
    if (!sfu_profile_init(&profile, memory, sizeof memory, (uintptr_t)image_start) || !sfu_profile_start(&profile))
        panic("no profile");
    machine_start_timer();
    machine_enable();
    if (step_main() != 0)
        panic("sqlite failed");
    cpu_disable();
    sfu_profile_print(&profile, &console, &report);
    sfu_print_number(&console, "samples ", profile.samples, 10, 1);
    sfu_print_number(&console, " incomplete ", profile.incomplete, 10, 1);
    sfu_print_text(&console, "\n");
}
