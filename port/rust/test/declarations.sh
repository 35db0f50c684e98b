#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# declarations.sh DIRECTORY: compares src/sys.rs with what C compilers for three CPUs make of sfu.h (expect.py), and
# proves by mutants that a difference is found. The crate is compiled for this machine: its types have the same sizes on
# each of these CPUs, all of them LP64.
set -eu
LC_ALL=C
export LC_ALL
work=$1
here=port/rust
rustc=${RUSTC:-rustc}
flags='-std=gnu11 -I. -Iarch -Iport/print -Iport/rust/test'

# expectation CPU COMPILER EMULATOR...: layout.rs and values.rs in $work/CPU.
# shellcheck disable=SC2317  # called by said
expectation() {
    dir=$work/$1
    compiler=$2
    object=$dir/all.o
    shift 2
    mkdir -p "$dir"
    # shellcheck disable=SC2086  # words
    "$compiler" $flags -g -fno-eliminate-unused-debug-types -c "$here/test/all.c" -o "$object" &&
        gdb-multiarch -nx -batch -ex "py out = '$dir'" -x "$here/test/expect.py" "$object" >"$dir/count" &&
        "$compiler" $flags -static "$dir/values.c" port/print/sfu_print.c -o "$dir/values" &&
        "$@" "$dir/values" >"$dir/values.rs"
}

# crate DIRECTORY: compiles the sources in it.
crate() {
    "$rustc" --edition=2021 --crate-type=rlib --crate-name=sfu -Awarnings "$1/lib.rs" -o "$1/libsfu.rlib"
}

# compare CRATE CPU: exit status 0 if all is the same, and no more is declared.
compare() {
    "$rustc" --edition=2021 --extern "sfu=$1/libsfu.rlib" -Lnative="$work" -lstatic=c_sfu "$work/$2/layout.rs" \
        -o "$1/layout-$2" && "$1/layout-$2" &&
        sed -En 's/^ *pub (const|struct|fn) ([Ss][Ff][Uu]_[A-Za-z0-9_]*).*/\2/p' "$1/sys.rs" | sort |
        diff - "$work/$2/names"
}

failed=0

# said NAME COMMAND...: a result line, and what the command printed if it failed.
said() {
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $name"
    else
        failed=1
        sed 's/^/# /' "$work/log"
        echo "not ok $name"
    fi
}

# mutant NAME SED-EXPRESSION: a crate with that change must be found to differ.
mutant() {
    dir=$work/mutant
    rm -rf "$dir"
    cp -r "$here/src" "$dir"
    sed -Ei "$2" "$dir/sys.rs"
    if cmp -s "$here/src/sys.rs" "$dir/sys.rs"; then
        failed=1
        echo "not ok mutant, $1: nothing was changed"
    elif ! crate "$dir" >"$work/log" 2>&1; then
        failed=1
        echo "not ok mutant, $1: does not compile by itself"
    elif compare "$dir" x86_64 >"$work/log" 2>&1; then
        failed=1
        echo "not ok mutant, $1: not noticed"
    elif ! grep -q "$3" "$work/log"; then
        failed=1
        sed 's/^/# /' "$work/log"
        echo "not ok mutant, $1: found for another reason"
    else
        echo "ok mutant, $1"
    fi
}

rm -rf "$work"
mkdir -p "$work/crate"
said "expectation, x86_64" expectation x86_64 gcc env
said "expectation, aarch64" expectation aarch64 aarch64-linux-gnu-gcc qemu-aarch64
said "expectation, s390x" expectation s390x s390x-linux-gnu-gcc qemu-s390x
for source in port/rust/test/all.c port/print/sfu_print.c; do
    # shellcheck disable=SC2086  # words
    gcc $flags -fPIC -c "$source" -o "$work/$(basename "$source").o"
done
ar crs "$work/libc_sfu.a" "$work"/*.c.o
cp "$here"/src/* "$work/crate"
said "the crate" crate "$work/crate"
for cpu in x86_64 aarch64 s390x; do
    said "declarations, $cpu: $(cat "$work/$cpu/count")" compare "$work/crate" "$cpu"
done
mutant "two fields exchanged" 's/pub sp: u64/pub sp_: u64/; s/pub fp: u64/pub sp: u64/; s/pub sp_: u64/pub fp: u64/' \
    'sfu_registers.sp: 16, and in C 8'
mutant "a field's type" 's/pub offset: i32/pub offset: u32/' 'mismatched types'
mutant "a field more" 's/^( *)pub switches: u8,/&\n\1\/\/\/ .\n\1pub more: u8,/' 'does not mention field'
mutant "a constant" 's/(SFU_E_STACK: c_int = )-17/\1-18/' 'SFU_E_STACK: -18, and in C -17'
mutant "a constant more" 's/^pub const SFU_S390X.*/&\n\/\/\/ .\npub const SFU_RISCV: u8 = 5;/' '< SFU_RISCV'
mutant "an argument" 's/^( *size: )u64,$/\1u32,/' 'mismatched types'
mutant "a pointer's const" 's/(fn sfu_check\(.*place: \*)mut/\1const/' 'mismatched types'
exit $failed
