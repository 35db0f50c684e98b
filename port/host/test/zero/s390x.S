/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
    .macro hand_over target
#if defined BY_HAND
    larl %r14, 9f
    jg \target
9:
#elif defined RETURN_ELSEWHERE
    larl %r14, elsewhere_behind
    jg \target
    j .
    .globl elsewhere_behind
elsewhere_behind:
#else
    brasl %r14, \target
#endif
    .endm
    .section .text.boot, "ax", @progbits
    .globl start
start:
    larl %r15, stack_top - 160
    brasl %r14, kernel_main
1:  j 1b
    .skip 2048                          /* QEMU writes the command line here */

    .macro fault
    lghi %r1, 0
    lghi %r4, 0
    lghi %r5, 1
    dlgr %r4, %r1
    .endm
    .text
    .globl prologue
prologue:
    fault
    stmg %r14, %r15, 112(%r15)
    aghi %r15, -160
    fault
    lghi %r2, 1
    brasl %r14, leaf
    lmg %r14, %r15, 272(%r15)
    fault
    br %r14

#ifdef UNHANDLED
    .globl stop_entry
stop_entry:
    larl %r15, stack_top - 160
    brasl %r14, stopped
1:  j 1b
#endif

    .globl program_entry
program_entry:
    stmg %r0, %r15, 0x200
    aghi %r15, -304
    mvc 160(128, %r15), 0x200
    mvc 288(16, %r15), 0x150
    la %r2, 160(%r15)
    hand_over handle
#ifdef LAST_FAULT
2:  j 2b
#endif
    mvc 0x280(16), 288(%r15)
    lmg %r0, %r15, 160(%r15)
#ifndef LAST_FAULT
    lpswe 0x280
#endif

#ifdef STACK_IN_CODE
    .text
#else
    .bss
#endif
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
