/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * A firmware that profiles a task by SysTick: the core walks, a depot keeps the traces. work_three takes three times as
 * long as work_one. The block between the lines is that of docs/cortexm.md.
 */
#include "board.h"
#include "sfu_cortexm.h"
#include "sfu_depot_print.h"

enum { SAMPLES = 400, PERIOD = 20011 };

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

/* ---- the recipe ---- */

static struct sfu_depot depot;
static uint64_t memory[256];
static struct sfu_cortexm sampled; /* a copy of cortexm, and its target */
static struct sfu_target target;
static struct sfu_walk walk; /* only SysTick uses it */

SFU_CORTEXM_ENTRY(SysTick_Handler, on_tick)
void on_tick(const struct sfu_cortexm_entry *entry)
{
    struct sfu_registers top;
    uint64_t pcs[16];
    size_t count = 0;

    (void)sfu_cortexm_registers(&sampled, entry, &top);
    sfu_walk_start(&walk, &target, &top);
    do
        pcs[count++] = walk.frame.regs.pc;
    while (count < 16 && sfu_walk_step(&walk) == SFU_OK);
    (void)sfu_depot_add(&depot, pcs, count, 1);
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

static uint32_t samples(void)
{
    uint32_t h, sum = 0;
    int64_t weight;
    uint64_t pc;

    for (h = sfu_depot_next(&depot, 0); h != 0; h = sfu_depot_next(&depot, h)) {
        (void)sfu_depot_get(&depot, h, 0, &pc, 1, &weight);
        sum += (uint32_t)weight;
    }
    return sum;
}

__attribute__((__noinline__)) void both(void);
void both(void)
{
    work_one();
    work_three();
    *ICSR = 1u << 28; /* PendSV */
    __asm__ volatile("dsb\n\tisb" : : : "memory");
}

_Noreturn static void task(void)
{
    SFU_CORTEXM_OUTERMOST();
    while (samples() < SAMPLES)
        both();
    *SYSTICK_CONTROL = 0;
    sfu_depot_print(&panic, &depot, &(struct sfu_depot_report){.rate = 1000, .exact = true});
    board_exit(true);
}

static uint8_t stack[2048] __attribute__((__aligned__(8)));

void board_main(const char *command_line)
{
    (void)command_line;
    sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end);
    sampled = cortexm;
    target = panic.own;
    target.ctx = &sampled;
    sfu_depot_init(&depot, memory, sizeof memory, 0);
    *board_register(0xe000ed20) = 0x00ff0000; /* SHPR3: PendSV is the least, SysTick the first */
    *SYSTICK_RELOAD = PERIOD;
    *SYSTICK_NOW = 0;
    *SYSTICK_CONTROL = 7;
    board_run(task, stack + sizeof stack);
}
