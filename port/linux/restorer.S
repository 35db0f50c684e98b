/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The restorer: a signal handler returns to it.
 *
 * A handler's return address is the first byte of its restorer, and a walk looks up the byte before. So there is a nop
 * in front of each. The table describes that of restorer_table; it must not describe the other one.
 */
#include "arch/sfu_asm.h"

    .text
#if defined(__x86_64__)
    .p2align 4
    .globl sfu_linux_restorer
    .type signal_return, %function
signal_return:
    nop
sfu_linux_restorer:
    movl $15, %eax
    syscall
    .size signal_return, . - signal_return
#endif

/* With an older toolchain, the one that SFU_NO_OUTERMOST is for, there can be no table of version 3. */
#if !defined(SFU_NO_OUTERMOST) && !defined(__s390x__) && !defined(__riscv)
    .p2align 4
    .globl sfu_linux_restorer_table
    .type restorer_table, %function
restorer_table:
    nop
sfu_linux_restorer_table:
#if defined(__x86_64__)
    movl $15, %eax
    syscall
#else
    mov x8, #139
    svc #0
#endif
restorer_table_end:
    .size restorer_table, . - restorer_table
    /* SP, PC and FP in the signal frame: cpu.h, UCONTEXT_OFFSET + saved_at. */
    sfu_trap_begin restorer_table, restorer_table_end
#if defined(__x86_64__)
    sfu_trap_row restorer_table, cfa=160, ra=168, fp=120
#else
    sfu_trap_row restorer_table, cfa="128+184+8*31", ra="128+184+8*32", fp="128+184+8*29"
#endif
    sfu_trap_end
#endif

    .section .note.GNU-stack, "", %progbits
