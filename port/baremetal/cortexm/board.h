/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* What start.c brings: a board of QEMU with a Cortex-M. Its console and its command line are those of semihosting. */
#ifndef BOARD_H
#define BOARD_H

#include <stdbool.h>
#include <stdint.h>

/* cortexm.ld */
extern const uint8_t sframe_start[], sframe_end[];
extern uint8_t ram_start[], ram_end[], main_guard[], main_stack[], main_stack_top[];

void board_putc(char c);
void board_print(const char *text);
/* Ends QEMU: its exit status is 0 or 1. */
_Noreturn void board_exit(bool good);
/* The command line, in memory that stays. */
const char *board_command_line(void);

/* A register of the CPU's own. */
static inline volatile uint32_t *board_register(uint32_t address)
{
    return (volatile uint32_t *)address;
}
#define ICSR            board_register(0xe000ed04) /* interrupt control and state */
#define SHCSR           board_register(0xe000ed24) /* which faults have a handler */
#define SYSTICK_CONTROL board_register(0xe000e010)
#define SYSTICK_RELOAD  board_register(0xe000e014)
#define SYSTICK_NOW     board_register(0xe000e018)

/* Assembly between these two runs on a stack that nobody has called from: a trace from there ends there. Only a
 * compiler that writes CFI opens the function's. */
#ifdef __GCC_HAVE_DWARF2_CFI_ASM
#define BOARD_ON_NEW_STACK ".cfi_remember_state\n\t.cfi_undefined lr\n\t"
#define BOARD_ON_OLD_STACK "\n\t.cfi_restore_state"
#else
#define BOARD_ON_NEW_STACK ""
#define BOARD_ON_OLD_STACK ""
#endif

/* Goes on in TASK, which never returns, on the process stack, whose high end is STACK_END. */
static inline void board_run(void (*task)(void), uint8_t *stack_end)
{
    __asm__ volatile("msr psp, %0\n\t"
                     "movs r0, #2\n\t"
                     "msr control, r0\n\t" BOARD_ON_NEW_STACK "isb\n\t"
                     "bx %1" BOARD_ON_OLD_STACK
                     :
                     : "r"(stack_end), "r"(task)
                     : "r0", "memory");
    __builtin_unreachable();
}

/* The program. */
void board_main(const char *command_line);

#endif
