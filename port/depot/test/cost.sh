#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# cost.sh OUT: what a depot costs, by callgrind and by the size of its code; fails where it is more than its manual
# says, or where the table of docs/profiling.md has other figures. Prints a line for each figure.
set -eu
out=$1
here=$(dirname "$0")
mkdir -p "$out"
. test/lib/tests.sh

# instructions MODE PCS FUNCTION: of a call of FUNCTION, which adds a trace that is there, and bytes of an allocation.
# Sets both.
instructions() {
    log=$out/callgrind-$1-$2
    valgrind -q --tool=callgrind --callgrind-out-file="$log" --collect-atstart=no --toggle-collect="$3" \
        --zero-before=begin \
        "$out/cost" "$1" "$2" >"$log.out" 2>"$log.err" || { cat "$log.err" >&2; exit 1; }
    awk '/^(summary|totals):/ { ir = $2 } NR == FNR { n = $1; bytes = $2; next }
        END { printf "%.1f %.1f\n", ir / n, bytes / n }' "$log.out" "$log" >"$log.figures"
    read -r instructions bytes <"$log.figures"
}

gcc -std=c99 -O2 -g -I"$here/.." "$here/cost.c" "$here/../sfu_depot.c" -o "$out/cost"
for n in 1 4 8 20 40 64; do
    instructions depot "$n" sfu_depot_add
    echo "# $n PCs: $instructions instructions"
    none "instructions, $n PCs" "$(awk -v n="$n" -v i="$instructions" \
        'BEGIN { if (i > 16 * n + 60) print i " are more than 16 for each and 60" }')"
done
# row SHAPE BEGINNING: its row of the table begins so. Another gcc than 12 may make other code.
row() {
    instructions "$1" 20 "measured_$1"
    echo "# 20 PCs, $1: $bytes bytes for each allocation, $instructions instructions"
    case $(gcc -dumpversion) in
    12*) figures=$(printf '%s | %.0f' "$bytes" "$instructions") ;;
    *) figures="$bytes | .*" ;;
    esac
    none "docs/profiling.md: $2" \
        "$(grep -q "^| $2: .* | $figures |\$" "$here/../../../docs/profiling.md" || echo "it is $figures")"
}
row depot depot
row list "Linux's shape"
row node "NuttX's shape"
for cpu in x86_64 aarch64 s390x; do
    no=
    [ $cpu != aarch64 ] || no=-mno-outline-atomics
    # shellcheck disable=SC2086  # none or one
    $cpu-linux-gnu-gcc $no -std=c99 -ffreestanding -fno-asynchronous-unwind-tables -Os -c "$here/../sfu_depot.c" \
        -o "$out/$cpu.o"
    bytes=$("$here/../../../test/tools/measure.sh" text readelf "$out/$cpu.o")
    echo "# $cpu: $bytes bytes of code"
    [ $cpu != x86_64 ] || none size "$([ "$bytes" -le 1100 ] || echo "$bytes bytes, more than 1,100")"
done
