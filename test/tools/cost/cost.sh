#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# cost.sh OUT: builds real programs of Debian's twice for each CPU, without and with frame pointers, and prints what
# tables and frame pointers cost. The table goes to RESULTS.md, the numbers to OUT/measured: lines
# "WHAT NAME ABI VARIANT NUMBER...".
set -eu
LC_ALL=C
export LC_ALL
out=$1
here=$(dirname "$0")
abis='x86_64 aarch64 s390x riscv64 riscv32'

say() { echo "cost: $*" >&2; }

# What a walk by frame pointers needs: on s390x a back chain.
with() { if [ "$1" = s390x ]; then echo chain; else echo fp; fi; }

kernel_of() { if [ "$1" = s390x ]; then echo s390-ccw; else echo u-boot; fi; }

# What is built without a libc: of RISC-V's 32 bits not what computes with floating-point numbers.
programs_of() { echo lua zlib sqlite; }

readelf_of() { case $1 in riscv*) echo riscv64-linux-gnu-readelf ;; *) echo "build/tc/$1/readelf" ;; esac }

build() {
    for abi in $abis; do
        for variant in nofp "$(with "$abi")"; do
            for program in $(programs_of "$abi"); do
                say "building $program for $abi, $variant"
                mkdir -p "$out/$abi"
                file=$out/$abi/$program-gcc12-O2-$variant
                [ -n "$(find "$file" -newer test/truth/step/build.sh 2>/dev/null)" ] || test/truth/step/build.sh "$file"
                ln -f "$file" "$out/$abi/$program-$variant"
            done
            say "building $(kernel_of "$abi") for $abi, $variant"
            "$here/kernels.sh" "$out" "$(kernel_of "$abi")" "$abi" "$variant"
        done
    done
}

measure() {
    echo "compiler gcc $(gcc -dumpfullversion)"
    for abi in $abis; do
        for variant in nofp "$(with "$abi")"; do
            for program in $(programs_of "$abi") "$(kernel_of "$abi")"; do
                file=$out/$abi/$program-$variant
                echo "size $program $abi $variant $("$here/../measure.sh" sizes "$(readelf_of "$abi")" "$file")"
                case $program in
                lua | zlib | sqlite)
                    [ ! -f "$out/insns.so" ] ||
                        echo "insns $program $abi $variant" \
                            "$("$here/../measure.sh" instructions "$out/insns.so" "$abi" "$file")"
                    ;;
                esac
            done
        done
    done
}

build
test/tools/bench/plugin.sh "$out/insns.so"
measure >"$out/measured"
awk -f "$here/../figures.awk" -f "$here/table.awk" "$out/measured" >"$here/RESULTS.md"
cat "$here/RESULTS.md"
