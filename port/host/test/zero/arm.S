/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
    .section .text.boot, "ax"
    .arm
    .globl start
start:
    ldr sp, =stack_top
    bl kernel_main
1:  b 1b

    .text
    .balign 32
    .globl vectors
vectors:
    b .
    b undefined_entry
    b .
    b .
    b .
    b .
    b .
    b .
    .globl prologue
prologue:
    .inst 0xe7f000f0
    push {r4, lr}
    .inst 0xe7f000f0
    mov r0, #1
    bl leaf
    pop {r4, lr}
    .inst 0xe7f000f0
    bx lr

    .globl undefined_entry
undefined_entry:
    sub lr, lr, #4
    srsdb sp!, #0x13
    cps #0x13
    push {r0-r12, lr}
    mov r0, sp
    bl handle
    pop {r0-r12, lr}
    rfeia sp!

    .bss
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
