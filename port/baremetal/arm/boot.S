/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's -kernel (MODE_SVC, A32 code, MMU off) to C, exception vectors, thread switch. The kernel runs in
 * MODE_SYS. Every exception stores its PC and CPSR on the stack of MODE_SVC and goes on there, so the stacks of the
 * other modes are not used, and a stack that has run over can be reported. With -mthumb, C is T32 code; the vectors
 * never are.
 */
#include "machine.h"
#include "sfu_asm.h"

    /* REGISTER: where NAME is, wherever the image is. */
    .macro address register, name
    movw \register, #:lower16:(\name - (9f + 8))
    movt \register, #:upper16:(\name - (9f + 8))
9:  add \register, pc, \register
    .endm

/* ---- start ---- */

    .section .text.boot, "ax", %progbits
    .arm
    sfu_outermost_begin boot            /* nothing called this: traces end here, and say that they are complete */
    address r1, exception_stack_top
    address r2, boot_stack_top
    mov sp, r1
    cps #MODE_SYS
    mov sp, r2
    mov r0, #0
    bl kernel_start
    sfu_outermost_end boot

    sfu_outermost_begin boot_again      /* (R0, R1: distance of the image, R2: argument of kernel_restart) */
    address r3, exception_stack_top
    address r4, boot_stack_top
    cps #MODE_SVC
    mov sp, r3
    cps #MODE_SYS
    mov sp, r4
    bl kernel_restart
    sfu_outermost_end boot_again

    sfu_outermost_begin boot_second     /* R0: its stacks, for exceptions and its own */
    ldm r0, {r1, r2}
    mov sp, r1
    cps #MODE_SYS
    mov sp, r2
    bl machine_second
    sfu_outermost_end boot_second

/* ---- exceptions ---- */

    /* LR of the exception's mode is ADJUST behind the PC. In MODE_SVC, r0 to r12 are saved in a struct trap, and SP is
     * a multiple of 8: NE says that one word above had to be left out for that. */
    .macro vector name, adjust, reason
vector_\name:
    .if \adjust
    sub lr, lr, #\adjust
    .endif
    srsdb sp!, #MODE_SVC
    cpsid if, #MODE_SVC
    sub sp, sp, #TRAP_SIZE - 8
    tst sp, #4
    subne sp, sp, #4
    stm sp, {r0-r12}
    mov r4, #\reason
    b exception_entry
    .endm

    .text
    .arm
    .balign 32
    .globl vectors, vectors_end, vector_undefined, vector_instruction, vector_interrupt
vectors:
    b .                                 /* reset */
    b vector_undefined
    b vector_call
    b vector_instruction
    b vector_data
    b .
    b vector_interrupt
    b .                                 /* FIQ: masked */
vectors_end:
    vector undefined, 4, REASON_UNDEFINED
    vector call, 0, REASON_CALL
    vector instruction, 4, REASON_INSTRUCTION
    vector data, 8, REASON_DATA
    vector interrupt, 4, REASON_INTERRUPT

    .globl exception_entry, exception_entry_end, exception_known, exception_saved, exception_restored
    .type exception_entry, %function
exception_entry:                        /* R4: why */
    add r0, sp, #TRAP_SIZE
    addne r0, r0, #4
    ldmdb r0, {r1, r2}                  /* PC and CPSR, as SRS has stored them */
    cmp r4, #REASON_UNDEFINED
    andeq r3, r2, #0x20                 /* T32 code: LR was not 4 behind the PC, but 2 */
    addeq r1, r1, r3, lsr #4
    sfu_banked r2, r5, r6, r7
    and r7, r2, #MODE_MASK
    cmp r7, #MODE_SVC
    moveq r5, r0                        /* SP as it was when this came */
    str r5, [sp, #TRAP_SP]
    str r6, [sp, #TRAP_LR]
    str r1, [sp, #TRAP_PC]
exception_known:
    str r2, [sp, #TRAP_CPSR]
    str r4, [sp, #TRAP_REASON]
    str r0, [sp, #TRAP_OUTER]
    mov r0, sp
exception_saved:
    bl kernel_trap
    ldr r0, [sp, #TRAP_OUTER]
    ldr r1, [sp, #TRAP_PC]
    ldr r2, [sp, #TRAP_CPSR]
    stmdb r0, {r1, r2}
    and r2, r2, #MODE_MASK
    cmp r2, #MODE_SVC
    ldreq lr, [sp, #TRAP_LR]
    add r1, sp, #TRAP_SP
    cmp r2, #MODE_USR
    cmpne r2, #MODE_SYS
    ldmeq r1, {sp, lr}^                 /* theirs; another mode has kept its own */
    sub r0, r0, sp
    cmp r0, #TRAP_SIZE
    ldm sp, {r0-r12}
exception_restored:                     /* the next trap writes over what this one has saved */
    add sp, sp, #TRAP_SIZE - 8
    addne sp, sp, #4
    rfeia sp!
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* No row before PC and SP are in the struct trap, and none where it lies below SP. Interrupts are masked there. */
    sfu_trap_begin exception_entry, exception_restored
    sfu_trap_row exception_known, cfa=TRAP_SP, ra=TRAP_PC, fp=TRAP_FP
    sfu_trap_end

/* ---- threads ---- */

#ifdef __thumb__
    .thumb
#endif
    .globl thread_switch, thread_left
    .type thread_switch, %function
thread_switch:                          /* (R0: where to save SP, R2: SP to go on with) */
    .cfi_startproc
    push {r4-r11, ip, lr}               /* IP: SP stays a multiple of 8 */
    .cfi_def_cfa_offset 40
    .cfi_offset r4, -40
    .cfi_offset r5, -36
    .cfi_offset r6, -32
    .cfi_offset r7, -28
    .cfi_offset r8, -24
    .cfi_offset r9, -20
    .cfi_offset r10, -16
    .cfi_offset r11, -12
    .cfi_offset lr, -4
    mov r1, sp
    str r1, [r0]
    mov sp, r2
thread_left:
    pop {r4-r11, ip, lr}
    .cfi_def_cfa_offset 0
    .irp n, 4, 5, 6, 7, 8, 9, 10, 11
    .cfi_restore r\n
    .endr
    .cfi_restore lr
    bx lr
    .cfi_endproc
    .size thread_switch, . - thread_switch

    sfu_outermost_begin thread_start    /* R4: the thread's entry */
    blx r4
    udf #0
    sfu_outermost_end thread_start

    .bss
    .balign 16
    .globl exception_stack, exception_stack_top
exception_stack:
    .skip 16384
exception_stack_top:
    .section .note.GNU-stack, "", %progbits
