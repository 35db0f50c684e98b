#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# layout.sh format    lays out every C file as .clang-format says: `make format`
# layout.sh check     names the C files that it would change. Other versions than Debian 12's (14) differ in details.
# layout.sh homes     names what lies where no test of a port does: those of port/NAME are in port/NAME/test
# layout.sh faults    names sections of FAULTS.md of which the files they name do not speak, and names of no section
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
homes)
    find port -path 'port/*/test' -prune -o -path '*test*' -print
    find port/*/ -maxdepth 0 | while IFS=/ read -r _ name _; do find test -type d -name "$name"; done |
        sed '\,^test/truth/step/kernel$,d' # those kernels step programs; port/kernel is not what they test
    ;;
faults)
    list=test/truth/FAULTS.md
    awk '/^## /{ name = $2; sub(":", "", name) } /^- Known by/{ while (match($0, /`[^`]*`/)) {
        print name, substr($0, RSTART + 1, RLENGTH - 2); $0 = substr($0, RSTART + RLENGTH) } }' $list |
        while read -r name file; do
            grep -qs "FAULTS.md: $name\b" "test/truth/$file" || echo "$list: $name: not in $file"
        done
    grep -rIhoE 'FAULTS\.md: [a-z][a-z0-9-]+' port test | sort -u | while read -r _ name; do
        grep -q "^## $name:" $list || echo "$list has no $name"
    done
    ;;
columns)
    {
        echo Makefile
        sources '(' -name '*.[chS]' -o -name '*.rs' -o -name '*.sh' -o -name '*.py' -o -name '*.mk' -o -name '*.awk' ')'
    } | xargs awk 'length > 120 { print FILENAME ":" FNR ": " length " columns" }'
    ;;
esac
