/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit x86: included by sfu_asm.h. SFrame has no ABI for it, and no assembler writes its tables: sfu-gen makes them
 * from .eh_frame or .debug_frame, and from .sfu_sframe.trap.* (docs/format.md). */
#define SFU_ASM_ABI 0x85
#define SFU_ASM_OWN /* the tables have a format of their own */
#define SFU_ASM_FIXED_RA    -4
#define SFU_ASM_SP          4
#define SFU_ASM_RA          8
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0
/* No relocation of 8 bytes exists: the sum that this begins is one of 32 bits (docs/format.md 4.9). */
#define SFU_ASM_START(start) .4byte start - ., 0

#define SFU_ASM_CALL(function)          call function
#define SFU_ASM_CALL_REGISTER(register) call *register
#define SFU_ASM_STOP                    ud2

    .macro sfu_push register
    push \register
    sfu_cfi .cfi_adjust_cfa_offset 4
    sfu_cfi .cfi_rel_offset \register, 0
    .endm

    .macro sfu_pop register
    pop \register
    sfu_cfi .cfi_adjust_cfa_offset -4
    sfu_cfi .cfi_restore \register
    .endm
