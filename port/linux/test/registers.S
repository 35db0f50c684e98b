/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#include "registers.h"

    .text
    .p2align 4
    .globl test_capture, test_fault, test_fault_at
    .type test_capture, %function
    .type test_fault, %function
#if defined(__x86_64__)
    .macro load_patterns
    movabsq $PATTERN + 0, %rax
    movabsq $PATTERN + 1, %rdx
    movabsq $PATTERN + 2, %rcx
    movabsq $PATTERN + 3, %rbx
    movabsq $PATTERN + 4, %rsi
    movabsq $PATTERN + 6, %rbp
    movabsq $PATTERN + 8, %r8
    movabsq $PATTERN + 9, %r9
    movabsq $PATTERN + 10, %r10
    movabsq $PATTERN + 11, %r11
    movabsq $PATTERN + 12, %r12
    movabsq $PATTERN + 13, %r13
    movabsq $PATTERN + 14, %r14
    movabsq $PATTERN + 15, %r15
    .endm
test_capture:
    pushq %rbx
    pushq %rbp
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    subq $8, %rsp
    leaq -8(%rsp), %rax
    movq %rax, test_sp(%rip)
    leaq 1f(%rip), %rax
    movq %rax, test_return(%rip)
    load_patterns
    call capture_leaf
1:  addq $8, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbp
    popq %rbx
    ret
test_fault:
    movq %rsp, test_sp(%rip)
    load_patterns
    movabsq $PATTERN + 5, %rdi
test_fault_at:
    movb (%rdi), %al
    hlt
#elif defined(__aarch64__)
    .macro load_patterns base
    ldp x2, x3, [\base, #16]
    ldp x4, x5, [\base, #32]
    ldp x6, x7, [\base, #48]
    ldp x8, x9, [\base, #64]
    ldp x10, x11, [\base, #80]
    ldp x12, x13, [\base, #96]
    ldp x14, x15, [\base, #112]
    ldp x16, x17, [\base, #128]
    ldp x18, x19, [\base, #144]
    ldp x20, x21, [\base, #160]
    ldp x22, x23, [\base, #176]
    ldp x24, x25, [\base, #192]
    ldp x26, x27, [\base, #208]
    ldp x28, x29, [\base, #224]
    .endm
test_capture:
    stp x29, x30, [sp, #-96]!
    stp x19, x20, [sp, #16]
    stp x21, x22, [sp, #32]
    stp x23, x24, [sp, #48]
    stp x25, x26, [sp, #64]
    stp x27, x28, [sp, #80]
    mov x1, sp
    adrp x2, test_sp
    str x1, [x2, #:lo12:test_sp]
    adr x1, 1f
    adrp x2, test_return
    str x1, [x2, #:lo12:test_return]
    adrp x1, patterns
    add x1, x1, #:lo12:patterns
    load_patterns x1
    ldr x1, [x1, #8]
    bl capture_leaf
1:  ldp x19, x20, [sp, #16]
    ldp x21, x22, [sp, #32]
    ldp x23, x24, [sp, #48]
    ldp x25, x26, [sp, #64]
    ldp x27, x28, [sp, #80]
    ldp x29, x30, [sp], #96
    ret
test_fault:
    mov x1, sp
    adrp x2, test_sp
    str x1, [x2, #:lo12:test_sp]
    adrp x1, patterns
    add x1, x1, #:lo12:patterns
    load_patterns x1
    ldr x30, [x1, #240]
    ldp x0, x1, [x1]
test_fault_at:
    ldrb w0, [x0]
    hlt #0
#elif defined(__s390x__)
    .macro load_fprs base
    ld %f0, 128(\base)
    ld %f2, 136(\base)
    ld %f4, 144(\base)
    ld %f6, 152(\base)
    ld %f1, 160(\base)
    ld %f3, 168(\base)
    ld %f5, 176(\base)
    ld %f7, 184(\base)
    ld %f8, 192(\base)
    ld %f10, 200(\base)
    ld %f12, 208(\base)
    ld %f14, 216(\base)
    ld %f9, 224(\base)
    ld %f11, 232(\base)
    ld %f13, 240(\base)
    ld %f15, 248(\base)
    .endm
test_capture:
    stmg %r6, %r15, 48(%r15)
    larl %r1, fprs
    std %f8, 0(%r1)
    std %f9, 8(%r1)
    std %f10, 16(%r1)
    std %f11, 24(%r1)
    std %f12, 32(%r1)
    std %f13, 40(%r1)
    std %f14, 48(%r1)
    std %f15, 56(%r1)
    aghi %r15, -160
    stgrl %r15, test_sp
    larl %r1, 1f
    stgrl %r1, test_return
    larl %r14, patterns
    load_fprs %r14
    lmg %r3, %r13, 24(%r14)
    lmg %r0, %r1, 0(%r14)
    brasl %r14, capture_leaf
1:  larl %r1, fprs
    ld %f8, 0(%r1)
    ld %f9, 8(%r1)
    ld %f10, 16(%r1)
    ld %f11, 24(%r1)
    ld %f12, 32(%r1)
    ld %f13, 40(%r1)
    ld %f14, 48(%r1)
    ld %f15, 56(%r1)
    lmg %r6, %r15, 208(%r15)
    br %r14
    .local fprs
    .comm fprs, 64, 8
test_fault:
    stgrl %r15, test_sp
    larl %r14, patterns
    load_fprs %r14
    lmg %r0, %r14, 0(%r14)
test_fault_at:
    ic %r0, 0(%r1)
    j .
#elif defined(__i386__)
    .macro load_patterns                /* all but eax and esp */
    movl $PATTERN + 1, %ecx
    movl $PATTERN + 2, %edx
    movl $PATTERN + 3, %ebx
    movl $PATTERN + 5, %ebp
    movl $PATTERN + 6, %esi
    movl $PATTERN + 7, %edi
    .endm
test_capture:
    pushl %ebx
    pushl %ebp
    pushl %esi
    pushl %edi
    call 2f
2:  popl %ecx
    leal -4(%esp), %eax
    movl %eax, test_sp - 2b(%ecx)
    leal 1f - 2b(%ecx), %eax
    movl %eax, test_return - 2b(%ecx)
    movl 20(%esp), %eax
    load_patterns
    call capture_leaf
1:  popl %edi
    popl %esi
    popl %ebp
    popl %ebx
    ret
test_fault:
    call 2f
2:  popl %ecx
    movl %esp, test_sp - 2b(%ecx)
    load_patterns
    movl $PATTERN + 0, %eax
test_fault_at:
    movb (%eax), %al
    hlt
#elif defined(__riscv)
#if __riscv_xlen == 64
#define WORD  8
#define LOAD  ld
#define STORE sd
#else
#define WORD  4
#define LOAD  lw
#define STORE sw
#endif
    /* Each callee may change the others, gp and tp no one. */
    .macro saved what
    .irp n, 1, 3, 4, 8, 9, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27
    \what x\n, \n * WORD(sp)
    .endr
    .endm
    /* All but ra, sp and a0, which has the address of the patterns. */
    .macro load_patterns
    .irp n, 3, 4, 5, 6, 7, 8, 9, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    LOAD x\n, \n * WORD(a0)
    .endr
    .endm
    .option norelax                     /* of gp */
test_capture:
    addi sp, sp, -32 * WORD
    saved STORE
    STORE a0, 2 * WORD(sp)
    la t0, test_sp
    STORE sp, 0(t0)
    la t0, test_return
    la t1, 1f
    STORE t1, 0(t0)
    la a0, patterns
    load_patterns
    LOAD a0, 2 * WORD(sp)
    call capture_leaf
1:  saved LOAD
    addi sp, sp, 32 * WORD
    ret
test_fault:
    la t0, test_sp
    STORE sp, 0(t0)
    la a0, patterns
    load_patterns
    LOAD ra, WORD(a0)
    LOAD a0, 10 * WORD(a0)
test_fault_at:
    lbu a0, 0(a0)
    unimp
#endif
    .size test_fault, . - test_fault

    .section .note.GNU-stack, "", %progbits
