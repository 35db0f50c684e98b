/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Where the firmware enters, and what makes an image one that may lie anywhere: a .reloc that changes nothing. */
#include "sfu_asm.h"

    .text
    .globl efi_start
#if defined(__x86_64__)
    sfu_outermost_begin efi_start       /* (rcx: image, rdx: struct efi_system) */
    sub $8, %rsp
    mov %rdx, %rdi
    lea image_start(%rip), %rsi
    lea _DYNAMIC(%rip), %rdx
    call efi_main
    sfu_outermost_end efi_start
#else
    sfu_outermost_begin efi_start       /* (image, struct efi_system) */
    mov x0, x1
    adrp x1, image_start
    add x1, x1, :lo12:image_start
    adrp x2, _DYNAMIC
    add x2, x2, :lo12:_DYNAMIC
    bl efi_main
    sfu_outermost_end efi_start
#endif

    .section .reloc, "a"
    .long 0, 8                          /* of page 0: no relocation */
    .section .note.GNU-stack, "", %progbits
