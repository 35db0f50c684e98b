/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * What an exception interrupts in entry.c: probe, a leaf function that says where it is, with PROBE_FP in FP and
 * PROBE_KEPT in another register that calls keep. (where to store SP, FP and, where there is a link register, RA; what
 * to do: 0: an illegal instruction, 1: wait for an interrupt, 2: x86: an exception with an error code)
 */
#include "sfu_asm.h"
#include "scenarios.h"
#if defined(__riscv) || defined(__arm__)
#include "machine.h"
#endif
#ifdef __thumb__
#define FP r7
#else
#define FP r11
#endif

    .text
#ifdef __thumb__
    .thumb
#endif
    sfu_function_begin probe_caller
#if defined(__x86_64__)
    sfu_push %rbp
    sfu_push %rbx
    mov $PROBE_FP, %ebp
    mov $PROBE_KEPT, %ebx
    call probe
    sfu_pop %rbx
    sfu_pop %rbp
    ret
#elif defined(__i386__)
    sfu_push %ebp
    sfu_push %ebx
    mov 12(%esp), %eax
    mov 16(%esp), %ecx
    mov $PROBE_FP, %ebp
    mov $PROBE_KEPT, %ebx
    call probe
    sfu_pop %ebx
    sfu_pop %ebp
    ret
#elif defined(__aarch64__)
    sfu_push x29, x30
    sfu_push x19, x20
    mov x29, #PROBE_FP
    mov x19, #PROBE_KEPT
    bl probe
    sfu_pop x19, x20
    sfu_pop x29, x30
    ret
#elif defined(__riscv)
    sfu_push ra, s0
    sfu_push s2
    li s0, PROBE_FP
    li s2, PROBE_KEPT
    call probe
    sfu_pop s2
    sfu_pop ra, s0
    ret
#elif defined(__arm__)
    sfu_push FP, lr
    sfu_push r4, r5
    movw FP, #PROBE_FP
    movw r4, #PROBE_KEPT
    bl probe
    sfu_pop r4, r5
    sfu_pop FP, lr
    bx lr
#else
    sfu_push 6
    lghi %r11, PROBE_FP
    lghi %r6, PROBE_KEPT
    brasl %r14, probe
    sfu_pop 6
    br %r14
#endif
    sfu_function_end probe_caller

    .globl probe_illegal, probe_wait, probe_error, probe_return
    sfu_function_begin probe
#if defined(__x86_64__)
    mov %rsp, (%rdi)
    mov %rbp, 8(%rdi)
    mov (%rsp), %rax
    mov %rax, 16(%rdi)
    cmp $1, %esi
    je 1f
    ja 2f
probe_illegal:
    ud2
1:  sti
    nop                                 /* STI lets interrupts in behind the next instruction */
probe_wait:
    jmp probe_wait
2:  mov $1, %eax
    ror $1, %rax
probe_error:
    mov (%rax), %rax                    /* not canonical */
probe_return:
    cli
    ret
#elif defined(__i386__)
    mov %esp, (%eax)                    /* its arguments are in EAX and ECX */
    mov %ebp, 8(%eax)
    mov (%esp), %edx
    mov %edx, 16(%eax)
    cmp $1, %ecx
    je 1f
    ja 2f
probe_illegal:
    ud2
1:  sti
    nop                                 /* STI lets interrupts in behind the next instruction */
probe_wait:
    jmp probe_wait
2:  mov $0x1000, %eax
probe_error:
    mov %eax, %fs                       /* behind the end of the GDT */
probe_return:
    cli
    ret
#elif defined(__aarch64__)
    mov x2, sp
    stp x2, x29, [x0]
    str x30, [x0, #16]
    cbnz x1, 1f
probe_illegal:
    udf #0
1:  msr daifclr, #2
probe_wait:
    b probe_wait
probe_error:
probe_return:
    msr daifset, #2
    ret
#elif defined(__riscv)
    STORE sp, 0(a0)
    STORE s0, 8(a0)
    STORE ra, 16(a0)
    bnez a1, 1f
probe_illegal:
    .4byte 0
1:  csrsi CSR_STATUS, STATUS_IE
probe_wait:
    j probe_wait
probe_error:
probe_return:
    csrci CSR_STATUS, STATUS_IE
    ret
#elif defined(__arm__)
    mov r1, sp
    str r1, [r0]
    str FP, [r0, #8]
    bic r1, lr, #1                      /* of T32 code */
    str r1, [r0, #16]
    cmp r2, #0                          /* R1 is not used, because the second argument has 64 bits */
    bne 1f
probe_illegal:
    udf #0
1:  cpsie i
probe_wait:
    b probe_wait
probe_error:
probe_return:
    cpsid i
    bx lr
#else
    stg %r15, 0(%r2)
    stg %r11, 8(%r2)
    stg %r14, 16(%r2)
    ltgr %r3, %r3
    jne 1f
probe_illegal:
    .short 0
1:  stosm 24(%r2), 1                    /* external interruptions */
probe_wait:
    j probe_wait
probe_error:
probe_return:
    stnsm 24(%r2), 0xfe
    br %r14
#endif
    sfu_function_end probe

#if defined(__x86_64__) || defined(__i386__)
#if defined(__x86_64__)
#define SCRATCH %rax
#else
#define SCRATCH %eax
#endif
    /* Vector 1: the breakpoint must be gone before exception_entry is reached again. */
    .globl debug_entry
debug_entry:
    push SCRATCH
    xor %eax, %eax
    mov SCRATCH, %dr7
    pop SCRATCH
    jmp vectors + 16
#endif

#if defined(__arm__)
    /* The vector of prefetch aborts: the breakpoint must be gone before exception_entry is reached again. It goes on
     * behind what it has in common with vector_instruction. */
    .arm
    .globl debug_entry
debug_entry:
    sub lr, lr, #4
    srsdb sp!, #MODE_SVC
    cpsid if, #MODE_SVC
    push {r0, r1}
    movw r0, #:lower16:(broken - (1f + 8))
    movt r0, #:upper16:(broken - (1f + 8))
1:  ldr r0, [pc, r0]
    movw r1, #:lower16:(replaced - (2f + 8))
    movt r1, #:upper16:(replaced - (2f + 8))
2:  ldr r1, [pc, r1]
    cmp r0, #0
    strne r1, [r0]
    dsb
    mcr p15, 0, r0, c7, c5, 0           /* ICIALLU */
    dsb
    isb
    pop {r0, r1}
    b vector_instruction + 12
#endif

    .section .note.GNU-stack, "", %progbits
