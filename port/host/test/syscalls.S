/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * Entries of system calls without a word of CFI, in the shapes that kernels give them, and imitate_syscall. Between
 * NAME_apart and NAME_found the interrupted SP is in a variable alone, which no row may read.
 */
    .text
    .globl per_cpu, per_cpu_apart, per_cpu_found
    .type per_cpu, @function
per_cpu:                                /* as Linux: the variable counts from GS, and the frame is that of iretq */
    swapgs
    mov %rsp, %gs:16
    mov %gs:8, %rsp
per_cpu_apart:
    push $0x2b
    push %gs:16
per_cpu_found:
    push %r11
    push $0x33
    push %rcx
    push %rdi
    push %rbp
    mov %rsp, %rdi
    xor %ebp, %ebp
    call handle
    pop %rbp
    pop %rdi
    pop %rcx
    add $8, %rsp
    pop %r11
    pop %rsp
    swapgs
    sysretq
    .size per_cpu, . - per_cpu

    .globl global, global_apart, global_found
    .type global, @function
global:                                 /* one CPU: the variable has an address */
    mov %rsp, interrupted_sp(%rip)
    mov kernel_sp, %rsp
global_apart:
    push %rax
    push interrupted_sp
global_found:
    push %r11
    push %rcx
    call handle
    pop %rcx
    pop %r11
    mov (%rsp), %rsp
    sysretq
    .size global, . - global

    .globl by_register
    .type by_register, @function
by_register:                            /* a register has it; and the way back is that of an interrupt */
    mov %rsp, %r10
    lea kernel_stack_end(%rip), %rsp
    push $0x2b
    push %r10
    push %r11
    push $0x33
    push %rcx
    mov %rsp, %rdi
    call handle
    push 8(%rsp)                        /* this process's own segments: iretq takes them */
    pop %rdi
    mov %cs, %eax
    mov %rax, 8(%rsp)
    mov %ss, %eax
    mov %rax, 32(%rsp)
    iretq
    .size by_register, . - by_register

/* (RDI: the entry, RSI: struct sfu_registers, which gets what is interrupted): does what `syscall` does, and steps. */
    .globl imitate_syscall
    .type imitate_syscall, @function
imitate_syscall:
    .cfi_startproc
    push %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset 6, -16
    mov $0x5eed, %ebp
    lea 1f(%rip), %rcx
    mov %rcx, (%rsi)
    mov %rsp, 8(%rsi)
    mov %rbp, 16(%rsi)
    pushf
    .cfi_adjust_cfa_offset 8
    orq $0x100, (%rsp)                  /* TF */
    mov (%rsp), %r11
    popf
    .cfi_adjust_cfa_offset -8
    jmp *%rdi
1:  pushf
    .cfi_adjust_cfa_offset 8
    andq $~0x100, (%rsp)
    popf
    .cfi_adjust_cfa_offset -8
    pop %rbp
    .cfi_adjust_cfa_offset -8
    .cfi_restore 6
    ret
    .cfi_endproc
    .size imitate_syscall, . - imitate_syscall

    .data
    .balign 8
interrupted_sp: .quad 0
kernel_sp: .quad kernel_stack_end
    .globl of_kernel, of_program
of_kernel: .quad 0, kernel_stack_end, 0 /* where GS begins */
of_program: .quad 0, 0, 0
    .bss
    .balign 16
    .skip 16384
kernel_stack_end:
    .section .note.GNU-stack, "", @progbits
