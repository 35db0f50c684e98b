/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
#if __riscv_xlen == 64
#define STORE sd
#define LOAD  ld
#define WORD  8
#else
#define STORE sw
#define LOAD  lw
#define WORD  4
#endif
    .macro hand_over target
#if defined BY_HAND
    lla ra, 9f
    j \target
9:
#elif defined RETURN_ELSEWHERE
    lla ra, elsewhere_behind
    j \target
    unimp
    .globl elsewhere_behind
elsewhere_behind:
#else
    call \target
#endif
    .endm
    .section .text.boot, "ax"
    .globl start
start:
#ifdef TWO_CPUS
    csrr t0, mhartid
    bnez t0, 2f
#endif
    la sp, stack_top
    call kernel_main
1:  j 1b
#ifdef TWO_CPUS
2:  la sp, stack_above
    call second_main
3:  j 3b
#endif

    .text
    .globl prologue
prologue:
    ecall
    addi sp, sp, -4*WORD
    ecall
    STORE ra, 3*WORD(sp)
    li a0, 1
    call leaf
    LOAD ra, 3*WORD(sp)
    ecall
    addi sp, sp, 4*WORD
    ret

#ifdef CONTEXT
#define BASE t6
#else
#define BASE sp
#endif
    .macro each what
    .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
    \what x\n, \n*WORD(BASE)
    .endr
    .endm
    .balign 4
    .globl trap_entry
trap_entry:
#ifdef CONTEXT /* mscratch has the address of a structure */
    csrrw t6, mscratch, t6
    STORE ra, 1*WORD(t6)
    STORE sp, 2*WORD(t6)
    .irp n, 3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30
    STORE x\n, \n*WORD(t6)
    .endr
    mv t5, t6
    csrr t6, mscratch
    STORE t6, 31*WORD(t5)
    csrw mscratch, t5
    csrr t0, mepc
    STORE t0, 32*WORD(t5)
    mv a0, t5
#ifdef CONTEXT_STACK
    la sp, CONTEXT_STACK
#endif
    call handle
    csrr t6, mscratch
    LOAD t0, 32*WORD(t6)
    csrw mepc, t0
    LOAD ra, 1*WORD(t6)
    LOAD sp, 2*WORD(t6)
    each LOAD /* t6 last */
    mret
#else
#ifdef NEST_STACK /* mscratch has it, or 0 while it is in use */
    csrrw sp, mscratch, sp
    bnez sp, 1f
    csrrw sp, mscratch, sp
    addi sp, sp, -36*WORD
    STORE t0, 5*WORD(sp)
    addi t0, sp, 36*WORD
    STORE t0, 2*WORD(sp)
    STORE zero, 0*WORD(sp)
    LOAD t0, 5*WORD(sp)
    j 2f
1:  addi sp, sp, -36*WORD
    STORE t0, 5*WORD(sp)
    csrrw t0, mscratch, zero
    STORE t0, 2*WORD(sp)
    STORE sp, 0*WORD(sp)
    LOAD t0, 5*WORD(sp)
2:
#else
#ifdef FAULT_STACK
    csrrw sp, mscratch, sp
#endif
    addi sp, sp, -36*WORD
#endif
    STORE ra, 1*WORD(sp)
    each STORE
#ifdef NEST_STACK
#elif defined FAULT_STACK
    csrr t0, mscratch
    STORE t0, 2*WORD(sp)
    addi t0, sp, 36*WORD
    csrw mscratch, t0
#else
    addi t0, sp, 36*WORD
    STORE t0, 2*WORD(sp)
#endif
    csrr t0, mepc
    STORE t0, 32*WORD(sp)
    csrr t0, mstatus
    STORE t0, 33*WORD(sp)
    mv a0, sp
    hand_over handle
    LOAD t0, 33*WORD(sp)
    csrw mstatus, t0
    LOAD t0, 32*WORD(sp)
    csrw mepc, t0
#ifdef NEST_STACK
    LOAD t0, 0*WORD(sp)
    beqz t0, 1f
    addi t0, sp, 36*WORD
    csrw mscratch, t0
1:
#endif
    LOAD ra, 1*WORD(sp)
    each LOAD
#if defined FAULT_STACK || defined NEST_STACK
    LOAD sp, 2*WORD(sp)
#else
    addi sp, sp, 36*WORD
#endif
    mret
#endif

#ifdef PROGRAMS
    .globl run_program
run_program:
    li t0, -1 /* user mode may read and write all memory */
    csrw pmpaddr0, t0
    li t0, 0x1f
    csrw pmpcfg0, t0
    la t0, program
    csrw mepc, t0
    li t0, 0x1800
    csrc mstatus, t0
    mret
program:
    ecall
    call finish
#endif

#ifdef STACK_IN_CODE
    .text
#else
    .bss
#endif
    .balign 16
    .globl stack_below, stack_top, stack_above     /* of faults, where these have their own */
    .skip 16384
stack_below:
    .skip 16384
stack_top:
    .skip 16384
stack_above:
#ifdef CONTEXT
    .globl context, handler_stack
    .type other, @object /* so little is between two variables that it is no stack */
    .size other, 256
other:
    .skip 256
context:
    .skip 34*WORD
    .balign 16
    .type handler_low, @object
    .size handler_low, 16384
handler_low:
    .skip 16384
handler_stack:
#endif
