#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# run_m32.sh PROGRAM...: runs a program of 32 bits by this machine's kernel, if that runs such programs, or else by
# QEMU, in ten times the time.
# run_m32.sh: status 0 if the kernel does.
trial=build/trial-m32
if [ ! -x $trial ]; then
    mkdir -p build
    echo 'int main(void) { return 42; }' |
        gcc -m32 -isystem /usr/include/x86_64-linux-gnu -x c - -o $trial.$$ && mv $trial.$$ $trial
fi
$trial 2>/dev/null
if [ $? -ne 42 ]; then
    [ $# -gt 0 ] || exit 1
    set -- qemu-i386 "$@"
fi
[ $# -eq 0 ] || exec "$@"
