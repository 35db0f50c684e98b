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
    call kernel_main
    hlt

    .text
    .globl invalid_entry
invalid_entry:
    pusha
    cld
    push %esp
    call handle
    add $4, %esp
    popa
    iret

    .globl prologue
prologue:
    int3
    nop
    nop
    push %ebx
    int3
    nop
    nop
    push $1
    call leaf
    add $4, %esp
    pop %ebx
    int3
    nop
    nop
    ret

    .data
    .balign 8
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff
gdt_register:
    .word 23
    .long gdt

    .bss
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
