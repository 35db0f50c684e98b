#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# budget.sh OUT [size|perf]: measures the core. Prints lines "abi optimisation text stack" (bytes of text and rodata
# without the messages; bytes of stack that a step needs beyond the callbacks) and lines "x86_64 optimisation mode
# instructions" (per frame or per find). gcc 12 measures alike everywhere, which is why budget.txt is made with it.
set -eu
out=$1
what=${2:-all}
mkdir -p "$out"
here=$(dirname "$0")

compiler() {
    case $1 in
    x86_64) echo gcc ;;
    aarch64) echo aarch64-linux-gnu-gcc ;;
    aarch64_be) echo aarch64-linux-gnu-gcc -mbig-endian ;;
    s390x) echo s390x-linux-gnu-gcc ;;
    esac
}

# Bytes in sections .text* and .rodata* of object $1 of CPU $2.
text() {
    "build/tc/$2/readelf" -SW "$1" | sed 's/^ *\[ *//' | while read -r _ name _ _ _ size _; do
        case $name in
        .text* | .rodata*) echo "$((0x$size))" ;;
        esac
    done | awk '{ sum += $1 } END { print sum + 0 }'
}

sizes() {
    for abi in x86_64 aarch64 aarch64_be s390x; do
        cpu=${abi%_be}
        for opt in Os O2; do
            object=$out/$abi-$opt.o
            # shellcheck disable=SC2046  # words
            $(compiler $abi) -std=c99 -ffreestanding -$opt -DSFU_NO_STRINGS -fcallgraph-info=su -I. \
                -c sfu.c -o "$object"
            stack=$("$here/stack.py" "$out/$abi-$opt.ci" sfu_walk_step)
            echo "$abi $opt $(text "$object" "$cpu") ${stack%% *}"
        done
    done
}

perf() {
    for opt in Os O2; do
        gcc -std=c99 -$opt -g -I. "$here/perf.c" test/unit/build.c sfu.c -o "$out/perf-$opt"
        for mode in walk cached find; do
            counts=$out/callgrind-$opt-$mode
            n=$(valgrind -q --tool=callgrind --callgrind-out-file="$counts" --collect-atstart=no \
                --toggle-collect=measured "$out/perf-$opt" $mode 2>"$counts.log") || cat "$counts.log" >&2
            awk -v n="$n" -v name="x86_64 $opt $mode" '/^(summary|totals):/ { ir = $2 }
                END { printf "%s %.1f\n", name, ir / n }' "$counts"
        done
    done
}

[ "$what" = perf ] || sizes
[ "$what" = size ] || perf
