# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# One function for each kind of entry that gas can write for amd64; make.py says which VERSION it writes.
# With PLT: a call through one, whose entries ld describes as one repeated block.
        .text
        .ifdef PLT
f_caller:
        .cfi_startproc
        sub     $8, %rsp
        .cfi_def_cfa_offset 16
        call    elsewhere@plt
        call    otherwhere@plt
        add     $8, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        .else
        .globl  _start
_start:                                 # FP-based rows, 1-byte starts
        .cfi_startproc
        push    %rbp
        .cfi_def_cfa_offset 16
        .cfi_offset rbp, -16
        mov     %rsp, %rbp
        .cfi_def_cfa_register rbp
        call    f_far
        pop     %rbp
        .cfi_def_cfa rsp, 8
        .cfi_restore rbp
        ret
        .cfi_endproc

f_far:                                  # SP-based rows, 2-byte starts, 2-byte words
        .cfi_startproc
        sub     $0x400, %rsp
        .cfi_def_cfa_offset 0x408
        .skip   300, 0x90
        add     $0x400, %rsp
        .cfi_def_cfa_offset 8
        ret
        .cfi_endproc
        nop                             # a gap between two functions

        .if     VERSION >= 3
f_last:                                 # nobody called it
        .cfi_startproc
        .cfi_undefined rip
        nop
        .cfi_endproc
        .endif

        .if     VERSION >= 3
f_drap:                                 # CFA in another register, then in the stack: flexible rows
        .cfi_startproc
        lea     8(%rsp), %r10
        .cfi_def_cfa r10, 0
        push    -8(%r10)
        push    %rbp
        mov     %rsp, %rbp
        .cfi_escape 0x10, 0x06, 0x02, 0x76, 0x00
        push    %r10
        .cfi_escape 0x0f, 0x03, 0x76, 0x78, 0x06
        nop
        .cfi_endproc

f_trap:                                 # a signal frame that gas cannot describe: no rows
        .cfi_startproc
        .cfi_signal_frame
        .cfi_escape 0x0f, 0x03, 0x77, 0xa0, 0x01
        .cfi_escape 0x10, 0x10, 0x05, 0x77, 0x08, 0x06, 0x23, 0x08
        nop
        .cfi_endproc

f_signal:                               # a signal frame that it can
        .cfi_startproc
        .cfi_signal_frame
        .cfi_def_cfa_offset 40
        nop
        .cfi_endproc
        .endif
        .endif
        .section .note.GNU-stack, "", @progbits
