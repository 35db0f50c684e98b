/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The smallest firmware that crashes: an interrupt comes over a task that has a stack of its own, and follows a wild
 * pointer. `make cortexm` shows the report. */
#include "board.h"
#include "sfu_cortexm.h"

static void put(void *ctx, char c)
{
    (void)ctx;
    board_putc(c);
}

static void end(void)
{
    board_exit(false);
}

static struct sfu_panic panic = {.put = put, .image = "firmware.elf"};
static struct sfu_cortexm cortexm;
SFU_CORTEXM_FAULTS(cortexm, end)

__attribute__((__noinline__)) int read_sensor(const volatile int *sensor);
int read_sensor(const volatile int *sensor)
{
    __asm__ volatile("udf #0");
    return *sensor + 1;
}

void SysTick_Handler(void);
void SysTick_Handler(void)
{
    if (read_sensor((const volatile int *)0x60000000) != 0)
        board_print("read\n");
}

__attribute__((__noinline__)) void work(unsigned n);
void work(unsigned n)
{
    *ICSR = 1u << 26; /* SysTick, now */
    __asm__ volatile("dsb\n\tisb" : : "r"(n));
}

_Noreturn static void task(void)
{
    SFU_CORTEXM_OUTERMOST();
    for (;;)
        work(7);
}

static uint8_t task_stack[1024] __attribute__((__aligned__(8)));

void board_main(const char *command_line)
{
    (void)command_line;
    sfu_cortexm_init(&cortexm, &panic, sframe_start, sframe_end, ram_start, ram_end);
    board_run(task, task_stack + sizeof task_stack);
}
