#!/bin/bash
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# What `make dist` makes: the same bytes again; compiles alone by every compiler; and passes the project's own tests in
# a tree that has nothing of the core, of arch/ and of the printer but the two files and sfu_asm.h.
set -u
cd "$(dirname "$0")/../../.." || exit 1
unset T MAKEFLAGS # what make runs here is no suite of the caller's
out=build/dist
work=build/dist-test
tree=$work/tree
rm -rf $out $work
mkdir -p $work

# test NAME COMMAND...
test() {
    local name=$1
    shift
    if "$@" >$work/log 2>&1; then
        echo "ok $name"
    else
        echo "not ok $name: $(tail -n 3 $work/log | tr '\n' ' ')"
    fi
}

same() { python3 port/dist/dist.py $work/again && diff -r $out $work/again; }

test "make dist" make -s dist
test "the same bytes again" same

warnings="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-align -Werror"
for compiler in gcc "gcc -m32" aarch64-linux-gnu-gcc "aarch64-linux-gnu-gcc -mbig-endian" s390x-linux-gnu-gcc \
    clang "clang --target=aarch64-linux-gnu" "clang --target=aarch64_be-linux-gnu" "clang --target=s390x-linux-gnu" \
    "clang --target=riscv32-linux-gnu"; do
    # shellcheck disable=SC2086 # words
    for switches in "" "-DSFU_NO_ARCH -DSFU_NO_PRINT"; do
        test "$compiler $switches" $compiler -std=c99 -ffreestanding -O2 $warnings -Wstrict-prototypes $switches \
            -c $out/sfu.c -o $work/sfu.o
    done
done
for switches in "-DSFU_NO_PRINT -DSFU_NO_SYMBOLS" -DSFU_NO_CYCLES -DSFU_NO_RECORD -DSFU_NO_ALL -DSFU_NO_SYMBOLS; do
    # shellcheck disable=SC2086 # words
    test "gcc $switches" gcc -std=c99 -ffreestanding -O2 $warnings -Wstrict-prototypes $switches \
        -c $out/sfu.c -o $work/sfu.o
done
# shellcheck disable=SC2086 # words
test "g++" g++ -x c++ -std=c++11 -ffreestanding -O2 $warnings -c $out/sfu.c -o $work/sfu.o

# Every function has the other name (test/prefix/ has the rest).
renamed() {
    # shellcheck disable=SC2086 # words
    gcc -std=c99 -O2 $warnings -DSFU_PREFIX=mine_ -c $out/sfu.c -o $work/mine.o &&
        [ "$(nm -g --defined-only $work/mine.o | grep -c ' mine_')" -ge 15 ] && ! nm $work/mine.o | grep ' sfu_'
}
test "SFU_PREFIX" renamed

# A kernel's own types, its noinline, and no header of the compiler.
cat >$work/kernel_types.h <<'END'
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef unsigned long size_t, uintptr_t;
typedef _Bool bool;
enum { false, true };
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)
#define noinline __attribute__((__noinline__))
END
for compiler in gcc aarch64-linux-gnu-gcc s390x-linux-gnu-gcc clang; do
    # shellcheck disable=SC2086 # words
    test "SFU_TYPES, $compiler" $compiler -std=c99 -ffreestanding -nostdinc -O2 $warnings -Wstrict-prototypes \
        -I$work '-DSFU_TYPES="kernel_types.h"' -c $out/sfu.c -o $work/sfu.o
done

mkdir -p $tree
tar -xzf $out/sfu-*.tar.gz -C $tree --strip-components=1
mkdir -p $tree/build
ln -s "$(readlink -f build/tc)" $tree/build/tc
test "the tarball: make demo" make -s -C $tree demo

rm -r $tree/arch/* $tree/build/port
cp $out/sfu.h $out/sfu.c $tree
cp $out/sfu_asm.h $tree/arch
echo '#include "sfu.h"' >$tree/arch/sfu_arch.h
for part in print/sfu_print print/sfu_build_id print/sfu_cycles print/sfu_record print/sfu_all symbols/sfu_symbols; do
    rm $tree/port/$part.[ch]
    echo '#include "sfu.h"' | tee $tree/port/$part.h >$tree/port/$part.c
done
test "the two files: make demo" make -s -C $tree demo
test "the two files: unit tests" make -s -C $tree suite-unit UNIT_PROGRAMS=default
test "the two files: tests of the printer" make -s -C $tree suite-print
for cpu in x86_64 aarch64 s390x; do
    T="$cpu/assert" test "the two files: a panic on bare metal, $cpu" \
        make -s -C $tree suite-bare-$cpu BARE_KINDS_$cpu=$cpu
done
