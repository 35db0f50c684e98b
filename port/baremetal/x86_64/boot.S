/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's PVH entry to 64-bit C, exception entries, thread switch. The image is position-independent, so the
 * 32-bit part reaches everything relative to where it runs.
 */
#include "machine.h"
#include "sfu_asm.h"

/* ---- start: protected mode, flat segments, paging off, EBX = start information ---- */

    .section .text.boot, "ax", @progbits
    .quad 0                             /* a stack of one word, for the call below */
    .code32
    .globl boot
boot:
    mov $0x100008, %esp                 /* machine.ld: the image starts at 0x100000 */
    call 1f
1:  pop %ebp
    lea tables - 1b(%ebp), %edi         /* +0: level 4, +0x1000: level 3, +0x2000: four of level 2 */
    lea 0x1003(%edi), %eax
    mov %eax, (%edi)
    lea 0x2003(%edi), %eax
    xor %ecx, %ecx
2:  mov %eax, 0x1000(%edi, %ecx, 8)
    add $0x1000, %eax
    inc %ecx
    cmp $4, %ecx
    jne 2b
    mov $0x83, %eax                     /* present, writable, 2 MiB: the first 4 GiB as they are */
    xor %ecx, %ecx
3:  mov %eax, 0x2000(%edi, %ecx, 8)
    add $0x200000, %eax
    inc %ecx
    cmp $2048, %ecx
    jne 3b

    mov %edi, %cr3
    mov $0x20, %eax                     /* CR4.PAE */
    mov %eax, %cr4
    mov $0xc0000080, %ecx               /* EFER.LME */
    mov $0x100, %eax
    xor %edx, %edx
    wrmsr
    mov $0x80010001, %eax               /* CR0: PG, WP, PE */
    mov %eax, %cr0
    lea gdt - 1b(%ebp), %eax
    mov %eax, gdt_register + 2 - 1b(%ebp)
    lgdt gdt_register - 1b(%ebp)
    lea boot_stack_top - 1b(%ebp), %esp
    push $8
    lea boot64 - 1b(%ebp), %eax
    push %eax
    lret

    .code64
    sfu_outermost_begin boot64          /* nothing called this: traces end here, and say that they are complete */
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov %ebx, %edi
    lea boot_stack_top(%rip), %rsp
    call kernel_start
    sfu_outermost_end boot64

    sfu_outermost_begin boot_again      /* (distance of the image, argument of kernel_restart) */
    lea boot_stack_top(%rip), %rsp
    call kernel_restart
    sfu_outermost_end boot_again

/* ---- the second CPU: real mode, from SECOND_AT, where machine_start_second copies this ---- */

    .code16
    .globl second_start, second_tables, second_end
second_start:
    cli
    xor %ax, %ax
    mov %ax, %ds
    mov SECOND_AT + second_tables - second_start, %eax
    mov %eax, %cr3
    mov $0x20, %eax                     /* as above */
    mov %eax, %cr4
    mov $0xc0000080, %ecx
    mov $0x100, %eax
    xor %edx, %edx
    wrmsr
    lgdtl SECOND_AT + second_tables - second_start + 4
    mov $0x80010001, %eax
    mov %eax, %cr0
    ljmpl *SECOND_AT + second_tables - second_start + 10
second_tables:                          /* CR3; the GDT's limit and base; where to go on */
    .long 0
    .word 0
    .long 0
    .long 0
    .word 8
second_end:

    .code64
    sfu_outermost_begin boot_second
    xor %eax, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov second_stack(%rip), %rsp
    call machine_second
    sfu_outermost_end boot_second

/* ---- exceptions ---- */

/* Vectors for which the CPU pushes an error code: 8, 10 to 14, 17, 21. */
#define HAS_ERROR_CODE (0x227d00 >> vector & 1)

    .text
    .balign 16
    .globl vectors, vectors_end
    .type vectors, @function
vectors:                                /* 16 bytes each */
    .set vector, 0
    .rept 33
    .balign 16
    .if HAS_ERROR_CODE == 0
    push $0
    .endif
    push $vector
    jmp exception_entry
    .set vector, vector + 1
    .endr
vectors_end:
    .size vectors, . - vectors

    .globl exception_entry, exception_entry_end, exception_saved, exception_restored, exception_return
    .type exception_entry, @function
exception_entry:                        /* in the order of the DWARF numbers, from the last */
    .irp reg, r15, r14, r13, r12, r11, r10, r9, r8, rsp, rbp, rdi, rsi, rbx, rcx, rdx, rax
    .ifc \reg, rsp
    push TRAP_RSP - TRAP_R8(%rsp)       /* the interrupted one */
    .else
    push %\reg
    .endif
.Lpushed_\reg:
    .endr
    cld
    mov %rsp, %rdi
    sub $8, %rsp                        /* 184 bytes were pushed since the CPU aligned it to 16 */
exception_saved:
    call kernel_trap
    add $8, %rsp
exception_restored:                     /* from here on each instruction leaves less on the stack */
    .irp reg, rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15
    .ifc \reg, rsp
    pop %r8                             /* IRETQ brings RSP */
    .else
    pop %\reg
    .endif
.Lpopped_\reg:
    .endr
    add $16, %rsp
exception_return:
    iretq
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* PUSHED bytes lie above what SP points to and below what the CPU has pushed: RIP, CS, RFLAGS, RSP, SS. */
    .macro row at
    .if in_frame && pushed >= TRAP_RIP - TRAP_RBP
    sfu_trap_row \at, cfa=pushed+24, ra=pushed, fp=pushed-TRAP_RIP+TRAP_RBP
    .else
    sfu_trap_row \at, cfa=pushed+24, ra=pushed
    .endif
    .endm
    .macro row_pushed at
    .set pushed, pushed + 8
    row \at
    .endm

    sfu_trap_begin vectors, vectors_end
    .set in_frame, 0
    .set vector, 0
    .rept 33
    .set pushed, 8 * HAS_ERROR_CODE
    row vectors+16*vector
    .if HAS_ERROR_CODE == 0
    row_pushed vectors+16*vector+2
    row_pushed vectors+16*vector+4
    .else
    row_pushed vectors+16*vector+2
    .endif
    .set vector, vector + 1
    .endr
    sfu_trap_end

    /* On the way in RBP still has its value, on the way out until it is popped its slot has. */
    sfu_trap_begin exception_entry, exception_entry_end
    .set pushed, 16
    row exception_entry
    .irp reg, r15, r14, r13, r12, r11, r10, r9, r8, rsp, rbp, rdi, rsi, rbx, rcx, rdx, rax
    row_pushed .Lpushed_\reg
    .endr
    .set in_frame, 1
    row_pushed exception_saved
    .set pushed, TRAP_RIP
    row exception_restored
    .irp reg, rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8, r9, r10, r11, r12, r13, r14, r15
    .set pushed, pushed - 8
    row .Lpopped_\reg
    .endr
    .set pushed, 0
    row exception_return
    sfu_trap_end

/* ---- threads ---- */

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

    sfu_outermost_begin thread_start    /* R12: the thread's entry */
    call *%r12
    ud2
    sfu_outermost_end thread_start

    .data
    .globl gdt
    .balign 8
gdt:
    .quad 0
    .quad 0x00209a0000000000            /* 8: 64-bit code */
    .quad 0, 0                          /* 16: the TSS, by machine_init */
gdt_register:
    .word . - gdt - 1
    .quad 0

    .bss
    .globl tables
    .balign 4096
tables:
    .skip 6 * 4096
    .section .note.GNU-stack, "", @progbits
