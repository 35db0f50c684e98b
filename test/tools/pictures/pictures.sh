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
. test/lib/tests.sh

for name in speed trace ${3:+profile}; do
    case $name-$(gcc -dumpversion) in
    trace-12* | profile-12* | speed-*) ;;
    *)
        echo "# gcc is not 12: $name.svg, which has its code's sizes, is not compared"
        continue
        ;;
    esac
    none "$name.svg is new" "$(cmp -s "$here/$name.svg" "$out/$name.svg" || echo 'it is stale: make pictures')"
done
# has SVG TEXT LIMIT: it is XML with that text, and shorter than that many bytes.
has() {
    python3 -c 'import sys, xml.etree.ElementTree as e; e.parse(sys.argv[1])' "$1" && grep "$2" "$1" &&
        [ "$(wc -c <"$1")" -lt "$3" ]
}
log=$out/log
for name in speed trace; do
    try "$name.svg is XML, small, and has colours for dark pages" has "$here/$name.svg" \
        'prefers-color-scheme: dark' 8192
done
try 'profile.svg is XML, not large, and shows sqlite' has "$here/profile.svg" '<title>sqlite3VdbeExec: ' 65536
