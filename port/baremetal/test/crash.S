/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Functions that crash at a known instruction: crash.c. WHAT they do there, their argument: 0: an illegal instruction,
 * 1: wait for an interrupt.
 */
#include "sfu_asm.h"

#if defined(__x86_64__) || defined(__i386__)
#ifdef __x86_64__
#define FIRST  %rdi
#define SECOND %rsi
#define FRAME  %rbp
#else
#define FIRST  %eax
#define SECOND %ecx
#define FRAME  %ebp
    /* The arguments, of 8 bytes each, are on the stack. */
    .macro take_arguments
    mov 4(%esp), %eax
    mov 12(%esp), %ecx
    .endm
#endif
    .macro stop what
    test \what, \what
    jne 1f
    ud2
1:  sti
2:  jmp 2b
    .endm
    .macro save
    sfu_push FRAME
    .endm
    .macro restore
    sfu_pop FRAME
    .endm
    .macro back
    ret
    .endm
#elif defined(__aarch64__)
#define FIRST  x0
#define SECOND x1
    .macro stop what
    cbnz \what, 1f
    udf #0
1:  msr daifclr, #2
2:  b 2b
    .endm
    .macro save
    sfu_push x29, x30
    .endm
    .macro restore
    sfu_pop x29, x30
    .endm
    .macro back
    ret
    .endm
#elif defined(__riscv)
#define FIRST  a0
#if __riscv_xlen == 64
#define SECOND a1
#else
#define SECOND a2 /* the first one has 64 bits */
#endif
    .macro stop what
    bnez \what, 1f
    .4byte 0
#ifdef MACHINE_S
1:  csrsi sstatus, 2
#else
1:  csrsi mstatus, 8
#endif
2:  j 2b
    .endm
    .macro save
    sfu_push ra, s0
    .endm
    .macro restore
    sfu_pop ra, s0
    .endm
    .macro back
    ret
    .endm
#elif defined(__arm__)
#define FIRST  r0
#define SECOND r2 /* the first one has 64 bits */
#ifdef __thumb__
#define FP r7
#else
#define FP r11
#endif
    .macro stop what
    cmp \what, #0
    bne 1f
    udf #0
1:  cpsie i
2:  b 2b
    .endm
    .macro save
    sfu_push FP, lr
    .endm
    .macro restore
    sfu_pop FP, lr
    .endm
    .macro back
    bx lr
    .endm
#else
#define FIRST  %r2
#define SECOND %r3
    .macro stop what
    ltgr \what, \what
    jne 1f
    .short 0
1:  larl %r4, mask
    ssm 0(%r4)
2:  j 2b
    .endm
    .macro save
    sfu_push 11
    .endm
    .macro restore
    sfu_pop 11
    .endm
    .macro back
    br %r14
    .endm
    .section .rodata
    .balign 2
mask:
    .byte 5, 0                          /* DAT stays on, external interruptions */
#endif

#if !defined(__i386__)
    .macro take_arguments
    .endm
#endif

    .text
#ifdef __thumb__
    .thumb
#endif
    sfu_function_begin in_leaf
    take_arguments
    stop FIRST
    back
    sfu_function_end in_leaf

    sfu_function_begin in_prologue      /* FP has been saved, and still is the caller's */
    take_arguments
    save
    stop FIRST
    restore
    back
    sfu_function_end in_prologue

    sfu_function_begin in_epilogue      /* all has been restored */
    take_arguments
    save
    restore
    stop FIRST
    back
    sfu_function_end in_epilogue

    sfu_function_begin on_stack         /* (what SP becomes, what) */
    take_arguments
#if defined(__x86_64__)
    mov %rdi, %rsp
#elif defined(__i386__)
    mov %eax, %esp
#elif defined(__aarch64__)
    mov sp, x0
#elif defined(__riscv)
    mv sp, a0
#elif defined(__arm__)
    mov sp, r0
#else
    lgr %r15, %r2
#endif
    stop SECOND
    sfu_function_end on_stack

    sfu_function_begin jump_to          /* a leaf function that jumps to its argument */
#if defined(__x86_64__)
    jmp *%rdi
#elif defined(__i386__)
    jmp *4(%esp)
#elif defined(__aarch64__)
    br x0
#elif defined(__riscv)
    jr a0
#elif defined(__arm__)
    bx r0
#else
    br %r2
#endif
    sfu_function_end jump_to

    /* (where to) Returns there, as if the return address had been lost: nothing that could be one is left. */
    sfu_function_begin return_wild
#if defined(__x86_64__)
    push $0
    sfu_cfi .cfi_adjust_cfa_offset 8
    push %rdi
    sfu_cfi .cfi_adjust_cfa_offset 8
    ret
#elif defined(__i386__)
    mov 4(%esp), %eax
    push $0
    sfu_cfi .cfi_adjust_cfa_offset 4
    push %eax
    sfu_cfi .cfi_adjust_cfa_offset 4
    ret
#elif defined(__aarch64__)
    mov x30, x0
    ret
#elif defined(__riscv)
    mv ra, a0
    ret
#elif defined(__arm__)
    mov lr, r0
    bx lr
#else
    lgr %r14, %r2
    br %r14
#endif
    sfu_function_end return_wild

#if defined(__x86_64__) || defined(__i386__)
    sfu_function_begin middle           /* two bytes behind it, in the middle of an instruction, is UD2 */
#if defined(__x86_64__)
    movabs $0x0b0f, %rax
#else
    mov $0x000b0f00, %eax
#endif
    ret
    sfu_function_end middle

    sfu_function_begin stepped          /* the CPU stops behind its last instruction */
#if defined(__x86_64__)
    pushfq
    sfu_cfi .cfi_adjust_cfa_offset 8
    orl $0x100, (%rsp)                  /* RFLAGS.TF */
    popfq
    sfu_cfi .cfi_adjust_cfa_offset -8
#else
    pushf
    sfu_cfi .cfi_adjust_cfa_offset 4
    orl $0x100, (%esp)                  /* EFLAGS.TF */
    popf
    sfu_cfi .cfi_adjust_cfa_offset -4
#endif
    jmp stepped_to
    sfu_function_end stepped

    sfu_function_begin stepped_to
    ret
    sfu_function_end stepped_to
#endif

    /* What is not code, though a CPU takes it for that: illegal instructions. */
    .data
    .balign 16
    .globl illegal_data
    .type illegal_data, %object
illegal_data:
    .rept 8
#if defined(__x86_64__) || defined(__i386__)
    ud2
#elif defined(__aarch64__)
    udf #0
#elif defined(__riscv)
    .4byte 0
#elif defined(__arm__)
    .4byte 0xe7f000f0                   /* A32's udf: addresses here are even */
#else
    .short 0
#endif
    .endr
    .size illegal_data, . - illegal_data
    .section .note.GNU-stack, "", %progbits
