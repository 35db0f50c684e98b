# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# amd64: a call through a PLT, whose entries ld describes as one repeated block.
        .text
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
        .section .note.GNU-stack, "", @progbits
