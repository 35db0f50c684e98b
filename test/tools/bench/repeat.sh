#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
# repeat.sh DIRECTORY: what a trace costs that is remembered, beside the fast walker: instructions for each frame, which
# callgrind counts, and time as a ratio. The program is made in DIRECTORY.
set -e
mkdir -p "$1"
gcc -O2 -std=gnu99 -I. -Iport/fast -Iport/fast/test -Itest/unit test/tools/bench/repeat.c port/fast/sfu_repeat.c \
    port/fast/sfu_fast.c sfu.c test/unit/build.c -o "$1/repeat"
for frames in 20 64; do
    echo "$frames frames:"
    "$1/repeat" $frames
    for walker in fast same fast_changes changes worst; do
        valgrind --tool=callgrind --callgrind-out-file=/dev/null --toggle-collect=bench_trace "$1/repeat" $frames \
            $walker 2>&1 | awk -v walker=$walker -v frames=$frames '
            /Collected/ { printf "%-12s %.1f instructions for each frame\n", walker, $4 / 20000 / frames }'
    done
done
