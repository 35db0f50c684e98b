#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# edges.sh OUT: sfu_kernel.c, compiled by each compiler without a flag of a kernel's, needs nothing but sfu: no library
# for atomic operations, no memcpy. And SFU_KERNEL_POINTER takes a pointer to a stack and refuses the stack itself, in C
# and in C++.
set -u
out=$1
for compiler in gcc 'x86_64-linux-gnu-gcc -m32' aarch64-linux-gnu-gcc s390x-linux-gnu-gcc riscv64-linux-gnu-gcc \
    clang 'clang --target=aarch64-linux-gnu' 'clang --target=s390x-linux-gnu'; do
    for opt in -O0 -Os; do
        name="needs nothing: $compiler $opt"
        case $name in *"${T:-}"*) ;; *) continue ;; esac
        # shellcheck disable=SC2086 # words
        if ! $compiler $opt -std=c99 -ffreestanding -fno-stack-protector -Wall -Wextra -Wpedantic -Werror -I. -Iarch \
            -Iport/print -Iport/kernel -c port/kernel/sfu_kernel.c -o "$out/alone.o" 2>"$out/alone.log"; then
            echo "not ok $name: $(head -n 1 "$out/alone.log")"
            continue
        fi
        need=$(nm -u "$out/alone.o" | awk '$2 !~ /^(sfu_|_GLOBAL_OFFSET_TABLE_)/ { printf "%s ", $2 }')
        if [ -z "$need" ]; then echo "ok $name"; else echo "not ok $name: needs $need"; fi
    done
done

# pointer COMPILER MEMBER: compiles a description of threads whose structure has MEMBER, without a warning.
pointer() {
    $1 -ffreestanding -Wall -Wextra -Wpedantic -Wconversion -Werror -I. -Iarch -Iport/print -Iport/kernel \
        -c -o "$out/pointer.o" - 2>"$out/pointer.log" <<END
#include "sfu_kernel.h"
struct task { int id; $2; };
extern const struct sfu_kernel_threads threads;
const struct sfu_kernel_threads threads = {NULL, 0, 0, false, NULL, 0, 0, SFU_KERNEL_POINTER(struct task, stack),
                                           4096, 0, 0, false, 0, false, 0, NULL, 0,
                                           {0, 0, 0, 0, 0}};
END
}
for compiler in 'gcc -std=c99 -xc' 'g++ -std=c++11 -xc++' 'clang -std=c99 -xc' 'clang++ -std=c++11 -xc++' \
    'riscv64-linux-gnu-gcc -std=c99 -xc'; do
    name="stack_low: $compiler"
    case $name in *"${T:-}"*) ;; *) continue ;; esac
    if ! pointer "$compiler" 'char *stack'; then
        echo "not ok $name: a pointer: $(head -n 1 "$out/pointer.log")"
    elif pointer "$compiler" 'char stack[4096]'; then
        echo "not ok $name: it takes an array"
    elif ! grep -q 'array' "$out/pointer.log"; then
        echo "not ok $name: it fails by another reason: $(head -n 1 "$out/pointer.log")"
    else
        echo "ok $name"
    fi
done
