# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# One function for each kind of entry that gas can write for aarch64, either byte order; make.py says which VERSION
# it writes.
        .text
        .globl  _start
_start:                                 // FP-based rows, the RA signed with key B
        .cfi_startproc
        .cfi_b_key_frame
        hint    27
        .cfi_negate_ra_state
        stp     x29, x30, [sp, -32]!
        .cfi_def_cfa_offset 32
        .cfi_offset 29, -32
        .cfi_offset 30, -24
        mov     x29, sp
        .cfi_def_cfa_register 29
        bl      f_far
        ldp     x29, x30, [sp], 32
        .cfi_restore 30
        .cfi_restore 29
        .cfi_def_cfa 31, 0
        hint    31
        .cfi_negate_ra_state
        ret
        .cfi_endproc

f_far:                                  // SP-based rows, 2-byte starts, 2-byte words
        .cfi_startproc
        sub     sp, sp, 0x400
        .cfi_def_cfa_offset 0x400
        .skip   300
        add     sp, sp, 0x400
        .cfi_def_cfa_offset 0
        ret
        .cfi_endproc
        nop

        .if     VERSION >= 3
f_last:
        .cfi_startproc
        .cfi_undefined 30
        nop
        .cfi_endproc
        .endif

        .if     VERSION >= 3
f_flex:                                 // CFA in another register
        .cfi_startproc
        nop
        .cfi_def_cfa 9, 16
        nop
        .cfi_endproc

f_trap:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 0x03, 0x8f, 0xa0, 0x01
        .cfi_escape 0x10, 0x1e, 0x05, 0x8f, 0x08, 0x06, 0x23, 0x08
        nop
        .cfi_endproc
        .endif
