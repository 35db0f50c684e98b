#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# pictures.sh TC OUT [KERNEL]: draws speed.svg and trace.svg in OUT, and profile.svg if there is a KERNEL, which runs
# sqlite and profiles it by its own timer. TC has the binutils, a directory for each CPU. If OUT is not where this is,
# then it compares: the pictures here are those.
set -eu
here=$(dirname "$0")
out=$2
[ "$out" = "$here" ] || rm -rf "$out"
mkdir -p "$out"
python3 -B "$here/draw.py" speed >"$out/speed.svg"
python3 -B "$here/draw.py" trace "$1/x86_64" build/bare/x86_64 >"$out/trace.svg"
if [ -n "${3-}" ]; then
    # It ends with status 33: done.
    timeout 120 qemu-system-x86_64 -M pc -m 128M -nodefaults -display none -no-reboot -serial stdio -monitor none \
        -device isa-debug-exit,iobase=0xf4,iosize=4 -icount shift=5,sleep=off -kernel "$3" </dev/null \
        >"$out/profile.log" || [ $? -eq 33 ]
    build/tools/sfu-trace --flame="$out/profile.svg" --least=4 --log="$out/profile.log" "$3"
    rm "$out/profile.log"
fi
[ "$out" != "$here" ] || exit 0

for name in speed trace ${3:+profile}; do
    case $name-$(gcc -dumpversion) in
    trace-12* | profile-12* | speed-*) ;;
    *)
        echo "# gcc is not 12: $name.svg, which has its code's sizes, is not compared"
        continue
        ;;
    esac
    if cmp -s "$here/$name.svg" "$out/$name.svg"; then
        echo "ok $name.svg is new"
    else
        echo "not ok $name.svg is new: it is stale: make pictures"
    fi
done
for name in speed trace; do
    if python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$here/$name.svg" &&
        grep -q 'prefers-color-scheme: dark' "$here/$name.svg" && [ "$(wc -c <"$here/$name.svg")" -lt 8192 ]; then
        echo "ok $name.svg is XML, small, and has colours for dark pages"
    else
        echo "not ok $name.svg is XML, small, and has colours for dark pages: it is not"
    fi
done
name=profile
if python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$here/$name.svg" &&
    grep -q '<title>sqlite3VdbeExec: ' "$here/$name.svg" && [ "$(wc -c <"$here/$name.svg")" -lt 65536 ]; then
    echo "ok $name.svg is XML, not large, and shows sqlite"
else
    echo "not ok $name.svg is XML, not large, and shows sqlite: it is not"
fi
