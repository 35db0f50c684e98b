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

#ifdef USER
    .globl user_enter
user_enter:                             /* (X0: where the program begins, X1: its SP) */
    adr x2, vectors
    msr vbar_el1, x2
    ldr x2, =TCR                        /* the lower half is there again */
    msr tcr_el1, x2
    isb
    tlbi vmalle1
    msr elr_el1, x0
    msr sp_el0, x1
    msr spsr_el1, xzr
    ldr x2, =STACK + (STACK_PAGES << GRANULE)
    mov sp, x2
    isb
    eret
    .ltorg

    .balign 2048
vectors:
    .skip 0x400
    b user_entry

    .globl user_entry
    .type user_entry, %function
user_entry:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_undefined x30
    sub sp, sp, #272                    /* X0 to X30, SP, PC */
    stp x29, x30, [sp, #232]
    mrs x0, elr_el1
    mrs x1, sp_el0
    stp x1, x0, [sp, #248]
    .cfi_escape 0x0f, 4, 0x8f, 0xf8, 0x01, 0x06 /* CFA = *(SP + 248) */
    .cfi_escape 0x10, 30, 3, 0x8f, 0x80, 0x02 /* PC at SP + 256, X29 at SP + 232 */
    .cfi_escape 0x10, 29, 3, 0x8f, 0xe8, 0x01
    bl user_arrived
    nop
    .cfi_endproc
    .size user_entry, . - user_entry

    .section .user, "a"
    .globl user_image
user_image:
    .incbin USER_CODE
#endif
    .section .note.GNU-stack, "", %progbits
