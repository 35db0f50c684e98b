/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's -kernel (64-bit mode, DAT off) to C, interruption entries, thread switch. Program interruptions
 * have a stack of their own, so that a stack that has run over can be reported; so have external ones.
 */
#include "machine.h"
#include "sfu_asm.h"

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

    .globl boot_second
    sfu_outermost_begin boot_second
    lg %r15, SECOND_STACK
    aghi %r15, -160
    brasl %r14, machine_second
    sfu_outermost_end boot_second

    .org 0x480                          /* at 0x10480: where QEMU puts the command line */
    .globl parameters
parameters:
    .skip 896

/* ---- interruptions ---- */

    /* The way to exception_saved: registers from SAVED, PSW from OLD, both in the low core. */
    .macro save saved, old, irq
    mvc TRAP_PSW(16, %r15), \old
    mvc TRAP_GPRS(128, %r15), \saved
    lghi %r1, \irq
    stg %r1, TRAP_IRQ(%r15)
    la %r2, TRAP_GPRS(%r15)
    lg %r1, TRAP_R15(%r15)
    aghi %r1, 160
    stg %r1, TRAP_CFA(%r15)
    .endm

    /* The way back, by a PSW in the low core. One for each: a program interruption in the other's way back returns. */
    .macro restore return
    mvc \return(16), TRAP_PSW(%r15)
    lmg %r0, %r15, TRAP_GPRS(%r15)
    .endm

    .text
    .globl program_entry, program_saved, program_restored
    .globl external_entry, external_switched, external_saved, external_restored
    .globl exception_entry, exception_entry_end
    .type exception_entry, @function
exception_entry:
program_entry:
    stmg %r0, %r15, PROGRAM_SAVED
    larl %r1, exception_stack
    lgr %r2, %r15
    slgr %r2, %r1
    clgfi %r2, STACK_SIZE               /* a fault in a fault stays on the stack */
    jle 1f
    larl %r15, exception_stack + STACK_SIZE
1:  aghi %r15, -TRAP_SIZE
    llgf %r1, 0x8c                      /* instruction length, code */
    stg %r1, TRAP_CODE(%r15)
    lg %r1, 0xa8                        /* translation-exception address */
    stg %r1, TRAP_ADDRESS(%r15)
    save PROGRAM_SAVED, 0x150, 0
program_saved:
    brasl %r14, kernel_trap
    restore PROGRAM_RETURN
program_restored:
    lpswe PROGRAM_RETURN

external_entry:
    stmg %r0, %r15, EXTERNAL_SAVED
    larl %r15, interrupt_stack + STACK_SIZE
external_switched:
    aghi %r15, -TRAP_SIZE
    save EXTERNAL_SAVED, EXTERNAL_OLD, 1
external_saved:
    brasl %r14, kernel_trap
    restore EXTERNAL_RETURN
external_restored:
    lpswe EXTERNAL_RETURN
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* No table where PC or SP are in the low core, at which no row can point: machine_crossed. */
    sfu_trap_begin program_saved, program_restored
    sfu_trap_row program_saved, cfa=TRAP_CFA, ra=TRAP_PC, fp=TRAP_R11
    sfu_trap_end
    sfu_trap_begin external_saved, external_restored
    sfu_trap_row external_saved, cfa=TRAP_CFA, ra=TRAP_PC, fp=TRAP_R11
    sfu_trap_end

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
