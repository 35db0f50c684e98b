/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* From QEMU's PVH entry (protected mode, paging off) to kernel_main in the upper half. */
#include "upper.h"

    .section .note.pvh, "a", @note
    .long 4, 4, 18
    .asciz "Xen"
    .long boot

    .section .boot, "ax", @progbits
    .code32
    .globl boot
boot:
    mov $0x7f0000, %esp
    mov $0x700000, %edi                 /* the first tables, at 0x700000: memory as it is */
    mov %edi, %cr3
    mov $0x4000, %ecx
    xor %eax, %eax
    rep stosl
    mov $0x700000, %edi
    mov %edi, %ebx
    .rept LEVELS - 2
    lea 0x1000(%ebx), %eax
    or $3, %eax
    mov %eax, (%ebx)
    add $0x1000, %ebx
    .endr
    mov $0x83, %eax                     /* present, writable, 2 MiB */
    xor %ecx, %ecx
1:  mov %eax, (%ebx, %ecx, 8)
    add $0x200000, %eax
    inc %ecx
    cmp $16, %ecx
    jne 1b
#if LEVELS == 5
    mov $0x1020, %eax                   /* CR4: LA57, PAE */
#else
    mov $0x20, %eax
#endif
    mov %eax, %cr4
    mov $0xc0000080, %ecx               /* EFER.LME */
    mov $0x100, %eax
    xor %edx, %edx
    wrmsr
    mov $0x80010001, %eax               /* CR0: PG, WP, PE */
    mov %eax, %cr0
    lgdt gdt_register
    ljmp $8, $boot64

    .code64
boot64:
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    call early
    mov %rax, %cr3
    movabs $upper, %rcx
    jmp *%rcx

    .balign 8
gdt:
    .quad 0
    .quad 0x00209a0000000000
gdt_register:
    .word 15
    .long gdt

    .text
    .globl upper
    .type upper, @function
upper:
    .cfi_startproc
    .cfi_undefined rip
    movq $0, (%rax)                     /* the lower half is gone: through its own alias */
    mov %rax, %cr3
    movabs $STACK + 4096 * STACK_PAGES, %rsp
    call kernel_main
    .cfi_endproc
    .size upper, . - upper

    .globl thread_switch, thread_left
    .type thread_switch, @function
thread_switch:                          /* (RDI: where to save SP, RSI: SP to go on with) */
    .cfi_startproc
    .irp reg, rbx, rbp, r12, r13, r14, r15
    push %\reg
    .cfi_adjust_cfa_offset 8
    .cfi_rel_offset \reg, 0
    .endr
    mov %rsp, (%rdi)
    mov %rsi, %rsp
thread_left:
    .irp reg, r15, r14, r13, r12, rbp, rbx
    pop %\reg
    .cfi_adjust_cfa_offset -8
    .cfi_restore \reg
    .endr
    ret
    .cfi_endproc
    .size thread_switch, . - thread_switch

    .globl thread_start
    .type thread_start, @function
    .cfi_startproc
    .cfi_undefined rip
    nop                                 /* a return address belongs to what is before it */
thread_start:                           /* R12: the thread's entry */
    call *%r12
    ud2
    .cfi_endproc
    .section .note.GNU-stack, "", @progbits
