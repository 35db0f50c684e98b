/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
    .section .text.boot, "ax", @progbits
    .balign 4
    .long 0x1badb002, 0, -0x1badb002    /* multiboot */
    .globl start
start:
    lgdt gdt_register
    ljmp $8, $1f
1:  mov $16, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov $stack_top, %esp
    xor %ebp, %ebp
    push 16(%ebx)                       /* multiboot's command line */
    call kernel_main
    hlt

    .text
    .macro entry name, number, error=0
    .globl \name
\name:
    .if !\error
    push $0
    .endif
    push $\number
    jmp common
    .endm

#ifdef WITH_STUBS
    /* With an error code or without it: what is called never returns. */
    .irp name, invalid_entry, protection_entry, page_entry
    .globl \name
\name:
    call stopped
    iret
    .endr
#else
    entry invalid_entry, 6
    entry protection_entry, 13, error=1
    entry page_entry, 14, error=1
#endif
    entry timer_entry, 32

    .globl handler_returned
common:
    pusha
    cld
    push %esp
    call handle
handler_returned:
    add $4, %esp
    popa
    add $8, %esp
    iret

    .data
    .balign 8
    .globl gdt
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0, 0
gdt_register:
    .word 39
    .long gdt

    .bss
    .balign 4096
    .globl guard
guard:
    .skip 4096
    .skip 16384
stack_top:
