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
