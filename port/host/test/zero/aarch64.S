/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
    .macro hand_over target
#if defined BY_HAND
    adr x30, 9f
    b \target
9:
#elif defined RETURN_ELSEWHERE
    adr x30, elsewhere_behind
    b \target
    brk #1
    .globl elsewhere_behind
elsewhere_behind:
#else
    bl \target
#endif
    .endm
    .section .text.boot, "ax"
    .globl start
start:
    ldr x0, =stack_top
    mov sp, x0
    bl kernel_main
1:  b 1b

    .text
    .macro vector to
    .balign 128
    b \to
    .endm
    .balign 2048
    .globl vectors
vectors:
    .rept 4
    vector hang
    .endr
#ifdef UNHANDLED
    vector trace_fault
#else
    vector sync_entry
#endif
    .rept 11
    vector hang
    .endr
hang:
    b hang

    .globl prologue
prologue:
    brk #0
    stp x29, x30, [sp, #-32]!
    brk #0
    mov w0, #1
    bl leaf
    ldp x29, x30, [sp], #32
    brk #0
    ret

#ifdef UNHANDLED
    .globl stop_entry
stop_entry:
    ldr x0, =stack_top
    mov sp, x0
    bl stopped
1:  b 1b

    .globl sync_entry
#endif
sync_entry:
    sub sp, sp, #272
    stp x0, x1, [sp]
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
    mrs x1, elr_el1
    stp x30, x1, [sp, #240]
    mrs x2, spsr_el1
    str x2, [sp, #256]
    mov x0, sp
    hand_over handle
    ldr x2, [sp, #256]
    msr spsr_el1, x2
    ldp x30, x1, [sp, #240]
    msr elr_el1, x1
    ldp x28, x29, [sp, #224]
    ldp x26, x27, [sp, #208]
    ldp x24, x25, [sp, #192]
    ldp x22, x23, [sp, #176]
    ldp x20, x21, [sp, #160]
    ldp x18, x19, [sp, #144]
    ldp x16, x17, [sp, #128]
    ldp x14, x15, [sp, #112]
    ldp x12, x13, [sp, #96]
    ldp x10, x11, [sp, #80]
    ldp x8, x9, [sp, #64]
    ldp x6, x7, [sp, #48]
    ldp x4, x5, [sp, #32]
    ldp x2, x3, [sp, #16]
    ldp x0, x1, [sp]
    add sp, sp, #272
    eret

#ifdef STACK_IN_CODE
    .text
#else
    .bss
#endif
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
