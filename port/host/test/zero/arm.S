/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The kernel runs in RUN_MODE, and exceptions go on on the stack of ENTRY_MODE. */
#ifndef RUN_MODE
#define RUN_MODE 0x13
#endif
#ifndef ENTRY_MODE
#define ENTRY_MODE 0x13
#endif
    .macro hand_over target
#if defined BY_HAND
    adr lr, 9f
    b \target
9:
#elif defined RETURN_ELSEWHERE
    adr lr, elsewhere_behind
    b \target
    udf #1
    .globl elsewhere_behind
elsewhere_behind:
#else
    bl \target
#endif
    .endm
    .section .text.boot, "ax"
    .arm
    .globl start
start:
    ldr sp, =stack_top
    ldr r0, =vectors
    mcr p15, 0, r0, c12, c0, 0
    isb
#if RUN_MODE != 0x13
    cps #0x1f
    ldr sp, =other_top
    cps #RUN_MODE
#elif ENTRY_MODE != 0x13
    cps #0x1f
    ldr sp, =other_top
    cps #0x13
    ldr sp, =stack_top
#endif
    bl kernel_main
1:  b 1b

    .text
    .balign 32
    .globl vectors
vectors:
    b .
    b undefined_entry
    b undefined_entry                   /* svc */
    b undefined_entry                   /* bkpt */
    b .
    b .
    b .
    b .
    .globl prologue
prologue:
    bkpt #0
    push {r4, lr}
    bkpt #0
    mov r0, #1
    bl leaf
    pop {r4, lr}
    bkpt #0
    bx lr

    .globl undefined_entry
undefined_entry:
    sub lr, lr, #4
    srsdb sp!, #ENTRY_MODE
    cpsid i, #ENTRY_MODE
    push {r0-r12, lr}
    mov r0, sp
    hand_over handle
    pop {r0-r12, lr}
    rfeia sp!

#ifdef STACK_IN_CODE
    .text
#else
    .bss
#endif
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
    .skip 16384
other_top:
