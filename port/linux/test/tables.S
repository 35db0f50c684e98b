/* SPDX-License-Identifier: MIT */
/* Copyright (c) 2026 The sfu authors */
/* Every macro of sfu_asm.h; port.py says what objdump must read. Each "step" is 4 bytes. Never run. */
#include "arch/sfu_asm.h"

    .macro step
    .4byte 0
    .endm

    .section .text.start, "ax", %progbits
    sfu_outermost_begin _start
    step
    step
    sfu_outermost_end _start

    .globl thread
    .type thread, %function
thread:
    .cfi_startproc
    sfu_outermost
    step
    .cfi_endproc
    .size thread, . - thread

    .section .text.entry, "ax", %progbits
entry:
    step
    step
1:  step
2:  step
entry_end:
    sfu_trap_begin entry, entry_end
    sfu_trap_row entry, cfa=24, ra=0
    sfu_trap_row 1b, cfa="24 + 8 * 16", ra=8, fp=-16
    sfu_trap_row_here 2b, cfa=32760, ra=-32768, fp=32767
    sfu_trap_end

late:
    step
late_row:
    step
late_end:
    sfu_trap_begin late, late_end
    sfu_trap_row late_row, cfa=320, ra=0
    sfu_trap_end
#ifdef WRONG
    sfu_trap_begin wrong, late_end
    sfu_trap_row wrong, cfa=WRONG, ra=0
    sfu_trap_end
wrong:
#endif
