/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * For assembly files (.S) on every CPU: the unwind tables that a compiler would write.
 *
 * 1. An ordinary function needs the CFI lines that any assembler manual has: .cfi_startproc, .cfi_def_cfa_offset
 *    and .cfi_offset where the stack changes, .cfi_endproc. `as --gsframe` turns them into .sframe.
 *
 * 2. Start-up code and thread entries, which nobody called, end the trace:
 *
 *        sfu_outermost_begin _start      <- global function, whose RA is undefined
 *        ...
 *        sfu_outermost_end _start
 *
 *    or `sfu_outermost` after a .cfi_startproc of your own. A walk that reaches it returns SFU_END. Assemblers before
 *    version 3 of SFrame (binutils before 2.46) ignore the mark and would describe an ordinary function. Define
 *    SFU_NO_OUTERMOST there: the function then has no table, and a walk ends with SFU_E_NO_FDE.
 *
 * 3. Exception entries, which interrupted somebody. The assembler has no directive for these, so that the macros
 *    write a section of their own, .sframe.trap.*, which the linker (binutils 2.46 or later) merges and sorts with
 *    the rest: SFrame version 3, one signal FDE with flexible rows. A walk crosses it like any function, and the frame
 *    behind it has an exact PC.
 *
 *        irq_entry:                      <- x86_64: the CPU has pushed RIP, CS, RFLAGS, RSP and SS
 *            push %rbp
 *        irq_saved:
 *            call irq_handler
 *            pop %rbp
 *        irq_restored:
 *            iretq
 *        irq_end:
 *            sfu_trap_begin irq_entry, irq_end
 *            sfu_trap_row irq_entry,    cfa=24, ra=0
 *            sfu_trap_row irq_saved,    cfa=32, ra=8, fp=0
 *            sfu_trap_row irq_restored, cfa=24, ra=0
 *            sfu_trap_end
 *
 *    No .cfi_startproc around such a function: its table would be there twice.
 *    The linker script must take both: .sframe : { KEEP(*(.sframe .sframe.*)) }.
 */
#ifndef SFU_ASM_H
#define SFU_ASM_H

/* SFU_ASM_ABI: ABI of the section; SFU_ASM_FIXED_RA: RA from the CFA, if fixed; SFU_ASM_SP, SFU_ASM_RA: DWARF
 * numbers; SFU_ASM_CFA(offset): an offset as the CFA's rule holds it, with the bits of SFU_ASM_CFA_MASK clear. */
#if defined(__x86_64__)
#include "x86_64/sfu_asm_abi.h"
#elif defined(__aarch64__)
#include "aarch64/sfu_asm_abi.h"
#elif defined(__s390x__)
#include "s390x/sfu_asm_abi.h"
#else
#error "sfu has no assembler macros for this CPU"
#endif

    /* The function that this is in has no caller. Equation: RA = undefined. */
    .macro sfu_outermost
#ifndef SFU_NO_OUTERMOST
    .cfi_undefined SFU_ASM_RA
#endif
    .endm

    .macro sfu_outermost_begin name
    .globl \name
    .type \name, %function
\name:
#ifndef SFU_NO_OUTERMOST
    .cfi_startproc
    .cfi_undefined SFU_ASM_RA
#endif
    .endm

    .macro sfu_outermost_end name
#ifndef SFU_NO_OUTERMOST
    .cfi_endproc
#endif
    .size \name, . - \name
    .endm

    /* Begins the table of the exception entry from symbol START up to symbol END: then come its rows, in ascending
     * order, then sfu_trap_end. A PC before the first row has none. Flag R: --gc-sections keeps the section. Row
     * addresses are 2 bytes, so that an entry has 64 KiB at the most. */
    .macro sfu_trap_begin start, end
    .pushsection .sframe.trap.\start, 1, "aR", %0x6ffffff4
    .set .Lsfu_trap_rows, 0
.Lsfu_trap_data_\start:
    .2byte .Lsfu_trap_rows_\start
    .byte 0x81, 1, 0                /* a signal frame with 2-byte addresses; flexible rows; no repetition */
    .macro sfu_trap_address at      /* for the macros below, which do not know START and END */
    .2byte \at - \start
    .endm
    .macro sfu_trap_finish
    .set .Lsfu_trap_rows_\start, .Lsfu_trap_rows
    .set .Lsfu_trap_size, . - .Lsfu_trap_data_\start
    .subsection 0
    .p2align 3
    .2byte 0xdee2
    .byte 3, 4, SFU_ASM_ABI, 0, SFU_ASM_FIXED_RA, 0
    .4byte 1, .Lsfu_trap_rows       /* functions, rows */
    .4byte .Lsfu_trap_size, 0, 16   /* of the rows; offsets of the functions and of the rows */
    .8byte \start - .               /* flag 4: from this field */
    .4byte \end - \start, 0
    .endm
    .endm

    /* From label AT on:
     *     interrupted CFA = *(SP + cfa)     interrupted SP = CFA, on s390x CFA - 160
     *     interrupted PC  = *(SP + ra)
     *     interrupted FP  = *(SP + fp)      not given: FP still has the value it had
     * So the word at SP + cfa holds the interrupted SP, which on x86_64 the CPU has stored there; on s390x it holds
     * the interrupted SP + 160. Offsets are constants, -32768 to 32767; those with spaces need quotes. */
    .macro sfu_trap_row at, cfa:req, ra:req, fp
    sfu_trap_words \at, 3, "\cfa", "\ra", "\fp"
    .endm

    /* The same for an exception that is taken on the interrupted stack, where nothing needs to be stored:
     *     interrupted CFA = SP + cfa          interrupted SP = SP + cfa, on s390x SP + cfa - 160
     * cfa is what the CPU and the entry have pushed, on s390x 160 more. */
    .macro sfu_trap_row_here at, cfa:req, ra:req, fp
    sfu_trap_words \at, 1, "\cfa", "\ra", "\fp"
    .endm

    /* One row: address, info byte, then pairs of control word and offset in the order CFA, RA, FP (3.2). CONTROL is
     * register + 2 if the CFA is read from memory. */
    .macro sfu_trap_words at, control, cfa, ra, fp
    .if (\cfa) & SFU_ASM_CFA_MASK
    .error "sfu_trap_row: cfa must be a multiple of 8 here"
    .endif
    .set .Lsfu_trap_rows, .Lsfu_trap_rows + 1
    sfu_trap_address \at
    .ifb \fp
    .byte 1 << 5 | 4 << 1 | 1       /* 2-byte words, four of them */
    .else
    .byte 1 << 5 | 6 << 1 | 1
    .endif
    .2byte SFU_ASM_SP << 3 | \control, SFU_ASM_CFA(\cfa)
    .2byte SFU_ASM_SP << 3 | 3, \ra
    .ifnb \fp
    .2byte SFU_ASM_SP << 3 | 3, \fp
    .endif
    .endm

    /* Writes the header and the FDE, in front of the rows. */
    .macro sfu_trap_end
    sfu_trap_finish
    .purgem sfu_trap_finish
    .purgem sfu_trap_address
    .popsection
    .endm

#endif
