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

#ifdef USER
    .globl user_enter
user_enter:                             /* (RDI: where the program begins, RSI: its SP) */
    mov $0xc0000080, %ecx               /* EFER.SCE */
    rdmsr
    or $1, %eax
    wrmsr
    mov $0xc0000081, %ecx               /* STAR: segments */
    xor %eax, %eax
    mov $0x00180008, %edx
    wrmsr
    mov $0xc0000082, %ecx               /* LSTAR */
    lea user_entry(%rip), %rax
    mov %rax, %rdx
    shr $32, %rdx
    wrmsr
    mov %rdi, %rcx
    mov %rsi, %rsp
    mov $2, %r11d
    sysretq

    .globl user_entry
    .type user_entry, @function
user_entry:                             /* RCX: where the program has called */
    .cfi_startproc
    .cfi_signal_frame
    .cfi_undefined rip
    mov %rsp, %rax
    movabs $STACK + 4096 * STACK_PAGES, %rsp
    push %rax
    push %rax
    push %rcx
    push %rbp
    .cfi_escape 0x0f, 3, 0x77, 16, 0x06 /* CFA = *(RSP + 16) */
    .cfi_escape 0x10, 16, 2, 0x77, 8    /* RIP at RSP + 8, RBP at RSP */
    .cfi_escape 0x10, 6, 2, 0x77, 0
    call user_arrived
    nop
    .cfi_endproc
    .size user_entry, . - user_entry

    .section .user, "a"
    .globl user_image
user_image:
    .incbin USER_CODE
#endif
    .section .note.GNU-stack, "", @progbits
