/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Vectors and start-up code of a Cortex-M, as a vendor's would be, and semihosting. */
#include "board.h"
#include "sfu_cortexm.h"

enum { SYS_WRITEC = 3, SYS_WRITE0 = 4, SYS_GET_CMDLINE = 0x15, SYS_EXIT_EXTENDED = 0x20 };

static char command_line[64];

static uint32_t semihosting(uint32_t operation, const void *block)
{
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = block;

    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

void board_putc(char c)
{
    semihosting(SYS_WRITEC, &c);
}

void board_print(const char *text)
{
    semihosting(SYS_WRITE0, text);
}

_Noreturn void board_exit(bool good)
{
    const uint32_t block[2] = {0x20026, good ? 0 : 1}; /* the application has ended */

    semihosting(SYS_EXIT_EXTENDED, block);
    for (;;) {
    }
}

const char *board_command_line(void)
{
    const struct {
        char *buffer;
        uint32_t size;
    } block = {command_line, sizeof command_line};

    semihosting(SYS_GET_CMDLINE, &block);
    return command_line;
}

/* ---- start ---- */

extern uint32_t data_start[], data_end[], data_load[], bss_start[], bss_end[];

void Reset_Handler(void);
void Reset_Handler(void)
{
    const uint32_t *from = data_load;
    uint32_t *to;

    SFU_CORTEXM_OUTERMOST();
#ifdef __ARM_FP
    *board_register(0xe000ed88) |= 0xf00000; /* CPACR: the FPU is on; loops may be those of MVE */
    __asm__ volatile("dsb\n\tisb");
#endif
    for (to = data_start; to < data_end; to++)
        *to = *from++;
    for (to = bss_start; to < bss_end; to++)
        *to = 0;
    board_main(board_command_line());
    board_exit(true);
}

static void no_handler(void)
{
    board_print("an exception without a handler\n");
    board_exit(false);
}

/* Each program defines those that it uses. */
#define HANDLER(name) void name(void) __attribute__((__weak__, __alias__("no_handler")));
HANDLER(NMI_Handler)
HANDLER(HardFault_Handler)
HANDLER(MemManage_Handler)
HANDLER(BusFault_Handler)
HANDLER(UsageFault_Handler)
HANDLER(SecureFault_Handler)
HANDLER(SVC_Handler)
HANDLER(DebugMon_Handler)
HANDLER(PendSV_Handler)
HANDLER(SysTick_Handler)
HANDLER(IRQ0_Handler)
HANDLER(IRQ1_Handler)
HANDLER(IRQ2_Handler)
HANDLER(IRQ3_Handler)

__attribute__((__section__(".vectors"), __used__)) void (*const vectors_table[20])(void) = {
    (void (*)(void))(uintptr_t)main_stack_top,
    Reset_Handler,
    NMI_Handler,
    HardFault_Handler,
    MemManage_Handler,
    BusFault_Handler,
    UsageFault_Handler,
    SecureFault_Handler,
    0,
    0,
    0,
    SVC_Handler,
    DebugMon_Handler,
    0,
    PendSV_Handler,
    SysTick_Handler,
    IRQ0_Handler,
    IRQ1_Handler,
    IRQ2_Handler,
    IRQ3_Handler,
};

/* ---- what compilers expect to exist ---- */

void *memcpy(void *restrict to, const void *restrict from, size_t len);
void *memset(void *to, int value, size_t len);

void *memcpy(void *restrict to, const void *restrict from, size_t len)
{
    uint8_t *t = to;
    const uint8_t *f = from;

    while (len-- > 0)
        *t++ = *f++;
    return to;
}

void *memset(void *to, int value, size_t len)
{
    uint8_t *t = to;

    while (len-- > 0)
        *t++ = (uint8_t)value;
    return to;
}
