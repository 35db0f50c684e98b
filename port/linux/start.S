/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where the kernel starts a program: the outermost frame. */
#include "arch/sfu_asm.h"

    .text
    .p2align 4
    sfu_outermost_begin _start
#if defined(__x86_64__)
    xorl %ebp, %ebp
    movq %rsp, %rdi
    andq $-16, %rsp
    call sfu_linux_start /* @_start */
    hlt
#elif defined(__aarch64__)
    mov x29, #0
    mov x30, #0
    mov x0, sp
    bl sfu_linux_start /* @_start */
    hlt #0
#elif defined(__s390x__)
    lgr %r2, %r15
    aghi %r15, -160
    xc 0(8, %r15), 0(%r15)
    brasl %r14, sfu_linux_start /* @_start */
    j .
#elif defined(__i386__)
    xorl %ebp, %ebp
    movl %esp, %eax
    andl $-16, %esp
    subl $12, %esp
    pushl %eax
    call sfu_linux_start /* @_start */
    hlt
#elif defined(__riscv)
    .option push
    .option norelax                     /* it sets what relaxed code uses */
    la gp, __global_pointer$
    .option pop
    mv a0, sp
    andi sp, sp, -16
    call sfu_linux_start /* @_start */
    unimp
#endif
    sfu_outermost_end _start
    .globl _start_end
    .hidden _start_end
_start_end:

    .section .note.GNU-stack, "", %progbits
