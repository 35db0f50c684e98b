/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* From QEMU's -kernel (64-bit mode, DAT off) to kernel_main behind DAT. */
#include "upper.h"

    .section .boot, "ax", @progbits
    .globl boot
boot:
    larl %r15, early_stack
    lghi %r1, -1
    aghi %r15, -160
    brasl %r14, early
    lghi %r1, (LEVELS - 2) * 4 + 3      /* the ASCE: its type and length */
    ogr %r1, %r2
    larl %r3, controls
    stg %r1, 8(%r3)
    lctlg %c0, %c1, 0(%r3)
    larl %r3, psw
    lpswe 0(%r3)

    .balign 8
controls:
    .quad 0x800000, 0                   /* CR0: large pages; CR1 */
psw:
    .quad 0x0400000180000000, upper     /* DAT, 64-bit mode */
    .skip 8192
early_stack:

    .text
    .balign 8
stack_top:
    .quad STACK + 4096 * STACK_PAGES - 160
    .globl upper
    .type upper, @function
upper:
    .cfi_startproc
    .cfi_undefined %r14
    lgrl %r15, stack_top
    brasl %r14, kernel_main
    nop
    .cfi_endproc
    .size upper, . - upper

    .globl thread_switch, thread_left
    .type thread_switch, @function
thread_switch:                          /* (R2: where to save SP, R3: SP to go on with) */
    .cfi_startproc
    stmg %r6, %r15, 48(%r15)
    .cfi_rel_offset %r6, 48
    .cfi_rel_offset %r7, 56
    .cfi_rel_offset %r8, 64
    .cfi_rel_offset %r9, 72
    .cfi_rel_offset %r10, 80
    .cfi_rel_offset %r11, 88
    .cfi_rel_offset %r12, 96
    .cfi_rel_offset %r13, 104
    .cfi_rel_offset %r14, 112
    .cfi_rel_offset %r15, 120
    stg %r15, 0(%r2)
    lgr %r15, %r3
thread_left:
    lmg %r6, %r15, 48(%r15)
    .cfi_restore %r6
    .cfi_restore %r7
    .cfi_restore %r8
    .cfi_restore %r9
    .cfi_restore %r10
    .cfi_restore %r11
    .cfi_restore %r12
    .cfi_restore %r13
    .cfi_restore %r14
    .cfi_restore %r15
    br %r14
    .cfi_endproc
    .size thread_switch, . - thread_switch

    .globl thread_start
    .type thread_start, @function
    .cfi_startproc
    .cfi_undefined %r14
    nop                                 /* a return address belongs to what is before it */
thread_start:                           /* R6: the thread's entry */
    basr %r14, %r6
    j .
    .cfi_endproc

#ifdef USER
    .balign 8
svc_psw:
    .quad 0x0400000180000000, user_entry
user_psw:
    .quad 0x0401000180000000, 0         /* DAT, problem state, 64-bit mode */
    .globl user_enter
user_enter:                             /* (R2: where the program begins, R3: its SP) */
    larl %r4, svc_psw
    lghi %r1, 0x1c0                     /* the new PSW of supervisor calls */
    mvc 0(16, %r1), 0(%r4)
    lgr %r15, %r3
    aghi %r15, -160
    larl %r4, user_psw
    stg %r2, 8(%r4)
    lpswe 0(%r4)

    .globl user_entry
    .type user_entry, @function
user_entry:
    .cfi_startproc
    .cfi_signal_frame
    .cfi_undefined %r14
    lgr %r1, %r15
    lgrl %r15, stack_top
    aghi %r15, -160                     /* R0 to R15, PC, CFA */
    stmg %r2, %r14, 176(%r15)
    stg %r1, 280(%r15)
    aghi %r1, 160
    stg %r1, 296(%r15)
    lghi %r2, 0x148                     /* the old PSW's address */
    lg %r2, 0(%r2)
    stg %r2, 288(%r15)
    .cfi_escape 0x0f, 4, 0x7f, 0xa8, 0x02, 0x06 /* CFA = *(R15 + 296) */
    .cfi_escape 0x10, 14, 3, 0x7f, 0xa0, 0x02 /* PC at R15 + 288, R11 at R15 + 248 */
    .cfi_escape 0x10, 11, 3, 0x7f, 0xf8, 0x01
    brasl %r14, user_arrived
    nop
    .cfi_endproc
    .size user_entry, . - user_entry

    .section .user, "a"
    .globl user_image
user_image:
    .incbin USER_CODE
#endif
    .section .note.GNU-stack, "", @progbits
