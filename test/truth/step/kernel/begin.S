/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * step_begin     the outermost frame: a breakpoint, step_main, and a breakpoint with its result at step_end
 * step_entry     s390x: program interruptions, without a stack of their own; goes on in the port's entry
 * __wrap_step_mark  as programs/start.S has step_mark, but for a breakpoint: the linker bends its calls here
 */
#include "machine.h"
#include "sfu_asm.h"

    .text
    sfu_outermost_begin step_begin
#if defined __x86_64__
    xor %ebp, %ebp
    sub $8, %rsp                        /* thread_start has called this */
    int3
    call step_main
    xor %ecx, %ecx                      /* sfu-gen takes an int3 alone behind a last call for padding */
    int3
#elif defined __i386__
    xor %ebp, %ebp
    sub $12, %esp
    int3
    call step_main
    xor %ecx, %ecx
    int3
#elif defined __aarch64__
    mov x29, #0
    brk #0
    bl step_main
    brk #0
#elif defined __riscv
    li s0, 0
    ebreak
    call step_main
    ebreak
#else
    lghi %r11, 0
    .short 0
    brasl %r14, step_main
    .short 0
#endif
    .globl step_end
step_end:
    SFU_ASM_STOP
    sfu_outermost_end step_begin

    sfu_function_begin __wrap_step_mark
#if defined __x86_64__ || defined __i386__
    int3
    ret
#elif defined __aarch64__
    brk #0
    ret
#elif defined __riscv
    ebreak
    ret
#else
    .short 0
    br %r14
#endif
    sfu_function_end __wrap_step_mark

#ifdef __s390x__
    .globl step_entry
step_entry:
    stmg %r0, %r15, PROGRAM_SAVED
    aghi %r15, -TRAP_SIZE
    mvc TRAP_PSW(16, %r15), 0x150
    mvc TRAP_GPRS(128, %r15), PROGRAM_SAVED
    llgf %r1, 0x8c                      /* instruction length, code */
    stg %r1, TRAP_CODE(%r15)
    lg %r1, 0xa8                        /* translation-exception address */
    stg %r1, TRAP_ADDRESS(%r15)
    lghi %r1, 0
    stg %r1, TRAP_IRQ(%r15)
    lg %r1, TRAP_R15(%r15)
    aghi %r1, 160
    stg %r1, TRAP_CFA(%r15)
    la %r2, TRAP_GPRS(%r15)
    j program_saved
#endif

    .section .note.GNU-stack, "", %progbits
