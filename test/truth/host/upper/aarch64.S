/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* From QEMU's -kernel (EL1, MMU off) to kernel_main in the upper half. */
#include "upper.h"

#if GRANULE == 12
#define GRANULES (2 << 30 | 0 << 14)
#elif GRANULE == 14
#define GRANULES (1 << 30 | 2 << 14)
#else
#define GRANULES (3 << 30 | 1 << 14)
#endif
#define SIZES ((64 - VA_BITS) << 16 | (64 - VA_BITS))
#define WALKS 0x35003500                /* of tables: normal memory, shareable */
#define TCR   ((2 << 32) | WALKS | GRANULES | SIZES)

    .section .boot, "ax", %progbits
    .globl boot
boot:
    ldr x0, =0x40f00000
    mov sp, x0
    mrs x0, cpacr_el1
    orr x0, x0, #3 << 20
    msr cpacr_el1, x0
    bl early
    mov x9, x0
    mov x0, #0xff
    msr mair_el1, x0
    ldr x0, =TCR
    msr tcr_el1, x0
    msr ttbr0_el1, x9
    msr ttbr1_el1, x9
    dsb sy
    tlbi vmalle1
    isb
    mrs x0, sctlr_el1
    orr x0, x0, #1
    msr sctlr_el1, x0
    isb
    ldr x1, =upper
    br x1
    .ltorg

    .text
    .globl upper
    .type upper, %function
upper:
    .cfi_startproc
    .cfi_undefined x30
    ldr x0, =TCR | 1 << 7               /* EPD0: the lower half is gone */
    msr tcr_el1, x0
    isb
    tlbi vmalle1
    ldr x0, =STACK + (STACK_PAGES << GRANULE)
    mov sp, x0
    bl kernel_main
    nop
    .cfi_endproc
    .size upper, . - upper
    .ltorg

    .globl thread_switch, thread_left
    .type thread_switch, %function
thread_switch:                          /* (X0: where to save SP, X1: SP to go on with) */
    .cfi_startproc
    stp x29, x30, [sp, #-96]!
    .cfi_def_cfa_offset 96
    .cfi_offset x29, -96
    .cfi_offset x30, -88
    stp x19, x20, [sp, #16]
    .cfi_offset x19, -80
    .cfi_offset x20, -72
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
    .cfi_def_cfa_offset 0
    .cfi_restore x29
    .cfi_restore x30
    ret
    .cfi_endproc
    .size thread_switch, . - thread_switch

    .globl thread_start
    .type thread_start, %function
    .cfi_startproc
    .cfi_undefined x30
    nop                                 /* a return address belongs to what is before it */
thread_start:                           /* X19: the thread's entry */
    blr x19
    brk #0
    .cfi_endproc
    .section .note.GNU-stack, "", %progbits
