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
    .skip 16384
stack_top:
