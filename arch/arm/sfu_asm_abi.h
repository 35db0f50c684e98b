/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* 32-bit ARM, for A32 and T32 code: included by sfu_asm.h. SFrame has no ABI for it, and no assembler writes its
 * tables: sfu-gen makes them from .debug_frame or .eh_frame, and from .sfu_sframe.trap.* (docs/format.md). */
    .syntax unified
#if defined(__thumb__)
#define SFU_ASM_ABI 0x84
#else
#define SFU_ASM_ABI 0x83
#endif
#define SFU_ASM_OWN         /* the tables have a format of their own */
#define SFU_ASM_FIXED_RA    0
#define SFU_ASM_SP          13
#define SFU_ASM_RA          14
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0
/* No relocation of 8 bytes exists: the sum that this begins is one of 32 bits (docs/format.md 3.10). */
#define SFU_ASM_START(start) .4byte start - ., 0

#define SFU_ASM_CALL(function)          bl function
#define SFU_ASM_CALL_REGISTER(register) blx register
#define SFU_ASM_STOP                    udf #0

    /* Saves one register or two, the lower number first: `sfu_push r7, lr`. One register alone leaves SP a multiple of
     * 4 only. */
    .macro sfu_push first:req, second
    .ifb \second
    push {\first}
    sfu_cfi .cfi_adjust_cfa_offset 4
    .else
    push {\first, \second}
    sfu_cfi .cfi_adjust_cfa_offset 8
    sfu_cfi .cfi_rel_offset \second, 4
    .endif
    sfu_cfi .cfi_rel_offset \first, 0
    .endm

    /* With pc for the last register it returns, and the code behind it is in the frame still: `sfu_pop r7, pc`. */
    .macro sfu_pop first:req, second
    .ifb \second
    pop {\first}
    sfu_popped \first, 4
    .else
    pop {\first, \second}
    .ifnc \second, pc
    sfu_cfi .cfi_restore \first
    .endif
    sfu_popped \second, 8
    .endif
    .endm

    .macro sfu_popped last, bytes
    .ifnc \last, pc
    sfu_cfi .cfi_restore \last
    sfu_cfi .cfi_adjust_cfa_offset -\bytes
    .endif
    .endm
