/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Each macro of sfu_asm.h for ordinary functions and threads. asm.py has the rows that each function must have. */
#include "sfu_asm.h"

    .text
    sfu_function_begin leaf             /* calls nothing: returns the stack pointer that it was called with */
#if defined(__x86_64__)
    lea 8(%rsp), %rax
    ret
#elif defined(__i386__)
    lea 4(%esp), %eax
    ret
#elif defined(__aarch64__)
    mov x0, sp
    ret
#elif defined(__riscv)
    mv a0, sp
    ret
#elif defined(__arm__)
    mov r0, sp
    bx lr
#else /* __s390x__ */
    lgr %r2, %r15
    br %r14
#endif
    sfu_function_end leaf

    sfu_function_begin pushed           /* (function to call) */
#if defined(__x86_64__)
    sfu_push %rbp
    sfu_push %rbx
    sfu_push %r12
    xor %ebp, %ebp                      /* what is saved is used: FP is lost without its rule */
    call *%rdi
    sfu_pop %r12
    sfu_pop %rbx
    sfu_pop %rbp
    ret
#elif defined(__i386__)
    sfu_push %ebp
    sfu_push %ebx
    xor %ebp, %ebp
    call *12(%esp)
    sfu_pop %ebx
    sfu_pop %ebp
    ret
#elif defined(__aarch64__)
    sfu_push x29, x30
    sfu_push x19, x20
    mov x29, #0
    blr x0
    sfu_pop x19, x20
    sfu_pop x29, x30
    ret
#elif defined(__riscv)
    sfu_push ra, s0
    sfu_push s1
    mv s0, zero
    jalr a0
    sfu_pop s1
    sfu_pop ra, s0
    ret
#elif defined(__arm__)
    sfu_push r7, lr
    sfu_push r4, r5
    movs r4, #0
    mov r7, r4
    blx r0
    sfu_pop r4, r5
    sfu_pop r7, pc
#else /* __s390x__ */
    sfu_push 6
    lghi %r11, 0
    basr %r14, %r2
    sfu_pop 6
    br %r14
#endif
    sfu_function_end pushed

    sfu_thread_entry thread_start, thread_main
#if defined(__x86_64__)
    sfu_thread_entry thread_start_register, register=%r12
#elif defined(__i386__)
    sfu_thread_entry thread_start_register, register=%ebx
#elif defined(__aarch64__)
    sfu_thread_entry thread_start_register, register=x19
#elif defined(__riscv)
    sfu_thread_entry thread_start_register, register=s1
#elif defined(__arm__)
    sfu_thread_entry thread_start_register, register=r4
#else /* __s390x__ */
    sfu_thread_entry thread_start_register, register=%r6
#endif

    sfu_outermost_begin begin_thread    /* (its stack pointer, where it begins, its argument, what is in a register) */
#if defined(__x86_64__)
    mov %rdi, %rsp
    mov %rdx, %rdi
    mov %rcx, %r12
    jmp *%rsi
#elif defined(__i386__)
    mov 16(%esp), %ebx
    mov 12(%esp), %edx
    mov 8(%esp), %eax
    mov 4(%esp), %esp
    sub $12, %esp
    push %edx                           /* the argument of what NAME calls is where SP points */
    jmp *%eax
#elif defined(__aarch64__)
    mov sp, x0
    mov x0, x2
    mov x19, x3
    br x1
#elif defined(__riscv)
    mv sp, a0
    mv a0, a2
    mv s1, a3
    jr a1
#elif defined(__arm__)
    mov sp, r0
    mov r0, r2
    mov r4, r3
    bx r1
#else /* __s390x__ */
    lgr %r15, %r2
    lgr %r2, %r4
    lgr %r6, %r5
    br %r3
#endif
    sfu_outermost_end begin_thread
    .section .note.GNU-stack, "", %progbits
