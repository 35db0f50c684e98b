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
