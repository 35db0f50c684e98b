/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * tracer_hook: where the first instruction of a function leads. All registers are as that function finds them. On
 * aarch64, s390x and RISC-V it comes by a jump: the RA is in its register still, so that a trace from in here leads to
 * the caller of that function, and x9, r0 or t0 says where the function goes on.
 *
 * tracer_return: where the function then returns to. SP is what its caller goes on with, the RA is gone: on x86 the
 * word below SP was it. The instruction in front belongs to nobody, so that a trace that is not told of the original RA
 * finds nothing.
 */
    .text
    .globl tracer_hook, tracer_return
    .hidden tracer_hook, tracer_return
    .type tracer_hook, %function
    .type tracer_return, %function

#if defined(__x86_64__) || defined(__i386__)
#ifdef __x86_64__
#define WORD 8
#else
#define WORD 4
#endif

    .macro save registers:vararg
    .irp register, \registers
    push \register
    .cfi_adjust_cfa_offset WORD
    .endr
    .endm

    .macro restore registers:vararg
    .irp register, \registers
    pop \register
    .cfi_adjust_cfa_offset -WORD
    .endr
    .endm
#endif

#if defined(__x86_64__)

tracer_hook:
    .cfi_startproc
    save %rax, %rax, %rcx, %rdx, %rsi, %rdi, %r8, %r9, %r10, %r11
    lea 88(%rsp), %rdi
    lea 96(%rsp), %rsi
    call tracer_enter
    restore %r11, %r10, %r9, %r8, %rdi, %rsi, %rdx, %rcx, %rax, %rax
    ret
    .cfi_endproc
    .size tracer_hook, . - tracer_hook

    nop
tracer_return:
    .cfi_startproc
    .cfi_def_cfa_offset 0
    sub $8, %rsp
    .cfi_adjust_cfa_offset 8
    save %rax, %rdx, %rdx
    lea 24(%rsp), %rdi
    call tracer_leave
    restore %rdx, %rdx, %rax
    ret
    .cfi_endproc
    .size tracer_return, . - tracer_return

#elif defined(__i386__)

/* The two arguments are on the stack, between what is saved. */
tracer_hook:
    .cfi_startproc
    save %eax, %ecx, %edx
    lea 4 * WORD(%esp), %eax
    lea 5 * WORD(%esp), %edx
    save %edx, %eax
    call tracer_enter
    restore %eax, %edx, %edx, %ecx, %eax
    ret
    .cfi_endproc
    .size tracer_hook, . - tracer_hook

/* There is no red zone: a signal overwrites the word below SP. It is pushed again, and all that follows is as if it had
 * been called from there. */
    nop
tracer_return:
    .cfi_startproc
    .cfi_def_cfa_offset 0
    push $tracer_return
    .cfi_endproc
    .size tracer_return, . - tracer_return

    .type tracer_go_on, %function
tracer_go_on:
    .cfi_startproc
    save %eax, %ecx, %edx
    lea 3 * WORD(%esp), %eax
    save %eax
    call tracer_leave
    restore %eax, %edx, %ecx, %eax
    ret
    .cfi_endproc
    .size tracer_go_on, . - tracer_go_on

    .globl tracer_return_end
    .hidden tracer_return_end
tracer_return_end:

#elif defined(__aarch64__)

tracer_hook:
    .cfi_startproc
    stp x0, x1, [sp, -96]!
    .cfi_def_cfa_offset 96
    stp x2, x3, [sp, 16]
    stp x4, x5, [sp, 32]
    stp x6, x7, [sp, 48]
    stp x8, x9, [sp, 64]
    str x30, [sp, 80]
    .cfi_offset 30, -16
    add x0, sp, 80
    add x1, sp, 96
    bl tracer_enter
    ldr x30, [sp, 80]
    .cfi_restore 30
    ldp x8, x9, [sp, 64]
    ldp x6, x7, [sp, 48]
    ldp x4, x5, [sp, 32]
    ldp x2, x3, [sp, 16]
    ldp x0, x1, [sp], 96
    .cfi_def_cfa_offset 0
    br x9
    .cfi_endproc
    .size tracer_hook, . - tracer_hook

    nop
tracer_return:
    .cfi_startproc
    stp x0, x1, [sp, -32]!
    .cfi_def_cfa_offset 32
    str x30, [sp, 16]
    .cfi_offset 30, -16
    add x0, sp, 16
    bl tracer_leave
    ldr x30, [sp, 16]
    .cfi_restore 30
    ldp x0, x1, [sp], 32
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tracer_return, . - tracer_return

#elif defined(__s390x__)

tracer_hook:
    .cfi_startproc
    stmg %r14, %r15, 112(%r15)
    .cfi_offset 14, -48
    .cfi_offset 15, -40
    aghi %r15, -240
    .cfi_def_cfa_offset 400
    stmg %r2, %r5, 160(%r15)
    stg %r0, 192(%r15)
    std %f0, 200(%r15)
    std %f2, 208(%r15)
    std %f4, 216(%r15)
    std %f6, 224(%r15)
    la %r2, 352(%r15)
    la %r3, 240(%r15)
    brasl %r14, tracer_enter
    ld %f6, 224(%r15)
    ld %f4, 216(%r15)
    ld %f2, 208(%r15)
    ld %f0, 200(%r15)
    lg %r1, 192(%r15)
    lmg %r2, %r5, 160(%r15)
    lmg %r14, %r15, 352(%r15)
    .cfi_restore 14
    .cfi_restore 15
    .cfi_def_cfa_offset 160
    br %r1
    .cfi_endproc
    .size tracer_hook, . - tracer_hook

    nopr
tracer_return:
    .cfi_startproc
    stmg %r14, %r15, 112(%r15)
    .cfi_offset 14, -48
    .cfi_offset 15, -40
    aghi %r15, -176
    .cfi_def_cfa_offset 336
    stg %r2, 160(%r15)
    std %f0, 168(%r15)
    la %r2, 288(%r15)
    brasl %r14, tracer_leave
    ld %f0, 168(%r15)
    lg %r2, 160(%r15)
    lmg %r14, %r15, 288(%r15)
    .cfi_restore 14
    .cfi_restore 15
    .cfi_def_cfa_offset 160
    br %r14
    .cfi_endproc
    .size tracer_return, . - tracer_return

#elif defined(__riscv)

#if __riscv_xlen == 64
#define WORD 8
#define LOAD ld
#define STORE sd
#else
#define WORD 4
#define LOAD lw
#define STORE sw
#endif

tracer_hook:
    .cfi_startproc
    addi sp, sp, -16 * WORD
    .cfi_def_cfa_offset 16 * WORD
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    STORE a\n, \n * WORD(sp)
    .endr
    STORE t0, 8 * WORD(sp)
    STORE ra, 15 * WORD(sp)
    .cfi_offset ra, -WORD
    addi a0, sp, 15 * WORD
    addi a1, sp, 16 * WORD
    call tracer_enter
    LOAD ra, 15 * WORD(sp)
    .cfi_restore ra
    LOAD t0, 8 * WORD(sp)
    .irp n, 0, 1, 2, 3, 4, 5, 6, 7
    LOAD a\n, \n * WORD(sp)
    .endr
    addi sp, sp, 16 * WORD
    .cfi_def_cfa_offset 0
    jr t0
    .cfi_endproc
    .size tracer_hook, . - tracer_hook

    nop
tracer_return:
    .cfi_startproc
    addi sp, sp, -4 * WORD
    .cfi_def_cfa_offset 4 * WORD
    STORE a0, 0(sp)
    STORE a1, WORD(sp)
    STORE ra, 3 * WORD(sp)
    .cfi_offset ra, -WORD
    addi a0, sp, 3 * WORD
    call tracer_leave
    LOAD ra, 3 * WORD(sp)
    .cfi_restore ra
    LOAD a1, WORD(sp)
    LOAD a0, 0(sp)
    addi sp, sp, 4 * WORD
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size tracer_return, . - tracer_return

#endif

    .section .note.GNU-stack, "", %progbits
