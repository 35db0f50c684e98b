/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* aarch64, either byte order: included by sfu_asm.h. */
#ifdef __AARCH64EB__
#define SFU_ASM_ABI 1
#else
#define SFU_ASM_ABI 2
#endif
#define SFU_ASM_FIXED_RA    0
#define SFU_ASM_SP          31
#define SFU_ASM_RA          30
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0

#define SFU_ASM_CALL(function)          bl function
#define SFU_ASM_CALL_REGISTER(register) blr register
#define SFU_ASM_STOP                    udf #0

    .macro sfu_push first, second
    stp \first, \second, [sp, #-16]!
    sfu_cfi .cfi_adjust_cfa_offset 16
    sfu_cfi .cfi_rel_offset \first, 0
    sfu_cfi .cfi_rel_offset \second, 8
    .endm

    .macro sfu_pop first, second
    ldp \first, \second, [sp], #16
    sfu_cfi .cfi_adjust_cfa_offset -16
    sfu_cfi .cfi_restore \first
    sfu_cfi .cfi_restore \second
    .endm
