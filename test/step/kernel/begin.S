/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * step_begin     the outermost frame: a breakpoint, step_main, and a breakpoint with its result at step_end
 * step_mark      as programs/start.S has it, but for a breakpoint: the linker bends calls of that one here
 */
#include "sfu_asm.h"

    .text
    sfu_outermost_begin step_begin
#if defined __x86_64__
    xor %ebp, %ebp
    sub $8, %rsp                        /* thread_start has called this */
    int3
    call step_main
    int3
#elif defined __aarch64__
    mov x29, #0
    brk #0
    bl step_main
    brk #0
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
#if defined __x86_64__
    int3
    ret
#elif defined __aarch64__
    brk #0
    ret
#else
    .short 0
    br %r14
#endif
    sfu_function_end __wrap_step_mark

    .section .note.GNU-stack, "", %progbits
