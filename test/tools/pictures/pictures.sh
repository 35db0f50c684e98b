#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# pictures.sh TC OUT [KERNEL]: draws speed.svg and trace.svg in OUT, and profile.svg if there is a KERNEL, which runs
# sqlite and profiles it by its own timer. TC has the binutils, a directory for each CPU.
set -eu
here=$(dirname "$0")
mkdir -p "$2"
python3 -B "$here/draw.py" speed >"$2/speed.svg"
python3 -B "$here/draw.py" trace "$1/x86_64" build/bare/x86_64 >"$2/trace.svg"
[ -n "${3-}" ] || exit 0
# It ends with status 33: done.
timeout 120 qemu-system-x86_64 -M pc -m 128M -nodefaults -display none -no-reboot -serial stdio -monitor none \
    -device isa-debug-exit,iobase=0xf4,iosize=4 -icount shift=5,sleep=off -kernel "$3" </dev/null >"$2/profile.log" ||
    [ $? -eq 33 ]
build/tools/sfu-trace --flame="$2/profile.svg" --least=4 --log="$2/profile.log" "$3"
rm "$2/profile.log"
