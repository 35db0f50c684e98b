#!/bin/sh
# SPDX-License-Identifier: MIT
# Copyright (c) 2026 The sfu authors
#
# test.sh TC OUT [KERNEL]: the pictures are what would be drawn now; profile.svg only if there is a KERNEL.
set -eu
here=$(dirname "$0")
out=$2
rm -rf "$out"
"$here/pictures.sh" "$1" "$out" "${3-}"
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
