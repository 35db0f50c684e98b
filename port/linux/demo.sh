#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# Builds the demo with this machine's own gcc, assembler and linker, whatever version of SFrame they write, and
# runs it.
set -eu
cd "$(dirname "$0")/../.."
out=build/port/linux
CC=${DEMO_CC:-gcc}
mkdir -p $out

echo 'int f(int x) { return x; }' >$out/probe.c
if ! $CC -Wa,--gsframe -c $out/probe.c -o $out/probe.o 2>$out/probe.log; then
    echo "demo: the assembler of '$CC' does not write .sframe sections for this CPU:"
    sed 's/^/    /' $out/probe.log
    echo "demo: binutils 2.40 or later are needed (on s390x 2.46); run 'as --version' to see what is there"
    exit 1
fi
# The version is the third byte of the section.
objcopy -O binary -j .sframe --set-section-flags .sframe=alloc $out/probe.o $out/probe.bin
version=$(od -An -tu1 -j2 -N1 $out/probe.bin | tr -d ' ')
old=
[ "$version" -ge 3 ] || old=-DSFU_NO_OUTERMOST

# shellcheck disable=SC2086
$CC -std=c99 -O2 -g -fomit-frame-pointer -fasynchronous-unwind-tables -Wa,--gsframe \
    -ffreestanding -nostdlib -static -fno-stack-protector $old -DDEMO_IMAGE="\"$out/demo\"" \
    -I. -Iport/print -Iport/linux \
    sfu.c port/print/sfu_print.c port/linux/*.c port/linux/*.S -o $out/demo

echo "$($CC --version | head -n 1); $(as --version | head -n 1)"
echo "compiled with -fomit-frame-pointer; the section is all there is to go by: $(size -A $out/demo |
    awk '$1 == ".sframe" { print $2 }') bytes"
$out/demo
if [ "$version" -lt 3 ]; then
    echo
    echo "Version $version of the format, as this assembler writes it, cannot mark _start as the outermost frame: the"
    echo "demo's trap hook says it instead. With binutils 2.46 or later the macros of arch/sfu_asm.h do."
fi
