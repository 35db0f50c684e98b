/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's -bios none -kernel (M mode, all harts at once) to C, in M mode or, with MACHINE_S, in S mode; exception
 * entry, thread switch. The scratch register has the top of this hart's exception stack; while a trap is handled, 0. So
 * traps have a stack of their own, and a stack that has run over can be reported.
 */
#include "machine.h"
#include "sfu_asm.h"

/* ---- start ---- */

#ifdef MACHINE_S
    /* Goes on behind this in S mode, to which all traps go; M mode is left for good. TP has the number of the hart. */
    .macro enter_s_mode
    li t0, -1
    csrw medeleg, t0
    csrw mideleg, t0
    csrw mcounteren, t0
    csrw satp, zero                     /* a reset may have left it */
    csrw pmpaddr0, t0                   /* all of memory */
    li t0, 0x1f
    csrw pmpcfg0, t0
    li t0, 1 << 31                      /* menvcfg.STCE: S mode has a timer of its own */
#if __riscv_xlen == 64
    slli t0, t0, 32
    csrs 0x30a, t0
#else
    csrs 0x31a, t0
#endif
    li t0, 0x1800
    csrc mstatus, t0
    li t0, 0x800                        /* MPP: S mode */
    csrs mstatus, t0
    lla t0, 1f
    csrw mepc, t0
    mret
    .balign 4
1:
    .endm
#else
    .macro enter_s_mode
    .endm
#endif

    .section .text.boot, "ax", %progbits
    sfu_outermost_begin boot            /* A0: hart. Nothing called this: traces end here, and are complete */
    mv tp, a0
    enter_s_mode
    bnez tp, boot_second
    lla sp, boot_stack_top
    lla t0, exception_stack_top
    csrw CSR_SCRATCH, t0
    mv a0, zero
    call kernel_start
    sfu_outermost_end boot

    sfu_outermost_begin boot_again      /* (distance of the image, argument of kernel_restart) */
    lla sp, boot_stack_top
    lla t0, exception_stack_top
    csrw CSR_SCRATCH, t0
    call kernel_restart
    sfu_outermost_end boot_again

    sfu_outermost_begin boot_second     /* waits for its stacks, for exceptions and its own */
    lla t0, second_stacks
1:  LOAD t1, 0(t0)
    beqz t1, 1b
    fence
    csrw CSR_SCRATCH, t1
    LOAD sp, WORD(t0)
    call machine_second
    sfu_outermost_end boot_second

/* ---- exceptions ---- */

    .text
    .balign 4
    .globl exception_entry, exception_entry_end, exception_known, exception_saved, exception_handled
    .globl exception_left, exception_restored
    .type exception_entry, %function
exception_entry:
    csrrw sp, CSR_SCRATCH, sp
    bnez sp, 1f
    csrr sp, CSR_SCRATCH                /* a trap in a trap: its stack goes on */
    addi sp, sp, -TRAP_SIZE
    STORE t0, 5 * WORD(sp)
    csrw CSR_SCRATCH, zero
    addi t0, sp, TRAP_SIZE
    STORE t0, TRAP_SP(sp)
    mv t0, zero
    j 2f
1:  addi sp, sp, -TRAP_SIZE
    STORE t0, 5 * WORD(sp)
    csrrw t0, CSR_SCRATCH, zero
    STORE t0, TRAP_SP(sp)
    li t0, 1
2:  STORE t0, TRAP_OUTER(sp)
    csrr t0, CSR_EPC
    STORE t0, TRAP_PC(sp)
    STORE x8, TRAP_FP(sp)
exception_known:
    STORE zero, 0(sp)
    .irp n, 1, 3, 4, 6, 7, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    STORE x\n, \n * WORD(sp)
    .endr
    csrr t0, CSR_STATUS
    STORE t0, TRAP_PC + WORD(sp)
    csrr t0, CSR_CAUSE
    STORE t0, TRAP_PC + 2 * WORD(sp)
    csrr t0, CSR_TVAL
    STORE t0, TRAP_PC + 3 * WORD(sp)
    mv a0, sp
exception_saved:
    call kernel_trap
exception_handled:
    LOAD t0, TRAP_PC(sp)
    csrw CSR_EPC, t0
    LOAD t0, TRAP_PC + WORD(sp)
    csrw CSR_STATUS, t0
    .irp n, 1, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31
    LOAD x\n, \n * WORD(sp)
    .endr
    LOAD t0, TRAP_OUTER(sp)
    beqz t0, 3f
    addi t0, sp, TRAP_SIZE
    csrw CSR_SCRATCH, t0
exception_left:                         /* the next trap writes over what this one has saved */
3:  LOAD t0, 5 * WORD(sp)
    LOAD sp, TRAP_SP(sp)
exception_restored:
    TRAP_RETURN
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* No row before the PC is on the stack, and none for the return, where it is in a register alone: nothing
     * interrupts either, because a trap masks interrupts. */
    sfu_trap_begin exception_entry, exception_restored
    sfu_trap_row exception_known, cfa=TRAP_SP, ra=TRAP_PC, fp=TRAP_FP
    sfu_trap_end

/* ---- threads ---- */

    .globl thread_switch, thread_left
    .type thread_switch, %function
thread_switch:                          /* (A0: where to save SP, A1: SP to go on with) */
    .cfi_startproc
    addi sp, sp, -16 * WORD
    .cfi_def_cfa_offset 16 * WORD
    STORE ra, 15 * WORD(sp)
    .cfi_offset ra, -WORD
    STORE s0, 14 * WORD(sp)
    .cfi_offset s0, -2 * WORD
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    STORE s\n, \n * WORD(sp)
    .endr
    STORE sp, 0(a0)
    mv sp, a1
thread_left:
    .irp n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
    LOAD s\n, \n * WORD(sp)
    .endr
    LOAD s0, 14 * WORD(sp)
    .cfi_restore s0
    LOAD ra, 15 * WORD(sp)
    .cfi_restore ra
    addi sp, sp, 16 * WORD
    .cfi_def_cfa_offset 0
    ret
    .cfi_endproc
    .size thread_switch, . - thread_switch

    sfu_outermost_begin thread_start    /* S1: the thread's entry */
    jalr s1
    unimp
    sfu_outermost_end thread_start

    .bss
    .balign 16
    .globl exception_stack, exception_stack_top
exception_stack:
    .skip 16384
exception_stack_top:
    .section .note.GNU-stack, "", %progbits
