#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# layout.sh format    lays out every C file as .clang-format says: `make format`
# layout.sh check     names the C files that it would change. Other versions than Debian 12's (14) differ in details.
# layout.sh columns   names the lines of C, assembly, Rust, shell, Python and make files that have more than 120 columns
#
# The checks say nothing, and succeed, if all is well.
set -eu
command -v clang-format >/dev/null || { echo "no clang-format"; exit 1; }

sources() {
    find sfu.c sfu.h arch fuzz port test -name target -prune -o -type f "$@" -print | sort
}

# The macros for assembly files are .h files, too: clang-format would join their lines.
c_files() {
    sources '(' -name '*.c' -o -name '*.h' ')' | grep -vE '^arch/(sfu_asm|[^/]*/sfu_asm_abi)\.h$'
}

case $1 in
format) c_files | xargs clang-format -i ;;
check)
    c_files | xargs clang-format --dry-run -Werror 2>&1 |
        sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error:.*/\1: make format/p' | uniq
    ;;
columns)
    {
        echo Makefile
        sources '(' -name '*.[chS]' -o -name '*.rs' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name '*.awk' ')'
    } | xargs awk 'length > 120 { print FILENAME ":" FNR ": " length " columns" }'
    ;;
esac
