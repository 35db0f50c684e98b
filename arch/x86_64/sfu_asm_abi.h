/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* x86_64: included by sfu_asm.h. */
#define SFU_ASM_ABI         3
#define SFU_ASM_FIXED_RA    -8
#define SFU_ASM_SP          7
#define SFU_ASM_RA          16
#define SFU_ASM_CFA(offset) offset
#define SFU_ASM_CFA_MASK    0
