/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Room for tables that sfu-gen makes, in a program that is linked without sfu-gen.lds: one with a libc, or a PIE.
 * SFU_ROOM is its size in bytes, and a multiple of 8: `sfu-gen --small --size PROGRAM` says how many are needed.
 */
#ifdef SFU_ROOM
    .section .sfu_sframe, "a", %progbits
    .p2align 3
    .globl sframe_start, sframe_end
    .hidden sframe_start, sframe_end
sframe_start:
    .zero SFU_ROOM
sframe_end:
#endif

    .section .note.GNU-stack, "", %progbits
