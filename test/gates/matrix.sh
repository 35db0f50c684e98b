#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# matrix.sh OUT: the core compiles alone, with each compiler, for each ABI, as C and as C++, without a warning, and
# its object needs nothing and has nothing to write to. Prints a line "ok ..." or "not ok ...: reason" for each
# compiler, ABI and language. Run in the top directory; OUT is for the objects. build/tc holds the toolchain.
set -u
out=$1
mkdir -p "$out"
warn='-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Wundef -Wvla -Werror'
warn_c='-Wstrict-prototypes -Wmissing-prototypes'

# Sections of object $1, of CPU $2, that hold bytes and can be written to, or would have to be while relocating.
writable() {
    "build/tc/$2/readelf" -SW "$1" | sed 's/^ *\[ *//' | awk '$2 ~ /^\./ && $3 != "NULL" {
        n = split($0, f, " ")
        # name type address offset size entry-size flags link info align: flags may be missing
        if (f[8] ~ /W/ && f[6] !~ /^0+$/) printf "%s ", f[2]
    }'
}

# undefined OBJECT CPU
undefined() { "build/tc/$2/nm" -u "$1" | awk '{ printf "%s ", $NF }'; }

# fault OBJECT CPU COMMAND...: compiles and prints what is wrong.
fault() {
    object=$1
    object_cpu=$2
    shift 2
    # shellcheck disable=SC2086  # words
    if ! "$@" $warn -ffreestanding -I. -c sfu.c -o "$object" 2>"$object.log"; then
        grep -m1 -E 'error|warning' "$object.log" || echo 'does not compile'
        return
    fi
    need=$(undefined "$object" "$object_cpu")
    [ -z "$need" ] || echo "needs $need"
    data=$(writable "$object" "$object_cpu")
    [ -z "$data" ] || echo "can be written to: $data"
}

# try NAME CPU COMMAND...: with each optimisation, with and without -fPIC; one line for all of them. A compiler for a
# 32-bit machine needs data to address for the latter: it is named "... alone" and does without.
try() {
    test_name=$1
    test_cpu=$2
    shift 2
    for opt in -O0 -Os -O2 -O3 '-Os -fPIC' '-O2 -fPIC'; do
        case $test_name$opt in
        *alone*-fPIC) continue ;;
        *c17-O2 | *c++-O2) ;;
        *c17-* | *c++-*) [ -n "${LONG:-}" ] || continue ;; # what is accepted differs from C99, and hardly the code
        esac
        # shellcheck disable=SC2086  # words
        wrong=$(fault "$out/$(echo "$test_name" | tr ' ' -).o" "$test_cpu" "$@" $opt)
        if [ -n "$wrong" ]; then
            echo "not ok $test_name: $opt: $(echo "$wrong" | tr '\n' ' ')"
            return
        fi
    done
    echo "ok $test_name"
}

# languages NAME CPU C++-COMPILER COMPILER ARGUMENT...
languages() {
    name=$1
    cpu=$2
    cxx=$3
    cc=$4
    shift 4
    # shellcheck disable=SC2086  # words
    for std in c99 c17; do
        try "$name $std" "$cpu" "$cc" "$@" -std=$std $warn_c
    done
    if command -v "$cxx" >/dev/null; then
        try "$name c++" "$cpu" "$cxx" "$@" -x c++ -std=c++11
    else
        echo "not ok $name c++: no $cxx"
    fi
}

compilers() {
    abi=$1
    cpu=${abi%_be}
    be=
    [ "$abi" = "$cpu" ] || be=-mbig-endian
    prefix=$cpu-linux-gnu-
    [ "$(uname -m)" != "$cpu" ] || prefix=
    # shellcheck disable=SC2086  # words
    languages "gcc $abi" "$cpu" "${prefix}g++" "${prefix}gcc" $be
    languages "clang $abi" "$cpu" clang++ clang --target="$abi-linux-gnu"
    if [ -x "build/tc/gcc16/$cpu/gcc" ]; then
        # shellcheck disable=SC2086  # words
        languages "gcc16 $abi" "$cpu" "build/tc/gcc16/$cpu/g++" "build/tc/gcc16/$cpu/gcc" $be
    fi
}

# The check itself must see what it is there for: an object that needs memset, one with data, one with .data.rel.ro.
self_test() {
    echo 'void *memset(void *, int, unsigned long); void f(char *p) { memset(p, 0, 99); }' >"$out/self.c"
    gcc -O0 -c "$out/self.c" -o "$out/self.o"
    [ "$(undefined "$out/self.o" x86_64)" = 'memset ' ] && echo 'ok sees an undefined symbol' ||
        echo 'not ok sees an undefined symbol: it does not'
    for code in 'int x = 1;' 'int x;' 'extern int y; int *const x = &y;'; do
        echo "$code" >"$out/self.c"
        gcc -O2 -fPIC -c "$out/self.c" -o "$out/self.o"
        [ -n "$(writable "$out/self.o" x86_64)" ] && echo "ok sees writable data: $code" ||
            echo "not ok sees writable data: $code: it does not"
    done
}

# Each switch alone and all of them, for a 64-bit target on hosts of 64 and of 32 bits.
switches() {
    small='-DSFU_NO_REMOTE -DSFU_OLDEST_VERSION=3 -DSFU_NO_STRINGS'
    for define in -DSFU_NO_REMOTE -DSFU_NO_STRINGS -DSFU_OLDEST_VERSION=2 -DSFU_OLDEST_VERSION=3 \
        -DSFU_ABI=SFU_AARCH64_BIG -DSFU_ABI=SFU_AARCH64 -DSFU_ABI=SFU_AMD64 -DSFU_ABI=SFU_S390X \
        "$small -DSFU_ABI=SFU_AMD64" "$small -DSFU_ABI=SFU_S390X"; do
        # shellcheck disable=SC2086  # words
        {
            try "gcc $define" x86_64 gcc -std=c99 $warn_c $define
            try "clang $define" x86_64 clang -std=c99 $warn_c $define
        }
    done
    for target in i386-none-elf riscv32-none-elf powerpc-none-elf mips-none-elf; do
        # shellcheck disable=SC2086  # words
        try "clang $target alone" x86_64 clang --target=$target -std=c99 $warn_c
    done
}

self_test
switches
for abi in x86_64 aarch64 aarch64_be s390x; do
    compilers $abi
done
