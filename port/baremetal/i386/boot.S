/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * From QEMU's PVH entry to C, exception entries, thread switch. The image is position-independent, so the start reaches
 * everything relative to where it runs.
 */
#include "machine.h"
#include "sfu_asm.h"

/* ---- start: protected mode, flat segments, paging off, EBX = start information ---- */

    .section .text.boot, "ax", @progbits
    .quad 0                             /* a stack of one word, for the call below */
    sfu_outermost_begin boot            /* nothing called this: traces end here, and say that they are complete */
    mov $0x100008, %esp                 /* machine.ld: the image starts at 0x100000 */
    call 1f
1:  pop %ebp
    lea tables - 1b(%ebp), %edi
    mov $0x83, %eax                     /* present, writable, 4 MiB: each page as it is */
    xor %ecx, %ecx
2:  mov %eax, (%edi, %ecx, 4)
    add $0x400000, %eax
    inc %ecx
    cmp $1024, %ecx
    jne 2b
    movl $0, 4 * 96(%edi)               /* but at 0x18000000 is nothing */
    movl $0, 4 * 1023(%edi)             /* nor at the end, where a stack grows to from 0 */
    mov %edi, %cr3
    mov $0x10, %eax                     /* CR4.PSE */
    mov %eax, %cr4
    mov $0x80010001, %eax               /* CR0: PG, WP, PE */
    mov %eax, %cr0
    lea gdt - 1b(%ebp), %eax
    mov %eax, gdt_register + 2 - 1b(%ebp)
    lgdt gdt_register - 1b(%ebp)
    lea boot_stack_top - 1b(%ebp), %esp
    lea 3f - 1b(%ebp), %eax
    push $CODE
    push %eax
    lret
3:  mov $DATA, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    push %ebx
    call kernel_start
    sfu_outermost_end boot

    sfu_outermost_begin boot_again      /* (distance of the image, 8 bytes; argument of kernel_restart) */
    mov 4(%esp), %eax
    mov 8(%esp), %ecx
    mov 12(%esp), %edx
    call 1f
1:  pop %ebp
    lea boot_stack_top - 1b(%ebp), %esp
    push %edx
    push %ecx
    push %eax
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
    mov $0x10, %eax                     /* as above */
    mov %eax, %cr4
    lgdtl SECOND_AT + second_tables - second_start + 8
    mov $0x80010001, %eax
    mov %eax, %cr0
    ljmpl *SECOND_AT + second_tables - second_start + 14
second_tables:                          /* CR3; SP; the GDT's limit and base; where to go on */
    .long 0
    .long 0
    .word 0
    .long 0
    .long 0
    .word CODE
second_end:

    .code32
    sfu_outermost_begin boot_second
    mov $DATA, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov SECOND_AT + second_tables - second_start + 4, %esp
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
    .irp reg, edi, esi, ebp, esp, ebx, edx, ecx, eax
    push %\reg
.Lpushed_\reg:
    .endr
    lea TRAP_SIZE(%esp), %eax           /* the interrupted SP: the CPU has pushed three words there */
    mov %eax, TRAP_ESP(%esp)
    cld
    mov %esp, %eax
    push %eax
exception_saved:
    call kernel_trap
    add $4, %esp
exception_restored:                     /* from here on each instruction leaves less on the stack */
    .irp reg, eax, ecx, edx, ebx, esp, ebp, esi, edi
    .ifc \reg, esp
    lea 4(%esp), %esp                   /* IRET brings ESP */
    .else
    pop %\reg
    .endif
.Lpopped_\reg:
    .endr
    add $8, %esp
exception_return:
    iret
exception_entry_end:
    .size exception_entry, . - exception_entry

    /* PUSHED bytes lie above what SP points to and below what the CPU has pushed: EIP, CS, EFLAGS. */
    .macro row at
    .if in_frame && pushed >= TRAP_EIP - TRAP_EBP
    sfu_trap_row_here \at, cfa=pushed+12, ra=pushed, fp=pushed-TRAP_EIP+TRAP_EBP
    .else
    sfu_trap_row_here \at, cfa=pushed+12, ra=pushed
    .endif
    .endm
    .macro row_pushed at
    .set pushed, pushed + 4
    row \at
    .endm

    sfu_trap_begin vectors, vectors_end
    .set in_frame, 0
    .set vector, 0
    .rept 33
    .set pushed, 4 * HAS_ERROR_CODE
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

    /* On the way in EBP still has its value, on the way out until it is popped its slot has. */
    sfu_trap_begin exception_entry, exception_entry_end
    .set pushed, 8
    row exception_entry
    .irp reg, edi, esi, ebp, esp, ebx, edx, ecx, eax
    row_pushed .Lpushed_\reg
    .endr
    .set in_frame, 1
    row_pushed exception_saved
    .set pushed, TRAP_EIP
    row exception_restored
    .irp reg, eax, ecx, edx, ebx, esp, ebp, esi, edi
    .set pushed, pushed - 4
    row .Lpopped_\reg
    .endr
    .set pushed, 0
    row exception_return
    sfu_trap_end

/* The task that handles double faults. The CPU comes here with SP at an error code, and has left the registers of the
 * task that was running in that one's segment: they become a trap frame. */
    sfu_outermost_begin double_fault
    cld
    call 1f
1:  pop %ebx
    lea first_task - 1b(%ebx), %ebx
    push TSS_EFLAGS(%ebx)
    push TSS_CS(%ebx)
    push TSS_EIP(%ebx)
    push $0
    push $8
    .irp reg, 7, 6, 5, 4, 3, 2, 1, 0    /* they have the order of the DWARF numbers */
    push TSS_EAX + 4 * \reg(%ebx)
    .endr
    push %esp
    call kernel_trap
    ud2
    sfu_outermost_end double_fault

/* ---- threads ---- */

    .globl thread_switch, thread_left
    .type thread_switch, @function
thread_switch:                          /* (where to save SP, 8 bytes; SP to go on with, 8 bytes) */
    .cfi_startproc
    mov 4(%esp), %eax
    mov 8(%esp), %edx
    .irp reg, ebx, ebp, esi, edi
    push %\reg
    .cfi_adjust_cfa_offset 4
    .cfi_rel_offset \reg, 0
    .endr
    mov %esp, (%eax)
    movl $0, 4(%eax)
    mov %edx, %esp
thread_left:
    .irp reg, edi, esi, ebp, ebx
    pop %\reg
    .cfi_adjust_cfa_offset -4
    .cfi_restore \reg
    .endr
    ret
    .cfi_endproc
    .size thread_switch, . - thread_switch

    sfu_outermost_begin thread_start    /* EBX: the thread's entry */
    call *%ebx
    ud2
    sfu_outermost_end thread_start

    .data
    .globl gdt
    .balign 8
gdt:
    .quad 0
    .quad 0x00cf9a000000ffff            /* CODE */
    .quad 0x00cf92000000ffff            /* DATA */
    .quad 0, 0                          /* the tasks, by machine_init */
gdt_register:
    .word . - gdt - 1
    .long 0

    .bss
    .globl tables
    .balign 4096
tables:
    .skip 4096
    .section .note.GNU-stack, "", @progbits
