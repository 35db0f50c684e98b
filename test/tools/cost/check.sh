#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# check.sh OUT: whether `make cost` counts right: sizes as size(1) says, instructions as they can be counted by hand.
set -u
. test/lib/tests.sh
out=$1
here=$(dirname "$0")
mkdir -p "$out"

# size_of FILE SECTION...: by size(1)
size_of() {
    file=$1
    shift
    for section; do
        "${tools}size" -A -d "$file" | awk -v name="$section" '$1 == name { n = $2 } END { print n + 0 }'
    done | awk '{ sum += $1 } END { print sum }'
}

# small_of FILE: what sfu-gen --small writes.
small_of() {
    build/tools/sfu-gen -q --small -o "$out/small" --address=0x100000 "$1"
    wc -c <"$out/small"
}

test/tools/bench/plugin.sh "$out/insns.so"
echo 'int twice(int x); int twice(int x) { return 2 * x; }' >"$out/twice.c"
for abi in x86_64 aarch64 s390x riscv64 riscv32; do
    program=$out/counted-$abi
    tools=build/tc/$abi/
    case $abi in
    riscv64) set -- riscv64-linux-gnu-gcc -march=rv64gc -mabi=lp64d ;;
    riscv32) set -- riscv64-linux-gnu-gcc -march=rv32imac -mabi=ilp32 ;;
    *) set -- "$abi-linux-gnu-gcc" "-B$tools" -Wa,--gsframe ;;
    esac
    case $abi in
    riscv*) tools=riscv64-linux-gnu- made=none ;; # no assembler makes SFrame tables for it
    *) made= ;;
    esac
    if ! "$@" -O2 -fasynchronous-unwind-tables -nostdlib -static -no-pie -Wl,--eh-frame-hdr -o "$program" \
        "$here/counted.S" "$out/twice.c"; then
        echo "not ok $abi: does not build"
        continue
    fi
    found=$("$here/../measure.sh" sizes "${tools}readelf" "$program")
    equal "$abi-text" "${found%% *}" "$(size_of "$program" .text)"
    equal "$abi-tables" "${found#* }" \
        "$(size_of "$program" .sframe) $(size_of "$program" .eh_frame .eh_frame_hdr) $(small_of "$program")"
    [ -n "$made" ] || [ "$(size_of "$program" .sframe)" -gt 0 ] || echo "not ok $abi-tables: no .sframe"
    if [ -f "$out/insns.so" ]; then
        expected=$("${tools}nm" "$program" | sed -n 's/ . COUNTED$//p')
        counted=$("$here/../measure.sh" instructions "$out/insns.so" "$abi" "$program")
        equal "$abi-instructions" "$counted" "$((0x$expected))"
    fi
done
exit 0
