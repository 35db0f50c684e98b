#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# edges.sh PROGRAM OUT: the unit tests in PROGRAM; and that sfu_kernel.c, compiled by each compiler without a flag of a
# kernel's, needs nothing but sfu: no library for atomic operations, no memcpy.
set -u
test/unit/run.sh kernel "$1"
out=$2
for compiler in gcc aarch64-linux-gnu-gcc s390x-linux-gnu-gcc riscv64-linux-gnu-gcc \
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
