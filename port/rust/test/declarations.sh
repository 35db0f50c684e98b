#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# declarations.sh DIRECTORY: compares src/sys.rs, compiled for four CPUs, with what the C compilers for them make of
# sfu.h (expect.py), and proves by mutants that a difference is found.
set -eu
LC_ALL=C
export LC_ALL
unset T # each test needs what those before it have made
. test/lib/tests.sh
work=$1
log=$work/log
here=port/rust
flags='-std=gnu11 -O1 -I. -Iarch -Iport/print -Iport/symbols -Iport/rust/test'

gcc_of() {
    case $1 in
    x86_64) echo gcc ;;
    i386) echo gcc -m32 -isystem /usr/include/x86_64-linux-gnu ;;
    *) echo "$1-linux-gnu-gcc" ;;
    esac
}

# rust CPU ARGUMENT...: rustc for that CPU.
rust() {
    cpu=$1
    shift
    [ "$cpu" = x86_64 ] || set -- "-L$("$here/test/core.sh" "$cpu")" "$@"
    target=$cpu
    [ "$cpu" != i386 ] || target=i686
    rustc --edition=2021 --target="$target-unknown-linux-gnu" -Cpanic=abort -Copt-level=0 "$@"
}

# expectation CPU: layout.rs, values.rs and names in $work/CPU, by the C compiler alone.
# shellcheck disable=SC2046,SC2086,SC2317  # words; called by said
expectation() {
    dir=$work/$1
    mkdir -p "$dir"
    $(gcc_of "$1") $flags -g -fno-eliminate-unused-debug-types -c "$here/test/all.c" -o "$dir/all.o" &&
        gdb-multiarch -nx -batch -ex "py out = '$dir'" -x "$here/test/expect.py" "$dir/all.o" >"$dir/count" &&
        $(gcc_of "$1") $flags -r -nostdlib port/print/sfu_print.c port/print/sfu_build_id.c \
            port/print/sfu_cycles.c port/print/sfu_record.c port/symbols/sfu_symbols.c -o "$dir/sfu_print.o" &&
        $(gcc_of "$1") $flags -static "$dir/values.c" "$dir/sfu_print.o" -o "$dir/values" &&
        "qemu-$1" "$dir/values" >"$dir/values.rs"
}

# crate CPU SOURCES: compiles lib.rs and sys.rs there.
crate() {
    rust "$1" --crate-type=rlib --crate-name=sfu "$2/lib.rs" -o "$2/libsfu.rlib"
}

# shellcheck disable=SC2046  # words
# compare CPU SOURCES: exit status 0 if all is the same, and no more is declared.
compare() {
    dir=$work/$1
    rust "$1" --crate-type=staticlib --extern "sfu=$2/libsfu.rlib" "$dir/layout.rs" -o "$2/liblayout.a" &&
        $(gcc_of "$1") -static -Wl,--gc-sections "$here/test/main.c" "$2/liblayout.a" "$dir/all.o" \
            "$dir/sfu_print.o" -o "$2/layout" &&
        "qemu-$1" "$2/layout" &&
        sed -En 's/^ *pub (const|struct|fn) ([Ss][Ff][Uu]_[A-Za-z0-9_]*).*/\2/p' "$2/sys.rs" | sort |
        diff - "$dir/names"
}

# mutant NAME SED-EXPRESSION REASON: a crate with that change compiles by itself, and is found to differ for REASON.
mutant() {
    sources=$work/mutant
    rm -rf "$sources"
    cp -r "$here/src" "$sources"
    sed -Ei "$2" "$sources/sys.rs"
    if cmp -s "$here/src/sys.rs" "$sources/sys.rs"; then
        reason="nothing was changed"
    elif ! crate x86_64 "$sources" >"$work/log" 2>&1; then
        reason="does not compile by itself"
    elif compare x86_64 "$sources" >"$work/log" 2>&1; then
        reason="not noticed"
    elif ! grep -q "$3" "$work/log"; then
        sed 's/^/# /' "$work/log"
        reason="found for another reason"
    else
        reason=
    fi
    none "mutant, $1" "$reason"
}

rm -rf "$work"
mkdir -p "$work"
for cpu in x86_64 aarch64 s390x i386; do
    try "expectation, $cpu" expectation "$cpu"
    cp -r "$here/src" "$work/$cpu/crate"
    try "the crate, $cpu" crate "$cpu" "$work/$cpu/crate"
    try "declarations, $cpu: $(cat "$work/$cpu/count")" compare "$cpu" "$work/$cpu/crate"
done
mutant "two fields exchanged" 's/pub sp: u64/pub sp_: u64/; s/pub fp: u64/pub sp: u64/; s/pub sp_: u64/pub fp: u64/' \
    'sfu_registers.sp: 16, and in C 8'
mutant "a field's type" 's/pub offset: i32/pub offset: u32/' 'mismatched types'
mutant "a field more" 's/^( *)pub switches: u8,/&\n\1\/\/\/ More.\n\1pub more: u8,/' 'does not mention field'
mutant "a constant" 's/(SFU_E_STACK: c_int = )-17/\1-18/' 'SFU_E_STACK: -18, and in C -17'
mutant "a constant more" 's/^pub const SFU_S390X.*/&\npub const SFU_ALPHA: sfu_abi = 5;/' '< SFU_ALPHA'
mutant "an argument" '/fn sfu_add_remote/,/c_int/s/^( *size: )u64,$/\1u32,/' 'mismatched types'
mutant "a pointer's const" 's/(fn sfu_check\(.*place: \*)mut/\1const/' 'mismatched types'
exit $failed
