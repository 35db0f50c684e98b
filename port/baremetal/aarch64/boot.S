/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's -kernel (EL1, MMU off) to C, exception vectors, thread switch. The kernel runs on SP_EL0 and takes
 * exceptions and interrupts on SP_EL1, so that a stack that has run over can be reported.
 */
#include "machine.h"
#include "sfu_asm.h"

/* ---- start ---- */

    /* Before the first function that signs its return address. The width of addresses is part of a signature. */
    .macro set_address_format
    movz x1, #MACHINE_TCR & 0xffff
    movk x1, #MACHINE_TCR >> 16, lsl #16
    msr tcr_el1, x1
#ifdef __ARM_FEATURE_PAC_DEFAULT
    .arch armv8.3-a
    movz x1, #0x5f75                    /* any key: a real kernel takes a random one */
    msr apiakeylo_el1, x1
    msr apiakeyhi_el1, x1
    mrs x1, sctlr_el1
    orr x1, x1, #1 << 31                /* EnIA */
    msr sctlr_el1, x1
#endif
    isb
    .endm

    .section .text.boot, "ax", %progbits
    sfu_outermost_begin boot            /* nothing called this: traces end here, and say that they are complete */
    msr spsel, #1
    adrp x1, exception_stack_top
    add sp, x1, :lo12:exception_stack_top
    msr spsel, #0
    adrp x1, boot_stack_top
    add sp, x1, :lo12:boot_stack_top
    set_address_format
    mov x0, #0
    bl kernel_start
    sfu_outermost_end boot

    sfu_outermost_begin boot_again      /* (distance of the image, argument of kernel_restart) */
    msr spsel, #1
    adrp x2, exception_stack_top
    add sp, x2, :lo12:exception_stack_top
    msr spsel, #0
    adrp x2, boot_stack_top
    add sp, x2, :lo12:boot_stack_top
    bl kernel_restart
    sfu_outermost_end boot_again

    sfu_outermost_begin boot_second     /* X0: its stacks, for exceptions and its own */
    ldp x1, x2, [x0]
    msr spsel, #1
    mov sp, x1
    msr spsel, #0
    mov sp, x2
    set_address_format
    bl machine_second
    sfu_outermost_end boot_second

/* ---- exceptions ---- */

    .macro vector from, irq
    .balign 128
    sub sp, sp, #TRAP_SIZE
    stp x0, x1, [sp]
    .ifc \from, sp0
    mrs x0, sp_el0
    .else
    add x0, sp, #TRAP_SIZE
    .endif
    mov x1, #\irq
    b exception_entry
    .endm

    .text
    .balign 2048
    .globl vectors
vectors:
    vector sp0, 0
    vector sp0, 1
    .balign 256                         /* FIQ and SError: masked */
    .balign 512
    vector sp1, 0
    vector sp1, 1
    .balign 256

    .globl exception_entry, exception_entry_end, exception_known, exception_saved, exception_restored
    .type exception_entry, %function
exception_entry:                        /* X0: interrupted SP, X1: whether it is an interrupt; both saved */
    stp x2, x3, [sp, #16]
    stp x4, x5, [sp, #32]
    stp x6, x7, [sp, #48]
    stp x8, x9, [sp, #64]
    stp x10, x11, [sp, #80]
    stp x12, x13, [sp, #96]
    stp x14, x15, [sp, #112]
    stp x16, x17, [sp, #128]
    stp x18, x19, [sp, #144]
    stp x20, x21, [sp, #160]
    stp x22, x23, [sp, #176]
    stp x24, x25, [sp, #192]
    stp x26, x27, [sp, #208]
    stp x28, x29, [sp, #224]
    stp x30, x0, [sp, #240]
    mrs x2, elr_el1
    mrs x3, spsr_el1
    stp x2, x3, [sp, #TRAP_PC]
exception_known:
    mrs x2, esr_el1
    mrs x3, far_el1
    stp x2, x3, [sp, #TRAP_PC + 16]
    str x1, [sp, #TRAP_PC + 32]
    mov x0, sp
exception_saved:
    bl kernel_trap
    ldp x2, x3, [sp, #TRAP_PC]
    ldr x0, [sp, #TRAP_SP]
    stp x2, x0, [sp, #TRAP_RETURN]
    msr elr_el1, x2
    msr spsr_el1, x3
    ldp x2, x3, [sp, #16]
    ldp x4, x5, [sp, #32]
    ldp x6, x7, [sp, #48]
    ldp x8, x9, [sp, #64]
    ldp x10, x11, [sp, #80]
    ldp x12, x13, [sp, #96]
    ldp x14, x15, [sp, #112]
    ldp x16, x17, [sp, #128]
    ldp x18, x19, [sp, #144]
    ldp x20, x21, [sp, #160]
    ldp x22, x23, [sp, #176]
    ldp x24, x25, [sp, #192]
    ldp x26, x27, [sp, #208]
    ldp x28, x29, [sp, #224]
    ldr x30, [sp, #240]
    ldp x0, x1, [sp], #TRAP_SIZE
exception_restored:
    eret
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* No row before the PC is on the stack: an exception there has written over ELR_EL1. None for ERET, where the
     * frame lies below SP: machine_crossed. */
    sfu_trap_begin exception_entry, exception_restored
    sfu_trap_row exception_known, cfa=TRAP_SP, ra=TRAP_PC, fp=TRAP_X29
    sfu_trap_end

/* ---- threads ---- */

    .globl thread_switch, thread_left
    .type thread_switch, %function
thread_switch:                          /* (X0: where to save SP, X1: SP to go on with) */
    .cfi_startproc
    stp x29, x30, [sp, #-96]!
    .cfi_def_cfa_offset 96
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    mov x2, sp
    str x2, [x0]
    mov sp, x1
thread_left:
    ldp x27, x28, [sp, #80]
    ldp x25, x26, [sp, #64]
    ldp x23, x24, [sp, #48]
    ldp x21, x22, [sp, #32]
    ldp x19, x20, [sp, #16]
    ldp x29, x30, [sp], #96
    .cfi_restore x29
    .cfi_restore x30
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size thread_switch, . - thread_switch

    sfu_outermost_begin thread_start    /* X19: the thread's entry */
    blr x19
    udf #0
    sfu_outermost_end thread_start

    .bss
    .balign 16
    .globl exception_stack, exception_stack_top
exception_stack:
    .skip 16384
exception_stack_top:
    .section .note.GNU-stack, "", %progbits
