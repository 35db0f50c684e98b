#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run_m32.sh PROGRAM...: runs a program of 32 bits by this machine's kernel, if that runs such programs, or else by
# QEMU, in ten times the time.
trial=build/unit/trial-m32
if [ ! -x $trial ]; then
    mkdir -p build/unit
    echo 'int main(void) { return 42; }' |
        gcc -m32 -isystem /usr/include/x86_64-linux-gnu -x c - -o $trial.$$ && mv $trial.$$ $trial
fi
$trial 2>/dev/null
[ $? -eq 42 ] || set -- qemu-i386 "$@"
exec "$@"
