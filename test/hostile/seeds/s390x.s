# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# One function for each kind of entry that gas can write for s390x.
        .text
        .globl  _start
_start:                                 # RA and FP in the stack
        .cfi_startproc
        stmg    %r11,%r15,88(%r15)
        .cfi_rel_offset 11, 88
        .cfi_rel_offset 14, 112
        aghi    %r15,-160
        .cfi_adjust_cfa_offset 160
        lgr     %r11,%r15
        .cfi_def_cfa_register 11
        brasl   %r14,f_far
        lmg     %r11,%r15,248(%r11)
        .cfi_restore 14
        .cfi_restore 11
        .cfi_def_cfa 15, 160
        br      %r14
        .cfi_endproc

f_far:                                  # FP without RA, 2-byte starts
        .cfi_startproc
        stg     %r11,88(%r15)
        .cfi_rel_offset 11, 88
        .skip   300
        lg      %r11,88(%r15)
        .cfi_restore 11
        br      %r14
        .cfi_endproc
        nopr    %r0

f_last:
        .cfi_startproc
        .cfi_undefined 14
        nopr    %r0
        .cfi_endproc

f_leaf:                                 # FP and RA in f2 and f0: flexible rows
        .cfi_startproc
        ldgr    %f2,%r11
        .cfi_register 11, 17
        ldgr    %f0,%r14
        .cfi_register 14, 16
        nopr    %r0
        .cfi_endproc

f_flex:                                 # CFA in another register
        .cfi_startproc
        nopr    %r0
        .cfi_def_cfa 9, 320
        nopr    %r0
        .cfi_endproc

f_trap:
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 0x03, 0x7f, 0xa0, 0x01
        .cfi_escape 0x10, 0x0e, 0x05, 0x7f, 0x08, 0x06, 0x23, 0x08
        nopr    %r0
        .cfi_endproc
