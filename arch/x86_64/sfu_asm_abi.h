/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* x86_64: included by sfu_asm.h. */
#define SFU_ASM_ABI         3
#define SFU_ASM_FIXED_RA    -8
#define SFU_ASM_SP          7
#define SFU_ASM_RA          16
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0

#define SFU_ASM_CALL(function)          call function
#define SFU_ASM_CALL_REGISTER(register) call *register
#define SFU_ASM_STOP                    ud2

    .macro sfu_push register
    push \register
    sfu_cfi .cfi_adjust_cfa_offset 8
    sfu_cfi .cfi_rel_offset \register, 0
    .endm

    .macro sfu_pop register
    pop \register
    sfu_cfi .cfi_adjust_cfa_offset -8
    sfu_cfi .cfi_restore \register
    .endm
