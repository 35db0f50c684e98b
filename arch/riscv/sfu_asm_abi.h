/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* RISC-V, of 64 bits or 32: included by sfu_asm.h. SFrame has no ABI for it, and no assembler writes its tables:
 * sfu-gen makes them from .eh_frame and from .sfu_sframe.trap.* (docs/format.md). */
#if __riscv_xlen == 64
#define SFU_ASM_ABI  0x81
#define SFU_ASM_WORD 8
#define SFU_ASM_LOAD ld
#define SFU_ASM_STORE sd
#else
#define SFU_ASM_ABI  0x82
#define SFU_ASM_WORD 4
#define SFU_ASM_LOAD lw
#define SFU_ASM_STORE sw
#endif
#define SFU_ASM_OWN         /* the tables have a format of their own */
#define SFU_ASM_FIXED_RA    0
#define SFU_ASM_SP          2
#define SFU_ASM_RA          1
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0

#define SFU_ASM_CALL(function)          call function
#define SFU_ASM_CALL_REGISTER(register) jalr register
#define SFU_ASM_STOP                    unimp

    /* Saves one register or two, in 16 bytes: SP stays a multiple of 16. `sfu_push ra, s0` makes a frame record of them
     * for `addi s0, sp, 16`. */
    .macro sfu_push first, second
    addi sp, sp, -16
    sfu_cfi .cfi_adjust_cfa_offset 16
    SFU_ASM_STORE \first, 16 - SFU_ASM_WORD(sp)
    sfu_cfi .cfi_rel_offset \first, 16 - SFU_ASM_WORD
    .ifnb \second
    SFU_ASM_STORE \second, 16 - 2 * SFU_ASM_WORD(sp)
    sfu_cfi .cfi_rel_offset \second, 16 - 2 * SFU_ASM_WORD
    .endif
    .endm

    .macro sfu_pop first, second
    SFU_ASM_LOAD \first, 16 - SFU_ASM_WORD(sp)
    sfu_cfi .cfi_restore \first
    .ifnb \second
    SFU_ASM_LOAD \second, 16 - 2 * SFU_ASM_WORD(sp)
    sfu_cfi .cfi_restore \second
    .endif
    addi sp, sp, 16
    sfu_cfi .cfi_adjust_cfa_offset -16
    .endm
