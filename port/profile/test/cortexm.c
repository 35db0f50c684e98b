/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A firmware that profiles a task by SysTick. work_three takes three times as long as work_one, and the task idles as
 * long as work_one takes.
 */
#include "board.h"
#include "sfu_cortexm.h"
#include "sfu_profile.h"

enum { SAMPLES = 400, MORE_SAMPLES = 20, PERIOD = 20011 };

static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}

static void end(void)
{
    board_exit(false);
}

static struct sfu_panic panic = {.put = put, .image = "profile.elf"};
static struct sfu_cortexm cortexm;
SFU_CORTEXM_FAULTS(cortexm, end)

#if __ARM_ARCH_ISA_THUMB == 1

/* ---- what ARMv6-M has no instructions for ---- */

static uint32_t lock(void)
{
    uint32_t before;

    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(before) : : "memory");
    return before;
}

static void unlock(uint32_t before)
{
    __asm__ volatile("msr primask, %0" : : "r"(before) : "memory");
}

#define FETCH(name, result)                                                                                        \
    unsigned name(volatile void *at, unsigned value, int order);                                                   \
    unsigned name(volatile void *at, unsigned value, int order)                                                    \
    {                                                                                                              \
        volatile uint32_t *word = at;                                                                              \
        uint32_t masked = lock(), old = *word;                                                                     \
                                                                                                                   \
        (void)order;                                                                                               \
        *word = result;                                                                                            \
        unlock(masked);                                                                                            \
        return old;                                                                                                \
    }
FETCH(__atomic_fetch_add_4, old + value)
FETCH(__atomic_fetch_sub_4, old - value)
FETCH(__atomic_fetch_and_4, old &value)

bool __atomic_compare_exchange_4(volatile void *at, void *expected, unsigned value, bool weak, int order,
                                 int failed);
bool __atomic_compare_exchange_4(volatile void *at, void *expected, unsigned value, bool weak, int order,
                                 int failed)
{
    volatile uint32_t *word = at;
    uint32_t *want = expected, masked = lock(), old = *word;
    bool same = old == *want;

    (void)weak;
    (void)order;
    (void)failed;
    if (same)
        *word = value;
    unlock(masked);
    *want = old;
    return same;
}
#endif

/* ---- the recipe ---- */

static struct sfu_profile profile;
static uint64_t memory[256];
static struct sfu_cortexm sampled; /* a copy of cortexm, and its target */
static struct sfu_target target;
static volatile bool idle;

SFU_CORTEXM_ENTRY(SysTick_Handler, on_tick)
void on_tick(const struct sfu_cortexm_entry *entry)
{
    static uint32_t random;
    struct sfu_registers top;

    /* The next but one period: with a fixed one, samples would come at the same places of the loops. */
    random = random * 1103515245u + 12345;
    *SYSTICK_RELOAD = PERIOD + (random >> 18);
    if (sfu_cortexm_registers(&sampled, entry, &top) == SFU_OK)
        sfu_profile_sample(&profile, NULL, &target, &top, idle);
}

/* ---- what is profiled ---- */

static volatile uint32_t passes;

/* A context switch of an RTOS calls C in its exception: the traces of ticks in it cross two exceptions. */
void PendSV_Handler(void);
void PendSV_Handler(void)
{
    uint32_t i;

    for (i = 0; i < 2000; i++)
        passes++;
}

#define WORK(name, times)                                                                                          \
    __attribute__((__noinline__)) void name(void);                                                                 \
    void name(void)                                                                                                \
    {                                                                                                              \
        uint32_t i;                                                                                                \
                                                                                                                   \
        for (i = 0; i < 2000 * (times); i++)                                                                       \
            passes++;                                                                                              \
    }
WORK(work_one, 1)
WORK(work_three, 3)

__attribute__((__noinline__)) void both(void);
void both(void)
{
    work_one();
    work_three();
    *ICSR = 1u << 28; /* PendSV */
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

static void print(void)
{
    sfu_profile_print(&profile, &panic, &(struct sfu_depot_report){.rate = 1000});
}

_Noreturn static void task(void)
{
    SFU_CORTEXM_OUTERMOST();
    while (profile.samples < SAMPLES) {
        both();
        idle = true;
        work_one();
        idle = false;
    }
    if (sfu_profile_start(&profile) || !sfu_profile_stop(&profile))
        end();
    print();
    /* Anew: what was before is forgotten, and what comes after it has stopped does not count. */
    if (!sfu_profile_start(&profile))
        end();
    while (profile.samples < MORE_SAMPLES)
        work_three();
    (void)sfu_profile_stop(&profile);
    both();
    print();
    board_exit(profile.incomplete == 0);
}

static uint8_t stack[2048] __attribute__((__aligned__(8)));

void board_main(const char *command_line)
{
    (void)command_line;
    sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end);
    sampled = cortexm;
    target = panic.own;
    target.ctx = &sampled;
    if (!sfu_profile_init(&profile, memory, sizeof memory, 0) || !sfu_profile_start(&profile))
        end();
    *board_register(0xe000ed20) = 0x00ff0000; /* SHPR3: PendSV is the least, SysTick the first */
    *SYSTICK_RELOAD = PERIOD;
    *SYSTICK_NOW = 0;
    *SYSTICK_CONTROL = 7;
    board_run(task, stack + sizeof stack);
}
