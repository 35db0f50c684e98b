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
    .section .note.pvh, "a", @note
    .long 4, 4, 18
    .asciz "Xen"
    .long boot

    .section .text.boot, "ax", @progbits
    .code32
    .globl start
start:
boot:
    mov $tables, %edi
    mov %edi, %cr3
    lea 0x1003(%edi), %eax
    mov %eax, (%edi)
    lea 0x2003(%edi), %eax
    mov %eax, 0x1000(%edi)
    mov $0x83, %eax
    mov $64, %ecx
1:  mov %eax, 0x2000(%edi)
    add $8, %edi
    add $0x200000, %eax
    loop 1b
    mov $0x20, %eax
    mov %eax, %cr4
    mov $0xc0000080, %ecx
    mov $0x100, %eax
    xor %edx, %edx
    wrmsr
    mov $0x80000001, %eax
    mov %eax, %cr0
    lgdt gdt_register
    ljmp $8, $boot64
    .code64
    .globl boot64
boot64:
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    lea stack_top(%rip), %rsp
    xor %ebp, %ebp
    call kernel_main
    hlt

    .text
    .globl prologue
prologue:
    int3
    nop
    nop
    push %rbx
    int3
    nop
    nop
    mov $1, %edi
    call leaf
    pop %rbx
    int3
    nop
    nop
    ret

    .globl invalid_entry
invalid_entry:
    push %rax
    push %rbx
    push %rcx
    push %rdx
    push %rsi
    push %rdi
    push %rbp
    push %r8
    push %r9
    push %r10
    push %r11
    push %r12
    push %r13
    push %r14
    push %r15
    mov %rsp, %rdi
    cld
    hand_over handle
    pop %r15
    pop %r14
    pop %r13
    pop %r12
    pop %r11
    pop %r10
    pop %r9
    pop %r8
    pop %rbp
    pop %rdi
    pop %rsi
    pop %rdx
    pop %rcx
    pop %rbx
    pop %rax
    iretq

    .data
    .balign 8
    .globl gdt
gdt:
    .quad 0
    .quad 0x00209a0000000000
    .quad 0, 0                          /* a TSS, where there is one */
gdt_register:
    .word 31
    .long gdt

    .bss
    .balign 4096
tables:
    .skip 0x3000
#ifdef STACK_IN_CODE
    .text
    .balign 16
#endif
    .globl stack_below, stack_top, stack_above     /* of faults, where these have their own */
    .skip 16384
stack_below:
    .skip 16384
stack_top:
    .skip 16384
stack_above:
