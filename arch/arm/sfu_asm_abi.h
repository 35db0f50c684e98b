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

    /* For exception entries of the A and R profiles, while interrupts are masked: gives, in the registers SP and LR,
     * the stack pointer and the link register of the interrupted mode. The register CPSR has what was SPSR, which says
     * the mode. User mode has those of system mode. If the entry runs in the interrupted mode itself, SP gets the
     * entry's own stack pointer, below what the entry has pushed. SCRATCH is a fourth register. Changes the flags. */
    .macro sfu_banked cpsr:req, sp:req, lr:req, scratch:req
    mrs \scratch, cpsr
    and \sp, \cpsr, #0x1f
    cmp \sp, #0x10
    it eq
    orreq \sp, \sp, #0xf
    orr \sp, \sp, #0xc0
    msr cpsr_c, \sp
    mov \sp, sp
    mov \lr, lr
    msr cpsr_c, \scratch
    .endm
