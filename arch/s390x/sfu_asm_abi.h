/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* s390x: included by sfu_asm.h. The CFA's offset is kept as w = (offset - 160) / 8 (3.1.3), so offset is a multiple
 * of 8. */
#define SFU_ASM_ABI         4
#define SFU_ASM_FIXED_RA    0
#define SFU_ASM_SP          15
#define SFU_ASM_RA          14
#define SFU_ASM_CFA(offset) ((offset) - 160) / 8
#define SFU_ASM_CFA_MASK    7

#define SFU_ASM_CALL(function)          brasl %r14, function
#define SFU_ASM_CALL_REGISTER(register) basr %r14, register
#define SFU_ASM_STOP                    .word 0

    /* Saves %rFIRST to %r15, where FIRST is 6 to 14, in the caller's register save area, and makes a frame of 160
     * bytes: once in a function. */
    .macro sfu_push first
    stmg %r\first, %r15, 8 * \first(%r15)
    .irp register, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \register >= \first
    sfu_cfi .cfi_offset %r\register, 8 * \register - 160
    .endif
    .endr
    aghi %r15, -160
    sfu_cfi .cfi_adjust_cfa_offset 160
    .endm

    .macro sfu_pop first
    lmg %r\first, %r15, 160 + 8 * \first(%r15)
    .irp register, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
    .if \register >= \first
    sfu_cfi .cfi_restore %r\register
    .endif
    .endr
    sfu_cfi .cfi_adjust_cfa_offset -160
    .endm
