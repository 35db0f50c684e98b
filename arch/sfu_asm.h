/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/*
 * For assembly files (.S) on every CPU: the unwind tables that a compiler would write.
 *
 * 1. An ordinary function says what it does to the stack. sfu_function_begin and sfu_function_end are all that a leaf
 *    function needs. sfu_push and sfu_pop save and restore, and say so:
 *
 *        sfu_function_begin copy         <- global function
 *            sfu_push %rbp               <- x86: a register; aarch64: two, x29, x30; s390x: from 6 on up to 15;
 *                                           RISC-V: one or two, ra, s0; ARM: r7, lr
 *            ...
 *            sfu_pop %rbp
 *            ret
 *        sfu_function_end copy
 *
 *    Anything else that it does to the stack needs CFI lines: .cfi_adjust_cfa_offset and so on, as any assembler's
 *    manual says. `as --gsframe` turns them into .sframe.
 *
 * 2. Start-up code and thread entries, which nobody called, end the trace:
 *
 *        sfu_outermost_begin _start      <- global function, whose RA is undefined
 *        ...
 *        sfu_outermost_end _start
 *
 *    or `sfu_outermost` after a .cfi_startproc of your own. A walk that reaches it returns SFU_END. The tables of an
 *    assembler that writes version 1 or 2 (binutils before 2.46) lack the mark, and would describe an ordinary
 *    function. Define SFU_NO_OUTERMOST there: the function then has no table, and a walk ends with SFU_E_NO_FDE.
 *
 *        sfu_thread_entry thread_start, thread_main
 *
 *    is whole start-up code for threads that begin in C: thread_start calls thread_main, and ends the trace. A new
 *    thread's PC is thread_start.
 *
 * 3. Exception entries, which interrupt a frame. The assembler has no directive for these. So the macros write a
 *    section of their own, .sframe.trap.*: SFrame version 3, one FDE of a signal frame with flexible rows. The linker
 *    (binutils 2.46 or later) merges and sorts it with the rest. A walk crosses the entry like any function. The frame
 *    that called the entry is interrupted: its PC is exact.
 *
 *        irq_entry:                      <- x86_64: the CPU has pushed RIP, CS, RFLAGS, RSP and SS
 *            push %rbp
 *        irq_saved:
 *            call irq_handler
 *            pop %rbp
 *        irq_restored:
 *            iretq
 *            sfu_trap_begin irq_entry    <- the table is that of irq_entry, which ends here
 *            sfu_trap_row irq_entry,    cfa=24, ra=0
 *            sfu_trap_row irq_saved,    cfa=32, ra=8, fp=0
 *            sfu_trap_row irq_restored, cfa=24, ra=0
 *            sfu_trap_end
 *
 *    A row ends where it no longer holds: after each instruction that moves SP, restores a register that the row says
 *    is saved, or takes its slot away. The way out therefore needs rows too, up to the returning instruction, because
 *    an NMI, a machine check or a fault can arrive there. A row that is too long makes a wrong trace that counts as
 *    proven. No row can describe an instruction at which PC or SP are not on the stack (aarch64: ELR_EL1, before it is
 *    stored and at ERET; s390x: the low core). Put END of sfu_trap_begin before such an instruction, and let the trap
 *    hook say what is known.
 *
 *    32-bit x86 pushes EFLAGS, CS and EIP alone if the exception comes without a change of privilege. Nothing stores
 *    the interrupted SP then, and nothing has to: it is where these three words end. An error code lies below them:
 *
 *            sfu_trap_row_here irq_entry,    cfa=12, ra=0
 *            sfu_trap_row_here fault_entry,  cfa=16, ra=4
 *
 *    From user mode the CPU pushes ESP and SS, too, and the frame belongs to another stack. A trace by these rows then
 *    ends at the user's PC, which no table of the kernel has.
 *
 *    On 32-bit ARM the interrupted SP and LR are banked. sfu_banked reads them: arch/arm/sfu_asm_abi.h.
 *
 *    Put no .cfi_startproc around such a function: it would have two tables.
 *    The linker script must take both: .sframe : { KEEP(*(.sframe .sframe.*)) }.
 *
 * RISC-V, 32-bit ARM and 32-bit x86 have no SFrame. There the tables are those of docs/format.md, which sfu-gen
 * writes: from .eh_frame or .debug_frame, and from what the macros of 3 write, in sections .sfu_sframe.trap.*. The
 * linker script collects these after what is loaded:
 *     .sfu_sframe.trap (INFO) : { KEEP(*(.sfu_sframe.trap.*)) }
 *
 * SFU_NO_ASM: the same sources assemble to the same code, without tables. Do not define it if sfu-gen makes your
 * tables, because sfu-gen also takes the tables of old assemblers. On unsupported CPUs the macros always write no
 * tables.
 */
#ifndef SFU_ASM_H
#define SFU_ASM_H

/* SFU_ASM_ABI: ABI of the section; SFU_ASM_FIXED_RA: RA from the CFA, if fixed; SFU_ASM_SP, SFU_ASM_RA: DWARF
 * numbers; SFU_ASM_CFA(offset): an offset as the CFA's rule holds it, with the bits of SFU_ASM_CFA_MASK clear;
 * SFU_ASM_CALL, SFU_ASM_CALL_REGISTER: calls of a function; SFU_ASM_STOP: an instruction that traps;
 * SFU_ASM_START(start), where no relocation has 8 bytes: the field of an FDE that says where the entry starts. And the
 * macros sfu_push and sfu_pop, which write their CFI by sfu_cfi. */
#if defined(__x86_64__)
#include "x86_64/sfu_asm_abi.h"
#elif defined(__aarch64__)
#include "aarch64/sfu_asm_abi.h"
#elif defined(__s390x__)
#include "s390x/sfu_asm_abi.h"
#elif defined(__riscv)
#include "riscv/sfu_asm_abi.h"
#elif defined(__arm__) && !defined(__ARM_BIG_ENDIAN)
#include "arm/sfu_asm_abi.h"
#elif defined(__i386__)
#include "i386/sfu_asm_abi.h"
#elif !defined(SFU_NO_ASM)
#define SFU_NO_ASM
#endif
#ifdef SFU_NO_ASM
#define SFU_NO_OUTERMOST
#endif

#ifndef SFU_ASM_START
#define SFU_ASM_START(start) .8byte start - .
#endif

    /* A directive that is left out where there are no tables. */
    .macro sfu_cfi directive:vararg
#ifndef SFU_NO_ASM
    \directive
#endif
    .endm

    .macro sfu_label name
    .globl \name
    .type \name, %function
\name:
    .endm

    /* A function that has a caller. At its first instruction the stack is as the caller left it. */
    .macro sfu_function_begin name
    sfu_label \name
    sfu_cfi .cfi_startproc
    .endm

    .macro sfu_function_end name
    sfu_cfi .cfi_endproc
    .size \name, . - \name
    .endm

    /* The function that this is in has no caller. Equation: RA = undefined. */
    .macro sfu_outermost
#ifndef SFU_NO_OUTERMOST
    .cfi_undefined SFU_ASM_RA
#endif
    .endm

    .macro sfu_outermost_begin name
    sfu_label \name
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

    /* NAME, where a thread begins: calls FUNCTION, or the function whose address is in REGISTER, with the arguments
     * that are in the registers already, or, on 32-bit x86, on the stack from SP on. That must not return: NAME then
     * traps. SP at NAME is a multiple of 16; on s390x the 160 bytes from SP on are free. NAME may be the return
     * address on the stack of a thread that has never run: it is looked up by the byte before it, the nop of
     * NAME.new. */
    .macro sfu_thread_entry name:req, function, register
    sfu_outermost_begin \name\().new
    nop
    sfu_outermost_end \name\().new
    sfu_outermost_begin \name
    .ifb \register
    SFU_ASM_CALL(\function)
    .else
    SFU_ASM_CALL_REGISTER(\register)
    .endif
    SFU_ASM_STOP
    sfu_outermost_end \name
    .endm

#ifdef SFU_NO_ASM

    .macro sfu_trap_begin start, end
    .endm
    .macro sfu_trap_row at, cfa, ra, fp
    .endm
    .macro sfu_trap_row_here at, cfa, ra, fp
    .endm
    .macro sfu_trap_end
    .endm

#else

    /* Begins the table of the exception entry from label START up to label END, or up to here. It stands after the
     * entry. Its rows follow, in ascending order, then sfu_trap_end. A PC before the first row has none. Flag R:
     * --gc-sections keeps the section. Row addresses are 2 bytes, so an entry has at most 64 KiB. */
    .macro sfu_trap_begin start:req, end
    .ifb \end
.Lsfu_trap_here_\start:
    sfu_trap_begin_at \start, .Lsfu_trap_here_\start
    .else
    sfu_trap_check_end \end
    sfu_trap_begin_at \start, \end
    .endif
    .endm

    /* An END that is not defined yet would fail only in sfu_trap_end, with words that do not lead here. */
    .macro sfu_trap_check_end end
    .set .Lsfu_trap_number, 0
    .irp label, 0b, 1b, 2b, 3b, 4b, 5b, 6b, 7b, 8b, 9b
    .ifc \end,\label
    .set .Lsfu_trap_number, 1
    .endif
    .endr
    .irp label, 0f, 1f, 2f, 3f, 4f, 5f, 6f, 7f, 8f, 9f
    .ifc \end,\label
    .set .Lsfu_trap_number, 1
    .error "sfu_trap_begin: the table stands behind the entry: END is a label above it (0b, not 0f), or is left out"
    .endif
    .endr
    .if .Lsfu_trap_number == 0
    sfu_trap_check_label \end
    .endif
    .endm

    .macro sfu_trap_check_label end /* .ifndef does not take numbers, not even where it is skipped */
    .ifndef \end
    .error "sfu_trap_begin: the table stands behind the entry: END is a label above it, or is left out"
    .endif
    .endm

    .macro sfu_trap_begin_at start, end
#ifdef SFU_ASM_OWN
    .pushsection .sfu_sframe.trap.\start, 1, "R", %progbits
#else
    .pushsection .sframe.trap.\start, 1, "aR", %0x6ffffff4
#endif
    .set .Lsfu_trap_rows, 0
.Lsfu_trap_data_\start:
    .2byte .Lsfu_trap_rows_\start
    .byte 0x81, 1, 0                /* a signal frame with 2-byte addresses; flexible rows; no repetition */
    .macro sfu_trap_address at      /* for the macros below, which do not know START and END */
    .ifc \at,\start                 /* of Thumb functions gas does not compute such a difference */
    .2byte 0
    .else
    .2byte \at - \start
    .endif
    .endm
    .macro sfu_trap_finish
    .set .Lsfu_trap_rows_\start, .Lsfu_trap_rows
    .set .Lsfu_trap_size, . - .Lsfu_trap_data_\start
    .subsection 0
    .p2align 3
#ifdef SFU_ASM_OWN
    .2byte 0x5f75
#else
    .2byte 0xdee2
#endif
    .byte 3, 4, SFU_ASM_ABI, 0, SFU_ASM_FIXED_RA, 0
    .4byte 1, .Lsfu_trap_rows       /* functions, rows */
    .4byte .Lsfu_trap_size, 0, 16   /* of the rows; offsets of the functions and of the rows */
    SFU_ASM_START(\start)           /* flag 4: from this field */
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

#endif /* SFU_NO_ASM */

#endif
