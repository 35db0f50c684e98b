/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * The restorer: a signal handler returns to it. And 32-bit x86's system calls.
 *
 * A handler's return address is the first byte of its restorer, and a walk looks up the byte before. So there is a nop
 * in front of each. The table describes that of restorer_table; it must not describe the other one.
 */
#include "arch/sfu_asm.h"

    .text
#if defined(__x86_64__) || defined(__i386__)
    .p2align 4
    .globl sfu_linux_restorer
    .type signal_return, %function
signal_return:
    nop
sfu_linux_restorer:
#if defined(__x86_64__)
    movl $15, %eax
    syscall
#else
    movl $173, %eax
    int $0x80
#endif
    .size signal_return, . - signal_return
#endif

#if defined(__i386__)
    .p2align 4
    sfu_function_begin sfu_linux_int80
    .hidden sfu_linux_int80
    sfu_push %ebp
    sfu_push %edi
    sfu_push %esi
    sfu_push %ebx
    movl 20(%esp), %eax
    movl 24(%esp), %ebx
    movl 28(%esp), %ecx
    movl 32(%esp), %edx
    movl 36(%esp), %esi
    movl 40(%esp), %edi
    movl 44(%esp), %ebp
    int $0x80
    sfu_pop %ebx
    sfu_pop %esi
    sfu_pop %edi
    sfu_pop %ebp
    ret
    sfu_function_end sfu_linux_int80
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
#elif defined(__i386__)
    movl $173, %eax
    int $0x80
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
#elif defined(__i386__)
    sfu_trap_row restorer_table, cfa="140+20+4*7", ra="140+20+4*14", fp="140+20+4*6"
#else
    sfu_trap_row restorer_table, cfa="128+184+8*31", ra="128+184+8*32", fp="128+184+8*29"
#endif
    sfu_trap_end
#endif

    .section .note.GNU-stack, "", %progbits
