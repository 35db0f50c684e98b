/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* The module as data of the kernel, which relocates it in place. */
    .data
    .balign 4096
    .globl module_image
module_image:
    .incbin MODULE
    .section .note.GNU-stack, "", %progbits
