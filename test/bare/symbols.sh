#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# symbols.sh NM [IMAGE]: prints the assembly file of the symbol table of IMAGE; without IMAGE, of an empty one.
set -eu
nm=$1
echo '    .section .rodata.symbols, "a"'
echo '    .globl symbols_start, symbols_end, symbol_names'
echo '    .balign 4'
echo 'symbols_start:'
[ $# -lt 2 ] || "$nm" -S "$2" | awk '
    $4 == "image_start" || $3 == "image_start" { base = $1 }
    $3 ~ /^[tT]$/ { start[n] = $1; size[n] = $2; name[n++] = $4 }
    END {
        for (i = 0; i < n; i++)
            printf "    .4byte 0x%s - 0x%s, 0x%s, .Lname%d - symbol_names\n", start[i], base, size[i], i
        print "symbols_end:\nsymbol_names:"
        for (i = 0; i < n; i++)
            printf ".Lname%d: .asciz \"%s\"\n", i, name[i]
    }'
[ $# -ge 2 ] || printf 'symbols_end:\nsymbol_names:\n'
