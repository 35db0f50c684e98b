/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* i386: included by sfu_asm.h. There are no tables: the macros are for a file that is assembled for x86_64, too. */
#ifndef SFU_NO_ASM
#define SFU_NO_ASM
#endif

#define SFU_ASM_CALL(function)          call function
#define SFU_ASM_CALL_REGISTER(register) call *register
#define SFU_ASM_STOP                    ud2

    .macro sfu_push register
    push \register
    .endm

    .macro sfu_pop register
    pop \register
    .endm
