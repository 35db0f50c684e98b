/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's -kernel (64-bit mode, DAT off) to C, interruption entries, thread switch. Program interruptions
 * have a stack of their own, so that a stack that has run over can be reported; so have external ones.
 */
#include "machine.h"
#include "sfu_asm.h"

#define SAVED 0x200                     /* in the low core, free for the system: registers on their way */
#define RETURN 0x280
#define STACK_SIZE 16384

/* ---- start ---- */

    .section .text.boot, "ax", @progbits
    sfu_outermost_begin boot            /* nothing called this: traces end here, and say that they are complete */
    larl %r15, boot_stack_top
    aghi %r15, -160
    lghi %r2, 0
    brasl %r14, kernel_start
    sfu_outermost_end boot

    sfu_outermost_begin boot_again      /* (distance of the image, argument of kernel_restart) */
    larl %r15, boot_stack_top
    aghi %r15, -160
    brasl %r14, kernel_restart
    sfu_outermost_end boot_again

    .org 0x480                          /* at 0x10480: where QEMU puts the command line */
    .globl parameters
parameters:
    .skip 896

/* ---- interruptions ---- */

    .text
    .globl program_entry
program_entry:
    stmg %r0, %r15, SAVED
    larl %r1, exception_stack
    lgr %r2, %r15
    slgr %r2, %r1
    clgfi %r2, STACK_SIZE               /* a fault in a fault stays on the stack */
    jle 1f
    larl %r15, exception_stack + STACK_SIZE
1:  aghi %r15, -TRAP_SIZE
    mvc TRAP_PSW(16, %r15), 0x150
    llgf %r1, 0x8c                      /* instruction length, code */
    stg %r1, TRAP_CODE(%r15)
    lg %r1, 0xa8                        /* translation-exception address */
    stg %r1, TRAP_ADDRESS(%r15)
    lghi %r1, 0
    j exception_entry

    .globl external_entry
external_entry:
    stmg %r0, %r15, SAVED
    larl %r15, interrupt_stack + STACK_SIZE
    aghi %r15, -TRAP_SIZE
    mvc TRAP_PSW(16, %r15), 0x130
    lghi %r1, 1

    .globl exception_entry, exception_entry_end
    .type exception_entry, @function
exception_entry:
    stg %r1, TRAP_IRQ(%r15)
    mvc TRAP_GPRS(128, %r15), SAVED
    lg %r1, TRAP_R15(%r15)
    aghi %r1, 160
    stg %r1, TRAP_CFA(%r15)
    la %r2, TRAP_GPRS(%r15)
exception_saved:
    brasl %r14, kernel_trap
    mvc RETURN(16), TRAP_PSW(%r15)
    lmg %r0, %r15, TRAP_GPRS(%r15)
    lpswe RETURN
exception_entry_end:
    .size exception_entry, . - exception_entry

#ifndef KERNEL_TRAP_HOOK
    sfu_trap_begin exception_entry, exception_entry_end
    sfu_trap_row exception_saved, cfa=TRAP_CFA, ra=TRAP_PC, fp=TRAP_R11
    sfu_trap_end
#endif

/* ---- threads ---- */

    .globl thread_switch, thread_left
    .type thread_switch, @function
thread_switch:                          /* (R2: where to save SP, R3: SP to go on with) */
    .cfi_startproc
    stmg %r6, %r15, 48(%r15)
    .cfi_offset %r11, -72
    .cfi_offset %r14, -48
    .cfi_offset %r15, -40
    stg %r15, 0(%r2)
    lgr %r15, %r3
thread_left:
    lmg %r6, %r15, 48(%r15)
    .cfi_restore %r11
    .cfi_restore %r14
    .cfi_restore %r15
    br %r14
    .cfi_endproc
    .size thread_switch, . - thread_switch

    sfu_outermost_begin thread_start    /* R6: the thread's entry */
    basr %r14, %r6
    .word 0
    sfu_outermost_end thread_start

    .bss
    .balign 16
    .globl exception_stack, interrupt_stack
exception_stack:
    .skip STACK_SIZE
interrupt_stack:
    .skip STACK_SIZE
    .section .note.GNU-stack, "", @progbits
