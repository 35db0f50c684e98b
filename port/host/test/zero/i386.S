/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
    .macro hand_over target
#ifdef BY_HAND
    push $9f
    jmp \target
9:
#else
    call \target
#endif
    .endm
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
    hand_over handle
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

#ifdef PROGRAMS
    .globl run_program
run_program:                            /* after a fault in another segment, in user mode, on a stack of its own */
    ljmp $0x30, $1f
1:  ud2
    ljmp $8, $1f
1:  mov $task, %eax
    mov %ax, gdt + 42
    shr $16, %eax
    mov %al, gdt + 44
    mov %ah, gdt + 47
    mov $0x28, %eax
    ltr %ax
    mov $0x23, %eax
    mov %eax, %ds
    mov %eax, %es
    push $0x23
    push $program_top
    pushf
    orl $0x3000, (%esp)                 /* a program may write to ports */
    push $0x1b
    push $program
    iret
program:
    ud2
    call finish
#endif

    .data
    .balign 8
gdt:
    .quad 0, 0x00cf9a000000ffff, 0x00cf92000000ffff, 0x00cffa000000ffff, 0x00cff2000000ffff, 0x0000890000000067
    .quad 0x00cf9a000000ffff
gdt_register:
    .word 55
    .long gdt
#ifdef PROGRAMS
task:
    .long 0, task_top, 16
    .skip 92
    .bss
    .skip 8192
task_top:
    .skip 4096
program_top:
#endif

#ifdef STACK_IN_CODE
    .text
#else
    .bss
#endif
    .balign 16
    .globl stack_top
    .skip 16384
stack_top:
